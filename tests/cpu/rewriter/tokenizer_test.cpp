#include "grader/cpu/rewriter/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace warplab::rewriter {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(std::string_view source) {
    std::vector<std::string> result;
    for (const auto& token : tokenize(source)) result.emplace_back(token.text);
    return result;
}

TEST(Tokenizer, SplitsLaunches) {
    EXPECT_THAT(texts("k<T><<<g,b>>>(p);"),
                ElementsAre("k", "<", "T", ">", "<<<", "g", ",", "b", ">", ">", ">", "(", "p", ")", ";"));
    EXPECT_THAT(texts("a::b->c ## d <= e >= f << g"),
                ElementsAre("a", "::", "b", "->", "c", "##", "d", "<=", "e", ">=", "f", "<<", "g"));
}

TEST(Tokenizer, OmitsCommentsAndSplices) {
    EXPECT_THAT(texts("a // k<<<1,1>>>() \\\n still a comment\nb /* asm \n */ c \\\n d"),
                ElementsAre("a", "b", "c", "d"));
    EXPECT_THAT(texts("a // one \\ \t\n#if 0\nb \\\f\n c"), ElementsAre("a", "b", "c"));
    EXPECT_THAT(texts("\"a\\ \nb\" c"), ElementsAre("\"a\\ \nb\"", "c"));
    EXPECT_THAT(texts("a /* never closed"), ElementsAre("a"));
    EXPECT_THAT(texts("a / b // c"), ElementsAre("a", "/", "b"));
}

TEST(Tokenizer, KeepsLiteralsWhole) {
    EXPECT_THAT(texts(R"(f("a // \" b", '\'', L"x", u8'y'))"),
                ElementsAre("f", "(", R"("a // \" b")", ",", R"('\'')", ",", R"(L"x")", ",", "u8'y'", ")"));
    EXPECT_THAT(texts("R\"(a\"\n)b)\" c"), ElementsAre("R\"(a\"\n)b)\"", "c"));
    EXPECT_THAT(texts("R\"xy( )\" )xz\" )xy\" c"), ElementsAre("R\"xy( )\" )xz\" )xy\"", "c"));
    EXPECT_THAT(texts("1'000'000 1.5e-3f 0x1p+2 .5f 1.x"), ElementsAre("1'000'000", "1.5e-3f", "0x1p+2", ".5f", "1.x"));
    EXPECT_THAT(texts("1'$\"' asm 1'\xc3\xa9\"'"), ElementsAre("1", "'$\"'", "asm", "1", "'\xc3\xa9\"'"));
}

TEST(Tokenizer, KeepsSuffixesWithTheirLiterals) {
    EXPECT_THAT(texts("\"\"R\"(\" asm \")\" 'a'_s R\"(x)\"_t b"),
                ElementsAre("\"\"R", "\"(\"", "asm", "\")\"", "'a'_s", "R\"(x)\"_t", "b"));
    EXPECT_THAT(texts("\"\"\\u{e9}R\"(\" asm"), ElementsAre("\"\"\\u{e9}R", "\"(\"", "asm"));
    EXPECT_THAT(texts("\\N{DIGIT}R\"(\" \\u00e9R\"(\""), ElementsAre("\\N{DIGIT}R", "\"(\"", "\\u00e9R", "\"(\""));
}

TEST(Tokenizer, UnterminatedLiteralsEndWithTheirLineAndRawOnesWithTheFile) {
    EXPECT_THAT(texts("#error don't\na"), ElementsAre("#", "error", "don", "'t", "a"));
    EXPECT_THAT(texts("\"a\nb"), ElementsAre("\"a", "b"));
    EXPECT_THAT(texts("R\"(a\nb"), ElementsAre("R\"(a\nb"));
    EXPECT_THAT(texts("R\"no parenthesis\"\nb"), ElementsAre("R\"no parenthesis\"", "b"));
    EXPECT_THAT(texts("\"a\\"), ElementsAre("\"a\\"));
}

TEST(Tokenizer, FindsDirectivesAndHeaders) {
    const auto tokens = tokenize("#include <a/b.h> // x\n#  define A(x) \\\n x /* \n */ + 1\nint # y;");
    ASSERT_EQ(tokens.size(), 16u);
    EXPECT_EQ(tokens[2].kind, Kind::header);
    EXPECT_EQ(tokens[2].text, "<a/b.h>");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(tokens[i].directive, 1u) << i;
    for (int i = 3; i < 12; ++i) EXPECT_EQ(tokens[i].directive, 2u) << i;
    EXPECT_EQ(tokens[12].text, "int");
    EXPECT_EQ(tokens[12].directive, 0u);
    EXPECT_TRUE(tokens[12].first_on_line);
    EXPECT_FALSE(tokens[13].first_on_line);
    EXPECT_EQ(tokens[13].directive, 0u) << "a # within a line does not begin a directive";
}

TEST(Tokenizer, OffsetsCountBytesOfTheSource) {
    const std::string source = "é = \"é\";\n\tx";
    for (const auto& token : tokenize(source))
        EXPECT_EQ(source.substr(token.begin, token.end - token.begin), token.text);
}

}  // namespace
}  // namespace warplab::rewriter
