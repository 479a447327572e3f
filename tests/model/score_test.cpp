#include "grader/model/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "grader/model/cause.h"

namespace warplab {
namespace {

using testing::HasSubstr;

Stage stage_worth(double correctness, double hygiene, double speed) {
    Stage stage;
    stage.id = "01_x";
    stage.points = {correctness, hygiene, speed};
    return stage;
}

Check check(double points, Verdict verdict, bool skipped = false) {
    Check check;
    check.points = points;
    check.verdict = verdict;
    check.skipped = skipped;
    return check;
}

/// Return a measurement of `ratio` seconds; the reference takes 1 s and the sequential CPU 100 s.
Measurement timed(double ratio) {
    Measurement measured;
    measured.dataset = "large";
    measured.median_s = ratio;
    measured.reference_s = 1;
    measured.reference_ratio = Interval{ratio, ratio, ratio};
    measured.sequential_s = 100;
    return measured;
}

StageReport report_with(std::vector<Check> checks, std::vector<Measurement> measurements = {}) {
    StageReport report;
    report.compilation.verdict = Verdict::passed;
    report.verdict = verdict_of(checks);
    report.checks = std::move(checks);
    report.measurements = std::move(measurements);
    return report;
}

const Check good = check(1, Verdict::passed), bad = check(1, Verdict::failed);

// --- the formula ---

double share(double t, double reference_s, double sequential_s, std::optional<double> previous_ratio = std::nullopt) {
    return speed_share(t, speed_marks(reference_s, sequential_s, previous_ratio));
}

TEST(SpeedShare, IsFullUpToTheFullMark) {
    EXPECT_EQ(share(1.2, 1, 100), 1);
    EXPECT_EQ(share(0.5, 1, 100), 1);
    EXPECT_EQ(share(1e-9, 1, 100), 1);
    EXPECT_LT(share(1.21, 1, 100), 1);
}

TEST(SpeedShare, IsZeroFromTheZeroMark) {
    EXPECT_EQ(share(100, 1, 100), 0);
    EXPECT_EQ(share(1e9, 1, 100), 0);
    EXPECT_GT(share(99, 1, 100), 0);
}

TEST(SpeedShare, IsLogarithmicInBetween) {
    EXPECT_NEAR(share(std::sqrt(1.2 * 100), 1, 100), 0.5, 1e-12);
    EXPECT_NEAR(share(2, 1, 100), std::log(50) / std::log(100 / 1.2), 1e-12);
}

TEST(SpeedShare, AcceptsAReferenceSlowerThanTheCpu) {
    // The zero mark is 4.8 s, not the CPU's 0.1 s.
    EXPECT_EQ(share(1.2, 1, 0.1), 1);
    EXPECT_NEAR(share(2.4, 1, 0.1), 0.5, 1e-12);
    EXPECT_EQ(share(4.8, 1, 0.1), 0);
    EXPECT_NEAR(share(2.4, 1, std::numeric_limits<double>::quiet_NaN()), 0.5, 1e-12);
}

TEST(SpeedShare, DoesNotDependOnTheUnit) { EXPECT_NEAR(share(3, 1, 50), share(3e-6, 1e-6, 50e-6), 1e-12); }

TEST(SpeedShare, RefusesInvalidTimes) {
    EXPECT_THROW(share(1, 0, 1), std::invalid_argument);
    EXPECT_THROW(share(-1, 1, 1), std::invalid_argument);
    EXPECT_THROW(share(std::numeric_limits<double>::quiet_NaN(), 1, 1), std::invalid_argument);
    EXPECT_THROW(share(1, std::numeric_limits<double>::infinity(), 1), std::invalid_argument);
}

TEST(SpeedShare, AcceptsAnIntervalWithInfiniteEnds) {
    EXPECT_EQ(share(0, 1, 50), 1);
    EXPECT_EQ(share(std::numeric_limits<double>::infinity(), 1, 50), 0);
}

TEST(SpeedShare, IsZeroFromThePreviousStagesTimeIfThatIsClearlyLonger) {
    EXPECT_EQ(share(1.2, 1, 100, 3), 1);
    EXPECT_EQ(share(3, 1, 100, 3), 0);
    EXPECT_NEAR(share(std::sqrt(1.2 * 3), 1, 100, 3), 0.5, 1e-12);
    EXPECT_EQ(share(1.4, 1, 100, 1.4), 0);
    EXPECT_EQ(share(1.4, 1, 100, 1.39), share(1.4, 1, 100));
    EXPECT_EQ(share(2, 1, 100, 0.5), share(2, 1, 100));
    EXPECT_EQ(share(2, 1, 100, std::numeric_limits<double>::quiet_NaN()), share(2, 1, 100));
}

// --- modelled times ---

/// Return a stage that was not timed, with a modelled ratio to the reference.
StageReport modelled(double low, double median, double high, std::optional<Interval> previous_ratio = std::nullopt) {
    StageReport report = report_with({good});
    report.modelled_time = ModelledTime{};
    report.modelled_time->gpu = "NVIDIA H200";
    report.modelled_time->reference_s = 1;
    report.modelled_time->reference_ratio = Interval{median, low, high};
    report.modelled_time->previous_ratio = previous_ratio;
    return report;
}

TEST(Score, ModelledTimesGivePointsIfTheirIntervalIsOnOneSideOfTheMarks) {
    const auto fast = score_stage(stage_worth(6, 2, 2), modelled(0.5, 0.8, 1.1));
    EXPECT_EQ(fast->speed, 2);
    EXPECT_FALSE(fast->speed_pending);
    EXPECT_TRUE(fast->speed_modelled);
    EXPECT_THAT(fast->speed_why, HasSubstr("modelled for the NVIDIA H200, not measured"));
    const auto slow = score_stage(stage_worth(6, 2, 2), modelled(5, 9, 20));
    EXPECT_EQ(slow->speed, 0);
    EXPECT_FALSE(slow->speed_pending);
}

TEST(Score, ModelledTimesShowARangeIfTheyLeaveTheSpeedOpen) {
    const auto open = score_stage(stage_worth(6, 2, 2), modelled(1, 2.4, 4.8));
    EXPECT_EQ(open->speed, 0);
    EXPECT_TRUE(open->speed_pending);
    EXPECT_TRUE(open->speed_modelled);
    EXPECT_THAT(open->speed_why, HasSubstr("0 to 2 of 2 points"));
}

TEST(Score, TheBetterEndCountsIfModelledTimesLeaveATenthOpen) {
    // The interval's upper end gives 94% of the points, its lower end all.
    const auto near = score_stage(stage_worth(6, 2, 2), modelled(0.77, 1, 1.3));
    EXPECT_EQ(near->speed, 2);
    EXPECT_FALSE(near->speed_pending);
    EXPECT_TRUE(score_stage(stage_worth(6, 2, 2), modelled(0.77, 1, 1.3, Interval{1.5, 1.5, 1.5}))->speed_pending);
}

TEST(Score, ModelledTimesLeaveTheSpeedOpenIfThePreviousStagesTimeIsUncertain) {
    const auto at = [](double low, double high) {
        return *modelled_points(2, *modelled(1.3, 1.3, 1.3, Interval{2, low, high}).modelled_time);
    };
    EXPECT_TRUE(at(1.9, 2.1).is_decided);
    EXPECT_FALSE(at(1.5, 3).is_decided);
    EXPECT_NEAR(at(1, 3).min, 2 * share(1.3, 1, 0, 1.4), 1e-12);  // between its ends, it may be clearly longer or not
    EXPECT_NEAR(at(1, 3).max, 2 * share(1.3, 1, 0), 1e-12);
}

TEST(Score, AMeasurementReplacesAModelledTime) {
    StageReport both = modelled(0.5, 0.8, 1.1);
    both.measurements = {timed(1000)};
    const auto score = score_stage(stage_worth(6, 2, 2), both);
    EXPECT_EQ(score->speed, 0);
    EXPECT_FALSE(score->speed_modelled);
}

TEST(Score, WithoutAModelledRatioSpeedIsPending) {
    StageReport none = modelled(1, 1, 1);
    none.modelled_time->reference_ratio.reset();
    none.modelled_time->why_not = "the trace is damaged";
    const auto score = score_stage(stage_worth(6, 2, 2), none);
    EXPECT_TRUE(score->speed_pending);
    EXPECT_THAT(score->speed_why, HasSubstr("not modelled: the trace is damaged"));
}

TEST(Score, WrongOutputsGetNoModelledPoints) {
    StageReport wrong = modelled(0.5, 0.8, 1.1);
    wrong.checks = {bad};
    EXPECT_EQ(score_stage(stage_worth(6, 2, 2), wrong)->speed, 0);
}

// --- correctness ---

TEST(Score, CorrectnessIsTheWeightedShareThatPassed) {
    const auto score =
        score_stage(stage_worth(8, 0, 0), report_with({check(1, Verdict::passed), check(3, Verdict::failed)}));
    EXPECT_DOUBLE_EQ(score->correctness, 2);
    EXPECT_EQ(score->correctness_max, 8);
    EXPECT_DOUBLE_EQ(score->total(), 2);
}

TEST(Score, SkippedDatasetsDoNotCount) {
    const auto stage = stage_worth(8, 0, 0);
    const auto skipped = check(100, Verdict::error, true);
    EXPECT_DOUBLE_EQ(score_stage(stage, report_with({good, skipped}))->correctness, 8);
    EXPECT_DOUBLE_EQ(score_stage(stage, report_with({good, bad, skipped}))->correctness, 4);
}

TEST(Score, DatasetsWithoutElementsAloneEarnNothing) {
    const auto stage = stage_worth(8, 0, 0);
    Check empty = good;
    empty.empty = true;
    const auto untouched = score_stage(stage, report_with({bad, empty}));
    EXPECT_EQ(untouched->correctness, 0);
    EXPECT_THAT(untouched->correctness_why, HasSubstr("no elements"));
    const auto partly_correct = score_stage(stage, report_with({bad, good, empty, check(1, Verdict::failed)}));
    EXPECT_DOUBLE_EQ(partly_correct->correctness, 4);
    EXPECT_EQ(partly_correct->correctness_why, "");
}

TEST(Score, AFileThatDoesNotCompileGetsNoPoints) {
    StageReport report;
    report.verdict = report.compilation.verdict = Verdict::failed;
    const auto score = score_stage(stage_worth(8, 1, 1), report);
    EXPECT_EQ(score->total(), 0);
    EXPECT_EQ(score->max(), 10);
    EXPECT_FALSE(score->speed_pending);
}

StageReport refused_by_the_cpu_backend(const NvccAnswer& nvcc) {
    StageReport report;
    report.verdict = report.compilation.verdict = Verdict::failed;
    report.compilation.failure =
        Failure{cause::refused_feature, "Line 2: thrust: Thrust cannot run on the CPU backend; write a loop", "", {}};
    report.compilation.nvcc = nvcc;
    return report;
}

TEST(Score, AllPointsArePendingIfOnlyTheCpuBackendRefusesTheFile) {
    using enum NvccAnswer::Answer;
    for (const auto kind : {not_asked, compiles, not_found, no_answer}) {
        const auto score = score_stage(stage_worth(6, 2, 2), refused_by_the_cpu_backend({kind, ""}));
        EXPECT_TRUE(score->correctness_pending && score->hygiene_pending && score->speed_pending)
            << static_cast<int>(kind);
        EXPECT_EQ(score->total(), 0);
        EXPECT_EQ(score->max(), 10);
        EXPECT_EQ(pending(*score), 10);
        EXPECT_EQ(score->correctness_why, "grading on a GPU decides, because the CPU backend refuses the file");
        EXPECT_NE(score->hygiene_why, "");
        EXPECT_NE(score->speed_why, "");
    }
    const auto correctness_alone = score_stage(stage_worth(8, 0, 0), refused_by_the_cpu_backend({}));
    EXPECT_FALSE(correctness_alone->hygiene_pending || correctness_alone->speed_pending);
}

TEST(Score, AFileThatNvccRefusesTooGetsNoPoints) {
    const NvccAnswer refusal{NvccAnswer::Answer::refuses, "student.cu:4: error: no member w"};
    const auto score = score_stage(stage_worth(6, 2, 2), refused_by_the_cpu_backend(refusal));
    EXPECT_EQ(score->total(), 0);
    EXPECT_EQ(pending(*score), 0);
}

// --- errors of the judge ---

TEST(Score, ErrorsHaveNoScore) {
    auto report = report_with({good});
    report.verdict = Verdict::error;
    EXPECT_FALSE(score_stage(stage_worth(8, 1, 1), report));
}

TEST(Score, ADatasetThatCouldNotBeJudgedCostsNothing) {
    EXPECT_FALSE(score_stage(stage_worth(8, 0, 0), report_with({bad, check(1, Verdict::error)})));
}

TEST(Score, AStageWithoutChecksHasNoScore) {
    EXPECT_FALSE(score_stage(stage_worth(8, 0, 0), report_with({})));
    EXPECT_FALSE(score_stage(stage_worth(8, 0, 0), report_with({check(1, Verdict::error, true)})));
}

// --- hygiene ---

SanitizerResult check_mode(SanitizerResult::Verdict verdict, std::vector<Finding> findings = {}) {
    SanitizerResult result;
    result.verdict = verdict;
    result.findings = std::move(findings);
    return result;
}

Finding finding(bool is_note) {
    Finding result;
    result.cause = "race";
    result.note = is_note;
    return result;
}

TEST(Score, HygieneIsPendingWithoutTheSanitizer) {
    const auto score = score_stage(stage_worth(8, 2, 0), report_with({good}));
    EXPECT_TRUE(score->hygiene_pending);
    EXPECT_EQ(score->hygiene_max, 2);
    EXPECT_EQ(score->hygiene, 0);
    EXPECT_EQ(score->hygiene_why, "the sanitizer was skipped");
    EXPECT_FALSE(score_stage(stage_worth(8, 0, 0), report_with({good}))->hygiene_pending);
}

TEST(Score, NotesCostNoHygiene) {
    auto report = report_with({good});
    report.check_mode = check_mode(SanitizerResult::Verdict::passed, {finding(true)});
    const auto score = score_stage(stage_worth(8, 2, 0), report);
    EXPECT_EQ(score->hygiene, 2);
    EXPECT_FALSE(score->hygiene_pending);
    EXPECT_EQ(score->hygiene_why, "");
}

TEST(Score, AFindingCostsOnlyHygiene) {
    auto report = report_with({good}, {timed(1)});
    report.verdict = Verdict::failed;
    report.check_mode = check_mode(SanitizerResult::Verdict::failed, {finding(false)});
    const auto score = score_stage(stage_worth(6, 2, 2), report);
    EXPECT_EQ(score->correctness, 6);
    EXPECT_EQ(score->hygiene, 0);
    EXPECT_FALSE(score->hygiene_pending);
    EXPECT_THAT(score->hygiene_why, HasSubstr("the sanitizer found"));
    EXPECT_EQ(score->speed, 2);
}

TEST(Score, WrongOutputsEarnNoHygiene) {
    auto report = report_with({good, bad});
    report.check_mode = check_mode(SanitizerResult::Verdict::passed);
    const auto score = score_stage(stage_worth(8, 2, 0), report);
    EXPECT_EQ(score->hygiene, 0);
    EXPECT_FALSE(score->hygiene_pending);
    EXPECT_THAT(score->hygiene_why, HasSubstr("every dataset passes"));
}

TEST(Score, HygieneThatIsGivenWithoutARunHasARemark) {
    auto report = report_with({good});
    report.check_mode = check_mode(SanitizerResult::Verdict::passed);
    report.check_mode->remark = "given without the sanitizer";
    const auto score = score_stage(stage_worth(8, 2, 0), report);
    EXPECT_EQ(score->hygiene, 2);
    EXPECT_EQ(score->hygiene_why, "given without the sanitizer");
}

TEST(Score, HygieneIsPendingIfTheSanitizerFailed) {
    auto report = report_with({good});
    report.check_mode = check_mode(SanitizerResult::Verdict::error);
    report.check_mode->remark = "the sanitizer could not finish tiny";
    const auto score = score_stage(stage_worth(8, 2, 0), report);
    EXPECT_TRUE(score->hygiene_pending);
    EXPECT_EQ(score->hygiene, 0);
    EXPECT_EQ(score->hygiene_why, "the sanitizer could not finish tiny");
}

TEST(Score, HygieneIsPendingIfTheSanitizerIsUnconfirmed) {
    auto report = report_with({good});
    report.check_mode = check_mode(SanitizerResult::Verdict::unconfirmed);
    report.check_mode->remark = "1 finding was sent, and 0 arrived";
    const auto score = score_stage(stage_worth(8, 2, 0), report);
    EXPECT_TRUE(score->hygiene_pending);
    EXPECT_EQ(score->hygiene, 0);
    EXPECT_EQ(score->hygiene_why, "1 finding was sent, and 0 arrived");
}

// --- speed ---

TEST(Score, UnscoredTimesGiveNoPoints) {
    Measurement unscored = timed(50);
    unscored.scored = false;
    const auto score = score_stage(stage_worth(6, 0, 4), report_with({good}, {timed(1), unscored}));
    EXPECT_EQ(score->speed, 4);
    const auto alone = score_stage(stage_worth(6, 0, 4), report_with({good}, {unscored}));
    EXPECT_TRUE(alone->speed_pending);
}

TEST(Score, SpeedIsPendingUntilItIsTimed) {
    const auto score = score_stage(stage_worth(8, 0, 4), report_with({good}));
    EXPECT_TRUE(score->speed_pending);
    EXPECT_EQ(score->speed, 0);
    EXPECT_THAT(score->speed_why, HasSubstr("GPU"));
}

TEST(Score, SpeedIsPendingWithoutAReference) {
    auto measured = timed(1);
    measured.reference_s.reset();
    measured.reference_ratio.reset();
    const auto score = score_stage(stage_worth(8, 0, 4), report_with({good}, {timed(1), measured}));
    EXPECT_TRUE(score->speed_pending);
    EXPECT_THAT(score->speed_why, HasSubstr("reference"));
}

TEST(Score, SpeedIsPendingIfATimeIsInvalid) {
    for (const double nonsense : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
        const auto score = score_stage(stage_worth(8, 0, 4), report_with({good}, {timed(nonsense)}));
        EXPECT_TRUE(score->speed_pending) << nonsense;
        EXPECT_THAT(score->speed_why, HasSubstr("large"));
    }
}

TEST(Score, AFailedCheckLosesAllSpeedPoints) {
    const auto score = score_stage(stage_worth(8, 0, 4), report_with({good, bad}, {timed(1)}));
    EXPECT_FALSE(score->speed_pending);
    EXPECT_EQ(score->speed, 0);
    EXPECT_THAT(score->speed_why, HasSubstr("every dataset passes"));
}

TEST(Score, SpeedIsClampedBeforeItIsAveraged) {
    // A very fast dataset does not make up for a dataset at the zero mark.
    const auto score = score_stage(stage_worth(8, 0, 4), report_with({good}, {timed(0.0012), timed(100)}));
    EXPECT_DOUBLE_EQ(score->speed, 2);
    EXPECT_FALSE(score->speed_pending);
    EXPECT_EQ(score->speed_why, "");
}

TEST(Score, SpeedIsZeroAtThePreviousStagesTime) {
    Measurement measured = timed(3);
    EXPECT_GT(score_stage(stage_worth(6, 2, 2), report_with({good}, {measured}))->speed, 1);
    measured.previous_ratio = 3;
    EXPECT_EQ(score_stage(stage_worth(6, 2, 2), report_with({good}, {measured}))->speed, 0);
}

TEST(Score, SpeedPointsUseThePairedRatio) {
    auto measured = timed(1.2);
    measured.median_s = 50;  // the machine slowed down while student and reference ran
    EXPECT_DOUBLE_EQ(score_stage(stage_worth(8, 0, 4), report_with({good}, {measured}))->speed, 4);
    measured.reference_ratio.reset();
    EXPECT_LT(score_stage(stage_worth(8, 0, 4), report_with({good}, {measured}))->speed, 1);
}

TEST(Score, AMarkInsideAnAmbiguousIntervalCountsForTheStudent) {
    auto measured = timed(1.25);
    measured.reference_ratio = Interval{1.25, 1.15, 1.35};
    const auto speed = [&] { return score_stage(stage_worth(8, 0, 4), report_with({good}, {measured}))->speed; };
    const double by_median = speed();
    EXPECT_LT(by_median, 4);
    measured.ambiguous = true;
    EXPECT_DOUBLE_EQ(speed(), 4);

    measured.reference_ratio = Interval{1.25, 1.22, 1.35};  // contains no mark, so the points do not change
    EXPECT_DOUBLE_EQ(speed(), by_median);

    measured.reference_ratio = Interval{101, 90, 110};  // contains the zero mark
    EXPECT_GT(speed(), 0);
}

TEST(Score, StagesWithoutSpeedPointsHaveNoPendingPoints) {
    const auto score = score_stage(stage_worth(8, 0, 0), report_with({good}, {timed(1)}));
    EXPECT_FALSE(score->speed_pending);
    EXPECT_EQ(score->speed_why, "");
    EXPECT_DOUBLE_EQ(score->total(), 8);
}

}  // namespace
}  // namespace warplab
