#include "grader/cpu/rewriter/splices.h"

#include <gtest/gtest.h>

#include "grader/cpu/rewriter/rewriter.h"

namespace warplab::rewriter {
namespace {

TEST(Splices, MoveToTheEndOfTheTokenThatTheyDivide) {
    EXPECT_EQ(join_split_tokens("__glo\\\nbal__ void k();"), "__global__\\\n void k();");
    EXPECT_EQ(join_split_tokens("k<\\\n<<1, 2>>>(p);"), "k<<<\\\n1, 2>>>(p);");
    EXPECT_EQ(join_split_tokens("k<\\ \n<\\\n<1, 2>>>(p);"), "k<<<\\ \n\\\n1, 2>>>(p);");
    EXPECT_EQ(join_split_tokens("/\\\n/ k <<<\nint a;"), "//\\\n k <<<\nint a;");
    EXPECT_EQ(join_split_tokens("int one\\\n1 = 1\\\n2;"), "int one1\\\n = 12\\\n;");
}

TEST(Splices, BetweenTokensAreKept) {
    for (const std::string source : {"#define M(x) do {\\\nx;\\\n} while (0)\n", "f(a,\\\nb);", "int\\\n a;", "a \\\nb",
                                     "\"a\\\nb\"", "// a\\\nb\nc", "R\"(a\\\nb)\"", "a\\", "\\\n", ""})
        EXPECT_EQ(join_split_tokens(source), source);
}

TEST(Splices, DividedTokensAreReadByTheRewriter) {
    const auto rewritten = rewrite("__glo\\\nbal__ void k() {}\nvoid f() { k<\\\n<<1, 2>>>(); }\n", "a.cu");
    EXPECT_TRUE(rewritten.problems.empty());
    EXPECT_NE(rewritten.text.find("Launch(\"k\", __LINE__"), std::string::npos);
    EXPECT_FALSE(rewrite("#li\\\nne 1 \"b\"\n", "a.cu").problems.empty());
}

}  // namespace
}  // namespace warplab::rewriter
