#!/usr/bin/env python3
"""Writes a small NCNN model for the tests: net.param and net.bin.

  make_ncnn.py FOLDER
"""

import struct
import sys

HALF = struct.pack("<I", 0x01306B47)
PLAIN = struct.pack("<I", 0)

PARAM = """7767517
13 15
Input in0 0 1 image
Convolution conv 1 1 image a 0=4 1=3 3=2 4=1 5=1 6=108 9=1
Split split 1 2 a b c
ConvolutionDepthWise deep 1 1 b d 0=4 1=3 4=1 5=0 6=36 7=4
Swish swish 1 1 d e
BinaryOp sum 2 1 c e f 0=0
Reshape flat 1 1 f g 0=16 1=4
MemoryData anchors 0 1 m 0=16 1=1
BinaryOp offset 2 1 g m h 0=2
Permute turn 1 1 h i 0=1
Softmax softmax 1 1 i j 0=-1
InnerProduct dense 1 1 j k 0=5 1=1 2=320
Mystery custom 1 1 k out 0=7
"""


def floats(n):
    return [(i % 7 - 3) / 16 for i in range(n)]


def main(folder):
    with open(f"{folder}/net.param", "w") as f:
        f.write(PARAM)
    with open(f"{folder}/net.bin", "wb") as f:
        f.write(HALF + struct.pack("<108e", *floats(108)) + struct.pack("<4f", *floats(4)))
        f.write(PLAIN + struct.pack("<36f", *floats(36)))
        f.write(struct.pack("<16f", *floats(16)))
        f.write(PLAIN + struct.pack("<320f", *floats(320)) + struct.pack("<5f", *floats(5)))


if __name__ == "__main__":
    main(sys.argv[1])
