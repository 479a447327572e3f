#include "grader/judge/compile/diagnostics.h"

#include <fmt/format.h>
#include <limits.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

#include "grader/common/text.h"
#include "grader/common/utf8.h"

namespace warplab::compilation {
namespace {

constexpr std::size_t max_message_bytes = 500;    // a message may quote a name as long as the file
constexpr std::size_t max_line_bytes = 200;       // longer source lines are cut
constexpr std::size_t max_searched_bytes = 5000;  // longer lines are not searched for words

/// The lines of a text. They are found only once, because there can be thousands of diagnostics about a million lines.
class Lines {
  public:
    explicit Lines(std::string_view text) : text_(text) {
        for (std::size_t at = 0; at != 0 || begins_.empty(); at = text.find('\n', at) + 1) begins_.push_back(at);
    }
    /// Return a line by its number from 1, "" if there is none.
    std::string_view line(int number) const {
        if (number < 1 || static_cast<std::size_t>(number) > begins_.size()) return "";
        const std::size_t begin = begins_[static_cast<std::size_t>(number) - 1];
        return text_.substr(begin, text_.find('\n', begin) - begin);
    }

  private:
    std::string_view text_;
    std::vector<std::size_t> begins_;
};

/// Read digits at `at` and move past them; -1 if there are none.
int read_number(const std::string& text, std::size_t& at) {
    const std::size_t begin = at;
    while (at < text.size() && at - begin < 7 && std::isdigit(static_cast<unsigned char>(text[at]))) ++at;
    return at == begin ? -1 : std::atoi(text.substr(begin, at - begin).c_str());
}

bool skip(const std::string& text, std::size_t& at, const std::string& word) {
    if (text.compare(at, word.size(), word) != 0) return false;
    at += word.size();
    return true;
}

/// Remove the " [-fpermissive]" or " [-Wunused]" that g++ appends.
std::string without_option(const std::string& message) {
    const std::size_t at = message.rfind(" [-");
    return at != std::string::npos && message.ends_with("]") ? message.substr(0, at) : message;
}

/// Replace g++'s message about `if (n = 0)`: the parentheses that it suggests would hide the mistake.
std::string in_plain_words(std::string message) {
    return message == "suggest parentheses around assignment used as truth value"
               ? "= assigns, and the condition is the assigned value; to compare, write =="
               : message;
}

/// Read "error: …", with or without nvcc's numbers ("error #20:"), and g++'s "fatal error" and "sorry, unimplemented".
bool read_kind(const std::string& text, std::size_t& at, Diagnostic& diagnostic) {
    if (!skip(text, at, "fatal ")) skip(text, at, "catastrophic ");
    static constexpr std::pair<const char*, const char*> kinds[] = {
        {"error", "error"}, {"warning", "warning"}, {"note", "note"}, {"sorry, unimplemented", "error"}};
    for (const auto& [opening, kind] : kinds) {
        if (!skip(text, at, opening)) continue;
        diagnostic.kind = kind;
        if (skip(text, at, " #")) at = std::min(text.find(':', at), text.size());
        if (!skip(text, at, ": ")) return false;
        diagnostic.message = shorten(in_plain_words(without_option(text.substr(at))), max_message_bytes);
        return true;
    }
    return false;
}

/// Read the text after a file's name: ":LINE:COLUMN: error: …" (g++, the rewriter) or "(LINE): error: …" (nvcc).
bool read_rest(const std::string& text, std::size_t at, Diagnostic& diagnostic) {
    const bool of_nvcc = text[at++] == '(';
    diagnostic.line = read_number(text, at);
    if (diagnostic.line < 0) return false;
    if (of_nvcc) return skip(text, at, "): ") && read_kind(text, at, diagnostic);
    if (!skip(text, at, ":")) return false;
    diagnostic.column = std::max(read_number(text, at), 0);
    if (diagnostic.column > 0 && !skip(text, at, ":")) return false;
    return skip(text, at, " ") && read_kind(text, at, diagnostic);
}

bool read_line(const std::string& text, Diagnostic& diagnostic) {
    // The name itself may contain colons and brackets.
    for (std::size_t at = text.find_first_of(":("); at != std::string::npos; at = text.find_first_of(":(", at + 1)) {
        Diagnostic candidate;
        if (!read_rest(text, at, candidate)) continue;
        diagnostic = candidate;
        diagnostic.file = shorten(text.substr(0, at), PATH_MAX);
        return true;
    }
    return false;
}

/// Read SHOWN:LINE:COLUMN in a line of context ("required from here"), or nvcc's `at line 12 of "SHOWN"`.
bool read_context(const std::string& text, const std::string& shown, Diagnostic& place) {
    std::size_t at = text.find(shown);
    if (at == std::string::npos) return false;
    at += shown.size();
    if (!skip(text, at, ":") && !skip(text, at, "(")) {
        at = text.rfind(" at line ");
        if (at == std::string::npos) return false;
        at += std::string(" at line ").size();
    }
    place = {shown, read_number(text, at), 0, "", ""};
    if (place.line > 0 && skip(text, at, ":")) place.column = std::max(read_number(text, at), 0);
    return place.line > 0;
}

bool is_include_stack(const std::string& line) {
    return line.starts_with("In file included from") || line.starts_with("                 from");
}

/// Return whether the context follows its error: nvcc prints it after the error, g++ before it.
bool comes_after(const std::string& line) { return line.find(" at line ") != std::string::npos; }

/// Return the last diagnostic that is not a note.
Diagnostic* last_error(std::vector<Diagnostic>& diagnostics) {
    const auto at =
        std::find_if(diagnostics.rbegin(), diagnostics.rend(), [](const Diagnostic& d) { return d.kind != "note"; });
    return at == diagnostics.rend() ? nullptr : &*at;
}

void move_to(Diagnostic& diagnostic, const Diagnostic& place) {
    diagnostic.file = place.file;
    diagnostic.line = place.line;
    diagnostic.column = place.column;
}

/// Swap the places of an error in a macro's expansion, which g++ reports at the macro's definition, and of the note
/// that names the line with the macro's use.
void lead_with_use_of_macro(std::vector<Diagnostic>& diagnostics) {
    Diagnostic& note = diagnostics.back();
    Diagnostic* const error = last_error(diagnostics);
    if (note.kind != "note" || !note.message.starts_with("in expansion of macro") || !error) return;
    if (error->file != note.file) return;
    const Diagnostic use = note;
    move_to(note, *error);
    move_to(*error, use);
    note.message.replace(0, std::string("in expansion").size(), "in the definition");
}

/// Move a warning about an argument of a header's macro to the argument's declaration, which a note names: the warning
/// itself has no line in the student's file.
void lead_with_declaration(std::vector<Diagnostic>& diagnostics, const std::string& shown) {
    const Diagnostic& note = diagnostics.back();
    Diagnostic* const warning = last_error(diagnostics);
    if (note.kind == "note" && note.file == shown && note.message.ends_with("’ declared here") && warning &&
        warning->kind == "warning" && contains(warning->message, "uninitialized"))
        move_to(*warning, note);
}

/// Return the positions of whole words equal to `word`, from the right.
std::vector<std::size_t> places_of(std::string_view word, std::string_view line) {
    std::vector<std::size_t> places;
    for (std::size_t at = line.rfind(word); at != std::string::npos;
         at = at > 0 ? line.rfind(word, at - 1) : std::string::npos) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_word_character(line[at - 1])) && (end == line.size() || !is_word_character(line[end])))
            places.push_back(at);
    }
    return places;
}

/// Return the column in `before` of the word at `column` of `after`; 0 = unknown. A rewritten launch begins with words
/// of the rewriter and ends with the student's, so words are counted from the right.
int matching_column(std::string_view before, std::string_view after, int column) {
    const auto at = static_cast<std::size_t>(column - 1);
    if (column <= 0 || at >= after.size()) return 0;
    if (before.substr(0, at + 1) == after.substr(0, at + 1)) return column;
    if (std::max(before.size(), after.size()) > max_searched_bytes) return 0;
    std::size_t end = at;
    while (end < after.size() && is_word_character(after[end])) ++end;
    if (end == at) return 0;
    const std::string_view word = after.substr(at, end - at);
    const auto in_after = places_of(word, after), in_before = places_of(word, before);
    for (std::size_t i = 0; i < std::min(in_after.size(), in_before.size()); ++i)
        if (in_after[i] == at) return static_cast<int>(in_before[i]) + 1;
    return 0;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// Explain the error for a __shared__ array of variable size: g++ forbids its type as an argument of the template that
/// holds the array.
void explain_variable_size(std::vector<Diagnostic>& errors) {
    for (std::size_t i = 0; i + 1 < errors.size(); ++i)
        if (errors[i].message.ends_with("is a variably modified type") &&
            contains(errors[i + 1].message, "struct warplab_cpu::Shared"))
            errors[i].message =
                "the size of a __shared__ array must be known when the file is compiled; use a constant, or 'extern "
                "__shared__' with the size in bytes as the launch's third part";
}

/// Explain an error in a launch, which begins with the rewriter's cast.
void explain_launch(Diagnostic& diagnostic, const Lines& source) {
    if (diagnostic.column == 0 && source.line(diagnostic.line).find("<<<") != std::string_view::npos)
        replace_all(diagnostic.message, "before ‘static_cast’", "before the launch");
}

std::size_t end_of_word(const std::string& text, std::size_t at) {
    while (at < text.size() && is_word_character(text[at])) ++at;
    return at;
}

/// Replace warplab_cpu::Word<T> by T.
std::string without_constrained_types(const std::string& message) {
    const std::string prefix = "warplab_cpu::";
    std::string plain;
    std::size_t copied_to = 0;
    for (std::size_t at = message.find(prefix); at != std::string::npos; at = message.find(prefix, at + 1)) {
        const std::size_t open = end_of_word(message, at + prefix.size());
        const std::size_t close = end_of_word(message, std::min(open + 1, message.size()));
        const bool is_wrapper = at >= copied_to && open > at + prefix.size() && message.compare(open, 1, "<") == 0 &&
                                close > open + 1 && message.compare(close, 1, ">") == 0;
        if (!is_wrapper) continue;
        plain += message.substr(copied_to, at - copied_to) + message.substr(open + 1, close - open - 1);
        copied_to = close + 1;
    }
    return plain + message.substr(copied_to);
}

std::string in_lower_case(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

bool has_internal_names(const std::string& message) {
    return contains(message, "warplab_cpu") || contains(message, "‘auto& ") ||
           message == "template argument 1 is invalid";
}

}  // namespace

/// The rewriter turns a __shared__ variable into a type, a holder and a reference to the holder's value.
std::string without_internal_names(std::string message) {
    if (contains(message, "to ‘warplab_cpu::Line’")) message = "too many arguments in this call";
    if (contains(message, "warplab_cpu_type_")) replace_all(message, "‘typedef ", "‘");
    if (contains(message, "warplab_cpu::Shared<")) replace_all(message, "> warplab_cpu_", " ");
    for (const char* prefix : {"warplab_cpu::Shared<", "warplab_cpu_type_", "warplab_cpu_"})
        replace_all(message, prefix, "");
    replace_all(message, "‘auto& ", "‘");
    replace_all(message, ", warplab_cpu::Line", "");  // the last parameter of functions that need the caller's line
    replace_all(message, "(warplab_cpu::Line)", "()");
    message = without_constrained_types(message);
    return contains(in_lower_case(message), "warplab_cpu") ? "the types do not match here" : message;
}

namespace {

/// The part of a line around the column (0 = unknown), with "…" for the omitted parts, and the column in it.
struct Quote {
    std::string text;
    int column;
};

Quote quote_around(const std::string& line, int column) {
    if (line.size() <= max_line_bytes) return {line, column};
    const std::size_t at = std::min(static_cast<std::size_t>(std::max(column, 1)) - 1, line.size());
    const std::size_t begin = utf8_boundary(line, at - std::min(at, max_line_bytes / 2));
    const std::string part = shorten(line.substr(begin), max_line_bytes);
    if (begin == 0) return {part, column};
    const std::string cut = "…";
    return {cut + part, column - static_cast<int>(begin) + static_cast<int>(cut.size())};
}

/// Return spaces up to the column, with tabs kept, so that the caret is below its character.
std::string indent_for(const std::string& line, int column) {
    std::string indent;
    for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(column) && i < line.size(); ++i) {
        if ((static_cast<unsigned char>(line[i]) & 0xc0) == 0x80) continue;  // inside a UTF-8 character
        indent += line[i] == '\t' ? '\t' : ' ';
    }
    return indent;
}

}  // namespace

std::string source_line(const std::string& source, int number) {
    std::size_t begin = 0;
    for (int i = 1; i < number && begin < source.size(); ++i)
        begin = std::min(source.find('\n', begin), source.size() - 1) + 1;
    return number < 1 ? "" : source.substr(begin, source.find('\n', begin) - begin);
}

std::vector<Diagnostic> read_diagnostics(const std::string& output, const std::string& shown) {
    std::vector<Diagnostic> diagnostics;
    Diagnostic context, include_stack;  // the student's line that caused the next diagnostic
    bool in_header = false;             // the last error or warning is in a header
    std::stringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        Diagnostic diagnostic, place;
        if (read_line(line, diagnostic)) {
            const Diagnostic& through = context.line > 0 ? context : include_stack;
            if (diagnostic.kind != "note") in_header = diagnostic.file != shown && context.line <= 0;
            if (diagnostic.file != shown && diagnostic.kind != "note" && through.line > 0) move_to(diagnostic, through);
            if (diagnostic.kind != "note") context = include_stack = {};
            diagnostics.push_back(diagnostic);
            lead_with_use_of_macro(diagnostics);
            if (in_header) lead_with_declaration(diagnostics, shown);
        } else if (read_context(line, shown, place)) {
            if (is_include_stack(line))
                include_stack = place;
            else if (!comes_after(line))
                context = place;
            else if (Diagnostic* error = last_error(diagnostics); error && error->file != shown)
                move_to(*error, place);
        }
    }
    return diagnostics;
}

std::vector<Diagnostic> select(const std::vector<Diagnostic>& all, const std::string& shown, const std::string& kind,
                               bool with_notes) {
    std::vector<Diagnostic> chosen;
    bool is_chosen = false;
    for (const auto& diagnostic : all) {
        const auto is_equal = [&](const Diagnostic& other) {
            return other.line == diagnostic.line && other.message == diagnostic.message;
        };
        const bool is_new = diagnostic.file == shown && std::ranges::none_of(chosen, is_equal);
        if (diagnostic.kind != "note") is_chosen = is_new && diagnostic.kind == kind;
        if (is_new && is_chosen && (diagnostic.kind == kind || with_notes)) chosen.push_back(diagnostic);
    }
    return chosen;
}

void lead_with_open_brace(std::vector<Diagnostic>& errors) {
    for (std::size_t i = 0; i + 1 < errors.size(); ++i) {
        const bool open = errors[i].message.starts_with("expected ‘}’ at end of input");
        if (!open || errors[i + 1].message != "to match this ‘{’") continue;
        Diagnostic brace = errors[i + 1];
        brace.kind = "error";
        brace.message =
            "this ‘{’ is never closed: a ‘}’ is missing between here and the end of the block that it begins";
        errors.erase(errors.begin() + static_cast<long>(i), errors.begin() + static_cast<long>(i) + 2);
        errors.insert(errors.begin(), brace);
        return;
    }
}

void lead_with_open_macro(std::vector<Diagnostic>& errors) {
    const std::string opening = "unterminated argument list invoking macro \"";
    const auto open = std::ranges::find_if(errors, [&](const auto& d) { return d.message.starts_with(opening); });
    if (open == errors.end()) return;
    const std::string name = open->message.substr(opening.size(), open->message.rfind('"') - opening.size());
    const auto use = std::ranges::find(errors, "‘" + name + "’ was not declared in this scope", &Diagnostic::message);
    Diagnostic error = use == errors.end() ? *open : *use;
    error.message = fmt::format("the ‘(’ after {} is never closed: a ‘)’ is missing", name);
    errors = {error};
}

void lead_with_count_of_arguments(std::vector<Diagnostic>& errors) {
    const auto counts = [](const Diagnostic& d) {
        return d.kind == "error" &&
               (contains(d.message, "too few arguments to") || contains(d.message, "too many arguments to"));
    };
    const auto count = std::ranges::find_if(errors, counts);
    if (count == errors.end()) return;
    const auto first = std::ranges::find(errors, count->line, &Diagnostic::line);
    if (first == errors.begin() && first->kind == "error") std::rotate(first, count, count + 1);
}

void lead_with_declarations(std::vector<Diagnostic>& diagnostics, const std::string& source) {
    const Lines lines(source);
    Diagnostic* warning = nullptr;
    for (Diagnostic& diagnostic : diagnostics) {
        if (diagnostic.kind != "note") warning = &diagnostic;
        if (!warning || !warning->message.ends_with("used uninitialized") || diagnostic.file != warning->file) continue;
        const std::size_t end = diagnostic.message.find("’ was declared here");
        if (diagnostic.kind != "note" || end == std::string::npos || !diagnostic.message.starts_with("‘")) continue;
        const std::size_t begin = std::string("‘").size();
        if (places_of(diagnostic.message.substr(begin, end - begin), lines.line(warning->line)).empty())
            move_to(*warning, diagnostic);
    }
}

void move_columns(std::vector<Diagnostic>& diagnostics, const std::string& source, const std::string& rewritten) {
    const Lines lines(source), new_lines(rewritten);
    for (Diagnostic& diagnostic : diagnostics) {
        const std::string_view before = lines.line(diagnostic.line);
        const std::string_view after = new_lines.line(diagnostic.line + 1);  // the first one is a #line
        if (before != after) diagnostic.column = matching_column(before, after, diagnostic.column);
    }
}

/// If a warning says that a function of the backend is deprecated, keep only the advice that it gives.
static void keep_advice(Diagnostic& diagnostic) {
    constexpr std::string_view mark = " is deprecated: ";
    const std::size_t at = diagnostic.message.find(mark);
    if (at != std::string::npos && has_internal_names(diagnostic.message.substr(0, at)))
        diagnostic.message.erase(0, at + mark.size());
}

void omit_internal_names(std::vector<Diagnostic>& errors, const std::string& source) {
    explain_variable_size(errors);
    const Lines lines(source);
    std::vector<Diagnostic> kept_diagnostics;
    bool follows = false;  // the message is a consequence of an error that is kept
    for (Diagnostic& diagnostic : errors) {
        const auto is_error_in_line = [&](const Diagnostic& other) {
            return other.kind == "error" && other.line == diagnostic.line;
        };
        if (diagnostic.kind == "error")
            follows = has_internal_names(diagnostic.message) && std::ranges::any_of(kept_diagnostics, is_error_in_line);
        const bool is_about_harness =
            diagnostic.message.starts_with("  candidate expects") && !kept_diagnostics.empty() &&
            kept_diagnostics.back().kind == "error";  // the error concerns a function in the harness's headers
        if (follows || is_about_harness) continue;
        keep_advice(diagnostic);
        if (has_internal_names(diagnostic.message)) diagnostic.message = without_internal_names(diagnostic.message);
        explain_launch(diagnostic, lines);
        kept_diagnostics.push_back(diagnostic);
    }
    errors = kept_diagnostics;
}

std::string render(const std::vector<Diagnostic>& diagnostics, const std::string& source, std::size_t max_shown) {
    std::string text;
    for (std::size_t i = 0; i < std::min(max_shown, diagnostics.size()); ++i) {
        const Diagnostic& d = diagnostics[i];
        const std::string column = d.column > 0 ? fmt::format(":{}", d.column) : "";
        text += fmt::format("{}:{}{}: {}: {}\n", d.file, d.line, column, d.kind, d.message);
        const Quote quote = quote_around(source_line(source, d.line), d.column);
        if (quote.text.empty()) continue;
        text += fmt::format("{:5} | {}\n", d.line, quote.text);
        if (d.column > 0) text += fmt::format("      | {}^\n", indent_for(quote.text, quote.column));
    }
    if (diagnostics.size() > max_shown) text += fmt::format("… and {} more\n", diagnostics.size() - max_shown);
    return text;
}

bool may_explain_outputs(const Diagnostic& warning) {
    const std::string& message = warning.message;
    return !message.starts_with("format ") && !contains(message, " for format") && !contains(message, " shadows a ") &&
           !message.starts_with("#pragma unroll");
}

bool matters_if_right(const Diagnostic& warning) {
    return warning.message.ends_with("used uninitialized") || warning.message.starts_with("#pragma unroll");
}

}  // namespace warplab::compilation
