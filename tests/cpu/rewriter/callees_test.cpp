// Launches of functions that are not kernels, calls of kernels without a launch, malformed launches, kernels in classes
// and variables with the name of a parameter are refused, as by nvcc. Code that nvcc accepts is accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/cpu/rewriter/rewriter.h"

namespace warplab::rewriter {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string problem_of(const std::string& source) { return show_problems(rewrite(source, "x.cu"), "x.cu"); }

const std::string body = "(float* x) { x[0] = 1; }\n", kernel = "__global__ void k" + body;

TEST(Callees, AFunctionThatIsLaunchedNeedsGlobal) {
    EXPECT_THAT(problem_of("void k" + body + "void run(float* x) { k<<<1, 32>>>(x); }"),
                HasSubstr("x.cu:2:22: error: k is launched with <<<>>> but is not a __global__ function; declare it "
                          "'__global__ void k(float* x)'"));
    EXPECT_THAT(problem_of("__device__ void k" + body + "void run(float* x) { k<<<1, 32>>>(x); }"),
                HasSubstr("is not a __global__ function"));
}

TEST(Callees, AKernelThatIsCalledNeedsALaunch) {
    EXPECT_THAT(problem_of(kernel + "void run(float* x) { k(x); }"),
                HasSubstr("x.cu:2:22: error: kernel k is called without <<<blocks, threads>>>"));
    EXPECT_THAT(problem_of(kernel + "void run(float* x) { if (x) k(x); }"), HasSubstr("kernel k is called without"));
}

TEST(Callees, ALaunchHasThreeBrackets) {
    for (const std::string launch : {"k<<1, 32>>(x);", "k << 1, 32 >> (x);", "if (x) k<<1, 32>>(x);"})
        EXPECT_THAT(problem_of(kernel + "void run(float* x) { " + launch + " }"),
                    HasSubstr("a launch has three brackets on each side; write k<<<blocks, threads>>>(arguments)"))
            << launch;
    EXPECT_THAT(problem_of(kernel + "int run(int k) { return k << 1; }"), IsEmpty());
}

TEST(Callees, ALaunchThatConsistsOfOneMacroNeedsTwoParts) {
    const std::string launch = kernel + "void run(float* x) { k<<<SHAPE>>>(x); }";
    for (const std::string shape : {"#define SHAPE 256\n", "#ifndef SHAPE\n#define SHAPE 64 * 4\n#endif\n"})
        EXPECT_THAT(problem_of(shape + launch), HasSubstr("a launch needs both the number of blocks and the threads"));
    for (const std::string definition : {"#define SHAPE 1, 32\n", "#define TWO 1, 2\n#define SHAPE TWO\n"})
        EXPECT_THAT(problem_of(definition + launch), IsEmpty()) << definition;
}

TEST(Callees, AKernelCannotBeAMember) {
    const std::string words = "a kernel cannot be a member of a class";
    for (const std::string access : {"", "static ", "template <class T> static "})
        EXPECT_THAT(problem_of("struct Run { int n; " + access + kernel + "};"), HasSubstr(words)) << access;
    for (const std::string& source : {"struct Run { friend __global__ void k(float* x); };\n" + kernel,
                                      "struct Run { int n; };\nnamespace a { " + kernel + "}"})
        EXPECT_THAT(problem_of(source), IsEmpty()) << source;
}

TEST(Callees, AVariableCannotHaveAParametersName) {
    const auto problem_with = [](const std::string& text) {
        return problem_of("__global__ void k(float* x, int n) { " + text + " }");
    };
    for (const std::string text : {"int n = 5; x[n] = 1;", "x[0] = 1; float *y, *x = y;", "__shared__ float x[32];"})
        EXPECT_THAT(problem_with(text), HasSubstr("is already a parameter of this kernel")) << text;
    for (const std::string text :
         {"for (int n = 0; n < 3; ++n) x[n] = 1;", "if (n) { float x = n; (void)x; }", "atomicAdd(x, 1.f);",
          "atomicAdd(&x[n], 1.f);", "f<int>(x).g(x);", "switch (n) { default: x[0] = 1; }", "n *= 2; x[n] = 1;",
          "auto f = [](int n) { return n; }; x[0] = f(n);", "return n ? void() : void(x[0] = 1);"})
        EXPECT_THAT(problem_with(text), IsEmpty()) << text;
}

TEST(Callees, CodeThatNvccAcceptsIsAccepted) {
    for (const auto& source : std::vector<std::string>{
             kernel + "void run(float* x) { k<<<1, 32>>>(x); }",
             "#define KERNEL __global__ void\nKERNEL k" + body + "void run(float* x) { k<<<1, 32>>>(x); }",
             "#define HEAD(name) __global__ void name\nHEAD(k)" + body + "void run(float* x) { k<<<1, 32>>>(x); }",
             "__global__ void k(float*);\nvoid run(float* x) { k<<<1, 32>>>(x); }\n" + kernel,
             "template <class T> __global__ void k(T* x) { x[0] = 1; }\nvoid run(float* x) { k<<<1, 32>>>(x); }",
             kernel + "void k(float* x, int n) { k<<<1, n>>>(x); }\nvoid run(float* x) { k(x, 1); }",
             "void k" + body + "void run(void (*k)(float*), float* x) { k<<<1, 32>>>(x); }",
             "void other" + body + "template <class K> void run(K other, float* x) { other<<<1, 32>>>(x); }",
             kernel + "void run(float* x) { auto chosen = k; chosen<<<1, 32>>>(x); }",
             kernel + "struct Run { void k(float*) {} void all(float* x) { this->k(x); } };",
             kernel + "class Run { void k() { ::k<<<1, 32>>>(x); } void all() { k(); } float* x; };",
             "__global__ void __attribute__((used)) k(int* x) { *x = 0; __attribute__((unused)) int y = 1; }",
             "__global__ void alignas(4) k(int* x) { *x = 0; alignas(8) int y[2] = {}; *x = y[0]; }",
             "#include <cuda/barrier>\n__global__ void init(int* x) { *x = 0; }\n"
             "__device__ void f(cuda::barrier<cuda::thread_scope_block>& b) { init(&b, 32); }"})
        EXPECT_THAT(problem_of(source), IsEmpty()) << source;
}

TEST(Callees, AKernelMayHaveAttributesAnywhereInItsHead) {
    for (const std::string head :
         {"__global__ __launch_bounds__(256) void k", "__launch_bounds__(256, 2) __global__ void k",
          "__global__ void __launch_bounds__(256) k", "static __launch_bounds__(64) __global__ void k",
          "template <int B> __global__ __launch_bounds__(B) void k", "__global__ __maxnreg__(32) void k",
          "[[maybe_unused]] __global__ void k", "__global__ __attribute__((used)) void k",
          "void __launch_bounds__(64) __global__ k",
          "#define AT_MOST(n) __launch_bounds__(n)\n__global__ AT_MOST(64) void k"})
        EXPECT_THAT(problem_of(head + body + "void run(float* x) { k<<<1, 32>>>(x); }"), IsEmpty()) << head;
}

}  // namespace
}  // namespace warplab::rewriter
