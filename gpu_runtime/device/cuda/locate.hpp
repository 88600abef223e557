// Where NVIDIA's libraries are looked for, in which order, and what is there. Nothing is opened for it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace xcuda::device::cuda {

/// A file that may be the library, or a bare soname for the system's loader to find.
struct Candidate {
    std::filesystem::path file;
    std::string
        from;  // "XCUDA_NVRTC", "a wheel of this Python", "conda", "the CUDA toolkit", "the loader's path"
    int major = 0;  // of CUDA, from the soname
};

/// Of `stem` ("nvrtc", "cufft"), best first: the environment's XCUDA_STEM (a file or its folder), the nvidia-* wheels of the
/// running Python, the conda prefix, the toolkit (CUDA_HOME, CUDA_PATH, /usr/local/cuda), the loader's path. Within a
/// place the newest CUDA comes first. Files exist; the loader's names are always there, last.
std::vector<Candidate> candidates(const std::string& stem);

/// The environment's variable that names the library: "XCUDA_NVRTC".
std::string variable(const std::string& stem);

/// Where NVTX's functions may be: CUDA 13's libnvtx3interop, CUDA 12's libnvToolsExt, last as the loader finds them.
std::vector<std::filesystem::path> nvtx_files();

/// The driver: the environment's XCUDA_DRIVER (a file or its folder), else libcuda.so.1 as the loader finds it.
Candidate driver_file();

/// A file's name with size and time: another file, or another version at its place, has another.
std::string identity(const std::filesystem::path& file);

/// A program of the toolkit ("nvdisasm", "cuobjdump"), from the same places and PATH; empty where there is none.
std::filesystem::path find_tool(const std::string& name);

}  // namespace xcuda::device::cuda
