"""create_profiler(): what a generation costs, for code that has a pipeline in hand.

A pipeline is the name or folder of one (``assay.pipelines()``), or any object with ``unet`` or
``transformer``, ``vae`` and ``text_encoder`` that have a ``config``, as those of diffusers do:
their configurations are written into a temporary folder in the form of diffusers, and the library
reads that. Weights are not touched.

Nothing here raises: what cannot be counted is ``{"enabled": False, "error": ...}`` or 0, so that a
generation goes on.
"""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from typing import Any, Dict, Optional, Sequence, Tuple

__all__ = ["ComputeProfiler", "DisabledProfiler", "create_profiler"]

# The components that count, and what they are when neither config nor class says.
COMPONENTS = {
    "unet": "UNet2DConditionModel",
    "transformer": "",
    "prior": "",
    "vae": "AutoencoderKL",
    "vqvae": "VQModel",
    "text_encoder": "CLIPTextModel",
    "text_encoder_2": "CLIPTextModelWithProjection",
    "text_encoder_3": "T5EncoderModel",
}
_OFF = {"enabled": False}


class DisabledProfiler:
    """What ``enabled=False`` gives: every call answers at once, and nothing is loaded."""

    enabled = False
    last_error: Optional[str] = None

    def profile_pipeline(self, *_: Any, **__: Any) -> Dict[str, Any]:
        """``{"enabled": False}``."""
        return dict(_OFF)

    def summarize_macs(self, *_: Any, **__: Any) -> Dict[str, Any]:
        """``{"enabled": False}``."""
        return dict(_OFF)

    def measure_unet_macs(self, *_: Any, **__: Any) -> int:
        """0."""
        return 0

    measure_transformer_macs = (
        measure_vae_decode_macs
    ) = measure_text_encoder_macs = measure_unet_macs


def create_profiler(enabled: Optional[bool] = None) -> Any:
    """A profiler of pipelines; ``enabled`` defaults to
    ``assay.config.ENABLE_COMPUTE_PROFILING``."""
    if enabled is None:
        from . import config

        enabled = config.ENABLE_COMPUTE_PROFILING
    return ComputeProfiler() if enabled else DisabledProfiler()


# ---- pipelines that are objects ----


def _values(config: Any) -> Dict[str, Any]:
    """A configuration as a dict: diffusers' are mappings, those of transformers have to_dict();
    others have keys, fields or attributes."""
    if isinstance(config, Mapping):
        return dict(config)
    for name in ("to_dict", "_asdict"):
        if hasattr(config, name):
            return dict(getattr(config, name)())
    if hasattr(config, "keys"):
        return {k: config[k] for k in config.keys()}
    fields = getattr(config, "__dataclass_fields__", None)
    return {k: getattr(config, k) for k in fields} if fields else dict(vars(config))


def _plain(value: Any) -> Any:
    """What json does not know by itself: numbers of numpy, types of torch, sets."""
    if hasattr(value, "__index__"):
        return value.__index__()
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__float__"):
        return float(value)
    return list(value) if isinstance(value, (set, frozenset)) else str(value)


def _config(component: Any) -> Dict[str, Any]:
    """The configuration as it is written. One that cannot be read is empty, and the library will
    say that it does not know that component."""
    try:
        values = _values(component if isinstance(component, Mapping) else component.config)
        if not values:
            raise ValueError("nothing is in it")
        read: Dict[str, Any] = json.loads(
            json.dumps(values, default=_plain, skipkeys=True, allow_nan=False)
        )
        return read
    except Exception:
        return {"_class_name": f"{type(component).__name__} without a readable config"}


def _class_of(name: str, component: Any, config: Mapping[str, Any]) -> str:
    stated = config.get("_class_name")
    if isinstance(stated, str):
        return stated
    architectures = config.get("architectures")
    if isinstance(architectures, (list, tuple)) and architectures:
        return str(architectures[0])
    known = type(component).__name__
    stem = name.rstrip("_23")
    # The classes of the libraries end so; anything else is somebody's own name for it.
    library = known.endswith(
        ("Model", "ModelWithProjection", "KL", "Transformer2DModel", "Encoder", "Model2D")
    )
    return known if library else COMPONENTS.get(name) or COMPONENTS.get(stem) or known


def _components(pipe: Any) -> Dict[str, Tuple[Any, Dict[str, Any]]]:
    found = {}
    listed = pipe if isinstance(pipe, Mapping) else getattr(pipe, "components", None)
    names = (
        [n for n in listed if isinstance(n, str)]
        if isinstance(listed, Mapping)
        else list(COMPONENTS)
    )
    for name in names:
        component = listed.get(name) if isinstance(listed, Mapping) else getattr(pipe, name, None)
        counts = name in COMPONENTS or name.startswith(
            ("text_encoder", "unet", "transformer", "vae")
        )
        if counts and component is not None:
            found[name] = (component, _config(component))
    return found


def _write(path: str, value: Any) -> None:
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f)


def write_folder(pipe: Any, folder: str) -> None:
    """The configurations of an object's components, as a diffusers folder."""
    found = _components(pipe)
    if not found:
        raise TypeError(
            f"{type(pipe).__name__} has no unet, transformer, vae or text_encoder with a config; "
            "give the name or the folder of a pipeline, or such an object"
        )
    index: Dict[str, Any] = {"_class_name": type(pipe).__name__}
    for name, (component, config) in found.items():
        kind = _class_of(name, component, config)
        if "model_type" not in config:
            config.setdefault("_class_name", kind)
        os.makedirs(os.path.join(folder, name))
        _write(os.path.join(folder, name, "config.json"), config)
        index[name] = ["diffusers" if "_class_name" in config else "transformers", kind]
    _write(os.path.join(folder, "model_index.json"), index)


class located:
    """A path or name for the library, for the length of a call."""

    def __init__(self, pipe: Any) -> None:
        self._pipe = pipe
        self._folder: Optional[tempfile.TemporaryDirectory[str]] = None

    def __enter__(self) -> Any:
        pipe = getattr(self._pipe, "assay_pipeline", self._pipe)
        if isinstance(pipe, (str, os.PathLike)):
            return pipe
        if pipe is None:
            raise TypeError("there is no pipeline")
        self._folder = tempfile.TemporaryDirectory(prefix="assay-")
        try:
            write_folder(pipe, self._folder.name)
        except BaseException:
            self._folder.cleanup()
            raise
        return self._folder.name

    def named(self, text: str, name: str) -> str:
        """A text of the library without the folder, which nobody knows."""
        return text.replace(self._folder.name, name) if self._folder else text

    def __exit__(self, *_: Any) -> None:
        if self._folder:
            self._folder.cleanup()


class Summary(dict[str, Any]):
    """A pipeline's costs, with the keys of ``assay.pipeline/1``; printed as the console shows
    them."""

    _shown = ""

    def __str__(self) -> str:
        return self._shown or super().__str__()

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from ._results import document

        if not self.get("enabled") and not self.get("partial"):
            import html

            return f"<p>{html.escape(str(self.get('error', 'Profiling is off.')))}</p>"
        return document(json.dumps(self, default=str), "summary-html", {})


class ComputeProfiler:
    """Counts a pipeline. ``last_error`` is the sentence of the last call that could not, or
    None."""

    enabled = True

    def __init__(self) -> None:
        self.last_error: Optional[str] = None

    def _say(self, error: str) -> None:
        import logging

        self.last_error = error
        logging.getLogger("assay").warning("The pipeline was not profiled: %s", error)

    def _failed(self, e: Exception) -> Summary:
        try:
            self._say(str(e) or type(e).__name__)
        except Exception:  # whatever it is, it is not to break the caller
            self._say(type(e).__name__)
        return Summary(_OFF, error=self.last_error)

    def _counted(self, pipe: Any, model_id: Optional[str], options: Mapping[str, Any]) -> Summary:
        self.last_error = None
        try:
            from ._calls import pipeline

            place = located(pipe)
            with place as where:
                by_name = isinstance(pipe, (str, os.PathLike))
                name = model_id or (
                    None if by_name else getattr(pipe, "name", None) or type(pipe).__name__
                )
                with pipeline(
                    where, name=name, **{k: v for k, v in options.items() if v is not None}
                ) as result:
                    summary = Summary(result.to_dict())
                    summary._shown = place.named(str(result), str(name))
            if summary.get("partial"):
                self._say(str(summary.get("error")))
            return _tuples(summary)
        except Exception as e:
            return self._failed(e)

    def profile_pipeline(
        self,
        pipe: Any,
        input_shape: Sequence[int] = (1, 3, 512, 512),
        num_inference_steps: Optional[int] = None,
        model_id: Optional[str] = None,
        guidance_scale: Optional[float] = None,
        num_steps: Optional[int] = None,
        **options: Any,
    ) -> Summary:
        """Everything about one generation: parameters, MACs and FLOPs per step and in all, per
        component, with ``_str`` twins."""
        try:
            batch, height, width = int(input_shape[0]), int(input_shape[-2]), int(input_shape[-1])
        except Exception as e:
            return self._failed(
                ValueError(f"input_shape is (batch, channels, height, width): {type(e).__name__}.")
            )
        steps = num_steps if num_inference_steps is None else num_inference_steps
        return self._counted(
            pipe,
            model_id,
            {
                "batch": batch,
                "height": height,
                "width": width,
                "steps": steps,
                "guidance_scale": guidance_scale,
                **options,
            },
        )

    def summarize_macs(
        self,
        pipe: Any,
        height: Optional[int] = None,
        width: Optional[int] = None,
        steps: Optional[int] = None,
        prompt: Optional[str] = None,
        guidance_scale: Optional[float] = None,
        **options: Any,
    ) -> Summary:
        """The same by sizes; what is left out is the pipeline's own. Prompts are padded, so their
        words do not matter."""
        return self._counted(
            pipe,
            None,
            {
                "height": height,
                "width": width,
                "steps": steps,
                "prompt": prompt if isinstance(prompt, str) and prompt else None,
                "guidance_scale": guidance_scale,
                **options,
            },
        )

    def measure_unet_macs(
        self,
        pipe: Any,
        height: Optional[int] = None,
        width: Optional[int] = None,
        prompt: Optional[str] = None,
        guidance_scale: Optional[float] = None,
    ) -> int:
        """MACs of the denoiser (UNet or transformer) in one step: two passes where the guidance
        asks for them."""
        return int(
            self.summarize_macs(pipe, height, width, 1, prompt, guidance_scale).get(
                "macs_per_step", 0
            )
        )

    measure_transformer_macs = measure_unet_macs

    def measure_vae_decode_macs(
        self, pipe: Any, height: Optional[int] = None, width: Optional[int] = None
    ) -> int:
        """MACs of decoding one image."""
        return int(self.summarize_macs(pipe, height, width, 1).get("vae_macs", 0))

    def measure_text_encoder_macs(
        self, pipe: Any, prompt: Optional[str] = None, negative_prompt: Optional[str] = None
    ) -> int:
        """MACs of all text encoders for the prompt, and for the negative one where there is one (an
        empty text is one)."""
        one = int(self.summarize_macs(pipe, None, None, 1, prompt, 1.0).get("text_encoder_macs", 0))
        return one * (1 if negative_prompt is None else 2)


def _tuples(summary: Summary) -> Summary:
    """Shapes are tuples in Python."""
    for key in ("input_shape", "latent_shape"):
        if isinstance(summary.get(key), list):
            summary[key] = tuple(summary[key])
    return summary
