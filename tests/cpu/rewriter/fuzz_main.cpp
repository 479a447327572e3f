// Fuzzes the rewriter: fuzz COUNT SEED SAMPLE.cu… — built with sanitizers by fuzz_test.cpp.

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/cpu/rewriter/fuzz.h"

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    std::vector<std::string> samples;
    for (int i = 3; i < argc; ++i) {
        std::ifstream in(argv[i], std::ios::binary);
        samples.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    warplab::test::Mutator mutator(samples, warplab::rewriter::test::source_words,
                                   static_cast<std::uint32_t>(std::atoi(argv[2])));
    const int count = std::atoi(argv[1]);
    int accepted = 0;
    for (int i = 0; i < count; ++i) {
        const auto source = mutator.next();
        try {
            accepted += warplab::rewriter::test::check_promises(source);
        } catch (const std::exception& broken) {
            std::cerr << broken.what() << ", input " << i << ":\n" << source << "\n";
            return 1;
        }
    }
    std::cout << accepted << " of " << count << " accepted\n";
}
