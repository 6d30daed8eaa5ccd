"""Generation with the profile riding along: ``image, filepath, seed, profiling_data =
generate_image(...)``.

A pipeline that can be called (one of diffusers, registered with ``get_model_manager().register(id,
pipe)``) makes the image, and the call is timed. Without one nothing is generated: image and
filepath are None, and the profile is that of the built-in pipeline or folder of that name.
Profiling is on unless ``enable_profiling`` or ``assay.config.ENABLE_COMPUTE_PROFILING`` say no.
"""
from __future__ import annotations

import inspect
import json
import os
import random
import re
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .compute import create_profiler

__all__ = [
    "ModelManager",
    "NamedPipeline",
    "get_model_manager",
    "generate_image",
    "generate_images_sequential",
]


class NamedPipeline:
    """A pipeline that is known by its name or folder; it can be profiled and not called."""

    def __init__(self, name: str) -> None:
        self.assay_pipeline = self.name = name

    def __repr__(self) -> str:
        return f"<assay pipeline {self.name!r}>"


class ModelManager:
    """Pipelines by id: those that were registered, else the library's of that name."""

    def __init__(self) -> None:
        self._pipes: Dict[str, Any] = {}

    def register(self, model_id: str, pipe: Any) -> Any:
        """Makes ``pipe`` what ``model_id`` stands for."""
        self._pipes[model_id] = pipe
        return pipe

    def load_model(self, model_id: str) -> Any:
        """The pipeline that was registered, or one that can be profiled and not called."""
        return self._pipes.get(model_id) or NamedPipeline(model_id)


_manager = ModelManager()


def get_model_manager() -> ModelManager:
    """The manager of this process."""
    return _manager


def _accepted(pipe: Any, wanted: Dict[str, Any]) -> Dict[str, Any]:
    """Those of the arguments that the pipeline's call has."""
    try:
        parameters = inspect.signature(pipe.__call__).parameters
    except (TypeError, ValueError):
        return wanted
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return wanted
    return {k: v for k, v in wanted.items() if k in parameters}


def _seeded(seed: int) -> Dict[str, Any]:
    import sys

    torch = sys.modules.get("torch")
    return {"generator": torch.Generator().manual_seed(seed)} if torch else {}


def _first_image(answer: Any) -> Any:
    images = getattr(answer, "images", answer)
    return images[0] if isinstance(images, (list, tuple)) and images else images


def _saved(image: Any, folder: str, model_id: str, seed: int) -> Optional[str]:
    if not hasattr(image, "save"):
        return None
    os.makedirs(folder, exist_ok=True)
    stem = re.sub(r"[^A-Za-z0-9._-]+", "_", model_id).strip("._") or "image"
    path = os.path.join(folder, f"{stem}_seed{seed}.png")
    image.save(path)
    return path


# What the block shows: a label, and the key of its text.
_BLOCK = (
    ("Parameters", "params_str"),
    ("FLOPs", "total_flops_str"),
    ("MACs", "total_macs_str"),
    ("FLOPs per step", "flops_per_step_str"),
    ("MACs per step", "macs_per_step_str"),
    ("Steps", "num_inference_steps"),
    ("Inference time", "inference_time_str"),
)


def profile_block(data: Dict[str, Any]) -> str:
    """The lines that :func:`generate_image` prints; empty if nothing was profiled."""
    if not data.get("enabled") and not data.get("partial"):
        return ""
    lines = [f"Compute profile of {data.get('title') or data.get('model')}"]
    if data.get("partial"):
        lines.append(f"  Partial: {data.get('error')}")
    lines += [f"  {label:<15} {data[key]}" for label, key in _BLOCK if key in data]
    return "\n".join(lines)


def generate_image(
    model_id: str,
    prompt: str = "",
    negative_prompt: Optional[str] = None,
    height: Optional[int] = None,
    width: Optional[int] = None,
    num_inference_steps: Optional[int] = None,
    guidance_scale: Optional[float] = None,
    seed: Optional[int] = None,
    enable_profiling: Optional[bool] = None,
    output_dir: Optional[str] = None,
    pipe: Any = None,
) -> Tuple[Any, Optional[str], int, Dict[str, Any]]:
    """``(image, filepath, seed, profiling_data)``; see the module. Prints the costs. A profile that
    fails never stops the generation."""
    pipe = get_model_manager().load_model(model_id) if pipe is None else pipe
    seed = random.randrange(2**32) if seed is None else int(seed)
    image, path, took = None, None, None
    asked = {
        "height": height,
        "width": width,
        "num_inference_steps": num_inference_steps,
        "guidance_scale": guidance_scale,
    }
    if callable(pipe):
        wanted: Dict[str, Any] = {
            "prompt": prompt,
            "negative_prompt": negative_prompt,
            **asked,
            **_seeded(seed),
        }
        arguments = _accepted(pipe, {k: v for k, v in wanted.items() if v is not None})
        began = time.perf_counter()
        image = _first_image(pipe(**arguments))
        took = time.perf_counter() - began
        path = _saved(
            image,
            output_dir or os.path.join("outputs", time.strftime("%Y%m%d_%H%M%S")),
            model_id,
            seed,
        )
    profiler = create_profiler(enable_profiling)
    data = profiler.summarize_macs(pipe, height, width, num_inference_steps, prompt, guidance_scale)
    counted = data.get("enabled") or data.get("partial")
    if counted:
        data["model"] = model_id
    if took is not None and counted:
        data.update(
            inference_time_seconds=took,
            inference_time_str=f"{took:.2f}s",
            tflops_per_second=data["total_flops"] / took / 1e12 if took else None,
        )
    if counted:
        print(profile_block(data))
    return image, path, seed, data


def generate_images_sequential(
    model_ids: Sequence[str], prompt: str = "", output_dir: str = "outputs", **arguments: Any
) -> List[Tuple[Any, Optional[str], int, Dict[str, Any]]]:
    """One model after the other; ``OUTPUT_DIR/TIMESTAMP/generation_config.json`` records prompt,
    models and profiles."""
    now = time.time()
    folder = os.path.join(output_dir, time.strftime("%Y%m%d_%H%M%S", time.localtime(now)))
    results = [generate_image(m, prompt, output_dir=folder, **arguments) for m in model_ids]
    record = {
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(now)),
        "prompt": prompt,
        "models": [
            {
                "model_id": m,
                "model_name": data.get("title", m),
                "image_path": path,
                "seed": seed,
                "compute_profile": data,
            }
            for m, (_, path, seed, data) in zip(model_ids, results)
        ],
    }
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "generation_config.json")
    with open(path + ".part", "w", encoding="utf-8") as f:
        json.dump(record, f, indent=2, default=str)
    os.replace(path + ".part", path)
    return results
