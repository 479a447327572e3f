#include "grader/cpu/rewriter/rewriter.h"

#include <algorithm>

#include "grader/cpu/rewriter/compile_limits.h"
#include "grader/cpu/rewriter/digraphs.h"
#include "grader/cpu/rewriter/passes.h"
#include "grader/cpu/rewriter/splices.h"
#include "grader/cpu/rewriter/split.h"

namespace warplab::rewriter {
namespace {

constexpr std::size_t max_source_bytes = 1 << 20;

std::string normalise(std::string_view source) {
    if (source.substr(0, 3) == "\xEF\xBB\xBF") source.remove_prefix(3);
    std::string text;
    text.reserve(source.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
        const bool windows_end = source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n';
        if (!windows_end) text += source[i];
    }
    text = join_split_tokens(text);
    replace_digraphs(text);
    return text;
}

/// Return a problem if the bytes cannot be source text; otherwise nothing.
std::vector<Problem> check_text(std::string_view source) {
    if (source.size() > max_source_bytes) return {{0, "the file is larger than 1 MB; hand in source code only"}};
    const auto start = source.substr(0, 2);
    if (start == "\xFF\xFE" || start == "\xFE\xFF") return {{0, "the file is UTF-16; save it as UTF-8"}};
    if (const auto zero = source.find('\0'); zero != std::string_view::npos) {
        return {{zero, "the file is not text (it has a zero byte here); save it as UTF-8"}};
    }
    return {};
}

void check_compile_limits(const std::vector<Token>& tokens, std::vector<Problem>& problems) {
    CompileLimits limits;
    for (const Token& token : tokens)
        if (limits.exceeds(token)) problems.push_back({token.begin, limits.message()});
}

/// Return the places where the program exceeds what g++ can compile in a short time.
std::vector<Problem> find_exceeded_limits(const Unit& unit) {
    std::vector<Problem> problems;
    check_compile_limits(unit.code.tokens, problems);
    for (const Macro& macro : unit.macros) check_compile_limits(macro.body.tokens, problems);
    return problems;
}

std::string quote(std::string_view name) {
    std::string quoted = "\"";
    for (const char c : name) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c == '\n' ? ' ' : c;
    }
    return quoted + '"';
}

void rewrite_stream(const Stream& stream, Context& context) {
    rewrite_kernels(stream, context);
    rewrite_launches(stream, context);
    rewrite_launch_calls(stream, context);
    capture_shared(stream, rewrite_shared(stream, context), context);
    rewrite_asm(stream, context);
    rewrite_guarded_updates(stream, context);
    register_symbols(stream, context);
    rewrite_noinline(stream, context);
}

/// Return the problems in the order of their places, without those in code that g++ does not compile.
std::vector<Problem> live_problems(Context& context, std::vector<Problem>& all) {
    std::ranges::stable_sort(all, [](const Problem& a, const Problem& b) { return a.at < b.at; });
    std::ranges::sort(context.dead);
    std::vector<Problem> problems;
    std::size_t dead_until = 0;
    auto range = context.dead.begin();
    for (auto& problem : all) {
        for (; range != context.dead.end() && range->first <= problem.at; ++range)
            dead_until = std::max(dead_until, range->second);
        if (problem.at >= dead_until) problems.push_back(std::move(problem));
    }
    return problems;
}

std::string pad_to(std::string_view line, std::size_t column) {
    std::string pad;
    for (const char c : line.substr(0, column)) {
        const bool continues_character = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
        if (!continues_character) pad += c == '\t' ? '\t' : ' ';
    }
    return pad;
}

std::string without_control_characters(std::string_view line) {
    std::string text(line);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 127; }, '?');
    return text;
}

/// Rename #pragma GCC target, so that g++ ignores it, as nvcc does for device code. Otherwise, g++ could not inline a
/// kernel into the runtime's functions, whose target differs.
void ignore_targets(Context& context) {
    for (const Token& token : context.unit.target_pragmas) context.edits.replace(token, "warplab_cpu");
}

/// Warn about a #pragma unroll without a loop. Let g++ obey #pragma unroll 1; it ignores the others.
void read_unroll_pragmas(Context& context) {
    for (const UnrollPragma& pragma : context.unit.unroll_pragmas) {
        const auto next = context.unit.code[pragma.next];
        const bool is_loop = next == "for" || next == "while" || next == "do";
        if (is_loop && pragma.forbids) context.edits.replace(pragma.word, "GCC unroll");
        if (!is_loop && !context.unit.macro_names.count(next))
            context.warn(pragma.word, "#pragma unroll has no effect here: it must be directly before a loop");
    }
}

class Lines {
  public:
    explicit Lines(std::string_view text) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\n') begins_.push_back(i + 1);
        }
    }
    int line(std::size_t at) const {
        return static_cast<int>(std::upper_bound(begins_.begin(), begins_.end(), at) - begins_.begin());
    }
    int column(std::size_t at) const { return static_cast<int>(at - begins_[line(at) - 1]) + 1; }

  private:
    std::vector<std::size_t> begins_ = {0};
};

std::string show(const std::vector<Problem>& problems, const char* kind, const Rewritten& rewritten,
                 std::string_view shown_name) {
    constexpr std::size_t max_problems = 20, max_columns = 200;
    const std::string_view source = rewritten.source;
    std::string shown;
    const Lines lines(source);
    for (std::size_t i = 0; i < std::min(problems.size(), max_problems); ++i) {
        const auto& problem = problems[i];
        const auto line_number = lines.line(problem.at);
        const std::size_t column = lines.column(problem.at) - 1, begin = problem.at - column;
        shown += std::string(shown_name) + ":" + std::to_string(line_number) + ":" + std::to_string(column + 1) + ": " +
                 kind + ": " + problem.message + "\n";
        const auto line = source.substr(begin, std::min(source.find('\n', begin) - begin, max_columns));
        if (column >= line.size()) continue;
        const auto number = std::to_string(line_number);
        shown += std::string(number.size() < 5 ? 5 - number.size() : 0, ' ') + number + " | " +
                 without_control_characters(line) + "\n      | " + pad_to(line, column) + "^\n";
    }
    return shown;
}

}  // namespace

Rewritten rewrite(std::string_view source, std::string_view shown_name, Barriers barriers) {
    Rewritten result;
    result.problems = check_text(source);
    if (!result.problems.empty()) {
        result.source = source.substr(0, max_source_bytes);
        return result;
    }
    result.source = normalise(source);
    const Unit unit = read_unit(result.source);
    result.problems = find_exceeded_limits(unit);
    for (const Token& directive : unit.unclear_directives)
        result.problems.push_back({directive.begin,
                                   "compilers disagree about where header names, comments and strings end in this "
                                   "line; write it more simply"});
    if (!result.problems.empty()) return result;
    const Qualifiers qualifiers(unit);
    Context context{unit, qualifiers, {}, {}, {}, {}};
    choose_architecture(context);
    ignore_targets(context);
    refuse_unsupported(context);
    refuse_removed(context);
    refuse_host_code(context);
    refuse_wrong_callees(context);
    warn_of_thread_arrays(context);
    warn_of_empty_bodies(context);
    warn_of_swapped_arguments(context);
    warn_of_remainders(context);
    read_unroll_pragmas(context);
    if (barriers == Barriers::split) context.splits = find_splits(context, result.source);
    rewrite_stream(unit.code, context);
    rewrite_configured_launches(context);
    for (const auto& [kernel, edits] : context.splits) context.edits.add(edits);
    note_unlisted_symbols(unit, context);
    for (const auto& macro : unit.macros) {
        if (!qualifiers.is_alias(macro)) rewrite_stream(macro.body, context);
    }
    result.text = "#line 1 " + quote(shown_name) + "\n" + context.edits.apply(result.source);
    result.problems = live_problems(context, context.problems);
    result.warnings = live_problems(context, context.warnings);
    return result;
}

std::string show_problems(const Rewritten& rewritten, std::string_view shown_name) {
    const bool fine_on_gpu = std::ranges::any_of(rewritten.problems, &Problem::fine_on_gpu);
    return show(rewritten.problems, "error", rewritten, shown_name) +
           (fine_on_gpu ? "note: put code that only a GPU can run between #ifndef __WARPLAB_CPU__ and #endif\n" : "");
}

std::string show_warnings(const Rewritten& rewritten, std::string_view shown_name) {
    return show(rewritten.warnings, "warning", rewritten, shown_name);
}

}  // namespace warplab::rewriter
