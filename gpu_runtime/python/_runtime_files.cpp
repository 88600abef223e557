#include "_runtime_files.hpp"

#include <nanobind/stl/string.h>

#include <map>
#include <vector>

#include "_runtime_inspect.hpp"
#include "_runtime_kernel.hpp"
#include "launch/cache.hpp"
#include "launch/image_file.hpp"
#include "launch/target.hpp"
#include "python/gil.hpp"

namespace xcuda::python {
namespace {

nb::dict row(const std::string& key, const device::Image& image, const std::string& signature,
             const std::string& target) {
    const std::string bytes = launch::to_file(image);
    nb::dict out;
    out["key"] = key;
    out["image"] = nb::bytes(bytes.data(), bytes.size());
    out["signature"] = signature;
    out["target"] = target;
    return out;
}

// Every compiled version of a kernel.
nb::list images(nb::handle kernel) {
    const KernelState& k = state_of(kernel);
    nb::list out;
    if (!k.program) return out;
    for (const auto& s : k.program->specialisations()) {
        const device::Source source{s->text.source, s->text.entry, s->options};
        device::Image image;
        {
            Released released;
            image = launch::image_of(*s->device, source);
        }
        out.append(row(launch::portable_key(*s->device, source), image, s->facts->signature,
                       s->device->info().architecture));
    }
    return out;
}

// Types as a user writes them say nothing of alignment, which calls differ in.
std::vector<launch::Signature> signatures_for(const KernelState& k, nb::handle types) {
    const launch::Signature plain = signature_from(types);
    if (plain.size() != k.parameters.size())
        raise("TypeError", k.name + " takes " + std::to_string(k.parameters.size()) +
                               " arguments, the signature has " + std::to_string(plain.size()));
    launch::Signature aligned;
    for (const launch::Key key : plain) {
        ir::Type type = launch::type_of(key);
        type.aligned = type.is_array();
        aligned.push_back(launch::key(type));
    }
    return {plain, aligned};
}

// For a GPU that need not be here: as launched with a shape, and without.
nb::list images_for(nb::handle kernel, nb::handle types, const std::string& target) {
    KernelState& k = state_of(kernel);
    k.current_program();
    const auto program = k.program;
    std::map<std::string, launch::Targeted> found;  // by key: some are the same text
    std::string text;
    for (const launch::Signature& signature : signatures_for(k, types))
        for (const bool automatic : {false, true}) {
            Released released;
            launch::Targeted made =
                launch::compile_for(*program, *program->lower(signature), target, automatic);
            text = launch::to_string(signature);
            found.insert_or_assign(launch::portable_key(made.source, target), std::move(made));
        }
    nb::list out;
    for (const auto& [key, made] : found) out.append(row(key, made.image, text, target));
    return out;
}

// For the current device, as calls meet it. False where a block's shape is a part of the text.
bool compile_all(nb::handle kernel, nb::handle types) {
    KernelState& k = state_of(kernel);
    k.current_program();
    const auto program = k.program;
    const auto device = device_for(k);
    for (const launch::Signature& signature : signatures_for(k, types))
        for (const bool automatic : {false, true}) {
            Released released;
            const auto lowered = program->lower(signature);
            if (lowered->fixed_block && device->info().kind == "cpu") return false;
            program->specialise(lowered, device, std::nullopt, automatic);
        }
    return true;
}

// False where the bytes are damaged.
bool preload(const std::string& key, nb::bytes bytes) {
    auto image = launch::from_file({bytes.c_str(), bytes.size()});
    if (!image) return false;
    launch::preload(key, std::move(*image));
    return true;
}

}  // namespace

void bind_files(nb::module_& module) {
    module.def("images", &images, nb::arg("kernel"));
    module.def("compile_all", &compile_all, nb::arg("kernel"), nb::arg("types"));
    module.def("images_for", &images_for, nb::arg("kernel"), nb::arg("types"), nb::arg("target"));
    module.def("preload", &preload, nb::arg("key"), nb::arg("image"));
}

}  // namespace xcuda::python
