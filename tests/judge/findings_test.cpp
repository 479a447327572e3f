// The words for an index beyond a declared array: which array, as the student's line has it.
#include "grader/judge/findings.h"

#include <gtest/gtest.h>

#include <cstring>

namespace warplab {
namespace {

std::string words_for(const std::string& line, std::uint32_t column, const char* type, std::int64_t index) {
    Finding finding{};
    finding.kind = static_cast<std::uint32_t>(FindingKind::out_of_bounds);
    finding.space = static_cast<std::uint32_t>(FindingSpace::declared);
    finding.offset = index;
    finding.width = column;
    finding.line = 1;
    std::strncpy(finding.kernel, "smooth", sizeof finding.kernel - 1);
    std::strncpy(finding.detail, type, sizeof finding.detail - 1);
    const auto found = describe_findings({}, {}, line + "\n", {}, {finding});
    return found.empty() ? "" : found.front().message;
}

constexpr auto line = "    if (n) halo->tile[t / 32][k[t] + 1] = row[2 * (t + 1)];";

std::uint32_t column_after(const char* part) {
    return static_cast<std::uint32_t>(std::string(line).find(part) + std::strlen(part));
}

TEST(IndexBeyond, NamesTheArrayThatTheBracketBelongsTo) {
    EXPECT_EQ(words_for(line, column_after("+ 1]"), "'float [17]'", 17),
              "Kernel smooth uses index 17 of halo->tile[t / 32], declared as float [17], with indices 0 to 16: thread "
              "(0,0,0) of block (0,0,0).");
    EXPECT_NE(words_for(line, column_after("1)]"), "'int [8]'", -2).find("index -2 of row, declared as int [8]"),
              std::string::npos);
    EXPECT_NE(words_for(line, column_after("32]"), "'int [4][17]'", 4).find("index 4 of halo->tile, "),
              std::string::npos);
}

TEST(IndexBeyond, NamesNoArrayWhereTheColumnIsNoIndex) {
    for (const std::uint32_t column : {0u, 1u, 38u, 60u, 4000000000u})
        EXPECT_NE(words_for(line, column, "'int [8]'", 8).find("of an array, declared as"), std::string::npos);
    EXPECT_NE(words_for("]] = 1", 2, "'int [8]'", 8).find("of an array, "), std::string::npos);
}

TEST(Consequences, OfAnIndexBeyondAnArrayAreDropped) {
    Finding beyond{}, race{}, elsewhere{};
    for (Finding* finding : {&beyond, &race, &elsewhere}) finding->line = finding == &elsewhere ? 2 : 1;
    beyond.kind = static_cast<std::uint32_t>(FindingKind::out_of_bounds);
    race.kind = elsewhere.kind = static_cast<std::uint32_t>(FindingKind::race);
    const auto found = describe_findings({}, {}, "", {}, {race, beyond, elsewhere});
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].cause, "out_of_bounds");
    EXPECT_EQ(found[1].line, 2);
}

}  // namespace
}  // namespace warplab
