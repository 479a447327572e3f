// The command `rewrite`, which the judge runs for each file.

#include <getopt.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>

#include "grader/cpu/rewriter/rewriter.h"
#include "grader/cpu/rewriter/scan.h"
#include "grader/io/rewriter_exit.h"

namespace {

using warplab::RewriterExit;

constexpr const char* usage =
    "rewrite [--split] [--name SHOWN_NAME] INPUT.cu OUTPUT.cpp\n"
    "rewrite --scan --name SHOWN_NAME PREPROCESSED.ii\n"
    "Rewrites CUDA C++ for the CPU backend. SHOWN_NAME: the input's name in messages, and in the line markers of\n"
    "PREPROCESSED.ii (default: the path INPUT.cu).\n"
    "--split: splits kernels at their barriers if that is safe, for programs without the sanitizer's hooks.\n"
    "--scan: refuses the output of g++ -E if code in it would be hidden from the sanitizer.\n"
    "Exit status: 0 done, perhaps with warnings on stderr; 1 the file is refused, messages on stderr; 2 a file cannot "
    "be read or written, or misuse;\n"
    "3 the file is refused, and its first problem is a feature that CUDA has and the CPU backend lacks.\n";

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    in.peek();  // fails for a folder
    if (!in.is_open() || in.bad()) throw std::runtime_error("cannot read " + path);
    std::ostringstream bytes;
    bytes << in.rdbuf();
    return bytes.str();
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text << std::flush;
    if (!out) throw std::runtime_error("cannot write " + path);
}

RewriterExit scan(const std::string& path, const std::string& shown_name) {
    const auto hidden = warplab::rewriter::find_hidden(read_file(path), shown_name);
    for (const auto& problem : hidden)
        std::cerr << shown_name << ":" << problem.line << ":1: error: " << problem.message << "\n";
    if (hidden.empty()) return RewriterExit::done;
    return hidden.front().fine_on_gpu ? RewriterExit::lacks_feature : RewriterExit::refused;
}

int status(RewriterExit exit) { return static_cast<int>(exit); }

}  // namespace

int main(int argc, char** argv) try {
    constexpr option options[] = {{"name", required_argument, nullptr, 'n'},
                                  {"scan", no_argument, nullptr, 's'},
                                  {"split", no_argument, nullptr, 'b'},
                                  {"help", no_argument, nullptr, 'h'},
                                  {}};
    std::string shown_name;
    bool scans = false;
    auto barriers = warplab::rewriter::Barriers::by_fibers;
    for (int letter; (letter = getopt_long(argc, argv, "h", options, nullptr)) != -1;) {
        if (letter == 'n') shown_name = optarg;
        if (letter == 's') scans = true;
        if (letter == 'b') barriers = warplab::rewriter::Barriers::split;
        if (letter == 'h') std::cout << usage;
        if (letter == 'h' || letter == '?')
            return status(letter == 'h' ? RewriterExit::done : RewriterExit::internal_error);
    }
    if (scans && argc - optind == 1) return status(scan(argv[optind], shown_name));
    if (scans || argc - optind != 2) {
        std::cerr << "rewrite: expected " << (scans ? "one file" : "two files") << ", not " << argc - optind << "\n"
                  << usage;
        return status(RewriterExit::internal_error);
    }
    const std::string input = argv[optind], output = argv[optind + 1];
    if (shown_name.empty()) shown_name = input;
    const auto rewritten = warplab::rewriter::rewrite(read_file(input), shown_name, barriers);
    if (!rewritten.problems.empty()) {
        std::cerr << warplab::rewriter::show_problems(rewritten, shown_name);
        const bool lacks_feature = rewritten.problems.front().fine_on_gpu;
        return status(lacks_feature ? RewriterExit::lacks_feature : RewriterExit::refused);
    }
    std::cerr << warplab::rewriter::show_warnings(rewritten, shown_name);
    write_file(output, rewritten.text);
    return status(RewriterExit::done);
} catch (const std::exception& problem) {
    std::cerr << "rewrite: " << problem.what() << "\n";
    return status(RewriterExit::internal_error);
}
