#pragma once
// A small, valid project in a separate folder. Tests change parts of it.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "grader/common/json.h"

namespace warplab::test {

/// Return the running test's own folder, empty at first.
inline std::filesystem::path own_folder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "." + test->name();
    for (char& c : name) c = c == '/' ? '_' : c;
    const auto folder = std::filesystem::path(testing::TempDir()) / ("warplab-" + name);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    return folder;
}

inline void write_file(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

inline std::string read_file(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

struct Project {
    std::filesystem::path root = own_folder();

    Json lab = Json::parse(R"({
        "schema": 1, "lab": "scale", "title": "Scale", "about": "out = factor * in", "points": 20,
        "sizes": ["n"], "reals": ["factor"],
        "buffers": [
            {"name": "in", "type": "float32", "role": "input", "about": "n elements"},
            {"name": "out", "type": "float32", "role": "output", "about": "n elements"}
        ],
        "benchmark": {"iterations": 1000, "iterations_per_call": 10},
        "stages": [
            {"id": "01_plain", "title": "Plain", "idea": "One thread per element.",
             "points": {"correctness": 6, "hygiene": 2, "speed": 2}, "beyond": false, "host_variant": true,
             "host_bytes_per_call": 64, "host_bytes_per_iteration": 8,
             "tunables": [{"macro": "BLOCK", "about": "threads", "values": [64, 128], "default": 128}]},
            {"id": "02_strided", "title": "Strided", "idea": "A fixed grid.", "points": {"correctness": 10},
             "counters": [{"counter": "sectors", "at_most": 1.5, "dataset": "tiny", "about": "coalescing"}]}
        ]
    })");

    Json public_datasets = Json::parse(R"({"schema": 1, "datasets": [
        {"name": "tiny", "generator": "random", "parameters": {"n": 7}, "seed": 1, "uses": ["check"], "points": 1,
         "about": "a small dataset"},
        {"name": "large", "generator": "random", "parameters": {"n": 1000000}, "seed": 2,
         "uses": ["check", "bench", "cuda-only"], "points": 2, "about": "a large dataset", "stages": ["01_plain"]}
    ]})");

    Json hidden_datasets = Json::parse(R"({"schema": 1, "datasets": [
        {"name": "secret", "generator": "random", "parameters": {"n": 33}, "uses": ["bench"], "points": 3,
         "about": "not the tiny dataset", "stages": ["02_strided"]}
    ]})");

    /// Write everything; the trees of solutions and starters are complete.
    void write() const {
        write_file(root / "labs/scale/lab.json", lab.dump(2));
        for (const auto* name : {"lab.h", "driver.cu", "oracle.cpp"}) write_file(root / "labs/scale" / name, "\n");
        write_file(root / "datasets/scale/public.json", public_datasets.dump(2));
        write_file(root / "datasets/scale/hidden.json", hidden_datasets.dump(2));
        for (const auto* tree : {"solutions", "starter"})
            for (const auto* stage : {"01_plain.cu", "02_strided.cu"}) write_file(root / tree / "scale" / stage, "\n");
    }
};

}  // namespace warplab::test
