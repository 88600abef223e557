"""The error of a launch that CUDA refuses: xcuda refuses it before, as a ValueError."""

CUDAError = ValueError
