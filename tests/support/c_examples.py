"""Programs of examples/ in C, compiled against a library that may not be installed."""

import shlex
import shutil
import subprocess

import pytest


def printed(*command):
    """Return what a command prints, which ends well."""
    words = [*map(str, command)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def compiled(source, library, program, *options):
    """Compile a source with every warning an error; skip the test where something is missing.

    `library` is what pkg-config calls the one that it needs.
    """
    compiler, config = shutil.which("cc"), shutil.which("pkg-config")
    if not compiler or not config:
        pytest.skip("needs a C compiler and pkg-config")
    try:
        flags = shlex.split(printed(config, "--cflags", "--libs", library))
    except subprocess.CalledProcessError:
        pytest.skip(f"needs the headers of {library}")
    strict = ["-Wall", "-Wextra", "-Werror"]
    printed(compiler, *options, *strict, source, *flags, "-lm", "-o", program)
    return program
