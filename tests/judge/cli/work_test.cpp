#include "grader/judge/cli/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST_F(Work, MakeWorksInALabsFolder) {
    start_lab(lab, folders);
    EXPECT_EQ(test::read_file(folders.work / "scale/Makefile"), "include ../../Makefile\n");
    test::write_file(folders.work / "scale/Makefile", "mine");
    start_lab(lab, folders);
    EXPECT_EQ(test::read_file(folders.work / "scale/Makefile"), "mine");
}

TEST_F(Work, FolderElsewhereGetsNoMakefile) {
    folders.work = project.root / "elsewhere";
    start_lab(lab, folders);
    EXPECT_FALSE(std::filesystem::exists(folders.work / "scale/Makefile"));
}

}  // namespace
}  // namespace warplab
