#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace warplab {

// Operations on gigabytes of memory that use all cores; the caller's thread does small ones alone.

void copy_bytes(void* to, const void* from, std::size_t bytes);

/// Repeat a 32-bit pattern; the last one is cut where `bytes` is not a multiple of 4. `to` is aligned to 4 bytes.
void fill_pattern(void* to, std::uint32_t pattern, std::size_t bytes);

/// Return the offset of the first byte in which they differ.
std::optional<std::size_t> first_difference(const void* one, const void* other, std::size_t bytes);

}  // namespace warplab
