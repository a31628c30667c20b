"""ONNX: a graph that ONNX Runtime and many others run without Python, the card in its metadata."""

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from superfed.core.errors import UserError
from superfed.export.card import Card
from superfed.export.graph import cannot_be_a_graph, graph_of, quiet
from superfed.export.network import Network

OPSET = 18
"""Of the operators' definitions: old enough for every runtime of the last years, and what torch writes without converting."""
INPUT, OUTPUT, BATCH = "input", "logits", "batch"


def write(module: nn.Module, card: Card, inputs: Tensor) -> bytes:
    onnx = _needed("onnx")
    _needed("onnxscript")
    _needed("onnxruntime")
    program = graph_of(module, inputs)
    with quiet(), cannot_be_a_graph():
        made = torch.onnx.export(
            program, dynamo=True, opset_version=OPSET, input_names=[INPUT], output_names=[OUTPUT], verbose=False
        )
        assert made is not None, "with dynamo the program comes back"
        proto = made.model_proto
        for value in (*proto.graph.input, *proto.graph.output):
            value.type.tensor_type.shape.dim[0].dim_param = BATCH
        del proto.graph.value_info[:]  # shapes in between, which name the batch in torch's own way
        proto.producer_name, proto.producer_version = "superfed", card.superfed
        del proto.metadata_props[:]
        onnx.helper.set_model_props(proto, card.texts())
        onnx.checker.check_model(proto, full_check=True)
        content: bytes = proto.SerializeToString()
        return content


def texts(content: bytes, path: Path) -> dict[str, str]:
    found: dict[str, str] = _session(content, path).get_modelmeta().custom_metadata_map
    return found


def read(content: bytes, card: Card, path: Path) -> Network:
    session = _session(content, path)
    inputs = [value.name for value in session.get_inputs()]
    if len(inputs) != 1:
        raise UserError(f"{path}: takes {len(inputs)} inputs, and a model of superfed takes one")

    def answer(x: Tensor) -> Tensor:
        return torch.from_numpy(session.run(None, {inputs[0]: x.numpy()})[0])

    return answer


def _session(content: bytes, path: Path) -> Any:
    runtime = _needed("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 3  # errors alone
    options.intra_op_num_threads = torch.get_num_threads()
    try:
        return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime has many kinds of its own
        raise UserError(f"{path}: is no ONNX file or a damaged one ({json.dumps(str(error)[:120])})") from error


def _needed(package: str) -> Any:
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError as error:
        raise UserError(f'onnx: needs the package {package}; run pip install "superfed[onnx]"') from error
