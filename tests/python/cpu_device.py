"""Marks for tests of what runs on the CPU device, whatever device the arrays are on: kernels that are checked or followed."""

import pytest
from xcuda import core as cuda

HAS_CPU = any(device.label == "cpu" for device in cuda.devices())
needs_cpu = pytest.mark.skipif(not HAS_CPU, reason="this build has no CPU device, where kernels are checked")
without_cpu = pytest.mark.skipif(HAS_CPU, reason="this build has a CPU device")
