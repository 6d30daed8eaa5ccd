"""What is given is what runs: outputs of y = -x, kept by save_outputs, against the inputs."""
import array
import os
import unittest
from typing import Any, Dict, List, Type

import assay
from support import (
    BOOL,
    FLOAT,
    INT64,
    InFolder,
    model_of,
    needs_engine,
    needs_numpy,
    needs_torch,
    neg,
    npy,
)

QUICK: Dict[str, Any] = {"num_runs": 1, "warmup_runs": 0, "progress": False}


@needs_engine
class Run(InFolder):
    def outputs(self, model: Any, inputs: Any, **options: Any) -> Any:
        result = assay.bench(model, inputs=inputs, save_outputs="out", **QUICK, **options)
        self.assertEqual([w for w in result.warnings if w["code"] == "configuration-failed"], [])
        return npy(os.path.join("out", "y.npy"))

    def test_nested_lists(self) -> None:
        self.assertEqual(
            self.outputs(neg(), [[1, 2, 3], [4, 5, 6.5]]), ((2, 3), [-1, -2, -3, -4, -5, -6.5])
        )
        self.assertEqual(self.outputs(neg(INT64), ((1, 2, 3),)), ((1, 3), [-1, -2, -3]))
        self.assertEqual(self.outputs(neg(FLOAT, ()), 5), ((), [-5]))

    def test_bools(self) -> None:
        model = model_of("Not", [("x", BOOL, (2,))], [("y", BOOL, (2,))])
        self.assertEqual(self.outputs(model, [True, False]), ((2,), [False, True]))

    def test_buffers(self) -> None:
        self.assertEqual(
            self.outputs(neg(FLOAT, ("n",)), array.array("d", [1, 2])), ((2,), [-1, -2])
        )
        self.assertEqual(
            self.outputs(neg(FLOAT, ("n",)), memoryview(array.array("f", [3]))), ((1,), [-3])
        )

    @needs_numpy
    def test_numpy(self) -> None:
        import numpy as np

        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        want = (-x).ravel().tolist()
        for form in (
            x,
            x.astype(np.float64),
            x.astype(np.int16),
            x.astype(np.float16),
            x.astype(">f4"),
            np.asfortranarray(x),
            np.flip(np.flip(x, 0), 0),
            x[:, :],
        ):
            self.assertEqual(self.outputs(neg(), form), ((2, 3), want))
        self.assertEqual(self.outputs(neg(), x[:, ::-1]), ((2, 3), (-x[:, ::-1]).ravel().tolist()))
        self.assertEqual(self.outputs(neg(FLOAT, ()), np.float32(2)), ((), [-2]))
        self.assertEqual(self.outputs(neg(), np.zeros((1, 3), np.uint8)), ((1, 3), [0, 0, 0]))

    @needs_torch
    def test_torch(self) -> None:
        import torch

        x = torch.arange(6.0).reshape(2, 3)
        want = (-x).flatten().tolist()
        for form in (
            x,
            x.double(),
            x.half(),
            x.bfloat16(),
            x.long(),
            x.t().contiguous().t(),
            x.clone().requires_grad_(),
        ):
            self.assertEqual(self.outputs(neg(), form), ((2, 3), want))

    def test_by_name_and_by_order(self) -> None:
        sub = model_of("Sub", [("a", FLOAT, ("n",)), ("b", FLOAT, ("n",))], [("y", FLOAT, ("n",))])
        self.assertEqual(self.outputs(sub, {"b": [1.0, 2.0], "a": [5.0, 5.0]}), ((2,), [4, 3]))
        pair = (array.array("f", [9, 9]), array.array("f", [1, 2]))
        self.assertEqual(self.outputs(sub, pair), ((2,), [8, 7]))
        self.assertEqual(self.outputs(sub, list(pair)), ((2,), [8, 7]))

    def test_other_batch_sizes_repeat_the_samples(self) -> None:
        shape, numbers = self.outputs(neg(), [[1, 2, 3], [4, 5, 6]], batch_sizes=[3])
        self.assertEqual((shape, numbers), ((3, 3), [-1, -2, -3, -4, -5, -6, -1, -2, -3]))
        shape, numbers = self.outputs(neg(), [[1, 2, 3], [4, 5, 6]], batch_sizes=[1])
        self.assertEqual((shape, numbers), ((1, 3), [-1, -2, -3]))

    def test_precision_converts_the_model_and_takes_the_inputs(self) -> None:
        r = assay.bench(
            "resnet18", [(1, "fp32"), (1, "fp16")], inputs=[[[[0.5] * 32] * 32] * 3], **QUICK
        )
        self.assertEqual([c.get("error") for c in r.configurations], [None, None])


class Refused(unittest.TestCase):
    def refuse(self, kind: Type[Exception], words: str, model: Any, inputs: Any) -> None:
        with self.assertRaisesRegex(kind, words):
            assay.bench(model, inputs=inputs, **QUICK)

    def test_sentences(self) -> None:
        self.refuse(assay.UsageError, "ragged", neg(), [[1, 2, 3], [1, 2]])
        self.refuse(assay.UsageError, "ragged", neg(), [[1, 2, 3], 5])
        self.refuse(assay.UsageError, "no number", neg(), [["a", "b", "c"]])
        self.refuse(assay.UsageError, "no number", neg(INT64), [[2**70, 0, 0]])
        self.refuse(assay.UsageError, "no input 'z'", neg(), {"z": [[1, 2, 3]]})
        self.refuse(TypeError, "input", neg(), "text")
        self.refuse(TypeError, "input", neg(), {"x": None})
        self.refuse(TypeError, "input", neg(), object())
        endless: List[Any] = []
        endless.append(endless)
        self.refuse(assay.UsageError, "deeper", neg(), endless)

    @needs_engine
    def test_another_shape(self) -> None:
        self.refuse(assay.AssayError, "3", neg(), [[1, 2]])

    @needs_engine
    def test_floats_are_no_whole_numbers(self) -> None:
        self.refuse(assay.UsageError, "float64", neg(INT64), [[1.5, 2, 3]])

    @needs_numpy
    def test_arrays_of_objects(self) -> None:
        import numpy as np

        self.refuse(assay.UsageError, "cannot be an input", neg(), np.array(["a"]))
        self.refuse(assay.UsageError, "cannot be an input", neg(), np.array([object()]))


if __name__ == "__main__":
    unittest.main()
