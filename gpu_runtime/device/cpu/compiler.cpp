#include "device/cpu/compiler.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "device/cpu/compiler/abi.hpp"
#include "device/cpu/host.hpp"

namespace xcuda::device::cpu {

namespace {

constexpr std::size_t unsaid_shared_bytes =
    256 * 1024;  // the most a block may have; untouched pages cost nothing

struct Module {
    decltype(&xcuda_cpu_jit_compile) compile;
    decltype(&xcuda_cpu_jit_load) load;
    decltype(&xcuda_cpu_jit_unload) unload;
};

std::filesystem::path module_path() {
    if (!settings().cpu_compiler.empty()) return settings().cpu_compiler;
    Dl_info here{};
    dladdr(reinterpret_cast<void*>(&module_path), &here);
    return std::filesystem::path(here.dli_fname ? here.dli_fname : "").parent_path() / "libxcuda_cpu_jit.so";
}

[[noreturn]] void module_missing(const std::string& why) {
    throw missing(
        fmt::format("the CPU compiler, libxcuda_cpu_jit.so ({})", why),
        "reinstall xcuda (pip install --force-reinstall xcuda), or build it with -DXCUDA_CPU_DEVICE=ON; "
        "XCUDA_CPU_COMPILER may name the file");
}

Module open_module() {
    const std::string path = module_path().string();
    // Local, and its own LLVM is hidden: numba's and torch's stay theirs.
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) module_missing(dlerror());
    const auto symbol = [&]<class F>(F*& function, const char* name) {
        function = reinterpret_cast<F*>(dlsym(handle, name));
        if (!function) module_missing(fmt::format("{} has no {}", path, name));
    };
    decltype(&xcuda_cpu_jit_abi) abi = nullptr;
    symbol(abi, "xcuda_cpu_jit_abi");
    if (abi() != compiler_abi) module_missing(fmt::format("{} is of another version of xcuda", path));
    Module module{};
    symbol(module.compile, "xcuda_cpu_jit_compile");
    symbol(module.load, "xcuda_cpu_jit_load");
    symbol(module.unload, "xcuda_cpu_jit_unload");
    return module;
}

const Module& module() {
    static const Module opened = open_module();  // a failure is tried again at the next call
    return opened;
}

/// What kernels may call: the C library's math, its vector versions, and memcpy and friends. From the
/// libraries by name, so that nothing else in the process that defines such a name is met.
void* resolve(const char* symbol) {
    static const std::array<void*, 3> libraries{dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL),
                                                dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL),
                                                dlopen("libc.so.6", RTLD_NOW | RTLD_LOCAL)};
    for (void* library : libraries)
        if (library)
            if (void* address = dlsym(library, symbol)) return address;
    return nullptr;
}

struct Made {
    std::string object, assembly, log;
};

void keep(void* context, Output kind, const char* data, std::size_t bytes) {
    auto& made = *static_cast<Made*>(context);
    (kind == Output::object     ? made.object
     : kind == Output::assembly ? made.assembly
                                : made.log)
        .assign(data, bytes);
}

Made make(const Source& source, Output want) {
    Made made;
    const CompileRequest request{source.text.data(), source.text.size(), source.options.c_str(), want};
    if (module().compile(&request, keep, &made) != 0)
        throw bug(fmt::format("the CPU compiler refused the text made for {}:\n{}", source.entry, made.log));
    return made;
}

}  // namespace

std::string toolchain() {
    static const std::string text = fmt::format("clang {}, {} {}, abi {}", XCUDA_LLVM_VERSION,
                                                host_info().architecture, features_hash(), kernel_abi);
    return text;
}

Image compile(const Source& source) {
    Made made = make(source, Output::object);
    Image image;
    image.bytes.resize(made.object.size());
    std::copy_n(reinterpret_cast<const std::byte*>(made.object.data()), made.object.size(),
                image.bytes.begin());
    image.entry = source.entry;
    image.log = std::move(made.log);
    return image;
}

std::string assembly(const Source& source) { return make(source, Output::assembly).assembly; }

Kernel::Kernel(const Image& image) {
    const LoadRequest request{reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size(),
                              image.entry.c_str(), resolve};
    LoadedObject loaded{};
    Made made;
    if (module().load(&request, &loaded, keep, &made) != 0)
        throw bug(fmt::format("the kernel {} can't be linked: {}", image.entry, made.log));
    handle_ = loaded.handle;
    cut = static_cast<const Cut*>(loaded.cut);
    if (cut) {
        threads = reinterpret_cast<BoxFunction>(loaded.run);
        domain = reinterpret_cast<DomainFunction>(loaded.domain);
        tiles = reinterpret_cast<TilesFunction>(loaded.tiles);
    } else {
        run = reinterpret_cast<RunFunction>(loaded.run);
    }
    units = reinterpret_cast<UnitsFunction>(loaded.units);
    frame_bytes = loaded.stack_bytes;
    if (loaded.shared_bytes)
        shared_bytes = static_cast<std::size_t>(*static_cast<SharedBytes>(loaded.shared_bytes));
    else
        shared_bytes = static_cast<std::size_t>(image.attributes.shared_bytes.value_or(unsaid_shared_bytes));
}

Kernel::~Kernel() { module().unload(handle_); }

}  // namespace xcuda::device::cpu
