#pragma once
// What compilers say, cut down to what concerns the student's file and shown with its own lines.

#include <string>
#include <vector>

namespace warplab::compilation {

inline bool contains(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

struct Diagnostic {
    std::string file;
    int line = 0, column = 0;  // column 0 = unknown
    std::string kind;          // error, warning, note
    std::string message;
};

/// Reads the words of g++, nvcc or our rewriter. What concerns another file but came about through a line of `shown`
/// (a template, a macro) is moved to that line. Long messages and names are cut.
std::vector<Diagnostic> read_diagnostics(const std::string& words, const std::string& shown);

/// Those of one kind in `shown`, in the compiler's order, each once; with the notes in `shown` that follow them.
std::vector<Diagnostic> select(const std::vector<Diagnostic>& all, const std::string& shown, const std::string& kind,
                               bool with_notes = false);

/// A brace that is not closed makes errors of all that follows it; g++ names it last. The first, where there is one.
void lead_with_open_brace(std::vector<Diagnostic>& errors);

/// Turns columns of the rewriter's output into columns of the source; 0 where there is no telling.
void move_columns(std::vector<Diagnostic>& diagnostics, const std::string& source, const std::string& rewritten);

/// The rewriter's own names (grader/cpu/rewriter/OUTPUT.md) become the student's; an error that has some and comes
/// after another one of its line goes, as it follows from that. After move_columns.
void leave_out_our_names(std::vector<Diagnostic>& errors, const std::string& source);

/// A line of the text, counted from 1; "" when it has fewer.
std::string source_line(const std::string& source, int number);

/// The first `most` of them, with about 200 bytes of the source's line around the column, and a caret below it.
std::string render(const std::vector<Diagnostic>& diagnostics, const std::string& source, std::size_t most);

}  // namespace warplab::compilation
