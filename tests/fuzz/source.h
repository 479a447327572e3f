#pragma once
// Fuzzes the code that reads a student's file before a compiler does: the hand-in's checks and the rewriter.

#include "grader/judge/compile/hand_in.h"
#include "tests/cpu/rewriter/fuzz.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/scratch.h"

namespace warplab::fuzz {

inline void try_source(std::string_view bytes) {
    const ScratchFile file("source", bytes);
    const compilation::HandIn hand_in = compilation::read_hand_in(Source(file.path), "", compilation::Links::refused);
    require(hand_in.text.size() <= bytes.size(), "a hand-in's text is no larger than the file");
    require(hand_in.failure || !hand_in.text.empty(), "an empty file is refused");
    require(!hand_in.failure || !hand_in.failure->cause.empty(), "a refusal has a cause");
    rewriter::test::check_invariants(std::string(bytes));
}

}  // namespace warplab::fuzz
