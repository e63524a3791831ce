"""Vectors like a model: which cases a layer becomes."""

import os
import signal
import time

import numpy as np
import pytest
from click.testing import CliRunner
from support.effort import one_in
from support.made_up import registered

from conformance import open_vectors
from conformance.cases.from_model import from_model, generate_like
from conformance.cases.from_model.concrete import concrete, exact_shape
from conformance.cases.from_model.layer import Layer, NotExpressible
from conformance.cases.from_model.perturbations import cases
from conformance.cases.sweep.sweep_model import CaseSpec, build
from conformance.cli import main
from conformance.dtypes import INTEGERS
from conformance.errors import UsageError
from conformance.operators import vector_of
from conformance.reference.bound import is_meaningful
from conformance.vectorfile.verify import verify

STEM = {
    "kernel": [3, 3],
    "strides": [2, 2],
    "pads_begin": [1, 1],
    "pads_end": [1, 1],
    "rounding_type": "floor",
}
LAYERS = {
    "max": Layer("stem", "MaxPool-1", STEM, (1, 64, 40, 41), "float32"),
    "average": Layer("a", "AvgPool-1", STEM | {"exclude_pad": False}, (2, 3, 9, 8), "float16"),
    "same": Layer(
        "s",
        "AvgPool-1",
        STEM | {"exclude_pad": True, "auto_pad": "same_lower"},
        (1, 1, 9, 8),
        "bfloat16",
    ),
    "integers": Layer("i", "MaxPool-1", STEM, (1, 2, 9, 8), "int8"),
    "adaptive": Layer("g", "AdaptiveAvgPool-8", {}, (1, 5, 14, 13), "float32", (7, 1)),
    "open": Layer("o", "MaxPool-1", STEM, None, "float32"),
}
IR = """<net><layers><layer id="1" name="stem" type="MaxPool"><data kernel="3,3" strides="2,2"
pads_begin="1,1" pads_end="1,1"/><input><port id="0" precision="FP32"><dim>-1</dim><dim>2</dim>
<dim>{d}</dim><dim>9</dim></port></input></layer>{more}</layers></net>"""


def sleep_over(path):
    """Read a model for a minute."""
    time.sleep(60)


def crash(path):
    """End the process that reads a model."""
    os.kill(os.getpid(), signal.SIGSEGV)


def built(name):
    """Return every case of a layer with how it differs from it."""
    return [(variant.source, build(variant, seed=0)) for variant in cases(concrete(LAYERS[name]))]


@pytest.mark.parametrize("name", LAYERS)
def test_every_case_is_valid_and_defined(name):
    """No vector of a model expects an exception alone, or anything at all."""
    kinds = {outcome.kind for _, case in built(name) for outcome in vector_of(case).outcomes[:1]}
    assert kinds == {"values"}


@pytest.mark.parametrize("name", LAYERS)
def test_exact_cases_are_the_layer(name):
    """Attributes, extents and type are those of the model; patterns differ."""
    layer = concrete(LAYERS[name])
    exact = [case for how, case in built(name) if not how]
    assert {case.inputs[0].shape[2:] for case in exact} == {layer.shape[2:]}
    assert all(case.attributes == layer.attributes for case in exact)
    assert len({case.pattern for case in exact}) == len(exact) >= 5


@pytest.mark.parametrize("name", LAYERS)
def test_neighbours_differ_in_one_attribute(name):
    """All else is as in the layer."""
    layer = concrete(LAYERS[name])
    for how, case in built(name):
        other = {key for key, value in layer.attributes.items() if case.attributes[key] != value}
        other |= case.attributes.keys() - layer.attributes.keys()
        other |= {"type"} if str(case.inputs[0].dtype) != layer.dtype else set()
        word = how.split(" ")[0]
        wanted = {"": set(), "extent": set(), "output": set(), "all": set(), "smaller": set()}.get(
            word, {"type"} if word in {"float16", "bfloat16", "float32", "float64"} else {word}
        )
        assert other == wanted


@pytest.mark.parametrize("dtype", one_in(4, INTEGERS))
def test_maxima_of_every_integer_type(tmp_path, dtype):
    """They are written, and say what the document says."""
    path = tmp_path / "model.xml"
    short = dtype.replace("uint", "U").replace("int", "I")
    path.write_text(IR.format(d=20, more="").replace("FP32", short))
    made = generate_like(tmp_path / "v", [path])
    (file,) = open_vectors(made.paths[0])
    assert {vector.case.inputs[0].dtype.name for vector in file} == {dtype}
    assert not list(verify(file))


def test_every_attribute_is_varied():
    """Up and down, on all axes and each alone, and each word and type that there is."""
    hows = {how for how, _ in built("average")}
    assert {f"{name} {sign}1" for name in ("kernel", "strides") for sign in "+-"} <= hows
    assert {"pads_begin -1 on axis 0", "pads_end -1 on axis 1", "extent +1"} <= hows
    assert {"exclude_pad true", "rounding_type ceil", "auto_pad same_upper", "bfloat16"} <= hows


def test_pads_are_not_varied_where_they_are_ignored():
    """Nor are they made as long as the kernel, which engines may refuse."""
    assert not [how for how, _ in built("same") if how.startswith("pads")]
    for _, case in built("max"):
        given = case.attributes
        assert max(given["pads_begin"] + given["pads_end"]) < min(given["kernel"])


def test_large_layers_stay_small():
    """A plane keeps its extents; channels and batch are cut, some cases have all channels."""
    big = Layer("stem", "MaxPool-1", STEM, (8, 64, 224, 224), "float32")
    layer = concrete(big)
    near = list(cases(layer))
    assert exact_shape(layer) == (1, 1, 224, 224)
    assert sum(np.prod(variant.shape) for variant in near) < 400_000
    shapes = {variant.source: variant.shape for variant in near}
    assert shapes[""] == (1, 1, 224, 224)
    assert shapes["all channels, smaller plane"][:2] == (8, 64)


def test_smaller_planes_end_at_the_same_place_of_a_stride():
    """What is left over at the end is the same."""
    layer = concrete(
        Layer("p", "MaxPool-1", STEM | {"strides": [5, 4]}, (1, 64, 203, 202), "float32")
    )
    (small,) = {variant.shape for variant in cases(layer) if variant.source == "smaller plane"}
    assert (small[2] % 5, small[3] % 4) == (203 % 5, 202 % 4)
    assert max(small) < 30


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"shape": (1, 1, 2000, 2000)}, "a plane of its input has more than 1,048,576 cells"),
        ({"shape": (1, 1, 1, 0)}, "its input is empty"),
        ({"shape": (1, 8)}, "2 dimensions"),
        ({"dtype": "int8", "operator": "AvgPool-1"}, "takes float16"),
        ({"attributes": STEM | {"strides": [0, 1]}}, "integers >= 1"),
        ({"attributes": STEM | {"kernel": [50, 50]}}, "clause kernel-past-padding"),
        ({"attributes": {}, "shape": None}, "neither its input's rank nor its kernel"),
    ],
    ids=["large", "empty", "flat", "type", "invalid", "undefined", "unknown"],
)
def test_layers_without_a_sound_vector(change, why):
    """The reason is one line, and nothing was allocated to find it."""
    fields = {"name": "p", "operator": "MaxPool-1", "attributes": STEM, "shape": (1, 2, 8, 8)}
    with pytest.raises(NotExpressible, match=why):
        concrete(Layer(**({"dtype": "float32"} | fields | change)))


class TestAnyOperator:
    """Layers of operators that no model has: all follows from roles and traits."""

    LAYERS = (
        Layer(
            "m",
            "MinimumPool-1",
            {"window": [3, 3], "step": [2, 2], "pads": [1, 1, 1, 1], "round_up": 1},
            (1, 64, 40, 41),
            "float32",
        ),
        Layer("open", "MinimumPool-1", {"window": [3, 2]}, None, "int8"),
        Layer("k", "KernelAlone", {"k": [4]}, (1, 2, None), "float32"),
        Layer("d", "UnusualDefaults", {}, (1, 2, 9, 9, 9), "float16"),
        Layer("a", "AdaptiveMaximum", {}, (1, 5, 14, 13), "int8", (7, None)),
        Layer("w", "WholeAverage", {}, (1, 5, 14, 13), "float64"),
        Layer("o", "WholeMaximum", {}, (1, 5, None, 13), "float32"),
    )

    @pytest.fixture(autouse=True)
    def _known(self):
        with registered():
            yield

    @pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
    def test_it_has_vectors_and_neighbours(self, layer):
        """Every case is valid and defined; the exact ones differ in their data alone."""
        found = [(variant.source, build(variant, seed=0)) for variant in cases(concrete(layer))]
        assert {vector_of(case).outcomes[0].kind for _, case in found} == {"values"}
        exact = [case for how, case in found if not how]
        assert {str(case.attributes) for case in exact} == {str(layer.attributes)}
        assert len({case.pattern for case in exact}) == len(exact) >= 5
        assert {how for how, _ in found} >= {"extent +1"}

    def test_numbers_and_words_are_varied_by_the_names_of_the_document(self):
        """Pads in one list entry by entry; words that the layer leaves out, too."""
        hows = {variant.source for variant in cases(concrete(self.LAYERS[0]))}
        assert {"window +1", "step -1", "pads -1 on axis 3", "round_up 0", "mode valid"} <= hows

    def test_output_sizes_are_varied(self):
        """Where there are any."""
        adaptive, whole = (
            {variant.source for variant in cases(concrete(each))} for each in self.LAYERS[4:6]
        )
        assert {"output size -1 on axis 0", "output size int32"} <= adaptive
        assert not [how for how in whole if how.startswith("output")]

    def test_patterns_suit_the_reduction(self):
        """What chooses a cell is asked for the lowest numbers, what sums for a narrow bound."""
        minimum, whole = self.LAYERS[0], self.LAYERS[5]
        assert "lowest" in {variant.pattern for variant in cases(concrete(minimum))}
        assert "impulses" in {variant.pattern for variant in cases(concrete(whole))}

    @pytest.mark.parametrize(
        ("layer", "why"),
        [
            (Layer("p", "MinimumPool-1", {}, (1, 1, 8), "float32"), "window: required"),
            (Layer("p", "UnusualDefaults", {}, (1, 1, 8, 8), "float16"), "pools 5 to 5"),
            (Layer("p", "WholeMaximum", {}, None, "int8"), "neither its input's rank"),
        ],
        ids=["required", "axes", "rank"],
    )
    def test_what_is_not_sound_says_why(self, layer, why):
        """By the operator's own rules."""
        with pytest.raises(NotExpressible, match=why):
            concrete(layer)


@pytest.fixture
def model(tmp_path):
    """Return a model of two layers alike, one other, and one without words."""
    one = IR.format(d=9, more="")
    inner = one[one.index("<layer ") : one.index("</layers>")]
    other = inner.replace("3,3", "2,2").replace("1,1", "0,0").replace('"stem"', '"other"')
    more = inner.replace('"stem"', '"again"') + other + '<layer name="roi" type="ROIPooling"/>'
    path = tmp_path / "model.xml"
    path.write_text(IR.format(d=9, more=more))
    return path


def test_equal_layers_are_one(model, tmp_path):
    """Counted, under the name of the first; the layer without words is named."""
    made = generate_like(tmp_path / "v", [model, model], tier="smoke")
    assert [(each.name, each.count) for each in made.layers] == [("stem", 4), ("other", 2)]
    assert [each.kind for _, each in made.skipped] == ["ROIPooling"] * 2


def test_files_hold_meaningful_vectors_that_name_the_layer(model, tmp_path):
    """The source says where a vector comes from; no bound is without meaning."""
    (path,) = generate_like(tmp_path / "v", [model]).paths
    with open_vectors(path) as files:
        vectors = [files[0].vector(i) for i in range(len(files[0]))]
    assert "model.xml, layer stem, kernel +1" in {each.case.source for each in vectors}
    assert {each.case.tier for each in vectors} == {"smoke", "standard"}
    for each in vectors:
        addends = max(int(e.addends.max()) for o in each.values for e in o.outputs)
        assert is_meaningful(addends, 2, str(each.case.inputs[0].dtype))


def test_layers_of_integers_have_vectors(tmp_path):
    """Their bound is zero, which says enough."""
    path = tmp_path / "model.xml"
    path.write_text(IR.format(d=9, more="").replace("FP32", "I8"))
    made = generate_like(tmp_path / "v", [path])
    assert made.meaningless == 0
    with open_vectors(made.paths[0]) as files:
        assert {str(files[0].vector(i).case.inputs[0].dtype) for i in range(len(files[0]))} == {
            "int8"
        }


def test_bounds_without_meaning_are_left_out_and_counted(tmp_path):
    """Hundreds of bfloat16 numbers in a window."""
    path = tmp_path / "model.xml"
    path.write_text(
        IR.format(d=40, more="")
        .replace("MaxPool", "AdaptiveAvgPool")
        .replace("FP32", "BF16")
        .replace(
            "</input>",
            '</input><output><port id="1"><dim>-1</dim><dim>2</dim><dim>1</dim>'
            "<dim>1</dim></port></output>",
        )
    )
    made = generate_like(tmp_path / "v", [path], tier="smoke")
    assert made.meaningless > 0
    assert made.paths


class TestCommand:
    """`conformance generate --like`."""

    @pytest.fixture
    def generate(self, tmp_path):
        """Return what runs the command."""
        return lambda *given: CliRunner().invoke(
            main, ["generate", str(tmp_path / "v"), *map(str, given)]
        )

    def test_what_is_made_verifies_and_checks(self, generate, model, tmp_path):
        """The files are vector files like others; what was found and chosen is said."""
        done = generate("--like", model)
        assert done.exit_code == 0
        assert "the model leaves extents open: these were chosen" in done.stdout
        assert "1 ROIPooling (roi): none of the documents defines it" in done.stdout
        for command in (["verify"], ["check", "numpy", "--in-process"]):
            again = CliRunner().invoke(main, [*command, str(tmp_path / "v")])
            assert again.exit_code == 0, again.output

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["--strength", "3"], "--strength is for the sweep"),
            (["--operator", "AvgPool-1"], "model.xml: no layer to make vectors of"),
            (
                ["--like", "none.onnx"],
                "none.onnx: no such file; give the model's .xml or .onnx file",
            ),
        ],
        ids=str,
    )
    def test_wrong_usage_is_one_line(self, generate, model, tmp_path, options, said):
        """And nothing is written."""
        done = generate("--like", model, *options)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert said in done.stderr
        assert not (tmp_path / "v").exists()

    def test_every_layer_left_out_is_named(self, generate, tmp_path):
        """However many there are, and those that --operator leaves out."""
        port = "".join(f"<dim>{extent}</dim>" for extent in (1, 2, 9, 9))
        window = 'kernel="2,2" strides="1,1" pads_begin="0,0" pads_end="0,0"'
        layer = (
            f'<layer name="{{}}" type="{{}}"><data {window} exclude-pad="true"/>'
            f'<input><port precision="FP32">{port}</port></input></layer>'
        )
        kinds = [("a", "AvgPool"), ("m", "MaxPool"), *((f"roi{n}", "ROIPooling") for n in range(9))]
        layers = "".join(layer.format(*each) for each in kinds)
        (tmp_path / "many.xml").write_text(f"<net><layers>{layers}</layers></net>")
        done = generate("--like", tmp_path / "many.xml", "--operator", "MaxPool-1")
        said = " ".join(done.stdout.split())
        assert "Left out: 10 layers" in said
        names = ", ".join(f"roi{n}" for n in range(9))
        assert f"9 ROIPooling ({names}): none of the documents defines it" in said
        assert "1 AvgPool-1 (a): not an operator that was asked for" in said

    @pytest.mark.parametrize("kind", ["pipe", "device", "loop", "zip", "utf-7", "name"])
    def test_what_never_ends_and_odd_encodings_are_one_line(self, generate, tmp_path, kind):
        """Nobody waits for them."""
        path = tmp_path / "m.xml"
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "name":
            path = tmp_path / ("x" * 300)
        elif kind in {"device", "loop"}:
            path.symlink_to("/dev/zero" if kind == "device" else path)
        else:
            path.write_text(f'<?xml version="1.0" encoding="{kind}"?><net/>')
        done = generate("--like", path)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert path.name in done.stderr

    def test_reading_that_crashes_or_goes_on_is_one_line(self, model, tmp_path, monkeypatch):
        """As ONNX does over functions of functions, and over some graphs."""
        monkeypatch.setattr(from_model, "_SECONDS", 0.2)
        for read, why in ((sleep_over, "took more than"), (crash, "crashed with signal SIGSEGV")):
            monkeypatch.setattr(from_model, "read_model", read)
            with pytest.raises(UsageError, match=rf"model\.xml: no model .* {why}"):
                generate_like(tmp_path / "v", [model])

    def test_a_model_without_pooling(self, tmp_path):
        """It is no vector file's fault."""
        (tmp_path / "m.xml").write_text('<net><layers><layer type="Relu"/></layers></net>')
        with pytest.raises(UsageError, match=r"m\.xml: no pooling layers"):
            generate_like(tmp_path / "v", [tmp_path / "m.xml"])


def test_numbers_that_a_layer_leaves_out_are_varied_from_their_defaults():
    """A document with defaults has neighbours in all of its attributes, as one without."""
    layer = CaseSpec("ONNX-MaxPool-22", {"kernel_shape": [2, 2]}, (1, 1, 9, 9), "float32", "")
    changes = {variant.source for variant in cases(layer)}
    assert {"kernel_shape +1", "strides +1", "dilations +1", "pads +1"} <= changes
