#!/usr/bin/env python3
"""What image generation costs: one model, several side by side, and what the resolution does."""
import assay

profiler = assay.create_profiler(enabled=True)

print("One model")
data = profiler.profile_pipeline(
    "sd21", input_shape=(1, 3, 512, 512), num_inference_steps=50, guidance_scale=7.5
)
for what, key in (
    ("Parameters", "params_str"),
    ("FLOPs (total)", "total_flops_str"),
    ("MACs (total)", "total_macs_str"),
    ("FLOPs/step", "flops_per_step_str"),
    ("MACs/step", "macs_per_step_str"),
):
    print(f"   {what:14} {data[key]}")

print("\nSeveral, at their own sizes and steps")
for name in ("sd15", "sd21", "sdxl", "pixart-512", "flux-schnell"):
    data = profiler.summarize_macs(name)
    params, steps, macs = (data[k] for k in ("params_str", "num_inference_steps", "total_macs_str"))
    print(f"   {name:14} {params:>9} {steps:4} steps {macs:>14}")

print("\nThe resolution, relative to 512")
first = profiler.measure_unet_macs("sd21", 512, 512)
for side in (512, 768, 1024):
    macs = profiler.measure_unet_macs("sd21", side, side)
    print(f"   {side:4} x {side:<4}    {macs / 1e9:10.1f} GMACs a step {macs / first:6.2f} times")
