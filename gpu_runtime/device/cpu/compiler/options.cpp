#include "device/cpu/compiler/options.hpp"

#include <sstream>

namespace xcuda::device::cpu {

CompileOptions read_options(const char* words) {
    CompileOptions options;
    std::istringstream stream(words ? words : "");
    for (std::string word; stream >> word;) {
        if (word.size() == 2 && word[0] == 'O' && word[1] >= '0' && word[1] <= '3')
            options.level = word[1] - '0';
        else if (word == "unoptimised")
            options.level = 1;
        else if (word == "tiles")
            options.tiles = true;
        else if (word ==
                 "fastmath")  // reassociation and reciprocals; nan, inf and integers mean what they did
            options.clang_words.insert(options.clang_words.end(), {"-ffp-contract=fast", "-mreassociate",
                                                                   "-freciprocal-math", "-fno-signed-zeros"});
        else if (word == "nofma")
            options.clang_words.emplace_back("-ffp-contract=off");
        else if (word[0] == '-')
            options.clang_words.push_back(word);
    }
    return options;
}

}  // namespace xcuda::device::cpu
