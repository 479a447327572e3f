#include "grader/judge/present/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/common/utf8.h"
#include "grader/judge/present/table.h"
#include "tests/judge/present/render_report.h"
#include "tests/model/approval.h"
#include "tests/model/sample_report.h"

namespace warplab {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Render, ReportAsApproved) { test::expect_approved("report.txt", test::render_report(test::sample_report(), {})); }

TEST(Render, ReportOnTheCpuAsApproved) {
    test::expect_approved("report_cpu.txt", test::render_report(test::cpu_report(), {}, StudentsOutput::shown));
}

TEST(Render, ReportInColourAsApproved) {
    test::expect_approved("report_colour.txt", test::render_report(test::sample_report(), {true, 80}));
}

TEST(Render, RaceWithRightOutputsAsApproved) {
    test::expect_approved("stage_racing.txt", render_stage(test::racing_stage(), {}));
}

TEST(Render, EveryLineFitsEightyColumns) {
    // Lines of the compiler are not wrapped.
    auto report = test::sample_report();
    report.stages[2].compilation.log.clear();
    EXPECT_LE(test::widest_line(test::render_report(report, {})), 80u);
}

TEST(Render, WarningsAreShownForStagesThatDidNotPass) {
    StageReport stage = test::racing_stage();
    stage.compilation.log = "02.cu:6: warning: 'sum' may be used uninitialized\n";
    EXPECT_THAT(render_stage(stage, {}), HasSubstr("may be used uninitialized"));
    stage.verdict = Verdict::passed;
    EXPECT_THAT(render_stage(stage, {}), Not(HasSubstr("may be used uninitialized")));
}

TEST(Render, ANoteThatCanExplainAFailureIsALikelyReason) {
    StageReport stage = test::sample_report().stages[1];
    stage.check_mode->findings = {{.cause = "absent_lane", .note = true, .message = "the value of lane 31"}};
    EXPECT_THAT(render_stage(stage, {}), HasSubstr("the value of lane 31"));
    stage.check_mode->findings[0].cause = "unset_constant";
    EXPECT_THAT(render_stage(stage, {}), HasSubstr("the value of lane 31"));
    stage.check_mode->findings[0].cause = "beside_atomic";
    EXPECT_THAT(render_stage(stage, {}), Not(HasSubstr("the value of lane 31")));
}

TEST(Render, GuessedCausesAreOmittedIfOneIsProven) {
    StageReport stage = test::sample_report().stages[1];
    const auto failed = [](const char* dataset, const char* cause, const char* message) {
        Check check;
        check.dataset = dataset;
        check.verdict = Verdict::failed;
        check.failure = Failure{cause, message, "", {}};
        return check;
    };
    stage.check_mode->findings = {{.cause = "race", .message = "Race on element 2"}};
    const std::string proven = message_of(stage.check_mode->findings[0]);
    stage.checks = {failed("large", "race", proven.c_str()), failed("small", "tail_lost", "One is missing"),
                    failed("even", "race", "Race on element 4")};
    EXPECT_THAT(render_stage(stage, {}), HasSubstr("Also did not pass: small; even (race)"));
    stage.check_mode->findings[0].message = "Race on element 8";
    EXPECT_THAT(render_stage(stage, {}), HasSubstr("Also did not pass: small (tail_lost); even (race)"));
}

TEST(Render, EveryPrintoutNamesBackendAndSandbox) {
    const Report reports[] = {test::cpu_report()};
    for (const auto& text : {test::render_report(reports[0], {}), render_table(reports, {})}) {
        EXPECT_THAT(text, HasSubstr("backend: cpu"));
        EXPECT_THAT(text, HasSubstr("sandbox: none"));
    }
}

TEST(Render, EscapeSequencesOfAStudentDoNotReachTheTerminal) {
    auto report = test::sample_report();
    const std::string attack =
        "\033[2J\x9b"
        "1m\u009b0mfine\a";
    auto& stage = report.stages[2];
    stage.compilation.log = stage.output = stage.compilation.failure->message = attack;
    report.stages[1].checks[1].failure->place->actual = attack;
    report.stages[1].notes = {attack};
    for (const auto text : {&Finding::cause, &Finding::message, &Finding::text, &Finding::other_text})
        report.stages[1].check_mode->findings[0].*text = attack;
    report.stages[4].measurements[0].limit = attack;
    report.stages[4].measurements[0].caveats = {attack};
    report.stages[3].error->cause = attack;
    report.tree = attack;
    const Report reports[] = {report};
    for (const auto& text : {test::render_report(report, {}, StudentsOutput::shown), render_table(reports, {})})
        for (const auto* forbidden : {"\033", "\a", "\u009b"}) EXPECT_THAT(text, Not(HasSubstr(forbidden)));
}

TEST(Render, LongLogsAreCut) {
    auto stage = test::uncompiled_stage();
    stage.compilation.log.clear();
    for (int i = 0; i < 1000; ++i) stage.compilation.log += "error " + std::to_string(i) + "\n";
    const auto text = render_stage(stage, {});
    EXPECT_THAT(text, HasSubstr("error 39\n"));
    EXPECT_THAT(text, Not(HasSubstr("error 40\n")));
    EXPECT_THAT(text, HasSubstr("... and 960 more lines (the report has them)"));
}

TEST(Render, OutputIsShownWhenAskedFor) {
    EXPECT_THAT(render_stage(test::passed_stage(), {}, StudentsOutput::shown),
                HasSubstr("The program printed:\n    n = 7\n"));
    EXPECT_THAT(render_stage(test::passed_stage(), {}), Not(HasSubstr("n = 7")));
    EXPECT_THAT(render_stage(test::timed_stage(), {}, StudentsOutput::shown), HasSubstr("printed nothing"));
}

TEST(Render, AStageThatNeedsAGpuHasNoPointsYet) {
    StageReport stage = test::stage_report("05_thrust", "Thrust", Verdict::failed);
    stage.compilation.verdict = Verdict::failed;
    stage.compilation.failure =
        Failure{cause::refused_feature, "Line 2: Thrust cannot run on the CPU backend.", "", {}};
    stage.score = Score{};
    stage.score->correctness_max = 6;
    stage.score->correctness_pending = true;
    stage.score->correctness_why = "grading on a GPU decides";
    const std::string text = render_stage(stage, {});
    EXPECT_THAT(text, HasSubstr("05_thrust: failed (the CPU backend cannot run it)"));
    EXPECT_THAT(text, HasSubstr("Points: 0 of 6 (correctness pending)"));
    EXPECT_THAT(text, HasSubstr("correctness, up to 6 more: grading on a GPU decides"));
}

TEST(Render, ErrorsSayThatTheyCostNothing) {
    EXPECT_THAT(render_stage(test::error_stage(), {}), HasSubstr("this costs no points"));
}

}  // namespace
}  // namespace warplab
