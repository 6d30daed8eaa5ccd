#!/usr/bin/env python3
"""Writes the binary form of a .param of NCNN, as ncnn2mem does.

  make_ncnn_binary.py NET.param NET.param.bin
"""

import struct
import sys

TYPES = {
    "Input": 16,
    "Convolution": 6,
    "ReLU": 26,
    "Pooling": 21,
    "InnerProduct": 15,
    "Softmax": 32,
    "Flatten": 14,
    "Split": 33,
    "Concat": 5,
    "Eltwise": 10,
    "BinaryOp": 40,
    "ConvolutionDepthWise": 42,
    "BatchNorm": 2,
    "Scale": 29,
    "Interp": 50,
    "Permute": 47,
    "Reshape": 27,
    "Sigmoid": 30,
    "LSTM": 39,
    "PReLU": 23,
    "MemoryData": 19,
    "Clip": 54,
    "Dropout": 9,
    "LayerNorm": 76,
    "Crop": 7,
    "Padding": 43,
    "Swish": 73,
    "Mystery": 256,
}


def value(text):
    whole = text.lstrip("-").isdigit()
    return struct.pack("<i", int(text)) if whole else struct.pack("<f", float(text))


def parameter(text):
    key, values = text.split("=")
    items = values.split(",")
    if int(key) > -23300 and len(items) > 1:
        key, items = str(-23300 - int(key)), [str(len(items))] + items
    return struct.pack("<i", int(key)) + b"".join(map(value, items))


def layer(words, blobs):
    n_in, n_out = int(words[2]), int(words[3])
    names = words[4 : 4 + n_in + n_out]
    ids = [blobs.setdefault(name, len(blobs)) for name in names]
    out = struct.pack(f"<{3 + len(ids)}i", TYPES[words[0]], n_in, n_out, *ids)
    return out + b"".join(map(parameter, words[4 + len(ids) :])) + struct.pack("<i", -233)


def main(text, binary):
    with open(text) as f:
        lines = [line.split() for line in f if line.strip()]
    blobs = {}
    body = b"".join(layer(words, blobs) for words in lines[2:])
    with open(binary, "wb") as f:
        f.write(struct.pack("<3i", 7767517, len(lines) - 2, len(blobs)) + body)


if __name__ == "__main__":
    main(*sys.argv[1:])
