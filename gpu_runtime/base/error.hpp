// The one error type: whose fault it is, which Python exception it becomes, and where in the user's source.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "base/export.hpp"

namespace xcuda {

/// A range of the user's source. Lines from 1, columns from 0 in UTF-8 bytes, as CPython's ast has them.
struct Place {
    std::string file;
    int line = 0;
    int column = 0;
    int end_line = 0;
    int end_column = 0;
    bool known() const { return line > 0; }
    bool operator==(const Place&) const = default;
};

/// A file as messages name it: "<cell 3>" for a notebook cell that IPython compiled, else as it is.
XCUDA_API std::string shown_file(const std::string& file);

enum class Fault {
    user,      // their source or arguments: place, what was found, what to write instead
    machine,   // something missing or full: what, and how to get it
    internal,  // a bug of ours: says so, and what to send
};

class XCUDA_API Error : public std::runtime_error {
public:
    Error(Fault fault, std::string python_type, const std::string& message,
          std::optional<Place> place = std::nullopt, std::string hint = {});
    ~Error() override;

    Fault fault;
    std::string python_type;  // "SyntaxError" (refused source), "TypeError", "ValueError", "MemoryError", ...
    std::optional<Place> place;
    std::string hint;  // what to write instead; empty if the message says it
};

/// The user's source can't be compiled: a SyntaxError with line, caret and advice.
XCUDA_API Error refused(const Place& place, const std::string& found, std::string write_instead = {});
/// Something of the machine is missing: which, and how to get it.
XCUDA_API Error missing(const std::string& what, std::string how_to_get_it);
/// A broken promise inside xcuda itself.
XCUDA_API Error bug(const std::string& what);

}  // namespace xcuda
