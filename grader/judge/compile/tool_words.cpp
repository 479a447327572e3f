#include "grader/judge/compile/tool_words.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "grader/common/text.h"
#include "grader/judge/compile/remedy.h"
#include "grader/judge/compile/symbols.h"
#include "grader/model/cause.h"

namespace warplab::compilation {
namespace {

constexpr std::size_t max_errors_explained = 100, max_explanation_bytes = 2000;

/// Limit a message's length: it may quote a name, a declaration or a tool's output, each as long as the file.
Failure bounded(Failure failure) {
    failure.message = shorten(std::move(failure.message), max_explanation_bytes);
    return failure;
}

JobOutcome crashed(const std::string& tool, const std::string& how) {
    return suspect({cause::compile_error, fmt::format("{} crashed on this file ({}).", tool, how),
                    "Thousands of nested braces, parentheses or templates, or a very long expression, can do this."});
}

/// Return one line of a tool's output: printable, bounded and without a full stop.
std::string one_line(std::string output) {
    output = shorten(output.substr(0, output.find('\n')), 300);
    output.erase(output.find_last_not_of(". \r") + 1);
    for (char& c : output)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return output;
}

/// Return a space and, in parentheses, the tool's line about memory; "" if it printed none. This line may show that the
/// machine has a lower limit than the judge's.
std::string quote_about_memory(const std::string& output) {
    std::stringstream lines(output);
    for (std::string line; std::getline(lines, line);)
        for (const char* word : {"memory", "bad_alloc", "Killed signal"})
            if (contains(line, word)) return fmt::format(" ({})", one_line(line));
    return "";
}

JobOutcome too_much_memory(const std::string& output) {
    return suspect({cause::out_of_memory,
                    fmt::format("Compiling needed more than {} GB of memory and was stopped{}.",
                                max_compiler_memory_bytes >> 30, quote_about_memory(output)),
                    "Is there a template or a macro that expands without end, or a very large array?"});
}

JobOutcome too_much_written() {
    return failed({cause::compile_error,
                   fmt::format("The compiler's output files exceeded {} MB.", max_written_bytes >> 20),
                   "Is there a large array with initial values in the file?"});
}

/// Return the assembler's message about an asm statement, without its line number, which does not refer to the file; ""
/// if there is none.
std::string assembler_error(const std::string& output) {
    const std::size_t opening = output.find("Assembler messages:");
    if (opening == std::string::npos) return "";
    for (const std::string kind : {": Error: ", ": Fatal error: "})
        if (const std::size_t at = output.find(kind, opening); at != std::string::npos)
            return one_line(output.substr(at + kind.size()));
    return "";
}

/// Return the text after "internal compiler error: ", "" if the compiler did not crash.
std::string compiler_crash(const std::string& output) {
    const std::string opening = "internal compiler error: ";
    const std::size_t at = output.find(opening);
    return at == std::string::npos ? "" : one_line(output.substr(at + opening.size()));
}

/// Return the outcome if the compiler failed without an error about any line.
JobOutcome explain_failure_without_line(const std::string& output) {
    if (const std::string how = compiler_crash(output); !how.empty()) return crashed("The compiler", how);
    const std::string hint =
        "An asm statement, an attribute or a #pragma can cause this; remove it, because the stage does not need it.";
    if (const std::string message = assembler_error(output); !message.empty())
        return suspect(
            {cause::compile_error, fmt::format("The assembler refuses an asm statement: {}.", message), hint});
    if (output.size() >= max_read_bytes)
        return suspect({cause::compile_error,
                        fmt::format("The compiler fails on this file, but the first {} KB of its output, which the "
                                    "judge reads, contain only warnings and notes.",
                                    max_read_bytes >> 10),
                        "Fix the causes of the first warnings, and remove each #pragma that prints a message."});
    return suspect({cause::compile_error,
                    fmt::format("The compiler fails on this file without naming a line: {}.", line_with_error(output)),
                    hint});
}

JobOutcome too_slow(std::string message) {
    return suspect({cause::compile_timeout, std::move(message),
                    "Is there a template, a macro or a constexpr function that expands without end?"});
}

/// Return the linker's first line that contains more than a location.
std::string linker_message(const std::string& output) {
    std::stringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("collect2") || contains(line, ": in function ")) continue;
        const std::size_t at = line.find("student.o");
        if (at != std::string::npos) return one_line(line.replace(at, 9, "object file"));
        // A location in another file belongs to the harness, which was linked with the submission.
        const std::size_t place = line.find(":("), end = line.find("): ");
        const bool has_place = place < end && end != std::string::npos;
        return one_line(has_place ? line.substr(end + 3) : line);
    }
    return "it gave no message";
}

/// Return " in line 12" if the text calls the symbol there; "" if it contains no such call.
std::string where_called(const std::string& symbol, const std::string& text) {
    const int line = line_of_call(text, Symbol{'U', symbol}.function(), Occurrence::last);
    return line > 0 ? fmt::format(" in line {}", line) : "";
}

/// Explain a message about a kernel as a whole, which g++ reports for a line of the runtime's header. Return nothing if
/// the message names no kernel of the file.
std::optional<Failure> explain_kernel(const std::string& message, const std::string& text) {
    constexpr std::string_view begin = "function ‘", quote = "’";
    if (!message.starts_with(begin)) return std::nullopt;
    const std::string name = message.substr(begin.size(), message.find('(') - begin.size());
    const std::size_t end = message.find(quote);
    const int line = name.empty() || end == std::string::npos ? 0 : line_of_call(text, name);
    if (line <= 0) return std::nullopt;
    return Failure{cause::compile_error,
                   fmt::format("Line {}: the kernel {}{}", line, name, message.substr(end + quote.size())),
                   "Write this part of the kernel without GNU extensions of C++."};
}

}  // namespace

JobOutcome failed(Failure failure, std::string log) {
    return {Verdict::failed, bounded(std::move(failure)), std::move(log)};
}
JobOutcome broken(const char* cause, std::string message, std::string hint) {
    return {Verdict::error, bounded({cause, std::move(message), std::move(hint)}), "", false};
}
JobOutcome suspect(Failure failure) { return {Verdict::failed, bounded(std::move(failure)), "", false, true}; }

JobOutcome too_large_program() {
    return failed({cause::compile_error,
                   fmt::format("The compiled program is larger than {} MB.", max_runner_bytes >> 20),
                   "Is there a large array with initial values in the file?"});
}

std::string line_with_error(const std::string& output) {
    const std::size_t at = output.find("error");
    const std::size_t begin = at == std::string::npos ? 0 : output.rfind('\n', at) + 1;  // npos + 1 is 0
    return one_line(output.substr(begin));
}

namespace {
/// Return whether a tool, or a program that it started, may have been killed because of its processor time. In the
/// second case, the tool exits with a failure.
bool exceeded_cpu_limit(const Ended& ended, const Job& job) {
    const bool was_killed = ended.how == End::signaled || (ended.how == End::exited && ended.status != 0);
    return was_killed && ended.cpu_s >= job.cpu_limit_s();
}

bool names_mistake(const Ended& ended, const Job& job) {
    return !select(read_diagnostics(ended.output, job.shown), job.shown, "error").empty();
}
}  // namespace

bool is_out_of_time(const Ended& ended, const Job& job) {
    return ended.how == End::timed_out || ended.how == End::budget_spent || exceeded_cpu_limit(ended, job);
}

std::optional<JobOutcome> explain_end(const Ended& ended, const char* tool, const Job& job) {
    // The file itself may print words about memory, for example in a #pragma message.
    const bool may_print_errors = ended.how == End::exited || ended.how == End::out_of_memory;
    if (may_print_errors && ended.status != 0 && names_mistake(ended, job)) return std::nullopt;
    if (exceeded_cpu_limit(ended, job))
        return too_slow(
            fmt::format("Compiling took more than {} s of processor time and was stopped.", job.cpu_limit_s()));
    switch (ended.how) {
        case End::exited:
            break;
        case End::flooded:
            return suspect(
                {cause::compile_error,
                 fmt::format("{} printed more than {} MB about this file and was stopped.", tool,
                             max_printed_bytes >> 20),
                 "Does a macro or a template repeat the same error or warning? Compile a smaller part of the file."});
        case End::not_started:
            return broken(job.level == SandboxLevel::none ? cause::internal : cause::sandbox,
                          fmt::format("{} could not be started: {}", tool, ended.start_error), "");
        case End::timed_out:
            return too_slow(fmt::format("Compiling took longer than {} s and was stopped.", job.limit_s));
        case End::budget_spent:
            return too_slow("The submission has used up its total time for this stage.");
        case End::out_of_memory:
            return too_much_memory(ended.output);
        case End::signaled:
            if (ended.status == SIGXFSZ) return too_much_written();
            return crashed(tool, fmt::format("signal {}", ended.status));
    }
    if (contains(ended.output, "Killed signal terminated program")) return too_much_memory(ended.output);
    if (contains(ended.output, "File size limit exceeded signal terminated program")) return too_much_written();
    return std::nullopt;
}

JobOutcome explain_errors(const std::string& output, const Job& job, const Contract& contract, const std::string& text,
                          const std::string& rewritten) {
    const std::vector<Diagnostic> all = read_diagnostics(output, job.shown);
    std::vector<Diagnostic> errors = select(all, job.shown, "error", true);
    const bool has_more = errors.size() > max_errors_explained;
    if (has_more) errors.resize(max_errors_explained);
    if (!rewritten.empty()) {
        move_columns(errors, text, rewritten);
        omit_internal_names(errors, text);
    }
    lead_with_open_macro(errors);
    lead_with_open_brace(errors);
    lead_with_count_of_arguments(errors);
    const auto is_error = [](const Diagnostic& d) { return d.kind == "error"; };
    const auto count = std::ranges::count_if(errors, is_error);
    const std::string log = render(errors, text, max_errors_shown);
    for (const auto& error : errors)
        if (auto breach = find_breach(error.message, source_line(text, error.line), error.line, contract))
            return failed(*breach, log);
    if (errors.empty()) {
        // The harness's headers are correct by themselves: the harness was compiled with them.
        const auto header_error = std::ranges::find_if(all, is_error);
        if (header_error == all.end()) return explain_failure_without_line(output);
        if (const auto kernel = explain_kernel(header_error->message, text)) return failed(*kernel);
        const fs::path header = header_error->file;
        const bool is_backend_header = header.parent_path().filename() == "warplab_cpu";  // no student knows its name
        return failed(
            {cause::compile_error,
             fmt::format("{} does not compile after the text that precedes it in this file: {}",
                         is_backend_header ? "cuda_runtime.h" : header.filename().string(), header_error->message),
             "Does a #define change a word that the header uses? Put the #include lines first."});
    }
    const Diagnostic& first = errors.front();
    const std::string error_count =
        count > 1 ? fmt::format(" ({}{} errors; this is the first)", has_more ? "more than " : "", count) : "";
    return failed({cause::compile_error, fmt::format("Line {}: {}{}", first.line, first.message, error_count),
                   remedy_for(first, all, text)},
                  log);
}

JobOutcome explain_linker(const std::string& output, const std::string& text) {
    const auto quoted = [&](const char* before) {
        const std::size_t at = output.find(before);
        if (at == std::string::npos) return std::string();
        const std::size_t begin = at + std::string(before).size();
        return output.substr(begin, output.find_first_of("'\n", begin) - begin);
    };
    if (const std::string name = quoted("multiple definition of `"); !name.empty())
        return failed({cause::reserved_symbol,
                       fmt::format("The file defines {}, a name that belongs to CUDA or the grader.", name),
                       "Give it another name."});
    if (const std::string name = quoted("undefined reference to `"); !name.empty())
        return failed({cause::compile_error,
                       fmt::format("{} is used{} but defined nowhere.", name, where_called(name, text)),
                       "Is its body missing, or is it from a library that the grader does not link?"});
    if (contains(output, "relocation truncated"))
        return failed({cause::compile_error, "The program's variables together take more than 2 GB.",
                       "Allocate large arrays with cudaMalloc, or on the host with new."});
    return suspect({cause::compile_error, fmt::format("The linker refuses this file: {}.", linker_message(output)),
                    "An asm statement or an attribute that names a section or a symbol can do this."});
}

}  // namespace warplab::compilation
