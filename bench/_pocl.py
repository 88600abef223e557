"""The same kernels in OpenCL C on pocl, the other CPU device that runs GPU-shaped kernels."""

import numpy as np
import pyopencl as cl

SOURCE = r"""
__kernel void matmul(__global const float* a, __global const float* b, __global float* c, int n) {
    int i = get_global_id(0), j = get_global_id(1);
    if (i < n && j < n) {
        float t = 0;
        for (int k = 0; k < n; ++k) t += a[i * n + k] * b[k * n + j];
        c[i * n + j] = t;
    }
}

#define TILE 16
__kernel void tiled(__global const float* a, __global const float* b, __global float* c, int n) {
    __local float s[TILE][TILE], t[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1);
    int i = get_global_id(1), j = get_global_id(0);
    float sum = 0;
    for (int m = 0; m < n / TILE; ++m) {
        s[y][x] = a[i * n + m * TILE + x];
        t[y][x] = b[(m * TILE + y) * n + j];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; ++k) sum += s[y][k] * t[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[i * n + j] = sum;
}

#define BLOCK 256
__kernel void block_sum(__global const float* x, __global float* partial, int n) {
    __local float s[BLOCK];
    int t = get_local_id(0), i = get_global_id(0);
    s[t] = i < n ? x[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = BLOCK / 2; half_size > 0; half_size /= 2) {
        if (t < half_size) s[t] += s[t + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) partial[get_group_id(0)] = s[0];
}
"""


class Pocl:
    """pocl's CPU device with arrays uploaded before the clock starts."""

    def __init__(self):
        platform = next(p for p in cl.get_platforms() if "Portable Computing" in p.name)
        self.context = cl.Context(platform.get_devices())
        self.queue = cl.CommandQueue(self.context)
        self.program = cl.Program(self.context, SOURCE).build()
        self.version = platform.version

    def upload(self, array: np.ndarray) -> cl.Buffer:
        flags = cl.mem_flags
        return cl.Buffer(self.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=array)

    def download(self, buffer: cl.Buffer, like: np.ndarray) -> np.ndarray:
        out = np.empty_like(like)
        cl.enqueue_copy(self.queue, out, buffer)
        return out

    def caller(self, name: str, grid: tuple, block: tuple, *arguments):
        """A call that launches and waits; made once, so that no set-up is measured."""
        kernel = cl.Kernel(self.program, name)
        kernel.set_args(*arguments)

        def call(keep_alive=arguments):  # a kernel does not own its buffers
            cl.enqueue_nd_range_kernel(self.queue, kernel, grid, block)
            self.queue.finish()

        return call
