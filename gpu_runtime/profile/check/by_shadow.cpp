#include "profile/check/by_shadow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <random>

#include "ir/walk.hpp"

namespace xcuda::profile::check {

namespace {

constexpr std::uint32_t most_records = 16384, most_of_pair = 4;
constexpr std::int64_t line_up = 256;  // bytes; how an array lies modulo it is as the caller has it

std::uint32_t bits_for(std::int64_t largest) {
    return static_cast<std::uint32_t>(
        std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(largest, 1))));
}

int largest_shift(std::uint64_t bytes) { return bytes ? std::min(std::countr_zero(bytes), 3) : 3; }

/// Pieces as small as the smallest element that begins in the range.
int shift_of(std::span<const launch::Argument> arguments, const char* begin, const char* end) {
    int shift = 3;
    for (const launch::Argument& a : arguments) {
        if (!a.is_array) continue;
        const launch::Extent e = launch::extent(a);
        if (e.begin == e.end || e.begin < begin || e.begin >= end) continue;
        shift = std::min({shift, largest_shift(info(a.dtype).size),
                          largest_shift(reinterpret_cast<std::uint64_t>(e.begin))});
        for (int i = 0; i < a.ndim; ++i)
            if (a.lengths[static_cast<std::size_t>(i)] > 1)
                shift = std::min(shift, largest_shift(static_cast<std::uint64_t>(std::abs(
                                            a.strides[static_cast<std::size_t>(i)] * a.stride_unit()))));
    }
    return shift;
}

/// A block's own array is given to the user's CUDA C++: who writes it is not seen.
bool shared_goes_abroad(const ir::Module& module) {
    bool found = false;
    for (const ir::Function& f : module.functions)
        ir::each_expr(f.body, [&](const ir::Expr& e) {
            const bool address =
                e.op == ir::Op::atomic && std::get<ir::Atomic>(e.payload).kind == ir::Atomic::Kind::address;
            const bool foreign =
                e.op == ir::Op::invoke &&
                module.functions[static_cast<std::size_t>(std::get<ir::FunctionId>(e.payload).value)].foreign;
            if (!address && !foreign) return;
            for (const ir::ExprP& a : e.args)
                found |= a->type.is_array() && a->type.space == ir::Space::shared;
        });
    return found;
}

std::int64_t room_on(const device::Device& device) {
    const std::int64_t available = device.memory().available;
    if (device.host_accessible()) return std::min<std::int64_t>(available / 4, std::int64_t{2} << 30);
    return available / 2;
}

}  // namespace

DeviceBytes::DeviceBytes(std::shared_ptr<device::Device> device, std::size_t bytes)
    : device_(std::move(device)),
      address_(device_->allocate(std::max<std::size_t>(bytes, 8), nullptr)),
      bytes_(std::max<std::size_t>(bytes, 8)) {}

DeviceBytes::~DeviceBytes() {
    if (address_) device_->release(address_, nullptr);
}

void DeviceBytes::clear() const {
    if (address_) device_->fill(address_, 0, bytes_, nullptr);
}

void DeviceBytes::put(const void* from, std::size_t bytes, std::size_t at) const {
    if (bytes) device_->copy_to_device(static_cast<char*>(address_) + at, from, bytes, nullptr);
}

void DeviceBytes::get(void* to, std::size_t bytes, std::size_t at) const {
    if (bytes) device_->copy_to_host(to, static_cast<char*>(address_) + at, bytes, nullptr);
}

ShadowRuns::ShadowRuns(const launch::Lowered& lowered, std::span<const launch::Argument> arguments,
                       const device::Shape& shape, const Options& options)
    : options_(options),
      kernel_(launch::shadowed(lowered, shape, options.shadow)),
      arguments_(arguments.begin(), arguments.end()) {
    if (kernel_.shape.grid.count() == 0 || kernel_.shape.block.count() == 0) return;
    const std::int64_t room = room_on(*kernel_.device);
    lay_out_words(room / 3);
    place_arguments(room);
    device_head_ = DeviceBytes(kernel_.device, sizeof head_);
}

// The arrays' copies first; their shadows share what is left, and where it is too little the last ones stay without.
void ShadowRuns::place_arguments(std::int64_t room) {
    const Image image(arguments_);
    for (const Image::Piece& p : image.pieces()) {
        const auto bytes = static_cast<std::size_t>(p.end - p.begin);
        Copy copy{p.begin, bytes, DeviceBytes(kernel_.device, bytes + 2 * line_up), {}, 0};
        const std::uint64_t first = (copy.memory.address() + line_up - 1) / line_up * line_up;
        copy.begin = first + reinterpret_cast<std::uint64_t>(p.begin) % line_up;
        copies_.push_back(std::move(copy));
    }
    std::vector<launch::ShadowRegion> regions;
    std::int64_t left = room * 2 / 3;
    for (Copy& copy : copies_) {
        launch::ShadowRegion r;
        r.begin = copy.begin;
        r.shift = shift_of(arguments_, copy.host, copy.host + copy.bytes);
        std::int64_t cells = static_cast<std::int64_t>((copy.bytes + 8) >> r.shift) + 1;
        const auto most = left / static_cast<std::int64_t>(sizeof(launch::ShadowCell));
        std::size_t looked = copy.bytes;
        if (cells > most) {
            cells = std::max<std::int64_t>(most, 1);
            looked = std::min(looked,
                              static_cast<std::size_t>(std::max<std::int64_t>((cells << r.shift) - 16, 0)));
            short_ = true;
        }
        r.end = r.begin + looked;
        left -= cells * static_cast<std::int64_t>(sizeof(launch::ShadowCell));
        copy.cells =
            DeviceBytes(kernel_.device, static_cast<std::size_t>(cells) * sizeof(launch::ShadowCell));
        r.cells = copy.cells.address();
        for (std::size_t i = 0; i < arguments_.size() && i < options_.unset.size(); ++i) {
            if (!arguments_[i].is_array || !options_.unset[i]) continue;
            const char* begin = launch::extent(arguments_[i]).begin;
            r.unset |= begin >= copy.host && begin < copy.host + copy.bytes;
        }
        regions.push_back(r);
    }
    if (short_)
        notes_.push_back(
            "the arrays were looked at in part: what is kept of each element's accesses takes more memory "
            "than the "
            "device has left");
    for (launch::Argument& a : arguments_) {
        if (!a.is_array) continue;
        for (const Copy& copy : copies_) {
            const launch::Extent e = launch::extent(a);
            if (e.begin == e.end || e.begin < copy.host || e.begin >= copy.host + copy.bytes) continue;
            a.address = reinterpret_cast<void*>(
                copy.begin + static_cast<std::uint64_t>(static_cast<char*>(a.address) - copy.host));
            break;
        }
    }
    regions_ = DeviceBytes(kernel_.device, regions.size() * sizeof(launch::ShadowRegion));
    regions_.put(regions.data(), regions.size() * sizeof(launch::ShadowRegion));
    head_.regions = regions_.address();
    head_.region_count = static_cast<std::uint32_t>(regions.size());
}

// A word's bits go to what the kernel has; blocks without room are not looked at.
void ShadowRuns::lay_out_words(std::int64_t room) {
    const device::Shape& shape = kernel_.shape;
    const std::int64_t threads = shape.block.count(), grid = shape.grid.count();
    head_.threads = static_cast<std::uint32_t>(threads);
    head_.sites = static_cast<std::uint32_t>(kernel_.module.sites.size());
    head_.barriers = static_cast<std::uint32_t>(kernel_.points.barriers.size());
    head_.site_bits = bits_for(head_.sites);
    head_.thread_bits = bits_for(threads - 1);
    const bool clocks = kernel_.warps || kernel_.fences;
    int counters = 0;
    for (const bool counts : {kernel_.barriers, clocks, shape.whole_grid}) counters += counts;
    const int unused = 3 - counters,
              fixed = 8 + static_cast<int>(head_.site_bits + head_.thread_bits) + unused;
    constexpr int least_of_counter = 8;
    const int most_block_bits = std::max(64 - fixed - counters * least_of_counter, 1);

    std::int64_t blocks = std::min(grid, std::int64_t{1} << std::min(most_block_bits, 31));
    int smallest = 3;
    std::int64_t gaps = 0;
    for (const ir::Function& f : kernel_.module.functions)
        for (const ir::Var& v : f.vars)
            if (v.role == ir::Var::Role::shared) {
                smallest = std::min(smallest, largest_shift(info(v.type.dtype).size));
                gaps += 128 + v.alignment;
            }
    head_.shared_shift = static_cast<std::uint32_t>(smallest);
    head_.shared_cells = kernel_.shared_bytes > 0
                             ? static_cast<std::uint64_t>((kernel_.shared_bytes + gaps) >> smallest) + 1
                             : 0;
    head_.shared_unset = !shared_goes_abroad(kernel_.module);
    const std::int64_t per_thread = static_cast<std::int64_t>(sizeof(launch::ShadowState)) +
                                    (kernel_.warps ? 128 : 0) + 4 * head_.barriers;
    const std::int64_t per_block = threads * per_thread +
                                   static_cast<std::int64_t>(sizeof(launch::ShadowTeam)) +
                                   static_cast<std::int64_t>(head_.shared_cells * sizeof(launch::ShadowCell));
    blocks = std::clamp<std::int64_t>(room / per_block, 1, blocks);
    if (blocks < grid) {
        short_ = true;
        notes_.push_back(fmt::format("{} of the launch's {} blocks were looked at", blocks, grid));
    }
    head_.blocks = static_cast<std::uint64_t>(blocks);
    head_.block_bits = bits_for(blocks - 1);
    const auto spare = 64 - fixed - static_cast<int>(head_.block_bits);
    const auto each = static_cast<std::uint32_t>(counters ? std::min(spare / counters, 31) : 1);
    head_.epoch_bits = kernel_.barriers ? each : 1;
    head_.clock_bits = clocks ? each : 1;
    head_.grid_bits = shape.whole_grid ? each : 1;

    const auto n = static_cast<std::size_t>(blocks), t = static_cast<std::size_t>(threads);
    const auto memory = [&](DeviceBytes& to, std::uint64_t& address, std::size_t bytes) {
        to = DeviceBytes(kernel_.device, bytes);
        address = to.address();
    };
    memory(states_, head_.states, n * t * sizeof(launch::ShadowState));
    if (kernel_.warps) memory(seen_, head_.seen, n * t * 32 * 4);
    memory(teams_, head_.teams, n * sizeof(launch::ShadowTeam));
    memory(passes_, head_.passes, n * t * head_.barriers * 4);
    memory(shared_, head_.shared, n * head_.shared_cells * sizeof(launch::ShadowCell));
    const std::size_t pairs = std::size_t{head_.sites + 1} * (head_.sites + 1);
    memory(counts_, head_.counts, pairs * 4);
    memory(births_, head_.births, kernel_.points.operations.size() * 8);
    memory(parted_, head_.parted, std::size_t{head_.barriers} * 4);
    memory(records_, head_.records, most_records * sizeof(launch::ShadowRecord));
    lies_.resize(kernel_.thread().vars.size());
    memory(lying_, head_.lies, lies_.size() * sizeof(launch::ShadowLying));
    head_.most_records = most_records;
    head_.most_of_pair = most_of_pair;
    head_.most_steps = static_cast<std::uint64_t>(options_.most_steps);
}

// As numbered, then from the last to the first, then in steps that meet every block once.
void ShadowRuns::order_blocks(int number) {
    const auto n = static_cast<std::uint64_t>(kernel_.shape.grid.count());
    std::mt19937_64 random(options_.seed * 1000003 + static_cast<std::uint64_t>(number));
    head_.permute_by = 1;
    head_.permute_add = 0;
    head_.seed = 0;
    head_.mixes = number >= 2;
    head_.finite = options_.finite && number == 0;
    if (number == 0) return;
    head_.seed = random() | 1;
    if (number == 1) {
        head_.permute_by = head_.permute_add = n - 1;
        if (n == 1) head_.permute_by = 1;
        return;
    }
    const std::uint64_t most = std::min<std::uint64_t>(n, std::uint64_t{1} << 31);
    do head_.permute_by = 1 + random() % most;
    while (std::gcd(head_.permute_by, n) != 1);
    head_.permute_add = random() % n;
}

std::int64_t ShadowRuns::block_meant(std::int64_t block) const {
    if (kernel_.on_cpu()) return block;
    const auto n = static_cast<std::uint64_t>(kernel_.shape.grid.count());
    return static_cast<std::int64_t>(
        (static_cast<std::uint64_t>(block) * head_.permute_by + head_.permute_add) % n);
}

launch::Listened ShadowRuns::run(int number, Findings& findings) {
    order_blocks(number);
    head_.steps = head_.told = head_.cut = 0;
    for (const DeviceBytes* b :
         {&states_, &seen_, &teams_, &passes_, &shared_, &counts_, &births_, &parted_, &lying_})
        b->clear();
    for (const Copy& copy : copies_) {
        copy.cells.clear();
        copy.memory.put(copy.host, copy.bytes, copy.begin - copy.memory.address());
    }
    device_head_.put(&head_, sizeof head_);
    const launch::Listened ran = launch::run_shadowed(
        kernel_, arguments_, reinterpret_cast<void*>(device_head_.address()),
        [this](device::FaultRecord& fault) {
            const device::Dim3& grid = kernel_.shape.grid;
            const std::int64_t block = block_meant(
                (std::int64_t{fault.block[2]} * grid.y + fault.block[1]) * grid.x + fault.block[0]);
            fault.block[0] = static_cast<std::int32_t>(block % grid.x);
            fault.block[1] = static_cast<std::int32_t>(block / grid.x % grid.y);
            fault.block[2] = static_cast<std::int32_t>(block / grid.x / grid.y);
        });
    device_head_.get(&head_, sizeof head_);
    for (const Copy& copy : copies_)
        copy.memory.get(copy.host, copy.bytes, copy.begin - copy.memory.address());
    read(findings, !ran.fault);
    return ran;
}

const Place& ShadowRuns::place_of(std::int32_t site) const {
    return kernel_.module.sites[static_cast<std::size_t>(site)].place;
}

std::string ShadowRuns::words(const launch::ShadowAccess& a, bool with_block) const {
    return thread_words(kernel_.shape, block_meant(a.block), a.thread, with_block);
}

void ShadowRuns::read(Findings& findings, bool whole) {
    std::vector<launch::ShadowRecord> records(std::min(head_.told, most_records));
    records_.get(records.data(), records.size() * sizeof(launch::ShadowRecord));
    lying_.get(lies_.data(), lies_.size() * sizeof(launch::ShadowLying));
    const std::size_t row = head_.sites + 1;
    std::vector<std::uint32_t> counts(row * row), births(kernel_.points.operations.size() * 2),
        parted(head_.barriers);
    counts_.get(counts.data(), counts.size() * 4);
    births_.get(births.data(), births.size() * 4);
    parted_.get(parted.data(), parted.size() * 4);

    using Kind = launch::ShadowRecord::Kind;
    const auto pair_of = [&](const launch::ShadowRecord& r) {
        return static_cast<std::size_t>(launch::access_of(head_, r.then).site + 1) * row +
               static_cast<std::size_t>(launch::access_of(head_, r.now).site + 1);
    };
    const auto of_pair = [](const launch::ShadowRecord& r) {
        return (r.kind & 0xff) == Kind::raced || (r.kind & 0xff) == Kind::unset;
    };
    std::map<std::size_t, std::int64_t> kept;  // records, by their pair: the first stands for those without
    for (const launch::ShadowRecord& r : records)
        if (of_pair(r)) ++kept[pair_of(r)];
    for (const launch::ShadowRecord& r : records) {
        const auto kind = static_cast<Kind>(r.kind & 0xff);
        std::int64_t count = 1;
        if (of_pair(r)) {
            std::int64_t& more = kept[pair_of(r)];
            if (more > 0) count += counts[pair_of(r)] - more;
            more = 0;
        }
        if (kind == Kind::raced) read_meeting(findings, r, count);
        if (kind == Kind::unset) read_unset(findings, r, count);
        if (kind == Kind::parted && whole) {
            const device::Shape& shape = kernel_.shape;
            tell_parted(findings, place_of(kernel_.points.barriers[r.then]),
                        {triple(block_meant(static_cast<std::int64_t>(r.now)), shape.grid),
                         triple(static_cast<std::int64_t>(r.other), shape.block),
                         triple(static_cast<std::int64_t>(r.read), shape.block),
                         static_cast<std::uint32_t>(r.place >> 32), static_cast<std::uint32_t>(r.place)},
                        parted[r.then]);
        }
        if (kind == Kind::born)
            tell_born(findings, kernel_.points.operations[r.then], r.value[0], r.value[1], r.value[2],
                      words(launch::access_of(head_, r.now), true),
                      births[2 * r.then + (r.value[0] != r.value[0])]);
    }
}

void ShadowRuns::read_meeting(Findings& findings, const launch::ShadowRecord& r, std::int64_t count) {
    static constexpr const char* words_of[] = {"reads", "writes", "changes"};
    const launch::ShadowAccess then = launch::access_of(head_, r.then), now = launch::access_of(head_, r.now);
    MemoryMap map(kernel_.module, kernel_.thread(), arguments_);
    for (std::size_t v = 0; v < lies_.size(); ++v)
        if (lies_[v].bytes) map.lies(static_cast<int>(v), 0, lies_[v].offset, lies_[v].bytes);
    const Range* range = map.find(r.place, then.site, 0);
    const std::string other = range ? map.name(*range) : std::string();
    range = map.find(r.place, now.site, 0);
    if (!range) return;
    const char *did = words_of[r.kind >> 16 & 0xff], *does = words_of[r.kind >> 24 & 0xff];
    const launch::ShadowAccess& writer = *did == 'w' ? then : now;
    const Place first = place_of(then.site), second = place_of(now.site);
    const auto read_there = [&](std::uint64_t word) {
        const launch::ShadowAccess a = launch::access_of(head_, word);
        return a.site >= 0 && a.block == writer.block && a.thread == writer.thread &&
               place_of(a.site).line == first.line;
    };
    tell(findings, {first, second, did, does, map.name(*range), other, range->space, count}, [&] {
        const bool one_block = then.block == now.block;
        return MeetingWords{words(then, true),
                            words(now, !one_block),
                            map.element(r.place, now.site, 0),
                            map.element(r.place, then.site, 0),
                            one_block,
                            read_there(r.read) || read_there(r.other)};
    });
}

void ShadowRuns::read_unset(Findings& findings, const launch::ShadowRecord& r, std::int64_t count) {
    const launch::ShadowAccess now = launch::access_of(head_, r.now);
    const bool own = (r.kind >> 8 & 0xff) == 2;
    MemoryMap map(kernel_.module, kernel_.thread(), arguments_);
    for (std::size_t v = 0; v < lies_.size() && !own; ++v)
        if (lies_[v].bytes) map.lies(static_cast<int>(v), 0, lies_[v].offset, lies_[v].bytes);
    std::uint64_t place = r.place;
    if (own) {  // its variable, and the byte in it
        const auto variable = static_cast<int>(r.place >> 40);
        const ir::Type& type = kernel_.thread().vars[static_cast<std::size_t>(variable)].type;
        std::uint64_t bytes = info(type.dtype).size;
        for (const std::int64_t n : type.extents) bytes *= static_cast<std::uint64_t>(n);
        place = r.place & ((std::uint64_t{1} << 40) - 1);
        map.lies(variable, 0, 0, bytes);
    }
    const Range* range = map.find(place, now.site, 0);
    if (!range) return;
    tell_unset(
        findings, place_of(now.site), map.name(*range), range->space,
        [&] { return map.element(place, now.site, 0); }, words(now, true), count);
}

}  // namespace xcuda::profile::check
