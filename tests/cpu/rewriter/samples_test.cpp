#include "tests/cpu/rewriter/samples.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "grader/cpu/rewriter/rewriter.h"
#include "tests/cpu/runtime/programs.h"

namespace warplab::rewriter::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::stringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

bool run(const std::string& command) { return std::system(command.c_str()) == 0; }

void write_file(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

/// Makes a temporary folder, and removes it at the end of the test.
class Samples : public testing::Test {
  protected:
    Samples() {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    ~Samples() override { fs::remove_all(folder_); }

    const fs::path folder_ = fs::path(testing::TempDir()) /
                             (std::string("warplab-rewriter-") +
                              testing::UnitTest::GetInstance()->current_test_info()->name() + std::to_string(getpid()));
};

TEST_F(Samples, AreRewrittenLineByLine) {
    const auto paths = sample_paths();
    ASSERT_GE(paths.size(), 15u);
    for (const auto& path : paths) {
        const auto source = read_file(path);
        const auto result = rewrite(source, "a.cu");
        EXPECT_EQ(show_problems(result, path.string()), "");
        const auto before = lines_of(source), after = lines_of(result.text);
        ASSERT_EQ(after.size(), before.size() + 1) << path;
        EXPECT_EQ(after[0], "#line 1 \"a.cu\"");
        for (std::size_t i = 0; i < before.size(); ++i) {
            const bool may_change =
                before[i].find("__") != std::string::npos || after[i + 1].find("warplab_cpu") != std::string::npos ||
                after[i + 1].find("WARPLAB_CPU") != std::string::npos || before[i].find("<<<") != std::string::npos ||
                before[i].find(">>>") != std::string::npos || before[i].substr(0, 1) == "#";
            if (!may_change && before[i].find_first_of("[})") == std::string::npos) {
                EXPECT_EQ(after[i + 1], before[i]) << path << ":" << i + 1;
            }
        }
    }
}

TEST_F(Samples, WindowsLineEndingsChangeNothing) {
    for (const auto& path : sample_paths()) {
        const auto source = read_file(path);
        std::string windows = "\xEF\xBB\xBF";
        for (const char c : source) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
        EXPECT_EQ(rewrite(windows, "a.cu").text, rewrite(source, "a.cu").text) << path;
    }
}

/// Compile every fourth sample with the backend's runtime, by the interface in OUTPUT.md; all with WARPLAB_THOROUGH=1.
TEST_F(Samples, CompileAndGiveRightResults) {
    const auto root = warplab::test::root_folder();
    const auto include = "-I " + quoted(root / "grader" / "cpu" / "include");
    const fs::path runtime = warplab::test::programs_folder() / "native/runtime.a";
    const auto built = warplab::test::build_programs(quoted(fs::relative(runtime, root)));
    ASSERT_EQ(built.status, 0) << built.output;
    const std::string flags = " -std=c++17 -O0 -fwrapv -pthread " + include;
    write_file(folder_ / "precompiled.h", "#include <cuda_runtime.h>\n");
    ASSERT_TRUE(run("c++ -w" + flags + " -x c++-header " + quoted(folder_ / "precompiled.h")));
    const auto paths = sample_paths();
    for (std::size_t i = 0; i < paths.size(); i += std::getenv("WARPLAB_THOROUGH") ? 1 : 4) {
        const auto& path = paths[i];
        const auto rewritten = folder_ / (path.stem().string() + ".cpp"), program = folder_ / path.stem();
        write_file(rewritten, rewrite(read_file(path), path.string()).text);
        EXPECT_TRUE(run("c++ -w -I " + quoted(folder_) + flags + " -include precompiled.h " + quoted(rewritten) +
                        " -o " + quoted(program) + " " + quoted(runtime) + " -ldl -lrt"))
            << path;
        EXPECT_TRUE(run("timeout 60 " + quoted(program))) << path;
    }
}

struct ExpectedMessage {
    const char *name, *source;
    int line;
    const char* message;
};

/// g++ reports a student's mistakes at the lines of the student's file.
TEST_F(Samples, CompilersMessagesNameTheStudentsLine) {
    const auto root = warplab::test::root_folder();
    const ExpectedMessage cases[] = {
        {"argument", "__global__ void k(float* p) { }\nint main() {\n double* q = 0;\n k<<<1, 2>>>(\n q);\n}", 5,
         "cannot convert"},
        {"count", "__global__ void k(float* p) { }\nint main() {\n k<<<1, 2>>>();\n}", 3, "too few arguments"},
        {"unknown", "int main() {\n\n k<<<1, 2>>>();\n}", 3, "'k' was not declared"},
        {"body", "__global__ void k(float* p) {\n __shared__ int s[4];\n s[0] = undefined;\n}", 3,
         "'undefined' was not declared"},
        {"semicolon", "__global__ void k(float* p) {\n int i = 0\n p[i] = 0;\n}", 3, "expected"},
        {"type", "__global__ void k(float* p) {\n\n __shared__ Unknown s[4];\n}", 3, "'Unknown' does not name a type"},
        {"value", "__global__ void k(float* p) {\n\n return 1;\n}", 3, "return-statement with a value"},
    };
    for (const auto& expected : cases) {
        write_file(folder_ / "a.cpp", rewrite(expected.source, "a.cu").text);
        EXPECT_FALSE(run("cd " + quoted(folder_) +
                         " && LC_ALL=C c++ -std=c++17 -fsyntax-only -include cuda_runtime.h -I " +
                         quoted(root / "grader" / "cpu" / "include") + " a.cpp 2>words"));
        const auto messages = read_file(folder_ / "words");
        const auto place = messages.find("a.cu:" + std::to_string(expected.line) + ":");
        EXPECT_NE(place, std::string::npos) << expected.name << "\n" << messages;
        EXPECT_NE(messages.find(expected.message), std::string::npos) << expected.name << "\n" << messages;
    }
}

}  // namespace
}  // namespace warplab::rewriter::test
