"""Files and folders in the making: what stays of them when something ends too early."""

import json
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from support.paths import ROOT

from conformance import interrupts
from conformance.errors import UsageError
from conformance.files import (
    new_folder,
    place,
    renewed_folder,
    scratch_folder,
    writing,
)

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
    return renewed_folder(path, "list", {"of": "ours"}, "one of ours")


def make(path, **files):
    """Make or renew a folder: a file in `pages` for each name."""
    with renewed(path) as folder:
        (folder / "pages").mkdir()
        for name, text in files.items():
            (folder / "pages" / name).write_text(text)


def content(folder):
    """Return the texts of all files in a folder, by their paths."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_renewed_folder_keeps_what_it_did_not_make(tmp_path):
    """Files of others stay wherever they are; those that are not made again go."""
    make(tmp_path / "a", old="1", same="1")
    (tmp_path / "a" / "theirs").touch()
    (tmp_path / "a" / "pages" / "theirs").touch()
    make(tmp_path / "a", new="2", same="2")
    assert names(tmp_path / "a") == ["list", "pages", "theirs"]
    assert names(tmp_path / "a" / "pages") == ["new", "same", "theirs"]
    assert (tmp_path / "a" / "pages" / "same").read_text() == "2"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("place", ["pages/new", "pages"])
def test_a_file_of_others_with_the_name_of_a_new_one_is_named_and_nothing_changes(tmp_path, place):
    """Whether it is where a file or where a folder has to be."""
    with renewed(tmp_path / "a") as folder:
        (folder / "old").touch()
    (tmp_path / "a" / place).parent.mkdir(exist_ok=True)
    (tmp_path / "a" / place).write_text("theirs")
    before = content(tmp_path / "a")
    with pytest.raises(UsageError, match=f"{place}: .*: move it elsewhere"):
        make(tmp_path / "a", new="2")
    assert content(tmp_path / "a") == before


def test_a_link_where_a_folder_has_to_be_is_named_and_what_it_leads_to_stays(tmp_path):
    """A folder elsewhere is not part of the one that is renewed."""
    make(tmp_path / "a", old="1")
    (tmp_path / "a" / "pages").rename(tmp_path / "elsewhere")
    (tmp_path / "a" / "pages").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="not a folder"):
        make(tmp_path / "a", new="2")
    assert names(tmp_path / "elsewhere") == ["old"]


def test_a_folder_is_renewed_where_its_name_cannot_change(tmp_path, monkeypatch):
    """The current one, or one that a link leads to: only what is in it changes."""
    make(tmp_path / "a", old="1")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    inode = (tmp_path / "a").stat().st_ino
    make(tmp_path / "link", new="2")
    monkeypatch.chdir(tmp_path / "a")
    make(Path(), new="3")
    assert content(tmp_path / "a")["pages/new"] == "3"
    assert (tmp_path / "a").stat().st_ino == inode
    assert names(tmp_path) == ["a", "link"]


@pytest.mark.parametrize("listed", ["../outside", "/outside", "", "pages/..", 7])
def test_a_list_with_files_of_elsewhere_is_none(tmp_path, listed):
    """It may be crafted: a file outside the folder is never removed."""
    (tmp_path / "a").mkdir()
    (tmp_path / "outside").touch()
    (tmp_path / "a" / "list").write_text(json.dumps({"of": "ours", "files": [listed]}))
    with pytest.raises(UsageError, match="there is something already"):
        make(tmp_path / "a", new="1")
    assert (tmp_path / "outside").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 9999, '{"of": "ours"}', '{"files": []}'])
def test_a_folder_with_another_list_is_not_renewed(tmp_path, text):
    """It is somebody else's."""
    (tmp_path / "list").write_text(text)
    wanted = "give a new folder, an empty one or one of ours"
    with pytest.raises(UsageError, match=wanted), renewed(tmp_path):
        pass


_RENEWING = """
import os, signal, sys
from pathlib import Path
from conformance.files import renewed_folder

def counted(call, left=[int(sys.argv[2])]):
    def counting(*arguments, **named):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **named)
    return counting

for name in ("replace", "rename", "unlink", "rmdir", "mkdir"):
    setattr(Path, name, counted(getattr(Path, name)))
with renewed_folder(Path(sys.argv[1]), "list", {"of": "ours"}, "one of ours") as folder:
    (folder / "pages").mkdir()
    (folder / "index").write_text("new b")
    (folder / "pages" / "b").write_text("new c")
    (folder / "pages" / "c").write_text("new")
"""


@pytest.mark.parametrize("steps", [*range(0, 14, 2), 99])
def test_a_process_killed_while_it_renews_leaves_whole_files_that_find_each_other(tmp_path, steps):
    """After any step; the next one tidies up. Each file says which other one it refers to."""
    folder = tmp_path / "a"
    with renewed(folder) as old:
        (old / "pages").mkdir()
        (old / "index").write_text("old a")
        (old / "pages" / "a").write_text("old b")
        (old / "pages" / "b").write_text("old")
    (folder / "pages" / "theirs").write_text("mine")
    done = subprocess.run(
        [sys.executable, "-c", _RENEWING, folder, str(steps)], cwd=ROOT, check=False
    )
    assert done.returncode == (0 if steps == 99 else -9)
    text = (folder / "index").read_text()
    ages = [text.split()[0]]
    while len(words := text.split()) > 1:
        text = (folder / "pages" / words[1]).read_text()
        ages.append(text.split()[0])
    assert steps < 99 or set(ages) == {"new"}
    make(folder, d="newer")
    made = content(folder)
    assert (made["pages/d"], made["pages/theirs"]) == ("newer", "mine")
    assert names(folder / "pages") == ["d", "theirs"]
    assert names(folder) == ["list", "pages"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_files_are_replaced_comes_when_all_are(tmp_path, monkeypatch, number):
    """The folder is the old one before, and the new one after."""
    make(tmp_path / "a", x="1", y="1", z="1")
    replaced = Path.replace

    def interrupted(path, target):
        signal.raise_signal(number)
        return replaced(path, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), interrupts.raised():
        make(tmp_path / "a", x="2", y="2", z="2")
    made = content(tmp_path / "a")
    assert {made[f"pages/{name}"] for name in "xyz"} == {"2"}
    assert names(tmp_path / "a") == ["list", "pages"]


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


def test_all_files_are_placed_or_none_and_none_over_another(tmp_path):
    with scratch_folder(tmp_path / "x") as scratch:
        for name in "ab":
            (scratch / name).write_text("new")
        (tmp_path / "b").write_text("mine")
        parts = {tmp_path / name: scratch / name for name in "ab"}
        with pytest.raises(UsageError, match=r"^cannot write .*b: File exists$"):
            place(parts)
        assert not (tmp_path / "a").exists()
        assert (tmp_path / "b").read_text() == "mine"
        (tmp_path / "b").unlink()
        place(parts)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    assert (tmp_path / "b").read_text() == "new"
