"""docs/findings.md: a finding names its kind and evidence, and its lines print what it says."""

import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import tokenize
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import pytest
from support.paths import DOCS

import conformance

PAGE = (DOCS / "findings.md").read_text("utf-8")
KINDS = r"Against its document|Against itself|Memory or crash|Difference|Same defect as \d+"
# The part of an engine: the package whose version the page states, and what is imported.
ENGINES = {
    "OpenVINO": ("openvino", "openvino"),
    "ONNX Runtime": ("onnxruntime", "onnxruntime", "onnx"),
    "ONNX, its reference evaluator": ("onnx", "onnx"),
    "PyTorch": ("torch", "torch"),
    "PaddlePaddle": ("paddlepaddle", "paddle"),
    "ncnn": ("ncnn", "ncnn"),
    "TensorFlow": ("tensorflow", "tensorflow", "keras"),
    "tinygrad": ("tinygrad", "tinygrad"),
    "MNN": ("MNN", "MNN"),
    "TVM": ("apache-tvm", "tvm"),
    "LiteRT": ("ai-edge-litert", "ai_edge_litert", "tensorflow"),
    "tflite-micro": ("tflite-micro", "tflite_micro", "flatbuffers"),
    "ExecuTorch": ("executorch", "executorch", "torch"),
    "litert-torch": ("litert-torch", "litert_torch", "ai_edge_litert"),
    "onnx2torch": ("onnx2torch", "onnx2torch", "onnx", "torch"),
    "MLX": ("mlx", "mlx"),
    "Exporters of torch": ("torch", "torch", "onnx", "onnxscript", "onnxruntime"),
    "Importer of OpenVINO": ("openvino", "openvino", "onnx"),
    "IREE": ("iree-base-compiler", "iree.compiler", "iree.runtime"),
    "tract": ("tract", "tract", "onnx"),
    "OpenCV": ("opencv-python-headless", "cv2", "onnx"),
    "TOSA's reference model": ("tosa-tools", "tosa_reference_model"),
    "Keras": ("keras", "keras", "scipy", "jax"),
}
PARTS = re.compile(r"^(##+) ([^\n]*)$|^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = 120
RUN = """
import sys
sys.stdout = open(sys.argv[1], "w", buffering=1)
try:
    exec(sys.argv[2], {"__name__": "__main__"})
except Exception as error:
    print("raises", type(error).__name__)
"""  # what an engine itself writes to the standard output is not in that file


@dataclass(frozen=True)
class Lines:
    """The Python of a finding, with the files that the part of its engine gives."""

    engine: str
    number: int
    code: str
    files: dict[str, str]


def lines_of_findings():
    """Yield the Python of each finding of an engine that runs in Python."""
    engine, number, files = "", 0, {}
    for level, title, language, text in PARTS.findall(PAGE):
        if level == "##":
            engine, files = title, {}
        elif level:
            number = int(title.partition(".")[0])
        elif language == "python" and engine in ENGINES:
            if name := re.match(r"# (\w+\.py)\n", text):
                files[name[1]] = text
            else:
                yield Lines(engine, number, text, dict(files))


def parameters():
    """Return the lines, each marked as those that need their engine."""
    slow = pytest.mark.slow("the form of each is tested; this starts an engine for each")
    for lines in lines_of_findings():
        marks = [pytest.mark.needs_engine(*ENGINES[lines.engine][1:]), slow]
        yield pytest.param(lines, id=f"{lines.number}", marks=marks)


def what_the_page_says(code):
    """Return the comments of lines, without what is expected: what they print, how they end."""
    tokens = tokenize.generate_tokens(StringIO(code).readline)
    comments = [
        re.sub(r"(;|^#) expected .*", "", token.string).removeprefix("#")
        for token in tokens
        if token.type == tokenize.COMMENT
    ]
    return " ".join(" ".join(comments).split())


def how_it_ended(done):
    """Return the signal that ended a process in words, or nothing."""
    return signal.strsignal(-done.returncode) if done.returncode < 0 else ""


def what_is_printed(lines, folder):
    """Run lines in a process of their own; return what they print, and how they end."""
    for name, text in lines.files.items():
        (folder / name).write_text(text)
    printed = folder / "printed.txt"
    command = [sys.executable, "-c", RUN, str(printed), lines.code]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=SECONDS, check=False
        )
        ended = how_it_ended(done)
    except subprocess.TimeoutExpired:
        ended = "hangs"
    return " ".join([*printed.read_text().split(), *([ended] if ended else [])])


def readings(text):
    """Return the texts that one with endings "A or B" stands for."""
    first, *others = text.split(" or ")
    before = re.sub(r"(Aborted|Segmentation fault)$", "", first)
    return {first, *(before + other for other in others)}


def stated_version(engine):
    """Return what the table of the page has as the version of an engine."""
    return re.search(rf"^\| {re.escape(engine)} \| ([^|]*) \|", PAGE, re.MULTILINE)[1]


def unmet(lines):
    """Return what this machine lacks to show a finding, or nothing."""
    processor = Path("/proc/cpuinfo")
    if lines.number == 21 and (not processor.exists() or "avx512" in processor.read_text()):
        return "needs a processor without AVX-512"
    if lines.number == 54:
        return "needs 10 GB of memory"
    if "torch.compile" in lines.code and shutil.which("g++") is None:
        return "needs a C++ compiler"
    if '"torch"' in lines.code and find_spec("torch") is None:
        return "needs torch"
    if lines.engine == "tinygrad" and shutil.which("clang") is None:
        return "needs clang"
    return ""


@pytest.mark.parametrize("lines", [*parameters()])
def test_the_lines_of_a_finding_print_what_it_says(lines, tmp_path):
    """With the version that the page states; another one may have mended it, and is named."""
    if missing := unmet(lines):
        pytest.skip(missing)
    printed, said = what_is_printed(lines, tmp_path), readings(what_the_page_says(lines.code))
    package = ENGINES[lines.engine][0]
    installed = version(package).partition("+")[0]
    if printed not in said and installed not in stated_version(lines.engine):
        pytest.skip(f"{package} {installed} prints {printed!r}: the page is of another version")
    assert printed in said


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("print(1)  # 1", True),
        ("print(2)  # 1", False),
        ("print(1)  # 1; expected 2", True),
        ("print(1)  # 1\n# expected 2", True),
        ("1 / 0  # raises ZeroDivisionError", True),
        ("print(1)  # 1\nimport os\nos.abort()  # Segmentation fault or Aborted", True),
        ("print(1)  # 1\nimport os\nos.abort()  # Segmentation fault", False),
        ("import os\nos.system('echo of the engine')\nprint(1)  # 1", True),
        ("from file import x\nprint(x)  # 3", True),
    ],
)
def test_what_lines_print_is_compared_with_their_comments(code, expected, tmp_path):
    """How they end, too; what else is written to the standard output does not count."""
    lines = Lines("", 0, code, {"file.py": "x = 3"})
    assert (what_is_printed(lines, tmp_path) in readings(what_the_page_says(code))) == expected


def findings():
    """Yield the title and the first paragraph of each finding."""
    text = PAGE.partition("\n## Observations")[0]
    for part in text.split("\n### ")[1:]:
        title, first = part.split("\n\n")[:2]
        yield pytest.param(first.replace("\n", " "), id=title.partition(".")[0])


@cache
def ids_of(operator):
    """Return the ids of the shipped vectors of an operator."""
    with conformance.open_vectors(operators=[operator]) as files:
        return [vector_id for file in files.files for vector_id in file.ids]


@pytest.mark.parametrize("first", [*findings()])
def test_a_finding_begins_with_its_kind_its_evidence_and_what_shows_it(first):
    """A vector that is named is one of those shipped."""
    kind, evidence, shown = first.split(" · ", 2)
    assert re.fullmatch(rf"\*\*({KINDS})\*\*", kind)
    assert evidence
    patterns = [name for name in re.findall(r"`([^`]+)`", shown) if "/" in name]
    assert patterns or re.search(r"lines below|tier|reported as", shown)
    for pattern in patterns if list((DOCS.parent / "vectors").glob("*.h5")) else ():
        assert fnmatch.filter(ids_of(pattern.partition("/")[0]), pattern), pattern


def test_the_same_defect_is_counted_once():
    """What a finding is the same as is an independent defect of the same engine, or its library."""
    kinds = {int(each.id): each.values[0].partition(" · ")[0].strip("*") for each in findings()}
    same = [int(kind.split()[-1]) for kind in kinds.values() if kind.startswith("Same defect as")]
    assert same
    assert [n for n in same if not re.match("Against|Memory", kinds[n])] == []


def test_each_finding_has_a_number_of_its_own():
    """Lists of known failures and other pages name it by that."""
    numbers = re.findall(r"^### (\d+)\.", PAGE, re.MULTILINE)
    assert [number for number, times in Counter(numbers).items() if times > 1] == []


def test_the_table_names_every_finding_of_an_engine():
    """The numbers in the row of an engine are those of its headings."""
    for engine in ENGINES:
        part = PAGE.partition(f"\n## {engine}\n")[2].partition("\n## ")[0]
        row = re.search(rf"^\| {re.escape(engine)} \|[^|]*\|([^|]*)\|", PAGE, re.MULTILINE)[1]
        named = set()
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", row):
            named.update(range(int(first), int(last or first) + 1))
        assert named == {int(n) for n in re.findall(r"^### (\d+)\.", part, re.MULTILINE)}
