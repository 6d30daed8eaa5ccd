#!/usr/bin/python3
"""Writes the files of tests/data/keras, without Keras (python3-h5py).

    make_keras.py FOLDER

packed.keras           tiny.keras with every entry compressed
tiny.h5, tiny.keras    a convolution, normalisation and a dense layer, of Keras 2 and Keras 3
latest.h5              the same by libver='latest': superblock 3, links in object headers
lambda.h5              a Lambda that keeps the shape, as the weights behind it say
lambda_narrow.h5       one that does not: the convolution has another number of channels
chunked.h5             one weight in compressed chunks, one with its bytes the other way round
weights.h5, .json      weights alone, and the architecture beside them
graph_2.json           Keras 2: nested and shared models, functions as layers, attention, a Lambda
graph_3.json           Keras 3: operations, a frozen layer, an open length
"""

import json
import os
import sys
import zipfile
from typing import Any, Dict, List

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import keras_models as km  # noqa: E402

Config = Dict[str, Any]


def tiny() -> Any:
    m = km.Maker(1)
    return [None, 5, 5, 1], [
        m.conv((3, 3), 1, 2, "relu"),
        m.batch_norm(2),
        m.flatten(),
        m.dense(18, 3),
    ]


def layer(cls: str, name: str, inbound: Any, **config: Any) -> Config:
    return dict(class_name=cls, name=name, config=dict(name=name, **config), inbound_nodes=inbound)


def ref(name: str, **kwargs: Any) -> List[Any]:
    return [name, 0, 0, kwargs]


def model(name: str, layers: List[Config], inputs: List[str], outputs: List[str]) -> Config:
    ends = [[[n, 0, 0] for n in names] for names in (inputs, outputs)]
    config = dict(name=name, layers=layers, input_layers=ends[0], output_layers=ends[1])
    return dict(class_name="Functional", config=config)


def graph_2() -> Config:
    encoder = model(
        "encoder",
        [
            layer("InputLayer", "image", [], batch_input_shape=[None, 8, 8, 3], dtype="float32"),
            layer(
                "Conv2D",
                "conv",
                [[ref("image")]],
                filters=4,
                kernel_size=[3, 3],
                strides=[2, 2],
                padding="same",
                activation="relu",
            ),
            layer("GlobalAveragePooling2D", "pool", [[ref("conv")]]),
        ],
        ["image"],
        ["pool"],
    )["config"]
    layers = [
        layer("InputLayer", "a", [], batch_input_shape=[None, 8, 8, 3], dtype="float32"),
        layer("InputLayer", "b", [], batch_input_shape=[None, 8, 8, 3], dtype="float32"),
        dict(
            class_name="Functional",
            name="encoder",
            config=encoder,
            inbound_nodes=[[ref("a")], [ref("b")]],
        ),
        layer(
            "TFOpLambda",
            "tf.math.subtract",
            [["encoder", 0, 0, {"y": ["encoder", 1, 0]}]],
            function="math.subtract",
        ),
        layer(
            "TFOpLambda",
            "tf.math.multiply",
            [["_CONSTANT_VALUE", -1, 2.0, {"y": ["tf.math.subtract", 0, 0]}]],
            function="math.multiply",
        ),
        layer("RepeatVector", "repeat", [[ref("tf.math.multiply")]], n=6),
        layer(
            "MultiHeadAttention",
            "attention",
            [["repeat", 0, 0, {"value": ["repeat", 0, 0]}]],
            num_heads=2,
            key_dim=3,
            value_dim=3,
            use_bias=True,
            output_shape=None,
        ),
        layer(
            "Bidirectional",
            "both",
            [[ref("attention")]],
            merge_mode="sum",
            layer=dict(
                class_name="GRU",
                config=dict(name="gru", units=5, reset_after=True, return_sequences=True),
            ),
        ),
        layer(
            "TimeDistributed",
            "each",
            [[ref("both")]],
            layer=dict(class_name="Dense", config=dict(name="dense", units=4)),
        ),
        layer(
            "SlicingOpLambda",
            "first",
            [["each", 0, 0, {"slice_spec": [{"start": None, "stop": None, "step": None}, 0]}]],
            function="__operators__.getitem",
        ),
        layer("Lambda", "lambda", [[ref("first")]], function=["code", None, None]),
        layer("Squash", "custom", [[ref("lambda")]], size=4),
        layer("Dense", "dense", [[ref("first")]], units=2, activation="softmax"),
    ]
    whole = model("graph", layers, ["a", "b"], ["dense", "custom"])
    return dict(whole, keras_version="2.9.0", backend="tensorflow")


def tensor(name: str, shape: List[Any]) -> Config:
    config = dict(shape=shape, dtype="float32", keras_history=[name, 0, 0])
    return dict(class_name="__keras_tensor__", config=config)


def call(*args: Any, **kwargs: Any) -> List[Config]:
    return [dict(args=list(args), kwargs=kwargs)]


def graph_3() -> Config:
    x = [None, None, 8]
    policy = dict(class_name="DTypePolicy", config=dict(name="float32"))
    layers = [
        layer("InputLayer", "x", [], batch_shape=x, dtype="float32"),
        dict(
            layer("Dense", "frozen", call(tensor("x", x)), units=8, trainable=False, dtype=policy),
            module="keras.layers",
        ),
        dict(layer("Add", "add", call(tensor("frozen", x), 1.5)), module="keras.src.ops.numpy"),
        dict(layer("Mystery", "mystery", call(tensor("add", x))), module="mine"),
        dict(
            layer("Multiply", "multiply", call([tensor("mystery", x), tensor("add", x)])),
            module="keras.layers",
        ),
        dict(
            layer(
                "GetItem",
                "last",
                call(
                    tensor("multiply", x),
                    [
                        dict(class_name="__slice__", config=dict(start=None, stop=None, step=None)),
                        -1,
                    ],
                ),
            ),
            module="keras.src.ops.numpy",
        ),
        dict(
            layer("Dense", "dense", call(tensor("last", [None, 8])), units=3), module="keras.layers"
        ),
    ]
    config = dict(
        name="graph", layers=layers, input_layers=["x", 0, 0], output_layers=["dense", 0, 0]
    )
    return dict(module="keras.src.models.functional", class_name="Functional", config=config)


def write_chunked(path: str) -> None:
    shape, layers = [None, 4], [km.Maker(3).dense(4, 6), km.Maker(4).dense(6, 2)]
    layers[1].config["name"] = "dense_1"
    km.write_h5(path, shape, layers)
    with h5py.File(path, "a") as f:
        group = f["model_weights/dense/dense"]
        kernel = group["kernel:0"][:]
        del group["kernel:0"]
        group.create_dataset("kernel:0", data=kernel, chunks=(2, 3), compression="gzip")
        group = f["model_weights/dense_1/dense_1"]
        kernel = group["kernel:0"][:]
        del group["kernel:0"]
        group.create_dataset("kernel:0", data=kernel.astype(">f4"), dtype=np.dtype(">f4"))


def with_lambda(channels: int) -> Any:
    """A Lambda before a convolution whose kernel has this number of input channels; the image has
    3."""
    m = km.Maker(2)
    return [None, 6, 6, 3], [
        m.plain("Lambda", lambda x: x[..., :channels], function=["4wEAAAA=", None, None]),
        m.conv((3, 3), channels, 2, "relu"),
        m.flatten(),
        m.dense(32, 3),
    ]


def deflate(plain: str, packed: str) -> None:
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(packed, "w") as new:
        for entry in old.infolist():
            new.writestr(zipfile.ZipInfo(entry.filename), old.read(entry), zipfile.ZIP_DEFLATED)


def main() -> None:
    folder = sys.argv[1]
    shape, layers = tiny()

    def path(name: str) -> str:
        return os.path.join(folder, name)

    km.write_h5(path("tiny.h5"), shape, layers)
    km.write_keras(path("tiny.keras"), shape, layers)
    deflate(path("tiny.keras"), path("packed.keras"))
    km.write_h5(path("latest.h5"), shape, layers, libver="latest")
    km.write_h5(path("weights.h5"), shape, layers, whole_model=False)
    km.write_h5(path("lambda.h5"), *with_lambda(3))
    km.write_h5(path("lambda_narrow.h5"), *with_lambda(1))
    write_chunked(path("chunked.h5"))
    for name, content in (
        ("weights.json", km.model_json(shape, layers, "2.12.0")),
        ("graph_2.json", graph_2()),
        ("graph_3.json", graph_3()),
    ):
        with open(path(name), "w", encoding="utf-8") as f:
            json.dump(content, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
