// rewrite INPUT.cu OUTPUT.cpp [--name SHOWN_NAME]

#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "grader/cpu/rewriter/rewriter.h"

namespace {

enum Exit { exit_fine = 0, exit_refused = 1, exit_our_side = 2 };

constexpr auto usage =
    "usage: rewrite INPUT.cu OUTPUT.cpp [--name SHOWN_NAME]\n"
    "Rewrites CUDA C++ for the CPU backend. Exit status: 0 done, 1 the file is refused (messages on stderr),\n"
    "2 a file cannot be read or written, or these arguments are wrong.\n";

int run(const std::string& input, const std::string& output, const std::string& shown_name) {
    std::ifstream in(input, std::ios::binary);
    const std::string source((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!in.is_open() || in.bad()) {
        std::cerr << "rewrite: cannot read " << input << "\n";
        return exit_our_side;
    }
    const auto rewritten = warplab::rewriter::rewrite(source, shown_name);
    if (!rewritten.problems.empty()) {
        std::cerr << warplab::rewriter::show_problems(rewritten, shown_name);
        return exit_refused;
    }
    std::ofstream out(output, std::ios::binary);
    out << rewritten.text << std::flush;
    if (!out) {
        std::cerr << "rewrite: cannot write " << output << "\n";
        return exit_our_side;
    }
    return exit_fine;
}

}  // namespace

int main(int argc, char** argv) try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const bool named = arguments.size() == 4 && arguments[2] == "--name";
    if (arguments.size() == 1 && arguments[0] == "--help") {
        std::cout << usage;
        return exit_fine;
    }
    if (arguments.size() != 2 && !named) {
        std::cerr << usage;
        return exit_our_side;
    }
    return run(arguments[0], arguments[1], named ? arguments[3] : arguments[0]);
} catch (const std::exception& problem) {
    std::cerr << "rewrite: " << problem.what() << "\n";
    return exit_our_side;
}
