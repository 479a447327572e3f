#include "grader/cpu/rewriter/digraphs.h"

#include <gtest/gtest.h>

#include "grader/cpu/rewriter/rewriter.h"

namespace warplab::rewriter {
namespace {

std::string without_digraphs(std::string source) {
    replace_digraphs(source);
    return source;
}

TEST(Digraphs, AreReplacedInPlace) {
    EXPECT_EQ(without_digraphs("%:define N 4\nint a<:N:> = <% 1 %>;"), "# define N 4\nint a[ N]  = {  1 } ;");
    EXPECT_EQ(without_digraphs("%:define J(a, b) a %:%: b"), "# define J(a, b) a ##   b");
    EXPECT_EQ(without_digraphs("int a<::> = <%%>;"), "int a[ ]  = { } ;");
    EXPECT_EQ(without_digraphs("a<:1:>=2"), "a[ 1] =2");
    EXPECT_EQ(without_digraphs("%\\ \n:line 1"), "#\\ \n line 1");
}

TEST(Digraphs, OtherTextIsUnchanged) {
    for (const std::string source : {"std::vector<::T> v;", "f(\"<: %: %>\"); // <% %>", "R\"(<:)\"", "a < : b",
                                     "x % y ? 1 : 2", "k<<<1, 2>>>(p);", "a <b> ::c", "/* %: */ '<'"})
        EXPECT_EQ(without_digraphs(source), source);
}

TEST(Digraphs, AreReadByTheRewriter) {
    const auto rewritten =
        rewrite("%:define N 4\n__global__ void k() <% __shared__ int s<:N:>; s<:0:> = 1; %>\n", "a.cu");
    EXPECT_TRUE(rewritten.problems.empty());
    EXPECT_FALSE(rewrite("%:line 1 \"b\"\n", "a.cu").problems.empty());
    EXPECT_FALSE(rewrite("%\\\n:line 1 \"b\"\n", "a.cu").problems.empty());
}

}  // namespace
}  // namespace warplab::rewriter
