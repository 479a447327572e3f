#include "grader/judge/present/board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/approval.h"

namespace warplab {
namespace {

using testing::HasSubstr;

Check check(const std::string& dataset, Verdict verdict) {
    Check result;
    result.dataset = dataset;
    result.verdict = verdict;
    return result;
}

Dataset dataset(const std::string& name, std::int64_t n) {
    Dataset result;
    result.name = name;
    result.parameters = {{"n", n}, {"other", std::int64_t{7}}};
    return result;
}

class Board : public testing::Test {
  protected:
    Board() {
        lab.sizes = {"n"};
        lab.datasets = {dataset("one", 1), dataset("ragged", 1000003), dataset("huge", 2148483651)};
        stage.checks = {check("one", Verdict::passed), check("ragged", Verdict::failed),
                        check("huge", Verdict::passed)};
        stage.checks[2].skipped = true;
    }
    Lab lab;
    StageReport stage;
};

TEST_F(Board, MarksEachDatasetAndShowsItsSizes) {
    EXPECT_EQ(render_board(stage, lab, {}), "✓ one n=1  ✗ ragged n=1,000,003  - huge n=2,148,483,651\n");
}

TEST_F(Board, DatasetsThatWereNotRunAreNotMarkedAsFailed) {
    stage.checks[1].blocked_by = "one";
    EXPECT_THAT(render_board(stage, lab, {}), HasSubstr("- ragged"));
}

TEST_F(Board, FitsTheTerminal) {
    EXPECT_EQ(render_board(stage, lab, {false, 35}), "✓ one n=1  ✗ ragged n=1,000,003\n- huge n=2,148,483,651\n");
}

TEST_F(Board, IsEmptyForAStageThatDidNotCompile) {
    stage.checks.clear();
    EXPECT_EQ(render_board(stage, lab, {}), "");
}

TEST_F(Board, NameFromAReportIsPrintable) {
    stage.checks[0].dataset = "\033[2J";
    EXPECT_THAT(render_board(stage, lab, {}), testing::Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace warplab
