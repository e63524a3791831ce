"""The errors that users can meet, each with the exit code of the command line."""

from __future__ import annotations


class ConformanceError(Exception):
    """Base of every error that this package raises on purpose; its text is one clear line."""

    exit_code = 3


class InvalidCase(ConformanceError, ValueError):  # noqa: N818 - a state of the case, not of the program
    """Attributes or inputs break a rule of the operator's document."""

    exit_code = 2


class UsageError(ConformanceError):
    """An argument is wrong: the text says what is wrong and what is allowed."""

    exit_code = 2


class VectorFileError(ConformanceError):
    """A vector file is missing, broken, or not a vector file of this package."""

    exit_code = 3


class ReportFileError(ConformanceError):
    """A saved report is cut off, broken, or not a report of this package."""

    exit_code = 3


class ResultFileError(ConformanceError):
    """Stored outputs of a backend are broken, or not in a form that this package reads."""

    exit_code = 3


class Unsupported(NotImplementedError):  # noqa: N818 - backends raise it as a statement, not a failure
    """Raised by a backend that does not implement what it was asked for.

    The checker counts it apart: neither a pass nor a failure.
    """
