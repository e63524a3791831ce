"""Options of backends of Python: `torch:device=cuda`, `my.py:backend:device=cuda`.

A backend with options is an instance of a dataclass, whose fields are the options.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from conformance.backends.answer import Backend, error_line
from conformance.errors import UsageError
from conformance.text import did_you_mean

_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def with_options(text: str, default: Any, options: str) -> Backend:
    """Return a backend like `default` with options, "NAME=VALUE,...".

    A value has the type of the default's. Raises UsageError for an option that is unknown or given
    twice, and for a value that the backend does not take.
    """
    is_instance = is_dataclass(default) and not isinstance(default, type)
    names = [field.name for field in fields(default) if field.init] if is_instance else []
    values: dict[str, str] = {}
    for option in options.split(","):
        name, equals, value = option.partition("=")
        if name not in names:
            allowed = f"it takes {', '.join(names)}" if names else "it takes no options"
            hint = did_you_mean(name, names)
            raise UsageError(f"backend {text!r} has no option {name!r}{hint}; {allowed}")
        if not (equals and value):
            raise UsageError(f"backend {text!r}: option {name} needs a value, {name}=VALUE")
        if name in values:
            raise UsageError(f"backend {text!r}: option {name} is given twice")
        values[name] = value
    try:
        typed = {name: _typed(getattr(default, name), value) for name, value in values.items()}
        return cast("Backend", replace(default, **typed))
    except Exception as error:
        raise UsageError(f"backend {text!r} cannot be used: {error_line(error)}") from error


def check_known(value: str, known: Collection[str]) -> None:
    """Raise ValueError unless the value of an option is known."""
    if value not in known:
        raise ValueError(f"{value!r} is none of {', '.join(known)}")


def _typed(default: Any, value: str) -> Any:
    """Return a value of the type of the default; a text where that is None."""
    if default is None:
        return value
    if isinstance(default, bool):
        if value.lower() not in _FLAGS:
            raise ValueError(f"{value!r} is neither true nor false")
        return _FLAGS[value.lower()]
    return type(default)(value)
