#!/usr/bin/env python3
"""A generation component by component, over steps, guidance and resolution."""
import assay

r = assay.pipeline("sd21", height=512, width=512, steps=30, guidance_scale=7.5)
print("MACs by component")
for c in r.components:
    once = c.macs_per_call / 1e9
    print(f"  {c.name:14} {once:10.2f} GMACs a call {c.calls:4} calls {c.percent:6.2f} %")
print(f"  {'total':14} {r.total_macs / 1e9:10.1f} GMACs (UNet, VAE decoder and text encoder)")

print("\nSteps")
for steps in (20, 30, 50):
    total = assay.pipeline(
        "sd21", height=512, width=512, steps=steps, guidance_scale=7.5
    ).total_macs
    print(f"  {steps:3} {total / 1e12:8.2f} TMACs")

print("\nGuidance: above 1 every step has two passes")
for guidance in (1.0, 7.5):
    one = assay.pipeline("sd21", height=512, width=512, steps=30, guidance_scale=guidance)
    print(f"  {guidance:4} {one.passes_per_step} passes {one.total_macs / 1e12:8.2f} TMACs")

print("\nResolution: attention makes the UNet grow faster than the number of pixels")
first = None
for side in (512, 768, 1024):
    one = assay.pipeline("sd21", height=side, width=side, steps=30, guidance_scale=7.5)
    first = first or one
    unet = one.macs_per_pass / first.macs_per_pass
    total = one.total_macs / first.total_macs
    size = f"{side}x{side}"
    print(f"  {size:9} {one.total_macs / 1e12:8.2f} TMACs  UNet {unet:.2f}x  total {total:.2f}x")
