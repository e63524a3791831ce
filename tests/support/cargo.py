"""Cargo, with the crates that there are: nothing is fetched."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_DEBIAN = Path("/usr/share/cargo/registry")
"""Where Debian's packages librust-*-dev put the sources of crates."""


def cargo(command, project, target):
    """Run a command of cargo in the folder of a project; return what it prints.

    What is built is kept in `target`: tests that share it compile crates once. Skips the test where
    cargo or a crate is not there.
    """
    if shutil.which("cargo") is None:
        pytest.skip("there is no cargo")
    options = ["--offline", "--quiet"]
    if any(_DEBIAN.glob("flate2-*")):
        options += ["--config", 'source.crates-io.replace-with="debian"']
        options += ["--config", f'source.debian.directory="{_DEBIAN}"']
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_PROFILE_DEV_DEBUG": "0"}

    def run(*words):
        return subprocess.run(
            ["cargo", *words, *options],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    if run("generate-lockfile").returncode:
        pytest.skip("needs the crates flate2 and serde_json: librust-*-dev, or cargo fetch")
    done = run(command)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout
