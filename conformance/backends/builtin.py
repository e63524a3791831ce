"""Built-in backends: adapters to engines, some of them with options."""

from __future__ import annotations

import importlib
import importlib.util
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import cast

import numpy as np
from packaging.requirements import Requirement

from conformance.backends.answer import Backend, error_line
from conformance.backends.options import with_options
from conformance.backends.python_callable import guarded_import
from conformance.errors import Unsupported, UsageError
from conformance.operators import MAXIMUM, OPERATORS


@dataclass(frozen=True, slots=True)
class Builtin:
    """An adapter of this package: the module that holds its `backend`, and what it imports.

    `packages` are the engine, and others that the adapter needs. A backend with options is a
    dataclass, whose fields are the options.
    """

    name: str
    packages: tuple[str, ...]
    summary: str

    @property
    def module(self) -> str:
        """Full name of the adapter's module."""
        return f"{__package__}.engines.{self.name.replace('-', '_')}_backend"

    def _module_of(self, options: str) -> str:
        """Return the full name of the module that takes options: `via` is one of routes."""
        is_route = self.name in _ROUTES or options.startswith("via=") or ",via=" in options
        return f"conformance.routes.{self.name}_route" if is_route else self.module

    @property
    def installed(self) -> bool:
        """Whether all packages that it needs can be found; nothing of them is imported."""
        return not self.missing

    @property
    def distributions(self) -> tuple[str, ...]:
        """What it needs, as pip takes it: the engine, then its helpers."""
        return tuple(_DISTRIBUTIONS.get(package, package) for package in self.packages)

    @property
    def missing(self) -> tuple[str, ...]:
        """What has to be installed, as pip takes it."""
        needed = zip(self.packages, self.distributions, strict=True)
        return tuple(distribution for package, distribution in needed if not is_found(package))

    @property
    def version(self) -> str:
        """Version of the engine, "" if it is not installed."""
        if not self.installed:
            return ""
        try:
            return version(Requirement(self.distributions[0]).name)
        except PackageNotFoundError:  # it comes in several: tensorflow-cpu, onnxruntime-gpu
            names = packages_distributions().get(self.packages[0])
            return version(names[0]) if names else ""

    def load(self, options: str = "") -> Backend:
        """Import the adapter and return its backend, made with `options` ("NAME=VALUE,...").

        Raises UsageError if that fails, an option is unknown, or a route or the backend that the
        options make cannot take the maximum of one float32.
        """
        if not self.installed:
            packages = " ".join(self.missing)
            raise UsageError(
                f"backend {self.name!r} needs {packages.replace(' ', ' and ')}, which is not "
                f"installed: pip install {packages}"
            )
        name = self._module_of(options)
        if not is_found(name):
            raise UsageError(f"backend {self.name!r} is the source of no route: it takes no via")
        module = guarded_import(self.name, name, lambda: importlib.import_module(name))
        if not options and self.name not in _ROUTES:
            return cast("Backend", module.backend)
        text = f"{self.name}:{options}".rstrip(":")
        backend = with_options(text, module.backend, options) if options else module.backend
        try:
            _call_once(backend)
        except Exception as error:
            raise UsageError(f"backend {text!r} cannot be used: {error_line(error)}") from error
        return backend


_DISTRIBUTIONS = {
    "ai_edge_litert": "ai-edge-litert",
    "cv2": "opencv-python-headless",
    "iree.compiler": "iree-base-compiler",
    "iree.runtime": "iree-base-runtime",
    "mlx": "mlx[cpu]",
    "paddle": "paddlepaddle",
    "tflite_micro": "tflite-micro",
    "tosa_reference_model": "tosa-tools",
    "tvm": "apache-tvm",
}
"""What pip takes, where it is not the name of the package that is imported."""
_ROUTES = ("onnx",)
"""Backends that are nothing but the sources of routes."""
_BUILTINS = (
    Builtin("numpy", ("numpy",), "plain numpy, one axis after another, the default readings"),
    Builtin("torch", ("torch",), "the pooling functions of torch.nn.functional, on the CPU"),
    Builtin("openvino", ("openvino",), "OpenVINO's pooling of opsets 1 to 16, on its CPU device"),
    Builtin(
        "onnxruntime",
        ("onnxruntime", "onnx"),
        "the pooling operators of ONNX Runtime, on the CPU",
    ),
    Builtin("onnx", ("onnx",), "models of one ONNX node, through an importer"),
    Builtin("onnx-reference", ("onnx",), "the reference evaluator of the package onnx"),
    Builtin("jax", ("jax",), "reduce_window of jax.lax, compiled by XLA for the default device"),
    Builtin("paddle", ("paddle",), "the pooling functions of paddle.nn.functional, on the CPU"),
    Builtin(
        "tensorflow",
        ("tensorflow", "keras"),
        "tf.nn.avg_pool and max_pool, on the CPU, and the adaptive pooling of Keras",
    ),
    Builtin(
        "litert",
        ("ai_edge_litert", "flatbuffers"),
        "AVERAGE_POOL_2D and MAX_POOL_2D of LiteRT's interpreter, on the CPU",
    ),
    Builtin(
        "tflite-micro",
        ("tflite_micro", "flatbuffers"),
        "AVERAGE_POOL_2D and MAX_POOL_2D of LiteRT for microcontrollers, on the CPU",
    ),
    Builtin("tvm", ("tvm",), "the pooling operators of TVM's Relax, compiled by LLVM"),
    Builtin(
        "iree",
        ("iree.compiler", "iree.runtime"),
        "avg_pool2d and max_pool2d of the dialect TOSA, compiled by IREE for the CPU",
    ),
    Builtin("mlx", ("mlx",), "the pooling layers of mlx.nn, on the default device"),
    Builtin("mnn", ("MNN",), "max_pool and avg_pool of MNN's expressions, on the CPU"),
    Builtin("tinygrad", ("tinygrad",), "avg_pool2d and max_pool2d of tinygrad's Tensor"),
    Builtin("tract", ("tract", "onnx"), "tract's pooling of ONNX, on the CPU"),
    Builtin(
        "tosa-reference",
        ("tosa_reference_model",),
        "AVG_POOL2D and MAX_POOL2D of TOSA's own reference model",
    ),
    Builtin("opencv", ("cv2", "onnx"), "cv2.dnn of OpenCV on models of ONNX, on the CPU"),
    Builtin("keras", ("keras", "scipy", "jax"), "the pooling functions of keras.ops, on numpy"),
    Builtin("ncnn", ("ncnn",), "the Pooling1D, Pooling and Pooling3D layers of ncnn, on the CPU"),
)


def available() -> dict[str, Builtin]:
    """Return the built-in backends by name, installed or not."""
    return {builtin.name: builtin for builtin in _BUILTINS}


def _call_once(backend: Backend) -> None:
    """Let a backend take the maximum of one float32, if it has that operator."""
    operator = next(
        operator
        for operator in OPERATORS.values()
        if operator.has_windows and operator.reduction is MAXIMUM
    )
    with suppress(Unsupported):
        backend(operator.name, [np.ones((1, 1, 1, 1), np.float32)], operator.tiled((1, 1)))


def is_found(package: str) -> bool:
    """Say whether a package, which may be one of a namespace, can be imported."""
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # of the namespace
        return False
