// Fuzzes the readers of a runner's messages: replay CORPUS MUTATIONS SEED. fuzz_test.cpp builds this
// program with sanitizers. It does not read JSON, because the readers of JSON take too long to compile.

#include "tests/fuzz/replay.h"

#include <iostream>

#include "tests/fuzz/answer.h"
#include "tests/fuzz/status_page.h"

int main(int argc, char** argv) {
    using namespace warplab::fuzz;
    if (argc != 4) return 2;
    try {
        for (const Target& target :
             {Target{"answer", try_answer, byte_words}, {"status_page", try_status_page, byte_words}})
            std::cout << target.name << ": " << replay(target, argv[1], std::stoi(argv[2]), std::stoul(argv[3]))
                      << " inputs\n";
    } catch (const std::exception& broken) {
        std::cerr << broken.what() << "\n";
        return 1;
    }
}
