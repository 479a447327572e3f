#include "grader/judge/cli/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/common/usage_error.h"
#include "tests/model/project.h"

namespace warplab {
namespace {

using test::Project;

class Work : public testing::Test {
  protected:
    Work() {
        project.write();
        lab = load_lab(project.root, "scale");
        folders.root = project.root;
        folders.work = project.root / "work";
    }
    Project project;
    Lab lab;
    Folders folders;
};

TEST_F(Work, FolderOfALabGetsAMakefileUnlessItHasOne) {
    start_lab(lab, folders);
    EXPECT_EQ(test::read_file(folders.work / "scale/Makefile"), "include ../../Makefile\n");
    test::write_file(folders.work / "scale/Makefile", "mine");
    start_lab(lab, folders);
    EXPECT_EQ(test::read_file(folders.work / "scale/Makefile"), "mine");
}

TEST_F(Work, ReportDoesNotReplaceADevice) {
    const std::filesystem::path output = project.root / "output";
    std::filesystem::create_symlink("/dev/null", output);
    write_report({}, output);
    EXPECT_TRUE(std::filesystem::is_symlink(output));
    std::filesystem::remove(output);
    std::filesystem::create_symlink("/dev/full", output);
    EXPECT_THROW(write_report({}, output), UsageError);
}

TEST_F(Work, FolderElsewhereGetsNoMakefile) {
    folders.work = project.root / "elsewhere";
    start_lab(lab, folders);
    EXPECT_FALSE(std::filesystem::exists(folders.work / "scale/Makefile"));
}

TEST_F(Work, FilesOfARenumberedStageAreRenamed) {
    const std::filesystem::path folder = folders.work / "scale";
    test::write_file(folder / "07_strided.cu", "mine");
    test::write_file(folder / "reports/07_strided.json", "{}");
    test::write_file(folder / "07_elsewhere.cu", "other");
    start_lab(lab, folders);
    EXPECT_EQ(test::read_file(folder / "02_strided.cu"), "mine");
    EXPECT_EQ(test::read_file(folder / "reports/02_strided.json"), "{}");
    EXPECT_FALSE(std::filesystem::exists(folder / "07_strided.cu"));
    EXPECT_TRUE(std::filesystem::exists(folder / "07_elsewhere.cu"));
}

TEST_F(Work, NoFileOfAStageIsOverwritten) {
    const std::filesystem::path folder = folders.work / "scale";
    test::write_file(folder / "07_strided.cu", "old");
    test::write_file(folder / "02_strided.cu", "new");
    start_lab(lab, folders);
    EXPECT_EQ(test::read_file(folder / "02_strided.cu"), "new");
    EXPECT_EQ(test::read_file(folder / "07_strided.cu"), "old");
}

}  // namespace
}  // namespace warplab
