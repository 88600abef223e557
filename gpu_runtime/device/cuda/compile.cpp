#include "device/cuda/compile.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "device/cuda/cubin.hpp"
#include "device/cuda/driver.hpp"
#include "device/cuda/locate.hpp"
#include "device/cuda/nvrtc.hpp"

namespace xcuda::device::cuda {

namespace {

constexpr int options_version = 3;   // rises when options_for changes: part of every cache key
constexpr int minimal_from = 12080;  // --minimal is known from CUDA 12.8 on
// From CUDA 12.9 on NVRTC answers out of a cache in the driver: with no log then, which tells of spills, and on an H200
// fast math's compile of a text came back as the exact one's. Ours is kept by every option.
constexpr int caching_from = 12090;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// More options for NVRTC, to try things out.
std::string extra_options() { return environment("XCUDA_NVRTC_OPTIONS"); }

int number_of(const std::string& architecture) {
    const int number = architecture.starts_with("sm_") ? std::atoi(architecture.c_str() + 3) : 0;
    if (number < 50)
        throw Error(Fault::user, "ValueError",
                    fmt::format("\"{}\" is no GPU architecture; write sm_80, sm_90, sm_100 and the like",
                                architecture));
    return number;
}

struct Target {
    int number = 0;      // what NVRTC compiles for
    bool native = true;  // its cubin runs on the architecture wanted; else its PTX does, through the driver
};

/// A cubin runs on its own architecture and on later minor versions of it.
Target target_for(const std::string& architecture) {
    const int wanted = number_of(architecture);
    Target best;
    for (const int known : nvrtc().architectures)
        if (known <= wanted) best = {known, known / 10 == wanted / 10};
    if (best.number == 0) {
        const auto& all = nvrtc().architectures;
        throw Error(Fault::machine, "RuntimeError",
                    fmt::format("NVRTC {} compiles for sm_{} and later, not for {}",
                                version_text(nvrtc().version), all.empty() ? 0 : all.front(), architecture),
                    std::nullopt, "install an older NVRTC: pip install nvidia-cuda-nvrtc-cu12");
    }
    return best;
}

// Holds the user's own CUDA C++, which the emitter puts first and under its own name.
bool is_foreign(const Source& source) { return source.text.starts_with("#line "); }

// Calls instructions of one architecture alone (prelude_flows.hpp, prelude_tensors.hpp): sm_90a, not sm_90.
bool is_specific(const Source& source) {
    constexpr std::string_view calls[] = {"xc_tile_wgmma", "xc_tile_flow_take<", "xc_tile_tensor_"};
    return std::any_of(std::begin(calls), std::end(calls),
                       [&](std::string_view call) { return source.text.find(call) != std::string::npos; });
}

std::vector<std::string> options_for(const Source& source, const Target& target) {
    std::vector<std::string> options{
        fmt::format("--gpu-architecture={}_{}{}", target.native ? "sm" : "compute", target.number,
                    is_specific(source) ? "a" : ""),
        "--std=c++17",
        "-default-device",
        "-lineinfo",
        "-w",
        "--ptxas-options=-v"};
    if (nvrtc().version >= caching_from) options.emplace_back("--no-cache");
    if (is_foreign(source))
        for (const std::filesystem::path& folder : header_folders(nvrtc_file().file))
            options.push_back("-I" + folder.string());
    else if (nvrtc().version >= minimal_from)
        options.emplace_back("--minimal");
    std::istringstream words(source.options);
    for (std::string word; words >> word;) {
        if (word == "fastmath") {
            options.emplace_back("--use_fast_math");
            options.emplace_back("-DXC_FAST_MATH");
        }
        if (word == "nofma") options.emplace_back("--fmad=false");
        if (word == "unoptimised") options.emplace_back("--ptxas-options=-O0");
        if (word.starts_with("registers=")) options.push_back("--maxrregcount=" + word.substr(10));
    }
    std::istringstream more(extra_options());
    for (std::string each; more >> each;) options.push_back(each);
    return options;
}

struct Program {
    nvrtcProgram handle = nullptr;
    ~Program() {
        if (handle) nvrtc().nvrtcDestroyProgram(&handle);
    }
    std::string log() const {
        std::size_t size = 0;
        if (nvrtc().nvrtcGetProgramLogSize(handle, &size) != NVRTC_SUCCESS || size <= 1) return {};
        std::string text(size, '\0');
        nvrtc().nvrtcGetProgramLog(handle, text.data());
        text.pop_back();
        return text;
    }
    std::string output(bool cubin) const {
        const Nvrtc& n = nvrtc();
        std::size_t size = 0;
        (cubin ? n.nvrtcGetCUBINSize : n.nvrtcGetPTXSize)(handle, &size);
        std::string bytes(size, '\0');
        if (size > 0) (cubin ? n.nvrtcGetCUBIN : n.nvrtcGetPTX)(handle, bytes.data());
        return bytes;
    }
};

[[noreturn]] void failed(const Source& source, nvrtcResult result, const std::string& log) {
    if (const auto at = log.find("uses too much shared data"); at != std::string::npos)
        throw Error(
            Fault::user, "ValueError",
            fmt::format("{}'s helper functions want more shared memory than a block can declare, 48 KiB",
                        source.entry),
            std::nullopt, "make large shared arrays in the kernel and pass them to the helpers");
    if (is_foreign(source))
        throw Error(
            Fault::user, "RuntimeError",
            fmt::format("the CUDA C++ that {} is linked with does not compile:\n{}", source.entry, log),
            std::nullopt, "the places are those of its own text; headers are looked for in the CUDA toolkit");
    throw bug(fmt::format("NVRTC refused the text made for {} ({}):\n{}", source.entry,
                          nvrtc().nvrtcGetErrorString(result), log));
}

void compile_into(Program& program, const Source& source, const Target& target) {
    const Nvrtc& n = nvrtc();
    const std::string file = source.entry + ".cu";
    nvrtcResult result =
        n.nvrtcCreateProgram(&program.handle, source.text.c_str(), file.c_str(), 0, nullptr, nullptr);
    if (result != NVRTC_SUCCESS) failed(source, result, {});
    const std::vector<std::string> options = options_for(source, target);
    std::vector<const char*> raw;
    for (const std::string& option : options) raw.push_back(option.c_str());
    result = n.nvrtcCompileProgram(program.handle, static_cast<int>(raw.size()), raw.data());
    if (result != NVRTC_SUCCESS) failed(source, result, program.log());
}

/// PTX through the driver's compiler, for the device of the current context.
std::string link(const std::string& ptx, const Source& source) {
    const Driver& d = driver();
    char log[4096] = {};
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    CUlinkState state = nullptr;
    check(d.cuLinkCreate(2, options, values, &state), "starting the driver's compiler");
    void* cubin = nullptr;
    std::size_t size = 0;
    CUresult result = d.cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(ptx.c_str()), ptx.size() + 1,
                                      source.entry.c_str(), 0, nullptr, nullptr);
    if (result == CUDA_SUCCESS) result = d.cuLinkComplete(state, &cubin, &size);
    std::string bytes;
    if (result == CUDA_SUCCESS) bytes.assign(static_cast<const char*>(cubin), size);
    d.cuLinkDestroy(state);
    if (result != CUDA_SUCCESS) {
        Error error = driver_error(result, "compiling PTX");
        throw Error(error.fault, error.python_type, fmt::format("{}\n{}", error.what(), log), error.place,
                    error.hint);
    }
    return bytes;
}

Image image_of(const std::string& cubin, const Source& source, std::string log) {
    Image image;
    image.bytes.resize(cubin.size());
    std::copy_n(reinterpret_cast<const std::byte*>(cubin.data()), cubin.size(), image.bytes.begin());
    image.entry = source.entry;
    image.attributes = cubin_attributes(image.bytes, source.entry);
    image.log = std::move(log);
    return image;
}

/// What a program prints about a cubin; empty where it fails.
std::string disassembled(const std::string& cubin) {
    std::filesystem::path tool = find_tool("nvdisasm");
    const char* options = "-c";
    if (tool.empty()) tool = find_tool("cuobjdump"), options = "-sass";
    if (tool.empty()) return {};
    std::string name = (std::filesystem::temp_directory_path() / "xcuda-XXXXXX").string();
    const int file = mkstemp(name.data());
    if (file < 0) return {};
    close(file);
    std::ofstream(name, std::ios::binary) << cubin;
    std::string text;
    if (FILE* pipe =
            popen(fmt::format("'{}' {} '{}' 2>/dev/null", tool.string(), options, name).c_str(), "r")) {
        char part[4096];
        for (std::size_t n; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
        if (pclose(pipe) != 0) text.clear();
    }
    unlink(name.c_str());
    return text;
}

}  // namespace

std::string toolchain(const std::string& architecture) {
    const Candidate file = nvrtc_file();
    const Driver* d = find_driver();
    return fmt::format("NVRTC {}, driver {}, {}, options {} {} {}", identity(file.file),
                       d ? version_text(d->version) : "none", architecture, options_version, extra_options(),
                       environment("NVRTC_APPEND_FLAGS"));  // NVRTC reads it by itself
}

Image compile(const Source& source, const std::string& architecture) {
    const Target target = target_for(architecture);
    Program program;
    compile_into(program, source, target);
    if (target.native) return image_of(program.output(true), source, program.log());
    return image_of(link(program.output(false), source), source, program.log());
}

std::string ptx(const Source& source, const std::string& architecture) {
    Target target = target_for(architecture);
    target.native = false;
    Program program;
    compile_into(program, source, target);
    std::string text = program.output(false);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
}

std::string assembly(const Source& source, const std::string& architecture) {
    const Target target = target_for(architecture);
    Program program;
    compile_into(program, source, target);
    if (target.native)
        if (const std::string sass = disassembled(program.output(true)); !sass.empty())
            return fmt::format("// SASS for sm_{}\n{}", target.number, sass);
    return fmt::format(
        "// PTX for sm_{}; SASS needs nvdisasm or cuobjdump (pip install nvidia-cuda-cuobjdump)\n{}",
        target.number, program.output(false));
}

}  // namespace xcuda::device::cuda
