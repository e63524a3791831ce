"""The options of pytest that check a backend: one test per vector.

    pytest --conformance-backend my_backend.py:backend --conformance-tier smoke

pytest imports this module in every project that has the package installed, so that it imports
nothing heavy before the first option is given.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance import settings

_PREFIX = "conformance_"
SETTINGS = {
    "operators": "",
    "select": "",
    "tier": "The largest tier to run [standard].",
    "require": "",
    "profile": "",
    "allow_extensions": "Skip, and do not fail, where what a document excludes is accepted.",
    "expected_failures": "Failures that are known, with reasons: they xfail, and must not pass.",
    "skip": "Vectors that are not called, by ids or causes, with reasons: their tests are skipped.",
    "min_supported": "",
    "baseline": "",
    "strict_unsupported": "",
    "variations": "Call each vector in these variations, too: names with commas, or all.",
}
"""The settings that are options of pytest, too, with words of their own where others are meant."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; all but the first need the first."""
    add = parser.getgroup("conformance", "test vectors for pooling operators").addoption
    add(
        "--conformance-backend",
        metavar="BACKEND",
        help="Check this backend, a test per vector: what `conformance check` takes.",
    )
    add("--conformance-vectors", metavar="PATH", help="Vector file or directory [those shipped].")
    known = settings.options()
    for name in (*SETTINGS, "timeout"):
        option = known[name]
        how: dict[str, Any] = {"metavar": option.metavar}
        if option.kind == "flag":
            how = {"action": "store_true"}
        elif option.kind in {"texts", "readings"}:
            how["action"] = "append"
        elif option.kind == "seconds":
            how["type"] = float
        words = (SETTINGS.get(name) or option.help).replace("%", "%%")
        flag = f"--conformance-{option.flag}"
        add(flag, dest=f"{_PREFIX}{name}", default=None, help=words, **how)
    add(
        "--conformance-in-process",
        action="store_true",
        default=None,
        help="Call the backend in this process: nothing protects from a crash or a hang.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the tests if there is a backend to check."""
    options = {
        name.removeprefix(_PREFIX): value
        for name, value in vars(config.option).items()
        if name.startswith(_PREFIX) and value is not None
    }
    if not options:
        return
    if "backend" not in options:
        first = next(iter(options))
        flag = settings.options()[first].flag if first in SETTINGS else first.replace("_", "-")
        option = f"--conformance-{flag}"
        raise pytest.UsageError(f"{option} needs --conformance-backend")
    from conformance.pytest_plugin.items import VectorTests, is_worker  # noqa: PLC0415 - it imports numpy
    from conformance.pytest_plugin.shared_readings import Readings  # noqa: PLC0415

    tests = VectorTests(config, options)
    config.pluginmanager.register(tests, "conformance-vectors")
    if not is_worker(config):
        config.pluginmanager.register(Readings(tests), "conformance-readings")
