#include "grader/judge/bench/kept_numbers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace warplab {
namespace {
namespace fs = std::filesystem;

class KeptNumbers : public testing::Test {
  protected:
    KeptNumbers() { fs::create_directories(folder_); }
    ~KeptNumbers() override { fs::remove_all(folder_); }

    std::vector<double> measure_or_find(const std::string& name, const std::vector<double>& times) {
        return keep_numbers(file_, name, 2, [&] {
            ++measured_;
            return times;
        });
    }

    const fs::path folder_ = testing::TempDir() + "KeptNumbers", file_ = folder_ / "times.json";
    int measured_ = 0;
};

TEST_F(KeptNumbers, AreMeasuredOnce) {
    EXPECT_EQ(measure_or_find("a", {1, 2}), (std::vector<double>{1, 2}));
    EXPECT_EQ(measure_or_find("a", {3, 4}), (std::vector<double>{1, 2}));
    EXPECT_EQ(measure_or_find("b", {5, 6}), (std::vector<double>{5, 6}));
    EXPECT_EQ(measured_, 2);
    EXPECT_EQ(find_numbers(file_, "b", 2), (std::vector<double>{5, 6}));
}

TEST_F(KeptNumbers, FailedMeasurementsAreNotStored) {
    EXPECT_TRUE(measure_or_find("a", {}).empty());
    EXPECT_EQ(measure_or_find("a", {1, 2}).size(), 2u);
}

TEST_F(KeptNumbers, InvalidFilesAreMeasuredAgain) {
    for (const char* text : {"", "[", "[1]", R"({"a": 1})", R"({"a": [1]})", R"({"a": [1, "2"]})"}) {
        std::ofstream(file_) << text;
        EXPECT_FALSE(find_numbers(file_, "a", 2)) << text;
        EXPECT_EQ(measure_or_find("a", {1, 2}).size(), 2u) << text;
        EXPECT_TRUE(find_numbers(file_, "a", 2)) << text;
    }
}

}  // namespace
}  // namespace warplab
