"""Pipelines that are objects: stand-ins with configurations as diffusers and transformers have
them."""
import logging
import os
import tempfile
import types
import unittest
from typing import Any, Callable, Dict, List

import assay
from support import InFolder, child

UNET = {
    "_class_name": "UNet2DConditionModel",
    "sample_size": 64,
    "in_channels": 4,
    "out_channels": 4,
    "layers_per_block": 2,
    "block_out_channels": [320, 640, 1280, 1280],
    "cross_attention_dim": 1024,
    "attention_head_dim": [5, 10, 20, 20],
    "use_linear_projection": True,
    "norm_num_groups": 32,
    "down_block_types": ["CrossAttnDownBlock2D"] * 3 + ["DownBlock2D"],
    "up_block_types": ["UpBlock2D"] + ["CrossAttnUpBlock2D"] * 3,
}
VAE = {
    "_class_name": "AutoencoderKL",
    "in_channels": 3,
    "out_channels": 3,
    "latent_channels": 4,
    "layers_per_block": 2,
    "block_out_channels": [128, 256, 512, 512],
    "norm_num_groups": 32,
    "sample_size": 768,
    "down_block_types": ["DownEncoderBlock2D"] * 4,
    "up_block_types": ["UpDecoderBlock2D"] * 4,
}
TEXT = {
    "model_type": "clip_text_model",
    "architectures": ["CLIPTextModel"],
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 23,
    "num_attention_heads": 16,
    "max_position_embeddings": 77,
    "vocab_size": 49408,
    "projection_dim": 512,
    "hidden_act": "gelu",
}


class Frozen(Dict[str, Any]):
    """As diffusers' configurations: a dict that is also read by attribute."""

    __getattr__ = dict.__getitem__


class Config:
    """As those of transformers."""

    def __init__(self, values: Any) -> None:
        self.__dict__.update(values)

    def to_dict(self) -> Any:
        return dict(self.__dict__, dtype=object())  # not everything in them is JSON


def component(config: Any, name: str = "Component") -> Any:
    return type(name, (), {"config": config})()


class StandIn:
    def __init__(self, **parts: Any) -> None:
        self.__dict__.update(parts)


def sd21(frozen: Any = Frozen) -> Any:
    return StandIn(
        unet=component(frozen(UNET)),
        vae=component(frozen(VAE)),
        text_encoder=component(Config(TEXT)),
        scheduler=object(),
        tokenizer=None,
        safety_checker=None,
    )


class Objects(unittest.TestCase):
    def setUp(self) -> None:
        self.profiler = assay.create_profiler(enabled=True)
        logger = logging.getLogger("assay")
        logger.addHandler(logging.NullHandler())
        self.addCleanup(setattr, logger, "propagate", logger.propagate)
        logger.propagate = False

    def test_same_as_the_built_in(self) -> None:
        known = self.profiler.profile_pipeline("sd21", (1, 3, 512, 512), 30, guidance_scale=7.5)
        for pipe in (sd21(), sd21(dict), sd21(lambda c: types.SimpleNamespace(**c))):
            data = self.profiler.profile_pipeline(pipe, (1, 3, 512, 512), 30, guidance_scale=7.5)
            self.assertIsNone(self.profiler.last_error)
            for key in (
                "total_params",
                "macs_per_pass",
                "macs_per_step",
                "vae_macs",
                "text_encoder_macs",
                "total_macs",
                "total_macs_str",
                "latent_shape",
            ):
                self.assertEqual(data[key], known[key], key)
            self.assertEqual((data["model"], data["title"]), ("StandIn", "StandIn"))
            self.assertTrue(str(data).startswith("StandIn"), str(data))

    def test_every_form_of_a_config(self) -> None:
        import collections
        import dataclasses

        class Keys:
            """Keys and values, and no Mapping."""

            def __init__(self, values: Any) -> None:
                self._values = values

            def keys(self) -> Any:
                return self._values.keys()

            def __getitem__(self, key: Any) -> Any:
                return self._values[key]

        def slots(values: Any) -> Any:
            kind = dataclasses.make_dataclass(
                "Slots", list(values), namespace={"__slots__": tuple(values)}
            )
            return kind(**values)

        def named(values: Any) -> Any:
            return collections.namedtuple("Named", [k.lstrip("_") for k in values])(
                *values.values()
            )

        forms = [
            Keys,
            slots,
            named,
            collections.OrderedDict,
            types.MappingProxyType,
            lambda v: types.SimpleNamespace(**v),
        ]
        for form in forms:
            for pipe in (
                sd21(form),
                types.SimpleNamespace(**vars(sd21(form))),
                dict(vars(sd21(form))),
            ):
                data = self.profiler.profile_pipeline(pipe, (1, 3, 512, 512), 30)
                self.assertEqual(
                    (self.profiler.last_error, data["total_params"]), (None, 865910724), form
                )

    def test_values_that_json_does_not_know(self) -> None:
        class Number:
            def __init__(self, n: int) -> None:
                self.n = n

            def __index__(self) -> int:
                return self.n

        odd = {
            k: Number(v)
            if isinstance(v, int) and not isinstance(v, bool)
            else tuple(v)
            if isinstance(v, list)
            else v
            for k, v in UNET.items()
        }
        odd.update(dtype=object, names={"a"}, half=1.5, **{"cycle": None})
        self.assertEqual(
            self.profiler.profile_pipeline(StandIn(unet=component(odd)), (1, 3, 512, 512), 30)[
                "total_params"
            ],
            865910724,
        )
        odd["cycle"] = odd
        pipe = sd21()
        pipe.vae = component(dict(VAE, cycle=odd, nan=float("nan")))
        data = self.profiler.profile_pipeline(pipe, (1, 3, 512, 512), 30)
        self.assertEqual((data["total_params"], data["vae_macs"]), (865910724, 0))

    def test_parts_that_are_missing(self) -> None:
        whole = self.profiler.profile_pipeline(sd21(), (1, 3, 512, 512), 30)
        for missing, key in (("vae", "vae_macs"), ("text_encoder", "text_encoder_macs")):
            absent: List[Dict[str, Any]] = [{missing: None}, {}]
            for part in absent:
                parts = {k: v for k, v in vars(sd21()).items() if k != missing}
                data = self.profiler.profile_pipeline(
                    StandIn(**parts, **part), (1, 3, 512, 512), 30
                )
                self.assertEqual(
                    (data["enabled"], data["macs_per_step"], data[key]),
                    (True, whole["macs_per_step"], 0),
                )
        only = self.profiler.measure_vae_decode_macs(StandIn(vae=component(VAE)), 512, 512)
        self.assertIn(only, (0, whole["vae_macs"]))

    def test_nothing_that_a_caller_gives_breaks_him(self) -> None:
        class Hostile:
            def __getattribute__(self, name: str) -> Any:
                raise RuntimeError("not that one")

        class Mute(Exception):
            def __str__(self) -> str:
                raise RuntimeError("no words")

        class Silent:
            @property
            def unet(self) -> Any:
                raise Mute()

            vae = text_encoder = transformer = components = unet

        class Truth:
            def __bool__(self) -> bool:
                raise RuntimeError("neither")

            __index__ = __int__ = __float__ = __getitem__ = __len__ = __bool__

            def __repr__(self) -> str:
                raise RuntimeError("no words")

        for pipe in (
            Silent(),
            Truth(),
            StandIn(unet=Truth()),
            StandIn(unet=component(Truth())),
            StandIn(unet=Silent()),
            Hostile(),
        ):
            calls: List[Callable[[Any], Any]] = [
                lambda p: self.profiler.profile_pipeline(p),
                lambda p: self.profiler.summarize_macs(p),
                lambda p: self.profiler.measure_unet_macs(p, 64, 64),
                lambda p: self.profiler.measure_vae_decode_macs(p),
                lambda p: self.profiler.measure_text_encoder_macs(p, "a", "b"),
            ]
            for call in calls:
                answer = call(pipe)
                self.assertTrue(
                    answer == 0
                    or not answer["enabled"]
                    or any(c.get("error") for c in answer["components"])
                )
        for wrong in (Truth(), -1, 2**80, "x", float("nan"), [], object()):
            self.profiler.profile_pipeline("sd21", wrong)
            self.profiler.profile_pipeline("sd21", (1, 3, wrong, wrong), wrong, wrong, wrong)
            self.profiler.summarize_macs("sd21", wrong, wrong, wrong, wrong, wrong)
            self.profiler.measure_unet_macs("sd21", wrong, wrong, wrong, wrong)
            self.profiler.measure_vae_decode_macs("sd21", wrong, wrong)
            self.profiler.measure_text_encoder_macs("sd21", wrong, wrong)

    def test_a_pipeline_in_hand(self) -> None:
        r = assay.pipeline(sd21(), height=512, width=512)
        self.assertEqual((r.total_params, r["model"]), (865910724, "StandIn"))
        for wrong in (5, object(), None, StandIn(), []):
            with self.assertRaises(TypeError):
                assay.pipeline(wrong)

    def test_without_class_names(self) -> None:
        bare = {k: v for k, v in UNET.items() if k != "_class_name"}
        vae = {k: v for k, v in VAE.items() if k != "_class_name"}
        pipe = StandIn(
            unet=component(bare, "MyUnet"),
            vae=component(vae, "AutoencoderKL"),
            text_encoder=component(Config(TEXT)),
        )
        self.assertEqual(
            self.profiler.profile_pipeline(pipe, (1, 3, 512, 512), 30)["total_params"], 865910724
        )

    def test_components_property(self) -> None:
        parts = sd21()
        pipe = type("StableDiffusionPipeline", (), {"components": dict(vars(parts))})()
        self.assertEqual(
            self.profiler.measure_unet_macs(pipe, 512, 512, "", 1.0),
            self.profiler.measure_unet_macs("sd21", 512, 512, "", 1.0),
        )

    def test_transformer(self) -> None:
        known = assay.pipeline("pixart-512", height=512, width=512)
        config = {
            "_class_name": "PixArtTransformer2DModel",
            "num_layers": 28,
            "num_attention_heads": 16,
            "attention_head_dim": 72,
            "in_channels": 4,
            "out_channels": 8,
            "patch_size": 2,
            "sample_size": 64,
            "caption_channels": 4096,
            "cross_attention_dim": 1152,
        }
        data = self.profiler.profile_pipeline(
            StandIn(transformer=component(config)), (1, 3, 512, 512), 20
        )
        self.assertEqual(
            (data["model_component"], data["total_params"]), ("transformer", known.total_params)
        )

    def test_one_unknown_component_does_not_spoil_the_rest(self) -> None:
        pipe = sd21()
        pipe.vae = component({"_class_name": "AutoencoderOfTomorrow"})
        data = self.profiler.profile_pipeline(pipe, (1, 3, 512, 512), 30)
        self.assertEqual(data["total_params"], 865910724)
        self.assertEqual([bool(c.get("error")) for c in data["components"]].count(True), 1)
        self.assertEqual((data["enabled"], data["partial"]), (False, True))
        self.assertTrue(data["error"])
        self.assertEqual(self.profiler.last_error, data["error"])
        self.profiler.profile_pipeline(sd21(), (1, 3, 512, 512), 30)
        self.assertIsNone(self.profiler.last_error)

    def test_an_unknown_denoiser_is_no_profile(self) -> None:
        pipe = sd21()
        pipe.unet = component({"_class_name": "UNetOfTomorrow"})
        data = self.profiler.summarize_macs(pipe, 512, 512, 30)
        self.assertEqual((data["enabled"], data["partial"]), (False, True))
        self.assertIn("unet", self.profiler.last_error or "")

    def test_a_config_that_fails(self) -> None:
        class Explodes:
            @property
            def config(self) -> Any:
                raise RuntimeError("no config today")

        for pipe in (
            StandIn(unet=Explodes()),
            StandIn(),
            None,
            5,
            object(),
            "no-such-pipeline",
            StandIn(unet=component(5)),
            StandIn(
                unet=component({"_class_name": "UNet2DConditionModel", "block_out_channels": "x"})
            ),
        ):
            data = self.profiler.profile_pipeline(pipe, (1, 3, 64, 64), 3)
            self.assertTrue(
                data["enabled"] is False
                and data["error"] == self.profiler.last_error
                or any(c.get("error") for c in data["components"]),
                data,
            )
            self.assertEqual(self.profiler.measure_vae_decode_macs(pipe, 64, 64), 0)
        for shape in (None, 5, (), "x", (1, 2, "a", "b")):
            self.assertFalse(self.profiler.profile_pipeline("sd21", shape)["enabled"])

    def test_a_component_without_a_readable_config_does_not_spoil_the_rest(self) -> None:
        pipe = sd21()
        pipe.text_encoder = component(5)
        data = self.profiler.profile_pipeline(pipe, (1, 3, 512, 512), 30)
        self.assertEqual((data["total_params"], data["text_encoder_macs"]), (865910724, 0))

    def test_a_failure_is_logged(self) -> None:
        with self.assertLogs("assay", "WARNING") as said:
            self.profiler.profile_pipeline(None)
        self.assertEqual(len(said.output), 1)

    def test_nothing_is_left_behind(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            old, tempfile.tempdir = tempfile.tempdir, folder
            try:
                self.profiler.profile_pipeline(sd21())
                self.profiler.profile_pipeline(StandIn(unet=component(UNET), vae=component(5)))
            finally:
                tempfile.tempdir = old
            self.assertEqual(os.listdir(folder), [])


class Disabled(unittest.TestCase):
    def test_nothing_is_loaded(self) -> None:
        done = child(
            "import sys, assay\np = assay.create_profiler(enabled=False)\n"
            "assert p.profile_pipeline(pipe=object(), input_shape=3) == {'enabled': False}\n"
            "assert p.measure_unet_macs() == p.measure_vae_decode_macs() == 0\n"
            "assert p.measure_text_encoder_macs() == 0\n"
            "assert p.summarize_macs() == {'enabled': False}\n"
            "assert 'assay._native' not in sys.modules and 'ctypes' not in sys.modules"
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_it_costs_nothing(self) -> None:
        import timeit

        p = assay.create_profiler(enabled=False)
        best = (
            min(
                timeit.repeat(
                    lambda: p.profile_pipeline(pipe=None, input_shape=(1, 3, 512, 512)),
                    number=1000,
                    repeat=5,
                )
            )
            / 1000
        )
        self.assertLess(
            best, 20e-6
        )  # it is a fifth of a microsecond; a file or a library would be far more


class Generated(InFolder):
    def test_a_pipeline_that_can_be_called(self) -> None:
        class Image:
            def save(self, path: Any) -> None:
                with open(path, "w", encoding="utf-8") as f:
                    f.write("image")

        class Pipe(StandIn):
            def __call__(
                self, prompt: Any, num_inference_steps: int = 50, guidance_scale: float = 7.5
            ) -> Any:
                self.asked = (prompt, num_inference_steps, guidance_scale)
                return types.SimpleNamespace(images=[Image()])

        pipe = assay.get_model_manager().register("org/mine", Pipe(**vars(sd21())))
        image, path, seed, data = assay.generate_image(
            "org/mine", "a cat", num_inference_steps=5, seed=7, height=512, width=512
        )
        self.assertIsInstance(image, Image)
        self.assertEqual(pipe.asked, ("a cat", 5, 7.5))
        assert path
        self.assertTrue(os.path.exists(path) and path.endswith("org_mine_seed7.png"))
        self.assertEqual((seed, data["total_params"], data["model"]), (7, 865910724, "org/mine"))
        self.assertGreaterEqual(data["inference_time_seconds"], 0)
        self.assertRegex(data["inference_time_str"], r"^\d+\.\d\ds$")

    def test_a_failed_profile_does_not_stop_it(self) -> None:
        class Pipe:
            def __call__(self, **_: Any) -> Any:
                return ["image"]

        with self.assertLogs("assay", "WARNING"):
            image, _, _, data = assay.generate_image("x", "y", pipe=Pipe())
        self.assertEqual((image, data["enabled"]), ("image", False))


if __name__ == "__main__":
    unittest.main()
