#include "teaching.cuh"

static __device__ int steps(double cr, double ci, int most) {
    double zr = 0, zi = 0;
    for (int n = 0; n < most; ++n) {
        const double r = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = r;
        if (zr * zr + zi * zi >= 4) return n;
    }
    return most;
}

static __global__ void kernel(unsigned char* image, int height, int width, double left, double top, double dx, double dy,
                              int most) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y < height && x < width) image[y * width + x] = steps(left + x * dx, top + y * dy, most);
}

TEACHING(mandelbrot) {
    const int height = a[0].length(0), width = a[0].length(1);
    kernel<<<dim3(blocks_for(width, 32), blocks_for(height, 8)), dim3(32, 8), 0, stream>>>(
        a[0], height, width, a[1].value, a[2].value, a[3].value, a[4].value, static_cast<int>(a[5].value));
}
