#include "grader/cpu/rewriter/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "grader/cpu/rewriter/rewriter.h"

namespace warplab::rewriter {
namespace {

std::string split(const std::string& source) {
    const auto result = rewrite(source, "a.cu", Barriers::split);
    EXPECT_EQ(show_problems(result, "a.cu"), "");
    return result.text;
}

bool is_split(const std::string& source) {
    return split(source).find("WARPLAB_CPU_SPLIT_KERNEL(") != std::string::npos;
}

/// Return a kernel whose body begins with a shared array of 64 ints.
std::string kernel_with(const std::string& body, const std::string& before = "") {
    return before + "\n__global__ void k(int* out, const int* in, int n) { __shared__ int s[64]; " + body + " }\n";
}

constexpr const char* thread_loop = "WARPLAB_CPU_THREADS(unsigned, false){";

/// Return the kernel's text after the shared array.
std::string body_of(const std::string& text) {
    const std::string array_end = ".use(\"s\", __LINE__); ";
    const auto begin = text.find(array_end);
    if (begin == std::string::npos) return text;
    const auto begin_of_body = begin + array_end.size();
    return text.substr(begin_of_body, text.rfind(" };}") - begin_of_body);
}

TEST(Split, RunsEachPartForAllThreads) {
    EXPECT_EQ(body_of(split(kernel_with("s[threadIdx.x] = 1; out[0] = 2; __syncthreads(); out[threadIdx.x] = s[0];"))),
              std::string(thread_loop) + "s[threadIdx.x] = 1; out[0] = 2;}; WARPLAB_CPU_SPLIT(); " + thread_loop +
                  "out[threadIdx.x] = s[0];};");
}

TEST(Split, KeepsUniformControlFlowOutsideTheThreadLoops) {
    EXPECT_EQ(body_of(split(kernel_with("int h = n; while (h > 0) { s[threadIdx.x] += h; __syncthreads(); h /= 2; }"))),
              std::string("int h = n; while (h > 0) { ") + thread_loop +
                  "s[threadIdx.x] += h;}; WARPLAB_CPU_SPLIT(); h /= 2; }");
}

TEST(Split, RepeatsComputationsFromIndices) {
    EXPECT_EQ(
        body_of(split(kernel_with("const int t = threadIdx.x, i = t + n; s[t] = i; __syncthreads(); out[i] = s[0];"))),
        std::string(thread_loop) +
            "const int t = threadIdx.x, i = t + n; s[t] = i;}; WARPLAB_CPU_SPLIT(); "
            "WARPLAB_CPU_THREADS(int, false){const int t = threadIdx.x; const int i = t + n; out[i] = s[0];};");
}

TEST(Split, StoresVariablesThatEachThreadChanges) {
    const std::string text = body_of(
        split(kernel_with("int v = in[threadIdx.x]; __syncthreads(); v += s[0]; __syncthreads(); out[0] = v;")));
    EXPECT_EQ(text,
              std::string("typedef int  warplab_cpu_type_v; WARPLAB_CPU_KEPT(warplab_cpu_type_v, v); ") + thread_loop +
                  "int v = in[threadIdx.x]; WARPLAB_CPU_KEEP(v);}; WARPLAB_CPU_SPLIT(); "
                  "WARPLAB_CPU_THREADS(int, false){int v = WARPLAB_CPU_TAKE(v); v += s[0]; WARPLAB_CPU_KEEP(v);}; "
                  "WARPLAB_CPU_SPLIT(); WARPLAB_CPU_THREADS(int, false){int v = WARPLAB_CPU_TAKE(v); out[0] = v;};");
}

TEST(Split, PublishesShuffledValuesBeforeReadingThem) {
    EXPECT_EQ(body_of(split(
                  kernel_with("for (int h = 16; h > 0; h /= 2) out[threadIdx.x] += __shfl_down_sync(~0u, n + h, h);"))),
              std::string("for (int h = 16; h > 0; h /= 2) {WARPLAB_CPU_GIVEN(48); WARPLAB_CPU_THREADS(int, false){ "
                          "WARPLAB_CPU_GIVE(48, n + h);};") +
                  thread_loop + "out[threadIdx.x] += WARPLAB_CPU_SHUFFLE(48, ShuffleDown)(~0u, n + h, h);};}");
}

TEST(Split, LetsThreadsStrideInTurns) {
    const std::string text =
        body_of(split(kernel_with("__syncthreads(); for (int i = threadIdx.x; i < n; i += 64 * gridDim.x) "
                                  "atomicAdd(&s[in[i]], 1); __syncthreads();")));
    EXPECT_NE(
        text.find(
            "int i = WARPLAB_CPU_TAKE(i); for (int warplab_cpu_steps = 0; warplab_cpu_steps < WARPLAB_CPU_STEPS && "
            "(i < n); i += 64 * gridDim.x, ++warplab_cpu_steps) atomicAdd(&s[in[i]], 1); if (i < n) "
            "warplab_cpu_again = true; WARPLAB_CPU_KEEP(i);};}}"),
        std::string::npos)
        << text;
}

TEST(Split, RunsOtherLoopsOneThreadAtATime) {
    for (const char* loop : {"for (int i = threadIdx.x; i < n; i += 64) s[0] += in[i];",
                             "for (int i = threadIdx.x; i < n; i += gridDim.x) if (in[i]) break;",
                             "for (int i = threadIdx.x; i < n; i += gridDim.x) { s[0] += in[i]; if (in[i]) return; }",
                             "for (int i = threadIdx.x; i < n; i += gridDim.x) atomicAdd(&s[1], 1); in[0] = s[1];",
                             "s[threadIdx.x] = 0; for (int i = threadIdx.x; i < n; i += gridDim.x) atomicAdd(s, 1);",
                             "int i = 1; for (int k = threadIdx.x; k-- > 0; i += gridDim.x) s[0] += in[i];"}) {
        const std::string text = body_of(split(kernel_with(std::string("__syncthreads(); ") + loop)));
        EXPECT_NE(text.find("WARPLAB_CPU_SPLIT()"), std::string::npos) << text;
        EXPECT_EQ(text.find("warplab_cpu_steps"), std::string::npos) << text;
    }
}

TEST(Split, ShowsThreadIdxToFunctionsThatUseIt) {
    const std::string function = "__device__ int f() { return threadIdx.x; }";
    EXPECT_NE(split(kernel_with("s[f()] = 1; __syncthreads(); out[0] = s[1];", function)).find(", true){"),
              std::string::npos);
}

TEST(Split, IsAnOption) {
    const std::string source = kernel_with("s[threadIdx.x] = 1; __syncthreads(); out[0] = s[1];");
    EXPECT_TRUE(is_split(source));
    EXPECT_EQ(rewrite(source, "a.cu").text.find("SPLIT"), std::string::npos);
}

struct SplitCase {
    const char* name;
    std::string source;
};

void PrintTo(const SplitCase& test, std::ostream* out) { *out << test.name; }
std::string name_of(const testing::TestParamInfo<SplitCase>& info) { return info.param.name; }

class IsSplit : public testing::TestWithParam<SplitCase> {};
TEST_P(IsSplit, WithTheSameNumberOfLines) {
    const std::string& source = GetParam().source;
    const std::string text = split(source);
    EXPECT_TRUE(is_split(source)) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), std::count(source.begin(), source.end(), '\n') + 1);
}

const std::string use = " out[threadIdx.x] = s[0];";
const SplitCase split_kernels[] = {
    {"ReturnAfterTheLastBarrier", kernel_with("s[0] = 1; __syncthreads(); if (threadIdx.x > n) return;" + use)},
    {"UniformReturn", kernel_with("if (blockIdx.x == n) return; s[0] = 1; __syncthreads();" + use)},
    {"UniformBreak",
     kernel_with("for (int k = 0; k < n; ++k) { __syncthreads(); if (k == 3) break; s[0] = k; }" + use)},
    {"UniformContinue",
     kernel_with("for (int k = 0; k < n; ++k) { if (k % 2) continue; s[0] = k; __syncthreads(); }" + use)},
    {"UniformBranch", kernel_with("if (n > 4) { s[0] = 1; __syncthreads(); } else s[0] = 2;" + use)},
    {"LoopWithoutBraces", kernel_with("for (int k = 0; k < n; ++k) __syncthreads();" + use)},
    {"ConditionFromMemory", kernel_with("while (in[blockIdx.x] > s[3]) { __syncthreads(); s[3] = n; }" + use)},
    {"ConstantInArrayBounds",
     kernel_with("const int size = 4; int v[size]; v[0] = n; __syncthreads(); out[0] = v[0];")},
    {"UniformAndThreadVariables",
     kernel_with("const int t = threadIdx.x; const int i = t + 1, m = n / 2; for (int k = 0; k < m; ++k) "
                 "__syncthreads(); out[i] = 1;")},
    {"UniformAndThreadVariablesInOneDeclaration",
     kernel_with("const int t = threadIdx.x; const int i = t + 1, m = n / 2; const int k = m + 1, end = k * 2; "
                 "for (int j = 0; j < end; ++j) __syncthreads(); out[i] = 1;")},
    {"MacroOfAnExpression", kernel_with("const int t = AT(threadIdx.x); __syncthreads(); out[t] = 1;",
                                        "#define SIZE 4\n#define AT(i) ((i) * SIZE)\n")},
    {"FunctionWithAReferenceParameter", kernel_with("int v = 1; add(v, 2); __syncthreads(); out[0] = v;",
                                                    "__device__ void add(int& a, int b) { a += b; }")},
    {"ObjectWithinAPart", kernel_with("Walk walk(threadIdx.x, n); s[0] = walk.next(); __syncthreads();" + use,
                                      "struct Walk { int at, by; __device__ Walk(int a, int b) : at(a), by(b) {} "
                                      "__device__ int next() { return at += by; } };")},
    {"Pragma", kernel_with("__syncthreads();\n#pragma unroll\nfor (int k = 0; k < 4; ++k) s[k] = k;\n" + use)},
    {"SwappedPointers", kernel_with("int *a = s, *b = s + 32; for (int k = 0; k < n; ++k) { a[threadIdx.x] = b[0]; "
                                    "int* c = a; a = b; b = c; __syncthreads(); }" +
                                    use)},
    {"ChangedParameter", kernel_with("n += threadIdx.x; __syncthreads(); out[0] = n;")},
    {"Shuffle", kernel_with("int v = n; v += __shfl_down_sync(0xffffffffu, v, 1); out[0] = v;")},
    {"ShuffleWithNamedMask",
     kernel_with("int v = max(n, __shfl_xor_sync(ALL, n, 1)); v = __shfl_up_sync(all, v, 2, 16); out[0] = v;",
                 "#define ALL 0xFFFFFFFF\nconstexpr unsigned all = ~0u;\n")},
    {"WarpBarrier", kernel_with("s[threadIdx.x] = 1; __syncwarp();" + use)},
    {"SwitchWithinAPart",
     kernel_with("switch (n) { case 1: s[0] = 1; break; default: s[1] = 2; } __syncthreads();" + use)},
    {"Template",
     "template <class T> __global__ void k(T* out) { __shared__ T s[4]; T v = T(1); s[0] = v; "
     "__syncthreads(); out[0] = s[0] + v; }"},
};
INSTANTIATE_TEST_SUITE_P(Kernels, IsSplit, testing::ValuesIn(split_kernels), name_of);

class StaysWhole : public testing::TestWithParam<SplitCase> {};
TEST_P(StaysWhole, AsWithoutTheOption) {
    const std::string& source = GetParam().source;
    EXPECT_EQ(split(source), rewrite(source, "a.cu").text);
}

const SplitCase whole_kernels[] = {
    {"NoBarrier", kernel_with(use)},
    {"DivergentBranch", kernel_with("if (threadIdx.x < 3) __syncthreads();" + use)},
    {"DivergentLoop", kernel_with("for (int i = threadIdx.x; i < n; i += 64) { s[0] = i; __syncthreads(); }" + use)},
    {"ConditionFromAThreadsVariable",
     kernel_with("int v = in[threadIdx.x]; while (v > 0) { v /= 2; __syncthreads(); }" + use)},
    {"ConditionChangedByOneThread",
     kernel_with("int h = n; while (h > 0) { if (threadIdx.x == 0) h /= 2; __syncthreads(); }" + use)},
    {"ConditionFromAnAtomic", kernel_with("while (atomicAdd(&s[0], 1) < n) __syncthreads();" + use)},
    {"ConditionFromAFunction",
     kernel_with("while (f() < n) __syncthreads();" + use, "__device__ int f() { return 1; }")},
    {"ConditionChangedThroughAPointer",
     kernel_with("int h = n; int* p = &h; while (h > 0) { *p = 0; __syncthreads(); }" + use)},
    {"ReturnBeforeABarrier", kernel_with("if (threadIdx.x > n) return; s[0] = 1; __syncthreads();" + use)},
    {"BreakOfOneThread",
     kernel_with("for (int k = 0; k < n; ++k) { if (in[threadIdx.x]) break; __syncthreads(); }" + use)},
    {"ContinueInASwitch",
     kernel_with("for (int k = 0; k < n; ++k) { switch (in[threadIdx.x]) { case 1: continue; } __syncthreads(); }" +
                 use)},
    {"BarrierInASwitch", kernel_with("switch (n) { case 1: __syncthreads(); }" + use)},
    {"BarrierInAMacro", kernel_with("s[0] = 1; SYNC; __syncthreads();" + use, "#define SYNC __syncthreads()\n")},
    {"BarrierInAnExpression", kernel_with("s[0] = 1, __syncthreads(); __syncthreads();" + use)},
    {"BarrierInAFunction", kernel_with("f(); __syncthreads();" + use, "__device__ void f() { __syncthreads(); }")},
    {"BarrierInACalledFunction", kernel_with("f(); __syncthreads();" + use,
                                             "__device__ void g() { __syncthreads(); } __device__ void f() { g(); }")},
    {"BarrierInFunctionsThatCallEachOther",
     kernel_with("g(1); __syncthreads();" + use,
                 "__device__ void f(int); __device__ void g(int i) { if (i) f(i - 1); } "
                 "__device__ void f(int i) { g(i); __syncthreads(); }")},
    {"BarrierInAMethod",
     kernel_with("M m; m.f(); __syncthreads();" + use, "struct M { __device__ void f() { __syncthreads(); } };")},
    {"BarrierInALambda", kernel_with("auto f = [] { __syncthreads(); }; f(); __syncthreads();" + use)},
    {"UnknownFunction", kernel_with("f(); __syncthreads();" + use)},
    {"ShuffleOfSomeLanes", kernel_with("s[0] = __shfl_down_sync(0xffff, n, 1);" + use)},
    {"ShuffleInADivergentBranch",
     kernel_with("int v = n; if (threadIdx.x < 32) v += __shfl_down_sync(~0u, v, 1); out[0] = v;")},
    {"ShuffleInACondition", kernel_with("int v = n; if (__shfl_sync(~0u, v, 0) > 1) out[0] = v;")},
    {"ConditionalShuffle", kernel_with("int v = n; v = v > 1 ? __shfl_sync(~0u, v, 0) : 2; out[0] = v;")},
    {"TwoShufflesInAStatement", kernel_with("int v = __shfl_sync(~0u, n, 0) + __shfl_sync(~0u, n, 1); out[0] = v;")},
    {"ShuffleOfACall",
     kernel_with("int v = __shfl_sync(~0u, f(), 0); out[0] = v;", "__device__ int f() { return 1; }")},
    {"MaskHiddenByALocalVariable",
     kernel_with("int all = 3; s[0] = __shfl_sync(all, n, 0);" + use, "constexpr unsigned all = ~0u;")},
    {"WarpBarrierOfSomeLanes", kernel_with("s[0] = 1; __syncwarp(3);" + use)},
    {"Vote", kernel_with("if (__syncthreads_or(n)) __syncthreads();" + use)},
    {"Fence", kernel_with("s[0] = 1; __threadfence(); __syncthreads();" + use)},
    {"CompareAndSwap", kernel_with("atomicCAS(&s[0], 1, 2); __syncthreads();" + use)},
    {"WaitForAnAtomic", kernel_with("__syncthreads(); while (!atomicOr(&s[0], 0)) {}" + use)},
    {"Volatile", kernel_with("volatile int* v = s; v[0] = 1; __syncthreads();" + use)},
    {"Goto", kernel_with("again: __syncthreads(); if (n) goto again;" + use)},
    {"Directive", kernel_with("s[0] = 1;\n#ifdef A\n__syncthreads();\n#endif\n__syncthreads();" + use)},
    {"Definition", kernel_with("s[0] = 1;\n#define B 3\n__syncthreads();" + use)},
    {"KeptObject", kernel_with("Two v{1, 2}; __syncthreads(); out[0] = v.a;", "struct Two { int a, b; };")},
    {"KeptByAddress", kernel_with("int v = 1; int* p = &v; __syncthreads(); *p = 2; out[0] = v;")},
    {"KeptAddressOfAVariable", kernel_with("int v = 1; int* p = &v; *p = 2; __syncthreads(); out[0] = *p;")},
    {"KeptReference", kernel_with("int v = 1; int& r = v; __syncthreads(); r = 2; out[0] = v;")},
    {"KeptArrayAsPointer", kernel_with("int v[2] = {1, 2}; int* p = v; __syncthreads(); out[0] = p[1];")},
    {"KeptAuto", kernel_with("auto v = in[threadIdx.x]; __syncthreads(); out[0] = v;")},
    {"HiddenName", kernel_with("int v = in[0]; { int v = n; __syncthreads(); out[1] = v; } out[0] = v;")},
    {"CooperativeGroups", "#include <cooperative_groups.h>\n" + kernel_with("s[0] = 1; __syncthreads();" + use)},
    {"OtherHeader", "#include \"mine.h\"\n" + kernel_with("s[0] = 1; __syncthreads();" + use)},
    {"InAMacro",
     "#define K __global__ void k(int* out) { __shared__ int s[4]; s[0] = 1; __syncthreads(); out[0] = s[0]; }\n"},
};
INSTANTIATE_TEST_SUITE_P(Kernels, StaysWhole, testing::ValuesIn(whole_kernels), name_of);

TEST(Split, DoesNotRepeatLoads) {
    const std::string text = split(kernel_with("const int v = in[threadIdx.x]; __syncthreads(); out[0] = v;"));
    EXPECT_NE(text.find("WARPLAB_CPU_KEEP(v)"), std::string::npos) << text;
}

TEST(Split, DoesNotRepeatDeclarationsThatDependOnAChangedVariable) {
    const std::string text =
        split(kernel_with("int h = n; while (h > 0) { const int j = threadIdx.x + h; h /= 2; "
                          "__syncthreads(); s[j] = 1; }"));
    EXPECT_NE(text.find("WARPLAB_CPU_KEEP(j)"), std::string::npos) << text;
}

TEST(Split, DoesNotRepeatReadsOfDeviceVariables) {
    const std::string text =
        split(kernel_with("const int v = total; __syncthreads(); out[0] = v;", "__device__ int total;"));
    EXPECT_NE(text.find("WARPLAB_CPU_KEEP(v)"), std::string::npos) << text;
}

}  // namespace
}  // namespace warplab::rewriter
