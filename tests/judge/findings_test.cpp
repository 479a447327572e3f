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

Discovery far_access(std::uint64_t address) {
    Finding finding{};
    finding.kind = static_cast<std::uint32_t>(FindingKind::out_of_bounds);
    finding.offset = static_cast<std::int64_t>(address);
    return describe_findings({}, {}, "", {}, {finding}).front();
}

TEST(FarAccess, SaysWhichPointerItWas) {
    EXPECT_NE(far_access(12).message.find("through a null pointer"), std::string::npos);
    EXPECT_NE(far_access(12).hint.find("_scratch_bytes()"), std::string::npos);
    EXPECT_NE(far_access(0xFEFEFEFEFEFEFF02).message.find("a pointer that was never set"), std::string::npos);
    for (const std::uint64_t address : {0x10000ull, 0x7f0000000000ull, 0xffff000000000000ull})
        EXPECT_NE(far_access(address).message.find("an address far from all memory"), std::string::npos);
}

TEST(OutOfBounds, OfScratchAsksForItsSize) {
    Finding finding{};
    finding.kind = static_cast<std::uint32_t>(FindingKind::out_of_bounds);
    finding.space = static_cast<std::uint32_t>(FindingSpace::buffer);
    finding.offset = finding.bytes = 16;
    const std::vector<BufferSpec> buffers = {{"out", ElementType::int32, Role::output, ""}};
    const auto hint = [&] { return describe_findings(buffers, {}, "", {}, {finding}).front().hint; };
    EXPECT_EQ(hint().find("_scratch_bytes()"), std::string::npos);
    finding.buffer = 1;
    EXPECT_NE(hint().find("_scratch_bytes()"), std::string::npos);
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
