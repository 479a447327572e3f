#include "grader/judge/settle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/model/cause.h"

namespace warplab {
namespace {

using testing::HasSubstr;

Compilation refused() {
    Compilation compilation;
    compilation.verdict = Verdict::failed;
    compilation.failure = Failure{cause::refused_feature, "Line 2: inline PTX cannot run on the CPU backend", "", {}};
    return compilation;
}

TEST(Settle, TheSanitizerIsUnconfirmedIfTheCpuBackendRefusesTheFile) {
    const SanitizerResult check_mode = settle_sanitizer(refused());
    EXPECT_EQ(check_mode.verdict, SanitizerResult::Verdict::unconfirmed);
    EXPECT_EQ(check_mode.datasets, 0);
    EXPECT_THAT(check_mode.remark, HasSubstr("unconfirmed"));
    EXPECT_THAT(check_mode.remark, HasSubstr("Line 2: inline PTX"));
}

TEST(Settle, TheSanitizerHasAnErrorIfItsCompilerFails) {
    Compilation broken;
    broken.failure = Failure{cause::internal, "the compiler could not be started", "", {}};
    EXPECT_EQ(settle_sanitizer(broken).verdict, SanitizerResult::Verdict::error);
}

Check failed_with(const char* cause) {
    Check check;
    check.verdict = Verdict::failed;
    check.failure = Failure{cause, "", "of the outputs alone", {}};
    return check;
}

std::vector<Check> explanations(const std::vector<Check>& checks, const std::vector<Finding>& findings) {
    return with_explanations(checks, findings, {});
}

TEST(Settle, AFindingIsTheCauseIfTheOutputsHaveNone) {
    const std::vector<Check> checks = {
        failed_with(cause::race), failed_with(cause::wrong_value),   {}, failed_with(cause::out_of_bounds_write),
        failed_with("tail_lost"), failed_with(cause::grid_too_small)};
    const auto raced =
        explanations(checks, {{.cause = "race", .note = true, .message = "harmless", .hint = "other words"},
                              {.cause = "race", .line = 9, .message = "Race on it.", .hint = "an atomic"}});
    for (const std::size_t index : {0u, 1u, 5u}) {
        EXPECT_EQ(raced[index].failure->cause, "race");
        EXPECT_EQ(raced[index].failure->message, "Line 9: Race on it.");
        EXPECT_EQ(raced[index].failure->hint, "an atomic");
    }
    for (const std::size_t index : {3u, 4u}) EXPECT_EQ(raced[index].failure->hint, "of the outputs alone");
    const auto out_of_bounds =
        explanations(checks, {{.cause = "out_of_bounds", .line = 28, .message = "Kernel k writes."}});
    for (const std::size_t index : {0u, 1u, 3u, 5u}) EXPECT_EQ(out_of_bounds[index].failure->cause, "out_of_bounds");
    EXPECT_EQ(out_of_bounds[4].failure->cause, "tail_lost");
    EXPECT_EQ(explanations(checks, {})[0].failure->hint, "of the outputs alone");
}

TEST(Settle, ATileThatIsTooSmallExplainsElementsThatAreNotLoaded) {
    const std::vector<Check> checks = {failed_with("halo_missing"), failed_with("transposed")};
    const auto small = explanations(checks, {{.cause = "out_of_bounds", .line = 9, .message = "Index 32 of tile."}});
    EXPECT_EQ(small[0].failure->cause, "out_of_bounds");
    EXPECT_EQ(small[1].failure->cause, "transposed");
    EXPECT_EQ(explanations(checks, {{.cause = "uninitialised", .line = 9}})[0].failure->cause, "halo_missing");
}

TEST(Settle, AReadOfTheOutputExplainsElementsThatSeemUnwritten) {
    Check check = failed_with("steps_too_far");
    check.failure->place = Place{"out", 1, "1.5", "nan"};
    const auto cause_if_read = [&](const char* buffer) {
        return explanations({check}, {{.cause = "uninitialised", .line = 9, .buffer = buffer}})[0].failure->cause;
    };
    EXPECT_EQ(cause_if_read("out"), "uninitialised");
    EXPECT_EQ(cause_if_read(""), "steps_too_far");
}

TEST(Settle, ThreadsThatOverwriteEachOtherExplainLostResults) {
    for (const char* lost : {"lost_maximum", "nothing_counted", "share_lost"}) {
        const std::vector<Check> checks = {failed_with(lost)};
        for (const char* cause : {"race", "atomic_race", "return_before_barrier"})
            EXPECT_EQ(explanations(checks, {{.cause = cause, .line = 9, .message = "Why."}})[0].failure->cause, cause);
        EXPECT_EQ(explanations(checks, {{.cause = "leak", .line = 9}})[0].failure->cause, lost);
    }
}

TEST(Settle, AnAccessOfTheHostToDeviceMemoryExplainsACrash) {
    const std::vector<Check> checks = {failed_with(cause::crash)};
    EXPECT_EQ(explanations(checks, {{.cause = "device_memory", .line = 9, .message = "Why."}})[0].failure->message,
              "Line 9: Why.");
}

TEST(Settle, AFreeOfAWrongPointerExplainsTheErrorThatItReturns) {
    const std::vector<Check> checks = {failed_with(cause::cuda_error), failed_with(cause::wrong_value)};
    const auto results = explanations(checks, {{.cause = "invalid_free", .line = 9, .message = "Freed before."}});
    EXPECT_EQ(results[0].failure->message, "Line 9: Freed before.");
    EXPECT_EQ(results[1].failure->cause, "wrong_value");
}

TEST(Settle, ABarrierThatSomeThreadsMissExplainsAllOutputs) {
    Check lost = failed_with("vector_tail_lost"), crashed = failed_with(cause::crash);
    lost.failure->place = Place{"bins", 234, "2", "1"};
    const auto with = [&](bool note) {
        return explanations({lost, crashed}, {{.cause = "return_before_barrier", .note = note, .line = 23}});
    };
    EXPECT_EQ(with(false)[0].failure->cause, "return_before_barrier");
    EXPECT_EQ(with(false)[1].failure->cause, cause::crash);
    EXPECT_EQ(with(true)[0].failure->cause, "vector_tail_lost");
}

TEST(Settle, AWrongLaneMaskExplainsADeadlock) {
    const std::vector<Check> checks = {failed_with(cause::deadlock)};
    const auto with_finding = [&](const char* cause) {
        return explanations(checks, {{.cause = cause, .line = 9, .message = "Why."}});
    };
    EXPECT_EQ(with_finding("lane_mask")[0].failure->cause, "lane_mask");
    EXPECT_EQ(with_finding("race")[0].failure->cause, "deadlock");
}

TEST(Settle, ANoteThatExplainsWrongOutputsIsTheCause) {
    const std::vector<Check> checks = {failed_with(cause::wrong_value), failed_with("tail_lost")};
    const auto results =
        explanations(checks, {{.cause = "absent_lane", .note = true, .line = 3, .message = "Lane 8."}});
    EXPECT_EQ(results[0].failure->cause, "absent_lane");
    EXPECT_EQ(results[1].failure->cause, "tail_lost");
}

TEST(Settle, AKeptValueIsTheCauseOnlyIfALaterCallIsWrong) {
    const std::vector<Check> checks = {failed_with(cause::kept_state), failed_with("stale_result"),
                                       failed_with(cause::wrong_value)};
    const auto results =
        explanations(checks, {{.cause = "kept_value", .note = true, .line = 9, .message = "Kernel k reads it."}});
    for (const std::size_t later : {0u, 1u}) EXPECT_EQ(results[later].failure->message, "Line 9: Kernel k reads it.");
    EXPECT_EQ(results[2].failure->hint, "of the outputs alone");
}

TEST(Settle, ARaceExplainsAnAnswerThatOnlyTheSecondCallGetsWrong) {
    const std::vector<Check> checks = {failed_with(cause::kept_state)};
    EXPECT_EQ(explanations(checks, {{.cause = "race", .line = 9, .message = "Why."}})[0].failure->cause, "race");
    EXPECT_EQ(explanations(checks, {{.cause = "leak", .line = 9}})[0].failure->cause, cause::kept_state);
}

TEST(Settle, AReadOutOfBoundsExplainsElementsThatSeemToBeCountedByTheWrongBlocks) {
    for (const char* cause : {"block_index_forgotten", "bins_lost", "shared_not_cleared", "bytes_not_elements"}) {
        const std::vector<Check> checks = {failed_with(cause)};
        EXPECT_EQ(explanations(checks, {{.cause = "out_of_bounds", .line = 9, .message = "Why."}})[0].failure->cause,
                  "out_of_bounds");
        EXPECT_EQ(explanations(checks, {{.cause = "race", .line = 9}})[0].failure->cause, cause);
    }
}

TEST(Settle, AReadOutOfBoundsExplainsBinsThatAreFullAndMaximaThatAreTooLarge) {
    const std::vector<Check> checks = {failed_with("all_full"), failed_with("maximum_too_large")};
    for (const Check& check :
         explanations(checks, {{.cause = "out_of_bounds", .line = 9, .message = "Reads scratch."}}))
        EXPECT_EQ(check.failure->message, "Line 9: Reads scratch.");
}

TEST(Settle, AWarningComesFirstIfTheCauseIsUnknown) {
    const std::vector<Check> checks = {failed_with(cause::wrong_value), failed_with(cause::timeout),
                                       failed_with("tail_lost")};
    Compilation warned;
    warned.warned_line = 3;
    const auto results = with_explanations(checks, {}, warned);
    for (const std::size_t unknown : {0u, 1u})
        EXPECT_TRUE(results[unknown].failure->message.ends_with(" The compiler warns about line 3: start there."));
    warned.log = "a.cu:2:1: warning: other\na.cu:3:9: warning: s is a separate array\n";
    EXPECT_TRUE(with_explanations(checks, {}, warned)[0].failure->message.ends_with(
        " The compiler warns about line 3 (s is a separate array): start there."));
    warned.log = "";
    EXPECT_EQ(results[2].failure->hint, "of the outputs alone");
    for (const int line : {2, 3, 5, 6}) {
        const auto near_finding =
            with_explanations(checks, {{.cause = "out_of_bounds", .line = line, .hint = "Guard it."}}, warned);
        const bool is_near = line == 3 || line == 5;
        EXPECT_EQ(near_finding[0].failure->hint,
                  is_near ? "The compiler warns about line 3: start there. Guard it." : "Guard it.");
    }
}

Check check_with(Verdict verdict, bool skipped = false) {
    Check check;
    check.dataset = "tiny";
    check.points = 1;
    check.verdict = verdict;
    check.skipped = skipped;
    if (verdict == Verdict::failed) check.failure = Failure{cause::wrong_value, "out[0] is 1.", "", {}};
    return check;
}

Evidence compiled() {
    Evidence evidence;
    evidence.compilation.verdict = Verdict::passed;
    evidence.checks = {check_with(Verdict::passed), check_with(Verdict::error, true)};
    return evidence;
}

StageReport settled(const Evidence& evidence, const std::string& only_dataset = "") {
    Stage stage;
    stage.points.correctness = 4;
    return settle({}, stage, evidence, only_dataset);
}

TEST(Settle, AStagePassesIfAllDatasetsThatRanPassed) {
    EXPECT_EQ(settled(compiled()).verdict, Verdict::passed);
    EXPECT_EQ(settled(compiled()).score->correctness, 4);
    EXPECT_FALSE(settled(compiled(), "tiny").score);
}

TEST(Settle, TheFailureThatTellsMostIsTheFirst) {
    const auto first_cause = [](std::vector<Check> checks) {
        Evidence evidence = compiled();
        evidence.checks.insert(evidence.checks.end(), checks.begin(), checks.end());
        const StageReport report = settled(evidence);
        return std::ranges::find(report.checks, Verdict::failed, &Check::verdict)->failure->cause;
    };
    const auto failed_at = [](const char* cause) {
        Check check = failed_with(cause);
        check.failure->place = Place{"out", 1, "1", "2"};
        return check;
    };
    Check hidden = failed_at("tail_twice");
    hidden.hidden = true;
    const Check vague = failed_at(cause::wrong_value), clear = failed_at("tail_twice");
    EXPECT_EQ(first_cause({vague, clear, clear}), "tail_twice");
    EXPECT_EQ(first_cause({vague, failed_at("tail_lost"), clear, clear}), "tail_twice");
    EXPECT_EQ(first_cause({vague, clear}), cause::wrong_value);
    EXPECT_EQ(first_cause({vague, hidden, hidden}), cause::wrong_value);
    EXPECT_EQ(first_cause({vague, failed_with(cause::timeout), failed_with(cause::timeout)}), cause::wrong_value);
    EXPECT_EQ(first_cause({failed_at("tail_lost"), clear, clear}), "tail_lost");
}

TEST(Settle, AnErrorOutweighsAFailure) {
    Evidence evidence = compiled();
    evidence.checks.push_back(check_with(Verdict::failed));
    EXPECT_EQ(settled(evidence).verdict, Verdict::failed);
    evidence.checks.push_back(check_with(Verdict::error));
    EXPECT_EQ(settled(evidence).verdict, Verdict::error);
    evidence = compiled();
    evidence.error = internal_error("no memory");
    EXPECT_EQ(settled(evidence).verdict, Verdict::error);
    EXPECT_FALSE(settled(evidence).score);
}

TEST(Settle, AFindingFailsAStageWithCorrectOutputs) {
    Evidence evidence = compiled();
    evidence.sanitizer = settle_sanitizer(Sanitized{{check_with(Verdict::passed)}, {}, {{.cause = "race"}}, ""});
    EXPECT_EQ(settled(evidence).verdict, Verdict::failed);
    evidence.sanitizer =
        settle_sanitizer(Sanitized{{check_with(Verdict::passed)}, {}, {{.cause = "race", .note = true}}, ""});
    EXPECT_EQ(settled(evidence).verdict, Verdict::passed);
}

TEST(Settle, AnUnchangedStarterWithWrongOutputsGetsNoPoints) {
    Evidence evidence = compiled();
    evidence.starter = Failure{cause::starter, "This file is still the starter.", "Did you edit it?", {}};
    EXPECT_EQ(settled(evidence).verdict, Verdict::passed);
    EXPECT_EQ(settled(evidence).score->correctness, 4);
    evidence.checks.push_back(check_with(Verdict::failed));
    EXPECT_EQ(settled(evidence).checks.back().failure->cause, cause::starter);
    EXPECT_EQ(settled(evidence).score->correctness, 0) << "for a dataset that a starter happens to get right";
}

TEST(Settle, RepeatedWorkIsNotedIfOutputsAreCorrect) {
    Evidence evidence = compiled();
    const Finding repeated{.cause = "same_value", .note = true, .line = 4, .message = "Again.", .hint = "The step?"};
    evidence.sanitizer = settle_sanitizer(Sanitized{{check_with(Verdict::passed)}, {}, {repeated}, ""});
    EXPECT_EQ(settled(evidence).verdict, Verdict::passed);
    EXPECT_THAT(settled(evidence).notes, testing::ElementsAre("Line 4: Again. The step?"));
    evidence.checks.push_back(check_with(Verdict::failed));
    EXPECT_THAT(settled(evidence).notes, testing::IsEmpty());
}

TEST(Settle, AFailureDuringTimingBecomesASeparateCheck) {
    Evidence evidence = compiled();
    evidence.timed.failed = check_with(Verdict::failed);
    EXPECT_EQ(settled(evidence).verdict, Verdict::failed);
    EXPECT_EQ(settled(evidence).checks.size(), 3u);
}

TEST(Settle, ARefusedFileThatNvccCompilesIsDecidedOnAGpu) {
    Evidence evidence;
    evidence.refused = true;
    evidence.compilation.verdict = Verdict::failed;
    evidence.compilation.failure = Failure{cause::compile_error, "Line 3: no such name", "", {}};
    EXPECT_EQ(settled(evidence).compilation.failure->cause, cause::compile_error);
    evidence.nvcc.answer = NvccAnswer::Answer::compiles;
    const StageReport report = settled(evidence);
    EXPECT_EQ(report.verdict, Verdict::failed);
    EXPECT_EQ(report.compilation.failure->cause, cause::refused_feature);
    EXPECT_TRUE(report.score->correctness_pending);
}

TEST(Settle, TheSanitizerIsUnconfirmedIfItDidNotFinishOrIsInDoubt) {
    using enum SanitizerResult::Verdict;
    EXPECT_EQ(settle_sanitizer(Sanitized{{check_with(Verdict::passed)}, {}, {}, ""}).verdict, passed);
    EXPECT_EQ(settle_sanitizer(Sanitized{{check_with(Verdict::passed)}, {}, {}, "It lost one."}).verdict, unconfirmed);
    EXPECT_EQ(settle_sanitizer(Sanitized{{check_with(Verdict::failed)}, {}, {}, ""}).verdict, unconfirmed);
    EXPECT_EQ(settle_sanitizer(Sanitized{{check_with(Verdict::error)}, {}, {}, ""}).verdict, error);
}

}  // namespace
}  // namespace warplab
