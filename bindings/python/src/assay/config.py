"""Switches of the whole package.

``ENABLE_COMPUTE_PROFILING`` is what ``create_profiler()`` and ``generate_image()`` do when a call
does not say.
"""
ENABLE_COMPUTE_PROFILING = True
