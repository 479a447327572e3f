#include "grader/judge/lab/show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warplab {
namespace {

using testing::HasSubstr;

template <class Call>
std::string error_of(Call call) {
    try {
        call();
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}

TEST(ShowRequest, NumbersAreReadAndBounded) {
    const ShowRequest request{{}, {{"size", "7"}, {"words", "many"}, {"half", "7x"}, {"none", ""}}, {}};
    EXPECT_EQ(request.number("size", 5, 1, 15), 7);
    EXPECT_EQ(request.number("other", 5, 1, 15), 5);
    for (const char* name : {"words", "half", "none"})
        EXPECT_THAT(error_of([&] { request.number(name, 5, 1, 15); }), HasSubstr("give a number from 1 to 15"));
    EXPECT_THAT(error_of([&] { request.number("size", 5, 1, 6); }), HasSubstr("size=7"));
}

TEST(ShowRequest, UnknownSettingsAreNamed) {
    const ShowRequest request{{}, {{"sice", "7"}}, {}};
    EXPECT_EQ(error_of([&] {
                  request.require_only({"size", "speed"});
              }),
              "This lab has no setting \"sice\". Its settings: size, speed.");
    EXPECT_THAT(error_of([&] { request.require_only({}); }), HasSubstr("settings: none"));
    EXPECT_EQ(error_of([&] { request.require_only({"sice"}); }), "");
}

}  // namespace
}  // namespace warplab
