// The files of GPUs give a source for every number that was not measured.
#include "grader/judge/predict/machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "grader/common/json.h"
#include "grader/common/usage_error.h"
#include "grader/judge/sanitizer/occupancy.h"

namespace warplab::predict {
namespace {

constexpr auto folder = "grader/judge/predict/gpus";

void expect_sources(const Json& numbers, const Json& sources, const std::string& where) {
    for (const auto& [name, value] : numbers.items()) {
        if (value.is_object() && sources.contains(name) && sources[name].is_object()) {
            expect_sources(value, sources[name], where + "/" + name);
        } else if (value.is_object() || value.is_number()) {
            EXPECT_TRUE(sources.contains(name) && sources[name].is_string() && sources[name] != "") << where << name;
        }
    }
}

TEST(Machines, AgreeWithTheTableOfGpus) {
    for (const std::string& name : known_machines(folder)) {
        const Machine machine = read_machine(folder, name);
        const Gpu& gpu = find_gpu(name);
        EXPECT_EQ(machine.architecture, gpu.architecture()) << name;
        EXPECT_EQ(machine.multiprocessors, gpu.multiprocessors) << name;
        EXPECT_EQ(machine.threads, gpu.threads) << name;
        EXPECT_EQ(machine.blocks, gpu.blocks) << name;
        EXPECT_EQ(machine.registers, gpu.registers) << name;
        EXPECT_EQ(machine.shared_bytes, gpu.shared_bytes) << name;
    }
}

TEST(Machines, TheCourseNamesTheDefault) {
    EXPECT_EQ(default_machine(folder), "H200");
    const std::filesystem::path course = std::filesystem::path(testing::TempDir()) / "gpus of a course";
    std::filesystem::create_directories(course);
    std::ofstream(course / "default") << "RTX 4090\n";
    EXPECT_EQ(default_machine(course), "RTX 4090");
    std::ofstream(course / "default") << "\n";
    EXPECT_THROW(default_machine(course), UsageError);
}

TEST(Machines, WithoutCalibrationHaveSourcesAndWiderIntervals) {
    const Machine calibrated = read_machine(folder, "h200");
    for (const std::string& name : known_machines(folder)) {
        const Machine machine = read_machine(folder, name);
        if (machine.source.starts_with("measured")) continue;
        EXPECT_TRUE(machine.source.starts_with("uncalibrated")) << name;
        std::ifstream file(std::string(folder) + "/" + name + ".json");
        Json json = Json::parse(file);
        const Json sources = json["sources"];
        json.erase("sources");
        expect_sources(json, sources, name + "/");
        EXPECT_GT(machine.spread, calibrated.spread) << name;
        EXPECT_GT(machine.min_ratio_spread, calibrated.min_ratio_spread) << name;
        EXPECT_GT(machine.max_ratio_spread, calibrated.max_ratio_spread) << name;
    }
}

}  // namespace
}  // namespace warplab::predict
