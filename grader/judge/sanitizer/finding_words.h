#pragma once
// Writes the messages of the sanitizer's findings.

#include <string>
#include <vector>

#include "grader/io/status_page.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

inline constexpr std::size_t max_quoted_bytes = 200;  // longer source lines are cut

struct Description {
    std::string cause, message, hint;
    bool is_note = false;
};

/// A line of a student's file, and the whole file.
struct SourceLine {
    const std::string& line;
    const std::string& text;
};

/// Return the words of a finding; empty for a kind that only a forged status page has. `buffers`: the lab's.
Description describe(const std::vector<BufferSpec>& buffers, const RawFinding& f, const SourceLine& source);

/// Return the hint for a race of threads that all do the same, because the student's file never asks for the number of
/// a thread or block; "" if it does.
std::string hint_for_race_of_all_threads(const RawFinding& f, const std::string& text);

/// Return the hint for a line whose threads race with each other.
std::string hint_for_race_within_line(const RawFinding& f);

/// Complete the finding about plain writes of one value, after all writes have been counted: very many writes mean
/// repeated work.
void count_same_values(Finding& finding);

/// Return a finding of the kind return_before_barrier as a note: since compute capability 7.0, a barrier waits only for
/// threads that have not ended.
Finding returned_and_ended(const Finding& returned);

std::string kernel_of(const RawFinding& f);
bool same_block(const RawFinding& f);

}  // namespace warplab
