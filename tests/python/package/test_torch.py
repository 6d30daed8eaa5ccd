"""Modules given directly: published parameters and MACs, inputs that run, exports that fail."""
import os
import tempfile
import unittest
from typing import Any, Dict, List
from unittest import mock

import assay
from support import InFolder, has, needs_engine, needs_torch, npy

if has("torch"):
    import torch
    from torch import nn

    class Two(nn.Module):
        """Two inputs, one of them optional, and one that is not used."""

        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Linear(4, 4, bias=False)
            self.norm = nn.BatchNorm1d(4)
            self.drop = nn.Dropout(0.5)

        def forward(self, x: Any, unused: Any, y: Any = None) -> Any:
            z = self.drop(self.norm(self.a(x)))
            return z if y is None else z - y

    # TorchScript reads the types of Tied and Words: Any would be one of its own.
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Linear(8, 8, bias=False)
            self.b = nn.Linear(8, 8, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.b(torch.relu(self.a(x)))

    class Batch(nn.Module):
        """Takes a dict, as those of data loaders are."""

        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Linear(4, 2, bias=False)

        def forward(self, batch: Any) -> Any:
            return self.a(batch["second"]) - batch["first"]

    class Words(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(10, 4)

        def forward(
            self, ids: torch.Tensor, mask: torch.Tensor = None, scale: float = 2.0
        ) -> torch.Tensor:
            x = self.words(ids) * scale
            return x if mask is None else x * mask.unsqueeze(-1)

    class Nested(nn.Module):
        def forward(self, pair: Any, rest: Any) -> Any:
            return pair[0] - pair[1] + rest["z"]


@needs_torch
class Modules(InFolder):
    def published(self, name: str, parameters: int, macs: int) -> None:
        import torchvision

        module = getattr(torchvision.models, name)()
        r = assay.graph(module, inputs=torch.randn(1, 3, 224, 224))
        self.assertEqual((r.total_parameters, r.total_macs), (parameters, macs))
        known = assay.graph(name)
        self.assertEqual(
            (r.total_parameters, r.total_macs), (known.total_parameters, known.total_macs)
        )
        self.assertTrue(module.training)

    @unittest.skipUnless(has("torchvision"), "Debian's python3-torchvision is not installed")
    def test_resnet18(self) -> None:
        self.published("resnet18", 11689512, 1814073344)

    @unittest.skipUnless(has("torchvision"), "Debian's python3-torchvision is not installed")
    def test_vit_b_16(self) -> None:
        self.published("vit_b_16", 86567656, 17563828224)

    def test_modes_stay_as_they_were(self) -> None:
        m = Two()
        m.norm.eval()
        r = assay.graph(m, inputs=(torch.randn(3, 4), torch.randn(1)))
        self.assertEqual([x.training for x in m.modules()], [True, True, False, True])
        self.assertEqual((r.total_parameters, r.architecture.buffers, r.model), (24, 8, "Two"))

    def test_tied_weights_count_once_and_equal_ones_do_not_merge(self) -> None:
        self.assertEqual(assay.graph(Tied(), input_shape=(1, 8)).total_parameters, 64)
        equal = nn.Sequential(nn.BatchNorm2d(4), nn.BatchNorm2d(4), nn.BatchNorm2d(4))
        self.assertEqual(assay.graph(equal, input_shape=(1, 4, 2, 2)).total_parameters, 24)

    def test_keywords_and_shapes(self) -> None:
        x = torch.randn(3, 4)
        r = assay.graph(Two(), inputs={"y": x, "x": x, "unused": x})
        self.assertEqual(r.config.input_shapes["x"], [3, 4])
        self.assertEqual(assay.graph(Two(), input_shape=[(5, 4), (5, 4)]).total_parameters, 24)
        self.assertEqual(assay.graph(nn.Linear(2, 3), inputs=[[1.0, 2.0]]).total_macs, 6)

    def test_a_dict_that_forward_takes_whole(self) -> None:
        x = {"first": torch.ones(3, 2), "second": torch.randn(3, 4)}
        r = assay.graph(Batch(), inputs=x)
        self.assertEqual(
            (r.total_parameters, r.config.input_shapes), (8, {"first": [3, 2], "second": [3, 4]})
        )

    def test_containers_and_constants(self) -> None:
        a, b, c = torch.ones(2, 3), torch.ones(2, 3), torch.ones(2, 3)
        self.assertEqual(assay.graph(Nested(), inputs=((a, b), {"z": c})).total_flops, 12)
        self.assertEqual(
            assay.graph(Nested(), inputs={"pair": [a, b], "rest": {"z": c}}).total_flops, 12
        )
        r = assay.graph(Words(), inputs=(torch.zeros(1, 5, dtype=torch.long), None, 3.0))
        self.assertEqual(list(r.config.input_shapes), ["ids"])
        module = Words()
        assay.graph(module, inputs={"ids": [[1, 2, 3]]})
        self.assertNotIn("forward", vars(module))  # it is the class's own again
        r = assay.graph(
            Words(), inputs={"ids": [[1, 2, 3]], "mask": torch.ones(1, 3), "scale": 1.0}
        )
        self.assertEqual(r.config.input_shapes, {"ids": [1, 3], "mask": [1, 3]})

    def test_a_shape_of_words(self) -> None:
        self.assertEqual(
            assay.graph(Words(), input_shape=(2, 7)).config.input_shapes, {"ids": [2, 7]}
        )

    def test_scripted_and_traced(self) -> None:
        x = torch.randn(1, 8)
        for module in (torch.jit.script(Tied()), torch.jit.trace(Tied(), x)):
            self.assertEqual(assay.graph(module, inputs=x).total_macs, 128)
        r = assay.graph(
            torch.jit.script(Words()),
            inputs={"mask": torch.ones(1, 3), "ids": torch.zeros(1, 3, dtype=torch.long)},
        )
        self.assertEqual(
            (r.config.input_shapes["ids"], r.config.input_shapes["mask"]), ([1, 3], [1, 3])
        )

    def test_half_precision(self) -> None:
        class Halved(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.w = nn.Parameter(torch.ones(4))

            def forward(self, x: Any) -> Any:
                return x + self.w

        r = assay.graph(Halved().bfloat16(), inputs=torch.ones(2, 4, dtype=torch.bfloat16))
        self.assertEqual((r.total_parameters, r.architecture.model_size_mb), (4, 8 / 2**20))
        try:
            r = assay.graph(nn.Conv2d(3, 4, 3).half(), inputs=torch.zeros(1, 3, 8, 8).half())
            self.assertEqual(r.total_parameters, 112)  # a torch that has the kernel
        except assay.ExportError as e:
            self.assertIn("module.float()", str(e))

    def test_exporters_of_other_versions(self) -> None:
        """Newer ones have dynamo=, which is not what we want: it needs another package."""
        seen: Dict[str, Any] = {}
        export = torch.onnx.export

        def newer(
            model: Any,
            args: Any = (),
            f: Any = None,
            *,
            kwargs: Any = None,
            dynamo: bool = True,
            input_names: Any = None,
            verify: bool = False,
        ) -> None:
            seen.update(kwargs=kwargs, dynamo=dynamo, names=input_names)
            export(model, tuple(args) + ((kwargs,) if kwargs else ()), f, input_names=input_names)

        with mock.patch.object(torch.onnx, "export", newer):
            r = assay.graph(Words(), inputs={"ids": torch.zeros(1, 2, dtype=torch.long)})
        self.assertEqual((seen["kwargs"], seen["dynamo"], seen["names"]), (None, False, ["ids"]))
        self.assertEqual(r.total_parameters, 40)

        def only_dynamo(model: Any, args: Any = (), f: Any = None, *, kwargs: Any = None) -> Any:
            raise ModuleNotFoundError("No module named 'onnxscript'")

        with mock.patch.object(torch.onnx, "export", only_dynamo):
            with self.assertRaisesRegex(assay.ExportError, "onnxscript"):
                assay.graph(Tied(), input_shape=(1, 8))

    def test_a_compiled_module(self) -> None:
        compiled = nn.Sequential()
        compiled._orig_mod = Tied()
        self.assertEqual(assay.graph(compiled, input_shape=(1, 8)).total_parameters, 64)
        self.assertEqual(
            assay.graph(nn.DataParallel(Tied()), input_shape=(1, 8)).total_parameters, 64
        )

    def test_numbers_become_the_modules(self) -> None:
        rows = [[1.0, 2.0, 3.0, 4.0]]
        given: List[Any] = [rows, (1, 4)]
        if has("numpy"):
            import numpy

            given.append(numpy.array(rows))  # float64
        for module in (nn.Linear(4, 2), nn.Linear(4, 2).double()):
            for x in given:
                asked = {"input_shape": x} if isinstance(x, tuple) else {"inputs": x}
                self.assertEqual(assay.graph(module, **asked).total_macs, 8)

    def test_needs_example_inputs(self) -> None:
        with self.assertRaisesRegex(assay.UsageError, "input"):
            assay.graph(nn.Linear(2, 3))

    def test_failed_export_in_plain_words(self) -> None:
        class Bad(nn.Module):
            def forward(self, x: Any) -> Any:
                return torch.linalg.eigvals(x)

        with self.assertRaisesRegex(assay.ExportError, "Bad.*eigvals") as caught:
            assay.graph(Bad(), input_shape=(3, 3))
        self.assertIsNotNone(caught.exception.__cause__)
        with self.assertRaisesRegex(assay.ExportError, "mat1|size|shape"):
            assay.graph(nn.Linear(2, 3), input_shape=(1, 5))

    def test_too_large_for_one_file(self) -> None:
        from assay import _torch

        with mock.patch.object(_torch, "LARGEST_BYTES", 0), tempfile.TemporaryDirectory() as folder:
            with mock.patch.object(tempfile, "tempdir", folder):
                model = assay.Model(nn.Linear(4, 2), input_shape=(1, 4))
                self.assertEqual(assay.graph(model).total_parameters, 10)
                self.assertEqual(len(os.listdir(folder)), 1)
                model.close()
                self.assertEqual(os.listdir(folder), [])

    @needs_engine
    def test_what_runs_is_what_was_given(self) -> None:
        m = Two().eval()
        x, y = torch.randn(3, 4), torch.randn(3, 4)
        with torch.no_grad():
            want = m(x, y, y).flatten().tolist()
        r = assay.bench(
            m, inputs=(x, y, y), num_runs=1, warmup_runs=0, save_outputs="out", progress=False
        )
        (file,) = os.listdir("out")
        shape, got = npy(os.path.join("out", file))
        self.assertEqual(shape, (3, 4))
        for a, b in zip(got, want):
            self.assertAlmostEqual(a, b, places=4)
        self.assertEqual(list(r.batch_profiling), ["3"])

    @needs_engine
    def test_a_dict_is_run_as_given(self) -> None:
        x = {"first": torch.ones(3, 2), "second": torch.randn(3, 4)}
        m = Batch().eval()
        with torch.no_grad():
            want = m(x).flatten().tolist()
        assay.bench(m, inputs=x, num_runs=1, warmup_runs=0, save_outputs="out", progress=False)
        (file,) = os.listdir("out")
        for a, b in zip(npy(os.path.join("out", file))[1], want):
            self.assertAlmostEqual(a, b, places=4)

    @needs_engine
    def test_other_inputs_for_an_opened_module(self) -> None:
        model = assay.Model(nn.ReLU(), inputs=torch.zeros(2, 3))
        for x, want in (
            (None, [0] * 6),
            (torch.ones(2, 3), [1] * 6),
            ([[1, 2, 3]], [1, 2, 3]),
            ({"input": [[5.0, 6, 7]]}, [5, 6, 7]),
        ):
            assay.bench(
                model, inputs=x, num_runs=1, warmup_runs=0, save_outputs="out", progress=False
            )
            (file,) = os.listdir("out")
            self.assertEqual(npy(os.path.join("out", file))[1], want)

    @needs_engine
    def test_profiler_of_a_module(self) -> None:
        p = assay.ModelProfiler(nn.Linear(4, 2), inputs=torch.randn(1, 4), progress=False)
        self.assertEqual(p.profile(num_runs=3).total_parameters, 10)
        self.assertEqual(
            p.profile(torch.randn(6, 4), num_runs=3).config.input_shapes["input"], [6, 4]
        )
        self.assertEqual(
            [
                c.batch
                for c in p.benchmark(
                    [{"batch_size": 2}, {"batch_size": 3}], num_runs=2
                ).configurations
            ],
            [2, 3],
        )


if __name__ == "__main__":
    unittest.main()
