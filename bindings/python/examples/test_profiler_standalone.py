#!/usr/bin/env python3
"""Whether the profiler works here, without any other library: exits 0 and says so, or fails."""
import assay

profiler = assay.create_profiler(enabled=True)
summary = profiler.summarize_macs("sd21", 512, 512, 30, "a photo of a cat", 7.5)
assert summary["enabled"], summary.get("error")
assert summary["total_params"] == 865910724
unet = profiler.measure_unet_macs("sd21", 512, 512, "a photo of a cat", 7.5)
vae = profiler.measure_vae_decode_macs("sd21", 512, 512)
text = profiler.measure_text_encoder_macs("sd21", "a photo of a cat", "")
assert summary["total_macs"] == 30 * unet + vae + text
assert assay.create_profiler(enabled=False).summarize_macs("sd21") == {"enabled": False}
print(f"assay {assay.__version__} is well: {summary['total_macs_str']} for 30 steps of sd21")
