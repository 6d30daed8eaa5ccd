"""Static calls: every form of a model, and results as dicts."""
import copy
import json
import os
import pathlib
import pickle
import re
import sys
import unittest
from typing import Any, Callable, List
from unittest import mock

import assay
from support import RESNET, InFolder, engine_missing, has, neg


def page_there() -> bool:
    try:
        return bool(assay.graph("resnet18").to_html())
    except assay.AssayError:  # built without node
        return False


HTML = page_there()


class Models(InFolder):
    def test_name(self) -> None:
        r = assay.graph("resnet50")
        self.assertEqual((r.total_parameters, r.total_macs), (25557032, 4089184256))

    def test_path_in_three_forms(self) -> None:
        for path in (RESNET, pathlib.Path(RESNET), os.fsencode(RESNET).decode()):
            self.assertEqual(assay.graph(path)["total_macs"], 1814073344)

    def test_bytes_in_three_forms(self) -> None:
        data = neg()
        for form in (data, bytearray(data), memoryview(data)):
            self.assertEqual(assay.graph(form, input_shape=(4, 3)).total_flops, 12)

    @unittest.skipUnless(has("onnx"), "Debian's python3-onnx is not installed")
    def test_model_proto(self) -> None:
        import onnx

        r = assay.graph(onnx.load(RESNET, load_external_data=False))
        self.assertEqual(r.total_macs, 1814073344)

    def test_a_model_proto_that_protocol_buffers_cannot_write(self) -> None:
        class Proto:
            graph = None

            def SerializeToString(self) -> bytes:
                raise ValueError(
                    "Message onnx.ModelProto exceeds maximum protobuf size of 2GB: 3000000000"
                )

        with self.assertRaisesRegex(assay.UnsupportedError, "2GB"):
            assay.graph(Proto())

    @unittest.skipUnless(has("onnx"), "Debian's python3-onnx is not installed")
    def test_external_data(self) -> None:
        import onnx

        assay.export("squeezenet1_1", "ext.onnx", external_data=True)
        with open("ext.onnx", "rb") as f:
            data = f.read()
        want = assay.graph("squeezenet1_1").total_macs
        for model in (data, onnx.load("ext.onnx", load_external_data=False), onnx.load("ext.onnx")):
            self.assertEqual(
                assay.graph(model).total_macs, want
            )  # the sizes are in the file itself
        self.assertEqual(assay.graph(assay.Model(data, folder=".")).total_macs, want)
        os.rename("ext.onnx.data", "gone")
        self.assertEqual(assay.graph("ext.onnx").total_parameters, 1235496)
        if not engine_missing():
            for model in (data, assay.Model(data, folder="nowhere"), "ext.onnx"):
                r = assay.bench(model, num_runs=1, warmup_runs=0, progress=False)
                codes = [w["code"] for w in r.warnings if w["code"] != "machine-busy"]
                self.assertEqual(codes[:2], ["external-missing", "made-up-weights"])
            os.rename("gone", "ext.onnx.data")
            r = assay.bench(
                assay.Model(data, folder="."), num_runs=1, warmup_runs=0, progress=False
            )
            self.assertNotIn("made-up-weights", [w["code"] for w in r.warnings])

    def test_inputs_give_the_shapes(self) -> None:
        r = assay.graph(neg(), inputs=[[1.0, 2.0, 3.0]] * 5)
        self.assertEqual(r.config.input_shapes, {"x": [5, 3]})
        r = assay.graph("bert-base-uncased", inputs=[[1] * 16] * 2)
        self.assertEqual(r.config.input_shapes["input_ids"], [2, 16])

    def test_model_is_reused(self) -> None:
        with assay.Model("resnet18") as m:
            one, two = assay.graph(m), assay.graph(m, batch=2)
            self.assertEqual(2 * one.total_macs, two.total_macs)
            self.assertFalse(m.closed)
        self.assertTrue(m.closed)

    def test_options(self) -> None:
        r = assay.graph(
            "resnet50", set={"num_classes": 10}, batch=2, lens="torchvision", training=True, top=3
        )
        self.assertEqual(r.lens, "torchvision")
        self.assertEqual(r.total_parameters, 23528522)
        self.assertIn("training", r)
        self.assertEqual(r.config.input_shapes["input"], [2, 3, 224, 224])
        r = assay.graph("vit_b_16", input_shape={"input": (1, 3, 384, 384)})
        self.assertEqual(r.config.input_shapes["input"], [1, 3, 384, 384])
        self.assertEqual(assay.graph("resnet18", training=False).total_macs, 1814073344)

    def test_other_calls(self) -> None:
        mapped = assay.map("resnet18", ["a100-80", "rtx3090"], batch_sizes=[1, 8])
        self.assertEqual({d.name for d in mapped.devices}, {"a100-80", "rtx3090"})
        fused = assay.fuse("resnet18", "conventional")
        self.assertTrue(any("conv" in g.kind for g in fused.groups))
        scaled = assay.scale("resnet18", {"batch": "1..4"})
        self.assertEqual([p["macs"] for p in scaled.points][:2], [1814073344, 2 * 1814073344])
        plan = assay.memory("resnet18").memory_plan
        self.assertGreater(plan.peak_bytes, plan.weights_bytes)
        beside = assay.validate("resnet18")
        self.assertEqual(len(beside.models), 1)

    def test_compare(self) -> None:
        a = assay.graph("resnet18")
        c = assay.compare(a, "resnet50", a)
        self.assertEqual([m.macs for m in c.models], [1814073344, 4089184256, 1814073344])
        self.assertIn("resnet50", str(c))
        ranked = assay.compare("resnet50", a, budget=["flops:5G", "memory:100MB"]).budget.ranking
        self.assertEqual(
            [(r.model, r.verdict) for r in ranked], [("resnet18", "fits"), ("resnet50", "over")]
        )
        with self.assertRaises(assay.UsageError):
            assay.compare("resnet18")
        c.close()
        with self.assertRaises(assay.ClosedError):
            c.to_csv()
        gone = assay.compare(assay.graph("resnet18"), "resnet34")
        gone.profiles[0].close()
        with self.assertRaises(assay.ClosedError):
            gone.to_json()

    def test_tables(self) -> None:
        self.assertGreater(len(assay.models()), 200)
        r50 = assay.models("resnet50", cost=True)[0]
        self.assertEqual((r50.parameters, r50.inputs), (25557032, {"input": [1, 3, 224, 224]}))
        self.assertTrue(all(m.name.startswith("resnet") for m in assay.models("resnet*")))
        self.assertIn("sd21", assay.pipelines())
        self.assertGreater(len(assay.devices()), 20)
        card = assay.devices("rtx2060")[0]
        self.assertEqual((card.peak["fp16"], card.fp16_acc16), (25.8e12, 51.6e12))
        self.assertEqual(assay.devices("a100-80")[0].memory_bytes, 80 * 2**30)
        self.assertIn("Conv", [o.name for o in assay.ops()])
        self.assertIn("fvcore", [x.name for x in assay.lenses()])
        self.assertIn("json", [f.name for f in assay.formats()])
        self.assertTrue(any(m.measured for m in assay.metrics()))
        self.assertTrue(all(c.ok or c.optional for c in assay.doctor()))
        self.assertIn("engine", [c.name for c in assay.doctor() if c.optional])
        known = {o.name: o for o in assay.options()}
        self.assertTrue(
            known["input_shape"].repeatable
            and known["training"].value is None
            and known["batch"].about
        )
        self.assertIsInstance(assay.licenses(), str)
        r = assay.graph("resnet18")
        self.assertEqual(
            (r.metric("macs"), r.metric("params"), r.metric("p95"), r.metric("nothing")),
            (1814073344, 11689512, None, None),
        )


class Results(InFolder):
    def test_is_the_json_of_the_command_line(self) -> None:
        r = assay.graph("resnet18")
        said = json.loads(r.to_json())
        for key in said:
            if key != "context":
                self.assertEqual(r[key], said[key], key)
        self.assertEqual(r.schema, "assay.profile/1")

    def test_dict_before_and_after_it_is_read(self) -> None:
        keys = list(assay.graph("resnet18").keys())
        asks: List[Callable[[Any], Any]] = [
            lambda r: json.loads(json.dumps(r)),
            lambda r: json.loads(json.dumps(r, indent=1)),
            dict,
            lambda r: {**r},
            lambda r: r.copy(),
            copy.copy,
            copy.deepcopy,
            lambda r: r | {},
            lambda r: {} | r,
            lambda r: dict(r.items()),
            lambda r: dict(zip(r, r.values())),
            lambda r: r.to_dict(),
        ]
        for ask in asks:
            self.assertEqual(list(ask(assay.graph("resnet18"))), keys)
        r = assay.graph("resnet18")
        self.assertEqual(len(r), len(keys))
        self.assertIn("layers", assay.graph("resnet18"))
        self.assertNotIn("latency", assay.graph("resnet18"))
        self.assertEqual(assay.graph("resnet18").get("latency", 5), 5)
        self.assertEqual(assay.graph("resnet18").get("architecture")["flops"], r.total_flops)
        self.assertTrue(r)
        self.assertIsInstance(r, dict)
        with self.assertRaises(KeyError):
            r["nothing"]
        self.assertEqual(dict(r, context=0), dict(assay.graph("resnet18"), context=0))

    def test_can_be_changed_like_a_dict(self) -> None:
        r = assay.graph("resnet18")
        r["mine"] = 1
        self.assertEqual((r.mine, r.pop("mine"), "mine" in r), (1, 1, False))
        r.update(a=1)
        del r["a"]
        self.assertEqual(r.setdefault("b", 2), 2)
        self.assertIn("layers", r)

    def test_attributes(self) -> None:
        r = assay.graph("resnet18")
        self.assertEqual(r.architecture.gflops, r["architecture"]["gflops"])
        self.assertIs(r.architecture, r["architecture"])
        self.assertEqual(r.layers[0].name, "conv1")
        with self.assertRaisesRegex(AttributeError, "latency.*schema"):
            r.latency
        with self.assertRaises(AttributeError):
            r.latency = 5
        self.assertIn("architecture", dir(r))

    def test_reports(self) -> None:
        r = assay.graph("resnet18")
        self.assertTrue(r.to_csv().startswith("name,"))
        r.to_json("a/b.json")
        self.assertEqual(assay.load("a/b.json").total_macs, r.total_macs)
        r.save("c.csv")
        self.assertEqual(
            pathlib.Path("c.csv").read_text().splitlines()[0], r.to_csv().splitlines()[0]
        )
        self.assertIn("resnet18", str(r))
        self.assertLess(r.render("console", top=1).count("conv2d"), str(r).count("conv2d"))
        with self.assertRaises(assay.UsageError):
            r.save("x.what")
        with self.assertRaises(assay.UsageError):
            r.save("x.json", "what")
        self.assertFalse(os.path.exists("x.json"))
        with self.assertRaises(TypeError):
            five: Any = 5
            r.render(five)

    def test_page(self) -> None:
        r = assay.graph("resnet18")
        try:
            whole = r.to_html("a.html")
        except assay.UnsupportedError as e:
            self.skipTest(str(e))
        self.assertIn("</html>", whole)
        self.assertNotEqual(r.to_html(no_details=True), whole)
        self.assertIn("</html>", assay.compare(r, "resnet34").to_html())

    def test_saved_and_pickled(self) -> None:
        r = assay.graph("resnet18")
        again = pickle.loads(pickle.dumps(r))
        self.assertEqual((again.total_macs, len(again.layers)), (r.total_macs, len(r.layers)))
        self.assertEqual(assay.loads(r.to_json()).total_flops, r.total_flops)
        self.assertEqual(assay.compare(again, r).models[0].model, "resnet18")
        with self.assertRaises(assay.MalformedError):
            assay.loads("{")
        with self.assertRaises(assay.SystemFailure):
            assay.load("nothing.json")

    def test_dataframe(self) -> None:
        r = assay.graph("resnet18")
        if has("pandas"):
            self.assertEqual(int(r.to_dataframe().macs.sum()), r.total_macs)
            self.assertIn("conv2d", list(r.to_dataframe("operations").type))
            for one in self.every_kind():
                try:
                    self.assertGreater(len(one.to_dataframe()), 0, type(one))
                except assay.UsageError as e:
                    self.assertTrue(str(e))
            for wrong in ("nothing", "architecture", "model"):
                with self.assertRaisesRegex(assay.UsageError, "operations"):
                    r.to_dataframe(wrong)
        with mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaisesRegex(ImportError, "pandas"):
                r.to_dataframe()

    def every_kind(self) -> Any:
        """A result of each kind that needs no engine."""
        with assay.History("h.db") as h:
            h.save(assay.graph("resnet18"))
            trend = h.trend("resnet18", "macs")
        return (
            assay.graph("resnet18"),
            assay.map("resnet18", "a100-80"),
            assay.fuse("resnet18"),
            assay.memory("resnet18"),
            assay.compare("resnet18", "resnet34"),
            assay.pipeline("sd21"),
            assay.pipeline("sd15", "sd21"),
            assay.pipeline("llama-2-7b"),
            assay.scale("resnet18", {"batch": "1..4"}),
            assay.check("resnet18", "params:1M"),
            assay.validate("resnet18"),
            trend,
        )

    def test_notebook(self) -> None:
        self.assertIn("11.7 M", assay.graph("resnet18")._repr_html_())
        for r in self.every_kind():
            page = r._repr_html_()
            self.assertTrue(
                page.startswith("<div") and page.rstrip().endswith("</div>"), page[:200]
            )
            self.assertNotRegex(page, "(?i)<script|<style|<link|<html|src=|href=")
            for word in ("div", "dl", "table", "tr", "td", "th"):  # a notebook closes nothing
                self.assertEqual(
                    len(re.findall(rf"<{word}[ >]", page)), page.count(f"</{word}>"), word
                )
        summary = assay.create_profiler(True).summarize_macs("sd21")
        self.assertIn("<div", summary._repr_html_())
        self.assertEqual(
            assay.create_profiler(True).summarize_macs("<nobody>")._repr_html_()[:3], "<p>"
        )
        self.assertNotIn(
            "<nobody>", assay.create_profiler(True).summarize_macs("<nobody>")._repr_html_()
        )

    def test_every_format_of_every_kind(self) -> None:
        for r in self.every_kind():
            for form in r.formats:
                if (
                    form == "html"
                    and not HTML
                    or form == "generation-config"
                    and r["schema"] == "assay.pipeline/1"
                    and r.get("kind") != "diffusion"
                ):
                    continue
                try:
                    self.assertTrue(r.render(form), form)
                except assay.AssayError as e:
                    self.fail(f"{type(r).__name__} {form}: {e}")

    def test_report(self) -> None:
        kinds = self.every_kind()
        for i, r in enumerate(kinds):
            r.to_json(f"{i}.json")
            self.assertTrue(assay.report(f"{i}.json"))
            self.assertIn("<div", assay.report(r.to_dict(), format="summary-html"))
        self.assertEqual(
            assay.report("0.json", "4.json", format="summary-html").count("assay-summary"), 2
        )
        for wrong in ((), ("nothing.json",), ({"schema": "x"},), (5,)):
            with self.assertRaises((assay.AssayError, TypeError)):
                assay.report(*wrong)

    def test_notebook_escapes_names(self) -> None:
        evil = "<script>alert(1)</script>"
        page = assay.graph(assay.Model(neg(), name=evil), input_shape=(1, 3))._repr_html_()
        self.assertNotIn("<script", page)
        self.assertIn("&lt;script&gt;", page)


class Kept(InFolder):
    def test_history(self) -> None:
        r = assay.graph("resnet18")
        with assay.History("h/h.db") as h:
            one = h.save(r, ["nightly", "a"])
            two = h.save(assay.graph("resnet50"), "b")
            self.assertEqual([x.id for x in h.records()], [two, one])
            self.assertEqual([x.id for x in h.records(tag="nightly")], [one])
            self.assertEqual([x.model for x in h.records(model="resnet50")], ["resnet50"])
            self.assertEqual(h.get(one).total_macs, r.total_macs)
            h.tag(one, add="c", remove=["a"])
            self.assertEqual(set(h.records(tag="c")[0].tags), {"nightly", "c"})
            trend = h.trend("resnet18", "macs", alerts="macs > 1G")
            self.assertEqual((trend.status, len(trend.points)), (6, 1))
            with self.assertRaises(assay.ThresholdError):
                trend.raise_for_status()
            self.assertTrue(h.trend("resnet18", "macs").passed)
            with self.assertRaises(assay.UsageError):
                h.trend("nobody")
            self.assertEqual(json.loads(h.document(one))["total_macs"], r.total_macs)
            self.assertEqual([m.model for m in h.models()], ["resnet18", "resnet50"])
            with open("lines.jsonl", "w", encoding="utf-8") as f:
                f.write(h.export(model="resnet18"))
            with assay.History("other.db") as other:
                self.assertEqual(other.import_file("lines.jsonl"), (1, 0))
                self.assertEqual(other.import_file("lines.jsonl"), (0, 1))
                with open("lines.jsonl", "a", encoding="utf-8") as f:
                    f.write("{}\n")
                with self.assertRaises(assay.AssayError):
                    other.import_file("lines.jsonl")
                with self.assertWarnsRegex(UserWarning, "line 3"):
                    self.assertEqual(other.import_file("lines.jsonl", skip_bad=True), (0, 1))
                three = other.add(assay.graph("resnet34").to_json(), tags="x")
                self.assertEqual(other.get(three).model, "resnet34")
                with self.assertRaises(assay.AssayError):
                    other.add("{}")
                with self.assertRaises(TypeError):
                    five: Any = 5
                    other.add(five)
            h.delete(two)
            with self.assertRaises(assay.UsageError):
                h.get(two)
            with self.assertRaises(TypeError):
                wrong: Any = {"model": "x"}
                h.save(wrong)
            r.close()
            with self.assertRaises(assay.ClosedError):
                h.save(r)
        with self.assertRaises(assay.ClosedError):
            h.records()
        with self.assertRaises(assay.AssayError):
            assay.History("/proc/nothing/h.db")


class Failures(unittest.TestCase):
    def test_the_librarys_sentence_and_a_class_per_status(self) -> None:
        for model, kind, builtin, words in (
            ("resnet5", assay.UsageError, ValueError, "Did you mean"),
            ("/nowhere/x.onnx", assay.SystemFailure, OSError, "/nowhere/x.onnx"),
            (b"not a model at all", assay.MalformedError, ValueError, "ONNX"),
            (RESNET[:-5] + ".pt", assay.AssayError, Exception, "."),
        ):
            with self.assertRaises(kind) as caught:
                assay.graph(model)
            self.assertIsInstance(caught.exception, builtin)
            self.assertIn(words, str(caught.exception))
            self.assertEqual(caught.exception.code, kind.code)

    def test_strict_keeps_the_profile(self) -> None:
        with self.assertRaises(assay.UnsupportedError) as caught:
            assay.graph(neg(), strict=True)
        self.assertEqual(caught.exception.result.model, "model")

    def test_thresholds_of_a_static_call(self) -> None:
        r = assay.graph("resnet18", threshold={"params": "30M", "macs": "1G"})
        self.assertFalse(r.passed)
        self.assertIn("missed", str(r))
        self.assertEqual(r._repr_html_().count("assay-summary"), 2)
        self.assertEqual(
            {v["metric"]: v["verdict"] for v in r.verdicts}, {"params": "pass", "macs": "missed"}
        )
        self.assertTrue(assay.graph("resnet18", threshold="params:30M").passed)
        self.assertTrue(assay.graph("resnet18").passed and assay.graph("resnet18").check is None)
        self.assertIsNone(assay.graph("resnet18", threshold=100).check)
        self.assertEqual(assay.graph("resnet18", threshold=100).bottlenecks.threshold, 100)
        with self.assertRaises(assay.UsageError):
            assay.graph("resnet18", threshold="latency:1ms")

    def test_check(self) -> None:
        c = assay.check("resnet18", {"params": "30M", "macs": "1G"})
        self.assertFalse(c.passed)
        self.assertEqual(c.status, 6)
        with self.assertRaises(assay.ThresholdError) as caught:
            c.raise_for_status()
        self.assertIs(caught.exception.result, c)
        self.assertTrue(assay.check("resnet18", "params:30M").raise_for_status().passed)
        self.assertTrue(assay.check("resnet18", baseline=assay.graph("resnet18")).passed)
        self.assertFalse(assay.check("resnet50", baseline=assay.graph("resnet18")).passed)
        self.assertIn("testsuite", c.render("junit"))
        for one in (
            c,
            assay.graph("resnet18"),
            assay.pipeline("sd21"),
            assay.compare("resnet18", "resnet34"),
            assay.scale("resnet18", {"batch": "1..2"}),
            assay.validate("resnet18"),
        ):
            self.assertIsInstance(one[one.table], list, type(one))  # what to_dataframe() takes
        with self.assertRaises(assay.UsageError):
            assay.check("resnet18", "nonsense:5")


if __name__ == "__main__":
    unittest.main()
