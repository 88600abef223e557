// What runs of a kernel show, in sentences: each line and kind once, whichever form of check has seen it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "emit/watched.hpp"
#include "profile/check/check.hpp"

namespace xcuda::profile::check {

class Findings {
public:
    /// Null where it is known already: then it was counted.
    Finding* add(std::string_view rule, const Place& place, const Place& other, const std::string& subject,
                 std::int64_t count = 1);
    std::vector<Finding> take();
    /// Of what makes results hang on the order of threads by itself.
    bool any_cause() const;

private:
    std::map<std::tuple<std::string_view, std::string, int, int, std::string>, Finding> found_;
};

/// "(3, 0, 0)": a place in a grid or a block, by its number.
std::string triple(std::int64_t linear, const device::Dim3& d);
/// "thread (3, 0, 0) of block (1, 0, 0)".
std::string thread_words(const device::Shape& shape, std::int64_t block, std::int64_t thread,
                         bool with_block);

/// Two accesses to one element that nothing orders; `then` came first.
struct Meeting {
    Place then, now;
    const char *did, *does;   // "reads", "writes", "changes"
    std::string name, other;  // the array by `now` and by `then`, empty where it is not known
    ir::Space space;
    std::int64_t count = 1;
};
struct MeetingWords {
    std::string then_thread, now_thread, element, other_element;
    bool one_block;
    bool adds;  // the writer had read the element on that line
};
void tell(Findings& findings, const Meeting& meeting, const std::function<MeetingWords()>& words);

/// An element that is read and was never written.
void tell_unset(Findings& findings, const Place& place, const std::string& array, ir::Space space,
                const std::function<std::string()>& element, const std::string& thread,
                std::int64_t count = 1);

/// A barrier that threads of a block came to not equally often.
struct Parted {
    std::string block, most, least;  // threads
    std::uint32_t most_times, least_times;
};
void tell_parted(Findings& findings, const Place& place, const Parted& seen, std::int64_t count = 1);

/// An operation that gave an inf or nan of finite numbers.
void tell_born(Findings& findings, const emit::WatchedOperation& operation, double value, double a, double b,
               const std::string& thread, std::int64_t count = 1);

}  // namespace xcuda::profile::check
