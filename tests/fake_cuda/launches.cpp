#include "launches.hpp"

#include <elf.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sstream>

#include "profiling.hpp"

using namespace fake;

namespace {

std::atomic<LaunchCall> launch_call{nullptr};

// device/cuda/faults.hpp's FaultSlot, as kernels see it through their last parameter.
struct Slot {
    std::int32_t site, kind;
    std::int64_t value[4];
    std::int32_t thread[3], block[3];
    std::int32_t taken;
    volatile std::int32_t stop;
};

/// The bytes of a section by name; empty where there is none.
std::string section(const std::string& image, const std::string& wanted) {
    Elf64_Ehdr head;
    if (image.size() < sizeof head || image.compare(0, 4, ELFMAG) != 0) return {};
    std::memcpy(&head, image.data(), sizeof head);
    std::vector<Elf64_Shdr> sections(head.e_shnum);
    if (head.e_shoff + sections.size() * sizeof(Elf64_Shdr) > image.size()) return {};
    std::memcpy(sections.data(), image.data() + head.e_shoff, sections.size() * sizeof(Elf64_Shdr));
    const Elf64_Shdr& names = sections[head.e_shstrndx];
    for (const Elf64_Shdr& each : sections)
        if (wanted == image.data() + names.sh_offset + each.sh_name)
            return each.sh_type == SHT_NOBITS ? std::string() : image.substr(each.sh_offset, each.sh_size);
    return {};
}

/// How long an image is: the driver is given its address only.
std::string whole(const void* image) {
    const auto* bytes = static_cast<const char*>(image);
    if (std::memcmp(bytes, ELFMAG, SELFMAG) != 0) return bytes;  // PTX
    Elf64_Ehdr head;
    std::memcpy(&head, bytes, sizeof head);
    std::size_t end = head.e_shoff + std::size_t{head.e_shnum} * sizeof(Elf64_Shdr);
    end = std::max<std::size_t>(end, head.e_phoff + std::size_t{head.e_phnum} * sizeof(Elf64_Phdr));
    for (int i = 0; i < head.e_shnum; ++i) {
        Elf64_Shdr each;
        std::memcpy(&each, bytes + head.e_shoff + static_cast<std::size_t>(i) * sizeof each, sizeof each);
        if (each.sh_type != SHT_NOBITS) end = std::max<std::size_t>(end, each.sh_offset + each.sh_size);
    }
    return {bytes, end};
}

void note(const std::string& name, const std::array<unsigned, 6>& shape, unsigned shared,
          const std::string& parameters) {
    std::ostringstream line;
    line << name;
    for (const unsigned n : shape) line << ' ' << n;
    line << ' ' << shared << ' ';
    for (const char c : parameters) {
        constexpr char digits[] = "0123456789abcdef";
        line << digits[static_cast<unsigned char>(c) >> 4] << digits[c & 15];
    }
    line << '\n';
    state().launches += line.str();
    ++state().launch_count;
}

/// What the kernel "does", in stream order.
void run(Context* context, const std::string& name, const std::array<unsigned, 6>& shape, unsigned shared,
         std::string parameters) {
    {
        State& s = state();
        const std::lock_guard lock(s.mutex);
        note(name, shape, shared, parameters);
        if (s.options.break_at_launch != 0) {
            context->broken = static_cast<CUresult>(s.options.break_at_launch);
            s.options.break_at_launch = 0;
            return;
        }
        if (s.options.fault_kind != 0 && parameters.size() >= sizeof(void*)) {
            Slot* slot = nullptr;
            std::memcpy(&slot, parameters.data() + parameters.size() - sizeof slot, sizeof slot);
            slot->site = static_cast<std::int32_t>(s.options.fault_site);
            slot->kind = static_cast<std::int32_t>(s.options.fault_kind);
            slot->value[0] = s.options.fault_index;
            slot->value[1] = s.options.fault_length;
            std::memset(slot->thread, 0, sizeof slot->thread);
            std::memset(slot->block, 0, sizeof slot->block);
            slot->taken = 1;
            s.options.fault_kind = 0;
        }
    }
    if (const LaunchCall call = launch_call.load())
        call(name.c_str(), shape.data(), parameters.data(), parameters.size());
}

Function* function_of(CUfunction handle) {
    const auto at = state().functions.find(reinterpret_cast<Function*>(handle));
    return at == state().functions.end() ? nullptr : at->second.get();
}

}  // namespace

namespace fake {

void on_launch(LaunchCall call) { launch_call = call; }

// Of the parameters themselves: their bank has a gap before one that is aligned to more than it is.
std::size_t parameter_bytes(const std::string& image, const std::string& kernel) {
    constexpr unsigned char sized = 4, parameter = 0x17;  // (index, ordinal, offset, flags and size)
    const std::string info = section(image, ".nv.info." + kernel);
    std::size_t bytes = 0;
    for (std::size_t at = 0; at + 4 <= info.size();) {
        std::uint16_t length = 0;
        std::memcpy(&length, info.data() + at + 2, sizeof length);
        if (static_cast<unsigned char>(info[at]) != sized) length = 0;
        if (static_cast<unsigned char>(info[at + 1]) == parameter && length >= 12 &&
            at + 4u + length <= info.size()) {
            std::uint32_t figures = 0;
            std::memcpy(&figures, info.data() + at + 4 + 8, sizeof figures);
            bytes += figures >> 18;
        }
        at += 4u + length;
    }
    return bytes;
}

bool has_kernel(const std::string& image, const std::string& kernel) {
    if (image.compare(0, 4, ELFMAG) == 0) return !section(image, ".text." + kernel).empty();
    return image.find(".entry " + kernel) != std::string::npos;
}

}  // namespace fake

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    return enter("cuModuleLoadData", Needs::context, [&] {
        auto made = std::make_unique<Module>(Module{current(), whole(image)});
        *module = reinterpret_cast<CUmodule>(made.get());
        state().modules[made.get()] = std::move(made);
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleUnload(CUmodule module) {
    return enter("cuModuleUnload", Needs::context, [&] {
        auto* held = reinterpret_cast<Module*>(module);
        if (!state().modules.contains(held)) return CUDA_ERROR_INVALID_HANDLE;
        std::erase_if(state().functions, [&](const auto& each) { return each.second->module == held; });
        state().modules.erase(held);
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
    return enter("cuModuleGetFunction", Needs::context, [&] {
        auto* held = reinterpret_cast<Module*>(module);
        if (!state().modules.contains(held)) return CUDA_ERROR_INVALID_HANDLE;
        if (!has_kernel(held->image, name)) return CUDA_ERROR_NOT_FOUND;
        auto made = std::make_unique<Function>();
        made->module = held;
        made->name = name;
        made->parameter_bytes = parameter_bytes(held->image, name);
        *function = reinterpret_cast<CUfunction>(made.get());
        state().functions[made.get()] = std::move(made);
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction function) {
    return enter("cuFuncGetAttribute", Needs::context, [&] {
        const Function* f = function_of(function);
        if (!f) return CUDA_ERROR_INVALID_HANDLE;
        switch (which) {
            case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
            case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 32; break;
            case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = f->dynamic_shared; break;
            default: *value = 0;
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
    return enter("cuFuncSetAttribute", Needs::context, [&] {
        Function* f = function_of(function);
        if (!f) return CUDA_ERROR_INVALID_HANDLE;
        if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
            if (value > 227 * 1024) return CUDA_ERROR_INVALID_VALUE;
            f->dynamic_shared = value;
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream handle, void** parameters, void**) {
    if (state().options.idle) return CUDA_SUCCESS;
    return enter("cuLaunchKernel", Needs::context, [&] {
        const Function* f = function_of(function);
        Stream* stream = stream_of(handle);
        if (!f || !stream) return CUDA_ERROR_INVALID_HANDLE;
        if (gx == 0 || gy == 0 || gz == 0 || gy > 65535 || gz > 65535 || bx == 0 || by == 0 || bz == 0 ||
            bz > 64 || std::uint64_t{bx} * by * bz > 1024 || static_cast<int>(shared) > f->dynamic_shared)
            return CUDA_ERROR_INVALID_VALUE;
        // One struct, then the fault record's address.
        std::string packed;
        if (f->parameter_bytes > sizeof(void*)) {
            packed.assign(static_cast<const char*>(parameters[0]), f->parameter_bytes - sizeof(void*));
            packed.append(static_cast<const char*>(parameters[1]), sizeof(void*));
        }
        const std::array<unsigned, 6> shape{gx, gy, gz, bx, by, bz};
        add(*stream,
            [context = stream->context, name = f->name, shape, shared, packed, stream, call = call_number()] {
                const double begin = now();
                run(context, name, shape, shared, packed);
                profile_kernel({call, context, stream, begin, now()}, name, shape, shared);
            });
        return CUDA_SUCCESS;
    });
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream handle,
                                   void** parameters) {
    return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, handle, parameters, nullptr);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t) {
    return enter("cuOccupancyMaxActiveBlocksPerMultiprocessor", Needs::context, [&] {
        if (!function_of(function)) return CUDA_ERROR_INVALID_HANDLE;
        *blocks = 2048 / threads;
        return CUDA_SUCCESS;
    });
}

// What the copy engine asks of an array; the map is then its figures, for tests to read.
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t axes, void* address,
                                const cuuint64_t* lengths, const cuuint64_t* steps, const cuuint32_t* box,
                                const cuuint32_t* every, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
    return enter("cuTensorMapEncodeTiled", Needs::driver, [&] {
        const bool one = type == CU_TENSOR_MAP_DATA_TYPE_UINT8;
        const bool two = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 || type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
        const std::uint64_t size = one ? 1 : two ? 2 : 4;
        bool well = reinterpret_cast<std::uintptr_t>(map) % 64 == 0 && axes >= 1 && axes <= 5 &&
                    reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
        for (cuuint32_t i = 0; well && i < axes; ++i) {
            well = lengths[i] >= 1 && lengths[i] <= (std::uint64_t{1} << 32) && box[i] >= 1 &&
                   box[i] <= 256 && every[i] >= 1 && every[i] <= 8;
            if (well && i > 0) well = steps[i - 1] % 16 == 0 && steps[i - 1] < (std::uint64_t{1} << 40);
        }
        if (well && swizzle == CU_TENSOR_MAP_SWIZZLE_128B) well = box[0] * size <= 128;
        if (!well || (box[0] * size) % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
        std::memset(map, 0, sizeof *map);
        map->opaque[0] = reinterpret_cast<std::uintptr_t>(address);
        for (cuuint32_t i = 0; i < axes; ++i) {
            map->opaque[1 + i] = lengths[i];
            map->opaque[6 + i] = box[i];
            if (i > 0) map->opaque[11 + i] = steps[i - 1];
        }
        return CUDA_SUCCESS;
    });
}

// The driver's compiler: PTX becomes itself.
CUresult cuLinkCreate(unsigned, CUjit_option*, void**, CUlinkState* link) {
    return enter("cuLinkCreate", Needs::context, [&] {
        *link = reinterpret_cast<CUlinkState>(new std::string);
        return CUDA_SUCCESS;
    });
}

CUresult cuLinkAddData(CUlinkState link, CUjitInputType, void* data, std::size_t bytes, const char*, unsigned,
                       CUjit_option*, void**) {
    return enter("cuLinkAddData", Needs::context, [&] {
        reinterpret_cast<std::string*>(link)->assign(static_cast<const char*>(data), bytes);
        return CUDA_SUCCESS;
    });
}

CUresult cuLinkComplete(CUlinkState link, void** image, std::size_t* bytes) {
    return enter("cuLinkComplete", Needs::context, [&] {
        auto* made = reinterpret_cast<std::string*>(link);
        *image = made->data();
        *bytes = made->size();
        return CUDA_SUCCESS;
    });
}

CUresult cuLinkDestroy(CUlinkState link) {
    return enter("cuLinkDestroy", Needs::context, [&] {
        delete reinterpret_cast<std::string*>(link);
        return CUDA_SUCCESS;
    });
}
}
