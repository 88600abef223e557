// The memory of a launch's arrays as it was at a time, and how results differ from those of another order of threads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "launch/program.hpp"
#include "profile/check/findings.hpp"

namespace xcuda::profile::check {

/// Arrays that overlap are one piece.
class Image {
public:
    struct Piece {
        char *begin, *end;
        std::vector<char> bytes;
    };
    explicit Image(std::span<const launch::Argument> arguments);
    void put_back() const;
    /// What was at `address` then.
    const char* at(const char* address) const;
    std::span<const Piece> pieces() const { return pieces_; }

private:
    std::vector<Piece> pieces_;
};

/// Arrays that the kernel writes, against those of the first run.
void compare(const launch::Lowered& lowered, const std::vector<std::string>& parameters,
             std::span<const launch::Argument> arguments, const Image& first, Findings& findings,
             std::vector<std::string>& notes);

}  // namespace xcuda::profile::check
