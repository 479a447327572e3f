// Host code in kernels, device code in host functions, and C++ that device code cannot use are refused, as by nvcc.
// Code that nvcc accepts is accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/cpu/rewriter/rewriter.h"

namespace warplab::rewriter {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string problem_of_host_code(const std::string& source) { return show_problems(rewrite(source, "x.cu"), "x.cu"); }

const std::string kernel_head = "__global__ void k(float* x, int m) { ", helper = "float mix(float a) { return a; }\n";

TEST(HostCode, ErrorShowsTheDeclarationThatAHostFunctionNeeds) {
    const auto problem = problem_of_host_code(helper + kernel_head + "x[0] = mix(x[1]); }");
    EXPECT_THAT(problem, HasSubstr("x.cu:2:45: error: mix is a host function"));
    EXPECT_THAT(problem, HasSubstr("declare it '__device__ float mix(float a)'"));
    EXPECT_THAT(problem_of_host_code("template <class T> T mix(T a) { return a; }\n" + kernel_head +
                                     "x[0] = mix<float>(x[1]); }"),
                HasSubstr("mix is a host function"));
    EXPECT_THAT(problem_of_host_code(helper + "__device__ float twice(float a) { return 2 * mix(a); }"),
                HasSubstr("mix is a host function"));
    EXPECT_THAT(problem_of_host_code("constexpr int two() { return 2; }\n" + kernel_head + "x[0] = two(); }"),
                HasSubstr("two is a host function"));
}

TEST(HostCode, ErrorShowsTheQualifierThatAHostVariableNeeds) {
    EXPECT_THAT(problem_of_host_code("float weights[25];\n" + kernel_head + "x[0] = weights[m]; }"),
                HasSubstr("weights is a variable of the host ('float weights[25]')"));
    EXPECT_THAT(problem_of_host_code("static int n = 3;\n" + kernel_head + "x[0] = n; }"),
                HasSubstr("n is a variable of the host"));
    EXPECT_THAT(problem_of_host_code("const float table[2] = {1, 2};\n" + kernel_head + "x[0] = table[m]; }"),
                HasSubstr("table is a variable of the host"));
    for (const std::string use : {"if (m && n) x[0] = 1;", "while (x[0] && n) x[0] = 0;", "x[0] = m * n;",
                                  "for (int i = 0; i < n; ++i) x[i] = 1;", "int i = m, j = n;", "n, m;"})
        EXPECT_THAT(problem_of_host_code("int n = 3;\n" + kernel_head + use + " }"),
                    HasSubstr("n is a variable of the host"))
            << use;
}

TEST(HostCode, ErrorShowsAReplacementForALibrarysHostCode) {
    EXPECT_THAT(problem_of_host_code(kernel_head + "x[0] = std::max(x[0], x[1]); }"), HasSubstr("write max(a, b)"));
    EXPECT_THAT(problem_of_host_code(kernel_head + "std::cout << x[0]; }"), HasSubstr("std::cout is host code"));
    EXPECT_THAT(problem_of_host_code(kernel_head + "cudaDeviceSynchronize(); }"),
                HasSubstr("in host code, after the launch"));
    EXPECT_THAT(problem_of_host_code(kernel_head + "x[0] = rand(); }"), HasSubstr("rand is host code"));
}

TEST(HostCode, BuiltInVariablesCannotBeAssigned) {
    for (const std::string change : {"threadIdx.x = 3", "threadIdx.x+=3", "blockDim.x /= 2", "blockIdx.y++",
                                     "--gridDim.z", "x[++threadIdx.x] = 1", "threadIdx = uint3{}", "blockDim.x <<= 1"})
        EXPECT_THAT(problem_of_host_code(kernel_head + change + "; }"), HasSubstr("cannot be changed: CUDA sets it"))
            << change;
    for (const std::string condition :
         {"if (threadIdx.x = 0)", "while (blockIdx.x = 1)", "if (x[0] > 1 && threadIdx.x = 0)"})
        EXPECT_THAT(problem_of_host_code(kernel_head + condition + " x[0] = 1; }"), HasSubstr("to compare, write =="))
            << condition;
}

TEST(HostCode, BuiltInVariablesHaveNoAddress) {
    for (const std::string use :
         {"auto p = &threadIdx.x", "auto q = &blockIdx", "x[*&threadIdx.x] = 1", "f(m, & blockDim.y)"})
        EXPECT_THAT(problem_of_host_code(kernel_head + use + "; }"), HasSubstr("cannot be taken")) << use;
}

TEST(HostCode, BuiltInVariablesBelongToDeviceCode) {
    EXPECT_THAT(problem_of_host_code("void launch(int n) { if (threadIdx.x < n) return; }"),
                HasSubstr("x.cu:1:26: error: threadIdx exists only in device code, and launch is a host function"));
    EXPECT_THAT(problem_of_host_code("int* place(int* x) { return x + blockIdx.x * blockDim.x; }"),
                HasSubstr("blockIdx exists"));
    for (const std::string head : {"void f(int n) noexcept", "void f(int n) noexcept(sizeof(int) > 2)",
                                   "auto f(int n) -> int", "auto f(int n) -> decltype(n)", "void f(int n) try"})
        EXPECT_THAT(problem_of_host_code(head + " { if (threadIdx.x < n) throw 1; }"), HasSubstr("threadIdx exists"))
            << head;
    EXPECT_THAT(problem_of_host_code("void f(int n) noexcept;\n" + kernel_head + "x[0] = threadIdx.x; }"), IsEmpty());
}

TEST(HostCode, ArgumentsOfCallsAreNoVariablesOfTheFunction) {
    const std::string total = "unsigned total;\n";
    for (const std::string call : {"atomicAdd(&total, 1u)", "add(&total)", "add(total)"})
        EXPECT_THAT(problem_of_host_code(total + kernel_head + call + "; }"),
                    HasSubstr("total is a variable of the host ('unsigned total')"))
            << call;
    for (const std::string declaration :
         {"unsigned total = 0", "unsigned (total)", "unsigned (&total)[2] = pair", "T (&total)[2] = pair"})
        EXPECT_THAT(problem_of_host_code(total + kernel_head + declaration + "; use(total); }"), IsEmpty())
            << declaration;
}

TEST(HostCode, BuiltInFunctionsOfTheDeviceBelongToDeviceCode) {
    EXPECT_THAT(problem_of_host_code("void launch(int n) { __syncthreads(); }"),
                HasSubstr("x.cu:1:22: error: __syncthreads exists only in device code, and launch is a host function; "
                          "use it in a kernel. Host code waits for kernels with cudaDeviceSynchronize()"));
    EXPECT_THAT(problem_of_host_code("void add(int* x) { atomicAdd(x, 1); }"),
                HasSubstr("or declare '__global__ void add(int* x)'"));
    EXPECT_THAT(problem_of_host_code(kernel_head + "atomicAdd(x, 1); __syncthreads(); }"), IsEmpty());
    EXPECT_THAT(problem_of_host_code("void atomicAdd(int* x, int n) { *x += n; }\n"
                                     "void add(int* x) { atomicAdd(x, 1); }"),
                IsEmpty());
    EXPECT_THAT(problem_of_host_code("struct S { void __syncwarp(); }; void f(S& s) { s.__syncwarp(); }"), IsEmpty());
}

TEST(HostCode, DeviceFunctionsCannotBeCalledByHostCode) {
    const std::string count = "__device__ int count(int n) { return n / 4; }\n";
    EXPECT_THAT(problem_of_host_code(count + "int f(int n) { return count(n); }"),
                HasSubstr("x.cu:2:23: error: count is a __device__ function, which host code cannot call"));
    EXPECT_THAT(
        problem_of_host_code(count + kernel_head + "x[0] = 1; }\nvoid f(float* x) { k<<<count(8), 2>>>(x, 1); }"),
        HasSubstr("count is a __device__ function"));
    for (const std::string& source :
         {"int count(long n);\n" + count + "int f(int n) { return count(n); }",
          "__host__ " + count + "int f(int n) { return count(n); }",
          "constexpr " + count + "int f(int n) { return count(n); }",
          count + "__host__ __device__ int f(int n) { return count(n); }",
          count + "struct Bins { int count(int); };\nint f(Bins b) { return b.count(3); }",
          count + "int f(int n) { const auto count = [](int m) { return m; }; return count(n); }",
          count + "int f(int count) { return (count) + 1; }", count + "__device__ int g(int n) { return count(n); }"})
        EXPECT_THAT(problem_of_host_code(source), IsEmpty()) << source;
}

TEST(HostCode, DeviceCodeHasNeitherExceptionsNorTypeInformation) {
    const std::string both = "__host__ __device__ int f(int n) { ";
    for (const auto& source : std::vector<std::string>{
             kernel_head + "if (m) throw 1; }", kernel_head + "try { x[0] = 1; } catch (...) {} }",
             "__global__ void k(float* x) try { x[0] = 1; } catch (...) {}",
             kernel_head + "const auto f = [](int n) { return n ? throw 1 : n; }; x[0] = f(m); }",
             "__device__ bool f(A* a) { return dynamic_cast<B*>(a); }",
             kernel_head + "x[0] = typeid(m) == typeid(x); }", kernel_head + "thread_local int n = m; x[0] = n; }",
             both + "if (n) throw 1; return n; }"})
        EXPECT_THAT(problem_of_host_code(source), HasSubstr(" cannot be used in device code: ")) << source;
    for (const auto& source :
         std::vector<std::string>{"int f(int n) { try { return n; } catch (...) { throw; } }",
                                  both + "\n#ifndef __CUDA_ARCH__\nif (n) throw 1;\n#endif\nreturn n; }",
                                  kernel_head + "\n#if 0\nthrow 1;\n#endif\nx[0] = 1; }"})
        EXPECT_THAT(problem_of_host_code(source), IsEmpty()) << source;
}

TEST(HostCode, TheLengthOfADeviceArrayIsAConstant) {
    for (const std::string array : {"float t[m];", "float t[2 * m + 1];", "int t[blockDim.x];", "float t[3][m];"})
        EXPECT_THAT(problem_of_host_code(kernel_head + array + " x[0] = 1; }"),
                    HasSubstr("the length of the array t must be a constant in device code"))
            << array;
    for (const std::string array :
         {"float t[4];", "float t[sizeof(m)];", "{ constexpr int m = 4; float t[m]; }", "float u = x[m];", "t[m] = 1;",
          "float t[m.size()];", "float t[kept::m];", "return t[m];", "int t = x[blockDim.x];", "new float[m];"})
        EXPECT_THAT(problem_of_host_code(kernel_head + array + " x[0] = 1; }"), IsEmpty()) << array;
    for (const std::string source :
         {"void f(int m) { float t[m]; }", "template <int m> __device__ void f() { int t[m]; }",
          "__device__ void f(float (&x)[m]) { float t[m]; }"})
        EXPECT_THAT(problem_of_host_code(source), IsEmpty()) << source;
}

TEST(HostCode, DeviceVariablesCannotBeArgumentsOfALaunch) {
    const std::string weights = "__constant__ float weights[25];\n__global__ void k(float* x, const float* w);\n";
    for (const std::string argument : {"weights", "&weights"})
        EXPECT_THAT(problem_of_host_code(weights + "void f(float* x) { k<<<1, 2>>>(x, " + argument + "); }"),
                    HasSubstr("weights is a device variable: in host code, its name is not its device address"))
            << argument;
    for (const std::string body : {"void f(float* x, float* weights) { k<<<1, 2>>>(x, weights); }",
                                   "void f(float* x) { float* weights = x; k<<<1, 2>>>(x, weights); }",
                                   "void f(float* x) { cudaMemcpyToSymbol(weights, x, 100); k<<<1, 2>>>(x, x + 1); }"})
        EXPECT_THAT(problem_of_host_code(weights + body), IsEmpty()) << body;
}

TEST(HostCode, ParametersOfKernelsCannotBeReferences) {
    for (const std::string parameter : {"int& n", "const std::size_t& n", "const P &n", "T&& n"})
        EXPECT_THAT(problem_of_host_code("__global__ void k(float* x, " + parameter + ") { x[0] = n; }"),
                    HasSubstr("a kernel's parameter cannot be a reference"))
            << parameter;
    for (const std::string kernel :
         {"__global__ void k(float* x, F<void(int&)> f) { f(x); }",
          "template <int n = 3 & 1> __global__ void k(float* x) { x[0] = n; }", "__device__ void f(int& n) { ++n; }"})
        EXPECT_THAT(problem_of_host_code(kernel), IsEmpty()) << kernel;
}

TEST(HostCode, CodeThatNvccAcceptsIsAccepted) {
    for (const auto& source : std::vector<std::string>{
             helper + "void launch(float* x) { x[0] = mix(std::max(x[0], x[1])); cudaDeviceSynchronize(); }",
             "__device__ " + helper + kernel_head + "x[0] = mix(x[1]); }",
             "__host__ __device__ " + helper + kernel_head + "x[0] = mix(x[1]); }",
             "#define BOTH __host__ __device__\nBOTH " + helper + kernel_head + "x[0] = mix(x[1]); }",
             "__device__ float mix(float);\n" + helper + kernel_head + "x[0] = mix(x[1]); }",
             "int n = 3;\n__global__ void k(float* x, int n) { x[0] = n; }",
             "int n = 3;\ntemplate <int n> __global__ void k(float* x) { x[0] = n; }",
             "int n = 3;\n" + kernel_head + "for (int n = 0; n < m; ++n) x[n] = n; }",
             "float* n;\n" + kernel_head + "const float* n = x; x[0] = n[1]; }",
             "int n, t;\n" + kernel_head + "int i = 0, t = m; for (int j = 0, n = 4; j < n; ++j) x[i] = t; }",
             "int n;\n" + kernel_head + "const auto [i, n] = int2{1, 2}; x[i] = n; }",
             "int f;\ntemplate <class F> __device__ float call(F&& f, float a) { return f(a); }",
             "float f(float a) { return a; }\n__device__ float call(float (*f)(float), float a) { return f(a); }",
             "int n;\ntemplate <class... T> __device__ int sum(T... n) { return (n + ...); }",
             "int n[2];\n__device__ float first(volatile float* n) { return n[0]; }",
             "int n[2];\n__device__ float first(std::size_t, float const* n) { return n[0]; }",
             "int n;\nstruct Add { template <class T> __device__ int operator()(T&& n) const { return n + 1; } };",
             "int n;\n" + kernel_head + "auto f = [](auto&& n) { return n; }; x[0] = f(m); }",
             "float min(float a, float b, float c) { return std::min(a, std::min(b, c)); }\n" + kernel_head +
                 "x[0] = min(x[1], x[2]); }",
             "int n = 3;\n" + kernel_head + "x[0] = sizeof(n); }",
             "const float limit = 2;\nconstexpr int two = 2;\n" + kernel_head + "x[two] = limit; }",
             "constexpr int table[2] = {1, 2};\n" + kernel_head + "constexpr int one = table[0]; x[one] = 1; }",
             "__constant__ float weights[25];\n__device__ int seen;\n" + kernel_head + "x[0] = weights[m] + seen; }",
             "#define BLOCK 256\nstatic_assert(BLOCK % 32 == 0);\n" + kernel_head + "x[BLOCK] = 1; }",
             helper + kernel_head + "auto mix = [](float a) { return a; }; x[0] = mix(x[1]); }",
             helper + "struct S { float mix; };\n" + kernel_head + "S s{x[0]}; x[0] = s.mix; }",
             kernel_head + "if (threadIdx.x == 0 && m <= threadIdx.y) x[m++ + threadIdx.x - -1] = blockDim.x + +1; }",
             kernel_head + "x[m+++threadIdx.x] = m---threadIdx.y; }",
             kernel_head + "dim3 blockDim = gridDim; blockDim.x = 3; }",
             "void launch() { dim3 gridDim(1); gridDim.x = 3; }",
             "const dim3 blockDim(32);\nunsigned threads() { return blockDim.x; }",
             "void launch() { cudaLaunchConfig_t config{}; config.gridDim = dim3(1); }",
             "void launch() { each([] __device__(int i) { return threadIdx.x + i; }); }",
             "void launch() { each([] __host__ __device__(int i) { return threadIdx.x + i; }); }",
             "#define KERNEL(name) __global__ void name\nKERNEL(k)(float* x) { x[threadIdx.x] = 1; }",
             "#define HEAD __global__\nHEAD void k(float* x) { x[threadIdx.x] = 1; }",
             "unsigned bytes() { return sizeof(threadIdx) + sizeof(decltype(blockIdx.x)); }",
             kernel_head +
                 "if (m & threadIdx.x && x[0] & blockDim.x && f(m) & 3 & threadIdx.y) x[m & threadIdx.x] = 1; }",
             "__device__ void f() { static __device__ int n; static __constant__ int c = 3; }",
             "struct S { float* x; __device__ float operator()(int i) { return x[i]; } };",
             "template <class T> __global__ auto k(T* x) -> void { *x = 0; }",
             kernel_head + "x[0] = std::fabs(x[1]) + std::sqrt(x[2]) + max(x[0], x[1]); printf(\"a\"); }",
         })
        EXPECT_THAT(problem_of_host_code(source), IsEmpty()) << source;
}

}  // namespace
}  // namespace warplab::rewriter
