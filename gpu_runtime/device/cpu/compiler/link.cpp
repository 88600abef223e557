#include "device/cpu/compiler/link.hpp"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/DataExtractor.h>

#include <atomic>
#include <memory>
#include <utility>

namespace xcuda::device::cpu {

namespace {

thread_local std::string reported;

std::string words(llvm::Error error) { return llvm::toString(std::move(error)); }

/// The process' one linker; never destroyed, as kernels may still run while the process ends.
struct Linker {
    std::unique_ptr<llvm::orc::ExecutionSession> session;
    std::unique_ptr<llvm::orc::ObjectLinkingLayer> layer;
    std::atomic<std::uint64_t> count{0};
};

Linker& linker() {
    static Linker* made = [] {
        auto* fresh = new Linker;
        auto control = llvm::cantFail(llvm::orc::SelfExecutorProcessControl::Create(
            nullptr, std::make_unique<llvm::orc::InPlaceTaskDispatcher>()));
        fresh->session = std::make_unique<llvm::orc::ExecutionSession>(std::move(control));
        // Says which symbols are missing, which the failed look-up does not. Linking runs on the caller's
        // thread.
        fresh->session->setErrorReporter(
            [](llvm::Error error) { reported += words(std::move(error)) + "; "; });
        fresh->layer = std::make_unique<llvm::orc::ObjectLinkingLayer>(*fresh->session);
        return fresh;
    }();
    return *made;
}

/// Looks undefined symbols up where the runtime says: libm, libmvec, memcpy and its own helpers.
class Resolver : public llvm::orc::DefinitionGenerator {
public:
    explicit Resolver(void* (*resolve)(const char*)) : resolve_(resolve) {}

    llvm::Error tryToGenerate(llvm::orc::LookupState&, llvm::orc::LookupKind, llvm::orc::JITDylib& library,
                              llvm::orc::JITDylibLookupFlags,
                              const llvm::orc::SymbolLookupSet& wanted) override {
        llvm::orc::SymbolMap found;
        for (const auto& [name, flags] : wanted)
            if (void* address = resolve_((*name).str().c_str()))
                found[name] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
        return found.empty() ? llvm::Error::success()
                             : library.define(llvm::orc::absoluteSymbols(std::move(found)));
    }

private:
    void* (*resolve_)(const char*);
};

/// Section .stack_sizes: an address (filled by the linker, zero here) and a ULEB128 size for each function.
std::size_t stack_bytes(const llvm::object::ObjectFile& object) {
    std::size_t sum = 0;
    for (const llvm::object::SectionRef& section : object.sections()) {
        auto name = section.getName();
        if (!name) llvm::consumeError(name.takeError());
        if (!name || *name != ".stack_sizes") continue;
        auto contents = section.getContents();
        if (!contents) llvm::consumeError(contents.takeError());
        if (!contents) continue;
        const llvm::DataExtractor data(*contents, true, 8);
        for (std::uint64_t at = 0; data.isValidOffsetForAddress(at);) {
            data.getAddress(&at);
            sum += data.getULEB128(&at) + 16;  // the return address, and alignment
        }
    }
    return sum;
}

}  // namespace

bool link(const LoadRequest& request, LoadedObject& loaded, std::string& log) {
    const llvm::StringRef bytes(request.object, request.object_bytes);
    auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, request.entry));
    if (!object) {
        log = words(object.takeError());
        return false;
    }
    Linker& all = linker();
    auto& session = *all.session;
    auto& library = session.createBareJITDylib("kernel" + std::to_string(all.count++));
    library.addGenerator(std::make_unique<Resolver>(request.resolve));
    auto fail = [&](llvm::Error error) {
        log = std::exchange(reported, {}) + words(std::move(error));
        llvm::consumeError(session.removeJITDylib(library));
        return false;
    };
    if (auto error = all.layer->add(library, llvm::MemoryBuffer::getMemBufferCopy(bytes, request.entry)))
        return fail(std::move(error));
    const std::string entry = request.entry;
    using Flags = llvm::orc::SymbolLookupFlags;
    llvm::orc::SymbolLookupSet names;
    const auto symbol = [&](const char* suffix, Flags flags = Flags::WeaklyReferencedSymbol) {
        const auto name = session.intern(entry + suffix);
        names.add(name, flags);
        return name;
    };
    const auto run = symbol("", Flags::RequiredSymbol), units = symbol("_units"),
               shared = symbol("_shared_bytes");
    const auto cut = symbol("_cut"), domain = symbol("_domain"), tiles = symbol("_tiles");
    auto found =
        session.lookup({{&library, llvm::orc::JITDylibLookupFlags::MatchAllSymbols}}, std::move(names));
    if (!found) return fail(found.takeError());
    const auto address = [&](const llvm::orc::SymbolStringPtr& name) -> void* {
        const auto at = found->find(name);
        return at == found->end() ? nullptr : at->second.getAddress().toPtr<void*>();
    };
    loaded = {&library,        address(run),   address(units),  address(cut),
              address(domain), address(tiles), address(shared), stack_bytes(**object)};
    return true;
}

void unlink(void* handle) {
    llvm::consumeError(linker().session->removeJITDylib(*static_cast<llvm::orc::JITDylib*>(handle)));
}

}  // namespace xcuda::device::cpu
