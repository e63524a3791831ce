"""The documentation: what it shows runs, what it links to exists, what it lists is complete."""

import dataclasses
import importlib.util
import os
import re
import stat
import subprocess
import sys
import tomllib
from dataclasses import dataclass

import pytest
from support.fakes import check
from support.paths import DOCS, ROOT
from support.random_cases import EVERY
from support.releases import history_of, release

import conformance
from conformance.backends.variations import VARIATIONS
from conformance.cli import main
from conformance.dtypes import FLOATS
from conformance.operators import CLAUSES, OPERATORS
from conformance.record.report import VERDICTS, Diagnosis, Proof

FOLDERS = (".", "benchmarks", "docs", "docs/development", "examples", "vectors")
FOLDERS += ("packages/c", "packages/npm", "packages/rust")
# What they show takes too long, or is meant to crash an engine.
NOT_RUN = {"benchmarks/README.md", "vectors/README.md", "docs/findings.md", "docs/engines.md"}
# They install what is not published; the tests of the packages run the rest.
NOT_RUN |= {"packages/npm/README.md", "packages/rust/README.md"}
# What they show runs for long; the commands in it are tested in tests/cli and tests/fuzz.
SLOW = {
    "README.md",
    "docs/development/adding-an-operator.md",
    "docs/arithmetic.md",
    "docs/ci.md",
    "docs/cluster.md",
    "docs/comparing.md",
    "docs/fuzzing.md",
    "docs/models.md",
    "docs/reports.md",
    "docs/results.md",
    "docs/writing-a-backend.md",
    "examples/README.md",
}
# Packages that the blocks of a page use, which not everybody has.
ENGINES = {"docs/results.md": ("onnx", "onnxruntime")}
NAMES = sorted(
    str(page.relative_to(ROOT)) for each in FOLDERS for page in ROOT.glob(f"{each}/*.md")
)
# Made by scripts, of a run that they name, or of what was at the time.
MEASURED = {
    "CHANGELOG.md",
    "docs/arithmetic.md",
    "docs/comparing.md",
    "docs/development/performance.md",
    "docs/engines.md",
}
NEEDED = {
    *(
        "adapter",
        "clause",
        "confirmed",
        "expected failure",
        "extension",
        "fault",
        "minimum supported",
    ),
    *("held-out case", "likely cause", "profile", "reading", "required reading", "rule", "ruling"),
    *("shard", "split", "state", "strength", "tier", "undefined", "variation", "vector", "worker"),
}
COUNTED = "vectors|faults|operators|documents|clauses|findings|adapters|tests"
MANY = r"(?<!at most )\b(?:\d[\d,]*\d\d|four|five|six|seven|eight|nine|ten|\w+teen|twelve)"
STALE = r"one (?:vector )?in (?:ten|eleven|twelve)|half as (?:many faults|large as today)"
STALE += r"|of commit [0-9a-f]{7}"
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SET_UP = re.compile(r"^(python3 -m venv|\. \.venv|pip install|\./test)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str

    @property
    def file(self):
        """The file the block is, if its first line names one."""
        first = self.text.partition("\n")[0]
        return first.removeprefix("# ") if re.fullmatch(r"# \w+\.py", first) else None


def blocks(name):
    """Return the fenced blocks of a page."""
    return [Block(*found) for found in FENCED.findall((ROOT / name).read_text())]


def commands(block):
    """Return the commands of a shell block as one script, without what installs or tests.

    Lines that make an environment first are those that .ci/run runs as they stand.
    """
    lines = [
        " && ".join(part for part in line.split(" && ") if not SET_UP.match(part))
        for line in block.text.splitlines()
        if not line.startswith("python3 -m venv")
    ]
    return "".join(f"{line}\n" for line in lines if line)


@pytest.fixture
def shipped():
    """Skip the test where the vectors have not been generated."""
    if not list((ROOT / "vectors").glob("*.h5")):
        pytest.skip("the shipped vectors are not there")


@pytest.fixture(scope="session")
def fresh_report():
    """Return the report of a backend that fails some vectors of one operator."""
    return check(lambda *_: 0, operators=["AdaptiveAvgPool-8"], tier="smoke")


@pytest.fixture
def clone(shipped, tmp_path):
    """Return a folder that looks like a clone, and the environment to run commands in it."""
    for name in ("docs", "examples", "vectors"):
        (tmp_path / name).symlink_to(ROOT / name)
    command = tmp_path / "bin" / "conformance"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m conformance "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    path = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    return tmp_path, {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}


def run(clone, *command):
    """Run a command in a clone; return what it printed."""
    folder, environment = clone
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def install(project, folder):
    """Make a package of the modules in a folder, with the entry points of its project file."""
    information = folder / "example-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: example\nVersion: 1.0\n")
    groups = project["project"]["entry-points"].items()
    lines = [line for group, points in groups for line in (f"[{group}]", *assignments(points))]
    (information / "entry_points.txt").write_text("\n".join(lines))


def assignments(points):
    """Return entry points as lines."""
    return [f"{name} = {value}" for name, value in points.items()]


def pages_that_run():
    """Return the pages, each marked where it runs for long or needs the engines that it shows."""
    for name in NAMES:
        if name not in NOT_RUN:
            marks = [pytest.mark.needs_engine(*ENGINES[name])] if name in ENGINES else []
            if name in SLOW:
                marks.append(pytest.mark.slow("tests/cli runs the commands that pages show"))
            yield pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", [*pages_that_run()])
def test_what_a_page_shows_runs(name, clone):
    """Each Python and shell block of a page runs, in order; a block that is a file is written."""
    folder, environment = clone
    so_far = ""
    for block in blocks(name):
        if block.file:
            (folder / block.file).write_text(block.text)
        elif block.language == "toml" and block.text.startswith("[project.entry-points"):
            install(tomllib.loads(block.text), folder)
            environment["PYTHONPATH"] += f"{os.pathsep}{folder}"
        elif block.language == "python":
            so_far += block.text  # later blocks use what earlier ones define
            run(clone, sys.executable, "-c", so_far)
        elif block.language == "sh":
            run(clone, "bash", "-euc", commands(block))


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_somewhere(name):
    """A relative link names a file of the project, its fragment a heading of that file."""
    page = ROOT / name
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
    broken = []
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if "://" in target:
            continue
        path, _, fragment = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        if not found.is_file() or (fragment and fragment not in anchors(found)):
            broken.append(target)
    assert broken == []


def anchors(page):
    """Return the fragments of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def script(name):
    """Return a script in docs/development as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "development" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "maker"),
    [
        ("clauses.md", "make_clauses"),
        ("large.md", "make_large"),
        ("report.schema.json", "make_schema"),
    ],
)
def test_a_page_that_is_made_is_that_of_the_code(name, maker):
    """Clauses, the large tier, and the types of the lines of a report."""
    assert script(maker).page() == (DOCS / name).read_text("utf-8")


def test_one_command_makes_all_that_needs_no_engine():
    """docs/development/make.py runs every script beside it, but those that run engines."""
    made = {f"make_{name}" for name in script("make").MAKERS}
    of_engines = {"make_arithmetic", "make_engines", "make_history", "make_site"}
    assert made | of_engines == {path.stem for path in DOCS.glob("development/make_*.py")}


def test_counts_in_pages_are_those_of_what_is_shipped(shipped):
    """`python docs/development/make_numbers.py` changes no page."""
    numbers = script("make_numbers")
    counted = {path: path.read_text() for path in numbers.pages() if "<!--=" in path.read_text()}
    assert counted
    assert [path.name for path, text in counted.items() if numbers.page(text) != text] == []


NEVER = {
    "a number that is made, or is not there": (rf"{MANY} (?:{COUNTED})", MEASURED),
    "what was shipped once, and grows old unseen": (
        STALE,
        MEASURED - {"docs/development/performance.md"},
    ),
    "a word of the code for what readers know as a rule": (
        r"\bslips?\b",
        {"docs/development/causes.md"},
    ),
    "an exit code, which one table tells": (
        r"exit code is \d|exits with \d",
        {"docs/guarantees.md"},
    ),
}
"""What no page says, as a regular expression, and the pages that may."""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", NEVER)
def test_no_page_says_what_it_should_not(name, what):
    pattern, pages = NEVER[what]
    text = re.sub(r"```.*?```", "", (ROOT / name).read_text(), flags=re.DOTALL)
    found = re.findall(pattern, re.sub(r"\s+", " ", text).lower())
    assert name in pages or found == []


def test_the_table_of_arithmetic_is_made_of_json():
    """Operators that are computed alike share a row, and other text of the page stays."""
    maker = script("make_arithmetic")
    average = {
        "dtype": "float32",
        "windows": [{"kind": "tree", "window": {"per_plane": 2}}],
        "order": "last to first",
        "order_of_plane": "last to first",
        "properties": {
            name: {"values": [name]} for name in ("sums", "quotient", "division", "subnormals")
        },
        "prediction": {
            "averages": 50,
            "other_averages": 8,
            "vectors": 15,
            "left_out": 31,
            "without_result": 0,
        },
    }
    averages = [{**average, "operator": name} for name in ("AvgPool-1", "AvgPool-14")]
    reports = [{"backend": "engine", "engine": "1.2", "averages": averages}]
    made = maker.page(f"before\n{maker.BEGIN}old\n{maker.END}after\n", reports)
    assert "| engine 1.2 | AvgPool-1 and AvgPool-14 | float32 | last to first | sums |" in made
    assert "| 84 of 100 | 30 of 92 (62 unknown windows) |" in made
    assert made.startswith("before\n")
    assert made.endswith("after\n")
    assert "old" not in made


def test_the_index_names_every_page():
    """docs/README.md links to each page beside it, that of development too."""
    for folder in (DOCS, DOCS / "development"):
        index = (folder / "README.md").read_text()
        pages = {path.name for path in folder.glob("*.md")} - {"README.md"}
        assert {page for page in pages if f"]({page})" not in index} == set()


def test_the_glossary_has_the_words_of_reports_and_no_others():
    """docs/README.md explains each word that a stranger could take for another."""
    index = (DOCS / "README.md").read_text()
    words = re.findall(r"^\| ([a-z -]+) \|", index.partition("## Words")[2], re.MULTILINE)
    assert NEEDED - {*words} == set()
    pages = [(ROOT / name).read_text() for name in NAMES if name != "docs/README.md"]
    text = re.sub(r"\s+", " ", " ".join(pages)).lower()
    assert [word for word in words if word not in text] == []


def test_every_variation_is_on_the_page_of_reports():
    """docs/reports.md says how each calls, and how often."""
    text = (DOCS / "reports.md").read_text()
    assert [name for name in VARIATIONS if f"`{name}`" not in text] == []


def test_the_page_of_operators_explains_those_that_are_tested():
    """Its files are the operators from outside that commands are tested on."""
    shown = [block for block in blocks("docs/development/adding-an-operator.md") if block.file]
    assert [block.file for block in shown] == ["minimum_pool.py", "l2_pool.py"]
    for block in shown:
        tested = (ROOT / "tests" / "outside" / block.file).read_text()
        assert block.text.partition("\n")[2] == tested


def test_the_backend_in_readme_conforms(shipped):
    """It is short, and right of the operator that it answers."""
    shown = next(block for block in blocks("README.md") if block.file).text
    assert len(shown.splitlines()) <= 15
    defined = {}
    exec(shown, defined)
    report = check(defined["backend"], operators=["ONNX-GlobalAveragePool-22"], tier="smoke")
    assert report.ok


def test_readme_is_read_in_a_minute():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 100


def test_the_page_shows_the_starting_adapter():
    """The guide's last backend is examples/adapter.py but for its docstrings."""
    shown = [each.text for each in blocks("docs/writing-a-backend.md") if "pooling_of" in each.text]
    file = (ROOT / "examples" / "adapter.py").read_text()
    (adapter,) = (text for text in shown if "padded" in text)
    assert re.sub(r'^ *""".*"""\n+', "", file, flags=re.MULTILINE) == adapter.partition("\n")[2]


def test_the_sample_of_a_report_is_what_check_prints(shipped):
    """It is the output of the command above it, but for what depends on the time it took."""
    samples, page = script("make_samples"), "docs/reports.md"
    assert f"`{samples.CHECK}`" in (ROOT / page).read_text()
    assert without_times(samples.printed(samples.CHECK)) == without_times(samples.shown(page))


def test_the_first_thing_that_the_sample_says_is_the_cause():
    """And all of it is on a screen and a half."""
    lines = script("make_samples").shown("docs/reports.md").splitlines()
    assert "Likely causes" in lines[:4]
    assert len(lines) < 65


def test_the_picture_in_readme_is_of_that_sample():
    """Its text is the first part, and it loads nothing from elsewhere."""
    samples = script("make_samples")
    picture = samples.PICTURE.read_text()
    assert picture == samples.picture(samples.shown("docs/reports.md"))
    assert "url(http" not in picture
    assert 'src="docs/report.svg"' in (ROOT / "README.md").read_text()


@pytest.mark.slow("the digests of the manifest are those of the files")
def test_the_page_of_the_vectors_shows_what_list_prints(shipped):
    """vectors/README.md holds the output of `conformance list vectors`, digests included."""
    samples = script("make_samples")
    page = "vectors/README.md"
    assert samples.printed(samples.SAMPLES[page]) == samples.shown(page)


def test_the_page_of_engines_is_made_of_their_reports(shipped, tmp_path, monkeypatch):
    """An engine is run once for the same vectors, and again for others."""
    engines, path = script("make_engines"), tmp_path / "numpy.jsonl"
    with conformance.open_vectors() as files:
        digests = {name: files.digests[name] for name in ("AvgPool-1", "MaxPool-8")}
    made = engines.report_of("numpy", path, digests, tier="smoke")
    part = engines.part([made])
    assert part.startswith("# Pooling operators compared\n\n1 backend, ")
    assert "| numpy | " in part
    monkeypatch.setattr(engines.subprocess, "run", lambda *_, **how: pytest.fail("run again"))
    assert engines.report_of("numpy", path, digests, tier="smoke").started == made.started
    with pytest.raises(pytest.fail.Exception, match="run again"):
        engines.report_of("numpy", path, digests | {"AvgPool-1": "other"}, tier="smoke")


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        ({}, True),
        ({"proof": None}, False),
        ({"proof": Proof(missing="no held-out case shows it")}, False),
        ({"explained": 0, "exact": 0}, False),
        ({"kind": "unknown"}, False),
    ],
)
def test_the_page_of_engines_has_confirmed_causes_alone(changed, shown, fresh_report):
    """Nor one that explains no failure; and it says with what they were confirmed."""
    cause = Diagnosis("half is lost", (), 1, 1, 1, kind="rule", proof=Proof(9, 10))
    report = dataclasses.replace(fresh_report, diagnoses=(dataclasses.replace(cause, **changed),))
    part = script("make_engines").part([report])
    assert ("half is lost (confirmed on 9 of 10 held-out cases" in part) == shown
    assert ("half is lost" in part) == shown
    assert " ".join(script("make_engines").WORDS.split()) in " ".join(part.split())


def test_a_part_of_the_page_of_engines_without_reports_stays():
    """Also where the other parts are new, or where the page has not yet had them."""
    page = script("make_engines").page
    assert page("", ["# A\n", "# B\n"]) == "# A\n\n# B\n"
    assert page("# A\n\n## a\n\n# B\n", ["", "# C\n"]) == "# A\n\n## a\n\n# C\n"
    assert page("# A\n", ["", "# C\n"]) == "# A\n\n# C\n"
    assert page("# A\n\n# B\n", ["# C\n", ""]) == "# C\n\n# B\n"


def test_the_page_of_comparisons_has_a_part_for_the_releases_of_each_engine():
    """Below a heading of the page; what is around it stays."""
    history = history_of(release("1.0", conforms="a"), release("2.0", wrong="a"))
    maker = script("make_history")
    page = maker.page(f"before\n{maker.BEGIN}old\n{maker.END}after\n", [history, history])
    assert [line for line in page.splitlines() if re.match("##? ", line)] == []
    assert page.count("came | wrong | 1 |") == 2
    assert page.startswith(f"before\n{maker.BEGIN}")
    assert page.endswith(f"{maker.END}after\n")
    assert "old" not in page
    assert maker.BEGIN in maker.PAGE.read_text()


def without_times(text):
    """Return a text with # for each time and for the held-out cases there was time for.

    A long run says which vectors took the time; a busy machine makes any run long.
    """
    text = re.sub(r"^Slowest vectors\n.*?\n\n", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"\d[\d.,]*(?= (?:s|ms|us|min)\b)|\d+ of \d+(?= held-out)", "#", text)


def test_the_page_of_python_names_the_public_api():
    """Each name of the package is in its table."""
    text = (DOCS / "writing-a-backend.md").read_text()
    assert [name for name in conformance.__all__ if f"`{name}" not in text] == []


def test_the_index_names_every_command():
    """Each command is in the table of docs/README.md."""
    text = (DOCS / "README.md").read_text()
    assert [name for name in main.listed if f"| `conformance {name} " not in text] == []


@pytest.mark.parametrize("name", EVERY)
def test_attributes_of_an_operator_are_all_listed(name):
    """Its row in docs/writing-a-backend.md has each attribute, optional ones in brackets."""
    text = (ROOT / "docs" / "writing-a-backend.md").read_text()
    row = re.search(rf"^\| {name} \| (.*) \|$", text, re.MULTILINE).group(1)
    listed = {key: "[" in bracket for bracket, key in re.findall(r"(\[?)`([a-z][A-Za-z_]*)`", row)}
    declared = {each.key: not each.required for each in OPERATORS[name].attributes}
    assert listed == declared


def test_the_guide_names_verdicts_and_element_types():
    """docs/writing-a-backend.md explains each verdict and each floating-point type."""
    text = (ROOT / "docs" / "writing-a-backend.md").read_text()
    assert [name for name in VERDICTS if f"`{name}`" not in text] == []
    assert [name for name in FLOATS if name not in text] == []


def test_the_untested_page_names_every_undefined_clause():
    """docs/untested.md lists what no document defines."""
    text = (ROOT / "docs" / "untested.md").read_text()
    undefined = [name for name, clause in CLAUSES.items() if clause.kind == "undefined"]
    assert [name for name in undefined if f"| `{name}` |" not in text] == []


def test_the_changelog_has_this_version_and_counts_the_clauses():
    """The first heading is the version of the code, and its numbers of clauses are true."""
    text = (ROOT / "CHANGELOG.md").read_text()
    kinds = [clause.kind for clause in CLAUSES.values()]
    counts = {kind: kinds.count(kind) for kind in ("disputed", "undefined", "ruling")}
    assert re.search(r"^## ([\d.]+)", text, re.MULTILINE).group(1) == conformance.__version__
    assert "{disputed} disputed, {undefined} undefined, {ruling} rulings".format(**counts) in text


def test_the_adapter_of_the_guide_conforms(shipped):
    """The one of docs/writing-a-backend.md is right of all operators that it does not refuse."""
    shown = blocks("docs/writing-a-backend.md")
    (adapter,) = (block.text for block in shown if "unsupported, pooling_of" in block.text.lower())
    defined = {}
    exec(adapter, defined)
    report = check(defined["backend"], tier="smoke")
    assert report.problems == ()
    assert report.counts["conforms"]


def test_the_right_example_conforms(shipped):
    """It conforms on each vector of its operator and says Unsupported for another one."""
    report = check(
        conformance.load_backend(f"{ROOT}/examples/backend_right.py:backend"),
        operators=["AdaptiveAvgPool-8", "AvgPool-14"],
        tier="smoke",
    )
    unsupported = {each.operator for each in report.results if each.verdict == "unsupported"}
    assert report.ok
    assert unsupported == {"AvgPool-14"}


def test_the_faulty_example_has_its_stated_fault_and_no_other(shipped):
    """It does not conform, and each mismatch has auto_pad=same_lower."""
    report = check(
        conformance.load_backend(f"{ROOT}/examples/backend_faulty.py:backend"),
        operators=["AvgPool-1", "MaxPool-1"],
        tier="smoke",
    )
    failing = {each.attributes["auto_pad"] for each in report.results if each.verdict == "mismatch"}
    assert failing == {"same_lower"}
    assert report.counts.keys() - {"mismatch"} == {"conforms"}
