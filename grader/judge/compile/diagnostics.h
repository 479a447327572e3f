#pragma once
// Compilers' messages, reduced to those about the student's file and shown with the lines of this file.

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

/// Parse the messages of g++, nvcc or the rewriter. A message about another file that a line of `shown` caused (through
/// a template or a macro) is moved to that line. Long messages and names are cut.
std::vector<Diagnostic> read_diagnostics(const std::string& output, const std::string& shown);

/// Return the messages of one kind in `shown`, in the compiler's order and without duplicates, with the notes in
/// `shown` that follow them.
std::vector<Diagnostic> select(const std::vector<Diagnostic>& all, const std::string& shown, const std::string& kind,
                               bool with_notes = false);

/// Move the first error about an unclosed brace, if any, to the front: such a brace causes errors in all the code after
/// it, and g++ reports the brace last.
void lead_with_open_brace(std::vector<Diagnostic>& errors);

/// If an error is about the arguments of a macro whose parenthesis is never closed, keep only this error, at the
/// macro's use. The other errors follow from it: for g++, all text up to the end of the file is the macro's argument.
void lead_with_open_macro(std::vector<Diagnostic>& errors);

/// Move an error about the number of arguments before those about their types on the same line.
void lead_with_count_of_arguments(std::vector<Diagnostic>& errors);

/// Move a warning about an uninitialised variable to its declaration, which a note names, if the warning's line does not
/// mention the variable: the use may be in a function that got the variable's value.
void lead_with_declarations(std::vector<Diagnostic>& diagnostics, const std::string& source);

/// Convert columns of the rewriter's output to columns of the source; 0 if the column cannot be determined.
void move_columns(std::vector<Diagnostic>& diagnostics, const std::string& source, const std::string& rewritten);

/// Replace the rewriter's own names (grader/cpu/rewriter/OUTPUT.md) by the student's. Drop an error with such a name if
/// it follows another error on the same line, because this other error is the cause. Call this after move_columns.
void omit_internal_names(std::vector<Diagnostic>& errors, const std::string& source);

/// Return a message or a declaration without names of the harness.
std::string without_internal_names(std::string message);

/// Return a line of the text, counted from 1; "" if the text has fewer lines.
std::string source_line(const std::string& source, int number);

/// Format the first `max_shown` diagnostics, each with about 200 bytes of the source line around the column, and a
/// caret below it.
std::string render(const std::vector<Diagnostic>& diagnostics, const std::string& source, std::size_t max_shown);

/// Return whether a warning may explain wrong outputs. Warnings about printf, an unused #pragma unroll and a name that
/// hides another one do not.
bool may_explain_outputs(const Diagnostic& warning);

/// Return whether a warning matters even if all outputs are right: they may be right by chance, or the code slower than
/// its author expects.
bool matters_if_right(const Diagnostic& warning);

}  // namespace warplab::compilation
