"""Dense linear algebra and Fourier transforms over device arrays.

NumPy's libraries do them on the CPU device, NVIDIA's on a GPU.

Arrays in and out are C-contiguous `DeviceArray`s; matrices come in stacks of three axes. `numeric` and `math` stand on
this.
"""
