#include "grader/common/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace warplab {
namespace {

const std::vector<std::string> keys = {"title", "stages", "points", "id", "sizes"};

TEST(Nearest, DistanceCountsEdits) {
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
    EXPECT_EQ(edit_distance("ponits", "points"), 1u);
}

TEST(Nearest, FindsTheIntendedName) {
    EXPECT_EQ(nearest("titel", keys), "title");
    EXPECT_EQ(nearest("stage", keys), "stages");
    EXPECT_EQ(nearest("title", keys), "title");
    EXPECT_EQ(did_you_mean("ponts", keys), " Did you mean \"points\"?");
}

TEST(Nearest, SuggestsNothingForDistantNames) {
    EXPECT_EQ(nearest("benchmark", keys), "");
    EXPECT_EQ(nearest("pairs", keys), "");
    EXPECT_EQ(nearest("x", keys), "");
    EXPECT_EQ(nearest("", keys), "");
    EXPECT_EQ(did_you_mean("benchmark", keys), "");
    EXPECT_EQ(nearest("anything", {}), "");
    EXPECT_EQ(nearest("stages", std::vector<std::string>{std::string(std::size_t{1} << 30, 's')}), "");
}

}  // namespace
}  // namespace warplab
