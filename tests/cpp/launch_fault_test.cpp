#include "launch/fault.hpp"

#include <gtest/gtest.h>

namespace xcuda::launch {
namespace {

using device::FaultKind;
using device::FaultRecord;

FaultRecord fault(FaultKind kind, int axis_plus_one = 0, std::int64_t index = 0, std::int64_t length = 0) {
    return {0, static_cast<int>(kind) | axis_plus_one << 8, {index, length, 0, 0}, {3, 0, 1}, {7, 2, 0}};
}

ir::Site site(ir::Site::Kind kind, std::string subject = {}, std::string message = {}) {
    ir::Site s{};
    s.kind = kind;
    s.place = {"<cell 3>", 5, 4, 5, 9};
    s.subject = std::move(subject);
    s.message = std::move(message);
    s.parameter = -1;
    return s;
}

constexpr const char* where = ", at line 5 of <cell 3>, thread (3, 0, 1) of block (7, 2, 0)";

void expect(const FaultRecord& record, const ir::Site& at, const std::string& type,
            const std::string& message, const ArgumentShapes& shapes = {}) {
    const Error e = fault_error(record, {&at, 1}, shapes);
    EXPECT_EQ(e.python_type, type);
    EXPECT_EQ(std::string(e.what()), message + where);
    EXPECT_EQ(e.place, at.place);
}

TEST(Fault, AnIndexNamesArrayAxisAndShape) {
    ir::Site at = site(ir::Site::Kind::index, "A");
    at.parameter = 1;
    expect(fault(FaultKind::index, 1, 1000003, 100), at, "IndexError",
           "index 1000003 is out of range for axis 0 of A with shape (100,)", {{}, {100}});
    expect(fault(FaultKind::index, 2, -9, 8), at, "IndexError",
           "index -9 is out of range for axis 1 of A with shape (8, 8)", {{}, {8, 8}});
}

TEST(Fault, AnAxisThatWasNotToldIsFoundByItsLengthOrLeftOut) {
    ir::Site at = site(ir::Site::Kind::index, "tile");
    at.extents = {4, 16};
    expect(fault(FaultKind::index, 0, 16, 16), at, "IndexError",
           "index 16 is out of range for axis 1 of tile with shape (4, 16)");
    at.extents = {16, 16};
    expect(fault(FaultKind::index, 0, 16, 16), at, "IndexError",
           "index 16 is out of range for an axis of length 16 of tile with shape (16, 16)");
}

TEST(Fault, AnIndexThatIsTheThreadsPlaceMissesAGuard) {
    ir::Site at = site(ir::Site::Kind::index, "A");
    at.parameter = 0;
    const auto hint = [&](std::int64_t index, std::int64_t length) {
        return fault_error(fault(FaultKind::index, 2, index, length), {&at, 1}, {}).hint;
    };
    EXPECT_EQ(hint(7 * 128 + 3, 890),
              "threads come in whole blocks, and some lie beyond the end: a guard such as `if i < "
              "A.shape[1]:` keeps "
              "them out");
    EXPECT_EQ(hint(7 * 128 + 4, 890), "");         // of another thread
    EXPECT_EQ(hint(7 * 2048 + 3, 890), "");        // no block is that long
    EXPECT_EQ(hint(7 * 128 + 3 - 2000, 890), "");  // before the start
    device::Shape launched;
    launched.grid = {8, 8, 1}, launched.block = {64, 2, 2};
    const auto exact = [&](std::int64_t index) {
        return fault_error(fault(FaultKind::index, 2, index, 300), {&at, 1}, {}, &launched).hint;
    };
    EXPECT_NE(exact(7 * 64 + 3), "");
    EXPECT_EQ(exact(7 * 128 + 3), "");  // the shape says that it is no thread's place
    at.parameter = -1;                  // a block's own array
    EXPECT_EQ(exact(7 * 64 + 3), "");
}

TEST(Fault, EveryKindIsItsPythonException) {
    expect(fault(FaultKind::zero_division), site(ir::Site::Kind::zero_division), "ZeroDivisionError",
           "integer division or modulo by zero");
    expect(fault(FaultKind::assertion), site(ir::Site::Kind::assertion, "", "too big"), "AssertionError",
           "too big");
    expect(fault(FaultKind::assertion), site(ir::Site::Kind::assertion), "AssertionError",
           "assertion failed");
    expect(fault(FaultKind::raised), site(ir::Site::Kind::raised, "ValueError", "no"), "ValueError", "no");
    expect(fault(FaultKind::unbound), site(ir::Site::Kind::unbound, "t"), "UnboundLocalError",
           "'t' is read before it has a value");
    expect(
        fault(FaultKind::barrier), site(ir::Site::Kind::meeting, "syncthreads()"), "RuntimeError",
        "threads wait at syncthreads() and others at syncthreads() in line 5: all threads of the block must "
        "come to the same one");
    EXPECT_EQ(fault_error(fault(FaultKind::interrupted), {}, {}).python_type, "KeyboardInterrupt");
}

TEST(Fault, ACellIsNamedByItsNumber) {
    ir::Site at = site(ir::Site::Kind::zero_division);
    at.place.file = "<ipython-input-12-a1b2c3>";
    EXPECT_NE(std::string(fault_error(fault(FaultKind::zero_division), {&at, 1}, {}).what())
                  .find("line 5 of <cell 12>,"),
              std::string::npos);
    EXPECT_EQ(shown_file("/home/me/k.py"), "/home/me/k.py");
    EXPECT_EQ(shown_file("<ipython-input--"), "<ipython-input--");
}

TEST(Fault, ABrokenRecordIsABugAndNoCrash) {
    FaultRecord broken = fault(static_cast<FaultKind>(99));
    broken.site = 1234;
    EXPECT_EQ(fault_error(broken, {}, {}).fault, Fault::internal);
}

}  // namespace
}  // namespace xcuda::launch
