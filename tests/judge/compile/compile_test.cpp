#include "grader/judge/compile/compile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <regex>

#include "grader/common/hash.h"
#include "grader/judge/compile/cache.h"
#include "grader/judge/compile/contract.h"
#include "grader/judge/compile/diagnostics.h"
#include "grader/judge/compile/hand_in.h"
#include "grader/judge/compile/harness.h"
#include "grader/judge/compile/symbols.h"
#include "grader/judge/compile/tool_words.h"
#include "grader/judge/compile/toolchain.h"
#include "grader/model/cause.h"
#include "tests/paths.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;
using compilation::Diagnostic;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr auto right = R"(#include "labs/vector_add/lab.h"

__global__ void add_kernel(const float* a, const float* b, float* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    if (n > 0) add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
)";

std::string replace(const std::string& text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return std::string(text).replace(at, from.size(), to);
}

std::string right_with(const std::string& from, const std::string& to) { return replace(right, from, to); }
/// Return the right file with `more` at its end, which begins in line 11.
std::string right_followed_by(const std::string& more) { return std::string(right) + more + "\n"; }

const Lab& lab() {
    static const Lab loaded = load_lab(test::root_folder(), "vector_add");
    return loaded;
}

std::string missing_tool(Backend backend) {
    if (backend == Backend::cuda && find_nvcc().empty()) return "nvcc is missing";
    if (backend == Backend::cpu && !fs::exists(test::build_folder() / "cpu/rewrite")) return "cpu/rewrite is not built";
    return "";
}

class CompileTest : public testing::Test {
  protected:
    CompileTest() {
        std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
        std::replace(name.begin(), name.end(), '/', '-');
        folder_ = fs::path(testing::TempDir()) / ("compile-" + name + std::to_string(getpid()));
        fs::create_directories(folder_);
    }
    ~CompileTest() override { fs::remove_all(folder_); }

    fs::path hand_in(const std::string& text, const std::string& name = "hand_in.cu") const {
        std::ofstream(folder_ / name, std::ios::binary) << text;
        return folder_ / name;
    }
    Compiled compile_file(const fs::path& file, Backend backend = Backend::cpu, SandboxLevel level = SandboxLevel::none,
                          std::vector<std::string> defines = {}) const {
        return compile({lab(), lab().stages.front(), file, backend, std::move(defines), level, test::build_folder()});
    }
    Compiled compile_text(const std::string& text, Backend backend = Backend::cpu,
                          SandboxLevel level = SandboxLevel::none) const {
        return compile_file(hand_in(text), backend, level);
    }
    fs::path reference_source(const Stage& stage) const {
        return folder_ / "solutions/vector_add" / (stage.id + ".cu");
    }
    fs::path folder_;
};

std::string message_of(const Compilation& result) {
    return result.failure ? result.failure->message + "\n" + result.failure->hint + "\n" + result.log : result.log;
}

/// Expect no internal names or paths in the messages.
void expect_no_internal_names(const Compilation& result) {
    for (const char* internal :
         {"warplab_cpu", "WARPLAB_CPU", "student.cu", "student.cpp", "student.o", "/cache/", "driver.o"})
        EXPECT_THAT(message_of(result), Not(HasSubstr(internal)));
}

// Every kind of wrong file, on both backends.

struct Wrong {
    const char* name;
    std::string text;
    const char* cause;
    std::vector<const char*> words;  // each must be in the message, the hint or the log
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name; }

const std::vector<Wrong>& wrong_files() {
    static const std::vector<Wrong> files = {
        {"Empty", "", cause::empty_file, {"is empty"}},
        {"Blank", " \n\r\n\t\n", cause::empty_file, {"is empty"}},
        {"Binary",
         std::string("\x7f"
                     "ELF\0\0\1",
                     7),
         cause::compile_error,
         {"not a text file"}},
        {"Utf16", std::string("\xff\xfe#\0i\0n\0", 8), cause::compile_error, {"UTF-16"}},
        {"AbsoluteInclude",
         right_followed_by("#include \"/etc/passwd\""),
         cause::compile_error,
         {"Line 11", "/etc/passwd", "outside the hand-in"}},
        {"SaysOutOfMemory",
         right_followed_by("#pragma message \"virtual memory exhausted: Cannot allocate memory\"\nint x = y;"),
         cause::compile_error,
         {"Line 12", "y"}},
        {"SaysKilled",
         right_followed_by("#pragma message \"Killed signal terminated program cc1plus\"\nint x = y;"),
         cause::compile_error,
         {"Line 12", "y"}},
        {"IncludeAbove",
         right_followed_by("#  include <labs/../../secret.h>"),
         cause::compile_error,
         {"Line 11", "outside the hand-in"}},
        {"IncludeByADigraph",
         right_followed_by("%:include \"/etc/passwd\""),
         cause::compile_error,
         {"Line 11", "outside the hand-in"}},
        {"IncludeInTwoLines",
         right_followed_by("#inc\\\nlude \"/etc/passwd\""),
         cause::compile_error,
         {"Line 12", "outside the hand-in"}},
        {"IncludeHelper",
         right_followed_by("#include \"helper.h\""),
         cause::compile_error,
         {":11", "helper.h", "one file"}},
        {"IncludeHarness", right_followed_by("#include \"grader/runner/driver.h\""), cause::compile_error, {":11"}},
        {"Undeclared",
         right_with("add_kernel<<<", "sum_kernel<<<"),
         cause::compile_error,
         {"Line 9", "sum_kernel", "if (n > 0) sum_kernel<<<"}},
        {"MissingSemicolon", right_with("+ b[i];", "+ b[i]"), cause::compile_error, {"semicolon at the end of line"}},
        {"TooFewKernelArguments",
         right_with("(a, b, out, n);", "(a, b, n);"),
         cause::compile_error,
         {"Line 9", "256>>>(a, b, n)"}},
        {"WrongKernelArgument",
         right_with("(a, b, out, n);", "(a, b, b, n);"),
         cause::compile_error,
         {"Line 9", "256>>>(a, b, b, n)"}},
        {"OtherParameters",
         right_with("float* out, std::size_t n, void*)", "float* out, int n, void*)"),
         cause::wrong_signature,
         {"(line 8)", "int, void*", "void vector_add(const float* a, const float* b, float* out"}},
        {"OtherResult", right_with("void vector_add", "int vector_add"), cause::wrong_signature, {"line 8"}},
        {"CLinkage", right_with("void vector_add", "extern \"C\" void vector_add"), cause::wrong_signature, {"line 8"}},
        {"InNamespace",
         right_with("void vector_add", "namespace mine { void vector_add") + "}\n",
         cause::missing_function,
         {"namespace", "line 8"}},
        {"OtherName",
         right_with("void vector_add", "void vectoradd"),
         cause::missing_function,
         {"vectoradd (line 8)", "void vector_add("}},
        {"NoFunction", "#include \"labs/vector_add/lab.h\"\nint unrelated;\n", cause::missing_function, {"vector_add"}},
        {"OptionalWithOtherParameters",
         right_followed_by("std::size_t vector_add_scratch_bytes(int n) { return n; }"),
         cause::wrong_signature,
         {"line 11", "vector_add_scratch_bytes(unsigned long)"}},
        {"OwnMain", right_followed_by("int main() { return 0; }"), cause::own_main, {"line 11", "Remove main"}},
        {"DriverName",
         right_followed_by("namespace warplab { struct Call; }\nvoid driver_call(const warplab::Call&) {}"),
         cause::reserved_symbol,
         {"driver_call", "line 12"}},
        {"CudaName",
         right_followed_by("cudaError_t cudaMalloc(void**, std::size_t) { return cudaSuccess; }"),
         cause::reserved_symbol,
         {"cudaMalloc", "line 11"}},
        {"BodyMissing",
         right_followed_by("void elsewhere(); void f() { elsewhere(); }"),
         cause::compile_error,
         {"elsewhere()"}},
        {"TemplateOfLibrary",
         right_followed_by("#include <algorithm>\nstruct P {};\nvoid f(P* p) { std::sort(p, p + 2); }"),
         cause::compile_error,
         {"Line 13", "std::sort(p, p + 2)"}},
        {"OwnInterpreter",
         right_followed_by("__attribute__((section(\".interp\"))) extern const char loader[] = \"/bin/sh\";"),
         cause::compile_error,
         {".interp", "how the program"}},
        {"OwnStart", right_followed_by("extern \"C\" void _start() {}"), cause::reserved_symbol, {"_start"}},
        {"SaysTheCompilerCrashed",
         right_followed_by("#error internal compiler error: Segmentation fault"),
         cause::compile_error,
         {"Line 11"}},
        {"MacroBreaksHeader", "#define n 5\n" + std::string(right), cause::compile_error, {}},
    };
    return files;
}

class WrongFile : public CompileTest, public testing::WithParamInterface<std::tuple<Backend, Wrong>> {};

TEST_P(WrongFile, FailsWithTheExpectedCause) {
    const auto& [backend, wrong] = GetParam();
    if (const std::string why = missing_tool(backend); !why.empty()) GTEST_SKIP() << why;
    const Compilation result = compile_text(wrong.text, backend).result;
    ASSERT_EQ(result.verdict, Verdict::failed) << message_of(result);
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->cause, wrong.cause) << message_of(result);
    for (const char* words : wrong.words) EXPECT_THAT(message_of(result), HasSubstr(words));
    expect_no_internal_names(result);
}

std::string wrong_name(const testing::TestParamInfo<std::tuple<Backend, Wrong>>& info) {
    return std::string(backend_name(std::get<0>(info.param))) + std::get<1>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(Compile, WrongFile,
                         testing::Combine(testing::Values(Backend::cpu, Backend::cuda),
                                          testing::ValuesIn(wrong_files())),
                         wrong_name);

// Files on which a tool fails without naming a mistake. The judge fails these files, because the reference compiles.

constexpr auto outermost = "#define B0 {\n#define E0 }\n";

/// Return a function body of 2^levels nested braces that only the compiler sees, because macros make them.
std::string nested_by_macros(int levels) {
    std::string text = outermost;
    for (int i = 1; i <= levels; ++i)
        for (const char* side : {"B", "E"}) text += fmt::format("#define {0}{1} {0}{2} {0}{2}\n", side, i, i - 1);
    return text + fmt::format("void nested() {{ B{0} E{0} }}", levels);
}

/// Return code that causes the same warning 2^levels times.
std::string warned_by_macros(int levels) {
    std::string text = "#define W0 _Pragma(\"message \\\"again and again and again\\\"\")\n";
    for (int i = 1; i <= levels; ++i) text += fmt::format("#define W{0} W{1} W{1}\n", i, i - 1);
    return text + fmt::format("W{}", levels);
}

const std::vector<Wrong>& files_that_break_tools() {
    constexpr std::size_t deep = 300000;
    static const std::vector<Wrong> files = {
        {"NestedBraces",
         right_followed_by("void f() {" + std::string(deep, '{') + std::string(deep, '}') + "}"),
         cause::compile_error,
         {"256 levels"}},
        {"NestedByMacros",
         right_followed_by(nested_by_macros(18)),
         cause::compile_error,
         {"after macro expansion", "256 levels"}},
        {"AbortInAsm",
         right_followed_by("#define GLUE_(x, y) x##y\n#define GLUE(x, y) GLUE_(x, y)\nGLUE(as, m)(\".abort\");"),
         cause::refused_feature,
         {"asm: inline assembler"}},
        {"AbortInASection",
         right_followed_by("__attribute__((section(\".data\\n.abort\\n#\"))) int aborts = 1;"),
         cause::refused_feature,
         {"section: an attribute"}},
        {"ManyNotes",
         right_followed_by(warned_by_macros(13) + "\nint x = nope;"),
         cause::compile_error,
         {"first 256 KB of its output", "reference"}},
        {"Flood",
         right_followed_by(warned_by_macros(18)),
         cause::compile_error,
         {"printed more than 16 MB", "reference"}},
    };
    return files;
}

class BreaksTools : public CompileTest, public testing::WithParamInterface<Wrong> {};

TEST_P(BreaksTools, IsAFailureOfTheFile) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const Compilation result = compile_text(GetParam().text).result;
    ASSERT_EQ(result.verdict, Verdict::failed) << message_of(result);
    EXPECT_EQ(result.failure->cause, GetParam().cause) << message_of(result);
    for (const char* words : GetParam().words) EXPECT_THAT(message_of(result), HasSubstr(words));
    expect_no_internal_names(result);
}
INSTANTIATE_TEST_SUITE_P(Compile, BreaksTools, testing::ValuesIn(files_that_break_tools()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(CompileTest, ALargeProgramIsRefused) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const Compilation result =
        compile_text(right_followed_by("__attribute__((used)) static int large[18 << 20] = {1};")).result;
    ASSERT_EQ(result.verdict, Verdict::failed) << message_of(result);
    EXPECT_EQ(result.failure->cause, cause::compile_error);
    EXPECT_THAT(message_of(result), HasSubstr("larger than 64 MB"));
}

TEST_F(CompileTest, AFileIsNotBlamedIfTheReferenceDoesNotCompileEither) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    Lab broken = lab();
    broken.root = folder_;
    for (const char* part : {"labs/vector_add", "grader/runner", "grader/io", "grader/cpu"}) {
        fs::create_directories((folder_ / part).parent_path());
        fs::copy(test::root_folder() / part, folder_ / part, fs::copy_options::recursive);
    }
    const Stage& stage = broken.stages.front();
    fs::create_directories(folder_ / "solutions/vector_add");
    std::ofstream(reference_source(stage)) << "#error no compiler here\n";
    const fs::path file = hand_in(right_followed_by(warned_by_macros(13) + "\nint x = nope;"));
    const Compilation result =
        compile({broken, stage, file, Backend::cpu, {}, SandboxLevel::none, test::build_folder()}).result;
    EXPECT_EQ(result.verdict, Verdict::error);
    EXPECT_THAT(message_of(result),
                testing::AllOf(HasSubstr("does not compile here either"), HasSubstr("no compiler here")));
}

struct RewrittenMistake {
    const char* name;
    std::string text;
    const char* message;
    const char* forbidden = "(2 errors";
};

void PrintTo(const RewrittenMistake& mistake, std::ostream* out) { *out << mistake.name; }

/// Return the right file with `line` in place of its line 4.
std::string with_line_4(const std::string& line) {
    return right_with("    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;\n",
                      "const std::size_t i = threadIdx.x; " + line + "\n");
}

/// Mistakes in lines that the rewriter changes: messages must refer to the student's own text.
const std::vector<RewrittenMistake>& mistakes_in_rewritten_lines() {
    constexpr auto size_must_be_known = "Line 4: the size of a __shared__ array must be known";
    static const std::vector<RewrittenMistake> mistakes = {
        {"SharedOfParameter", with_line_4("__shared__ float s[2 * n];"), size_must_be_known},
        {"SharedOfBlock", with_line_4("__shared__ float s[4][blockDim.x]; s[0][i] = 1;"), size_must_be_known},
        {"SharedOfVariable", with_line_4("int m = n; __shared__ float s[m]; s[i] = 1;"), size_must_be_known},
        {"SharedOfUndeclared", with_line_4("__shared__ float s[SIZE];"), "Line 4: ‘SIZE’ was not declared"},
        {"SharedOfUnknownType", with_line_4("__shared__ integer s[4];"), "Line 4: ‘integer’ does not name a type"},
        {"SharedTwice", with_line_4("__shared__ int s[4]; __shared__ float s[4];"),
         "Line 4: conflicting declaration ‘float s [4]’"},
        {"SharedTwiceWithOneType", with_line_4("__shared__ int s[4]; __shared__ int s[4];"),
         "Line 4: redeclaration of ‘int [4] s’"},
        {"SharedAndVariable", with_line_4("int s; __shared__ int s[4];"), "Line 4: conflicting declaration ‘s’"},
        {"SharedTooLarge", with_line_4("__shared__ int s[100000]; s[i] = 1;"),
         "a __shared__ variable has at most 48 KB"},
        {"DynamicOfTwoTypes", with_line_4("extern __shared__ int s[]; { extern __shared__ float s[]; }"),
         "Line 4: conflicting declaration ‘float s []’"},
        {"DynamicOfTwoTypesInTemplate",
         right_followed_by("template <class T> __device__ void f(T t) { extern __shared__ T s[]; s[0] = t; }\n"
                           "__global__ void k() { f(1); f(1.5f); }"),
         "Line 11: conflicting declaration ‘float s []’"},
        {"SemicolonBeforeLaunch",
         "#define BLOCK 256\n" + right_with("    if (n > 0)", "    unsigned threads = BLOCK\n   "),
         "Line 11: expected ‘,’ or ‘;’ before the launch"},
        {"ArgumentOfBarrier", with_line_4("__syncthreads(1);"), "Line 4: too many arguments in this call"},
        {"TooFewOfCopy", right_followed_by("void f(int* p) { cudaMemcpy(p, p, 4); }"),
         "cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind)’"},
        {"LoopWithoutBody", with_line_4("for (int k = 0; k < 4; ++k);\n    out[k] = 0;"),
         "The ; after the ) of line 4 is the whole body of that loop, so its variable k does not exist"},
        {"LoopWithoutBraces", with_line_4("for (int k = 0; k < 4; ++k)\n    out[k] = 0;\n    out[k] = 1;"),
         "k belongs to the loop of line 4, which has ended here"},
        {"LoopOfOtherVariable", with_line_4("for (int k = 0; k < 4; ++k);\n    out[m] = 0;"),
         "Is the name spelled as in its declaration"},
        {"FloatIndex", with_line_4("float k = i; out[k] = 0;"), "An index is a whole number"},
        {"ElseAfterSemicolon", with_line_4("if (i < n); out[i] = 0; else out[i] = 1;"), "The if before it has ended"},
        {"ValuesWithoutParentheses", right_with("    if (n > 0)", "    dim3 block = 32, 8;\n    if (n > 0)"),
         "Several values for one variable need parentheses"},
        {"TooFewOfShuffle", with_line_4("__shfl_down_sync(0xffffffff);"), "Line 4: no matching function", "expects 5"},
    };
    return mistakes;
}

class RewrittenLine : public CompileTest, public testing::WithParamInterface<RewrittenMistake> {};

TEST_P(RewrittenLine, IsReportedAsTheStudentWroteIt) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const Compilation result = compile_text(GetParam().text).result;
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->cause, cause::compile_error);
    EXPECT_THAT(message_of(result), HasSubstr(GetParam().message));
    EXPECT_THAT(message_of(result), Not(HasSubstr(GetParam().forbidden)));
    expect_no_internal_names(result);
}
INSTANTIATE_TEST_SUITE_P(Compile, RewrittenLine, testing::ValuesIn(mistakes_in_rewritten_lines()),
                         [](const auto& info) { return std::string(info.param.name); });

// Files that compile.

class EitherBackend : public CompileTest, public testing::WithParamInterface<Backend> {
  protected:
    void SetUp() override {
        if (const std::string why = missing_tool(GetParam()); !why.empty()) GTEST_SKIP() << why;
    }
};
INSTANTIATE_TEST_SUITE_P(Compile, EitherBackend, testing::Values(Backend::cpu, Backend::cuda),
                         [](const auto& info) { return std::string(backend_name(info.param)); });

TEST_P(EitherBackend, RightFileBecomesARunner) {
    const Compiled compiled = compile_text(right, GetParam());
    ASSERT_EQ(compiled.result.verdict, Verdict::passed) << message_of(compiled.result);
    EXPECT_EQ(access(compiled.runner.c_str(), X_OK), 0);
    EXPECT_THAT(compiled.result.log, IsEmpty());
}

TEST_P(EitherBackend, WindowsLineEndsAreAccepted) {
    const std::string text = "\xef\xbb\xbf" + std::regex_replace(std::string(right), std::regex("\n"), "\r\n");
    EXPECT_EQ(compile_text(text, GetParam()).result.verdict, Verdict::passed);
    const Compilation broken = compile_text(replace(text, "add_kernel<<<", "sum_kernel<<<"), GetParam()).result;
    EXPECT_THAT(message_of(broken), HasSubstr("Line 9"));
    EXPECT_THAT(message_of(broken), Not(HasSubstr("\r")));
}

TEST_P(EitherBackend, DefinesReachTheFile) {
    const fs::path file = hand_in(right_followed_by("static_assert(BLOCK == 64, \"block\");"));
    const auto with = [&](std::vector<std::string> defines) {
        return compile_file(file, GetParam(), SandboxLevel::none, std::move(defines)).result.verdict;
    };
    EXPECT_EQ(with({"BLOCK=64"}), Verdict::passed);
    EXPECT_EQ(with({"-DBLOCK=64"}), Verdict::passed);
    EXPECT_EQ(with({"BLOCK=32"}), Verdict::failed);
}

TEST_P(EitherBackend, HasTheHeadersThatNvccIncludes) {
    const Compilation result =
        compile_text(
            right_followed_by("float special(float x) { return std::max(x, std::betaf(x, 2) + std::expintf(x)); }"),
            GetParam())
            .result;
    EXPECT_EQ(result.verdict, Verdict::passed) << message_of(result);
}

TEST_P(EitherBackend, NamesCanContainSpacesQuotesAndColons) {
    const fs::path file = hand_in(right_with("add_kernel<<<", "sum_kernel<<<"), "a \"b\" (1): c'd.cu");
    const Compilation result = compile_file(file, GetParam()).result;
    EXPECT_THAT(message_of(result), HasSubstr("Line 9"));
    EXPECT_THAT(result.log, HasSubstr(file.string() + ":9"));
}

TEST_F(CompileTest, EveryKindOfProgramHasAPrecompiledHeader) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const fs::path cache = compilation::cache_folder(test::build_folder(), SandboxLevel::none);
    const compilation::Harness harness =
        compilation::harness_for(test::root_folder(), test::build_folder(), cache, Backend::cpu, "vector_add");
    for (const Flags& kind : {sanitizer_flags(), fast_cpu_flags(), traced_cpu_flags()})
        for (const Flags& more : {Flags{}, Flags{algorithm_flag}}) {
            Flags command = {find_cxx().string()};
            for (const Flags& flags : {student_cpu_flags(), kind, more, harness.includes})
                command.insert(command.end(), flags.begin(), flags.end());
            command.insert(command.end(), {"-include", "cuda_runtime.h", "-H", "-fsyntax-only"});
            command.push_back(hand_in("", "empty.cpp").string());
            EXPECT_THAT(run_to_end(command, {}).output, HasSubstr("! "));  // how -H shows such a header
        }
}

TEST_F(CompileTest, AlgorithmsNeedTheirHeader) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const std::string uses = right_followed_by("void f(int* a) { std::sort(a, a + 9); }");
    EXPECT_EQ(compile_text(uses).result.verdict, Verdict::failed);
    EXPECT_EQ(compile_text("#include <algorithm>\n" + uses).result.verdict, Verdict::passed);
    EXPECT_EQ(compile_text(uses + "#include <algorithm>\n").result.verdict, Verdict::failed);
}

TEST_F(CompileTest, OutcomesAreKept) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    for (const std::string& text : {std::string(right), right_with("add_kernel<<<", "sum_kernel<<<")}) {
        const Compiled first = compile_text(text), second = compile_text(text);
        EXPECT_FALSE(first.result.cached);
        EXPECT_TRUE(second.result.cached);
        EXPECT_EQ(message_of(first.result), message_of(second.result));
        EXPECT_EQ(first.result.verdict, second.result.verdict);
        EXPECT_EQ(first.runner, second.runner);
        EXPECT_FALSE(compile_text(text + "// changed\n").result.cached);
    }
}

TEST_F(CompileTest, AWarningIsShownAndIsNotAFailure) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const Compilation result =
        compile_text(right_followed_by("int f(int x) { if (x = 1) return 2; return 3; }")).result;
    EXPECT_EQ(result.verdict, Verdict::passed);
    EXPECT_THAT(result.log, HasSubstr("warning"));
    EXPECT_THAT(result.log, HasSubstr("if (x = 1)"));
    EXPECT_THAT(result.log, HasSubstr("to compare, write =="));
    expect_no_internal_names(result);
}

const std::string with_barrier =
    right_with("if (i < n) out[i] = a[i] + b[i];",
               "__shared__ float s[256]; s[threadIdx.x] = i < n ? a[i] : 0; __syncthreads(); if (i < n) out[i] = "
               "s[threadIdx.x] + b[i];");

TEST_F(CompileTest, AnUninitialisedVariableIsNotedAtItsDeclaration) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const std::string text =
        right_with("if (i < n) out[i] = a[i]",
                   "float sum;\n for (std::size_t k = i; k < n; k += 256) sum = a[k];\n out[i] = twice(sum)");
    const Compilation result = compile_text("__device__ float twice(float x) { return x + x; }\n" + text).result;
    EXPECT_EQ(result.verdict, Verdict::passed);
    EXPECT_EQ(result.note, "The compiler warns about line 6: ‘sum’ may be used uninitialized.");
    EXPECT_EQ(compile_text(right).result.note, "");
}

TEST_F(CompileTest, AWarningAboutAHiddenVariableIsListedOnly) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const Compilation result =
        compile_text(right_with("if (i < n) out",
                                "float s = 0; if (i < n) { float s = 1; a += int(s); }\n a += int(s); if (i < n) out"))
            .result;
    EXPECT_THAT(result.log, HasSubstr(":5:"));
    EXPECT_THAT(result.log, HasSubstr("warning: declaration of ‘s’ shadows a previous local"));
    EXPECT_EQ(result.warned_line, 0);
    EXPECT_EQ(result.note, "");
}

TEST_F(CompileTest, OnlyFastProgramsAreSplitAtBarriers) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const auto is_split = [&](const std::string& text, bool fast, bool by_fibers) {
        const fs::path file = hand_in(text);
        CompileRequest request{
            lab(), lab().stages.front(), file, Backend::cpu, {}, SandboxLevel::none, test::build_folder()};
        request.fast = fast;
        request.by_fibers = by_fibers;
        const Compiled first = compile(request), again = compile(request);
        EXPECT_EQ(first.result.verdict, Verdict::passed) << message_of(first.result);
        EXPECT_EQ(first.split, again.split);  // the same from the cache
        return first.split;
    };
    EXPECT_TRUE(is_split(with_barrier, true, false));
    EXPECT_FALSE(is_split(with_barrier, true, true));
    EXPECT_FALSE(is_split(with_barrier, false, false));
    EXPECT_FALSE(is_split(right, true, false));
}

TEST_F(CompileTest, ASplitProgramHasTheWarningsOfTheFile) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const fs::path file = hand_in(replace(with_barrier, "if (i < n) out", "if (n = n) out"));
    CompileRequest request{
        lab(), lab().stages.front(), file, Backend::cpu, {}, SandboxLevel::none, test::build_folder()};
    request.fast = true;
    const Compiled compiled = compile(request);
    EXPECT_TRUE(compiled.split);
    EXPECT_THAT(compiled.result.log, HasSubstr("if (n = n) out"));
    expect_no_internal_names(compiled.result);
}

TEST_F(CompileTest, AKernelThatCannotBeSplitCompilesUnsplit) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const std::string kernel = R"(
struct Copied { float value; __device__ Copied(float v = 0) : value(v) {} __device__ Copied(const Copied& c) : value(c.value) {} };
template <class T> __global__ void keep(float* out) { T v = out[threadIdx.x]; __syncthreads(); out[0] = v.value; }
void use(float* out) { keep<Copied><<<1, 2>>>(out); })";
    CompileRequest request{lab(),
                           lab().stages.front(),
                           hand_in(right_followed_by(kernel)),
                           Backend::cpu,
                           {},
                           SandboxLevel::none,
                           test::build_folder()};
    request.fast = true;
    const Compiled compiled = compile(request);
    EXPECT_EQ(compiled.result.verdict, Verdict::passed) << message_of(compiled.result);
    EXPECT_FALSE(compiled.split);
}

TEST_F(CompileTest, ErrorsHaveHintsThatSuggestTheFix) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const auto in_kernel = [](const std::string& text) {
        return right_with("if (i < n) out", text + " if (i < n) out");
    };
    const auto in_call = [](const std::string& text) { return right_with("if (n > 0) add", text + " if (n > 0) add"); };
    const std::pair<std::string, const char*> cases[] = {
        {right_with("+ b[i];", "+ b[i]"), "The semicolon at the end of line 5 is missing"},
        {right_with("threadIdx.x;", "threadIdx.x"), "Probably, the semicolon at the end of line 4 is missing"},
        {right_followed_by("template <class T> requires (sizeof(T) == 4) T same(T x) { return x; }"), "compiles C++17"},
        {right_followed_by("#include <span>\nvoid take(std::span<int> s);"), "compiles C++17"},
        {in_call("int x = 3") + "#include <bit>\n", "Is an operator, a comma, a semicolon"},
        {in_call("int x = 3"), "Is an operator, a comma, a semicolon or a bracket missing"},
        {in_call("CUDA_CHECK(cudaGetLastError();\n  n = n;"), "Line 9: the ‘(’ after CUDA_CHECK is never closed"},
        {right_with("(a, b, out, n);", "(a, b, n);"),
         "The function is declared as  __global__ void add_kernel(const float* a, const float* b, float* out, "
         "std::size_t n)."},
        {in_kernel("struct { int k; } const s{1}; s.k = 2;"),
         "The object is const, or this is a const member function"},
        {in_kernel("out[i][i] = 1;"), "out[…] is already a value"},
        {in_kernel("out[a] = 1;"), "The index is a pointer, but must be a whole number"},
        {in_kernel("for (int k = 0, k < 4, ++k) out[k] = 1;"), "Semicolons separate the three parts of a loop"},
        {in_kernel("out[threadIdx] = 1;"), "take one of them, .x, .y or .z"},
        {in_kernel("float w[2][2]; out[i] = w[0] * 2;"), "an array with two dimensions needs two indices"},
        {in_kernel("atomicAdd(*out, 1.f);"), "The function is declared as  float atomicAdd(float*, float)."},
        {in_kernel("int m[1]; int* p = m; atomicCAS(&p, 1, 2);"),
         "Argument 1 is the address of a pointer, and the pointer itself is needed: omit the &."},
        {"struct Pair { int* p; int n; };\nPair pair(int* p) { return p, 2; }\n" + right_followed_by(""),
         "return {…, …};"},
        {in_kernel("int m = 1; atomicAdd(m, out);"), "The arguments are swapped: the address comes first"},
        {in_kernel("float m = 1; atomicMax(m, &i);"), "as in atomicMax(&sum, 1)"},
        {in_kernel("float m = 0; for (int k = 0; k < 4; ++k) float m += out[k];"), "omit the type"},
        {in_kernel("int m = 1; atomicAdd(m, 1);"),
         "This is argument 1 of  int atomicAdd(int*, int). A pointer is needed here"},
        {in_kernel("out[i] += __shfl_down_sync(out[i], 1);"),
         "The function is declared as  T __shfl_down_sync(unsigned int, T, unsigned int, int). Compare the arguments "
         "one by one. The first is the mask"},
        {in_call("void* p = out; float* q = p; *q = 1;"), "static_cast<float*>(…)"},
        {in_call("float* p = a; *p = 1;"), "declare the pointer as const float*"},
        {in_call("float p = a; out[0] = p;"), "A value is needed here, but this is a pointer"},
        {in_call("int threads = dim3(2); n = threads;"), "take one of them, .x, .y or .z"},
        {in_call("float p; cudaMalloc(&p, n);"), "The first is the address of a pointer"},
        {in_call("if n > 3 return;"), "Write a condition in parentheses"},
        {in_kernel("} for (unsigned k = 0; k < 4; ++k) out[i] += 1;"), "one of the lines above it has one } too many"},
        {"#include <algorithm>\n" + in_call("unsigned m = 3; n = std::min(m, n);"), "write std::min<std::size_t>(…)"},
        {right_with(">>>(a, b, out, n)", ">>>(out, a, b, n)"), "are the arguments in the order of the parameters?"},
        {in_call("cudaMemcpy(a, out, n, cudaMemcpyDeviceToDevice);"), "Pass the destination first, then the source"},
        {in_call("CUDA_CHECK(add_kernel<<<1, 2>>>(a, b, out, n));"),
         "A launch has no value: write it as a separate statement"},
        {in_kernel("float4 v = make_float4(1, 2, 3, 4); out[i] = (v + v).x;"),
         "CUDA has no operators for float4: compute with its parts, .x, .y, .z and .w, and make the result with "
         "make_float4(…)."},
        {in_kernel("const int2 v = make_int2(1, 2); out[i] = (v * 2).x;"), "its parts, .x and .y, and"},
        {in_kernel("const int k = 1; const auto f = [](int x) { return x + k + n; }; out[i] = f(1);"),
         "only if it captures it: begin with [&]"},
        {in_kernel("const float2 v = make_float2(1, 2); out[i] = v->x;"), "write a dot in place of ->"},
        {in_kernel("if (i == 3) return out[i];"), "A kernel returns nothing: it stores its result through a pointer"},
        {in_kernel("out[i] = i < n ? 1;"), "condition ? one : other"},
        {in_call("std::no_such_function(out);"), "Is its header included, and is the name spelled correctly?"},
        {"__constant__ const float w[4];\n" + right_followed_by(""), "so do not declare it const"},
        {"#include <vector>\n" + in_call("std::vector<float> v(3); cudaMemcpy(v, a, 12, cudaMemcpyDeviceToHost);"),
         "data() returns the pointer to its first element"},
        {"#include <vector>\n" + in_call("std::vector<int> v(3); int* p = v + n; p[0] = 1;"),
         "not a pointer to its first element: use .data()"},
        {"template <bool k> __global__ void fill(float* x) { x[0] = k; }\n" +
             in_call("fill<n % 2 == 0><<<1, 2>>>(out);"),
         "write a call or launch for each value, and choose with if"},
        {"template <int k> __global__ void fill(float* x) { x[k] = 1; }\n" + in_call("fill<<<1, 2>>>(out);"),
         "fill is a template, and its parameter k does not follow from the arguments: write a value for it after the "
         "name, fill<value>(…) in a call and fill<value><<<blocks, threads>>>(…) in a launch."},
        {"#define WIDTH 256;\n" + in_kernel("__shared__ int s[WIDTH]; s[0] = 1;"),
         "Line 1 defines WIDTH with a semicolon at its end, so every use of WIDTH has this semicolon, too: remove"},
        {"#define WIDTH 256; // threads\n" + in_kernel("out[i] = (WIDTH + 1);"),
         "Line 1 defines WIDTH with a semicolon"},
        {"struct Share {\n    int first;\n    __device__ bool owns(int i) { return i > first; }\n};\n" +
             in_kernel("const Share s{1}; out[i] = s.owns(2);"),
         "If the function of line 3 changes no member, declare it const: __device__ bool owns(int i) const."},
        {"template <bool k> __global__ void fill(float* x) { x[0] = k; }\n" +
             in_call("const bool even = n % 2 == 0; fill<even><<<1, 2>>>(out);"),
         "and even is known only at run time. If its value is always the same, declare it constexpr. Otherwise, write "
         "a call or launch for each value, and choose with if: if (even) fill<true><<<…>>>(…); else "
         "fill<false><<<…>>>(…);"},
        {"template <int k> float times(float x) { return k * x; }\n" + in_call("float x = times<(n + 1)>(2.f);"),
         "as in  if (n + 1 == 8) times<8>(…);"},
        {"#include <array>\n" + in_call("std::array<int, n> x; (void)x;"), "and n is known only at run time"},
        {"__global__ void fill(float* x, unsigned k) { x[k] = 1; }\n" + in_call("fill<<<1, 2>>>(n, out);"),
         "Arguments 1 and 2 are swapped: argument 1 has the type that parameter 2 needs, and argument 2 has that of "
         "parameter 1."},
        {"void fill(float* x, std::size_t k) { x[k] = 1; }\nvoid fill(float* x, std::size_t k, float v) { x[k] = v; "
         "}\n" +
             in_call("fill(n, out);"),
         "Arguments 1 and 2 are swapped"},
        {"void fill(float* x, std::size_t k, int* c) { x[k] = *c; }\n" + in_call("int c = 1; fill(n, &c, out);"),
         "Several arguments have other types than the parameters: are they in the same order?"},
        {"struct Pair {\n    int a, b;\n}  // of\n\n__device__ Pair pair(int a) { return {a, a}; }\n" +
             std::string(right),
         "The semicolon after the } in line 3 is missing: the definition of a type ends with };"},
        {"template <class T>\nstruct Pair {\n    T a, b;\n}\n__device__ float twice(float a) { return a + a; }\n" +
             std::string(right),
         "The semicolon at the end of line 4 is missing"},
        {"struct Pair {\n    int a, b;\n}\n__device__ __forceinline__ float twice(float a) { return a + a; }\n" +
             std::string(right),
         "The semicolon after the } in line 3 is missing"},
        {in_kernel("a[i] = 1;"),
         "a is declared in line 3 as const float* a: because of the const, it can only be read. Did you mean the "
         "output, or one of your own variables? If a is to be written, omit this const."},
        {in_kernel("const int k = 1;\n k += 2;"), "k is declared in line 5 as const int k:"},
        {in_kernel("double m = 1; atomicMax(&m, m);"),
         "CUDA does not have atomicMax for double, only for int, unsigned int, long long int and long long unsigned "
         "int."},
        {in_kernel("__shared__ float s[1 << 14]; s[i] = 1;"),
         "This one has 65536 bytes. The number in [ ] counts elements, not bytes."},
        {in_kernel("__shared__ unsigned char s[4]; atomicAdd(&s[0], 1);"),
         "Declare the variable that it changes as int"},
        {in_call("unsigned char s[4]; unsigned* p = s; n = *p;"), "The pointers have different types"},
    };
    for (const auto& [text, words] : cases) {
        const Compilation result = compile_text(text).result;
        ASSERT_TRUE(result.failure) << text;
        EXPECT_THAT(message_of(result), HasSubstr(words)) << text;
        expect_no_internal_names(result);
    }
}

TEST_F(CompileTest, MessagesContainNoInternalNames) {
    using compilation::without_internal_names;
    EXPECT_EQ(without_internal_names("warplab_cpu::IfShuffled<T> f(unsigned int, T, warplab_cpu::Line)"),
              "T f(unsigned int, T)");
    EXPECT_EQ(without_internal_names("no match for ‘warplab_cpu::Anything’"), "the types do not match here");
    EXPECT_EQ(without_internal_names("in expansion of macro ‘WARPLAB_CPU_KERNEL’"), "the types do not match here");
}

TEST_F(CompileTest, RefusedFeatureIsNamed) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const Compilation result = compile_text(right_followed_by("texture<float> picture;")).result;
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->cause, cause::refused_feature);
    EXPECT_THAT(message_of(result), HasSubstr("Line 11"));
    EXPECT_THAT(result.log, HasSubstr("texture<float> picture;"));
    EXPECT_THAT(result.failure->hint, HasSubstr("BACKEND=cuda"));
}

// The rewriter finds these mistakes, and nvcc would refuse the files as well.
TEST_F(CompileTest, InvalidCudaIsACompileError) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    for (const std::string& text : {right_with("add_kernel<<<", "add_kernel< <<"), right_with("(a, b, out, n);", ";"),
                                    right_with("__global__ void", "__global__ int")}) {
        const Compilation result = compile_text(text).result;
        ASSERT_TRUE(result.failure) << text;
        EXPECT_EQ(result.failure->cause, cause::compile_error) << message_of(result);
        EXPECT_THAT(message_of(result), testing::AllOf(HasSubstr("Line "), Not(HasSubstr("GPU")))) << text;
    }
}

TEST_F(CompileTest, AMissingFileOrFolderIsReported) {
    EXPECT_EQ(compile_file(folder_ / "none.cu").result.failure->cause, cause::missing_file);
    EXPECT_EQ(compile_file(folder_).result.failure->cause, cause::missing_file);
    ASSERT_EQ(mkfifo((folder_ / "pipe.cu").c_str(), 0600), 0);
    EXPECT_THAT(message_of(compile_file(folder_ / "pipe.cu").result), HasSubstr("not a regular file"));
    EXPECT_THAT(message_of(compile_file(folder_).result), HasSubstr("is a folder"));
}

TEST_F(CompileTest, ManyErrorsAreCutAtTen) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    std::string more;
    for (int i = 0; i < 14; ++i) more += "int v" + std::to_string(i) + " = unknown" + std::to_string(i) + ";\n";
    const Compilation result = compile_text(right_followed_by(more)).result;
    EXPECT_THAT(message_of(result), HasSubstr("14 errors"));
    EXPECT_THAT(result.log, HasSubstr("unknown9"));
    EXPECT_THAT(result.log, Not(HasSubstr("unknown10")));
    EXPECT_THAT(result.log, HasSubstr("and 4 more"));
}

struct LongSample {
    const char* name;
    std::string text;
};
void PrintTo(const LongSample& sample, std::ostream* out) { *out << sample.name; }

class LongText : public CompileTest, public testing::WithParamInterface<LongSample> {};
const std::string long_name(900'000, 'n');
INSTANTIATE_TEST_SUITE_P(
    Compile, LongText,
    testing::Values(LongSample{"Line", "int x = y;  // " + long_name}, LongSample{"Name", "int x = " + long_name + ";"},
                    LongSample{"Include", "#include \"/" + long_name + "\""},
                    LongSample{"Undefined", "void " + long_name + "(); void f() { " + long_name + "(); }"},
                    LongSample{"Warning", "[[deprecated(\"" + long_name + "\")]] void f(); void g() { f(); }"},
                    LongSample{"Error", "#error " + long_name}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(LongText, GivesAShortReport) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const Compilation result = compile_text(right_followed_by(GetParam().text)).result;
    EXPECT_THAT(message_of(result), Not(IsEmpty()));
    EXPECT_LT(message_of(result).size(), 10'000u);
}

// Compilations in the sandbox.

class Sandboxed : public CompileTest, public testing::WithParamInterface<SandboxLevel> {
  protected:
    void SetUp() override {
        if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
        const bool user = GetParam() == SandboxLevel::uid;
        if (user ? geteuid() != 0 : sandbox_support().level != GetParam())
            GTEST_SKIP() << sandbox_support().why_not_stronger;
        const Compiled first = compile_text(right, Backend::cpu, GetParam());
        if (user && first.result.verdict == Verdict::error) GTEST_SKIP() << message_of(first.result);
        ASSERT_EQ(first.result.verdict, Verdict::passed) << message_of(first.result);
    }
};
INSTANTIATE_TEST_SUITE_P(Compile, Sandboxed, testing::Values(SandboxLevel::uid, SandboxLevel::namespaces),
                         [](const auto& info) { return std::string(sandbox_name(info.param)); });

TEST_P(Sandboxed, ReportsTheSameErrorsAsWithoutASandbox) {
    const std::string text = right_with("add_kernel<<<", "sum_kernel<<<");
    EXPECT_THAT(message_of(compile_text(text, Backend::cpu, GetParam()).result), HasSubstr("Line 9: ‘sum_kernel’"));
}

TEST_F(CompileTest, LinksAreFollowedOnlyIfTheCallerAllowsIt) {
    const fs::path target = hand_in(right_followed_by(""), "target.cu"), folder = target.parent_path() / "vector_add";
    const fs::path link = target.parent_path() / "link.cu";
    fs::create_symlink(target, link);
    fs::create_directory_symlink(target.parent_path(), folder);
    for (const fs::path& file : {link, folder / "target.cu"}) {
        EXPECT_FALSE(compilation::read_hand_in(file, "vector_add", compilation::Links::followed).failure) << file;
        const auto failure = compilation::read_hand_in(file, "vector_add", compilation::Links::refused).failure;
        ASSERT_TRUE(failure) << file;
        EXPECT_NE(failure->message.find("symbolic link"), std::string::npos) << failure->message;
    }
    EXPECT_FALSE(compilation::read_hand_in(target, "vector_add", compilation::Links::refused).failure);
}

// Students can change the files in a live folder between two steps.
TEST_F(CompileTest, AFileThatChangesLaterIsJudgedAsFirstRead) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    const std::string text = right_followed_by("// read once " + std::to_string(getpid()));
    const fs::path file = hand_in(text);
    CompileRequest request{
        lab(), lab().stages.front(), file, Backend::cpu, {}, SandboxLevel::none, test::build_folder()};
    std::ofstream(file) << "no longer C++";
    EXPECT_EQ(compile(request).result.verdict, Verdict::passed);
    request.fast = true;
    EXPECT_EQ(compile(request).result.verdict, Verdict::passed);
    EXPECT_EQ(request.source.hash(), sha256(text));
    fs::remove(file);
    fs::create_symlink("/etc/passwd", file);
    EXPECT_FALSE(compilation::read_hand_in(request.source, "vector_add", compilation::Links::refused).failure);
}

TEST(HandIn, AFileThatCannotBeReadIsNamed) {
    const std::filesystem::path file = "/proc/self/mem";  // can be opened, but reading its first byte fails
    const auto failure = compilation::read_hand_in(file, "vector_add", compilation::Links::followed).failure;
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->message, "/proc/self/mem cannot be read.");
    EXPECT_EQ(Source(file).hash(), "");
}

// The assembler can read files, too: `.incbin` in a section attribute needs no asm statement, which the rewriter would
// refuse.
TEST_P(Sandboxed, AssemblerCannotReadSecrets) {
    const fs::path secret = hand_in("the hidden seed", "secret");
    chmod(secret.c_str(), 0644);
    const std::string text = right_followed_by("int stolen __attribute__((section(\".data\\n.incbin \\\"" +
                                               secret.string() + "\\\"\\n#\"))) = 1;");
    const Compiled inside = compile_text(text, Backend::cpu, GetParam());
    EXPECT_NE(inside.result.verdict, Verdict::passed);
    EXPECT_THAT(message_of(inside.result), Not(HasSubstr("the hidden seed")));
}

TEST_P(Sandboxed, IncludeBuiltByMacrosFindsNothing) {
    const fs::path secret = hand_in("int the_hidden_seed = ;\n", "secret.h");
    chmod(secret.c_str(), 0644);
    const std::string text = right_followed_by("#define SECRET \"" + secret.string() + "\"\n#include SECRET");
    EXPECT_THAT(message_of(compile_text(text).result), HasSubstr("expected"))
        << "the file cannot be read even without a sandbox";
    const Compilation inside = compile_text(text + "\n", Backend::cpu, GetParam()).result;
    EXPECT_EQ(inside.verdict, Verdict::failed);
    EXPECT_THAT(message_of(inside), HasSubstr("one file"));
}

TEST_F(CompileTest, EndlessCompilationIsEnded) {
    if (const std::string why = missing_tool(Backend::cpu); !why.empty()) GTEST_SKIP() << why;
    // Each level instantiates two types of the level below: 2^40 types.
    const fs::path bomb = hand_in(right_followed_by(R"(
template <int depth, long path> struct Tree {
    static constexpr long value = Tree<depth - 1, path * 2>::value + Tree<depth - 1, path * 2 + 1>::value;
};
template <long path> struct Tree<0, path> { static constexpr long value = path; };
long bomb() { return Tree<40, 0>::value; })"));
    const CompileRequest request{.lab = lab(),
                                 .stage = lab().stages.front(),
                                 .source = bomb,
                                 .backend = Backend::cpu,
                                 .defines = {},
                                 .build = test::build_folder(),
                                 .limit_s = 3};
    const Compilation result = compile(request).result;
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_THAT(result.failure->cause,
                testing::AnyOf(std::string(cause::compile_timeout), std::string(cause::out_of_memory)));
}

TEST_F(CompileTest, NvccAlsoCompilesTheFile) {
    if (find_nvcc().empty()) GTEST_SKIP() << "nvcc is missing";
    const auto ask = [&](const std::string& text) {
        return ask_nvcc({lab(),
                         lab().stages.front(),
                         hand_in(text),
                         Backend::cpu,
                         {},
                         SandboxLevel::none,
                         test::build_folder()})
            .get();
    };
    EXPECT_EQ(ask(right).answer, NvccAnswer::Answer::compiles);
    for (const char* run : {"compiled", "cached"}) {
        const NvccAnswer answer = ask(right_with("threadIdx.x;", "threadIdx.w;"));
        EXPECT_EQ(answer.answer, NvccAnswer::Answer::refuses) << run;
        EXPECT_THAT(answer.log, AllOf(HasSubstr("hand_in.cu:4"), HasSubstr("threadIdx.w"))) << run;
    }
}

// Tests of single parts.

TEST(ExplainEnd, AKilledCompilerThatUsedItsProcessorTimeWasTooSlow) {
    const CompileRequest request{.lab = lab(),
                                 .stage = lab().stages.front(),
                                 .source = fs::path("hand_in.cu"),
                                 .backend = Backend::cpu,
                                 .defines = {},
                                 .build = test::build_folder()};
    const compilation::Job job(request);
    Ended ended;
    ended.how = End::exited;
    ended.status = 1;
    ended.output = "g++: fatal error: Killed signal terminated program cc1plus";
    for (const double cpu_s : {1.0, job.cpu_limit_s()}) {
        ended.cpu_s = cpu_s;
        const auto outcome = compilation::explain_end(ended, "g++", job);
        ASSERT_TRUE(outcome);
        EXPECT_EQ(outcome->failure->cause, cpu_s == 1.0 ? cause::out_of_memory : cause::compile_timeout);
        EXPECT_EQ(outcome->failure->message.find("terminated program cc1plus") != std::string::npos, cpu_s == 1.0);
    }
    ended.status = 0;
    ended.output.clear();
    EXPECT_FALSE(compilation::explain_end(ended, "g++", job));
}

TEST(Diagnostics, ReadsEveryCompilersLines) {
    const auto diagnostics = compilation::read_diagnostics(
        "a b.cu: In function ‘void f()’:\n"
        "a b.cu:3:7: error: ‘x’ was not declared [-fpermissive]\n"
        "a b.cu:4:1: fatal error: h.h: No such file or directory\n"
        "a b.cu(5): error: identifier \"y\" is undefined\n"
        "a b.cu(6): warning #177-D: variable \"z\" was declared but never referenced\n"
        "a b.cu:7:2: sorry, unimplemented: non-trivial designated initializers not supported\n",
        "a b.cu");
    ASSERT_EQ(diagnostics.size(), 5u);
    EXPECT_EQ(diagnostics[0].line, 3);
    EXPECT_EQ(diagnostics[0].column, 7);
    EXPECT_EQ(diagnostics[0].message, "‘x’ was not declared");
    EXPECT_EQ(diagnostics[1].message, "h.h: No such file or directory");
    EXPECT_EQ(diagnostics[2].line, 5);
    EXPECT_EQ(diagnostics[2].message, "identifier \"y\" is undefined");
    EXPECT_EQ(diagnostics[3].kind, "warning");
    EXPECT_EQ(diagnostics[4].kind, "error");
    EXPECT_EQ(diagnostics[4].message, "non-trivial designated initializers not supported");
}

TEST(Diagnostics, ErrorsOfATemplateMoveToTheLineThatUsesIt) {
    const auto diagnostics = compilation::read_diagnostics(
        "In file included from s.cu:2:\n"
        "/usr/include/x.h: In instantiation of ‘void f(T) [with T = int]’:\n"
        "s.cu:9:5:   required from here\n"
        "/usr/include/x.h:30:4: error: no match\n"
        "/usr/include/x.h:31:4: note: candidate\n",
        "s.cu");
    const auto errors = compilation::select(diagnostics, "s.cu", "error", true);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].line, 9);
    EXPECT_EQ(errors[0].column, 5);
}

TEST(Diagnostics, AMacrosErrorIsReportedAtItsUse) {
    const auto diagnostics = compilation::read_diagnostics(
        "x.cu:10:17: error: expected ‘)’ before numeric constant\nx.cu:32:32: note: in expansion of macro ‘BLOCK_Y’\n",
        "x.cu");
    ASSERT_EQ(diagnostics.size(), 2u);
    EXPECT_EQ(diagnostics[0].line, 32);
    EXPECT_EQ(diagnostics[0].kind, "error");
    EXPECT_EQ(diagnostics[1].line, 10);
    EXPECT_EQ(diagnostics[1].message, "in the definition of macro ‘BLOCK_Y’");
}

TEST(Diagnostics, ABraceThatIsNotClosedComesFirst) {
    auto errors = compilation::read_diagnostics(
        "x.cu:36:85: error: a function-definition is not allowed here before ‘{’ token\n"
        "x.cu:101:2: error: expected ‘}’ at end of input\nx.cu:20:70: note: to match this ‘{’\n",
        "x.cu");
    compilation::lead_with_open_brace(errors);
    ASSERT_EQ(errors.size(), 2u);
    EXPECT_EQ(errors[0].line, 20);
    EXPECT_EQ(errors[0].kind, "error");
    EXPECT_EQ(errors[1].line, 36);
}

TEST(Diagnostics, RepeatedMessagesAreShownOnce) {
    const Diagnostic error{"s.cu", 2, 9, "error", "bad"}, note{"s.cu", 1, 1, "note", "see here"};
    EXPECT_EQ(compilation::select({error, note, error, note}, "s.cu", "error", true).size(), 2u);
}

TEST(Diagnostics, CaretIsBelowItsCharacter) {
    const std::vector<Diagnostic> diagnostics = {{"s.cu", 2, 9, "error", "bad"}};
    EXPECT_EQ(compilation::render(diagnostics, "first\n\tint ä = y;\n", 10),
              "s.cu:2:9: error: bad\n    2 | \tint ä = y;\n      | \t      ^\n");
}

TEST(Diagnostics, ALongLineIsQuotedAroundTheColumn) {
    const auto rendered = [](int column) {
        const std::string line = std::string(500, 'x') + "äy" + std::string(500, 'z');
        return compilation::render({{"s.cu", 1, column, "error", "bad"}}, line, 10);
    };
    const std::string x(100, 'x');
    EXPECT_EQ(rendered(503), "s.cu:1:503: error: bad\n    1 | …" + x.substr(2) + "äy" + std::string(99, 'z') +
                                 "…\n      | " + std::string(100, ' ') + "^\n");
    EXPECT_EQ(rendered(1), "s.cu:1:1: error: bad\n    1 | " + x + x + "…\n      | ^\n");
    EXPECT_EQ(rendered(0), "s.cu:1: error: bad\n    1 | " + x + x + "…\n");
    EXPECT_LT(rendered(1'000'000).size(), 500u);
}

TEST(Diagnostics, LongMessagesAndNamesAreCut) {
    const std::string name(1 << 20, ':');
    const auto diagnostics =
        compilation::read_diagnostics("s.cu:1:2: error: ‘" + name + "’ was not declared\n" + name + "\n", "s.cu");
    ASSERT_EQ(diagnostics.size(), 1u);
    EXPECT_LT(compilation::render(diagnostics, name, 10).size(), 1000u);
    EXPECT_LT(compilation::read_diagnostics(name + ":1:2: error: bad\n", "s.cu").at(0).file.size(), 5000u);
}

TEST(Diagnostics, ColumnsOfRewrittenLinesAreMovedBack) {
    const std::string source = "f();\n    k<<<n, 1>>>(a, n);\n",
                      rewritten = "#line 1 \"s.cu\"\nf();\n    (L(\"k\", n, 1),k(a, n));\n";
    const auto at = [&](int column) {
        std::vector<Diagnostic> diagnostics = {{"s.cu", 2, column, "error", "bad"}};
        compilation::move_columns(diagnostics, source, rewritten);
        return diagnostics[0].column;
    };
    EXPECT_EQ(at(3), 3);
    EXPECT_EQ(at(19), 5) << "the kernel's name";
    EXPECT_EQ(at(21), 17) << "its first argument";
    EXPECT_EQ(at(24), 20) << "its second argument, which is also in the launch's text";
    EXPECT_EQ(at(25), 0) << "brackets are not mapped to the source";
}

TEST_F(CompileTest, AnExhaustedBudgetDoesNotStopTheReference) {
    CompileRequest request{lab(), lab().stages.front(), hand_in(right),      Backend::cpu,
                           {},    SandboxLevel::none,   test::build_folder()};
    request.budget = std::make_shared<Budget>(0, 0);
    EXPECT_EQ(compile(request_of_reference(request)).result.verdict, Verdict::passed);
    request.source = hand_in(right_followed_by("// not in the cache " + std::to_string(getpid())));
    EXPECT_NE(compile(request).result.verdict, Verdict::passed);
}

/// If each error took time in proportion to the file, this would take minutes.
TEST(Diagnostics, ThousandsOfErrorsInALongFileAreHandledQuickly) {
    const std::string source(900'000, '\n');
    std::vector<Diagnostic> many(10'000, {"student.cu", 899'000, 1, "warning", "no return"});
    compilation::move_columns(many, source, "#line 1\n" + source);
    compilation::omit_internal_names(many, source);
    EXPECT_EQ(many.size(), 10'000u);
}

TEST(Diagnostics, OfADeprecatedFunctionOfTheBackendOnlyTheAdviceRemains) {
    const auto shown = [](const std::string& message) {
        std::vector<Diagnostic> warnings = {{"student.cu", 1, 1, "warning", message}};
        compilation::omit_internal_names(warnings, "x;");
        return warnings.front().message;
    };
    EXPECT_EQ(
        shown("‘T __shfl_sync(unsigned, T, Lanes, int, warplab_cpu::Line) [with T = int]’ is deprecated: lanes first"),
        "lanes first");
    EXPECT_EQ(shown("‘int add(int)’ is deprecated: use sum"), "‘int add(int)’ is deprecated: use sum");
}

TEST(Diagnostics, InternalNamesOfTheBackendAreOmitted) {
    using compilation::without_internal_names;
    EXPECT_EQ(without_internal_names("‘warplab_cpu::ShuffleValues<int>’ and ‘warplab_cpu::ShuffleCall<float>’"),
              "‘int’ and ‘float’");
    EXPECT_EQ(without_internal_names("‘WARPLAB_CPU_LINE’"), "the types do not match here");
    EXPECT_EQ(without_internal_names("warplab_cpu::A<"), "the types do not match here");
    EXPECT_EQ(without_internal_names("warplab_cpu::"), "the types do not match here");
}

TEST(HandIn, FindsAnIncludeBeforeTheFirstLineOfCode) {
    for (const char* text : {"#include <algorithm>", "// one\n/* two\n */\n\n  # include<algorithm> // three\nint i;",
                             "#include <cmath>\n%:include \"lab.h\"\n#include <algorithm>\n"})
        EXPECT_TRUE(compilation::begins_with_include(text, "algorithm")) << text;
    for (const char* text :
         {"", "#include <algorithms>", "int i;\n#include <algorithm>", "#define A\n#include <algorithm>",
          "// one \\\n#include <algorithm>", "/*\n#include <algorithm>\n*/", "#if 0\n#include <algorithm>\n#endif",
          "#include \\\n<algorithm>", "auto s = R\"(\n#include <algorithm>\n)\";"})
        EXPECT_FALSE(compilation::begins_with_include(text, "algorithm")) << text;
}

TEST(HandIn, CommentsAreBlankedOut) {
    const std::string text = "a /* b\nc */ d \"/*\" '\"' // e\n1'000'000 /**/ f\n";
    EXPECT_EQ(compilation::without_comments(text), "a     \n     d \"/*\" '\"'     \n1'000'000      f\n");
}

TEST(HandIn, QuotesAfterWordsBeginLiterals) {
    EXPECT_EQ(compilation::without_comments("u8'\"' // a\nreturn'\"';// b\nx1'\"' /* c */"),
              "u8'\"'     \nreturn'\"';    \nx1'\"'        ");
    EXPECT_EQ(compilation::without_comments("0xF'F'\"/*\" 1'0R\"(//)\" 2'/*'"), "0xF'F'\"/*\" 1'0R\"(//)\" 2'/*'");
}

TEST(HandIn, RawStringsContainNoDirectivesOrComments) {
    const std::string text =
        "a R\"x(\n#include \"../x\" )\" /* )x\" b /* c */ u8R\"(//)\" // d\nBAR\"(//)\" R\"e\\(//\n";
    EXPECT_EQ(compilation::without_comments(text),
              "a R\"x(\n include \"../x\" )\" /* )x\" b         u8R\"(//)\"     \nBAR\"(//)\" R\"e\\(//\n");
    EXPECT_EQ(compilation::without_comments("R\"(\n#b // c"), "R\"(\n b // c") << "a raw string that does not end";
}

TEST(Symbols, ReadsNm) {
    const auto symbols = compilation::read_symbols(
        "0000000000000010 T f(int, float const*)\n                 U cudaMalloc\n0000000000000000 t (anonymous "
        "namespace)::g(int)\nnonsense\n");
    ASSERT_EQ(symbols.size(), 3u);
    EXPECT_EQ(symbols[0].function(), "f");
    EXPECT_TRUE(symbols[0].defined_strongly());
    EXPECT_EQ(symbols[1].kind, 'U');
    EXPECT_EQ(symbols[2].function(), "(anonymous namespace)::g");
}

}  // namespace
}  // namespace warplab
