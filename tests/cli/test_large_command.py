"""The tier large in commands: check runs it, verify recomputes it, others say where it is."""

from contextlib import nullcontext
from unittest.mock import patch

import pytest
from support.command_line import run, write_backends

from conformance.cases.large import Limits, recipes

WRONG = """
def wrong(operator, inputs, attributes):
    output, *indices = right(operator, inputs, attributes)
    output[-1, -1] = 7
    return (output, *indices)
"""
COUNT = len([*recipes()])
BATCH = "MaxPool-8/*/batch-past*"


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """Return a folder with a report and the failures of a wrong backend, and what was printed."""
    folder = tmp_path_factory.mktemp("large")
    write_backends(folder, WRONG)
    files = ("--json", folder / "report", "--write-expected-failures", folder / "known")
    return folder, check(f"{folder}/backends.py:wrong", *files)


def check(backend, *options):
    return run("check", backend, "--tier", "large", "--in-process", "--select", BATCH, *options)


def test_check_runs_it_by_name_and_a_sound_backend_conforms():
    got = check("numpy")

    assert got.exit_code == 0
    assert "CONFORMS: 1 of 1 answered vector; large" in got.stdout
    assert f"{COUNT - 1} vectors left out by operator, memory or selection" in got.stdout


def test_a_failure_comes_with_a_script_that_makes_the_tensor_again(failed, capsys):
    got = failed[1]
    script = got.stdout.split("# to reproduce\n")[1].split("# end")[0]
    exec(script, {})

    assert got.exit_code == 1
    assert "output[65536, 2, 0, 0] is 7, expected 99" in got.stdout
    assert capsys.readouterr().out.startswith("7.0 instead of 99")


def test_its_failures_can_be_written_down_as_expected(failed):
    folder = failed[0]
    backend, known = f"{folder}/backends.py:wrong", folder / "known"

    last = check(backend, "--expected-failures", known).stdout.splitlines()[-1]
    assert last.startswith("DOES NOT CONFORM: nothing that was computed conforms; ")


@pytest.mark.parametrize(
    "words", ["generate made", "compare numpy", "strength", "export safetensors made"]
)
def test_other_commands_say_where_it_is(words):
    got = run(*words.split(), "--tier", "large")

    assert (got.exit_code, "tier large is in no file: check makes it" in got.stderr) == (2, True)


def test_verify_recomputes_its_recipes_with_the_shipped_suite():
    with patch("conformance.cli.vector_commands.opened", lambda _: nullcontext(())):
        got = run("verify")

    assert got.exit_code == 0
    assert f"tier large: {COUNT} recipes recomputed with fewer repeats" in got.stdout
    assert f"VERIFIED: {COUNT} of {COUNT}" in got.stdout


def test_verify_names_a_recipe_that_is_none():
    with (
        patch("conformance.cli.vector_commands.opened", lambda _: nullcontext(())),
        patch("conformance.cases.large.recipes", lambda: [next(recipes(Limits(64, 16, 32)))]),
        patch("conformance.cases.large.differences", lambda _: ["other values"]),
    ):
        got = run("verify")

    assert (got.exit_code, "other values" in got.stdout) == (3, True)
