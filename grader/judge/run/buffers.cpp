#include "grader/judge/run/buffers.h"

#include <algorithm>
#include <cstring>

#include "grader/judge/device/bulk.h"

namespace warplab {
namespace {

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

std::size_t stride_of(std::size_t bytes, std::size_t guard_bytes) { return round_up(bytes, 256) + guard_bytes; }

std::uint8_t pattern_byte(std::uint32_t pattern, std::size_t offset) {
    return static_cast<std::uint8_t>(pattern >> (8 * (offset % 4)));
}

/// Return whether the bytes at this offset repeat the pattern: whether the first word is the pattern, and each later
/// byte equals the byte one word before it.
bool holds_pattern(const std::vector<std::uint8_t>& bytes, std::uint32_t pattern, std::size_t offset) {
    constexpr std::size_t word = sizeof pattern;
    for (std::size_t i = 0; i < std::min(word, bytes.size()); ++i)
        if (bytes[i] != pattern_byte(pattern, offset + i)) return false;
    return bytes.size() <= word || std::memcmp(bytes.data(), bytes.data() + word, bytes.size() - word) == 0;
}

std::uint32_t draw_pattern(std::uint64_t& state) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return 0x7ff80000u | (static_cast<std::uint32_t>(state >> 40) & 0xffffu) | 1u;
}

}  // namespace

Poison Poison::draw(std::uint64_t seed) {
    std::uint64_t state = seed * 2654435761u + 12345;
    const std::uint32_t output = draw_pattern(state);
    return {output, draw_pattern(state)};
}

Array poisoned(ElementType type, std::size_t count, std::uint32_t pattern) {
    Array array(type, count);
    fill_pattern(array.data(), pattern, array.bytes());
    return array;
}

std::size_t Buffers::bytes_per_slot(const Problem& shape, std::size_t scratch_bytes, std::size_t guard_bytes) {
    std::size_t total = stride_of(scratch_bytes, guard_bytes);
    for (const Array& array : shape.arrays) total += stride_of(array.bytes(), guard_bytes);
    return total;
}

Buffers::Buffers(BufferMemory& memory, const Lab& lab, const Problem& shape, std::size_t scratch_bytes,
                 std::uint32_t slots, std::size_t guard_bytes, Poison poison)
    : lab_(lab), slots_(slots), guard_bytes_(guard_bytes), poison_(poison) {
    const auto add = [&](Part part, std::uint32_t copies) {
        part.stride = stride_of(part.bytes, guard_bytes);
        part.pattern = part.is_input ? poison.beyond : poison.output;
        if (part.bytes || guard_bytes) part.region = memory.allocate(guard_bytes + copies * part.stride);
        parts_.push_back(std::move(part));
        const Part& added = parts_.back();
        if (added.is_input && added.region && added.region->is_zeroed())
            poison_around(added);  // write() writes the rest
        else
            poison_whole(added);
    };
    for (std::size_t i = 0; i < shape.arrays.size(); ++i)
        add({.name = lab.buffers[i].name,
             .type = shape.arrays[i].type(),
             .count = shape.arrays[i].count(),
             .bytes = shape.arrays[i].bytes(),
             .is_input = lab.buffers[i].role == Role::input},
            slots);
    if (scratch_bytes)
        add({.name = "scratch", .count = scratch_bytes, .bytes = scratch_bytes}, 1);
    else
        parts_.push_back({.name = "scratch"});
}

void Buffers::describe(protocol::Request& request, std::vector<int>& descriptors) const {
    request.buffer_count = static_cast<std::uint32_t>(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Part& part = parts_[i];
        protocol::Buffer& buffer = request.buffers[i];
        buffer = {};
        if (!part.region) continue;
        part.region->describe(buffer);
        buffer.is_input = part.is_input || is_inout(i);
        buffer.is_constant = part.is_input;
        buffer.offset = guard_bytes_;
        buffer.stride = i + 1 == parts_.size() ? 0 : part.stride;  // all calls share the scratch
        buffer.bytes = part.bytes;
        if (part.region->descriptor() >= 0) descriptors.push_back(part.region->descriptor());
    }
}

bool Buffers::is_inout(std::size_t buffer) const {
    return buffer < lab_.buffers.size() && lab_.buffers[buffer].role == Role::inout;
}

void Buffers::poison_whole(const Part& part) const {
    if (part.region) part.region->fill(0, part.region->bytes() / 4 * 4, part.pattern);
}

void Buffers::poison_around(const Part& part) const {
    if (!part.region) return;
    part.region->fill(0, guard_bytes_, part.pattern);
    for (std::uint32_t slot = 0; slot < slots_; ++slot) {
        const std::size_t begin = (offset(part, slot) + part.bytes) / 4 * 4;
        part.region->fill(begin, offset(part, slot) + part.stride - begin, part.pattern);
    }
}

void Buffers::poison_all() {
    for (const Part& part : parts_)
        if (!part.is_input) poison_whole(part);
}

void Buffers::write(std::size_t buffer, std::uint32_t slot, const Array& contents) {
    Part& part = parts_[buffer];
    if (part.region) part.region->write(offset(part, slot), contents.data(), contents.bytes());
}

Array Buffers::read(std::size_t buffer, std::uint32_t slot) const {
    return read_part(buffer, slot, 0, parts_[buffer].count);
}

Array Buffers::read_part(std::size_t buffer, std::uint32_t slot, std::size_t first, std::size_t count) const {
    const Part& part = parts_[buffer];
    Array array(part.type, count);
    if (part.region)
        part.region->read(offset(part, slot) + first * element_bytes(part.type), array.data(), array.bytes());
    return array;
}

std::optional<std::size_t> Buffers::first_change(std::size_t buffer, std::uint32_t slot, const Array& expected) const {
    const Part& part = parts_[buffer];
    if (!part.region) return std::nullopt;
    const auto at = part.region->first_difference(offset(part, slot), expected.data(), expected.bytes());
    return at ? std::optional(*at / element_bytes(part.type)) : std::nullopt;
}

void Buffers::copy_into(std::size_t buffer, std::uint32_t slot, const Region& pool, std::size_t pool_offset) {
    Part& part = parts_[buffer];
    if (part.region) part.region->copy_from(pool, pool_offset, offset(part, slot), part.bytes);
}

void Buffers::exchange_memory(Buffers& other) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (parts_[i].bytes != other.parts_[i].bytes) continue;
        std::swap(parts_[i].region, other.parts_[i].region);
        std::swap(parts_[i].pattern, other.parts_[i].pattern);  // the guards contain the pattern
    }
}

std::optional<GuardViolation> Buffers::find_guard_violation(std::uint32_t slot) const {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Part& part = parts_[i];
        if (!part.region || guard_bytes_ == 0) continue;
        const std::uint32_t at = i + 1 == parts_.size() ? 0 : slot;
        const auto begin = static_cast<std::int64_t>(offset(part, at));
        const auto end = begin + static_cast<std::int64_t>(part.bytes);
        const auto next = begin + static_cast<std::int64_t>(part.stride);
        if (auto violation = violation_in(part, at, end, next)) return violation;
        if (auto violation = violation_in(part, at, begin - static_cast<std::int64_t>(guard_bytes_), begin))
            return violation;
    }
    return std::nullopt;
}

/// Check bytes [begin, end) of the region, which belong to a guard of `slot`.
std::optional<GuardViolation> Buffers::violation_in(const Part& part, std::uint32_t slot, std::int64_t begin,
                                                    std::int64_t end) const {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(end - begin));
    part.region->read(static_cast<std::size_t>(begin), bytes.data(), bytes.size());
    if (holds_pattern(bytes, part.pattern, static_cast<std::size_t>(begin))) return std::nullopt;
    std::size_t hit = 0;
    while (bytes[hit] == pattern_byte(part.pattern, static_cast<std::size_t>(begin) + hit)) ++hit;
    const auto width = static_cast<std::int64_t>(element_bytes(part.type));
    const auto relative = begin + static_cast<std::int64_t>(hit) - static_cast<std::int64_t>(offset(part, slot));
    const std::int64_t index = relative >= 0 ? relative / width : -((-relative + width - 1) / width);
    return GuardViolation{part.name, index, part.count};
}

}  // namespace warplab
