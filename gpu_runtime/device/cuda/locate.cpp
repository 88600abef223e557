#include "device/cuda/locate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/settings.hpp"

namespace xcuda::device::cuda {

namespace fs = std::filesystem;

namespace {

constexpr int majors[] = {13, 12};
// Libraries whose soname's number is not that of their CUDA.
struct Soname {
    const char* stem;
    int behind;
};
constexpr Soname sonames[] = {{"cufft", 1}, {"cusolver", 1}};

int behind(const std::string& stem) {
    for (const Soname& each : sonames)
        if (stem == each.stem) return each.behind;
    return 0;
}

std::string soname(const std::string& stem, int cuda) {
    return fmt::format("lib{}.so.{}", stem, cuda - behind(stem));
}

// Of CUDA 12 the wheel that a library is in, where it has none of its own name.
std::string wheel_of(const std::string& stem) { return stem == "cublasLt" ? "cublas" : stem; }

// Below a folder of site-packages: CUDA 13's wheels share one, those of CUDA 12 have one each.
constexpr const char* wheel_folders[] = {"nvidia/cu13", "nvidia/cuda_{}", "nvidia/{}"};

std::string environment(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value ? value : "";
}

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return text;
}

bool is_file(const fs::path& path) {
    std::error_code none;
    return fs::is_regular_file(path, none);
}

int major_of(const std::string& stem, const fs::path& file) {
    const std::string name = file.filename().string();
    const auto at = name.find(".so.");
    return at == std::string::npos ? 0 : std::atoi(name.c_str() + at + 4) + behind(stem);
}

struct Place {
    fs::path folder;
    std::string from;
};

std::vector<Place> library_places(const std::string& stem) {
    std::vector<Place> places;
    for (const fs::path& path : settings().python_paths)
        for (const char* below : wheel_folders)
            places.push_back(
                {path / fmt::format(fmt::runtime(below), wheel_of(stem)) / "lib", "a wheel of this Python"});
    if (const std::string conda = environment("CONDA_PREFIX"); !conda.empty()) {
        places.push_back({fs::path(conda) / "lib", "conda"});
        places.push_back({fs::path(conda) / "targets/x86_64-linux/lib", "conda"});
    }
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const std::string home = environment(variable); !home.empty())
            places.push_back({fs::path(home) / "lib64", std::string("the CUDA toolkit of ") + variable});
    places.push_back({"/usr/local/cuda/lib64", "the CUDA toolkit"});
    return places;
}

}  // namespace

std::string variable(const std::string& stem) { return "XCUDA_" + upper(stem); }

std::vector<Candidate> candidates(const std::string& stem) {
    std::vector<Candidate> found;
    const auto look_in = [&](const fs::path& folder, const std::string& from) {
        for (const int major : majors)
            if (const fs::path file = folder / soname(stem, major); is_file(file))
                found.push_back({file, from, major});
    };
    if (const std::string named = environment(variable(stem)); !named.empty()) {
        if (is_file(named))
            found.push_back({named, variable(stem), major_of(stem, named)});
        else
            look_in(named, variable(stem));
    }
    for (const Place& place : library_places(stem)) look_in(place.folder, place.from);
    for (const int major : majors) found.push_back({soname(stem, major), "the loader's path", major});
    return found;
}

std::vector<fs::path> nvtx_files() {
    std::vector<fs::path> found;
    std::vector<fs::path> folders;
    for (const fs::path& path : settings().python_paths) folders.push_back(path / "nvidia/nvtx/lib");
    for (const Place& place : library_places("nvtx")) folders.push_back(place.folder);
    folders.emplace_back();  // the loader's path
    for (const char* name : {"libnvtx3interop.so.1", "libnvToolsExt.so.1"})
        for (const fs::path& folder : folders)
            if (folder.empty() || is_file(folder / name)) found.push_back(folder / name);
    return found;
}

Candidate driver_file() {
    constexpr const char* name = "libcuda.so.1";
    const std::string named = environment("XCUDA_DRIVER");
    if (named.empty()) return {name, "the loader's path"};
    return {is_file(named) ? fs::path(named) : fs::path(named) / name, "XCUDA_DRIVER"};
}

std::string identity(const fs::path& file) {
    std::error_code error;
    const fs::path real = fs::canonical(file, error);
    if (error) return file.string();
    const auto size = fs::file_size(real, error);
    const auto time = fs::last_write_time(real, error).time_since_epoch().count();
    return fmt::format("{} {} {}", real.filename().string(), size, time);
}

std::vector<fs::path> header_folders(const fs::path& nvrtc) {
    std::vector<fs::path> roots;
    if (nvrtc.has_parent_path()) roots.push_back(nvrtc.parent_path().parent_path());
    for (const fs::path& path : settings().python_paths) {
        roots.push_back(path / "nvidia/cu13");
        for (const char* wheel : {"cuda_runtime", "cuda_nvrtc", "curand", "cuda_cccl"})
            roots.push_back(path / "nvidia" / wheel);
    }
    for (const char* variable : {"CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH"})
        if (const std::string home = environment(variable); !home.empty()) {
            roots.emplace_back(home);
            roots.push_back(fs::path(home) / "targets/x86_64-linux");
        }
    roots.emplace_back("/usr/local/cuda");
    std::vector<fs::path> found;
    std::error_code none;
    for (const fs::path& root : roots)
        for (const char* below : {"include", "include/cccl"})
            if (const fs::path folder = root / below;
                fs::is_directory(folder, none) && std::find(found.begin(), found.end(), folder) == found.end())
                found.push_back(folder);
    return found;
}

fs::path find_tool(const std::string& name) {
    std::vector<fs::path> folders;
    for (const fs::path& path : settings().python_paths) folders.push_back(path / "nvidia/cu13/bin");
    for (const char* variable : {"CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH"})
        if (const std::string home = environment(variable); !home.empty())
            folders.push_back(fs::path(home) / "bin");
    folders.emplace_back("/usr/local/cuda/bin");
    std::istringstream path(environment("PATH"));
    for (std::string each; std::getline(path, each, ':');)
        if (!each.empty()) folders.emplace_back(each);
    for (const fs::path& folder : folders)
        if (const fs::path file = folder / name; is_file(file) && access(file.c_str(), X_OK) == 0)
            return file;
    return {};
}

}  // namespace xcuda::device::cuda
