#include "device/cpu/compiler/front.hpp"

#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/TargetInfo.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Parse/ParseAST.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/VirtualFileSystem.h>

#include "device/cpu/compiler/target.hpp"

namespace xcuda::device::cpu {

namespace {

std::vector<std::string> arguments(const CompileOptions& options) {
    const HostTarget& host = host_target();
    std::vector<std::string> words{
        "-triple",
        host.triple,
        "-target-cpu",
        host.processor,
        "-emit-llvm-only",
        "-x",
        "c++",
        "-std=gnu++20",
        "-O" + std::to_string(options.level),
        "-nostdsysteminc",
        "-nobuiltininc",
        "-fgnuc-version=4.2.1",
        "-fno-rtti",
        "-fno-threadsafe-statics",
        "-ffp-contract=on",
        "-relaxed-aliasing",
        "-fwrapv",
        "-mrelocation-model",
        "pic",
        "-pic-level",
        "2",
        "-mframe-pointer=none",
        "-fvisibility=hidden",
        "-vectorize-loops",
        "-vectorize-slp",
        "-mprefer-vector-width=" + std::to_string(host.vector_bits),
        "-main-file-name",
        "kernel.cpp",
        "-w",
        "-fno-spell-checking",
        "-ferror-limit",
        "20",
    };
    for (const std::string& feature : host.features) {
        words.push_back("-target-feature");
        words.push_back(feature);
    }
    words.insert(words.end(), options.clang_words.begin(), options.clang_words.end());
    return words;
}

}  // namespace

std::unique_ptr<llvm::Module> parse(std::string_view text, const CompileOptions& options,
                                    llvm::LLVMContext& context, std::string& log) {
    llvm::raw_string_ostream log_stream(log);
    clang::CompilerInstance clang;
    auto diagnostic_options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
    diagnostic_options->ShowPresumedLoc = true;  // #line: the user's file and line
    clang.createDiagnostics(new clang::TextDiagnosticPrinter(log_stream, diagnostic_options.get()));

    const std::vector<std::string> words = arguments(options);
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    auto invocation = std::make_shared<clang::CompilerInvocation>();
    if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, clang.getDiagnostics()))
        return nullptr;
    clang.setInvocation(invocation);

    if (!clang.createTarget()) return nullptr;
    clang.createFileManager(llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>());
    clang.createSourceManager(clang.getFileManager());
    auto buffer =
        llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(text.data(), text.size()), "kernel.cpp");
    clang::SourceManager& sources = clang.getSourceManager();
    sources.setMainFileID(sources.createFileID(std::move(buffer)));
    clang.createPreprocessor(clang::TU_Complete);
    clang::Preprocessor& preprocessor = clang.getPreprocessor();
    preprocessor.getBuiltinInfo().initializeBuiltins(preprocessor.getIdentifierTable(),
                                                     preprocessor.getLangOpts());
    clang.createASTContext();
    clang::CodeGenerator* generator = clang::CreateLLVMCodeGen(
        clang.getDiagnostics(), "kernel", &clang.getVirtualFileSystem(), clang.getHeaderSearchOpts(),
        clang.getPreprocessorOpts(), clang.getCodeGenOpts(), context);
    clang.setASTConsumer(std::unique_ptr<clang::ASTConsumer>(generator));
    clang.createSema(clang::TU_Complete, nullptr);
    clang.getDiagnosticClient().BeginSourceFile(clang.getLangOpts(), &preprocessor);
    clang::ParseAST(clang.getSema());
    clang.getDiagnosticClient().EndSourceFile();
    if (clang.getDiagnostics().hasErrorOccurred()) return nullptr;
    return std::unique_ptr<llvm::Module>(generator->ReleaseModule());
}

}  // namespace xcuda::device::cpu
