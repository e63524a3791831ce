"""The options of pytest that check a backend: one test per vector.

    pytest --conformance-backend my_backend.py:backend --conformance-tier smoke

pytest imports this module in every project that has the package installed, so that it imports
nothing itself before the first option is given.
"""

from __future__ import annotations

import pytest

_PREFIX = "conformance_"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; all but the first need the first."""
    add = parser.getgroup("conformance", "test vectors for pooling operators").addoption
    add(
        "--conformance-backend",
        metavar="BACKEND",
        help="Check this backend, a test per vector: what `conformance check` takes.",
    )
    add("--conformance-tier", metavar="TIER", help="The largest tier to run [standard].")
    add("--conformance-vectors", metavar="PATH", help="Vector file or directory [those shipped].")
    add(
        "--conformance-operator",
        metavar="NAME",
        action="append",
        help="Only this operator, glob ('ONNX-*') or family (openvino, onnx, ngraph); repeatable.",
    )
    add(
        "--conformance-require",
        metavar="CLAUSE=READING",
        action="append",
        help="Accept only this reading of a clause; repeatable.",
    )
    add("--conformance-profile", metavar="NAME", help="Require the readings of an engine.")
    add(
        "--conformance-allow-extensions",
        action="store_true",
        default=None,
        help="Skip, and do not fail, where the backend accepts what a document excludes.",
    )
    add(
        "--conformance-expected-failures",
        metavar="FILE",
        help="Failures that are known, with reasons: they xfail, and must not pass.",
    )
    add(
        "--conformance-min-supported",
        metavar="FLOOR",
        action="append",
        help="Fail if fewer vectors are supported: 4000, 90%%, 95%%,AvgPool-1; repeatable.",
    )
    add(
        "--conformance-baseline",
        metavar="REPORT",
        help="Fail if a vector is unsupported that conforms in this report of check --json.",
    )
    add(
        "--conformance-strict-unsupported",
        action="store_true",
        default=None,
        help="Fail if any vector is unsupported.",
    )
    add(
        "--conformance-variations",
        metavar="NAME,...",
        help="Call each vector in these variations, too: names with commas, or all.",
    )
    add(
        "--conformance-timeout",
        metavar="SECONDS",
        type=float,
        help="How long a call may take [60].",
    )
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
        option = f"--conformance-{next(iter(options)).replace('_', '-')}"
        raise pytest.UsageError(f"{option} needs --conformance-backend")
    from conformance.pytest_plugin.items import VectorTests, is_worker  # noqa: PLC0415 - it imports numpy
    from conformance.pytest_plugin.shared_readings import Readings  # noqa: PLC0415

    tests = VectorTests(config, options)
    config.pluginmanager.register(tests, "conformance-vectors")
    if not is_worker(config):
        config.pluginmanager.register(Readings(tests), "conformance-readings")
