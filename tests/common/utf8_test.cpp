#include "grader/common/utf8.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <type_traits>

namespace warplab {
namespace {

TEST(Utf8, KeepsValidText) {
    for (const std::string valid : {"a", "\u00e4", "\u20ac", "\U0001f600", "\U0010ffff"}) {
        EXPECT_EQ(utf8_length(valid, 0), valid.size());
        EXPECT_EQ(to_valid_utf8(valid), valid);
    }
}

TEST(Utf8, ReplacesInvalidBytes) {
    EXPECT_EQ(to_valid_utf8("\xff"), "\ufffd");
    EXPECT_EQ(to_valid_utf8("\xc3"), "\ufffd");                                // cut off
    EXPECT_EQ(to_valid_utf8("\xc0\xaf"), "\ufffd\ufffd");                      // overlong
    EXPECT_EQ(to_valid_utf8("\xe0\x80\xaf"), "\ufffd\ufffd\ufffd");            // overlong
    EXPECT_EQ(to_valid_utf8("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");            // a surrogate
    EXPECT_EQ(to_valid_utf8("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");  // beyond U+10FFFF
    EXPECT_EQ(to_valid_utf8("a\x80z"), "a\ufffdz");
}

TEST(Utf8, PrintableTextKeepsLinesAndReplacesControlCharacters) {
    EXPECT_EQ(to_printable("a\r\nb\n"), "a\nb\n");
    EXPECT_EQ(to_printable("\033[31mred\x7f"), "?[31mred?");
    EXPECT_EQ(to_printable("\u009b31m"), "?31m");
    EXPECT_EQ(to_printable(std::string("a\0b", 3)), "a?b");
    EXPECT_EQ(to_printable("ab\tc\n\td"), "ab      c\n        d");
    EXPECT_EQ(to_printable("\u00e4\u20ac"), "\u00e4\u20ac");
}

TEST(Utf8, PrintableTextHasNoInvisibleCharacters) {
    for (const char* hidden :
         {"\u202e", "\u2066", "\u200b", "\u200d", "\u2028", "\ufeff", "\u00ad", "\U000e0041", "\u061c"})
        EXPECT_EQ(to_printable("a" + std::string(hidden) + "b"), "a?b") << hidden;
    EXPECT_EQ(to_printable("\U0001f600\u0301\u4e2d"), "\U0001f600\u0301\u4e2d");
}

TEST(Utf8, ForeignTextPrintsAsOneHarmlessLine) {
    EXPECT_EQ(UntrustedText("H200\n\033[2J\u202e").for_terminal(), "H200 ?[2J?");
    static_assert(!std::is_convertible_v<UntrustedText, std::string>);
    static_assert(!fmt::is_formattable<UntrustedText>::value);
}

TEST(Utf8, WidthCountsCharacters) { EXPECT_EQ(display_width("a\u00e4\u20ac"), 3u); }

}  // namespace
}  // namespace warplab
