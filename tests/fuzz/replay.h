#pragma once
// Runs a fuzz target on its corpus and on mutations of it.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/mutator.h"

namespace warplab::fuzz {

/// A fuzz target. `run` takes arbitrary bytes, and throws std::logic_error if an invariant is broken.
struct Target {
    const char* name;
    void (*run)(std::string_view bytes);
    std::vector<std::string> words;  // tokens of its inputs
};

inline const std::vector<std::string> json_words = {"{",
                                                    "}",
                                                    "[",
                                                    "]",
                                                    ",",
                                                    ":",
                                                    "\"",
                                                    "\\",
                                                    "null",
                                                    "true",
                                                    "-1",
                                                    "0",
                                                    "1.5",
                                                    "1e308",
                                                    "1e999",
                                                    "-9223372036854775808",
                                                    "18446744073709551616",
                                                    "\"\"",
                                                    "\"nan\"",
                                                    "\"-inf\"",
                                                    "\"passed\"",
                                                    "\"\\u0000\"",
                                                    "\"\\ud800\"",
                                                    "\"\\u001b[2J\"",
                                                    "\xFF",
                                                    "[[",
                                                    "{\"schema\":"};
inline const std::vector<std::string> byte_words = {std::string(1, '\0'),
                                                    "\x01",
                                                    "\xFF",
                                                    std::string(8, '\0'),
                                                    std::string(8, '\xFF'),
                                                    std::string("\0\0\0\0\0\0\xF0\x7F", 8),
                                                    std::string("\0\0\0\0\0\0\0\x80", 8),
                                                    std::string("\0\0\0\x80", 4),
                                                    std::string("PRAW\x01\0\0\0", 8),
                                                    "%s{}",
                                                    "\x1b[2J",
                                                    "\xC2\x9B",
                                                    "terminate called after throwing an instance of '",
                                                    "what():"};

inline const std::vector<std::string> compiler_words = {"student.cu",
                                                        "student.cu:3:5: error: ",
                                                        "student.cu(3): error: ",
                                                        "student.cu:3: note: ",
                                                        "student.cu:2147483647:9999999: ",
                                                        " at line 3 of \"student.cu\"",
                                                        "In file included from student.cu:1:",
                                                        "in expansion of macro ‘",
                                                        "expected ‘}’ at end of input",
                                                        "to match this ‘{’",
                                                        "conflicting declaration ‘void dot_product(",
                                                        "warplab_cpu::Shared<",
                                                        "‘auto& ",
                                                        "’",
                                                        "\n===\n",
                                                        "0000000000000010 T dot_product(",
                                                        "                 U main",
                                                        "(anonymous namespace)::",
                                                        "<<<",
                                                        "/*",
                                                        "\xFF",
                                                        "\n"};

/// Return the files of a folder, in the order of their names.
inline std::vector<std::string> read_corpus(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<std::string> inputs;
    for (const auto& file : files) {
        std::ifstream stream(file, std::ios::binary);
        inputs.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    }
    return inputs;
}

/// Try the inputs of `corpus`/<target>/ and mutations of them, and return their number. If an input breaks an
/// invariant, write the input to the folder for temporary files, and throw std::runtime_error that names this file.
inline int replay(const Target& target, const std::filesystem::path& corpus, int mutations, std::uint32_t seed) {
    const std::vector<std::string> inputs = read_corpus(corpus / target.name);
    test::Mutator mutator(inputs, target.words, seed);
    const int count = static_cast<int>(inputs.size()) + mutations;
    for (int i = 0; i < count; ++i) {
        const bool is_in_corpus = i < static_cast<int>(inputs.size());
        const std::string input = is_in_corpus ? inputs[static_cast<std::size_t>(i)] : mutator.next();
        try {
            target.run(input);
        } catch (const std::exception& broken) {
            const auto file = std::filesystem::temp_directory_path() / (std::string("warplab-fuzz-") + target.name);
            std::ofstream(file, std::ios::binary) << input;
            throw std::runtime_error(std::string(target.name) + ", input " + std::to_string(i) + " (" + file.string() +
                                     "): " + broken.what());
        }
    }
    return count;
}

}  // namespace warplab::fuzz
