// The module's doors: everything else in it is hidden.
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "base/export.hpp"
#include "device/cpu/compiler/abi.hpp"
#include "device/cpu/compiler/back.hpp"
#include "device/cpu/compiler/front.hpp"
#include "device/cpu/compiler/link.hpp"
#include "device/cpu/compiler/options.hpp"

using namespace xcuda::device::cpu;

extern "C" XCUDA_API int xcuda_cpu_jit_abi() { return compiler_abi; }

extern "C" XCUDA_API int xcuda_cpu_jit_compile(const CompileRequest* request, OutputSink sink,
                                               void* context) {
    std::string log, errors, out;
    const CompileOptions options = read_options(request->options);
    llvm::LLVMContext llvm_context;
    llvm_context.setDiscardValueNames(true);
    // Remarks on loops that stay scalar would go to the user's terminal.
    llvm_context.setDiagnosticHandlerCallBack(
        [](const llvm::DiagnosticInfo* found, void* to) {
            if (found->getSeverity() != llvm::DS_Error) return;
            llvm::raw_string_ostream stream(*static_cast<std::string*>(to));
            llvm::DiagnosticPrinterRawOStream printer(stream);
            found->print(printer);
        },
        &errors);
    const auto module = parse({request->text, request->text_bytes}, options, llvm_context, log);
    const bool made =
        module && generate(*module, options, request->want == Output::assembly, out, log) && errors.empty();
    if (made) sink(context, request->want, out.data(), out.size());
    log += errors;
    if (!log.empty()) sink(context, Output::log, log.data(), log.size());
    return made ? 0 : 1;
}

extern "C" XCUDA_API int xcuda_cpu_jit_load(const LoadRequest* request, LoadedObject* loaded, OutputSink sink,
                                            void* context) {
    std::string log;
    const bool linked = link(*request, *loaded, log);
    if (!linked) sink(context, Output::log, log.data(), log.size());
    return linked ? 0 : 1;
}

extern "C" XCUDA_API void xcuda_cpu_jit_unload(void* handle) { unlink(handle); }
