// The folders that a compiler exposes to graded code, for each way to find the compiler through PATH.
#include "grader/judge/sandbox/compilers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "grader/judge/sandbox/places.h"

namespace warplab::sandbox {
namespace {
namespace fs = std::filesystem;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

class Compilers : public testing::Test {
  protected:
    Compilers() {
        const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
        fs::create_directories(fs::path(testing::TempDir()) / (name + std::to_string(getpid())));
        home_ = fs::canonical(fs::path(testing::TempDir()) / (name + std::to_string(getpid())));
    }
    ~Compilers() override { fs::remove_all(home_); }

    fs::path script(const fs::path& name, const std::string& text) const {
        fs::create_directories((home_ / name).parent_path());
        std::ofstream(home_ / name) << "#!/bin/sh\n" << text << "\n";
        chmod((home_ / name).c_str(), 0755);
        return home_ / name;
    }
    /// Return a program that is not a script.
    fs::path binary(const fs::path& name) const {
        fs::create_directories((home_ / name).parent_path());
        fs::copy_file("/bin/true", home_ / name);
        return home_ / name;
    }
    void make_folders(const std::vector<fs::path>& names) const {
        for (const fs::path& name : names) fs::create_directories(home_ / name);
    }
    fs::path home_;
};

/// Return commands for a script that answers the judge's three queries like a g++ with this prefix.
std::string answers(const std::string& prefix, const std::string& driver) {
    return fmt::format(
        "case \"$*\" in\n"
        "*-print-search-dirs*) echo 'install: {0}/lib/gcc/x86_64-linux/12/'\n"
        "echo 'programs: ={0}/libexec/gcc/x86_64-linux/12/:{0}/x86_64-linux/bin/:/nowhere/'\n"
        "echo 'libraries: ={0}/lib/gcc/x86_64-linux/12/:{0}/lib/gcc/x86_64-linux/12/../../../../lib64/:/usr/lib/' ;;\n"
        "*) echo 'COLLECT_GCC={1}'\n"
        "printf '#include <...> search starts here:\\n {0}/include/c++/12\\n /usr/include\\nEnd of search list.\\n' "
        ";;\n"
        "esac >&2\n",
        prefix, driver);
}

TEST_F(Compilers, SystemCompilerNeedsNoOtherFolders) {
    const fs::path compiler = find_program("g++");
    if (!compiler.string().starts_with("/usr/")) GTEST_SKIP() << "g++ is installed elsewhere";
    const CompilerPlaces places = gcc_places(compiler);
    EXPECT_EQ(places.program, compiler);
    EXPECT_THAT(places.folders, IsEmpty());
}

TEST_F(Compilers, ScriptInAHomeFolderDoesNotExposeTheFolder) {
    if (access("/usr/bin/g++", X_OK) != 0) GTEST_SKIP() << "there is no /usr/bin/g++";
    const CompilerPlaces places = gcc_places(script("bin/g++", "exec /usr/bin/g++ \"$@\""));
    EXPECT_EQ(places.program, "/usr/bin/g++");
    EXPECT_THAT(places.folders, IsEmpty());
}

TEST_F(Compilers, LinkInAHomeFolderDoesNotExposeTheFolder) {
    if (access("/usr/bin/g++", X_OK) != 0) GTEST_SKIP() << "there is no /usr/bin/g++";
    fs::create_symlink("/usr/bin/g++", home_ / "g++");
    const CompilerPlaces places = gcc_places(home_ / "g++");
    EXPECT_THAT(places.program.string(), testing::StartsWith("/usr/bin/"));
    EXPECT_THAT(places.folders, IsEmpty());
}

TEST_F(Compilers, ModulesCompilerExposesItsToolFolders) {
    const std::string prefix = (home_ / "gcc-12").string();
    make_folders({"gcc-12/lib/gcc/x86_64-linux/12", "gcc-12/libexec/gcc/x86_64-linux/12", "gcc-12/lib64",
                  "gcc-12/include/c++/12", "gcc-12/share/doc"});
    const fs::path driver = binary("gcc-12/bin/g++");
    const CompilerPlaces places = gcc_places(script("bin/g++", answers(prefix, driver.string())));
    EXPECT_EQ(places.program, driver);
    EXPECT_THAT(places.folders, UnorderedElementsAre(driver, prefix + "/lib/gcc/x86_64-linux/12",
                                                     prefix + "/libexec/gcc/x86_64-linux/12", prefix + "/lib64",
                                                     prefix + "/include/c++/12"));
}

TEST_F(Compilers, WrapperThatFindsItsCompilerInPathIsFollowed) {
    make_folders({"conda/lib/gcc/x86_64-linux/12"});
    const fs::path driver = binary("conda/bin/x86_64-conda-linux-gnu-g++");
    const std::string prefix = (home_ / "conda").string();
    EXPECT_EQ(gcc_places(script("g++", answers(prefix, "x86_64-conda-linux-gnu-g++"))).program, driver);
}

TEST_F(Compilers, WrapperThatSetsSearchPathsIsKept) {
    if (access("/usr/bin/g++", X_OK) != 0) GTEST_SKIP() << "there is no /usr/bin/g++";
    make_folders({"extra/include", "private"});
    const fs::path include = home_ / "extra/include";
    const fs::path wrapper = script("bin/g++", fmt::format("exec /usr/bin/g++ -isystem {} \"$@\"", include.string()));
    const CompilerPlaces places = gcc_places(wrapper);
    EXPECT_EQ(places.program, wrapper);
    EXPECT_THAT(places.folders, UnorderedElementsAre(include, wrapper));
}

TEST_F(Compilers, ScriptThatNamesNoCompilerIsNotACompiler) {
    EXPECT_EQ(gcc_places(script("g++", "echo hello")).program, "");
    EXPECT_EQ(nvcc_places(script("nvcc", "echo hello")).program, "");
    EXPECT_EQ(gcc_places("").program, "");
}

TEST_F(Compilers, NvccExposesOnlyItsToolkit) {
    make_folders({"cuda/nvvm", "cuda/include", "cuda/targets/x86_64-linux/lib", "cuda/samples", "bin"});
    fs::create_directory_symlink("targets/x86_64-linux/lib", home_ / "cuda/lib64");
    const fs::path nvcc = binary("cuda/bin/nvcc");
    const fs::path wrapper = script("bin/nvcc", fmt::format("echo '#$ _HERE_={}/cuda/bin' >&2", home_.string()));
    for (const fs::path& program : {wrapper, nvcc}) {
        const CompilerPlaces places = nvcc_places(program);
        EXPECT_EQ(places.program, nvcc) << program;
        EXPECT_THAT(places.folders, Contains(home_ / "cuda/nvvm"));
        EXPECT_THAT(places.folders, Contains(home_ / "cuda/targets"));
        for (const char* hidden : {"", "bin", "cuda", "cuda/samples"})
            EXPECT_THAT(places.folders, Not(Contains(hidden[0] ? home_ / hidden : home_))) << hidden;
    }
}

TEST_F(Compilers, FoldersThatShowSecretsAreRefused) {
    make_folders({"course/solutions", "course/build/cuda/bin", "tools/bin"});
    const std::vector<fs::path> secrets = {home_ / "course/solutions"};
    const auto why = [&](const fs::path& folder) { return why_unsafe({folder}, secrets); };
    EXPECT_EQ(why(home_ / "tools/bin"), "");
    EXPECT_EQ(why(home_ / "course/build/cuda/bin"), "");
    EXPECT_THAT(why(home_ / "course"), HasSubstr("holds " + secrets[0].string()));
    EXPECT_THAT(why(home_), HasSubstr("CXX=/usr/bin/g++"));
    EXPECT_THAT(why(home_ / "course/solutions"), HasSubstr(secrets[0].string()));
    EXPECT_THAT(why(home_ / "course/solutions/bin"), HasSubstr("lies in"));
    EXPECT_THAT(why("/"), HasSubstr("holds"));
    EXPECT_THAT(why("/root"), HasSubstr("holds the home folder /root"));
    EXPECT_THAT(why("/home"), HasSubstr("holds the home folder"));
}

}  // namespace
}  // namespace warplab::sandbox
