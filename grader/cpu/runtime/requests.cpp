#include "grader/cpu/runtime/requests.h"

#include <bit>

namespace warplab_cpu {
namespace {

constexpr unsigned banks = 32;

template <class Visit>
void for_each_lane(const LaneAddresses& request, Visit visit) {
    for (std::uint32_t left = request.lanes; left; left &= left - 1) visit(std::countr_zero(left));
}

}  // namespace

AddressList addresses_of(const LaneAddresses& request) {
    AddressList addresses;
    for_each_lane(request, [&](int lane) { addresses.add(request.address[lane]); });
    return addresses;
}

AddressList sectors_of(const LaneAddresses& request) {
    AddressList sectors;
    for_each_lane(request, [&](int lane) {
        const std::uintptr_t first = request.address[lane] / sector_bytes;
        const std::uintptr_t last = (request.address[lane] + request.width - 1) / sector_bytes;
        sectors.add(first);
        if (last != first) sectors.add(last);
    });
    return sectors.remove_duplicates();
}

std::uint64_t count_bank_passes(const LaneAddresses& request) {
    const unsigned parts = std::max<unsigned>(1, request.width / bank_word_bytes);
    std::uint64_t passes = 0;
    for (unsigned part = 0; part < parts; ++part) {
        AddressList words;
        const unsigned first = part * lanes_in_request / parts, end = (part + 1) * lanes_in_request / parts;
        for_each_lane(request, [&](int lane) {
            if (static_cast<unsigned>(lane) < first || static_cast<unsigned>(lane) >= end) return;
            const std::uintptr_t last = (request.address[lane] + request.width - 1) / bank_word_bytes;
            for (std::uintptr_t word = request.address[lane] / bank_word_bytes; word <= last; ++word) words.add(word);
        });
        std::array<std::uint64_t, banks> words_in_bank{};
        for (const std::uintptr_t word : words.remove_duplicates()) ++words_in_bank[word % banks];
        passes += *std::ranges::max_element(words_in_bank);
    }
    return std::max<std::uint64_t>(passes, 1);
}

std::uint64_t count_most_frequent(AddressList values) {
    values.sort();
    std::ptrdiff_t longest = 0;
    for (auto* same = values.begin(); same != values.end();) {
        auto* const next = std::upper_bound(same, values.end(), *same);
        longest = std::max(longest, next - same);
        same = next;
    }
    return static_cast<std::uint64_t>(longest);
}

}  // namespace warplab_cpu
