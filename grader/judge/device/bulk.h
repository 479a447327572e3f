#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace warplab {

// Operations on memory. Large ones use up to 16 cores, small ones only the caller's thread.

void copy_bytes(void* to, const void* from, std::size_t bytes);

/// Repeat a 32-bit pattern; the last copy is cut if `bytes` is not a multiple of 4. `to` is aligned to 4 bytes.
void fill_pattern(void* to, std::uint32_t pattern, std::size_t bytes);

/// Return the offset of the first byte in which the two differ; nothing if all `bytes` are equal.
std::optional<std::size_t> first_difference(const void* left, const void* right, std::size_t bytes);

}  // namespace warplab
