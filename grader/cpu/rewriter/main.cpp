// The command `rewrite INPUT.cu OUTPUT.cpp [--name SHOWN_NAME]`.

#include <CLI/CLI.hpp>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "grader/cpu/rewriter/rewriter.h"

namespace {

enum Exit { exit_fine = 0, exit_refused = 1, exit_our_side = 2 };

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!in.is_open() || in.bad()) throw std::runtime_error("cannot read " + path);
    return bytes;
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text << std::flush;
    if (!out) throw std::runtime_error("cannot write " + path);
}

}  // namespace

int main(int argc, char** argv) try {
    std::string input, output, shown_name;
    CLI::App app(
        "Rewrites CUDA C++ for the CPU backend.\n"
        "Exit status: 0 done; 1 the file is refused, messages on stderr; 2 a file cannot be read or written, or "
        "misuse.");
    app.add_option("input", input, "the student's .cu file")->required();
    app.add_option("output", output, "the C++ file to write")->required();
    app.add_option("--name", shown_name, "the input's name in messages (its path, if not given)");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? exit_fine : exit_our_side;
    }
    if (shown_name.empty()) shown_name = input;
    const auto rewritten = warplab::rewriter::rewrite(read_file(input), shown_name);
    if (!rewritten.problems.empty()) {
        std::cerr << warplab::rewriter::show_problems(rewritten, shown_name);
        return exit_refused;
    }
    write_file(output, rewritten.text);
    return exit_fine;
} catch (const std::exception& problem) {
    std::cerr << "rewrite: " << problem.what() << "\n";
    return exit_our_side;
}
