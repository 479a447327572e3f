#include "grader/judge/compile/cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>

namespace warplab::compilation {
namespace {
namespace fs = std::filesystem;

/// Call tidy() so often that at least one of the calls removes folders.
void tidy_many_times(const fs::path& cache) {
    for (int i = 0; i < 4000; ++i) tidy(cache);
}

TEST(Cache, WorkInProgressStaysIfTheClockJumps) {
    const fs::path cache = fs::path(testing::TempDir()) / "cache_whose_clock_jumps";
    fs::remove_all(cache);
    std::optional<WorkFolder> work(std::in_place, cache);
    const fs::path abandoned = cache / "work" / "left_by_a_killed_judge";
    fs::create_directory(abandoned);
    for (const fs::path& folder : {work->path(), abandoned})
        fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(25));
    tidy_many_times(cache);
    EXPECT_TRUE(fs::exists(work->path()));
    EXPECT_FALSE(fs::exists(abandoned));
    work.reset();
    EXPECT_TRUE(fs::is_empty(cache / "work"));
    fs::remove_all(cache);
}

TEST(Cache, FoldersInUseStayIfTheClockJumps) {
    const fs::path cache = fs::path(testing::TempDir()) / "cache_in_use";
    fs::remove_all(cache);
    WorkFolder work(cache);
    const fs::path published = work.publish("published"), found = cache / "found", unused = cache / "unused";
    for (const fs::path& folder : {found, unused}) fs::create_directory(folder);
    ASSERT_TRUE(find_cached(cache, "found"));
    for (const fs::path& folder : {published, found, unused}) {
        std::ofstream(folder / "program") << "x";
        fs::resize_file(folder / "program", std::uintmax_t{3} << 30);  // a sparse file, which needs no space
        fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(2));
    }
    tidy_many_times(cache);
    EXPECT_TRUE(fs::exists(published));
    EXPECT_TRUE(fs::exists(found));
    EXPECT_FALSE(fs::exists(unused));
    fs::remove_all(cache);
}

TEST(Cache, FullDiskIsReportedAfterUnusedFoldersAreRemoved) {
    const fs::path cache = fs::path(testing::TempDir()) / "cache_on_a_full_disk";
    fs::remove_all(cache);
    WorkFolder work(cache);
    const fs::path published = work.publish("published"), recent = cache / "recent", unused = cache / "unused";
    for (const fs::path& folder : {recent, unused}) fs::create_directory(folder);
    for (const fs::path& folder : {published, unused})
        fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::minutes(5));
    EXPECT_NO_THROW(make_room(cache, 1));
    EXPECT_TRUE(fs::exists(unused));
    EXPECT_THROW(make_room(cache, std::uintmax_t{1} << 60), std::runtime_error);
    EXPECT_TRUE(fs::exists(published));
    EXPECT_TRUE(fs::exists(recent));
    EXPECT_FALSE(fs::exists(unused));
    fs::remove_all(cache);
}

}  // namespace
}  // namespace warplab::compilation
