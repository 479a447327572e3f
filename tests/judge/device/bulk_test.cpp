#include "grader/judge/device/bulk.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace warplab {
namespace {

constexpr std::size_t sizes[] = {0, 1, 3, 64, 1'000'003, (9 << 20) + 5};  // the last is shared among threads

TEST(Bulk, FillsEveryByteWithThePattern) {
    for (const std::size_t bytes : sizes) {
        std::vector<std::uint8_t> filled(bytes + 4, 9);
        fill_pattern(filled.data(), 0x04030201u, bytes);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < bytes; ++i) wrong += filled[i] != i % 4 + 1;
        EXPECT_EQ(wrong, 0u) << "of " << bytes;
        EXPECT_EQ(filled[bytes], 9);
    }
}

TEST(Bulk, CopiesEveryByte) {
    for (const std::size_t bytes : sizes) {
        std::vector<std::uint8_t> from(bytes), to(bytes + 1, 9);
        for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<std::uint8_t>(i * 7 >> 3);
        copy_bytes(to.data(), from.data(), bytes);
        EXPECT_EQ(std::memcmp(to.data(), from.data(), bytes), 0);
        EXPECT_EQ(to[bytes], 9);
    }
}

TEST(Bulk, FindsTheFirstOfSeveralDifferences) {
    for (const std::size_t bytes : sizes) {
        std::vector<std::uint8_t> first(bytes), second(bytes);
        EXPECT_EQ(first_difference(first.data(), second.data(), bytes), std::nullopt);
        if (bytes == 0) continue;
        second[bytes - 1] = 1;
        EXPECT_EQ(first_difference(first.data(), second.data(), bytes), bytes - 1);
        second[bytes / 2] = 1;
        EXPECT_EQ(first_difference(first.data(), second.data(), bytes), bytes / 2);
        second[0] = 1;
        EXPECT_EQ(first_difference(first.data(), second.data(), bytes), 0u);
    }
}

}  // namespace
}  // namespace warplab
