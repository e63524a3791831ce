"""Files and folders in the making: what stays of them when something ends too early."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from support.paths import ROOT

from conformance.errors import UsageError
from conformance.files import new_folder, renewed_folder, scratch_folder, writing

_HOLDING = """
import sys
from pathlib import Path
from conformance.files import new_folder, writing
with new_folder(Path(sys.argv[1], "folder")) as folder, writing(Path(sys.argv[1], "file")) as file:
    (folder / "inside").touch()
    file.write(b"half")
    print("holding", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Return a process that has begun to write a file and a folder, and waits."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDING, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        assert process.stdout.readline() == b"holding\n"
        yield process
        process.kill()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_a_killed_process_left_goes_with_the_next_file(holder, tmp_path):
    """Files and folders, under whatever name they were begun."""
    holder.kill()
    holder.wait()
    assert len(names(tmp_path)) == 2
    with writing(tmp_path / "other"):
        pass
    assert names(tmp_path) == ["other"]


def test_what_another_process_is_making_stays(holder, tmp_path):
    """It is finished there, though files were made beside it."""
    with writing(tmp_path / "file") as stream:
        stream.write(b"mine")
    with new_folder(tmp_path / "other"):
        pass
    holder.communicate(b"go on")
    assert holder.returncode == 0
    assert names(tmp_path) == ["file", "folder", "other"]
    assert (tmp_path / "file").read_bytes() == b"half"


@pytest.mark.parametrize("name", [".file.0123abcd.part", "file.part", ".conformance-.part"])
def test_files_of_other_programs_stay(tmp_path, name):
    """However much they look like unfinished ones."""
    Path(tmp_path, name).touch()
    with writing(tmp_path / "file"):
        pass
    assert names(tmp_path) == sorted([name, "file"])


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_stays_where_the_block_fails(tmp_path, error):
    """Neither a file nor a folder."""
    with pytest.raises(error), writing(tmp_path / "file") as stream:  # noqa: PT012
        stream.write(b"half")
        raise error
    with pytest.raises(error), new_folder(tmp_path / "folder") as folder:  # noqa: PT012
        (folder / "file").touch()
        raise error
    assert names(tmp_path) == []


def renewed(path):
    return renewed_folder(path, "marker", b"ours", "one of ours")


def test_a_renewed_folder_keeps_what_was_not_made_again(tmp_path):
    """Folders of the same name are replaced as a whole, others stay as they are."""
    with renewed(tmp_path / "a") as folder:
        (folder / "marker").write_bytes(b"ours")
        (folder / "pages").mkdir()
        (folder / "pages" / "old").touch()
    (tmp_path / "a" / "theirs").touch()
    with renewed(tmp_path / "a") as folder:
        (folder / "pages").mkdir()
        (folder / "pages" / "new").touch()
    assert names(tmp_path / "a") == ["marker", "pages", "theirs"]
    assert names(tmp_path / "a" / "pages") == ["new"]
    assert names(tmp_path) == ["a"]


def test_what_a_link_leads_to_stays_where_the_link_is_replaced(tmp_path):
    """A link in a folder is a name in it, and what it names lies elsewhere."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").touch()
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "marker").write_bytes(b"ours")
    (tmp_path / "a" / "pages").symlink_to(tmp_path / "elsewhere")
    with renewed(tmp_path / "a") as folder:
        (folder / "pages").mkdir()
    assert names(tmp_path / "elsewhere") == ["file"]
    assert not (tmp_path / "a" / "pages").is_symlink()


@pytest.mark.parametrize("content", [b"", b"Ours", b"ours, more"])
def test_a_folder_with_another_marker_is_not_renewed(tmp_path, content):
    """It is somebody else's."""
    (tmp_path / "marker").write_bytes(content)
    wanted = "give a new folder, an empty one or one of ours"
    with pytest.raises(UsageError, match=wanted), renewed(tmp_path):
        pass


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_nothing_of_a_scratch_folder_stays(tmp_path, error):
    """However its block ends."""
    with suppress(KeyboardInterrupt), scratch_folder(tmp_path / "report") as folder:
        (folder / "environment").mkdir()
        (folder / "environment" / "file").touch()
        assert names(tmp_path) == [folder.name]
        if error:
            raise error
    assert names(tmp_path) == []


def test_a_scratch_folder_takes_the_place_of_those_of_killed_processes(holder, tmp_path):
    holder.kill()
    holder.wait()
    with scratch_folder(tmp_path / "report") as folder:
        assert names(tmp_path) == [folder.name]
