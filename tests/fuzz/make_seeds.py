#!/usr/bin/env python3
"""Writes the first inputs of the fuzz targets whose formats are small enough to be written here.

    make_seeds.py FOLDER      as tests/fuzz/corpus: FOLDER/fuzz_tensor/float32.npy, ...
"""
import json
import pathlib
import struct
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(sys.argv[1])


def put(target: str, name: str, data: bytes) -> None:
    folder = OUT / f"fuzz_{target}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def npy(descr: str, shape: str, body: bytes, version: int = 1) -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + body


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(color: int, depth: int, rows: bytes, *extra: bytes) -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, depth, color, 0, 0, 0))
    end = chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(extra) + end


def tensors() -> None:
    put("tensor", "float32", b"\0" + npy("<f4", "(2, 3)", bytes(24)))
    put("tensor", "scalar_v2", b"\0" + npy("<i8", "()", bytes(8), 2))
    put("tensor", "bool", b"\0" + npy("|b1", "(4,)", b"\0\1\1\0"))
    put("tensor", "proto", b"\x01\x08\x02\x10\x01\x4a\x08" + bytes(8))
    put("tensor", "raw", b"\x02" + bytes(range(16)))


def images() -> None:
    put("image", "rgb", png(2, 8, b"\0" + bytes(6) + b"\0" + bytes([255] * 6)))
    put("image", "gray16", png(0, 16, b"\0" + bytes(4) + b"\0" + bytes(4)))
    palette = chunk(b"PLTE", bytes(range(6))) + chunk(b"tRNS", b"\x80")
    put("image", "palette", png(3, 1, b"\0\x40\0\x80", palette))
    put("image", "alpha", png(6, 8, b"\0" + bytes(8) + b"\0" + bytes(8)))
    put("image", "jpeg_begin", bytes.fromhex("ffd8ffe000104a46494600010100000100010000"))


def devices() -> None:
    lines = (ROOT / "data/devices.csv").read_text().splitlines(keepends=True)
    put("device", "csv", b"\0" + "".join(lines[:8]).encode())
    put("device", "json", b'\x01[{"name": "x", "fp32_tflops": 1, "memory_gb": 2}]')
    put("device", "machine", b"\x02" + (ROOT / "tests/data/machine.json").read_bytes())


def traces() -> None:
    kernel = {"cat": "Node", "pid": 1, "tid": 1, "dur": 5, "ts": 20, "ph": "X"}
    args = {"op_name": "Conv", "provider": "CPUExecutionProvider", "node_index": "0"}
    shape = [{"float": [1, 3]}]
    args.update({"output_size": "12", "input_type_shape": shape, "output_type_shape": shape})
    rows = [
        {
            "cat": "Session",
            "name": "session_initialization",
            "dur": 9,
            "ts": 1,
            "ph": "X",
            "args": {},
        },
        {"cat": "Session", "name": "model_run", "dur": 30, "ts": 10, "ph": "X", "args": {}},
        {**kernel, "name": "conv_kernel_time", "args": args},
    ]
    put("trace", "run", json.dumps(rows).encode())
    put("trace", "empty", b"[]")
    put("trace", "cut", json.dumps(rows).encode()[:-20])


def folders() -> None:
    config = {"model_type": "gpt2", "n_layer": 1, "n_head": 2, "n_embd": 8, "vocab_size": 16}
    head = json.dumps({"wte.weight": {"dtype": "F32", "shape": [16, 8], "data_offsets": [0, 512]}})
    weights = struct.pack("<Q", len(head)) + head.encode() + bytes(512)
    index = {"metadata": {}, "weight_map": {"wte.weight": "model-00001-of-00002.safetensors"}}
    text = json.dumps(config).encode()
    put("folder", "config", b"%% 0\n" + text)
    put("folder", "weights", b"%% 0\n" + text + b"%% 2\n" + weights)
    put(
        "folder",
        "shards",
        b"%% 0\n" + text + b"%% 1\n" + json.dumps(index).encode() + b"%% 6\n" + weights,
    )
    put("folder", "pipeline", b'%% 4\n{"_class_name": "FluxPipeline", "unet": ["a", "b"]}')


def options() -> None:
    put(
        "options",
        "model",
        b"batch=8\ninput-shape=x:1,3,224,224\ndim=seq=16\nset=num_classes=10\nstrict\n",
    )
    put("options", "check", b"threshold=p95:10ms\ntolerance=5\nprecision=fp16\nlens=fvcore\n")
    put("options", "view", b"top=5\ndepth=2\ncolumns=80\nhardware=t4\ncolor=true\n")
    put("options", "limits", b"model-memory=4GiB,json=32MiB")


def requests() -> None:
    put("http", "get", b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    put("http", "post", b"\r\nPOST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
    put("http", "fold", b"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n")
    put("http", "lf", b"GET / HTTP/1.1\nHost: x\r\n\r\n")
    put("http", "part", b"GET /%00 HTT")


for make in (tensors, images, devices, traces, folders, options, requests):
    make()
