#include "grader/judge/present/questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/model/cause.h"

namespace warplab {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

StageReport failed(const char* cause, const char* hint) {
    StageReport stage;
    Check check;
    check.failure = Failure{cause, "What happened.", hint, {}};
    stage.checks = {check};
    return stage;
}

std::string hint_of(const StageReport& stage) { return ask_first(stage).checks[0].failure->hint; }

TEST(Questions, QuestionComesBeforeTheHint) {
    EXPECT_EQ(hint_of(failed("tail_lost", "Round up.")),
              "What is blocks times threads per block, and how many elements are there? HINT=1 says what to try.");
    EXPECT_EQ(ask_first(failed("tail_lost", "Round up.")).checks[0].failure->message, "What happened.");
}

TEST(Questions, AHintWithoutAQuestionIsShown) {
    EXPECT_EQ(hint_of(failed("own_cause_of_a_lab", "Do this.")), "Do this.");
    EXPECT_EQ(hint_of(failed(cause::compile_error, "Do this.")), "Do this.");
}

TEST(Questions, NoHintIsMentionedIfThereIsNone) { EXPECT_EQ(hint_of(failed("tail_lost", "")), ""); }

TEST(Questions, FindingsHaveQuestions) {
    StageReport stage;
    stage.check_mode.emplace();
    stage.check_mode->findings = {{.cause = cause::race, .hint = "A barrier belongs here."}};
    EXPECT_THAT(ask_first(stage).check_mode->findings[0].hint, HasSubstr("is first? HINT=1"));
}

TEST(Questions, CommonMistakesWithThreadsHaveAQuestion) {
    for (const char* cause : {cause::not_launched, cause::never_written, cause::out_of_bounds, cause::race,
                              cause::divergent_barrier, cause::deadlock, cause::uninitialised, cause::kept_state})
        EXPECT_THAT(std::string(question_about(cause)), EndsWith("?")) << cause;
}

TEST(Questions, DefectsThatTheSanitizerFindsHaveAQuestion) {
    for (const char* cause : {cause::race,
                              cause::atomic_race,
                              cause::divergent_barrier,
                              cause::return_before_barrier,
                              cause::out_of_bounds,
                              cause::uninitialised,
                              cause::kept_value,
                              cause::misaligned,
                              cause::lane_mask,
                              cause::absent_lane,
                              cause::host_memory,
                              cause::device_memory,
                              cause::use_after_free,
                              cause::invalid_free,
                              cause::leak,
                              cause::not_destroyed,
                              cause::copy_size,
                              cause::copy_direction,
                              cause::unfinished_work,
                              cause::failed_launch,
                              cause::input_written,
                              cause::constant_written})
        EXPECT_THAT(std::string(question_about(cause)), EndsWith("?")) << cause;
}

}  // namespace
}  // namespace warplab
