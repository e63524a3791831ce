"""Pooling layers of OpenVINO's XML, and what is refused of a stranger's file."""

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cases.from_model.concrete import concrete
from conformance.cases.from_model.from_model import read_model
from conformance.cases.from_model.layer import Layer, NotExpressible
from conformance.errors import UsageError

DATA = 'kernel="2,3" strides="2,1" pads_begin="0,1" pads_end="1,0"'
NUMBERS = {"kernel": [2, 3], "strides": [2, 1], "pads_begin": [0, 1], "pads_end": [1, 0]}


def port(*dims, precision="FP32"):
    named = f' precision="{precision}"' if precision else ""
    return f"<port id='0'{named}>{''.join(f'<dim>{d}</dim>' for d in dims)}</port>"


def layer(kind="MaxPool", data=DATA, *, given=None, made="", name="pool", opset="opset1"):
    given = port(1, 3, 8, 9) if given is None else given
    return (
        f'<layer id="1" name="{name}" type="{kind}" version="{opset}"><data {data}/>'
        f"<input>{given}</input><output>{made}</output></layer>"
    )


def net(*layers):
    return (
        f'<?xml version="1.0"?><net name="n" version="11"><layers>{"".join(layers)}</layers></net>'
    )


@pytest.fixture
def read(tmp_path):
    """Return what reads a text as a model."""

    def read(text, name="model.xml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_model(path)

    return read


class TestRead:
    """What becomes of a layer."""

    @pytest.mark.parametrize(
        ("kind", "opset", "operator"),
        [
            ("MaxPool", "opset7", "MaxPool-1"),
            ("MaxPool", "opset8", "MaxPool-8"),
            ("MaxPool", "opset14", "MaxPool-14"),
            ("MaxPool", "extension", "MaxPool-1"),
            ("AvgPool", "opset15", "AvgPool-14"),
            ("AvgPool", "opset16", "AvgPool-16"),
            ("AdaptiveMaxPool", "opset8", "AdaptiveMaxPool-8"),
        ],
    )
    def test_versions(self, read, kind, opset, operator):
        """The newest document that its opset has, the oldest where it names none."""
        data = f'{DATA} exclude-pad="true"' if kind == "AvgPool" else DATA
        data = "" if kind == "AdaptiveMaxPool" else data
        (found,) = read(net(layer(kind, data, opset=opset, made=port(1, 3, 4, 4)))).layers
        assert found.operator == operator

    def test_dilations_and_indices(self, read):
        """A layer of opset 8 has dilations, a type of indices and the axis they count from."""
        data = f'{DATA} dilations="2,1" index_element_type="i32" axis="-2"'
        (found,) = read(net(layer(data=data, opset="opset8"))).layers
        words = {"dilations": [2, 1], "index_element_type": "i32", "axis": -2}
        assert found == Layer("pool", "MaxPool-8", NUMBERS | words, (1, 3, 8, 9), "float32")

    def test_maximum(self, read):
        """Attributes are lists of integers and words, the type is that of the input."""
        (found,) = read(net(layer(data=f'{DATA} rounding_type="ceil" auto_pad="valid"'))).layers
        words = {"rounding_type": "ceil", "auto_pad": "valid"}
        assert found == Layer("pool", "MaxPool-1", NUMBERS | words, (1, 3, 8, 9), "float32")

    def test_average(self, read):
        """What excludes padding is a boolean; what is absent stays absent."""
        (found,) = read(net(layer("AvgPool", f'{DATA} exclude-pad="true"'))).layers
        assert (found.operator, found.attributes) == ("AvgPool-1", NUMBERS | {"exclude_pad": True})

    def test_adaptive(self, read):
        """The output size is that of the output port: the constant is in another file."""
        made = port(1, 3, 5, -1)
        (found,) = read(net(layer("AdaptiveAvgPool", "", made=made))).layers
        assert (found.operator, found.output_size) == ("AdaptiveAvgPool-8", (5, None))

    @pytest.mark.parametrize("dim", ["-1", "?", "1..64", ""])
    def test_open_extents(self, read, dim):
        """Every way in which a file leaves an extent open, but nothing at all."""
        if dim:
            (found,) = read(net(layer(given=port(dim, 3, 8, 9)))).layers
            assert found.shape == (None, 3, 8, 9)
        else:
            assert read(net(layer(given=port(dim, 3, 8, 9)))).skipped[0].why.startswith("dim=''")

    def test_the_type_of_the_output_stands_in(self, read):
        """Older files give no type to inputs."""
        given, made = port(1, 3, 8, 9, precision=""), port(1, 3, 4, 8, precision="FP16")
        assert read(net(layer(given=given, made=made))).layers[0].dtype == "float16"

    def test_layers_inside_a_loop(self, read):
        """A layer that holds a net is not the end of it."""
        inner = f'<layer type="Loop"><body><layers>{layer(name="inner")}</layers></body></layer>'
        found = read(net(inner, layer(name="outer")))
        assert [each.name for each in found.layers] == ["inner", "outer"]

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            (layer("ROIPooling"), "none of the documents defines it"),
            (layer(data=f'{DATA} dilations="2,2"'), "dilations: MaxPool-1 has none"),
            (layer(given=port(1, 2, 3, precision="U4")), "precision U4"),
            (layer(data='kernel="two"'), "kernel='two' is no list of integers"),
            (layer(data='kernel="9999999"'), "kernel holds numbers above 1,048,576"),
            (layer(data=f'kernel="{"9" * 5000}"'), "is no list of integers"),
            (layer("AvgPool"), "exclude-pad='' is neither true nor false"),
        ],
        ids=["kind", "dilations", "type", "word", "large", "digits", "boolean"],
    )
    def test_what_has_no_words_here_is_named(self, read, text, why):
        """It is left out with the reason, and the others are read."""
        found = read(net(text, layer(name="good")))
        assert [each.name for each in found.layers] == ["good"]
        assert why in found.skipped[0].why

    def test_names_are_made_printable(self, read):
        """A name can neither steer a terminal nor fill it."""
        (found,) = read(net(layer(name="&#x9b;a\u202eb" + "c" * 99))).layers
        assert found.name == "?a?b" + "c" * 53 + "..."


class TestPages:
    """Bare elements, as documents print them."""

    def test_a_document_with_things_left_out(self, read):
        """Three dots stand for what does not matter; text around the elements is ignored."""
        text = layer().replace('id="1"', "...").replace('version="opset1"', "...")
        found = read(f"# Some page\n\n{text}\n\nand\n```xml\n{text}```\n", "page.md")
        assert [each.attributes for each in found.layers] == [NUMBERS, NUMBERS]

    def test_one_element_is_a_file(self, read):
        """A layer that was cut out of a net is read as it is."""
        assert len(read(layer()).layers) == 1

    @pytest.mark.parametrize("text", [layer()[:-3], "a < b", f"{layer()}<layer", ""])
    def test_a_page_without_whole_elements(self, read, text):
        with pytest.raises(UsageError, match="no model: broken XML"):
            read(text, "page.md")


class TestHostile:
    """A stranger's file: one line, and soon."""

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ('<!DOCTYPE n [<!ENTITY a "b">]><net>&a;</net>', "has no dtd declarations"),
            ('<!DOCTYPE n SYSTEM "file:///dev/zero"><net/>', "has no dtd declarations"),
            ("<a>" * 200, "nested more than 100 deep"),
            (net(layer())[:-20], "broken XML"),
            (net(layer("Loop", data=">" + "<a/>" * 140_000 + "<b")), "elements in a layer"),
            (net(layer(name="x" * 3_000_000)), "no tag ends for 1 MiB"),
            (b"\x00\x01\x02", "broken XML"),
        ],
        ids=["entities", "dtd", "deep", "cut off", "wide", "long", "binary"],
    )
    def test_is_refused_in_one_line(self, read, text, said):
        """Nothing is expanded, fetched or kept."""
        with pytest.raises(UsageError, match=said) as caught:
            read(text)
        assert "\n" not in str(caught.value)

    @given(st.data())
    def test_a_changed_file_is_read_or_refused(self, data):
        """Whatever characters are changed: layers with vectors or reasons, or one line."""
        made = port(1, 3, 4, 4)
        text = net(
            layer("AvgPool", f'{DATA} exclude-pad="true"'), layer("AdaptiveAvgPool", made=made)
        )
        signs = st.sampled_from("0123456789-,.\"'<>/&; \0aP\u0660\u202e")
        for at in data.draw(st.lists(st.integers(60, len(text) - 1), min_size=1, max_size=4)):
            text = text[:at] + data.draw(signs) + text[at + 1 :]
        with TemporaryDirectory() as folder:
            path = Path(folder) / "m.xml"
            path.write_text(text)
            with suppress(UsageError):
                for each in read_model(path).layers:
                    with suppress(NotExpressible):
                        assert concrete(each).shape

    def test_a_cut_off_model_is_no_page(self, read):
        """Its whole layers are not taken for the model."""
        with pytest.raises(UsageError, match="broken XML"):
            read(net(layer(), layer())[:-30])

    def test_files_that_cannot_be_read(self, tmp_path):
        """A directory, and nothing."""
        with pytest.raises(UsageError, match=r"a directory; give the model's \.xml"):
            read_model(tmp_path)
        with pytest.raises(UsageError, match="no such file; give the model"):
            read_model(tmp_path / "none.xml")
