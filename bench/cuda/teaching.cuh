// What the teaching kernels in CUDA C++ share: how bench/gpu_teaching.py hands them their arguments.
#pragma once

#include <cuda_runtime.h>

/// One argument, in the order of the kernel's inputs() in tests/teaching: an array on the device, or a number.
struct Argument {
    void* data;
    long long shape[3];
    double value;

    template <class T>
    operator T*() const {
        return static_cast<T*>(data);
    }
    int length(int axis = 0) const { return static_cast<int>(shape[axis]); }
};

/// Each kernel's launches, as tests/teaching has them: `NAME(arguments, stream)`.
#define TEACHING(name) extern "C" void name(const Argument* a, cudaStream_t stream)

constexpr int blocks_for(int n, int block) { return (n + block - 1) / block; }
