"""The sessions of the documents that asked for this package, call by call; only imports and models'
names are ours."""
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import unittest
from typing import Any, Callable, Dict

import assay
from support import ROOT, InFolder, needs_engine, needs_torch, neg

# Small enough to be run a hundred times.
BERT = {
    "model_type": "bert",
    "architectures": ["BertModel"],
    "vocab_size": 1000,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 128,
    "type_vocab_size": 2,
}


def page_there() -> bool:
    try:
        return bool(assay.graph("resnet18").to_html())
    except assay.AssayError:  # built without node
        return False


HTML = page_there()


def swinir(width: int) -> Any:
    return {
        "model": {
            "net_type": "swinir",
            "upscale": 1,
            "in_chans": 1,
            "img_size": 32,
            "window_size": 8,
            "depths": [2, 2],
            "embed_dim": width,
            "num_heads": [2, 2],
            "mlp_ratio": 2,
            "upsampler": "",
            "resi_connection": "1conv",
        }
    }


def write(path: str, value: Any) -> Any:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f)


def command(*arguments: str) -> Any:
    return subprocess.run(
        [sys.executable, "-m", "assay", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=3000,
    )


def printed(work: Callable[[], Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        work()
    return out.getvalue()


@needs_engine
class GuideToTheScript(InFolder):
    """000"""

    def run_script(self, config: Any, output: Any, *more: Any) -> Any:
        done = command("profile", "--config", config, "--output", output, *more)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_command_and_comparison(self) -> None:
        write("configs/train_config_small.json", swinir(16))
        write("configs/train_config_large.json", swinir(32))
        few = ("--num-runs", "5", "--warmup-runs", "1", "--batch-sizes", "1,2", "--device", "cpu")
        self.run_script("configs/train_config_small.json", "results/profile_small.json", *few)
        self.run_script("configs/train_config_large.json", "results/profile_large.json", *few)

        def session() -> None:
            with open("results/profile_small.json") as f:
                small = json.load(f)
            with open("results/profile_large.json") as f:
                large = json.load(f)
            print(f"Small model: {small['architecture']['gflops']:.2f} GFLOPs")
            print(f"Large model: {large['architecture']['gflops']:.2f} GFLOPs")
            fast, slow = (r["single_image"]["timing"]["fps"] for r in (small, large))
            print(f"Speedup: {fast / slow:.2f}x")

        self.assertRegex(
            printed(session),
            r"(?s)Small model: [\d.]+ GFLOPs.*Large model: [\d.]+ GFLOPs.*Speedup: [\d.]+x",
        )

    def test_the_same_from_python(self) -> None:
        write("configs/train_config.json", swinir(16))
        r = assay.profile(
            "configs/train_config.json",
            batch_sizes=[1, 4],
            num_runs=3,
            warmup_runs=1,
            progress=False,
        )
        self.assertEqual(list(r["batch_profiling"]), ["1", "4"])
        self.assertEqual(r["config"]["config_file"], "configs/train_config.json")


@needs_engine
@needs_torch
class EvaluationFramework(InFolder):
    """001"""

    def setUp(self) -> None:
        super().setUp()
        write("models/bert-base-uncased/config.json", BERT)

    def test_worked_session(self) -> None:
        def session() -> None:
            from assay import ModelProfiler
            import torch

            profiler = ModelProfiler(
                model_path="models/bert-base-uncased", device="cuda", precision="fp16"
            )
            sample_inputs = torch.randint(0, 1000, (32, 128))
            results = profiler.profile(
                input_data=sample_inputs, num_runs=100, warmup_runs=10, detailed_analysis=True
            )
            print(f"Average Latency: {results['latency']['mean']:.2f}ms")
            print(f"Throughput: {results['throughput']['samples_per_second']:.0f} samples/s")
            print(f"Peak Memory: {results['memory']['peak'] / 1024**3:.2f} GB")
            if HTML:
                profiler.generate_html_report("bert_profiling_report.html")
            self.results = results

        said = printed(session)
        self.assertRegex(
            said, r"Average Latency: [\d.]+ms\nThroughput: \d+ samples/s\nPeak Memory: [\d.]+ GB\n"
        )
        self.assertEqual(self.results.config.input_shapes["input_ids"], [32, 128])
        self.assertEqual(self.results.latency.runs, 100)
        self.assertEqual(list(self.results.batch_profiling), ["32"])
        self.assertTrue(any("time_ms" in layer for layer in self.results.layers))
        if HTML:
            with open("bert_profiling_report.html", encoding="utf-8") as f:
                self.assertIn("</html>", f.read())

    def test_the_parts(self) -> None:
        from assay import ModelProfiler, detect_regressions, load_baseline
        import torch

        sample_data = torch.randint(0, 1000, (2, 16))
        model_path = "models/bert-base-uncased"
        profiler = ModelProfiler(
            model_path="models/bert-base-uncased", device="cuda", precision="fp16"
        )
        profile_results = profiler.profile(input_data=sample_data, num_runs=100, warmup_runs=10)
        self.assertEqual(profile_results["config"]["input_shapes"]["input_ids"], [2, 16])

        configurations = [
            {"batch_size": 1, "precision": "fp32"},
            {"batch_size": 4, "precision": "fp32"},
            {"batch_size": 8, "precision": "fp16"},
            {"batch_size": 16, "precision": "fp16"},
        ]
        benchmark_results = profiler.benchmark(configurations)
        self.assertEqual(
            [(c["batch"], c["precision"]) for c in benchmark_results["configurations"]],
            [(1, "fp32"), (4, "fp32"), (8, "fp16"), (16, "fp16")],
        )
        self.assertFalse(any(c.get("error") for c in benchmark_results["configurations"]))

        layer_profiles = profiler.profile_layers(
            input_data=sample_data, layer_names=["attention", "mlp", "embedding"]
        )
        self.assertTrue(any("attention" in layer["module"] for layer in layer_profiles))
        self.assertTrue(any("embedding" in layer["module"] for layer in layer_profiles))

        memory_profile = profiler.memory_profile(
            track_allocations=True, track_deallocations=True, memory_snapshots=True
        )
        self.assertGreater(memory_profile["memory_plan"]["peak_bytes"], 0)
        gpu_profile = profiler.gpu_profile(
            track_kernels=True, track_memory_transfers=True, profile_nvtx=True
        )
        self.assertIn("layers", gpu_profile)

        if HTML:
            profiler.generate_html_report(
                output_path="profiling_report.html", include_graphs=True, include_details=True
            )
        results_json = profiler.export_json("profiling_results.json")
        self.assertEqual(json.loads(results_json)["schema"], "assay.profile/1")
        profiler.export_csv("profiling_metrics.csv")
        self.assertTrue(os.path.getsize("profiling_metrics.csv"))

        os.rename("profiling_results.json", "baseline_profiling.json")
        baseline_results = load_baseline("baseline_profiling.json")
        current_results = profiler.profile(model_path)
        regressions = detect_regressions(baseline_results, current_results)
        if regressions:
            print(f"Performance regressions detected: {regressions}")
        self.assertIsInstance(regressions, list)

    @unittest.skipUnless(
        "--output-dir" in command("help", "profile").stdout, "the program has no --output-dir"
    )
    def test_command_for_ci(self) -> None:
        arguments = (
            "profile",
            "--model-path",
            "models/bert-base-uncased",
            "--output-dir",
            "profiling_results",
            "--num-runs",
            "3",
            "--batch-sizes",
            "1",
            "--threshold",
        )
        done = command(*arguments, "latency:100s", "throughput:0.001samples/s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.listdir("profiling_results"))
        self.assertEqual(
            command(*arguments, "latency:1ns", "throughput:1000samples/s").returncode, 6
        )


class ImageGeneration(InFolder):
    """002 and 004"""

    def check(self, data: Any) -> None:
        self.assertEqual(
            (data["enabled"], data["model_component"], data["total_params"]),
            (True, "unet", 865910724),
        )

    def test_generate_image(self) -> None:
        from assay import generate_image

        def session() -> None:
            image, filepath, seed, profiling_data = generate_image(
                model_id="sd21",
                prompt="A beautiful landscape",
                enable_profiling=True,
            )
            if profiling_data and profiling_data.get("enabled"):
                print(f"Parameters: {profiling_data['params_str']}")
                print(f"Total FLOPs: {profiling_data['total_flops_str']}")
                print(f"Total MACs: {profiling_data['total_macs_str']}")
                print(f"Inference Time: {profiling_data['inference_time_str']}")
                print(f"UNet per step: {profiling_data['macs_per_step_str']}")

        said = printed(session)
        for line in (
            r"^  Parameters +865\.91M$",
            r"^  FLOPs +83\.45 TFLOPs$",
            r"^  MACs +41\.52 TMACs$",
            r"^  FLOPs per step +1\.62 TFLOPs$",
            r"^  MACs per step +804\.26 GMACs$",
            r"^  Steps +50$",
            r"^  Inference time +not measured$",
        ):
            self.assertRegex(said, re.compile(line, re.M))
        self.assertIn("Parameters: 865.91M", said)
        self.assertIn("UNet per step: 804.26 GMACs", said)
        image, filepath, seed, profiling_data = generate_image(
            model_id="sd21",
            prompt="A beautiful landscape",
            enable_profiling=False,
        )
        self.assertFalse(profiling_data and profiling_data.get("enabled"))
        self.assertIsInstance(seed, int)

    def test_the_models_as_the_documents_call_them(self) -> None:
        from assay import (
            create_profiler,
            generate_image,
            generate_images_sequential,
            get_model_manager,
        )

        image, filepath, seed, profiling_data = generate_image(
            model_id="stabilityai/stable-diffusion-2-1-base",
            prompt="A beautiful landscape",
            enable_profiling=True,  # Enable for this generation
        )
        self.check(profiling_data)
        manager = get_model_manager()
        pipe = manager.load_model("stabilityai/stable-diffusion-2-1-base")
        self.assertEqual(
            create_profiler(enabled=True).measure_unet_macs(pipe, 512, 512, "prompt", 7.5)
            // 10**9,
            804,
        )
        results = generate_images_sequential(
            model_ids=[
                "stabilityai/stable-diffusion-2-1-base",
                "PixArt-alpha/PixArt-XL-2-512x512",
            ],
            prompt="A futuristic cityscape",
            num_inference_steps=50,
        )
        self.assertEqual(
            [r[3]["model"] for r in results],
            ["stabilityai/stable-diffusion-2-1-base", "PixArt-alpha/PixArt-XL-2-512x512"],
        )
        with self.assertRaises(assay.SystemFailure):
            assay.pipeline("models/sd21")  # a folder that is not there is no built-in one

    def test_global_switch(self) -> None:
        from assay import config, create_profiler, generate_image

        self.assertTrue(config.ENABLE_COMPUTE_PROFILING)
        self.addCleanup(setattr, config, "ENABLE_COMPUTE_PROFILING", True)
        config.ENABLE_COMPUTE_PROFILING = False
        self.assertFalse(generate_image("sd21", "x")[3].get("enabled"))
        self.assertTrue(generate_image("sd21", "x", enable_profiling=True)[3].get("enabled"))
        self.assertFalse(create_profiler().enabled)

    def test_basic_profiling(self) -> None:
        from assay import generate_image, get_model_manager

        manager = get_model_manager()
        manager.load_model("sd21")
        image, filepath, seed, profiling_data = generate_image(
            model_id="sd21",
            prompt="A cat sitting on a windowsill",
            num_inference_steps=50,
            enable_profiling=True,
        )
        self.assertEqual(profiling_data["num_inference_steps"], 50)
        self.assertRegex(profiling_data["total_flops_str"], r"^\d+\.\d\d TFLOPs$")

    def test_batch_profiling(self) -> None:
        from assay import generate_images_sequential

        results = generate_images_sequential(
            model_ids=[
                "sd21",
                "pixart-512",
            ],
            prompt="A futuristic cityscape",
            num_inference_steps=50,
        )
        self.assertEqual([r[3]["model_component"] for r in results], ["unet", "transformer"])
        (stamp,) = os.listdir("outputs")
        with open(os.path.join("outputs", stamp, "generation_config.json"), encoding="utf-8") as f:
            record = json.load(f)
        self.assertEqual(record["prompt"], "A futuristic cityscape")
        self.assertEqual([m["model_id"] for m in record["models"]], ["sd21", "pixart-512"])
        self.assertEqual(record["models"][0]["compute_profile"]["total_params"], 865910724)

    def test_profile_pipeline(self) -> None:
        from assay import create_profiler, get_model_manager

        pipeline = get_model_manager().load_model("sd21")
        height, width, steps = 512, 512, 50
        profiler = create_profiler(enabled=True)
        profiling_data = profiler.profile_pipeline(
            pipe=pipeline,
            input_shape=(1, 3, 512, 512),
            num_inference_steps=50,
            model_id="my-model",
        )
        self.check(profiling_data)
        self.assertEqual(profiling_data["input_shape"], (1, 3, 512, 512))
        self.assertEqual(profiling_data["latent_shape"], (1, 4, 64, 64))
        self.assertEqual(profiling_data["model"], "my-model")
        again = profiler.profile_pipeline(
            pipe=pipeline,
            input_shape=(1, 3, height, width),
            num_inference_steps=steps,
            model_id="model-id",
        )
        self.assertEqual(again["total_macs"], profiling_data["total_macs"])
        data = profiler.profile_pipeline(pipeline, (1, 3, 512, 512), 30, "sd21", 7.5)
        self.assertEqual(data["total_macs"] // 10**9, 25430)

    def test_every_key_of_the_data_structures(self) -> None:
        from assay import create_profiler

        data = create_profiler(enabled=True).profile_pipeline(
            "sd21", (1, 3, 512, 512), 30, "sd21", 7.5
        )
        for key, kind in (
            ("enabled", bool),
            ("model_component", str),
            ("total_params", int),
            ("params_str", str),
            ("flops_per_step", int),
            ("flops_per_step_str", str),
            ("macs_per_step", int),
            ("macs_per_step_str", str),
            ("total_flops", int),
            ("total_flops_str", str),
            ("total_macs", int),
            ("total_macs_str", str),
            ("num_inference_steps", int),
            ("input_shape", tuple),
            ("latent_shape", tuple),
            ("unet_macs_per_step", int),
            ("vae_macs", int),
            ("text_encoder_macs", int),
        ):
            self.assertIsInstance(data[key], kind, key)
        self.assertIn("inference_time_seconds", data)
        self.assertIn("inference_time_str", data)

    def test_manual_profiling(self) -> None:
        from assay import create_profiler, get_model_manager

        profiler = create_profiler(enabled=True)
        manager = get_model_manager()
        pipe = manager.load_model("sd21")
        summary = profiler.summarize_macs(
            pipe=pipe,
            height=512,
            width=512,
            steps=30,
            prompt="a photo of a cat",
            guidance_scale=7.5,
        )
        self.assertIn("25.43 TMACs", printed(lambda: print(summary)))
        self.check(summary)

        unet_macs = profiler.measure_unet_macs(pipe, 512, 512, "prompt", 7.5)
        vae_macs = profiler.measure_vae_decode_macs(pipe, 512, 512)
        text_macs = profiler.measure_text_encoder_macs(pipe, "prompt", "")
        said = printed(
            lambda: print(
                f"UNet: {unet_macs / 1e9:.2f} GMACs",
                f"VAE: {vae_macs / 1e9:.2f} GMACs",
                f"Text: {text_macs / 1e9:.2f} GMACs",
            )
        )
        self.assertEqual(said, "UNet: 804.26 GMACs VAE: 1257.26 GMACs Text: 45.13 GMACs\n")
        self.assertEqual(profiler.measure_unet_macs(pipe, 512, 512, "prompt", 1.0) * 2, unet_macs)
        self.assertEqual(summary["total_macs"], 30 * unet_macs + vae_macs + text_macs)

    def example(self, name: str) -> str:
        done = subprocess.run(
            [sys.executable, os.path.join(ROOT, "bindings", "python", "examples", name)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=3000,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def totals(self, said: str, title: str) -> Dict[str, float]:
        """Rows of "NAME ... N TMACs" below a title."""
        block = said.split(title, 1)[1].split("\n\n", 1)[0]
        return {a: float(b) for a, b in re.findall(r"^  +(\S+).*? ([\d.]+) TMACs", block, re.M)}

    def counted(self, **sizes: Any) -> float:
        sizes = {"height": 512, "width": 512, "steps": 30, "guidance_scale": 7.5, **sizes}
        return float(round(assay.pipeline("sd21", **sizes).total_macs / 1e12, 2))

    def test_basic_example_is_right(self) -> None:
        said = self.example("example_profiling.py")
        profile = assay.pipeline("sd21", height=512, width=512, steps=50, guidance_scale=7.5)
        for key in ("params_str", "total_flops_str", "total_macs_str", "macs_per_step_str"):
            self.assertIn(f" {getattr(profile, key)}\n", said)
        rows = re.findall(r"^   (\S+) +\S+ +(\d+) steps +(\S+ \S+)$", said, re.M)
        self.assertEqual(
            rows,
            [
                (name, str(p.num_inference_steps), p.total_macs_str)
                for name in ("sd15", "sd21", "sdxl", "pixart-512", "flux-schnell")
                for p in [assay.pipeline(name)]
            ],
        )
        self.assertEqual(
            re.findall(r"^ +\d+ x \d+ +([\d.]+) GMACs a step +([\d.]+) times$", said, re.M),
            [("804.3", "1.00"), ("2149.1", "2.67"), ("4675.0", "5.81")],
        )

    def test_detailed_example_is_right(self) -> None:
        said = self.example("example_profiling_detailed.py")
        rows = re.findall(r"^  (\w+) +([\d.]+) GMACs a call +(\d+) calls", said, re.M)
        told = {name: (float(macs), int(calls)) for name, macs, calls in rows}
        self.assertEqual(told["unet"], (402.13, 60))
        self.assertEqual(told["vae_decoder"], (1257.26, 1))
        found = re.search(r"^  total +([\d.]+) GMACs", said, re.M)
        assert found, said
        total = float(found[1])
        self.assertAlmostEqual(sum(macs * calls for macs, calls in told.values()), total, delta=1)
        self.assertEqual(
            self.totals(said, "\nSteps"),
            {str(n): self.counted(steps=n) for n in (20, 30, 50)},
        )
        self.assertEqual(
            self.totals(said, "\nGuidance"),
            {str(g): self.counted(guidance_scale=g) for g in (1.0, 7.5)},
        )
        self.assertEqual(
            self.totals(said, "\nResolution"),
            {f"{n}x{n}": self.counted(height=n, width=n) for n in (512, 768, 1024)},
        )
        self.assertEqual(re.findall(r"UNet ([\d.]+)x", said), ["1.00", "2.67", "5.81"])

    def test_standalone_example_counts(self) -> None:
        total = assay.pipeline("sd21", height=512, width=512, steps=30, guidance_scale=7.5)
        self.assertIn(total.total_macs_str, self.example("test_profiler_standalone.py"))


class Documents(InFolder):
    """Of our own."""

    def blocks(self, *path: str) -> Any:
        with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
            return re.findall(r"^```python\n(.*?)^```", f.read(), re.M | re.S)

    def test_readme(self) -> None:
        (block,) = self.blocks("README.md")
        said = printed(lambda: exec(compile(block, "README.md", "exec"), {}))
        self.assertEqual(said, "25557032 4089184256 8.21763428\n")

    @needs_engine
    def test_page(self) -> None:
        first, *_ = self.blocks("docs", "python.md")
        with open("model.onnx", "wb") as f:
            f.write(neg())
        printed(
            lambda: exec(compile(first, "docs/python.md", "exec"), {"my_array": [[1.0, 2.0, 3.0]]})
        )
        self.assertTrue(os.path.getsize("layers.csv"))

    @needs_engine
    def test_readme_of_the_package(self) -> None:
        (block,) = self.blocks("bindings", "python", "README.md")
        said = printed(lambda: exec(compile(block, "README.md", "exec"), {}))
        self.assertRegex(said, r"[\d.]+ ms\n$")


if __name__ == "__main__":
    unittest.main()
