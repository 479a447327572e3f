#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/cpu/rewriter/samples.h"
#include "tests/paths.h"

namespace warplab::rewriter::test {
namespace {

namespace fs = std::filesystem;

class Command : public testing::Test {
  protected:
    Command() {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    ~Command() override { fs::remove_all(folder_); }

    /// Return the exit status; output() has the text.
    int rewrite(const std::string& arguments) const {
        const auto program = warplab::test::build_folder() / "cpu" / "rewrite";
        const std::string command =
            "cd " + quoted(folder_) + " && " + quoted(program) + " " + arguments + " >output 2>&1";
        return WEXITSTATUS(std::system(command.c_str()));
    }
    void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
    std::string read(const std::string& name) const { return read_file(folder_ / name); }
    std::string output() const { return read("output"); }

    const fs::path folder_ =
        fs::path(testing::TempDir()) /
        (std::string("warplab rewrite ") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Command, WritesTheOutput) {
    write("in.cu", "int a;\n");
    EXPECT_EQ(rewrite("in.cu out.cpp"), 0) << output();
    EXPECT_EQ(read("out.cpp"), "#line 1 \"in.cu\"\nint a;\n");
    EXPECT_EQ(rewrite("in.cu out.cpp --name 'work/a b.cu'"), 0) << output();
    EXPECT_EQ(read("out.cpp"), "#line 1 \"work/a b.cu\"\nint a;\n");
    EXPECT_EQ(output(), "");
}

TEST_F(Command, WritesNoFileIfItRefuses) {
    write("in.cu", "\nasm(\"trap;\");\n");
    EXPECT_EQ(rewrite("in.cu out.cpp --name shown.cu"), 3);
    EXPECT_EQ(output().substr(0, 33), "shown.cu:2:1: error: asm: inline ");
    write("in.cu", "__global__ void k(int*);\nvoid f() { k<<<1, 1>>>; }\nasm(\"trap;\");\n");
    EXPECT_EQ(rewrite("in.cu out.cpp"), 1) << "the first problem is a mistake";
    EXPECT_FALSE(fs::exists(folder_ / "out.cpp"));
}

TEST_F(Command, DistinguishesInternalErrorsFromMistakesInTheFile) {
    write("in.cu", "int a;\n");
    EXPECT_EQ(rewrite("absent.cu out.cpp"), 2);
    EXPECT_EQ(output(), "rewrite: cannot read absent.cu\n");
    EXPECT_EQ(rewrite(". out.cpp"), 2);
    EXPECT_EQ(rewrite("in.cu absent/out.cpp"), 2);
    EXPECT_EQ(output(), "rewrite: cannot write absent/out.cpp\n");
    EXPECT_EQ(rewrite("in.cu"), 2);
    EXPECT_EQ(rewrite("in.cu out.cpp --nmae x"), 2);
    EXPECT_EQ(rewrite("--help"), 0);
    EXPECT_NE(output().find("Exit status"), std::string::npos);
}

}  // namespace
}  // namespace warplab::rewriter::test
