#include "grader/judge/compile/compile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "grader/common/descriptor.h"
#include "grader/common/hash.h"
#include "grader/common/json.h"
#include "grader/common/text.h"
#include "grader/io/rewriter_exit.h"
#include "grader/judge/compile/cache.h"
#include "grader/judge/compile/diagnostics.h"
#include "grader/judge/compile/hand_in.h"
#include "grader/judge/compile/harness.h"
#include "grader/judge/compile/object_file.h"
#include "grader/judge/compile/symbols.h"
#include "grader/judge/compile/toolchain.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;
using namespace compilation;
using Words = std::vector<std::string>;

constexpr std::size_t errors_shown = 10, errors_explained = 100, warnings_shown = 5, most_message_bytes = 2000;
constexpr std::uint64_t compiler_memory_bytes = 4ull << 30;
constexpr std::uint64_t written_bytes = 256ull << 20;  // by a tool, in one file
constexpr std::uint64_t runner_bytes = 64ull << 20;    // the cache keeps runners
constexpr std::uint64_t flood_bytes = 16ull << 20;     // printed by one tool about one file
constexpr std::size_t symbol_list_bytes = 8ull << 20;  // printed by nm

/// Far longer than any stage takes: a correct solution must not fail because the machine is crowded.
double usual_limit_s(Backend backend) { return backend == Backend::cpu ? 30 : 60; }

/// A request without references into the judge, so that a thread may keep it.
struct Job {
    fs::path root, build, source, reference;
    std::string lab, shown;  // the file's name as the student sees it
    Backend backend;
    Words defines;
    SandboxLevel level;
    bool for_tools, fast, by_fibers;
    Words libraries;
    double limit_s;
    std::shared_ptr<Budget> budget;

    explicit Job(const CompileRequest& request)
        : root(fs::absolute(request.lab.root)),
          build(fs::absolute(request.build)),
          source(request.source),
          reference(reference_source(request.lab, request.stage)),
          lab(request.lab.name),
          shown(request.source.string()),
          backend(request.backend),
          level(request.level),
          for_tools(request.for_tools),
          fast(request.fast),
          by_fibers(request.by_fibers),
          libraries(request.libraries),
          limit_s(request.limit_s > 0 ? request.limit_s : usual_limit_s(request.backend)),
          budget(request.budget) {
        for (const auto& define : request.defines) defines.push_back(define.starts_with("-D") ? define : "-D" + define);
    }
    fs::path cache() const { return cache_folder(build, level); }
    Links links() const { return level == SandboxLevel::none ? Links::followed : Links::refused; }

    /// Return the same compilation of the stage's reference.
    Job of_reference() const {
        Job job = *this;
        job.source = reference;
        job.shown = reference.string();
        job.defines.clear();
        job.budget = nullptr;
        job.limit_s = std::max(limit_s, usual_limit_s(backend));
        return job;
    }
};

/// On the CPU backend the same program is checked and runs under the sanitizer, so that code cannot detect the
/// sanitizer by how it was compiled.
Flags hook_flags(const Job& job) { return job.fast ? fast_cpu_flags() : check_mode_flags(); }

/// The outcome of one step, or of all steps.
struct Outcome {
    Verdict verdict = Verdict::passed;
    std::optional<Failure> failure;
    std::string log;
    bool keep = true;      // depends only on the file, so it can be cached
    bool suspect = false;  // a tool failed without naming a mistake in the file: see confirm()
    bool split = false;    // Compiled::split
    bool refused = false;  // Compiled::refused

    bool passed() const { return verdict == Verdict::passed; }
};

/// Limits a message's length: it may quote a name, a declaration or a tool's output, each as long as the file.
Failure bounded(Failure failure) {
    failure.message = shorten(std::move(failure.message), most_message_bytes);
    return failure;
}

Outcome failed(Failure failure, std::string log = "") {
    return {Verdict::failed, bounded(std::move(failure)), std::move(log)};
}
Outcome broken(const char* cause, std::string message, std::string hint) {
    return {Verdict::error, bounded({cause, std::move(message), std::move(hint), {}}), "", false};
}
Outcome suspect(Failure failure) { return {Verdict::failed, bounded(std::move(failure)), "", false, true}; }

Outcome too_much_memory() {
    return suspect(
        {cause::out_of_memory,
         fmt::format("Compiling needed more than {} GB of memory and was ended.", compiler_memory_bytes >> 30),
         "Is there a template, a macro or a large array that expands without end?",
         {}});
}

Outcome crashed(const std::string& tool, const std::string& how) {
    return suspect({cause::compile_error,
                    fmt::format("{} crashed on this file ({}).", tool, how),
                    "Thousands of nested braces, parentheses or templates, or a very long expression, can do this.",
                    {}});
}

/// Return one line of a tool's output: printable, bounded and without a full stop.
std::string one_line(std::string words) {
    words = shorten(words.substr(0, words.find('\n')), 300);
    words.erase(words.find_last_not_of(". \r") + 1);
    for (char& c : words)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return words;
}

/// Return the first line with "error", else the first line.
std::string line_with_error(const std::string& words) {
    const std::size_t at = words.find("error");
    const std::size_t begin = at == std::string::npos ? 0 : words.rfind('\n', at) + 1;  // npos + 1 is 0
    return one_line(words.substr(begin));
}

Outcome too_much_written() {
    return failed({cause::compile_error,
                   fmt::format("What the compiler wrote grew beyond {} MB.", written_bytes >> 20),
                   "Is there a large array with contents in the file?",
                   {}});
}

Outcome too_large_program() {
    return failed({cause::compile_error,
                   fmt::format("The compiled program is larger than {} MB.", runner_bytes >> 20),
                   "Is there a large array with contents in the file?",
                   {}});
}

/// Return what to try, derived from the compiler's message.
std::string hint_for(const std::string& message) {
    if (contains(message, "No such file or directory") || contains(message, "Permission denied") ||
        contains(message, "cannot open source file"))
        return "A hand-in is one file. There are lab.h, cuda_runtime.h and the headers of C and C++.";
    if (contains(message, "stray ‘\\") || contains(message, "extended character"))
        return "A character that is none of C++: a typographic quote or dash, or a file that is not saved as UTF-8.";
    if (contains(message, "at end of input")) return "A brace or a parenthesis is opened and never closed.";
    if (contains(message, "expected ‘;’") || contains(message, "or ‘;’ before") ||
        contains(message, "expected a \";\""))
        return "Often the line before lacks its semicolon.";
    if (contains(message, "was not declared in this scope") || contains(message, "is undefined"))
        return "Is it spelled as in its declaration, and declared above this line?";
    if (contains(message, "conflicting declaration") || contains(message, "redeclaration of"))
        return "One name has two declarations: make them alike, or give one another name.";
    if (contains(message, "too few arguments") || contains(message, "too many arguments") ||
        contains(message, "no matching function for call") || contains(message, "cannot convert") ||
        contains(message, "invalid conversion") || contains(message, "is incompatible with parameter"))
        return "Compare the call with the function's parameters, one by one.";
    return "";
}

/// Return the assembler's message about an asm statement, "" if there is none. Its line numbers do not refer to the
/// file.
std::string assembler_error(const std::string& words) {
    const std::size_t opening = words.find("Assembler messages:");
    if (opening == std::string::npos) return "";
    for (const std::string kind : {": Error: ", ": Fatal error: "})
        if (const std::size_t at = words.find(kind, opening); at != std::string::npos)
            return one_line(words.substr(at + kind.size()));
    return "";
}

/// Return the text after "internal compiler error: ", "" if the compiler did not crash.
std::string compiler_crash(const std::string& words) {
    const std::string opening = "internal compiler error: ";
    const std::size_t at = words.find(opening);
    return at == std::string::npos ? "" : one_line(words.substr(at + opening.size()));
}

/// Return the outcome if the compiler failed without an error about any line.
Outcome explain_failure_without_line(const std::string& words) {
    if (const std::string how = compiler_crash(words); !how.empty()) return crashed("The compiler", how);
    const std::string hint =
        "An asm statement, an attribute or a #pragma can cause this; remove it, because the stage does not need it.";
    if (const std::string said = assembler_error(words); !said.empty())
        return suspect(
            {cause::compile_error, fmt::format("The assembler refuses an asm statement: {}.", said), hint, {}});
    return suspect({cause::compile_error,
                    fmt::format("The compiler fails on this file and names no line: {}.", line_with_error(words)),
                    hint,
                    {}});
}

/// Explain why the compiler rejected the text. `rewritten` is the text that it read, if that was not the file itself.
Outcome explain_errors(const std::string& words, const Job& job, const Contract& contract, const std::string& text,
                       const std::string& rewritten) {
    const std::vector<Diagnostic> all = read_diagnostics(words, job.shown);
    std::vector<Diagnostic> errors = select(all, job.shown, "error", true);
    const bool has_more = errors.size() > errors_explained;
    if (has_more) errors.resize(errors_explained);
    if (!rewritten.empty()) {
        move_columns(errors, text, rewritten);
        leave_out_our_names(errors, text);
    }
    lead_with_open_brace(errors);
    const auto is_error = [](const Diagnostic& d) { return d.kind == "error"; };
    const auto count = std::count_if(errors.begin(), errors.end(), is_error);
    const std::string log = render(errors, text, errors_shown);
    for (const auto& error : errors)
        if (auto breach = find_breach(error.message, source_line(text, error.line), error.line, contract))
            return failed(*breach, log);
    if (errors.empty()) {
        // The harness's headers are correct by themselves: the harness was compiled with them.
        const auto elsewhere = std::find_if(all.begin(), all.end(), is_error);
        if (elsewhere == all.end()) return explain_failure_without_line(words);
        return failed({cause::compile_error,
                       fmt::format("{} does not compile after what this file says before it: {}",
                                   fs::path(elsewhere->file).filename().string(), elsewhere->message),
                       "Does a #define change a word that the header uses? Put the #include lines first.",
                       {}});
    }
    const Diagnostic& first = errors.front();
    const std::string more =
        count > 1 ? fmt::format(" ({}{} errors; this is the first)", has_more ? "more than " : "", count) : "";
    return failed({cause::compile_error,
                   fmt::format("Line {}: {}{}", first.line, first.message, more),
                   hint_for(first.message),
                   {}},
                  log);
}

/// Open a file that the sandboxed compiler wrote; does not follow a link or open a device in its place.
Descriptor open_left(const fs::path& path, struct stat& file) {
    Descriptor left(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (left && (fstat(left.get(), &file) != 0 || !S_ISREG(file.st_mode) ||
                 static_cast<std::uint64_t>(file.st_size) > written_bytes))
        left.reset();
    return left;
}

void copy_out(const fs::path& from, const fs::path& to) {
    struct stat file {};
    const Descriptor source = open_left(from, file);
    const Descriptor target(source ? open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755) : -1);
    off_t copied = 0;
    while (target && copied < file.st_size &&
           sendfile(target.get(), source.get(), &copied, static_cast<std::size_t>(file.st_size - copied)) > 0) {
    }
    if (!target || copied != file.st_size || fchmod(target.get(), 0755) != 0)
        throw std::runtime_error("the compiled program cannot be copied to " + to.string());
}

std::string read_left(const fs::path& path) {
    struct stat file {};
    const Descriptor source = open_left(path, file);
    if (!source) return "";
    std::string text(static_cast<std::size_t>(file.st_size), '\0');
    const ssize_t got = read(source.get(), text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
}

class Compiler {
  public:
    Compiler(const Job& job, const Harness& harness, const std::string& text)
        : job_(job),
          harness_(harness),
          text_(text),
          work_(job.cache(),
                job.level == SandboxLevel::none ? WorkFolder::Writers::judge : WorkFolder::Writers::everyone) {
        policy_.level = job.level;
        policy_.readable = harness.folders;
        policy_.writable = {work_.path()};
        policy_.limits.wall_s = job.limit_s;
        policy_.budget = job.budget;
        policy_.limits.memory_bytes = compiler_memory_bytes;
        policy_.limits.file_bytes = written_bytes;
        policy_.limits.output_bytes = 256 << 10;
        policy_.limits.flood_bytes = flood_bytes;
    }

    /// Make the runner; `runner` is then in the work folder.
    Outcome make_runner() {
        Outcome outcome = make_object();
        if (!outcome.passed()) {
            outcome.refused = !ran_out(outcome);
            return outcome;
        }
        if (Outcome checked = check_contract(); !checked.passed()) return checked;
        if (job_.backend == Backend::cpu)
            if (Outcome hidden = hide_symbols(); !hidden.passed()) return hidden;
        if (Outcome linked = link(); !linked.passed()) return linked;
        std::error_code error;
        if (const auto bytes = fs::file_size(runner(), error); !error && bytes > runner_bytes)
            return too_large_program();
        return outcome;
    }

    /// Compile the file with nvcc and check its functions and their signatures. The object is not linked.
    Outcome make_checked_object() {
        Outcome outcome = make_object();
        if (!outcome.passed()) return outcome;
        const Outcome checked = check_contract();
        return checked.passed() ? outcome : checked;
    }

    Outcome make_object() { return job_.backend == Backend::cpu ? make_cpu_object() : make_cuda_object(); }

    /// Return the compiler's messages; nothing if it rejects the file.
    std::optional<std::string> report_resources(const std::string& architecture) {
        write_student_file(text_);
        Words command = {find_nvcc().string()};
        add(command, resource_report_flags(architecture));
        add(command, job_.defines);
        add(command, harness_.includes);
        add(command, {"student.cu", "-o", "student.cubin"});
        const Ended ended = run(command, policy_);
        if (ended.how != End::exited || ended.status != 0) return std::nullopt;
        return ended.output;
    }

    fs::path runner() const { return in_work("runner"); }

  private:
    fs::path in_work(const char* name) const { return work_.path() / name; }

    /// Return whether a tool reached a limit; if so, the result says nothing about the text.
    static bool ran_out(const Outcome& outcome) {
        return outcome.verdict == Verdict::error || outcome.failure->cause == cause::compile_timeout ||
               outcome.failure->cause == cause::out_of_memory;
    }

    Ended run(const Words& command, const Policy& policy) const {
        return run_to_end(command, policy, {"TMPDIR=" + work_.path().string()}, work_.path());
    }

    void write_student_file(const std::string& text) const {
        std::ofstream(in_work("student.cu"), std::ios::binary) << text;
        chmod(in_work("student.cu").c_str(), 0644);
    }

    bool names_mistake(const Ended& ended) const {
        return !select(read_diagnostics(ended.output, job_.shown), job_.shown, "error").empty();
    }

    /// Return the failure of a step that did not end by itself; nothing if it did. Words about memory may be the
    /// file's own, as in a #pragma message: a mistake that the tool names in the file comes first.
    std::optional<Outcome> explain_end(const Ended& ended, const char* tool) const {
        const bool may_be_words = ended.how == End::exited || ended.how == End::out_of_memory;
        if (may_be_words && ended.status != 0 && names_mistake(ended)) return std::nullopt;
        switch (ended.how) {
            case End::exited:
                break;
            case End::flooded:
                return suspect(
                    {cause::compile_error,
                     fmt::format("{} printed more than {} MB about this file and was ended.", tool, flood_bytes >> 20),
                     "Does a macro or a template repeat the same error or warning? Compile a smaller part of the file.",
                     {}});
            case End::not_started:
                return broken(job_.level == SandboxLevel::none ? cause::internal : cause::sandbox,
                              fmt::format("{} could not be started: {}", tool, ended.why), "");
            case End::timed_out:
                return suspect({cause::compile_timeout,
                                fmt::format("Compiling took longer than {} s and was ended.", job_.limit_s),
                                "Is there a template, a macro or a constexpr function that expands without end?",
                                {}});
            case End::budget_spent:
                return suspect({cause::compile_timeout,
                                "The submission has used up its total time for this stage.",
                                "Is there a template, a macro or a constexpr function that expands without end?",
                                {}});
            case End::out_of_memory:
                return too_much_memory();
            case End::signaled:
                if (ended.status == SIGXFSZ) return too_much_written();
                return crashed(tool, fmt::format("signal {}", ended.status));
        }
        if (contains(ended.output, "Killed signal terminated program")) return too_much_memory();
        if (contains(ended.output, "File size limit exceeded signal terminated program")) return too_much_written();
        return std::nullopt;
    }

    /// Keep warnings about the student's file in the log.
    Outcome judge_compiler(const Ended& ended) const {
        if (auto end = explain_end(ended, "The compiler")) return *end;
        if (ended.status != 0) {
            const std::string rewritten = job_.backend == Backend::cpu ? read_left(in_work("student.cpp")) : "";
            return explain_errors(without_our_paths(ended.output), job_, harness_.contract, text_, rewritten);
        }
        Outcome outcome;
        outcome.log =
            render(select(read_diagnostics(ended.output, job_.shown), job_.shown, "warning"), text_, warnings_shown);
        return outcome;
    }

    /// Replace the long names of paths in the cache, such as by "labs/vector_add/lab.h".
    std::string without_our_paths(std::string words) const {
        for (const auto& folder : harness_.folders) {
            const std::string path = (folder / "include").string() + "/";
            for (std::size_t at = words.find(path); at != std::string::npos; at = words.find(path, at))
                words.erase(at, path.size());
        }
        return words;
    }

    /// Preprocesses the file, scans the result, and compiles exactly that text.
    Outcome make_cpu_object() {
        write_student_file(text_);
        if (job_.fast && !job_.by_fibers)
            if (const auto split = make_split_object()) return *split;
        if (Outcome done = rewriter({"student.cu", "student.cpp"}); !done.passed()) return done;
        const Words include = {"-include", "cuda_runtime.h"};
        const Ended expanded = compile_cpu(include, {"-E", "-fpch-preprocess", "student.cpp", "-o", "student.ii"});
        if (auto end = explain_end(expanded, "The compiler")) return *end;
        if (expanded.status == 0)
            if (Outcome done = rewriter({"--scan", "student.ii"}); !done.passed()) return done;
        const Ended compiled = expanded.status == 0
                                   ? compile_cpu({}, {"-fpreprocessed", "-c", "student.ii", "-o", "student.o"})
                                   : expanded;
        if (compiled.how != End::exited || (compiled.status == 0 && compiled.output.empty()))
            return judge_compiler(compiled);
        // g++ reports columns only for the text before macro expansion.
        const Ended explained = compile_cpu(include, {"-c", "student.cpp", "-o", "explained.o"});
        return judge_compiler((explained.status == 0) == (compiled.status == 0) ? explained : compiled);
    }

    /// Return the object of a program whose kernels are split at their barriers; nothing if no kernel can be split, or
    /// if g++ refuses a split kernel. Its messages are about the text without splits.
    std::optional<Outcome> make_split_object() {
        const Words include = {"-include", "cuda_runtime.h"};
        if (!rewriter({"--split", "student.cu", "student.cpp"}).passed()) return std::nullopt;
        if (!contains(read_left(in_work("student.cpp")), "WARPLAB_CPU_SPLIT_KERNEL(")) return std::nullopt;
        Ended compiled = compile_cpu(include, {"-E", "-fpch-preprocess", "student.cpp", "-o", "student.ii"});
        if (!succeeded(compiled) || !rewriter({"--scan", "student.ii"}).passed()) return std::nullopt;
        compiled = compile_cpu(split_cpu_flags(), {"-fpreprocessed", "-c", "student.ii", "-o", "student.o"});
        if (!succeeded(compiled)) return std::nullopt;
        Outcome outcome;
        if (!compiled.output.empty()) {
            if (!rewriter({"student.cu", "student.cpp"}).passed()) return std::nullopt;
            compiled = compile_cpu(include, {"-c", "student.cpp", "-o", "explained.o"});
            if (!succeeded(compiled)) return std::nullopt;
            outcome = judge_compiler(compiled);
        }
        outcome.split = true;
        return outcome;
    }

    static bool succeeded(const Ended& ended) { return ended.how == End::exited && ended.status == 0; }

    Ended compile_cpu(const Words& before, const Words& what) const {
        Words command = {find_cxx().string()};
        add(command, student_cpu_flags());
        add(command, hook_flags(job_));
        add(command, job_.defines);
        add(command, harness_.includes);
        add(command, before);
        add(command, what);
        return run(command, policy_);
    }

    Outcome rewriter(const Words& arguments) {
        Words command = {harness_.rewriter.string(), "--name", job_.shown};
        add(command, arguments);
        const Ended ended = run(command, policy_);
        if (auto end = explain_end(ended, "The CPU backend's rewriter")) return *end;
        if (ended.status == 0) return {};
        const auto refusals = select(read_diagnostics(ended.output, job_.shown), job_.shown, "error");
        if (refusals.empty())
            return suspect({cause::compile_error,
                            fmt::format("The CPU backend's rewriter cannot read this file: {}.",
                                        line_with_error(without_our_paths(ended.output))),
                            "",
                            {}});
        const Diagnostic& first = refusals.front();
        const bool fine_on_gpu = ended.status == static_cast<int>(RewriterExit::lacks_feature);
        return failed(
            {fine_on_gpu ? cause::refused_feature : cause::compile_error,
             fmt::format("Line {}: {}", first.line, first.message),
             fine_on_gpu ? "On a GPU it may compile (BACKEND=cuda). You can also solve the stage without this feature."
                         : "",
             {}},
            render(refusals, text_, errors_shown));
    }

    Outcome make_cuda_object() {
        std::string name;
        for (char c : job_.shown) name += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
        write_student_file("#line 1 \"" + name + "\"\n" + text_);
        Words command = {find_nvcc().string()};
        add(command, student_cuda_flags(job_.for_tools));
        add(command, job_.defines);
        add(command, harness_.includes);
        add(command, {"-c", "student.cu", "-o", "student.o"});
        Policy policy = policy_;
        policy.limits.memory_bytes *= 2;
        return judge_compiler(run(command, policy));
    }

    Outcome check_contract() const {
        Policy policy = policy_;
        policy.limits.output_bytes = symbol_list_bytes;
        const Ended ended = run({"nm", "-C", "student.o"}, policy);
        if (auto end = explain_end(ended, "nm, which lists the file's functions,")) return *end;
        std::optional<Failure> breach;
        const bool is_object = visit_section_names(read_left(in_work("student.o")), [&](std::string_view name) {
            breach = find_section_breach(name);
            return !breach;
        });
        if (ended.status != 0 || !is_object)
            return suspect({cause::compile_error,
                            "This file compiles to an object file that the linker's tools cannot read.",
                            "Remove asm statements and attributes that name sections or symbols.",
                            {}});
        if (ended.output_bytes > ended.output.size())
            return failed(
                {cause::compile_error,
                 fmt::format("The list of this file's functions and variables exceeds {} MB.", symbol_list_bytes >> 20),
                 "Does a macro or a template define them without end?",
                 {}});
        if (!breach) breach = find_breach(read_symbols(ended.output), harness_.contract, text_);
        return breach ? failed(*breach) : Outcome{};
    }

    /// Hides every symbol of the file except the contract's functions from other objects and libraries, so that the
    /// file cannot replace a function that the grader calls.
    Outcome hide_symbols() const {
        // The linker keeps one copy of a group that several objects define: after this, it never picks the file's copy.
        const Words dissolve_groups = {find_cxx().string(), "-r", "-nostdlib", "-Wl,--force-group-allocation",
                                       "student.o",         "-o", "grouped.o"};
        Words hide = {"objcopy"};
        for (const std::string& name : harness_.contract.offered) hide.push_back("--keep-global-symbol=" + name);
        add(hide, {"grouped.o", "offered.o"});
        for (const Words& command : {dissolve_groups, hide}) {
            const Ended ended = run(command, policy_);
            if (auto end = explain_end(ended, "The tool that hides the file's functions")) return *end;
            if (ended.status != 0)
                return suspect({cause::compile_error, "The object file cannot be read: " + ended.output, "", {}});
        }
        return Outcome{};
    }

    /// Links the harness first: it takes the judge's orders before any code of the submission runs.
    Outcome link() const {
        Words command = {find_cxx().string(), "-o", "runner"};
        for (const auto& part : harness_.link) command.push_back(part.string());
        command.push_back(job_.backend == Backend::cpu ? "offered.o" : "student.o");
        add(command, link_flags(job_.backend));
        add(command, library_flags(job_.libraries));
        Policy policy = policy_;
        if (job_.backend == Backend::cuda) policy.readable.push_back(cuda_library());
        if (job_.backend == Backend::cpu && linked_by_gold(command, policy)) return Outcome{};
        const Ended ended = run(command, policy);
        if (auto end = explain_end(ended, "The linker")) return *end;
        return ended.status == 0 ? Outcome{} : explain_linker(ended.output);
    }

    /// Link with gold, which takes a third of the time. If gold is missing or fails, the default linker is used.
    bool linked_by_gold(Words command, const Policy& policy) const {
        command.push_back("-fuse-ld=gold");
        const Ended ended = run(command, policy);
        return ended.how == End::exited && ended.status == 0;
    }

    /// Return the linker's first line that contains more than a location.
    std::string linker_message(const std::string& output) const {
        std::stringstream lines(without_our_paths(output));
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("collect2") || contains(line, ": in function ")) continue;
            const std::size_t at = line.find("student.o");
            return one_line(at == std::string::npos ? line : line.replace(at, 9, "object file"));
        }
        return "it gave no message";
    }

    Outcome explain_linker(const std::string& words) const {
        const auto quoted = [&](const char* before) {
            const std::size_t at = words.find(before);
            if (at == std::string::npos) return std::string();
            const std::size_t begin = at + std::string(before).size();
            return words.substr(begin, words.find_first_of("'\n", begin) - begin);
        };
        if (const std::string name = quoted("multiple definition of `"); !name.empty())
            return failed({cause::reserved_symbol,
                           fmt::format("The file defines {}, a name that belongs to CUDA or the grader.", name),
                           "Give it another name.",
                           {}});
        if (const std::string name = quoted("undefined reference to `"); !name.empty())
            return failed({cause::compile_error,
                           fmt::format("{} is called{} but defined nowhere.", name, where(name)),
                           "Is its body missing, or is it from a library that the grader does not link?",
                           {}});
        return suspect({cause::compile_error,
                        fmt::format("The linker refuses this file: {}.", linker_message(words)),
                        "An asm statement or an attribute that names a section or a symbol can do this.",
                        {}});
    }

    /// Return " in line 12" if the text shows the line.
    std::string where(const std::string& symbol) const {
        const int line = line_of_call(text_, Symbol{'U', symbol}.function(), Which::last);
        return line > 0 ? fmt::format(" in line {}", line) : "";
    }

    static void add(Words& to, const Words& words) { to.insert(to.end(), words.begin(), words.end()); }

    const Job& job_;
    const Harness& harness_;
    const std::string& text_;
    WorkFolder work_;
    Policy policy_;
};

/// Return a key of everything that the outcome depends on.
std::string cache_key(const Job& job, const Harness& harness, const std::string& text) {
    std::string all = text + '\0' + job.shown + '\0' + harness.hash + '\0';
    const auto add = [&](const Words& words) {
        for (const auto& word : words) all += word + '\0';
    };
    add(job.backend == Backend::cpu ? student_cpu_flags() : student_cuda_flags(job.for_tools));
    if (job.backend == Backend::cpu) add(hook_flags(job));
    if (job.backend == Backend::cpu && job.fast) add(job.by_fibers ? Words{"by fibers"} : split_cpu_flags());
    add(job.defines);
    add(link_flags(job.backend));
    add(job.libraries);
    all += compiler_identity("/proc/self/exe") + '\0';  // the judge's own messages
    all += compiler_identity(find_cxx()) + '\0';
    all += job.backend == Backend::cpu ? harness.rewriter.parent_path().filename().string()
                                       : compiler_identity(find_nvcc());
    return sha256(all);
}

void write_outcome(const Outcome& outcome, const fs::path& folder) {
    Json json = {
        {"passed", outcome.passed()}, {"log", outcome.log}, {"split", outcome.split}, {"refused", outcome.refused}};
    if (outcome.failure) json["failure"] = {outcome.failure->cause, outcome.failure->message, outcome.failure->hint};
    std::ofstream(folder / "outcome.json") << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

std::optional<Outcome> read_outcome(const fs::path& folder) {
    std::ifstream file(folder / "outcome.json");
    const Json json = Json::parse(file, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    Outcome outcome;
    outcome.verdict = json.value("passed", false) ? Verdict::passed : Verdict::failed;
    outcome.log = json.value("log", "");
    outcome.split = json.value("split", false);
    outcome.refused = json.value("refused", false);
    if (json.contains("failure"))
        outcome.failure = Failure{json["failure"][0], json["failure"][1], json["failure"][2], {}};
    std::error_code error;
    if (outcome.passed() && !fs::exists(folder / "runner", error)) return std::nullopt;
    return outcome;
}

Compiled finish(const Outcome& outcome, const fs::path& folder = {}) {
    Compiled compiled;
    compiled.result.verdict = outcome.verdict;
    compiled.result.failure = outcome.failure;
    compiled.result.log = outcome.log;
    compiled.split = outcome.split;
    compiled.refused = outcome.refused && outcome.verdict == Verdict::failed;
    if (outcome.passed()) compiled.runner = folder / "runner";
    return compiled;
}

Harness harness_of(const Job& job) { return harness_for(job.root, job.build, job.cache(), job.backend, job.lab); }

/// Compile the reference with the same tools in the same sandbox, uncached. Returns the failure, empty if none.
std::string why_reference_fails(const Job& job) {
    try {
        const Job reference = job.of_reference();
        const HandIn source = read_hand_in(reference.source, reference.lab, Links::followed);
        if (source.failure) return source.failure->message;
        const Harness harness = harness_of(reference);
        const Outcome outcome = Compiler(reference, harness, source.text).make_runner();
        return outcome.passed() ? "" : outcome.failure->message;
    } catch (const std::exception& problem) {
        return problem.what();
    }
}

/// Decide a suspect outcome: it is the file's failure if the reference compiles, else an error of the judge's side. So
/// a file cannot cause an error by making a tool fail.
Outcome confirm(Outcome outcome, const Job& job) {
    if (!outcome.suspect) return outcome;
    if (const std::string why = why_reference_fails(job); !why.empty())
        return broken(cause::internal, fmt::format("{} does not compile here either: {}", job.reference.string(), why),
                      "This is not the student's fault: repair the compiler's installation and grade again.");
    outcome.failure->message += " The same tools compile the stage's reference, so something in this file causes it.";
    return outcome;
}

Compiled compile_job(const Job& job) {
    const HandIn hand_in = read_hand_in(job.source, job.lab, job.links());
    if (hand_in.failure) return finish(failed(*hand_in.failure));
    const Harness harness = harness_of(job);
    const std::string key = cache_key(job, harness, hand_in.text);
    if (const auto folder = find_cached(job.cache(), key))
        if (const auto outcome = read_outcome(*folder)) {
            Compiled found = finish(*outcome, *folder);
            found.result.cached = true;
            return found;
        }

    Compiler compiler(job, harness, hand_in.text);
    const Outcome outcome = confirm(compiler.make_runner(), job);
    if (!outcome.keep) return finish(outcome);
    WorkFolder finished(job.cache());
    if (outcome.passed()) copy_out(compiler.runner(), finished.path() / "runner");
    write_outcome(outcome, finished.path());
    const fs::path folder = finished.publish(key);
    tidy(job.cache());
    return finish(outcome, folder);
}

/// Throws std::runtime_error if nvcc gives no answer.
NvccAnswer compile_with_nvcc(const Job& job) {
    using enum NvccAnswer::Answer;
    if (find_nvcc().empty()) return {not_found, ""};
    const HandIn hand_in = read_hand_in(job.source, job.lab, job.links());
    if (hand_in.failure) return {refuses, hand_in.failure->message};
    const Harness harness = harness_of(job);
    const std::string key = "nvcc-refuses-" + cache_key(job, harness, hand_in.text);
    if (const auto folder = find_cached(job.cache(), key)) {
        std::ifstream file(*folder / "log");
        const std::string log{std::istreambuf_iterator<char>(file), {}};
        return {log.empty() ? compiles : refuses, log};
    }
    Compiler compiler(job, harness, hand_in.text);
    const Outcome outcome = compiler.make_checked_object();
    if (!outcome.keep) throw std::runtime_error(outcome.failure->message);
    const std::string log = outcome.passed() ? "" : !outcome.log.empty() ? outcome.log : outcome.failure->message;
    WorkFolder finished(job.cache());
    std::ofstream(finished.path() / "log", std::ios::binary) << log;
    finished.publish(key);
    return {log.empty() ? compiles : refuses, log};
}

std::string ask_resources(const Job& job, const std::string& architecture) {
    const HandIn hand_in = read_hand_in(job.source, job.lab, job.links());
    if (find_nvcc().empty() || hand_in.failure) return "";
    const Harness harness = harness_of(job);
    const std::string key = "resources-" + architecture + "-" + cache_key(job, harness, hand_in.text);
    if (const auto folder = find_cached(job.cache(), key)) {
        std::ifstream file(*folder / "says");
        return {std::istreambuf_iterator<char>(file), {}};
    }
    Compiler compiler(job, harness, hand_in.text);
    const auto says = compiler.report_resources(architecture);
    if (!says) return "";
    WorkFolder finished(job.cache());
    std::ofstream(finished.path() / "says", std::ios::binary) << *says;
    finished.publish(key);
    return *says;
}

}  // namespace

fs::path reference_source(const Lab& lab, const Stage& stage) {
    for (const char* tree : {"solutions", "starter"})
        if (const fs::path file = lab.root / tree / lab.name / (stage.id + ".cu"); fs::exists(file))
            return fs::absolute(file);
    return {};
}

CompileRequest request_of_reference(CompileRequest request) {
    request.source = reference_source(request.lab, request.stage);
    request.defines.clear();
    request.budget = nullptr;
    if (request.limit_s > 0) request.limit_s = std::max(request.limit_s, usual_limit_s(request.backend));
    return request;
}

Compiled compile(const CompileRequest& request) {
    const auto begin = std::chrono::steady_clock::now();
    const Job job(request);
    Compiled compiled;
    try {
        compiled = compile_job(job);
    } catch (const std::exception& problem) {
        const std::string message = fmt::format("The judge cannot compile this file: {}.", problem.what());
        compiled = finish(confirm(suspect({cause::compile_error, message, "", {}}), job));
    }
    compiled.result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return compiled;
}

std::future<NvccAnswer> ask_nvcc(const CompileRequest& request) {
    Job job(request);
    job.backend = Backend::cuda;
    return std::async(std::launch::async, [job]() -> NvccAnswer {
        try {
            return compile_with_nvcc(job);
        } catch (const std::exception& problem) {
            return {NvccAnswer::Answer::no_answer, problem.what()};
        }
    });
}

std::string resource_report(const CompileRequest& request, const std::string& architecture) {
    Job job(request);
    job.backend = Backend::cuda;
    job.for_tools = false;
    try {
        return ask_resources(job, architecture);
    } catch (const std::exception&) {
        return "";  // without registers, the other resources can still be reported
    }
}

void build_harness(const fs::path& root, const fs::path& build, Backend backend) {
    for (const auto& lab : find_labs(root))
        harness_for(root, build, cache_folder(build, SandboxLevel::none), backend, lab);
}

}  // namespace warplab
