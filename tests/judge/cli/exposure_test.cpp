// Before untrusted code runs at the level `uid`, the judge closes the course's folders to the sandbox's user.
#include "grader/judge/cli/exposure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace warplab {
namespace {
namespace fs = std::filesystem;
constexpr fs::perms others_all = fs::perms::others_all;

class Exposure : public testing::Test {
  protected:
    Exposure() {
        const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
        root_ = fs::path(testing::TempDir()) / ("exposure-" + name + std::to_string(getpid()));
        for (const char* folder : {"solutions", "datasets", "tests", "work", "labs", "build/labs"}) {
            fs::create_directories(root_ / folder);
            chmod((root_ / folder).c_str(), 0755);
        }
        chmod(root_.c_str(), 0755);
    }
    ~Exposure() override { fs::remove_all(root_); }

    void hide(SandboxLevel level) const { hide_course(level, {root_, root_ / "build", root_ / "work"}); }
    bool is_open(const char* folder) const {
        return (fs::status(root_ / folder).permissions() & others_all) != fs::perms::none;
    }
    fs::path root_;
};

TEST_F(Exposure, UserLevelClosesOnlySecretFolders) {
    hide(SandboxLevel::uid);
    for (const char* folder : {"solutions", "datasets", "tests", "work"}) EXPECT_FALSE(is_open(folder)) << folder;
    for (const char* folder : {"labs", "build/labs"}) EXPECT_TRUE(is_open(folder)) << folder;
}

TEST_F(Exposure, OtherLevelsChangeNothing) {
    hide(SandboxLevel::namespaces);
    hide(SandboxLevel::none);
    EXPECT_TRUE(is_open("solutions"));
}

TEST_F(Exposure, FoldersBelowAClosedOneAreNotChanged) {
    chmod(root_.c_str(), 0750);
    hide(SandboxLevel::uid);
    EXPECT_TRUE(is_open("solutions"));
}

TEST_F(Exposure, AnotherUsersFolderIsNotChangedButRefused) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can change a folder's owner";
    ASSERT_EQ(chown((root_ / "tests").c_str(), 65534, 65534), 0);
    try {
        hide(SandboxLevel::uid);
        FAIL() << "hide_course() accepted a folder that belongs to another user and is open to everyone";
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("chmod o-rwx \"" + (root_ / "tests").string()));
    }
    EXPECT_TRUE(is_open("tests"));
}

}  // namespace
}  // namespace warplab
