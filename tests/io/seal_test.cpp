#include "grader/io/seal.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "grader/io/protocol.h"

namespace warplab::protocol {
namespace {

constexpr Key key{0x0706050403020100, 0x0f0e0d0c0b0a0908};

TEST(Seal, IsSipHash) {  // test vectors of the reference implementation, for 0 and 8 bytes
    std::array<unsigned char, 8> bytes{};
    std::iota(bytes.begin(), bytes.end(), 0);
    EXPECT_EQ(hash_words(key, bytes.data(), 0), 0x726fdb47dd0e0e31u);
    EXPECT_EQ(hash_words(key, bytes.data(), 8), 0x93f5f5799a932462u);
}

TEST(Seal, DependsOnEachFieldAndTheNumber) {
    Answer answer{};
    const std::uint64_t seal = seal_of(key, 1, answer);
    EXPECT_NE(seal_of(key, 2, answer), seal);
    EXPECT_NE(seal_of({key.low, 0}, 1, answer), seal);
    answer.observed.finding_count = 1;
    EXPECT_NE(seal_of(key, 1, answer), seal);
    answer.observed.finding_count = 0;
    answer.seal = 1;
    EXPECT_EQ(seal_of(key, 1, answer), seal);
}

}  // namespace
}  // namespace warplab::protocol
