// A check by shadow memory: on a GPU, whose threads run at once, or by the same text on the CPU device.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/shadow.hpp"
#include "profile/check/compared.hpp"
#include "profile/check/memory_map.hpp"

namespace xcuda::profile::check {

/// Bytes of a device's pool, for as long as this lives.
class DeviceBytes {
public:
    DeviceBytes() = default;
    DeviceBytes(std::shared_ptr<device::Device> device, std::size_t bytes);
    DeviceBytes(DeviceBytes&& other) noexcept { *this = std::move(other); }
    DeviceBytes& operator=(DeviceBytes&& other) noexcept {
        std::swap(device_, other.device_), std::swap(address_, other.address_),
            std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~DeviceBytes();
    std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(address_); }
    std::size_t bytes() const { return bytes_; }
    void clear() const;
    void put(const void* from, std::size_t bytes, std::size_t at = 0) const;
    void get(void* to, std::size_t bytes, std::size_t at = 0) const;

private:
    std::shared_ptr<device::Device> device_;
    void* address_ = nullptr;
    std::size_t bytes_ = 0;
};

class ShadowRuns {
public:
    /// `arguments` lie in host memory; each run leaves there what the kernel wrote.
    ShadowRuns(const launch::Lowered& lowered, std::span<const launch::Argument> arguments,
               const device::Shape& shape, const Options& options);

    launch::Listened run(int number, Findings& findings);

    const device::Shape& shape() const { return kernel_.shape; }
    std::int64_t steps() const { return static_cast<std::int64_t>(head_.steps); }  // of the last run
    bool cut() const { return head_.cut != 0 || short_; }
    std::vector<std::string> notes() const { return notes_; }

private:
    struct Copy {
        char* host;
        std::size_t bytes;
        DeviceBytes memory, cells;
        std::uint64_t begin;  // on the device, as far from a multiple of 256 as on the host
    };
    void place_arguments(std::int64_t room);
    void lay_out_words(std::int64_t room);
    void order_blocks(int number);
    std::int64_t block_meant(std::int64_t block) const;
    void read(Findings& findings, bool whole);
    void read_meeting(Findings& findings, const launch::ShadowRecord& record, std::int64_t count);
    void read_unset(Findings& findings, const launch::ShadowRecord& record, std::int64_t count);
    std::string words(const launch::ShadowAccess& a, bool with_block) const;
    const Place& place_of(std::int32_t site) const;

    const Options& options_;
    launch::Shadowed kernel_;
    std::vector<Copy> copies_;
    std::vector<launch::Argument> arguments_;  // the device's
    std::vector<launch::ShadowLying> lies_;
    launch::ShadowHead head_{};
    DeviceBytes states_, seen_, teams_, passes_, shared_, counts_, births_, parted_, records_, lying_,
        regions_, device_head_;
    std::vector<std::string> notes_;
    bool short_ = false;
};

}  // namespace xcuda::profile::check
