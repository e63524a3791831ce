"""What the tests of engine adapters share: the packages they need, and the oracle as a judge."""

import pytest
from hypothesis import assume, given
from support.effort import examples
from support.oracle import WholeCaseUndefined, oracle
from support.random_cases import cases, worst_share

from conformance.backends import available


def marks_of(engine):
    """Return the marks of a test that needs an engine."""
    packages = available()[engine].packages
    return [] if packages == ("numpy",) else [pytest.mark.needs_engine(*packages)]


def of_engines(*names):
    """Run a test for each engine, where it is installed."""
    each = [pytest.param(name, marks=marks_of(name)) for name in names]
    return pytest.mark.parametrize("engine", each)


def assert_equals_oracle(backend, operator, *, readings, known=None, factor=0.2, **how):
    """Assert that an engine computes random cases of small integers as the oracle does.

    Sums are exact; the division may be a multiplication with the reciprocal.
    Cases it does not support, refuses for pads as long as the kernel, or gets wrong in a way
    `known(attributes, inputs)` says are given up. `factor` is that of `examples`.
    """

    @examples(factor, derandomize=True)
    @given(cases([operator], ["float32"], **how))
    def compare(case):
        _, inputs, attributes = case
        assume(not (known and known(attributes, inputs)))
        try:
            result = oracle(*case, readings)
            got = backend(*case)
        except (WholeCaseUndefined, NotImplementedError):
            assume(False)
        except Exception:
            if not pads_reach_kernel(attributes) and not result.undefined.any():
                raise
            assume(False)
        assert worst_share(got, result, inputs[0].ndim - 2) <= 1

    compare()


def pads_reach_kernel(attributes):
    """Say whether an explicit pad is as long as the kernel: engines may refuse it."""
    kernel = attributes.get("kernel", attributes.get("window_shape", []))
    begin = attributes.get("pads_begin", attributes.get("padding_below", [0] * len(kernel)))
    end = attributes.get("pads_end", attributes.get("padding_above", [0] * len(kernel)))
    return any(max(b, e) >= k for k, b, e in zip(kernel, begin, end, strict=True))


def same_crops(attributes, inputs):
    """Say whether same_* meets a kernel below its stride with cells to spare."""
    return attributes.get("auto_pad", "explicit").startswith("same") and any(
        (d - 1) // s * s + k < d
        for d, k, s in zip(
            inputs[0].shape[2:], attributes["kernel"], attributes["strides"], strict=True
        )
    )


def counts_pads(attributes):
    """Say whether padding counts in the divisor of an average."""
    name = "include_padding_in_avg_computation"
    return attributes.get("exclude_pad") is False or attributes.get(name, False)
