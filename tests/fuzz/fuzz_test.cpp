#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/targets.h"
#include "tests/paths.h"

namespace warplab::fuzz {
namespace {

std::filesystem::path corpus() { return test::root_folder() / "tests/fuzz/corpus"; }

TEST(FuzzTargets, CorpusAndMutationsBreakNoInvariant) {
    for (const Target& target : targets) EXPECT_NO_THROW(EXPECT_GT(replay(target, corpus(), 1500, 1), 1500));
}

TEST(FuzzTargets, EveryFolderOfTheCorpusHasItsTarget) {
    std::size_t folders = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(corpus())) ++folders;
    EXPECT_EQ(folders, targets.size());
}

TEST(FuzzTargets, ABrokenInvariantIsDetected) {
    const Target broken = {"answer", [](std::string_view bytes) { require(bytes.size() < 100, "inputs are short"); },
                           byte_words};
    EXPECT_THROW(replay(broken, corpus(), 100, 1), std::runtime_error);
}

/// All sources are compiled as one unit, in half the time. Compiling the readers of JSON would take too long.
TEST(FuzzTargets, SanitizersFindNothingInTheReadersOfARunnersMessages) {
    const std::filesystem::path program =
        std::filesystem::path(testing::TempDir()) / ("warplab-fuzz-replay" + std::to_string(getpid()));
    const std::filesystem::path source = program.string() + ".cpp";
    {
        std::ofstream unit(source);
        for (const char* file :
             {"grader/judge/run/inbox.cpp", "grader/judge/run/ending.cpp", "grader/judge/sanitizer/findings.cpp",
              "grader/judge/sanitizer/array_names.cpp", "grader/judge/sanitizer/finding_words.cpp",
              "grader/judge/sanitizer/counts.cpp", "grader/judge/sanitizer/occupancy.cpp",
              "grader/judge/compile/resources.cpp", "grader/judge/compile/diagnostics.cpp", "grader/common/text.cpp",
              "grader/common/utf8.cpp", "grader/common/nearest.cpp", "tests/fuzz/no_judge.cpp",
              "tests/fuzz/replay.cpp"})
            unit << "#include \"" << file << "\"\n";
    }
    const std::string build =
        "c++ -std=c++20 -O0 -fsanitize=address,signed-integer-overflow,shift,bounds,float-cast-overflow,enum,bool "
        "-fno-sanitize-recover=all -I '" +
        test::root_folder().string() + "' -I '" + test::build_folder().string() + "' -o '" + program.string() + "' '" +
        source.string() + "' -lfmt";
    ASSERT_EQ(std::system(build.c_str()), 0) << build;
    const std::string command = "'" + program.string() + "' '" + corpus().string() + "' 2000 7";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::filesystem::remove(program);
    std::filesystem::remove(source);
}

}  // namespace
}  // namespace warplab::fuzz
