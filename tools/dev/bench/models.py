# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds the models of a benchmark and makes their inputs.

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from environment import BUILD, ROOT

ZOO = ROOT / "models/zoo"


class Refused(Exception):
    """Why a model cannot be timed as asked."""


@dataclass
class Model:
    name: str
    path: Path
    inputs: dict = field(default_factory=dict)  # Name to array.
    symbols: dict = field(default_factory=dict)  # Symbolic dimension to extent.
    fixed: list = field(default_factory=list)  # Inputs whose shapes convoy-compile must be told.


def make_zoo(names):
    done = subprocess.run([sys.executable, ZOO, *names], stdout=sys.stderr)
    if done.returncode != 0:
        raise SystemExit(f"error: models/zoo could not make {' '.join(names)}")


def find(words):
    """The models that the words of a command line name."""
    listed = subprocess.run([sys.executable, ZOO, "--list"], capture_output=True, text=True,
                            check=True).stdout
    zoo = [line.split()[0] for line in listed.splitlines() if line.strip()]
    wanted = [name for word in words if not Path(word).exists()
              for name in (zoo if word == "zoo" else [word])]
    unknown = [name for name in wanted if name not in zoo]
    if unknown:
        raise SystemExit(f"error: no file, folder or model of the zoo '{unknown[0]}'")
    if wanted:
        make_zoo(wanted)
    found = []
    for word in words:
        path = Path(word)
        if not path.exists():
            found += [Model(name, BUILD / "zoo" / name / "model.onnx")
                      for name in (zoo if word == "zoo" else [word])]
        elif path.is_file():
            name = path.resolve().parent.name if path.name == "model.onnx" else path.stem
            found.append(Model(name, path))
        else:
            inside = [path / "model.onnx"] if (path / "model.onnx").exists() else \
                sorted(path.glob("*/model.onnx"))
            if not inside:
                raise SystemExit(f"error: {path} has no model.onnx, nor folders with one")
            found += [Model(file.resolve().parent.name, file) for file in inside]
    return found


def test_data(folder, count):
    """The inputs of a test data set, in the model's order; None if there are not all."""
    files = [folder / f"input_{index}.pb" for index in range(count)]
    if not all(file.exists() for file in files):
        return None
    return [numpy_helper.to_array(onnx.load_tensor(str(file))) for file in files]


def random_values(kind, shape, rng):
    if kind == np.bool_:
        return rng.integers(0, 2, shape).astype(kind)
    if np.issubdtype(kind, np.floating):
        return rng.uniform(-1, 1, shape).astype(kind)
    if kind in (np.uint8, np.int8):
        info = np.iinfo(kind)
        return rng.integers(info.min, info.max + 1, shape).astype(kind)
    # Wider integers are indices or counts more often than pictures.
    return rng.integers(0, 10, shape).astype(kind)


def declared_shape(value):
    """For each dimension its extent, its symbol, or "" where it has neither."""
    return [dim.dim_value if dim.HasField("dim_value") else dim.dim_param
            for dim in value.type.tensor_type.shape.dim]


def chosen_shape(name, declared, given, data, batch):
    if given is not None:
        shape = list(given)
    elif data is not None:
        shape = list(data.shape)
    else:
        shape = [dim if isinstance(dim, int) else batch if axis == 0 else None
                 for axis, dim in enumerate(declared)]
        if None in shape:
            text = "x".join(str(dim or "?") for dim in declared)
            raise Refused(f"input '{name}' is {text} and there is no test data: --shape {name}=...")
    if batch > 1 and shape and not isinstance(declared[0], int):
        shape[0] = batch
    if len(shape) != len(declared):
        raise Refused(f"input '{name}' has {len(declared)} dimensions, not {len(shape)}")
    for axis, (extent, dim) in enumerate(zip(shape, declared)):
        if isinstance(dim, int) and dim != extent:
            raise Refused(f"dimension {axis} of '{name}' is {dim}, not {extent}")
    return shape


def prepare(model, args):
    """Sets the inputs of a model. Raises Refused."""
    try:
        graph = onnx.load(model.path).graph
    except Exception as error:  # Of protobuf's own kinds.
        raise Refused(f"{model.path} is no ONNX model: {error}")
    constants = {tensor.name for tensor in graph.initializer}
    values = [value for value in graph.input if value.name not in constants]
    data = test_data(model.path.parent / "test_data_set_0", len(values))
    if args.batch > 1 and all(isinstance(dim, int) for value in values
                              for dim in declared_shape(value)[:1]):
        raise Refused(f"no input has a free first dimension, so there is no batch of {args.batch}")
    given = dict(args.shape)
    rng = np.random.default_rng(args.seed)
    for index, value in enumerate(values):
        declared = declared_shape(value)
        are_open = [not isinstance(dim, int) for dim in declared]
        is_open = any(are_open)
        shape = chosen_shape(value.name, declared, given.get(value.name) if is_open else None,
                             data[index] if data else None, args.batch)
        if data and list(data[index].shape[1:]) == shape[1:] and data[index].size:
            found = np.resize(data[index], shape)  # Repeats the images.
        else:
            kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            found = random_values(kind, shape, rng)
        model.inputs[value.name] = np.ascontiguousarray(found).reshape(shape)
        # A batch stays free, as convoy-compile leaves it, unless --shape was given.
        if any(are_open[1:]) or is_open and value.name in given:
            model.fixed.append(value.name)
        for dim, extent in zip(declared, shape):
            if isinstance(dim, str) and dim:
                if model.symbols.setdefault(dim, extent) != extent:
                    raise Refused(f"'{dim}' is both {model.symbols[dim]} and {extent}")
