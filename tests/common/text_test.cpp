#include "grader/common/text.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

namespace warplab {
namespace {

TEST(FormatNumber, KeepsSignificantDigitsWithoutExponent) {
    EXPECT_EQ(format_number(0), "0");
    EXPECT_EQ(format_number(1), "1.00");
    EXPECT_EQ(format_number(12.345), "12.3");
    EXPECT_EQ(format_number(45678), "45678");
    EXPECT_EQ(format_number(0.00123456), "0.00123");
    EXPECT_EQ(format_number(0.00123456, 4), "0.001235");
    EXPECT_EQ(format_number(-2.5), "-2.50");
    EXPECT_EQ(format_number(1e-6, 2), "0.0000010");
}

TEST(FormatNumber, RoundingUpAddsNoDigit) {
    EXPECT_EQ(format_number(9.996), "10.0");
    EXPECT_EQ(format_number(99.96), "100");
    EXPECT_EQ(format_number(999.6), "1000");
    EXPECT_EQ(format_number(0.0009996), "0.00100");
}

TEST(FormatNumber, ShowsNanAndInfinity) {
    EXPECT_EQ(format_number(std::numeric_limits<double>::quiet_NaN()), "unknown");
    EXPECT_EQ(format_number(std::numeric_limits<double>::infinity()), "infinite");
}

TEST(FormatSeconds, ChoosesTheUnit) {
    EXPECT_EQ(format_seconds(0), "0 s");
    EXPECT_EQ(format_seconds(8.12e-7), "812 ns");
    EXPECT_EQ(format_seconds(1.23e-5), "12.3 us");
    EXPECT_EQ(format_seconds(0.00456), "4.56 ms");
    EXPECT_EQ(format_seconds(1.234), "1.23 s");
    EXPECT_EQ(format_seconds(0.9999), "1.00 s");
    EXPECT_EQ(format_seconds(0.9994), "999 ms");
    EXPECT_EQ(format_seconds(7720), "7720 s");
    EXPECT_EQ(format_seconds(1e-12), "0.00100 ns");
}

TEST(FormatBytes, UsesUnitsOf1024) {
    EXPECT_EQ(format_bytes(0), "0 bytes");
    EXPECT_EQ(format_bytes(1), "1 byte");
    EXPECT_EQ(format_bytes(512), "512 bytes");
    EXPECT_EQ(format_bytes(1024), "1 KB");
    EXPECT_EQ(format_bytes(48 * 1024), "48 KB");
    EXPECT_EQ(format_bytes(1.5 * 1024 * 1024), "1.5 MB");
    EXPECT_EQ(format_bytes(100e6), "95.4 MB");
    EXPECT_EQ(format_bytes(4.0 * (1ull << 30)), "4 GB");
}

TEST(FormatBytes, IsExactNearALimit) {
    EXPECT_EQ(format_bytes(65536), "64 KB");
    EXPECT_EQ(format_bytes(65540), "65,540 bytes");
    EXPECT_EQ(format_bytes(1'000), "1,000 bytes");
}

TEST(FormatCount, GroupsThousands) {
    EXPECT_EQ(format_count(0), "0");
    EXPECT_EQ(format_count(999), "999");
    EXPECT_EQ(format_count(1000), "1,000");
    EXPECT_EQ(format_count(1048576), "1,048,576");
    EXPECT_EQ(format_count(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Format, BandwidthPointsFactorsSharesAndPlurals) {
    EXPECT_EQ(format_bandwidth(4.277e12), "4277 GB/s");
    EXPECT_EQ(format_points(10), "10");
    EXPECT_EQ(format_points(7.5), "7.5");
    EXPECT_EQ(format_points(2.0 / 3), "0.67");
    EXPECT_EQ(format_points(100), "100");
    EXPECT_EQ(format_factor(14.23), "14.2x");
    EXPECT_EQ(format_share(0.952), "95%");
    EXPECT_EQ(format_share(1), "100%");
    EXPECT_EQ(format_share(0.0321), "3.2%");
    EXPECT_EQ(format_plural(1, "dataset"), "1 dataset");
    EXPECT_EQ(format_plural(2000, "dataset"), "2,000 datasets");
}

TEST(Wrap, BreaksAtSpacesAndIndents) {
    EXPECT_EQ(wrap("one two three four five six", 2, 24), "  one two three four\n  five six\n");
    EXPECT_EQ(wrap("", 2, 24), "");
    EXPECT_EQ(wrap("one\n\ntwo  three", 0, 80), "one\ntwo three\n");
}

TEST(Wrap, NeverBreaksAWordAndWorksOnANarrowTerminal) {
    const std::string word(50, 'x');
    EXPECT_EQ(wrap("a " + word + " b", 0, 30), "a\n" + word + "\nb\n");
    EXPECT_EQ(wrap("ab cd", 4, 1), "    ab cd\n");
}

TEST(Wrap, CountsCharactersNotBytes) {
    EXPECT_EQ(wrap("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4 bbbbbbbbb c", 0, 20),
              "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4 bbbbbbbbb\nc\n");
}

class Environment : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(::pipe(ends_), 0);
        ::unsetenv("COLUMNS");
    }
    void TearDown() override {
        ::close(ends_[0]);
        ::close(ends_[1]);
        ::unsetenv("COLUMNS");
    }
    int ends_[2];
};

TEST_F(Environment, PrintsNoColoursToAPipe) {
    EXPECT_FALSE(text_style(ends_[1]).colour);
    EXPECT_EQ(text_style(ends_[1]).width, 80);
}

TEST_F(Environment, ColumnsSetTheWidth) {
    ::setenv("COLUMNS", "100", 1);
    EXPECT_EQ(text_style(ends_[1]).width, 100);
    ::setenv("COLUMNS", "wide", 1);
    EXPECT_EQ(text_style(ends_[1]).width, 80);
}

TEST(Shorten, KeepsWholeCharacters) {
    EXPECT_EQ(shorten("short", 5), "short");
    EXPECT_EQ(shorten("longer", 5), "longe…");
    EXPECT_EQ(shorten("aää", 2), "a…");
    EXPECT_EQ(shorten("aää", 3), "aä…");
    EXPECT_EQ(shorten("\x80\x80\x80\x80\x80\x80", 5), "\x80\x80…");
    EXPECT_EQ(shorten("ä", 0), "…");
}

TEST(TextStyle, TerminalHasColoursUnlessNoColorIsSet) {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0) GTEST_SKIP() << "no pseudo-terminal here";
    ::unsetenv("NO_COLOR");
    ::setenv("TERM", "xterm", 1);
    EXPECT_TRUE(text_style(terminal).colour);
    ::setenv("NO_COLOR", "1", 1);
    EXPECT_FALSE(text_style(terminal).colour);
    ::unsetenv("NO_COLOR");
    ::setenv("TERM", "dumb", 1);
    EXPECT_FALSE(text_style(terminal).colour);
    ::close(terminal);
}

}  // namespace
}  // namespace warplab
