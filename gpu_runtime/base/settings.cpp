#include "base/settings.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"

namespace xcuda {

namespace {

std::string text(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// A whole number, with K, M or G (1024s) after it if `scaled`; throws ValueError naming the variable.
std::int64_t number(const char* name, std::int64_t otherwise, bool scaled) {
    const std::string value = text(name);
    if (value.empty()) return otherwise;
    std::int64_t read = 0;
    const char* end = value.data() + value.size();
    auto [at, error] = std::from_chars(value.data(), end, read);
    if (scaled && error == std::errc() && at + 1 == end) {
        constexpr std::string_view units = "KMG";
        const auto unit = units.find(static_cast<char>(std::toupper(*at)));
        if (unit != std::string_view::npos && read < (std::int64_t{1} << 32)) {
            read <<= 10 * (unit + 1);
            ++at;
        }
    }
    if (error != std::errc() || at != end || read < 0)
        throw Error(Fault::user, "ValueError",
                    std::string(name) + " is \"" + value + "\": a whole number from 0" +
                        (scaled ? ", with K, M or G after it if wanted," : "") + " is expected");
    return read;
}

Guard guard(const char* name) {
    const std::string value = text(name);
    if (value.empty() || value == "0") return Guard::none;
    if (value == "1" || value == "end") return Guard::end;
    if (value == "begin") return Guard::begin;
    throw Error(Fault::user, "ValueError",
                std::string(name) + " is \"" + value + "\": \"end\", \"begin\" or 0 is expected");
}

std::filesystem::path cache_folder() {
    if (const std::string named = text("XCUDA_CACHE_DIR"); !named.empty()) return named;
    if (const std::string named = text("XDG_CACHE_HOME"); !named.empty())
        return std::filesystem::path(named) / "xcuda";
    std::string home = text("HOME");
    if (home.empty())
        if (const passwd* user = getpwuid(getuid())) home = user->pw_dir;
    return home.empty() ? std::filesystem::path() : std::filesystem::path(home) / ".cache" / "xcuda";
}

}  // namespace

Settings read_settings() {
    Settings made;
    made.device = text("XCUDA_DEVICE");
    made.workers = static_cast<int>(std::min<std::int64_t>(number("XCUDA_WORKERS", 0, false), 4096));
    made.cache_dir = cache_folder();
    made.cache_bytes = number("XCUDA_CACHE_BYTES", made.cache_bytes, true);
    made.memory_limit = number("XCUDA_MEMORY_LIMIT", 0, true);
    made.print_bytes = number("XCUDA_PRINT_BYTES", made.print_bytes, true);
    made.cpu_compiler = text("XCUDA_CPU_COMPILER");
    made.pool_guard = guard("XCUDA_POOL_GUARD");
    made.compile_ahead = number("XCUDA_COMPILE_AHEAD", 1, false) != 0;
    made.dump = text("XCUDA_DUMP");
    return made;
}

Settings& settings() {
    static Settings all = read_settings();
    return all;
}

}  // namespace xcuda
