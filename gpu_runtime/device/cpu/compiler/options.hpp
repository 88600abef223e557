// A compile's options, read from Source.options.
#pragma once

#include <string>
#include <vector>

namespace xcuda::device::cpu {

struct CompileOptions {
    int level = 2;                         // O0..O3
    bool tiles = false;                    // "tiles": vector code already, a short pipeline serves
    std::vector<std::string> clang_words;  // further cc1 options, as written
};

/// Unknown words that don't start with '-' are left out.
CompileOptions read_options(const char* words);

}  // namespace xcuda::device::cpu
