"""The collection `networks`: pooling layers of well-known networks, as `generate --like networks`.

What their papers or reference code say of a layer is independent of any operator. Each operator
says it that reads the same cells in each window and divides by the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from conformance.cases.from_model.layer import Layer, Model
from conformance.cases.sweep.sweep_model import CaseSpec, case_of_axes
from conformance.errors import InvalidCase
from conformance.operators import operator_named
from conformance.operators.axis import Axis, by_role
from conformance.operators.operator import Operator, sliding
from conformance.operators.params import Params
from conformance.operators.pipeline import Plan
from conformance.operators.reduction import AVERAGE, MAXIMUM, Reduction
from conformance.operators.windows import exact_total, same_total, split

NAME = "networks"
_DTYPE = "float32"

Numbers = int | tuple[int, ...]
"""A number of each spatial axis, or one for all."""


@dataclass(frozen=True, slots=True)
class NetworkLayer:
    """A pooling layer of a network, as `source` describes it: a paper, or code where that differs.

    It makes `output` cells of `size` cells on each spatial axis: the source says both, and its
    windows have to come to that. `pads` are those at both ends unless `pads_end` has the others;
    where they are the `same` as TensorFlow's, they follow from the output. Where it rounds `up`,
    windows that start past the input and its padding are left out, as in Caffe. `include_pad` says
    whether an average counts padding.
    """

    name: str
    source: str
    reduction: Reduction
    channels: int
    size: tuple[int, ...]
    output: tuple[int, ...]
    kernel: Numbers
    strides: Numbers
    pads: Numbers = 0
    pads_end: Numbers | None = None
    same: bool = False
    up: bool = False
    include_pad: bool = False

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The numbers of each spatial axis."""
        ends = self.pads if self.pads_end is None else self.pads_end
        numbers = (self.kernel, self.strides, self.pads, ends)
        columns = (self.size, *(self._of_each_axis(each) for each in numbers), self.output)
        axes = [Axis(*each) for each in zip(*columns, strict=True)]
        return tuple(map(_padded_alike, axes) if self.same else axes)

    @property
    def plan(self) -> Plan:
        """Its windows and divisors."""
        numbers: dict[str, Any] = {**by_role(self.axes)}
        params = Params(
            sizes=self.size,
            **numbers,
            rounding="ceil_torch" if self.up else "floor",
            include_pad=self.include_pad,
        )
        return sliding(self.reduction).plan(params)

    def _of_each_axis(self, numbers: Numbers) -> tuple[int, ...]:
        return (numbers,) * len(self.size) if isinstance(numbers, int) else numbers


def networks(operators: Sequence[str]) -> Model:
    """Return all layers, each in the words of those of the operators that can say it."""
    model = Model(Path(NAME))
    for name in operators:
        for layer in LAYERS:
            spec = said_by(operator_named(name), layer)
            if spec is not None:
                size = spec.output_size and spec.output_size[0]
                model.layers.append(
                    Layer(
                        layer.name,
                        name,
                        spec.attributes,
                        spec.shape,
                        spec.dtype,
                        size,
                        layer.source,
                    )
                )
    return model


def said_by(operator: Operator, layer: NetworkLayer) -> CaseSpec | None:
    """Return a layer as a case of an operator, without data; None where it cannot say it.

    In the words of the network, if the operator has them, else by explicit pads, or a mode of
    padding, that come to the same windows.
    """
    if operator.is_gradient or operator.reduction.name != layer.reduction.name:
        return None
    wanted = layer.plan.key
    for words, axes in _ways(layer):
        try:
            spec = case_of_axes(operator, (1, layer.channels), axes, "", dtype=_DTYPE, words=words)
            plan = _plan(operator, spec)
        except (KeyError, InvalidCase):  # no word for it, or no valid one
            continue
        if spec.shape[2:] == layer.size and plan.key == wanted:
            return spec
    return None


def _ways(layer: NetworkLayer) -> Iterator[tuple[dict[str, Any], Sequence[Axis]]]:
    """Yield words by role, and numbers, that may say a layer: those of the network first."""
    plain = {"auto_pad": "explicit", "rounding": "floor", "include_pad": layer.include_pad}
    unpadded = [axis._replace(pads_begin=0, pads_end=0) for axis in layer.axes]
    if layer.same:
        yield {**plain, "auto_pad": "same_upper"}, unpadded
    for rounding in ("ceil_torch", "ceil") if layer.up else ("floor",):
        yield {**plain, "rounding": rounding}, layer.axes
    yield plain, [_padded_exactly(axis) for axis in layer.axes]
    for mode in ("valid", "same_upper"):
        yield {**plain, "auto_pad": mode}, unpadded


def _padded_alike(axis: Axis) -> Axis:
    """Return an axis with the pads that same_upper makes."""
    total = same_total(axis.size, axis.kernel, axis.strides, axis.output)
    begin, end = split(total, larger_at_end=True)
    return axis._replace(pads_begin=begin, pads_end=end)


def _padded_exactly(axis: Axis) -> Axis:
    """Return an axis padded at its end up to where its last window ends, and no further."""
    total = exact_total(axis.size, axis.kernel, axis.strides, axis.output)
    return axis._replace(pads_end=max(0, total - axis.pads_begin))


def _plan(operator: Operator, spec: CaseSpec) -> Plan:
    """Return windows and divisors of a case; InvalidCase if it is none of the operator."""
    data = np.broadcast_to(np.zeros((), _DTYPE), spec.shape)
    return operator.pipeline.plan(operator.validate(spec.own_inputs(data), spec.attributes))


_LENET = "LeCun et al. 1998, fig. 2"
_ALEXNET = "Krizhevsky et al. 2012, 3.4"
_NIN = "Lin et al. 2014, CIFAR-10; Caffe"
_VGG = "Simonyan and Zisserman 2015, table 1"
_GOOGLENET = "Szegedy et al. 2015, table 1; Caffe, bvlc_googlenet"
_SPP = "He et al. 2014, fig. 4"
_UNET = "Ronneberger et al. 2015, fig. 1"
_RESNET = "He et al. 2016, table 1; torchvision"
_INCEPTION = "Szegedy et al. 2016, table 1"
_CODE = "Szegedy et al. 2016; torchvision"
_SLIM = "Szegedy et al. 2016; TensorFlow, slim"
_SQUEEZENET = "Iandola et al. 2016; torchvision, squeezenet1_0"
_DENSENET = "Huang et al. 2017, table 1"
_XCEPTION = "Chollet 2017, fig. 5; Keras"
_YOLO = "Redmon and Farhadi 2017; Darknet, yolov2-tiny"
_YOLO_SPP = "Redmon and Farhadi 2018; Darknet, yolov3-spp"
_PSPNET = "Zhao et al. 2017, fig. 3; Caffe, pspnet50_ADE20K_473"
_C3D = "Tran et al. 2015, fig. 3; facebookarchive/C3D"
_I3D = "Carreira and Zisserman 2017, fig. 3; google-deepmind/kinetics-i3d"
_NASNET = "Zoph et al. 2018; Cadene/pretrained-models.pytorch, nasnet_mobile"
_DARTS = "Liu et al. 2019; quark0/darts, CIFAR-10"
_SHUFFLENET = "Zhang et al. 2018, table 1, fig. 2; megvii-model/ShuffleNet-Series"
_POOLFORMER = "Yu et al. 2022, algorithm 1; sail-sg/poolformer"


def _square(
    name: str,
    source: str,
    reduction: Reduction,
    channels: int,
    size: int,
    output: int,
    *window: Any,
    **more: Any,
) -> NetworkLayer:
    """Return a layer of square planes; `window` are kernel, stride and pads."""
    planes = (size, size), (output, output)
    return NetworkLayer(name, source, reduction, channels, *planes, *window, **more)


LAYERS: tuple[NetworkLayer, ...] = (
    _square("LeNet-5 S2", _LENET, AVERAGE, 6, 28, 14, 2, 2),
    _square("LeNet-5 S4", _LENET, AVERAGE, 16, 10, 5, 2, 2),
    _square("AlexNet pool1", _ALEXNET, MAXIMUM, 96, 55, 27, 3, 2),
    _square("AlexNet pool5", _ALEXNET, MAXIMUM, 256, 13, 6, 3, 2),
    _square("ZFNet pool1", "Zeiler and Fergus 2014, fig. 3", MAXIMUM, 96, 110, 55, 3, 2, up=True),
    _square("Network in Network pool1", _NIN, MAXIMUM, 96, 32, 16, 3, 2, up=True),
    _square("Network in Network pool3", _NIN, AVERAGE, 10, 8, 1, 8, 1),
    _square("SPP-net pool3x3", _SPP, MAXIMUM, 256, 13, 3, 5, 4),
    _square("SPP-net pool2x2", _SPP, MAXIMUM, 256, 13, 2, 7, 6),
    _square("SPP-net pool1x1", _SPP, MAXIMUM, 256, 13, 1, 13, 13),
    _square("VGG maxpool2", _VGG, MAXIMUM, 128, 112, 56, 2, 2),
    _square("VGG maxpool5", _VGG, MAXIMUM, 512, 14, 7, 2, 2),
    _square("GoogLeNet pool1", _GOOGLENET, MAXIMUM, 64, 112, 56, 3, 2, up=True),
    _square("GoogLeNet pool4", _GOOGLENET, MAXIMUM, 832, 14, 7, 3, 2, up=True),
    _square("GoogLeNet inception 3a", _GOOGLENET, MAXIMUM, 192, 28, 28, 3, 1, 1),
    _square("GoogLeNet auxiliary classifier", _GOOGLENET, AVERAGE, 512, 14, 4, 5, 3),
    _square("GoogLeNet avg pool", _GOOGLENET, AVERAGE, 1024, 7, 1, 7, 1),
    _square("U-Net pool4", _UNET, MAXIMUM, 512, 64, 32, 2, 2),
    # In its authors' own Caffe model, this pads nothing and rounds up: as GoogLeNet pool1.
    _square("ResNet-50 conv2_x pool", _RESNET, MAXIMUM, 64, 112, 56, 3, 2, 1),
    _square("ResNet-50 average pool", _RESNET, AVERAGE, 2048, 7, 1, 7, 1),
    _square("ResNet-D shortcut", "He et al. 2019, fig. 2", AVERAGE, 256, 56, 28, 2, 2),
    _square("SENet squeeze", "Hu et al. 2018, 3.1", AVERAGE, 256, 56, 1, 56, 1),
    _square("Inception v3 pool1", _INCEPTION, MAXIMUM, 64, 147, 73, 3, 2),
    _square("Inception v3 reduction B", _INCEPTION, MAXIMUM, 768, 17, 8, 3, 2),
    _square("Inception v3 branch_pool", _CODE, AVERAGE, 192, 35, 35, 3, 1, 1, include_pad=True),
    _square("Inception v3 Mixed_5b", _SLIM, AVERAGE, 192, 35, 35, 3, 1, same=True),
    _square("Inception v3 auxiliary classifier", _CODE, AVERAGE, 768, 17, 5, 5, 3),
    _square("Inception v3 pool", _INCEPTION, AVERAGE, 2048, 8, 1, 8, 1),
    _square("SqueezeNet maxpool4", _SQUEEZENET, MAXIMUM, 256, 54, 27, 3, 2, up=True),
    _square("SqueezeNet avgpool10", _SQUEEZENET, AVERAGE, 1000, 13, 1, 13, 1),
    _square("DenseNet transition 1", _DENSENET, AVERAGE, 128, 56, 28, 2, 2),
    _square("DenseNet transition 3", _DENSENET, AVERAGE, 512, 14, 7, 2, 2),
    _square("Xception block2_pool", _XCEPTION, MAXIMUM, 128, 147, 74, 3, 2, same=True),
    _square("Xception block3_pool", _XCEPTION, MAXIMUM, 256, 74, 37, 3, 2, same=True),
    _square("MobileNet Avg Pool", "Howard et al. 2017, table 1", AVERAGE, 1024, 7, 1, 7, 1),
    _square("ShuffleNet stride 2", _SHUFFLENET, AVERAGE, 240, 28, 14, 3, 2, 1, include_pad=True),
    _square("NASNet avg 3x3", _NASNET, AVERAGE, 44, 28, 28, 3, 1, 1),
    _square("NASNet max 3x3, stride 2", _NASNET, MAXIMUM, 88, 28, 14, 3, 2, same=True),
    _square("DARTS avg_pool_3x3, stride 2", _DARTS, AVERAGE, 72, 32, 16, 3, 2, 1),
    _square("PoolFormer stage 1", _POOLFORMER, AVERAGE, 64, 56, 56, 3, 1, 1),
    _square("PoolFormer stage 4", _POOLFORMER, AVERAGE, 512, 7, 7, 3, 1, 1),
    _square("YOLOv2-tiny layer 11", _YOLO, MAXIMUM, 512, 13, 13, 2, 1, 0, pads_end=1),
    _square("YOLOv3-SPP 5", _YOLO_SPP, MAXIMUM, 512, 19, 19, 5, 1, 2),
    _square("YOLOv3-SPP 9", _YOLO_SPP, MAXIMUM, 512, 19, 19, 9, 1, 4),
    _square("YOLOv3-SPP 13", _YOLO_SPP, MAXIMUM, 512, 19, 19, 13, 1, 6),
    _square("PSPNet 1x1", _PSPNET, AVERAGE, 2048, 60, 1, 60, 60),
    _square("PSPNet 2x2", _PSPNET, AVERAGE, 2048, 60, 2, 30, 30),
    _square("PSPNet 3x3", _PSPNET, AVERAGE, 2048, 60, 3, 20, 20),
    _square("PSPNet 6x6", _PSPNET, AVERAGE, 2048, 60, 6, 10, 10),
    NetworkLayer(
        "SegNet pool4",
        "Badrinarayanan et al. 2017; alexgkendall/SegNet-Tutorial",
        MAXIMUM,
        512,
        size=(45, 60),
        output=(23, 30),
        kernel=2,
        strides=2,
        up=True,
    ),
    NetworkLayer(
        "CRNN pool3",
        "Shi et al. 2017, table 1; bgshih/crnn",
        MAXIMUM,
        256,
        size=(8, 25),
        output=(4, 26),
        kernel=2,
        strides=(2, 1),
        pads=(0, 1),
    ),
    NetworkLayer(
        "C3D pool2",
        _C3D,
        MAXIMUM,
        128,
        size=(16, 56, 56),
        output=(8, 28, 28),
        kernel=2,
        strides=2,
    ),
    NetworkLayer(
        "C3D pool5",
        _C3D,
        MAXIMUM,
        512,
        size=(2, 7, 7),
        output=(1, 4, 4),
        kernel=2,
        strides=2,
        up=True,
    ),
    NetworkLayer(
        "I3D Avg-Pool",
        _I3D,
        AVERAGE,
        1024,
        size=(8, 7, 7),
        output=(7, 1, 1),
        kernel=(2, 7, 7),
        strides=1,
    ),
    NetworkLayer(
        "M5 pool1",
        "Dai et al. 2017, table 1",
        MAXIMUM,
        128,
        size=(8000,),
        output=(2000,),
        kernel=4,
        strides=4,
    ),
)
