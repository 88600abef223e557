#include "base/error.hpp"

#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/shown_file.hpp"

namespace xcuda {

namespace {

std::mutex shown_mutex;
std::map<std::string, std::string>& shown_names() {
    static auto* names = new std::map<std::string, std::string>;  // read until the process ends
    return *names;
}

}  // namespace

void show_file_as(const std::string& file, const std::string& shown) {
    const std::lock_guard lock(shown_mutex);
    shown_names()[file] = shown;
}

std::string shown_file(const std::string& file) {
    {
        const std::lock_guard lock(shown_mutex);
        const auto named = shown_names().find(file);
        if (named != shown_names().end()) return named->second;
    }
    constexpr std::string_view cell = "<ipython-input-";
    if (!file.starts_with(cell)) return file;
    const std::size_t end = file.find('-', cell.size());
    if (end == std::string::npos || end == cell.size()) return file;
    return "<cell " + file.substr(cell.size(), end - cell.size()) + ">";
}

Error::Error(Fault f, std::string type, const std::string& message, std::optional<Place> where,
             std::string advice)
    : std::runtime_error(message),
      fault(f),
      python_type(std::move(type)),
      place(std::move(where)),
      hint(std::move(advice)) {}

Error::~Error() = default;

Error refused(const Place& place, const std::string& found, std::string write_instead) {
    return Error(Fault::user, "SyntaxError", found, place, std::move(write_instead));
}

Error missing(const std::string& what, std::string how_to_get_it) {
    return Error(Fault::machine, "RuntimeError", what, std::nullopt, std::move(how_to_get_it));
}

Error bug(const std::string& what) {
    return Error(Fault::internal, "RuntimeError", "a bug in xcuda: " + what, std::nullopt,
                 "please report it with the cell that met it and the output of %cuda_info");
}

}  // namespace xcuda
