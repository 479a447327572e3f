#pragma once
// CUDA C++ in, C++ for the CPU backend's cuda_runtime.h out (OUTPUT.md says what becomes of what).

#include <string>
#include <string_view>
#include <vector>

#include "grader/cpu/rewriter/edits.h"

namespace warplab::rewriter {

/// Where a byte of the output came from. Lines and columns count from 1, columns in bytes.
struct Column {
    int line;
    int output, source;
    bool copied;  // the columns after it follow in step; otherwise all show `source`
};

struct Rewritten {
    std::string text;               // what g++ is to compile; after its #line, line n is line n of the source
    std::vector<Problem> problems;  // in order of place; when there is one the text is of no use
    std::vector<Column> columns;    // where something moved within its line, in order
    std::string source;             // what the problems' places count in: LF line ends, no byte-order mark
};

/// Reads any bytes. `shown_name` is the file's name in g++'s messages.
Rewritten rewrite(std::string_view source, std::string_view shown_name);

/// One line a Column: `LINE OUTPUT SOURCE STEP`, STEP 1 when copied, else 0. A complaint of g++ about LINE and column c
/// belongs to the last entry of that line with OUTPUT <= c: the student's column is SOURCE + STEP * (c - OUTPUT).
/// Without an entry the column is right as it is. (g++ counts bytes with -fdiagnostics-column-unit=byte.)
std::string show_columns(const Rewritten& rewritten);

/// The problems as g++ would print them: name, line, column, the line itself and a caret.
std::string show_problems(const Rewritten& rewritten, std::string_view shown_name);

}  // namespace warplab::rewriter
