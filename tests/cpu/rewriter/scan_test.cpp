#include "grader/cpu/rewriter/scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/paths.h"

namespace warplab::rewriter {
namespace {

using testing::HasSubstr;

constexpr std::string_view opening = "# 0 \"student.cpp\"\n# 1 \"/h/cuda_runtime.h\" 1\nasm\n# 1 \"k.cu\"\n";

std::vector<HiddenCode> scan(const std::string& text) { return find_hidden(std::string(opening) + text, "k.cu"); }

TEST(Scan, NamesTheLine) {
    const auto findings = scan("int x;\n__attribute__((no_sanitize(\"thread\"))) void f();\n");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].line, 2);
    EXPECT_THAT(findings[0].message, HasSubstr("no_sanitize: "));
    EXPECT_THAT(findings[0].message, HasSubstr("cannot run on the CPU backend"));
}

TEST(Scan, FollowsLineMarkers) {
    EXPECT_EQ(scan("# 40 \"k.cu\"\n\n\n\nasm(\"nop\");\n")[0].line, 43);
    EXPECT_TRUE(scan("# 1 \"/usr/include/x.h\" 1 3\nasm(\"nop\");\n# 2 \"k.cu\" 2\nint x;\n").empty());
    EXPECT_EQ(scan("# 3 \"k.cu\" 3\nasm(\"nop\");\n").size(), 1u);  // expansion of a header's macro
}

class RefusedText : public testing::TestWithParam<const char*> {};
TEST_P(RefusedText, IsFound) { EXPECT_EQ(scan(GetParam()).size(), 1u) << GetParam(); }
INSTANTIATE_TEST_SUITE_P(
    Scan, RefusedText,
    testing::Values("__asm__(\"\");", "[[gnu::no_sanitize_thread]] void f();",
                    "void f() __attribute__((__no_sanitize__(\"all\")));", "extern \"C\" void __tsan_read4(void*);",
                    "void f() __attribute__((weakref(\"x\")));", "void f() __attribute__((copy(g)));",
                    "__builtin_ia32_gathersiv4si();", "__builtin_apply(f, x, 16);", "__builtin_return(x);",
                    "__builtin_memcmp(a, b, 4);", "__builtin___memcpy_chk(a, b, 32, 32);",
                    "int x __attribute__((section(\"a\" \"b\")));", "void f() __attribute__((alias(\"g\\n.abort\")));",
                    "int x __attribute__((section((\"a b\"))));", "int x __attribute((used, section(\"a b\")));",
                    "int x __attribute__((section\n# 9 \"k.cu\"\n(\"a b\")));",
                    "int x __attribute__((\n#pragma x )))\nsection(\"a b\")));",
                    "[\n# 9 \"k.cu\"\n[gnu::section(\"a b\")]] int x;", "[[using gnu: section(R\"(a)\")]] int x;",
                    "<:<:gnu::section(\"a b\"):>:> int x;", "[<:gnu::ifunc(\"f\"):>] void f();",
                    "# 1 \"/usr/include/x.h\" 1 3\n__attribute__((\n# 2 \"k.cu\" 2\nsection(\"a b\"))) int x;",
                    "warplab_cpu::note_fence();", "using namespace warplab_cpu;", "namespace w = warplab_cpu;",
                    "warplab_cpu\n# 9 \"k.cu\"\n::note_fence();", "int x = load_unobserved(y);",
                    "extern \"C\" void _ZN11warplab_cpu10note_fenceEv();", "#pragma redefine_extname f g\n",
                    "#pragma weak f = g\n", "#pragma GCC system_header\n",
                    "int x = \"\"R\"(\"; asm(\"nop\"); int y = \"\"R\")\";",
                    "[[a::b(1'$\"')]] int x; asm(\"nop\"); [[a::b(1'$\"')]] int y;"));

TEST(Scan, FindsAStatementThatIsTooLong) {
    std::string sum = "1";
    for (int i = 0; i < 3000; ++i) sum += "+1";
    const auto findings = scan("int x;\n__asm__(\"\");\nint y = " + sum + ";\nint z = " + sum + ";\n");
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].line, 3);
    EXPECT_FALSE(findings[0].fine_on_gpu);
    EXPECT_THAT(findings[0].message, HasSubstr("after macro expansion"));
    EXPECT_TRUE(scan("# 1 \"/usr/include/x.h\" 1 3\nint y = " + sum + ";\n# 2 \"k.cu\" 2\n").empty());
}

TEST(Scan, AcceptsTheRewritersOutput) {
    EXPECT_TRUE(scan("static thread_local ::warplab_cpu::Shared<int> warplab_cpu_x; int y = ::warplab_cpu::lane() + "
                     "::warplab_cpu::ShuffleDown::x;\n"
                     "# 1 \"/h/include/cuda/atomic\" 1\nint z = ::warplab_cpu::note_fence();\n# 2 \"k.cu\" 2\n")
                    .empty());
}

TEST(Scan, AcceptsFunctionsNamedLikeAttributes) {
    EXPECT_TRUE(
        scan("void section(const char*), copy(const char*), weakref(int), no_sanitizer();\n"
             "void alias(const char*) __attribute__((noinline));\n[[nodiscard]] int symver(const char*);\n"
             "void f() { section(\"copy to the device\"); alias(\"a b\"); symver(\"v\" \"1\"); ifunc(a[b[0]]); }\n")
            .empty());
}

TEST(Scan, AcceptsOrdinaryCode) {
    EXPECT_TRUE(scan("#pragma GCC unroll 4\nint assembly, naked, section(int), x = section(2), y "
                     "__attribute__((section(\".mine\"))); // asm\nconst char* "
                     "words = \"asm no_sanitize\";\n")
                    .empty());
    EXPECT_TRUE(find_hidden("", "k.cu").empty());
    EXPECT_TRUE(find_hidden("# 1 \"k.cu", "k.cu").empty());
}

/// Submissions can include these headers. The scan skips those in warplab_cpu, because they come before the submission.
TEST(Scan, AcceptsTheBackendsHeaders) {
    namespace fs = std::filesystem;
    const fs::path include = warplab::test::root_folder() / "grader/cpu/include";
    int headers = 0;
    for (const auto& entry : fs::recursive_directory_iterator(include)) {
        if (!entry.is_regular_file() || entry.path().parent_path().filename() == "warplab_cpu") continue;
        std::ifstream file(entry.path());
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        for (const HiddenCode& hidden : scan("# 1 \"header\" 1\n" + text))
            ADD_FAILURE() << entry.path() << ":" << hidden.line << ": " << hidden.message;
        ++headers;
    }
    EXPECT_GT(headers, 40);
}

}  // namespace
}  // namespace warplab::rewriter
