// A file whose conditions depend on the compiler may be a different program on a GPU.
#include "grader/judge/predict/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warplab::predict {
namespace {

using testing::HasSubstr;

TEST(ForeignCondition, IsNamedWithItsLine) {
    EXPECT_EQ(find_foreign_condition("int a;\n#ifdef __CUDA_ARCH__\n#endif\n"),
              "line 2 depends on __CUDA_ARCH__, which may differ on a GPU");
}

TEST(ForeignCondition, IsFoundInEverySpelling) {
    for (const char* text :
         {"#if defined(__WARPLAB_CPU__)", "#  ifndef __CUDACC__", "%:ifdef __GNUC__", "#if 1\n#elif __x86_64__",
          "#if \\\n  __CUDA_ARCH__ > 800", "/**/ #ifdef __WARPLAB_CPU__", "#if __has_include(<cooperative_groups.h>)",
          "#if /* */ __WARPLAB_CPU__", "#if NEVER_DEFINED"})
        EXPECT_NE(find_foreign_condition(text), "") << text;
}

TEST(ForeignCondition, CannotBeHidden) {
    for (const char* text :
         {"#ifdef __GNUC__\r\n#endif\r\n", "#\\ \nifdef __GNUC__", "/*\n*/ #ifdef __GNUC__", "#/*\n*/ifdef __GNUC__",
          "#if /*\n*/ __GNUC__", "#if '/*' && __GNUC__ // */", "#if '//' && __GNUC__",
          "auto a = R\"a\"b(/*)a\"b\";\n#if __GNUC__", "auto a = u8'\"' \"/*\";\n#if __GNUC__",
          "#if 1'0 /* ' */ && __GNUC__", "/*#*/ #ifdef __GNUC__", "#elifdef __GNUC__"})
        EXPECT_NE(find_foreign_condition(text), "") << text;
}

TEST(ForeignCondition, IsFoundInLinearTimeWithoutRecursion) {
    const std::size_t many = 100'000;
    const auto repeat = [](const std::string& part) {
        std::string text;
        for (std::size_t i = 0; i < many; ++i) text += part;
        return text;
    };
    EXPECT_EQ(find_foreign_condition("/*" + std::string(10 * many, ' ') + "*/"), "");
    EXPECT_NE(find_foreign_condition(repeat("#/*")), "");
    EXPECT_EQ(find_foreign_condition(repeat("\\ ")), "");
    EXPECT_EQ(find_foreign_condition(repeat("#\n")), "");
    EXPECT_NE(find_foreign_condition("#define A " + repeat("+ 1 ")), "");
    EXPECT_NE(find_foreign_condition("#if 1" + repeat(" + 1") + "\n"), "");
    EXPECT_NE(find_foreign_condition(repeat("#if /*\n*/ ")), "");
}

TEST(ForeignCondition, IsFoundInAMacroOfTheFile) {
    EXPECT_THAT(find_foreign_condition("#define HERE __WARPLAB_CPU__\n#if HERE\n#endif"), HasSubstr("HERE"));
    EXPECT_NE(find_foreign_condition("#define A __GNUC__\n#define B A\n#if B\n#endif"), "");
    EXPECT_NE(find_foreign_condition("#ifndef __WARPLAB_CPU__\n#define __WARPLAB_CPU__ 0\n#endif"), "");
}

TEST(ForeignCondition, IsFoundOutsideOfDirectives) {
    EXPECT_THAT(find_foreign_condition("int a;\nint gpu = TEXT(__WARPLAB_CPU__)[0] == '_';"), HasSubstr("line 2"));
    EXPECT_NE(find_foreign_condition("bool gpu = __GNUC__ > 99;"), "");
    EXPECT_NE(find_foreign_condition("bool gpu = __WARPLAB\\\n_CPU__;"), "");
    EXPECT_NE(find_foreign_condition("#undef __WARPLAB_CPU__"), "");
    EXPECT_NE(find_foreign_condition("auto a = L'\\\"', b = \"/*\"; bool gpu = __GNUC__ > 99; // */"), "");
    EXPECT_NE(find_foreign_condition("auto a = L'\"'; auto b = \"/*\"; bool gpu = __GNUC__ > 99; // */"), "");
    EXPECT_NE(find_foreign_condition("auto a = R\"()\\\n\"/*)\"; bool gpu = __GNUC__ > 99; // */"), "");
    const std::string text = "#define TEXT(x) #x\n", name = "#define NAME(x) gpu_%:%:x\n";
    EXPECT_NE(find_foreign_condition(text + "#define TEXT_OF(x) TEXT(x)\n"), "");
    EXPECT_NE(find_foreign_condition(name + "#define NAME_OF(x) NAME(x)\n"), "");
    EXPECT_NE(find_foreign_condition(text + "#define ID(x) x\n#define NONE\nchar a = ID(TEXT NONE (__global__))[0];"),
              "");
    EXPECT_EQ(find_foreign_condition(text + "const char* a = TEXT(n);\n"), "");
    EXPECT_EQ(
        find_foreign_condition("#define CHECK(call) check(call, #call, __FILE__, __LINE__)\nvoid f() { CHECK(g()); }"),
        "");
    EXPECT_EQ(find_foreign_condition("__global__ void k(int* __restrict__ a) { __syncthreads(); }"), "");
}

TEST(ForeignCondition, TunablesAreNotForeign) {
    EXPECT_EQ(find_foreign_condition("#ifndef BLOCK  // threads\n#define BLOCK 256\n#endif\n#define HALF (BLOCK / 2)\n"
                                     "#if HALF > 64 && defined(BLOCK)\n#endif\n// #ifdef __CUDA_ARCH__\n"),
              "");
}

}  // namespace
}  // namespace warplab::predict
