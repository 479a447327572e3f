#include "grader/judge/run/source_lines.h"

#include <gtest/gtest.h>

namespace warplab {
namespace {

TEST(SourceLines, PlacesKeepSpacesInNames) {
    EXPECT_EQ(place_in("k.cu:31"), "k.cu:31");
    EXPECT_EQ(place_in("my kernel (1).cu:31 (discriminator 2)"), "my kernel (1).cu:31");
    EXPECT_EQ(place_in("a.cu:3 b.cu:10"), "a.cu:3 b.cu:10");
    EXPECT_EQ(place_in("runner.cpp:4"), "");
    EXPECT_EQ(place_in("??:0"), "");
}

}  // namespace
}  // namespace warplab
