"""Sweeps and questions to the history of a fleet."""
import json
import os
import unittest
from typing import Any, List

import assay
from support import InFolder, needs_engine

QUICK = {"num_runs": 2, "warmup_runs": 1}


def record(model: str, day: int, ms: float, cpu: str = "Test CPU") -> str:
    """A measured result as JSON."""
    return json.dumps(
        {
            "schema": "assay.profile/1",
            "model": model,
            "context": {
                "timestamp": f"2026-09-{day:02}T06:00:00Z",
                "tool_version": "0.1.0",
                "host": {"cpu": cpu, "cores": 4},
                "engine": {"name": "ort", "device": "cpu"},
            },
            "config": {"inputs": [{"name": "x", "dtype": "float32", "shape": [1, 8]}]},
            "latency": {"mean": ms, "p50": ms, "p99": ms, "runs": 3, "samples_ms": [ms] * 3},
            "throughput": {"samples_per_second": 1000 / ms},
            "configurations": [
                {"batch": 1, "precision": "fp32", "runs": 3, "samples_per_second": 1000 / ms}
            ],
        }
    )


class Plans(InFolder):
    def test_plan(self) -> None:
        with assay.sweep("lenet", "mlp", batch_sizes=[1, 8], repeat=2, **QUICK) as plan:
            self.assertEqual([t["task"] for t in plan["tasks"]], list(range(8)))
            self.assertEqual({t["model"] for t in plan["tasks"]}, {"lenet", "mlp"})
            self.assertTrue(plan["id"].endswith(plan["digest"][:12]))
            plan.save("plan.json")
            again = assay.Sweep.open("plan.json")
            self.assertEqual(again["digest"], plan["digest"])
            with self.assertRaises(assay.UsageError):
                assay.Sweep.open("plan.json", repeat=3)
        with open("request.json", "w", encoding="utf-8") as f:
            json.dump({"models": ["lenet"], "batch_sizes": [1, 8], "repeat": 3}, f)
        self.assertEqual(len(assay.Sweep.open("request.json")["tasks"]), 6)
        self.assertEqual(len(assay.Sweep.open("request.json", repeat=1)["tasks"]), 2)

    def test_wrong(self) -> None:
        five: Any = 5
        with self.assertRaises(TypeError):
            assay.sweep(five)
        wrong: List[List[str]] = [[], ["lenet", "lenet"], ["nothing-of-this-name"]]
        for models in wrong:
            with self.assertRaises(assay.UsageError):
                assay.sweep(*models)
        with assay.History("h.db") as h:
            plan = assay.sweep("lenet", **QUICK)
            with self.assertRaises(assay.UsageError):
                plan.run(h, 1)
            with self.assertRaises(assay.UsageError):
                plan.status(h, on="nowhere")
            with self.assertRaises(assay.UsageError):
                plan.submit(h, "nowhere", "plan.json")

    def test_manifest(self) -> None:
        plan = assay.sweep("lenet", repeat=3, **QUICK)
        plan.save("plan.json")
        with assay.History("h.db") as h:
            path, os.environ["PATH"] = os.environ["PATH"], "/nowhere"  # no kubectl
            try:
                n, said = plan.submit(
                    h, "kubernetes", "plan.json", image="assay:1", manifest="job.json"
                )
            finally:
                os.environ["PATH"] = path
        self.assertEqual(n, 3)
        self.assertIn("job.json", said)
        with open("job.json", encoding="utf-8") as f:
            self.assertIn('"Indexed"', f.read())


@needs_engine
class Tasks(InFolder):
    def test_run(self) -> None:
        plan = assay.sweep("lenet", batch_sizes=[1, 2], **QUICK)
        with assay.History("h.db") as h:
            self.assertEqual(plan.missing(h), [0, 1])
            self.assertEqual(plan.report(h).status, 5)
            with self.assertRaises(assay.EngineError):
                plan.report(h).raise_for_status()
            done = plan.run(h, 1)
            self.assertEqual((done.known, done.result.model), (False, "lenet"))
            self.assertIn("@", done.machine)
            again = plan.run(h, 1)
            self.assertEqual((again.known, again.record, again.result), (True, done.record, None))
            self.assertEqual(plan.missing(h), [0])
            status = plan.status(h)
            self.assertEqual((status["done"], status["missing"]), (1, 1))
            self.assertEqual([o.task for o in plan.run_missing(h)], [0])
            report = plan.report(h)
            self.assertTrue(report.passed)
            self.assertEqual(report["missing"], [])
            self.assertEqual(len(report["cells"]), 2)
            self.assertIn("<html", report.to_html())
            self.assertEqual(len(report.to_csv().splitlines()), 3)


class Fleet(InFolder):
    def test_changes(self) -> None:
        with assay.History("h.db") as h:
            for day in range(1, 21):
                h.add(record("net", day, (10.0 if day < 11 else 13.0) + day % 3 / 10))
            changes = h.changes(by="model")
            self.assertTrue(changes.passed)
            self.assertEqual([c["model"] for c in changes["changes"]], ["net"])
            worse = h.regressions()
            self.assertEqual(worse.status, 6)
            with self.assertRaises(assay.ThresholdError):
                worse.raise_for_status()
            self.assertTrue(h.regressions(since="2026-09-15").passed)
            with self.assertRaises(assay.UsageError):
                h.changes(by="colour")
            self.assertEqual(h.drift()["ceilings"], [])

    def test_cheapest(self) -> None:
        with assay.History("h.db") as h:
            h.add(record("net", 1, 10.0, "Small CPU"))
            h.add(record("net", 1, 2.0, "Large CPU"))
            prices = {"small": 0.1, "large": 2.0}
            self.assertTrue(h.cheapest("net", prices=prices)["classes"][0]["cheapest"])
            first = h.cheapest("net", "p50:5ms", prices)["classes"][0]
            self.assertIn("Large", first["class"])
            self.assertEqual(h.cheapest("net", "p50:1ms", prices).status, 6)
            with self.assertRaises(assay.UsageError):
                h.cheapest("net", prices={"small": -1})


if __name__ == "__main__":
    unittest.main()
