#include "grader/cpu/rewriter/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "grader/cpu/rewriter/rewriter.h"
#include "tests/paths.h"

namespace warplab::rewriter {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string refusal_of(std::string_view source) { return show_problems(rewrite(source, "a.cu"), "a.cu"); }

/// Return source that the pattern must refuse.
std::string example_of(std::string_view pattern) {
    const std::string text(pattern);
    if (text.front() == '<') return "#include " + text + "x.h>\n";
    if (text.back() == '<') return text + "float, 2> variable;";
    if (text.back() == '*') return "auto x = " + text.substr(0, text.size() - 1) + "Example(1);";
    return "auto x = " + text + (text.back() == ':' ? "example" : "") + ";";
}

TEST(Refusals, EveryLineOfTheTableRefuses) {
    for (const auto& refusal : refusals()) {
        const auto shown = refusal_of(example_of(refusal.pattern));
        EXPECT_THAT(shown, StartsWith("a.cu:1:")) << refusal.pattern;
        EXPECT_THAT(shown, HasSubstr(std::string(refusal.reason) + " cannot run on the CPU backend; " +
                                     std::string(refusal.instead)))
            << refusal.pattern;
    }
}

TEST(Refusals, SuppliedHeadersAreThoseOfTheBackend) {
    const auto include = warplab::test::root_folder() / "grader/cpu/include";
    std::set<std::string> on_disk, listed;
    for (const auto header : supplied_headers()) {
        EXPECT_TRUE(std::filesystem::exists(include / header)) << header;
        EXPECT_EQ(refusal_of("#include <" + std::string(header) + ">\n"), "");
        if (header.starts_with("cuda/") || header.starts_with("cub/")) listed.emplace(header);
    }
    for (const char* folder : {"cuda", "cub"}) {
        for (const auto& file : std::filesystem::recursive_directory_iterator(include / folder))
            if (file.is_regular_file() && file.path().extension() != ".h")
                on_disk.insert(std::filesystem::relative(file.path(), include).string());
    }
    EXPECT_EQ(listed, on_disk);
    EXPECT_THAT(refusal_of("#include <cuda/mdspan>\n"), HasSubstr("libcu++"));
}

std::string repeated(int count, const std::string& text) {
    std::string result;
    for (int i = 0; i < count; ++i) result += text;
    return result;
}

TEST(Refusals, CodeThatCompilesTooSlowlyIsRefused) {
    const std::string in_macro = "#define SUM x" + repeated(1001, "+x") + "\n";
    for (const std::string& text :
         {"int y = x" + repeated(1001, "+x") + ";", in_macro, "int y = " + repeated(1001, "x?x:") + "x;",
          "using Y = " + repeated(1001, "X<") + "x" + repeated(1001, ">") + ";",
          "void f() { " + repeated(501, "if(x)") + ";}", "void f() { " + repeated(2000, "-") + "x;}"})
        EXPECT_THAT(refusal_of(text), HasSubstr("2000 words and operators")) << text.substr(0, 40);
    for (const char* brackets : {"()", "[]", "{}"})
        EXPECT_THAT(refusal_of(repeated(257, {brackets[0]}) + repeated(257, {brackets[1]})), HasSubstr("256 levels"));
}

TEST(Refusals, LongTablesAndTextsAreAccepted) {
    EXPECT_EQ(refusal_of("int t[] = {" + repeated(20000, "-1, ") + "};"), "");
    EXPECT_EQ(refusal_of("const char* t = " + repeated(20000, "\"a\" ") + ";"), "");
    EXPECT_EQ(refusal_of("int y = x" + repeated(900, "+x") + ";"), "");
    EXPECT_EQ(refusal_of(repeated(1000, "struct S; namespace n { } int f(int (*)(int[2]));\n")), "");
}

TEST(Refusals, AQualifierJoinedFromPartsIsRefused) {
    for (const char* body : {"__##x##__", "__ ## global__", "__glo ## x", "__sha##x##__", "__##x##al##__"})
        EXPECT_THAT(refusal_of("#define G(x) " + std::string(body) + "\nG(global) void k() {}\n"),
                    HasSubstr("built with ##"))
            << body;
    for (const char* body : {"__shfl_##x##_sync", "__d##x##_rn", "__##x##add_rn", "x##__", "__LINE__ + x", "a##__##x"})
        EXPECT_EQ(refusal_of("#define G(x) " + std::string(body) + "\n"), "") << body;
}

TEST(Refusals, DirectivesThatCompilersReadDifferentlyAreRefused) {
    for (const char* line :
         {"#if __has_include(<a/*b>)", "#if H(<a//b>) /*", "#if H(<a'>) /*'", "#if A\n#elif P <a\\\n/*b>)",
          "#if __has_include(\"a\\\"/*\")", "#if 0\n#include <a/*b>", "#if 0\n#include <a/*b", "#include <a//b>",
          "#include <a\"b>", "#include <a'b>", "#include \"a\\\"/*\"", "#import \"a\\\"/*\"", "#include_next <a/*b>",
          "#include \"a.h\" <a/*b>", "#include M 'a\\'/*'", "#embed <a/*b>"})
        EXPECT_THAT(refusal_of(line), HasSubstr("compilers disagree")) << line;
    for (const char* line :
         {"#include <a/b.h> // don't <b>", "#include \"a.h\" /* \"b\" */", "#include <a.h> /* a\n*/", "#include <a",
          "#if A < 3 // don't", "#if A < 3 /* a\n*/", "#if (A < 3) && B > 4 /* a */", "#if __has_include(<a.h>)",
          "#error don't <", "#define A <\"'\">", "#if '\\n' == 10", "#include M(a, b)"})
        EXPECT_EQ(refusal_of(line), "") << line;
}

TEST(Refusals, NoPatternIsRepeated) {
    std::set<std::string_view> seen;
    for (const auto& refusal : refusals()) EXPECT_TRUE(seen.insert(refusal.pattern).second) << refusal.pattern;
}

TEST(Refusals, NameThePlaceAndTheLine) {
    EXPECT_EQ(refusal_of("int a;\n\tint b; asm(\"trap;\"); asm(\"\");\r\n"),
              "a.cu:2:9: error: asm: inline PTX cannot run on the CPU backend; write it in C++ or with an intrinsic "
              "(__shfl_sync, __popc, __ldg …)\n"
              "    2 | \tint b; asm(\"trap;\"); asm(\"\");\n"
              "      | \t       ^\n"
              "note: put code that only a GPU can run between #ifndef __WARPLAB_CPU__ and #endif\n");
}

TEST(Refusals, ReachIntoMacrosAndBothBranches) {
    EXPECT_THAT(refusal_of("#define TRAP asm(\"trap;\")\n"), StartsWith("a.cu:1:14: error: asm"));
    EXPECT_THAT(refusal_of("#if VERSION >= 800\nasm(\"trap;\");\n#endif\n"), StartsWith("a.cu:2:1: error: asm"));
    EXPECT_THAT(refusal_of("#ifdef A\n#else\nasm(\"trap;\");\n#endif\n"), StartsWith("a.cu:3:1: error: asm"));
    EXPECT_THAT(refusal_of("#ifdef __WARPLAB_CPU__\nasm(\"trap;\");\n#endif\n"), StartsWith("a.cu:2:1: error: asm"));
    EXPECT_THAT(refusal_of("#if 0\n#else\nasm(\"trap;\");\n#endif\n"), StartsWith("a.cu:3:1: error: asm"));
}

TEST(Refusals, IncludeAssemblerThatOnlyAGpuCanRun) {
    for (const char* source :
         {"asm(\"mov.u32 %0, %%nsmid;\" : \"=r\"(x));", "asm(\"mov.u32 %0, %%laneid; trap;\" : \"=r\"(x));",
          "asm(\"mov.u32 %0, %%laneid;\" :: \"r\"(x));", "asm(\"\" \"trap;\");", "asm volatile(\"\"", "asm"})
        EXPECT_THAT(refusal_of(source), StartsWith("a.cu:1:1: error: asm")) << source;
}

TEST(Refusals, NameTheClassOfALibrary) {
    EXPECT_THAT(refusal_of("cub::BlockRadixSort<int, 128, 4> sort;"),
                StartsWith("a.cu:1:1: error: cub::BlockRadixSort: this part of CUB cannot run"));
}

TEST(Refusals, SimilarNamesAreAccepted) {
    for (const char* source : {
             "float thrust = 1, cub, pipeline, barrier, cluster; x.asm = 1; p->tex2D(1);",
             "if (texture < limit) texture = cuda + wmma;",
             "const char* s = \"asm thrust:: cublasCreate\"; // asm\n/* thrust::sort */",
             "#include \"thrust_model.h\"\n#include <cooperative_groups.h>\n#include <cuda.h>\n",
             "#if 0\nasm\n#endif\n",
             "namespace cuda { int atomics; } int y = ::thrusts::x + my::wmma;",
             "#pragma asm thrust::sort\n#error asm\n",
         }) {
        EXPECT_EQ(refusal_of(source), "") << source;
    }
}

struct Mistake {
    const char *name, *source, *place, *message;
};

class Malformed : public testing::TestWithParam<Mistake> {};

TEST_P(Malformed, IsExplainedAtItsPlace) {
    const auto shown = refusal_of(GetParam().source);
    EXPECT_THAT(shown, StartsWith(std::string("a.cu:") + GetParam().place + ": error: "));
    EXPECT_THAT(shown, HasSubstr(GetParam().message));
}

const Mistake mistakes[] = {
    {"LaunchWithoutClose", "void f() {\n k<<<1, 2>>(p); }", "2:3", "not closed by '>>>'"},
    {"LaunchWithoutArguments", "void f() { k<<<1, 2>>>; }", "1:20", "expected '(' after '>>>'"},
    {"LaunchWithoutKernel", "void f() { return <<<1, 2>>>(p); }", "1:19", "expected the name of a kernel"},
    {"LaunchWithoutParenthesis", "void f() { k<<<1, 2>>>(p; }", "1:23", "')' after the kernel's arguments is missing"},
    {"LaunchInLaunch", "void f() { k<<<1, j<<<1, 2>>>(p)>>>(p); }", "1:13", "not closed"},
    {"LaunchWithOnePart", "void f() { k<<<1>>>(p); }", "1:13", "both the number of blocks and the threads"},
    {"LaunchOpenedByAMacro", "#define OPEN <<<\nvoid f() { k OPEN 1, 2>>>(p); }", "1:14", "both in the same macro"},
    {"LaunchClosedByAMacro", "#define CLOSE >>>\nvoid f() { k<<<1, 2 CLOSE(p); }", "2:13", "both in the same macro"},
    {"LaunchWithFiveParts", "void f() { k<<<1, 2, 3, 4, 5>>>(p); }", "1:13", "at most four parts"},
    {"LaunchWithNoPart", "void f() { k<<<>>>(p); }", "1:13", "both the number of blocks and the threads"},
    {"LaunchWithoutBlocks", "void f() { k<<<, 2>>>(p); }", "1:16", "a part of this launch is empty"},
    {"LaunchWithoutThreads", "void f() { k<<<g(1, 2), >>>(p); }", "1:25", "a part of this launch is empty"},
    {"LaunchWithoutThirdPart", "void f() { k<<<1, 2, , s>>>(p); }", "1:22", "a part of this launch is empty"},
    {"LaunchOpenedWithASpace", "void f() { k< <<1, 2>>>(p); }", "1:13", "without spaces"},
    {"LaunchOpenedOverLines", "void f() { k<<\n<1, 2>>>(p); }", "1:13", "without spaces"},
    {"LaunchClosedWithASpace", "void f() { k<<<1, 2> >>(p); }", "1:13", "without spaces"},
    {"SemicolonForgotten", "void f() { int n = m\n k<<<1, 2>>>(p); }", "1:20", "expected ';' before 'k'"},
    {"SemicolonForgottenAfterCall", "void f() { g()\n k<<<1, 2>>>(p); }", "1:14", "expected ';' before 'k'"},
    {"SemicolonForgottenAfterNumber", "void f() { n = 3\n k<<<1, 2>>>(p); }", "1:16", "expected ';' before 'k'"},
    {"MergeConflict", "void f() {\n<<<<<<< HEAD\nk<<<1, 2>>>(p);\n=======\n>>>>>>> b\n}", "2:1",
     "a merge left both versions"},
    {"LaunchInKernel", "__global__ void a() { b<<<1, 1>>>(); }", "1:23", "dynamic parallelism"},
    {"LaunchInDeviceFunction", "__device__ int a() { if (1) { ns::b<<<1, 1>>>(); } }", "1:31", "dynamic parallelism"},
    {"LaunchInDeviceLambda", "void f() { g([=] __device__ (int i) { b<<<1, 1>>>(); }); }", "1:39",
     "dynamic parallelism"},
    {"KernelReturnsValue", "__global__ int k() { }", "1:12", "write 'void'"},
    {"KernelReturnsAnything", "__global__ auto k() { }", "1:12", "write 'void'"},
    {"ConstantInKernel", "__global__ void k() {\n __constant__ float c[4];\n}", "2:2", "outside of all functions"},
    {"DeviceInFunction", "__device__ void f() { int i; __device__ int n = 3; }", "1:30", "outside of all functions"},
    {"KernelCutByMacro", "#define BEGIN(n) __global__ void n() {\nBEGIN(k) }", "1:18", "ends outside of it"},
    {"KernelBeginsInMacro", "#define B {\n__global__ void k() B int i = 0; }", "2:21", "'{' is in the macro 'B'"},
    {"KernelBodyInMacro", "#define B { }\n__global__ void k() B", "2:21", "'{' is in the macro 'B'"},
    {"KernelEndsInMacro", "#define E }\n__global__ void k() { E", "2:21", "a '}' is in the macro 'E'"},
    {"LabelsAddress", "__global__ void k() { void* p = &&a; goto *p; a: ; }", "1:33", "write 'goto a;'"},
    {"SharedSizeInMacro", "#define D [3]\nvoid f() { __shared__ float s D; }", "2:31", "in the macro 'D'"},
    {"SharedArraysInMacro", "#define A float s[3], t[3]\nvoid f() { __shared__ A; }", "2:23", "in the macro 'A'"},
    {"SharedInitialised", "void f() { __shared__ int n = 0; }", "1:27", "cannot have an initialiser; assign to 'n'"},
    {"SharedBraces", "void f() { __shared__ int a[2] = {1, 2}; }", "1:27", "cannot have an initialiser"},
    {"SharedConstructed", "void f() { __shared__ int n(0); }", "1:12", "without an initialiser"},
    {"SharedWithoutSize", "void f() { __shared__ float s[]; }", "1:29", "'s' needs a size"},
    {"SharedCutByMacro", "#define S __shared__ float\nvoid f() { S s[3]; }", "1:11", "expected a declaration"},
    {"SharedNameInMacro", "#define TILE t[3]\n__global__ void k() { __shared__ int TILE; }", "2:38", "macro 'TILE'"},
    {"SharedNameFromMacro", "#define A(t, n) t n\n__global__ void k() { __shared__ A(int, s); }", "2:34",
     "in the macro 'A'"},
    {"SharedAsParameter", "void f(__shared__ int* p) { }", "1:8", "expected a declaration"},
    {"ShuffleWithoutSync", "__global__ void k(int* p) { *p += __shfl_down(*p, 1, 16); }", "1:35",
     "write __shfl_down_sync(0xffffffff, *p, 1, 16), where the mask"},
    {"OldNameOfTheRuntime", "void f() { cudaThreadSynchronize(); }", "1:12",
     "cudaThreadSynchronize does not exist in CUDA 13; write cudaDeviceSynchronize"},
    {"BallotWithoutSync", "#define VOTE(x) __ballot(x)\n", "1:17", "write __ballot_sync(0xffffffff, x)"},
    {"AnyInAFileThatDefinesShfl", "__device__ int __shfl(int x);\n__global__ void k() { __shfl(1); __any(2); }\n",
     "2:34", "write __any_sync(0xffffffff, 2)"},
    {"Utf16", "\xFF\xFEi\0n\0", "1:1", "UTF-16"},
};
INSTANTIATE_TEST_SUITE_P(Files, Malformed, testing::ValuesIn(mistakes),
                         [](const auto& info) { return info.param.name; });

TEST(Malformed, GivesNoAdviceForGpusIfItDoesNotHelp) {
    EXPECT_THAT(refusal_of("void f() { k<<<1>>>(p); }"), testing::Not(HasSubstr("__WARPLAB_CPU__")));
}

TEST(Malformed, BinaryAndVeryLargeFilesAreRefused) {
    EXPECT_EQ(refusal_of(std::string("int a;\n\x1b[31m") + '\0' + "b\n"),
              "a.cu:2:6: error: the file is not text (it has a zero byte here); save it as UTF-8\n"
              "    2 | ?[31m?b\n"
              "      |      ^\n");
    EXPECT_THAT(refusal_of(std::string(2 << 20, 'x')), HasSubstr("larger than 1 MB"));
}

TEST(Malformed, OnlyTheFirst20ProblemsAreShown) {
    std::string source = "void f() {\n";
    for (int i = 0; i < 100; ++i) source += "__shared__ int a = 1;\n";
    const auto shown = refusal_of(source + "}");
    EXPECT_EQ(std::count(shown.begin(), shown.end(), '^'), 20);
}

TEST(Malformed, TheCaretIsBelowItsCharacter) {
    EXPECT_THAT(refusal_of("void f() { /* é */ __shared__ int n = 0; }"),
                HasSubstr("\n      |                                   ^\n"));
}

TEST(Refusals, LeaveSharedSizesThatMayBeConstantToTheCompiler) {
    for (const char* source : {"template <int N> __global__ void k(int* p) { __shared__ int s[N]; }",
                               "__global__ void k(int n) { __shared__ int s[sizeof(n)]; }",
                               "__global__ void k(int n) { __shared__ int s[A::n]; }",
                               "__global__ void k(int* p) { const int m = 4; __shared__ int s[m * 2]; }"}) {
        EXPECT_EQ(refusal_of(source), "") << source;
    }
}

}  // namespace
}  // namespace warplab::rewriter
