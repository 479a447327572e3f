#pragma once
// Models how a GPU serves a request (an access that the lanes of a warp make together): in sectors of 32 bytes (device
// memory) or in passes over the banks (shared memory).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace warplab_cpu {

inline constexpr unsigned lanes_in_request = 32;
inline constexpr std::uintptr_t sector_bytes = 32, bank_word_bytes = 4;

/// The same access by some lanes of a warp.
struct LaneAddresses {
    std::array<std::uintptr_t, lanes_in_request> address{};  // by lane
    std::uint32_t lanes = 0;                                 // one bit for each lane that takes part
    unsigned width = 1;                                      // bytes that a lane accesses

    void add(unsigned lane, std::uintptr_t at) {
        address[lane] = at;
        lanes |= 1u << lane;
    }
};

/// A list of the addresses of a request, or of the numbers of the units that contain them. It allocates no memory.
class AddressList {
  public:
    void add(std::uintptr_t value) { values_[count_++] = value; }
    std::uint64_t count() const { return count_; }

    AddressList& sort() {
        if (!std::is_sorted(begin(), end())) std::sort(begin(), end());
        return *this;
    }
    AddressList& remove_duplicates() {
        sort();
        count_ = static_cast<std::size_t>(std::unique(begin(), end()) - begin());
        return *this;
    }
    std::uintptr_t* begin() { return values_.data(); }
    std::uintptr_t* end() { return begin() + count_; }

  private:
    std::array<std::uintptr_t, 2 * lanes_in_request> values_;
    std::size_t count_ = 0;
};

AddressList addresses_of(const LaneAddresses& request);

/// Return the numbers of the sectors, each once.
AddressList sectors_of(const LaneAddresses& request);

/// Return the number of passes over the banks, at least 1: lanes that need different words of the same bank wait for
/// each other. Accesses of 8 and 16 bytes are served in two and four parts.
std::uint64_t count_bank_passes(const LaneAddresses& request);

/// Return the number of occurrences of the most frequent value.
std::uint64_t count_most_frequent(AddressList values);

}  // namespace warplab_cpu
