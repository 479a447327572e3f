#include "grader/cpu/rewriter/rewriter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <string_view>

namespace warplab::rewriter {
namespace {

struct Case {
    const char* name;
    std::string input, output;
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

std::string rewritten(std::string_view source) {
    const auto result = rewrite(source, "a.cu");
    if (!result.problems.empty()) return show_problems(result, "a.cu");
    const std::string first = "#line 1 \"a.cu\"\n";
    EXPECT_EQ(result.text.substr(0, first.size()), first);
    return result.text.substr(first.size());
}

std::string launch(std::string name, std::string configuration, std::string callee, std::string call) {
    return "static_cast<void>((::warplab_cpu::Launch(\"" + name + "\", __LINE__, " + configuration + ")," + callee +
           call + "))";
}

std::string shared_definition(std::string name, bool in_file = false, bool aligned = false) {
    return "; WARPLAB_CPU_SHARED ::warplab_cpu::Shared<warplab_cpu_type_" + name +
           (aligned ? ", warplab_cpu_aligned_" + name : "") + "> warplab_cpu_" + name + "; " +
           (in_file ? "WARPLAB_CPU_FILE_SHARED " : "") + "auto& " + name + " = warplab_cpu_" + name + ".use(\"" + name +
           "\", __LINE__)";
}

std::string dynamic_definition(std::string name, bool in_file = false) {
    return std::string("; ") + (in_file ? "WARPLAB_CPU_FILE_SHARED " : "") + "auto& " + name +
           " = ::warplab_cpu::dynamic_shared<decltype(warplab_cpu_type_" + name + ")>(\"" + name + "\", __LINE__)";
}

class Rewrites : public testing::TestWithParam<Case> {};

TEST_P(Rewrites, ToTheCodeThatTheRuntimeExpects) { EXPECT_EQ(rewritten(GetParam().input), GetParam().output); }

const Case launches[] = {
    {"Plain", "void f() { k<<<g, b>>>(p, n); }", "void f() { " + launch("k", "g, b", "k", "(p, n)") + "; }"},
    {"AllParts", "void f() { k<<<g, b, s, st>>>(p); }", "void f() { " + launch("k", "g, b, s, st", "k", "(p)") + "; }"},
    {"VisualStudio", "void f() { k << <g, b >> > (p); }", "void f() { " + launch("k", " g, b ", "k", "  (p)") + "; }"},
    {"SplitOverLines", "void f() { k<<\t<g, b>>\n>(p); }", "void f() { " + launch("k", "g, b", "k", "\n(p)") + "; }"},
    {"ByCall", "void f() { cudaLaunchKernel((const void*)k, g, b, a); cudaLaunchKernel((p), g, b, a); }",
     "void f() { cudaLaunchKernel( k, g, b, a); cudaLaunchKernel((p), g, b, a); }"},
    {"ByConfiguration",
     "void f() { cudaLaunchKernelExC(&c, (const void*)k, a); cudaLaunchKernelExC(p, (void*)k<1>, a); }",
     "void f() { cudaLaunchKernelExC(&c,  k, a); cudaLaunchKernelExC(p, k<1>, a); }"},
    {"ByGraph", "void f() { p.func = (void*)k; cudaKernelNodeParams q = {(void*)k, g}; h(a, (void*)b); x = (void*)b; }",
     "void f() { p.func = k; cudaKernelNodeParams q = {k, g}; h(a, (void*)b); x = (void*)b; }"},
    {"ByCallWithNamedCast", "void f() { cudaLaunchCooperativeKernel(reinterpret_cast<void*>(k<int>), g, b, a); }",
     "void f() { cudaLaunchCooperativeKernel((k<int>), g, b, a); }"},
    {"NoArguments", "void f() { k<<<1,1>>>(); }", "void f() { " + launch("k", "1,1", "k", "()") + "; }"},
    {"Template", "void f() { k<T, 4><<<1,1>>>(p); }",
     "void f() { " + launch("k<T, 4>", " 1,1", "k<T, 4>", "(p)") + "; }"},
    {"NestedTemplate", "void f() { k<A<B<int>>><<<1,1>>>(p); }",
     "void f() { " + launch("k<A<B<int>>>", "1,1", "k<A<B<int>>>", "(p)") + "; }"},
    {"TemplateInConfiguration", "void f() { k<<<h<A<B<1>>>::n, 1>>>(p); }",
     "void f() { " + launch("k", "h<A<B<1>>>::n, 1", "k", "(p)") + "; }"},
    {"Namespace", "void f() { ::a::b<1>::k<<<1,1>>>(p); }",
     "void f() { " + launch("::a::b<1>::k", "1,1", "::a::b<1>::k", "(p)") + "; }"},
    {"DependentTemplate", "void f() { T::template k<2><<<1,1>>>(p); }",
     "void f() { " + launch("T::template k<2>", " 1,1", "T::template k<2>", "(p)") + "; }"},
    {"Pointer", "void f() { (*t.ks[i])<<<1,1>>>(p); }",
     "void f() { " + launch("(*t.ks[i])", "1,1", "(*t.ks[i])", "(p)") + "; }"},
    {"Table", "void f() { this->t[i].k<<<1,1>>>(p); }",
     "void f() { " + launch("this->t[i].k", "1,1", "this->t[i].k", "(p)") + "; }"},
    {"FromCall", "void f() { pick(\"x\", 3)<<<1,1>>>(p); }",
     "void f() { " + launch("pick(\\\"x\\\", 3)", " 1,1", "pick(\"x\", 3)", "(p)") + "; }"},
    {"Conditional", "void f() { (c ? a : b)<<<1,1>>>(p); }",
     "void f() { " + launch("(c ? a : b)", "    1,1", "(c ? a : b)", "(p)") + "; }"},
    {"AfterIf", "void f() { if (c) k<<<1,1>>>(p); else k<<<2,1>>>(p); }",
     "void f() { if (c) " + launch("k", "1,1", "k", "(p)") + "; else " + launch("k", "2,1", "k", "(p)") + "; }"},
    {"AfterIfConstexpr", "void f() { if constexpr (c) k<<<1,1>>>(p); }",
     "void f() { if constexpr (c) " + launch("k", "1,1", "k", "(p)") + "; }"},
    {"AfterMacro", "void f() { CHECK(x) k<<<1,1>>>(p); for (;;) k<<<1,1>>>(p); }",
     "void f() { CHECK(x) " + launch("k", "1,1", "k", "(p)") + "; for (;;) " + launch("k", "1,1", "k", "(p)") + "; }"},
    {"AfterCast", "void f() { (void)k<<<1,1>>>(p); }", "void f() { (void)" + launch("k", "1,1", "k", "(p)") + "; }"},
    {"InHostDeviceFunction", "__host__ __device__ void f() { k<<<1,1>>>(p); }",
     "__host__ __device__ void f() { " + launch("k", "1,1", "k", "(p)") + "; }"},
    {"InComma", "void f() { k<<<1,1>>>(p), g(); }", "void f() { " + launch("k", "1,1", "k", "(p)") + ", g(); }"},
    {"InReturn", "void f() { return ::k<<<1,1>>>(p); }",
     "void f() { return " + launch("::k", "1,1", "::k", "(p)") + "; }"},
    {"InArguments", "void f() { a<<<1,1>>>(g([&] { b<<<2,2>>>(q); })); }",
     "void f() { " + launch("a", "1,1", "a", "(g([&] { " + launch("b", "2,2", "b", "(q)") + "; }))") + "; }"},
    {"Braces", "void f() { k<<<{1, 2}, dim3{3, 4}>>>({1, 2}, 0); }",
     "void f() { " + launch("k", "{1, 2}, dim3{3, 4}", "k", "({1, 2}, 0)") + "; }"},
    {"OverLines", "void f() {\n  k /* a */ <<< // b\n    g,\n    b\n  >>>\n  (p,\n   n);\n}",
     "void f() {\n  static_cast<void>((::warplab_cpu::Launch(\"k\", __LINE__,  /* a */  // b\n    g,\n    b\n  ),k\n  "
     "(p,\n"
     "   n)));\n}"},
    {"AtTheEndOfTheFile", "void f() { k<<<1,1>>>(p)", "void f() { " + launch("k", "1,1", "k", "(p)")},
    {"ConfigurationInAMacro", "#define C 1, 2\nvoid f() { k<<<C>>>(p); }",
     "#define C 1, 2\nvoid f() { " + launch("k", "C", "k", "(p)") + "; }"},
    {"InMacro", "#define L(k, ...) k##_kernel<<<1, 2>>>(__VA_ARGS__)\n",
     "#define L(k, ...) static_cast<void>((::warplab_cpu::Launch(WARPLAB_CPU_NAME(k##_kernel), __LINE__, 1, 2),"
     "k##_kernel(__VA_ARGS__)))\n"},
    {"InMacroOverLines", "#define L(k) \\\n  k<<<1,  \\\n  2>>>(p)\n",
     "#define L(k) \\\n  static_cast<void>((::warplab_cpu::Launch(WARPLAB_CPU_NAME(k), __LINE__, 1,  \\\n  "
     "2),k(p)))\n"},
    {"MacroWithArgumentsInParentheses", "#define L(k, arguments) k<<<1, 2>>> arguments;\nvoid f() { L(k, (p)) }",
     "#define L(k, arguments) static_cast<void>((::warplab_cpu::Launch(WARPLAB_CPU_NAME(k), __LINE__, 1, 2),k  "
     "arguments));\nvoid f() { L(k, (p)) }"},
    {"ArgumentsInAMacro", "#define ARGUMENTS (p)\nvoid f() { k<<<1, 2>>>ARGUMENTS; }",
     "#define ARGUMENTS (p)\nvoid f() { " + launch("k", "1, 2", "k", " ARGUMENTS") + "; }"},
    {"MacroOfTheConfiguration", "#define ON(g, b) <<<g, b>>>\nvoid f() { if (n) k<1> ON(n, 2)(p); }",
     "#define ON(g, b) ::warplab_cpu::Launch(\"\", __LINE__, g, b)\nvoid f() { if (n) static_cast<void>(( "
     "ON(n, 2).named(\"k<1>\"),k<1>(p))); }"},
    {"MacroOfTheConfigurationWithoutParameters", "#define ON <<<1, 2>>>\nvoid f() { k ON (p); }",
     "#define ON ::warplab_cpu::Launch(\"\", __LINE__, 1, 2)\nvoid f() { static_cast<void>(( ON.named(\"k\"),k (p))); "
     "}"},
    {"MacroOfAConfigurationInAMacro",
     "#define ON(g, b) <<<g, b>>>\n#define FEW(g) ON(g, 2)\n#define RUN(k, ...) k FEW(1)(__VA_ARGS__)\n",
     "#define ON(g, b) ::warplab_cpu::Launch(\"\", __LINE__, g, b)\n#define FEW(g) ON(g, 2)\n#define RUN(k, ...) "
     "static_cast<void>(( FEW(1).named(WARPLAB_CPU_NAME(k)),k(__VA_ARGS__)))\n"},
    {"MacroWithoutArguments", "#define ON(k) k<<<1, 2>>>\nvoid f() { ON(k)(p); }",
     "#define ON(k) ::warplab_cpu::Launch(WARPLAB_CPU_NAME(k), __LINE__, 1, 2),k\nvoid f() { ON(k)(p); }"},
};
INSTANTIATE_TEST_SUITE_P(Launch, Rewrites, testing::ValuesIn(launches),
                         [](const auto& info) { return info.param.name; });

const Case kernels[] = {
    {"Plain", "__global__ void k(int* p) { *p = 1; }",
     "__global__ void k(int* p) {WARPLAB_CPU_KERNEL(\"k\"){ *p = 1; };}"},
    {"Declaration", "__global__ void k(int* p);", "__global__ void k(int* p);"},
    {"Bounds", "template <int B> static __global__ void __launch_bounds__(B, 2) k(int a = f({1})) {}",
     "template <int B> static __global__ void __launch_bounds__(B, 2) k(int a = f({1})) "
     "{WARPLAB_CPU_KERNEL(\"k\", ::warplab_cpu::launch_bounds(B, 2)){};}"},
    {"QualifierAfterType", "void __global__ k() { }", "void __global__ k() {WARPLAB_CPU_KERNEL(\"k\"){ };}"},
    {"Attributes", "extern \"C\" __global__ void k() __attribute__((used)) { }",
     "extern \"C\" __global__ void k() __attribute__((used)) {WARPLAB_CPU_KERNEL(\"k\"){ };}"},
    {"Specialisation", "template <> __global__ void k<int>(int* p) { }",
     "template <> __global__ void k<int>(int* p) {WARPLAB_CPU_KERNEL(\"k<int>\"){ };}"},
    {"Instantiation", "template __global__ void k<int>(int* p);", "template __global__ void k<int>(int* p);"},
    {"NestedBraces", "__global__ void k() { if (1) { } } int x;",
     "__global__ void k() {WARPLAB_CPU_KERNEL(\"k\"){ if (1) { } };} int x;"},
    {"BracesInBranches", "__global__ void k() {\n#if A\n if (a) {\n#else\n if (b) {\n#endif\n } }\nint x;",
     "__global__ void k() {WARPLAB_CPU_KERNEL(\"k\"){\n#if A\n if (a) {\n#else\n if (b) {\n#endif\n } };}\nint x;"},
    {"HeadsInBranches", "#if A\n__global__ void k(int) {\n#else\n__global__ void k() {\n#endif\n }\n",
     "#if A\n__global__ void k(int) {WARPLAB_CPU_KERNEL(\"k\"){\n#else\n__global__ void k() "
     "{WARPLAB_CPU_KERNEL(\"k\"){\n"
     "#endif\n };}\n"},
    {"InMacro", "#define K(n) __global__ void n##_k(int* p) { }\n",
     "#define K(n) __global__ void n##_k(int* p) {WARPLAB_CPU_KERNEL(WARPLAB_CPU_NAME(n##_k)){ };}\n"},
    {"LaunchBounds", "template <int N> __global__ void __launch_bounds__(N * 2, 1) k() { }",
     "template <int N> __global__ void __launch_bounds__(N * 2, 1) k() "
     "{WARPLAB_CPU_KERNEL(\"k\", ::warplab_cpu::launch_bounds(N * 2, 1)){ };}"},
    {"LaunchBoundsFirst", "__launch_bounds__(96, 2, 1) __global__ void k() { }",
     "__launch_bounds__(96, 2, 1) __global__ void k() "
     "{WARPLAB_CPU_KERNEL(\"k\", ::warplab_cpu::launch_bounds(96, 2, 1)){ };}"},
    {"LaunchBoundsInAMacro", "#define B(n, ...) __launch_bounds__(2 * n, __VA_ARGS__)\n__global__ void B(M, 1) k() { }",
     "#define B(n, ...) __launch_bounds__(2 * n, __VA_ARGS__)\n__global__ void B(M, 1) k() "
     "{WARPLAB_CPU_KERNEL(\"k\", ::warplab_cpu::launch_bounds(2 * M, 1)){ };}"},
    {"LaunchBoundsInAMacroOfQualifiers", "#define B __launch_bounds__(96)\n#define K __global__ void B\nK k() { }",
     "#define B __launch_bounds__(96)\n#define K __global__ void B\nK k() "
     "{WARPLAB_CPU_KERNEL(\"k\", ::warplab_cpu::launch_bounds(96)){ };}"},
    {"LaunchBoundsOfAHiddenName", "__global__ void __launch_bounds__(n) k(A<m> a, int n) { }",
     "__global__ void __launch_bounds__(n) k(A<m> a, int n) {WARPLAB_CPU_KERNEL(\"k\"){ };}"},
    {"LaunchBoundsPasted", "#define B(n) __launch_bounds__(BLOCK_##n)\n__global__ void B(1) k() { }",
     "#define B(n) __launch_bounds__(BLOCK_##n)\n__global__ void B(1) k() {WARPLAB_CPU_KERNEL(\"k\"){ };}"},
    {"LaunchBoundsOfOneBranch",
     "#if A\n#define B __launch_bounds__(96)\n#else\n#define B\n#endif\n__global__ void B k() { }",
     "#if A\n#define B __launch_bounds__(96)\n#else\n#define B\n#endif\n__global__ void B k() "
     "{WARPLAB_CPU_KERNEL(\"k\"){ };}"},
    {"AfterMacro", "#define KERNEL static __global__ void\nKERNEL k() { }",
     "#define KERNEL static __global__ void\nKERNEL k() {WARPLAB_CPU_KERNEL(\"k\"){ };}"},
    {"HeadInMacro", "#define K(n) __global__ void n(int* p)\nK(k) { }\nK(l);",
     "#define K(n) __global__ void n(int* p)\nK(k) {WARPLAB_CPU_KERNEL(\"k\"){ };}\nK(l);"},
    {"DeclaringMacro", "#define K(n) __global__ void n();\nK(k)\nvoid host() { }",
     "#define K(n) __global__ void n();\nK(k)\nvoid host() { }"},
    {"Unclosed", "__global__ void k() { if (1) {", "__global__ void k() { if (1) {"},
};
INSTANTIATE_TEST_SUITE_P(Kernel, Rewrites, testing::ValuesIn(kernels),
                         [](const auto& info) { return info.param.name; });

const Case shared[] = {
    {"Array", "void f() { __shared__ float s[16]; }",
     "void f() { typedef float warplab_cpu_type_s[16]" + shared_definition("s") + "; }"},
    {"Several", "void f() { __shared__ float a[2][3], *b, (*c)[4]; }",
     "void f() { typedef float warplab_cpu_type_a[2][3], *warplab_cpu_type_b, (*warplab_cpu_type_c)[4]" +
         shared_definition("a") + shared_definition("b") + shared_definition("c") + "; }"},
    {"Static", "void f() { static volatile __shared__ unsigned long n; }",
     "void f() {  volatile typedef unsigned long warplab_cpu_type_n" + shared_definition("n") + "; }"},
    {"Aligned", "void f() { __shared__ __align__(16) alignas(8) char s[4] __attribute__((aligned(2))); }",
     "void f() { typedef   char warplab_cpu_type_s[4] ; struct warplab_cpu_aligned_s { __align__(16) char m0; "
     "alignas(8) "
     "char m1; __attribute__((aligned(2))) char m2; }; WARPLAB_CPU_SHARED ::warplab_cpu::Shared<warplab_cpu_type_s, "
     "warplab_cpu_aligned_s> warplab_cpu_s; auto& s = warplab_cpu_s.use(\"s\", __LINE__); }"},
    {"AlignedByAMacro",
     "#define AL(n) __align__(n)\n#define A16 AL(16)\nvoid f() { __shared__ AL(8) char s[4]; A16 __shared__ char t; }",
     "#define AL(n) __align__(n)\n#define A16 AL(16)\nvoid f() { typedef  char warplab_cpu_type_s[4]; struct "
     "warplab_cpu_aligned_s { AL(8) char m0; }" +
         shared_definition("s", false, true) +
         ";  typedef char warplab_cpu_type_t; struct warplab_cpu_aligned_t { A16 char m0; }" +
         shared_definition("t", false, true) + "; }"},
    {"AlignedByAMacroOfQualifiers", "#define TILE __shared__ __align__(16)\nvoid f() { TILE float s[4]; }",
     "#define TILE __shared__ __align__(16)\nvoid f() { typedef float warplab_cpu_type_s[4]; struct "
     "warplab_cpu_aligned_s { __align__(16) char m0; }" +
         shared_definition("s", false, true) + "; }"},
    {"Class", "void f() { __shared__ typename ns::A<int, B<2>>::T t; }",
     "void f() { typedef typename ns::A<int, B<2>>::T warplab_cpu_type_t" + shared_definition("t") + "; }"},
    {"StructDefined", "void f() { __shared__ struct P { int x, y; } p[2]; }",
     "void f() { typedef struct P { int x, y; } warplab_cpu_type_p[2]" + shared_definition("p") + "; }"},
    {"OverLines", "void f() {\n__shared__ float // type\n a[\n 4], // first\n b;\n}",
     "void f() {\ntypedef float // type\n warplab_cpu_type_a[\n 4], // first\n warplab_cpu_type_b" +
         shared_definition("a") + shared_definition("b") + ";\n}"},
    {"AtFileScope", "__shared__ int s[4];", "typedef int warplab_cpu_type_s[4]" + shared_definition("s", true) + ";"},
    {"Namespace", "namespace a::b { __shared__ int s; }",
     "namespace a::b { typedef int warplab_cpu_type_s" + shared_definition("s", true) + "; }"},
    {"Dynamic", "void f() { extern __shared__ float s[]; }",
     "void f() {  extern float warplab_cpu_type_s[]" + dynamic_definition("s") + "; }"},
    {"DynamicAligned", "void f() { extern __shared__ __align__(16) char s[][4]; }",
     "void f() {  extern  char warplab_cpu_type_s[][4]" + dynamic_definition("s") + "; }"},
    {"DynamicInFile", "extern __shared__ int s[];\nextern __shared__ int s[];",
     " extern int warplab_cpu_type_s[]" + dynamic_definition("s", true) + ";\n extern int warplab_cpu_type_s[];"},
    {"InMacro", "#define S(T, n) __shared__ T n[4], more\n",
     "#define S(T, n) typedef T warplab_cpu_type_##n[4], warplab_cpu_type_##more; WARPLAB_CPU_SHARED "
     "::warplab_cpu::Shared<warplab_cpu_type_##n> warplab_cpu_##n; auto& n = warplab_cpu_##n.use(WARPLAB_CPU_NAME(n), "
     "__LINE__); WARPLAB_CPU_SHARED ::warplab_cpu::Shared<warplab_cpu_type_##more> warplab_cpu_##more; auto& more = "
     "warplab_cpu_##more.use(WARPLAB_CPU_NAME(more), __LINE__)\n"},
    {"UnderACase", "void f() { switch (n) { case 0: __shared__ int a; __shared__ int b; g(); break; default: h(); } }",
     "void f() { switch (n) { case 0: {typedef int warplab_cpu_type_a" + shared_definition("a") +
         "; typedef int warplab_cpu_type_b" + shared_definition("b") + "; g(); break; }default: h(); } }"},
    {"UnderACaseOfASwitchUnderACase",
     "void f() { switch (n) { case 0: __shared__ int a; switch (m) { case 0: __shared__ int b; case 1: g(); } case 1: "
     "h(); } }",
     "void f() { switch (n) { case 0: {typedef int warplab_cpu_type_a" + shared_definition("a") +
         "; switch (m) { case 0: {typedef int warplab_cpu_type_b" + shared_definition("b") +
         "; }case 1: g(); } }case 1: h(); } }"},
    {"UnderTheLastCase", "void f() { switch (n) { case 0: g(); break; default: __shared__ int a; } }",
     "void f() { switch (n) { case 0: g(); break; default: typedef int warplab_cpu_type_a" + shared_definition("a") +
         "; } }"},
    {"AfterAGoto", "void f() { if (n) goto end; __shared__ int s; g(s); end: h(); }",
     "void f() { if (n) goto end; {typedef int warplab_cpu_type_s" + shared_definition("s") + "; g(s); }end: h(); }"},
    {"BetweenLabelAndGoto", "void f() { again: __shared__ int s; if (s) goto again; goto end; end: h(s); }",
     "void f() { again: typedef int warplab_cpu_type_s" + shared_definition("s") +
         "; if (s) goto again; goto end; end: h(s); }"},
    {"AfterMacro", "#define DYN extern __shared__\nvoid f() { DYN int s[]; }",
     "#define DYN extern __shared__\nvoid f() { extern int warplab_cpu_type_s[]" + dynamic_definition("s") + "; }"},
    {"DynamicInBranches",
     "#if A\nextern __shared__ int s[];\nextern __shared__ int s[];\n#else\nextern __shared__ char s[];\n#endif\n",
     "#if A\n extern int warplab_cpu_type_s[]" + dynamic_definition("s", true) +
         ";\n extern int warplab_cpu_type_s[];\n#else\n extern char warplab_cpu_type_s[]" +
         dynamic_definition("s", true) + ";\n#endif\n"},
    {"AfterCase", "void f() { switch (x) { case 1: __shared__ int s; } }",
     "void f() { switch (x) { case 1: typedef int warplab_cpu_type_s" + shared_definition("s") + "; } }"},
    {"CapturedByValue", "void f() { __shared__ int s; auto g = [=](int i) { return s; }; }",
     "void f() { typedef int warplab_cpu_type_s" + shared_definition("s") +
         "; auto g = [=, &s](int i) { return s; }; }"},
    {"CapturedByNothing", "void f() { __shared__ int s, t; h([] { return t + s + t; }); }",
     "void f() { typedef int warplab_cpu_type_s, warplab_cpu_type_t" + shared_definition("s") + shared_definition("t") +
         "; h([&t, &s] { return t + s + t; }); }"},
    {"CapturedByReference", "void f() { __shared__ int s; auto g = [&, i] { return s; }; }",
     "void f() { typedef int warplab_cpu_type_s" + shared_definition("s") + "; auto g = [&, i] { return s; }; }"},
    {"NotCaptured",
     "void f() { { __shared__ int s; } a[s] = 1; auto g = [=] { return s; }; auto h = [](int s) { return s; }; }",
     "void f() { { typedef int warplab_cpu_type_s" + shared_definition("s") +
         "; } a[s] = 1; auto g = [=] { return s; }; auto h = [](int s) { return s; }; }"},
    {"ParameterHidesTheVariable", "void f() { __shared__ int s; auto h = [](int s) { return s; }; }",
     "void f() { typedef int warplab_cpu_type_s" + shared_definition("s") + "; auto h = [](int s) { return s; }; }"},
};
INSTANTIATE_TEST_SUITE_P(Shared, Rewrites, testing::ValuesIn(shared), [](const auto& info) { return info.param.name; });

std::string checked(std::string call) { return "(::warplab_cpu::yield_before_checked_atomic(), " + call + ")"; }

const Case guards[] = {
    {"Element", "__device__ void f(int* a, int i) { if (a[i] < 9) atomicAdd(&a[i], 1); }",
     "__device__ void f(int* a, int i) { if (a[i] < 9) " + checked("atomicAdd(&a[i], 1)") + "; }"},
    {"Pointer", "__device__ void f(int* a) { while (*a == 0) x = atomicExch(a, 1); }",
     "__device__ void f(int* a) { while (*a == 0) x = " + checked("atomicExch(a, 1)") + "; }"},
    {"Variable", "__device__ void f(int* a) { int v = a[3]; if (v > 0) return; atomicSub(a + 3, 1); }",
     "__device__ void f(int* a) { int v = a[3]; if (v > 0) return; " + checked("atomicSub(a + 3, 1)") + "; }"},
    {"IndexFromCheckedArray", "__device__ void f(int* a, int* b) { if (a[0]) atomicAdd(&b[a[1]], 1); }",
     "__device__ void f(int* a, int* b) { if (a[0]) atomicAdd(&b[a[1]], 1); }"},
    {"CastPointer", "__device__ void f(int* a, int i) { if (*(volatile int*)(a + i) < 9) atomicAdd(a + i, 1); }",
     "__device__ void f(int* a, int i) { if (*(volatile int*)(a + i) < 9) " + checked("atomicAdd(a + i, 1)") + "; }"},
    {"ConstCast", "__device__ void f(int* a) { int v = *const_cast<volatile int*>(a); if (v) atomicAdd(a, 1); }",
     "__device__ void f(int* a) { int v = *const_cast<volatile int*>(a); if (v) " + checked("atomicAdd(a, 1)") + "; }"},
    {"Loaded", "__device__ void f(int* a, int i) { if (__ldcg(a + i) < 9) atomicAdd(a + i, 1); }",
     "__device__ void f(int* a, int i) { if (__ldcg(a + i) < 9) " + checked("atomicAdd(a + i, 1)") + "; }"},
    {"Reference", "__device__ void f(int* a, int i) { int& bin = a[i]; if (a[i] < 9) atomicAdd(&bin, 1); }",
     "__device__ void f(int* a, int i) { int& bin = a[i]; if (a[i] < 9) " + checked("atomicAdd(&bin, 1)") + "; }"},
    {"PointerToElement", "__device__ void f(int* a, int i) { int* p = a + i; if (*p < 9) atomicAdd(&a[i], 1); }",
     "__device__ void f(int* a, int i) { int* p = a + i; if (*p < 9) " + checked("atomicAdd(&a[i], 1)") + "; }"},
    {"Choice", "__device__ void f(int* a, int i) { int v = a[i]; atomicAdd(&a[i], v < 9 ? 1 : 0); }",
     "__device__ void f(int* a, int i) { int v = a[i]; " + checked("atomicAdd(&a[i], v < 9 ? 1 : 0)") + "; }"},
    {"CheckOfTheOldValue", "__device__ void f(int* a) { int v = atomicAdd(a, 1); if (v < 9 && v == 3) a[1] = 2; }",
     "__device__ void f(int* a) { int v = atomicAdd(a, 1); if (v < 9 && v == 3) a[1] = 2; }"},
    {"ValueOfAnotherArray", "__device__ void f(int* a, int* b) { int v = a[0]; if (v < 9) atomicAdd(b + v, 1); }",
     "__device__ void f(int* a, int* b) { int v = a[0]; if (v < 9) atomicAdd(b + v, 1); }"},
    {"NoCheck", "__device__ void f(int* a, int i, int n) { if (i * n < 9) atomicAdd(&a[i], 1); }",
     "__device__ void f(int* a, int i, int n) { if (i * n < 9) atomicAdd(&a[i], 1); }"},
    {"CompareAndSwap", "__device__ void f(int* a) { if (a[0]) atomicCAS(a, 0, 1); }",
     "__device__ void f(int* a) { if (a[0]) atomicCAS(a, 0, 1); }"},
    {"HostCode", "int atomicAdd(int*, int); void f(int* a) { if (a[0]) atomicAdd(a, 1); }",
     "int atomicAdd(int*, int); void f(int* a) { if (a[0]) atomicAdd(a, 1); }"},
};
INSTANTIATE_TEST_SUITE_P(Guard, Rewrites, testing::ValuesIn(guards), [](const auto& info) { return info.param.name; });

const Case symbols[] = {
    {"Constant", "__constant__ float c[4] = {1, 2}, d;",
     "__constant__ float c[4] = {1, 2}, d; WARPLAB_CPU_SYMBOL(c, constant); WARPLAB_CPU_SYMBOL(d, constant);"},
    {"Device", "static __device__ volatile unsigned n = f<1, 2>(3);",
     "static __device__ volatile unsigned n = f<1, 2>(3); WARPLAB_CPU_SYMBOL(n, device);"},
    {"Managed", "namespace a { __device__ __managed__ int m; }",
     "namespace a { __device__ __managed__ int m; WARPLAB_CPU_SYMBOL(m, managed); }"},
    {"Struct", "__constant__ struct P { int x; } p;",
     "__constant__ struct P { int x; } p; WARPLAB_CPU_SYMBOL(p, constant);"},
    {"FunctionPointer", "__device__ float (*op)(float) = g;",
     "__device__ float (*op)(float) = g; WARPLAB_CPU_SYMBOL(op, device);"},
    {"UsingNamespace", "using namespace std; __device__ int count; namespace a { __device__ int n; }",
     "using namespace std; __device__ int count; WARPLAB_CPU_SYMBOL(::count, device); "
     "namespace a { __device__ int n; WARPLAB_CPU_SYMBOL(n, device); }"},
    {"MacroOpensNamespace", "#define BEGIN namespace a {\nBEGIN using namespace std; __device__ int n; }",
     "#define BEGIN namespace a {\nBEGIN using namespace std; __device__ int n; WARPLAB_CPU_SYMBOL(n, device); }"},
    {"ExternC", "extern \"C\" { __device__ int n; }",
     "extern \"C\" { __device__ int n; WARPLAB_CPU_SYMBOL(n, device); }"},
    {"ExternCAlone", "extern \"C\" __device__ int n = 0;",
     "extern \"C\" __device__ int n = 0; WARPLAB_CPU_SYMBOL(n, device);"},
    {"Constructed", "__device__ int n(0), m = 1, o(-1); __constant__ P p(3, x.y);",
     "__device__ int n(0), m = 1, o(-1); WARPLAB_CPU_SYMBOL(n, device); WARPLAB_CPU_SYMBOL(m, device); "
     "WARPLAB_CPU_SYMBOL(o, device); __constant__ P p(3, x.y); WARPLAB_CPU_SYMBOL(p, constant);"},
    {"Unclear", "__device__ P p(q);", "WARPLAB_CPU_UNLISTED_SYMBOLS; __device__ P p(q);"},
    {"UnclearInFunction", "void f() { static __device__ P p(q); }",
     "WARPLAB_CPU_UNLISTED_SYMBOLS; void f() { static __device__ P p(q); }"},
    {"AfterMacro", "#define D(t) __device__ t\nD(int) n;",
     "#define D(t) __device__ t\nWARPLAB_CPU_UNLISTED_SYMBOLS; D(int) n;"},
    {"QualifierInArguments", "D(__device__, int, n);", "WARPLAB_CPU_UNLISTED_SYMBOLS; D(__device__, int, n);"},
    {"Prototypes",
     "__device__ int f(T); __device__ int f(T x) { return 1; } struct P { __device__ P(T); __device__ ~P(); }; "
     "__device__ int g(T x, U*), h(const T&);",
     "__device__ int f(T); __device__ int f(T x) { return 1; } struct P { __device__ P(T); __device__ ~P(); }; "
     "__device__ int g(T x, U*), h(const T&);"},
    {"Functions",
     "__device__ int f(int); __device__ A<int> operator+(B); __device__ A::A() : x(1) {} __device__ A::B A::f() {}",
     "__device__ int f(int); __device__ A<int> operator+(B); __device__ A::A() : x(1) {} __device__ A::B A::f() {}"},
    {"Members", "struct A { static __device__ int n; }; __device__ int A::n = 1; extern __constant__ int e;",
     "WARPLAB_CPU_UNLISTED_SYMBOLS; struct A { static __device__ int n; }; __device__ int A::n = 1; "
     "extern __constant__ int e;"},
    {"Template", "template <class T> __device__ T n = 1;",
     "WARPLAB_CPU_UNLISTED_SYMBOLS; template <class T> __device__ T n = 1;"},
    {"TemplateFunctions", "template <class T> __device__ T f(T x) { auto g = [=] __device__(int i) { return i; }; }",
     "template <class T> __device__ T f(T x) { auto g = [=] __device__(int i) { return i; }; }"},
    {"InFunction", "__device__ int f() { static __device__ int n; return ++n; }",
     "WARPLAB_CPU_UNLISTED_SYMBOLS; __device__ int f() { static __device__ int n; "
     "WARPLAB_CPU_STATIC_SYMBOL(n, device); return ++n; }"},
    {"InFunctionWithoutAQualifier", "__device__ int f() { static int n[2], *p = n; return ++*p; }",
     "WARPLAB_CPU_UNLISTED_SYMBOLS; __device__ int f() { static int n[2], *p = n; "
     "WARPLAB_CPU_STATIC_SYMBOL(n, device); WARPLAB_CPU_STATIC_SYMBOL(p, device); return ++*p; }"},
    {"ConstantInFunction", "__device__ int f(int i) { static const int n[] = {1, 2}; return n[i]; }",
     "__device__ int f(int i) { static const int n[] = {1, 2}; return n[i]; }"},
    {"ReferenceInFunction", "__device__ int n; __device__ int f() { static int& m = n; return ++m; }",
     "WARPLAB_CPU_UNLISTED_SYMBOLS; __device__ int n; WARPLAB_CPU_SYMBOL(n, device); "
     "__device__ int f() { static int& m = n; return ++m; }"},
    {"InHostFunction", "int f() { static int n; return ++n; }", "int f() { static int n; return ++n; }"},
    {"InMacro", "#define V(t, n) __device__ t n[4]\n#define F(n) __device__ int n(int x) { return x; }\nV(int, a);",
     "#define V(t, n) __device__ t n[4]\n#define F(n) __device__ int n(int x) { return x; }\n"
     "WARPLAB_CPU_UNLISTED_SYMBOLS; V(int, a);"},
    {"FunctionMacro", "#define HD __host__ __device__\n#define F(n) HD int n(int x) { return x; }\nF(a);",
     "#define HD __host__ __device__\n#define F(n) HD int n(int x) { return x; }\nF(a);"},
};
INSTANTIATE_TEST_SUITE_P(Symbol, Rewrites, testing::ValuesIn(symbols),
                         [](const auto& info) { return info.param.name; });

const Case other_code[] = {
    {"Nothing", "", ""},
    {"Comments", "// k<<<1,1>>>(p) \\\n __shared__ int s;\n/* asm __global__ void k() { } */",
     "// k<<<1,1>>>(p) \\\n __shared__ int s;\n/* asm __global__ void k() { } */"},
    {"Strings", "auto a = \"k<<<1,1>>>(p); asm\" R\"(__shared__ int\n \" s;)\" \"\\\"__noinline__\";",
     "auto a = \"k<<<1,1>>>(p); asm\" R\"(__shared__ int\n \" s;)\" \"\\\"__noinline__\";"},
    {"Dead", "#if 0\nk<<<1,1>>>(p); don't asm\n#elif 1\nint x;\n#else\nasm\n#endif\n",
     "#if 0\nk<<<1,1>>>(p); don't asm\n#elif 1\nint x;\n#else\nasm\n#endif\n"},
    {"ForTheGpu",
     "#ifdef __WARPLAB_CPU__\nint x;\n#else\n#if A\nasm\n#else\nasm\n#endif\n#endif\n"
     "#if !defined(__WARPLAB_CPU__) && A\n#include <thrust/sort.h>\n#define K asm\n#endif\n",
     "#ifdef __WARPLAB_CPU__\nint x;\n#else\n#if A\nasm\n#else\nasm\n#endif\n#endif\n"
     "#if !defined(__WARPLAB_CPU__) && A\n#include <thrust/sort.h>\n#define K asm\n#endif\n"},
    {"OperatorsLikeLaunches", "int f() { return a << b < c >> d; } B<C<D<1>>>(x);",
     "int f() { return a << b < c >> d; } B<C<D<1>>>(x);"},
    {"Noinline", "__noinline__ __device__ int f(); __attribute__((__noinline__)) [[gnu::__noinline__]] int g();",
     "WARPLAB_CPU_NOINLINE __device__ int f(); __attribute__((__noinline__)) [[gnu::__noinline__]] int g();"},
    {"TargetOfAProcessor", "#pragma GCC target(\"avx2\")\n#pragma GCC optimize(\"O3\")\n",
     "#pragma warplab_cpu target(\"avx2\")\n#pragma GCC optimize(\"O3\")\n"},
    {"EmptyAssembler", "asm volatile(\"\" ::: \"memory\"); __asm__ __volatile__ (\"\" : \"+r\"(x));",
     "::warplab_cpu::compiler_fence()   ; ::warplab_cpu::compiler_fence()    ;"},
    {"SpecialRegister",
     "asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane)); asm volatile(\"mov.u32 %0,%%lanemask_le;\":\"=r\"(m[1]):);",
     "(lane) = ::warplab_cpu::lane()  ; (m[1]) = (::warplab_cpu::lanes_below() | ::warplab_cpu::lanes_equal()) ;"},
    {"SpecialRegisterWithOnePercentSign", "asm volatile(\"mov.u32 %0, %globaltimer_lo;\" : \"=r\"(t));",
     "(t) = ::warplab_cpu::ticks()   ;"},
    {"ByteOrderMarkAndWindowsLines", "\xEF\xBB\xBFint a; // x\r\n#define A \\\r\n 1\r\n\r b",
     "int a; // x\n#define A \\\n 1\n\r b"},
    {"UnrollPragmas",
     "__global__ void k() {\n#pragma unroll 1\nfor (;;);\n#pragma unroll (1)\ndo; while (0);\n#pragma unroll 16\n"
     "for (;;);\n#pragma unroll\nfor (;;);\n}",
     "__global__ void k() {WARPLAB_CPU_KERNEL(\"k\"){\n#pragma GCC unroll 1\nfor (;;);\n#pragma GCC unroll (1)\n"
     "do; while (0);\n#pragma unroll 16\nfor (;;);\n#pragma unroll\nfor (;;);\n};}"},
    {"Unbalanced", "} ) ] k( [ { ", "} ) ] k( [ { "},
};
INSTANTIATE_TEST_SUITE_P(Other, Rewrites, testing::ValuesIn(other_code),
                         [](const auto& info) { return info.param.name; });

TEST(Rewriter, QuotesTheShownName) {
    EXPECT_EQ(rewrite("", "a \"b\"\\c.cu").text, "#line 1 \"a \\\"b\\\"\\\\c.cu\"\n");
}

/// Return the processor time to rewrite a file with this many functions and macros, in seconds.
double time_to_rewrite(int count) {
    std::string source;
    for (int i = 0; i < count; ++i) {
        const std::string number = std::to_string(i);
        source += "#define M" + number + " M\nstatic int f" + number + "() { return 1; }\n";
    }
    const std::clock_t begin = std::clock();
    rewrite(source, "a.cu");
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(Rewriter, TakesTimeThatIsLinearInTheNumberOfFunctionsAndMacros) {
    EXPECT_LT(time_to_rewrite(16'000), 9 * time_to_rewrite(4'000) + 0.1);  // quadratic: 16 times
}

}  // namespace
}  // namespace warplab::rewriter
