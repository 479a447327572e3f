#include "grader/judge/sanitizer/array_names.h"

#include <gtest/gtest.h>

namespace warplab {
namespace {

constexpr auto file = R"(
struct Pair { float v[4]; };
__device__ float first(float (&part)[32]) { return part[0]; }
__global__ void k() {
    __shared__ float tile[TILE_Y][TILE_X];
    __shared__ int bins[16], own[16];
    float column[8];
    return tile[0];
})";

/// Return the array whose index ends at `column`. If there is no bracket, a macro has moved the column.
std::string array_in(const std::string& line, std::uint32_t column, const std::string& type) {
    return indexed_array({line, column, type}, file);
}

TEST(ArrayNames, FindsTheArrayWhoseIndexEndsAtTheColumn) {
    EXPECT_EQ(array_in("bins[t] = own[t];", 7, "int [16]"), "bins");
    EXPECT_EQ(array_in("bins[t] = own[t];", 16, "int [16]"), "own");
    EXPECT_EQ(array_in("bins [t] = own[t];", 8, "int [16]"), "bins");
    EXPECT_EQ(array_in("x = tile[y][x];", 14, "float [32]"), "tile[y]");
    EXPECT_EQ(array_in("a[i] = b[i];", 4, "int [16]"), "a") << "not declared in this file";
}

TEST(ArrayNames, FindsTheOnlyArrayOfTheseDimensionsIfTheColumnMoved) {
    const std::string line = "for (r = 0; r < ROWS; ++r) column[r] = tile[y * ROWS + r][x + c];";
    EXPECT_EQ(array_in(line, 70, "float [32][32]"), "tile");
    EXPECT_EQ(array_in(line, 36, "float [32][32]"), "tile") << "column 36 ends an index of column";
    EXPECT_EQ(array_in(line, 70, "float [32]"), "") << "a row of tile, or column";
    EXPECT_EQ(array_in("__shared__ int bins[16]; bins[threadIdx.x] = 0;", 3, "int [16]"), "bins");
    EXPECT_EQ(array_in("extern __shared__ float all[]; p.v[t] = 1;", 3, "float [4]"), "p.v");
    EXPECT_EQ(array_in("part[t] = 1;", 3, "float [32]"), "part");
}

TEST(ArrayNames, FindsNoneIfSeveralAreLikely) {
    EXPECT_EQ(array_in("bins[t] = own[t];", 3, "int [16]"), "");
    EXPECT_EQ(array_in("PUT(t);", 3, "int [16]"), "");
    EXPECT_EQ(array_in("(&tile)[0][t] = 0;", 13, "float [32]"), "");
    EXPECT_EQ(array_in("]] = 1", 2, "int [8]"), "");
    EXPECT_EQ(array_in("", 0, "int [8]"), "");
}

}  // namespace
}  // namespace warplab
