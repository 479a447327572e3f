#include "grader/judge/present/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/model/approval.h"
#include "tests/model/sample_report.h"

namespace warplab {
namespace {

TEST(Table, IsAsApproved) {
    auto other = test::sample_report();
    other.lab = "vector_add";
    other.stages = {test::timed_stage()};
    other.stages[0].stage = "03_vector_loads";
    other.stages[0].measurements.pop_back();
    const Report both[] = {test::sample_report(), other};
    test::expect_approved("table.txt", render_table(both, {}));
    test::expect_approved("table_wide.txt", render_table(both, {false, 120}));
}

TEST(Table, WithoutTimingAsApproved) {
    const Report reports[] = {test::cpu_report()};
    test::expect_approved("table_cpu.txt", render_table(reports, {}));
}

TEST(Table, FitsEightyColumns) {
    auto report = test::sample_report();
    report.stages[0].stage = "01_one_thread_per_element";
    report.stages[4].measurements.pop_back();
    report.stages[4].measurements[0].sequential_s *= 150;
    report.stages[4].measurements[0].ambiguous = true;
    const Report reports[] = {report};
    EXPECT_LE(test::widest_line(render_table(reports, {})), 80u);
}

TEST(Table, WithoutReportsIsEmpty) {
    EXPECT_EQ(render_table({}, {}), "");
    const Report reports[] = {Report{}};
    EXPECT_THAT(render_table(reports, {}), testing::Not(testing::HasSubstr("verdict")));
}

TEST(Table, ColoursDoNotMoveColumns) {
    const Report reports[] = {test::cpu_report()};
    std::string coloured = render_table(reports, {true, 80});
    for (const auto* code : {"\033[0m", "\033[1m", "\033[31m", "\033[32m"})
        for (std::size_t at; (at = coloured.find(code)) != std::string::npos;) coloured.erase(at, std::strlen(code));
    EXPECT_EQ(coloured, render_table(reports, {}));
}

}  // namespace
}  // namespace warplab
