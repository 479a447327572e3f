#include "grader/judge/compile/compiler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "grader/common/descriptor.h"
#include "grader/io/rewriter_exit.h"
#include "grader/judge/compile/diagnostics.h"
#include "grader/judge/compile/object_file.h"
#include "grader/judge/compile/symbols.h"
#include "grader/judge/compile/tool_words.h"
#include "grader/judge/sandbox/places.h"
#include "grader/model/cause.h"

namespace warplab::compilation {
namespace {

constexpr std::size_t max_warnings_shown = 5;
constexpr std::size_t max_symbol_list_bytes = 8ull << 20;  // of nm's output
constexpr auto symbol_list = "symbols";                    // nm writes this file
// Without --plugin, nm loads every plugin that is installed, such as LLVM's, which takes ten times as long.
const Words list_symbols = {"nm", "--plugin", "/dev/null", "-C", "student.o"};

const Words include_runtime = {"-include", "cuda_runtime.h"};
const Words rewrite_file = {"student.cu", "student.cpp"}, scan_file = {"--scan", "student.ii"};

/// Open a file that the sandboxed compiler wrote. Return an empty descriptor if it is too large, or if a link or a
/// device is in its place.
Descriptor open_output(const fs::path& path, struct stat& file) {
    Descriptor output(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (output && (fstat(output.get(), &file) != 0 || !S_ISREG(file.st_mode) ||
                   static_cast<std::uint64_t>(file.st_size) > max_written_bytes))
        output.reset();
    return output;
}

std::string read_output(const fs::path& path, std::size_t max_bytes = max_written_bytes) {
    struct stat file {};
    const Descriptor source = open_output(path, file);
    if (!source) return "";
    std::string text(std::min(static_cast<std::size_t>(file.st_size), max_bytes), '\0');
    const ssize_t count = read(source.get(), text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return text;
}

/// Return whether a tool reached a limit; if so, its result does not depend on the text alone.
bool ran_out(const JobOutcome& outcome) {
    return outcome.verdict == Verdict::error || outcome.failure->cause == cause::compile_timeout ||
           outcome.failure->cause == cause::out_of_memory;
}

bool succeeded(const Ended& ended) { return ended.how == End::exited && ended.status == 0; }

std::string quote_for_shell(const std::string& word) {
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string shell_line(const Words& command) {
    std::string line;
    for (const std::string& word : command) line += quote_for_shell(word) + ' ';
    return line;
}

void add(Words& to, const Words& words) { to.insert(to.end(), words.begin(), words.end()); }

/// Return whether the file may call special functions of <cmath>, which the precompiled header lacks.
bool may_call_special_functions(const std::string& text) {
    static constexpr const char* parts[] = {"bessel",   "beta",     "ellint",  "expint", "hermite",
                                            "laguerre", "legendre", "neumann", "riemann"};
    return std::ranges::any_of(parts, [&](const char* part) { return contains(text, part); });
}

}  // namespace

void copy_out(const fs::path& from, const fs::path& to) {
    struct stat file {};
    const Descriptor source = open_output(from, file);
    const Descriptor target(source ? open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755) : -1);
    off_t copied = 0;
    while (target && copied < file.st_size &&
           sendfile(target.get(), source.get(), &copied, static_cast<std::size_t>(file.st_size - copied)) > 0) {
    }
    if (!target || copied != file.st_size || fchmod(target.get(), 0755) != 0)
        throw std::runtime_error("the compiled program cannot be copied to " + to.string());
}

Compiler::Compiler(const Job& job, const Harness& harness, const std::string& text)
    : job_(job),
      harness_(harness),
      text_(text),
      work_(job.cache(), job.level == SandboxLevel::none ? WorkFolder::Writers::judge : WorkFolder::Writers::everyone) {
    policy_.level = job.level;
    policy_.readable = harness.folders;
    policy_.writable = {work_.path()};
    policy_.limits.wall_s = job.limit_s;
    policy_.limits.cpu_s = job.cpu_limit_s();
    policy_.budget = job.budget;
    policy_.limits.memory_bytes = max_compiler_memory_bytes;
    policy_.limits.file_bytes = max_written_bytes;
    policy_.limits.output_bytes = max_read_bytes;
    policy_.limits.max_printed_bytes = max_printed_bytes;
}

JobOutcome Compiler::make_runner() {
    JobOutcome outcome = make_runner_of_any_size();
    std::error_code error;
    if (!outcome.passed()) return outcome;
    if (const auto bytes = fs::file_size(runner(), error); !error && bytes > max_runner_bytes)
        return too_large_program();
    return outcome;
}

JobOutcome Compiler::make_runner_of_any_size() {
    if (const auto made = make_in_one_sandbox()) return *made;
    JobOutcome outcome = make_object();
    if (!outcome.passed()) {
        outcome.refused = !ran_out(outcome);
        return outcome;
    }
    const JobOutcome linked = link_object();
    return linked.passed() ? outcome : linked;
}

bool Compiler::may_be_split() const { return job_.fast && !job_.by_fibers; }

/// Take all steps in one sandbox, because starting a sandbox takes as long as several steps. Return nothing if a tool
/// fails or prints something: each tool then runs in its own sandbox, so that each message belongs to one tool.
std::optional<JobOutcome> Compiler::make_in_one_sandbox() {
    if (job_.backend == Backend::cuda || may_be_split()) return std::nullopt;
    write_student_file(text_);
    std::vector<std::string> lines;
    for (const Words& command : object_commands()) lines.push_back(shell_line(command));
    add(lines, link_lines());
    const Ended all = run_in_turn(lines);
    if (is_out_of_time(all, job_) || all.how == End::out_of_memory)  // one of the tools alone would end in the same way
        return explain_end(all, "The compiler", job_);
    if (!succeeded(all) || !all.output.empty() || !judge_symbol_list().passed()) return std::nullopt;
    return JobOutcome{};
}

/// Return the shell commands that list the object's symbols, hide the symbols and link the object.
std::vector<std::string> Compiler::link_lines() const {
    const auto [dissolve_groups, hide] = hide_commands();
    return {shell_line(list_symbols) + ">" + symbol_list, shell_line(dissolve_groups), shell_line(hide),
            shell_line(quick_link_command())};
}

/// Check the object, hide its symbols and link it, in one sandbox. If this fails, each tool runs in its own sandbox, so
/// that the message names the tool.
JobOutcome Compiler::link_object() const {
    if (job_.backend == Backend::cpu) {
        remove_outputs({symbol_list, "grouped.o", "offered.o", "runner"});
        if (succeeded(run_in_turn(link_lines())) && judge_symbol_list().passed()) return {};
    }
    if (JobOutcome checked = check_contract(); !checked.passed()) return checked;
    if (job_.backend == Backend::cpu)
        if (JobOutcome hidden = hide_symbols(); !hidden.passed()) return hidden;
    return link();
}

JobOutcome Compiler::make_checked_object() {
    JobOutcome outcome = make_object();
    if (!outcome.passed()) return outcome;
    const JobOutcome checked = check_contract();
    return checked.passed() ? outcome : checked;
}

JobOutcome Compiler::make_object() {
    return with_warnings(job_.backend == Backend::cpu ? make_cpu_object() : make_cuda_object());
}

/// Return the outcome with the warnings about the student's file in its log. The rewriter's come first, because it
/// warns only about mistakes.
JobOutcome Compiler::with_warnings(JobOutcome outcome) const {
    std::vector<Diagnostic> warnings = rewriter_warnings_;
    warnings.insert(warnings.end(), compiler_warnings_.begin(), compiler_warnings_.end());
    if (!outcome.passed() || warnings.empty()) return outcome;
    outcome.log = render(warnings, text_, max_warnings_shown);
    const auto first = std::ranges::find_if(warnings, may_explain_outputs);
    outcome.warned_line = first == warnings.end() ? 0 : first->line;
    if (const auto noted = std::ranges::find_if(warnings, matters_if_right); noted != warnings.end())
        outcome.note = fmt::format("The compiler warns about line {}: {}.", noted->line, noted->message);
    return outcome;
}

std::optional<std::string> Compiler::report_resources(const std::string& architecture) {
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

Ended Compiler::run(const Words& command, const Policy& policy) const {
    return run_to_end(command, policy, {"TMPDIR=" + work_.path().string()}, work_.path());
}

/// Run shell commands in one sandbox, up to the first that fails.
Ended Compiler::run_in_turn(const std::vector<std::string>& lines) const {
    std::string script = "set -e\n";
    for (const std::string& line : lines) script += line + '\n';
    return run({"sh", "-c", script}, policy_);
}

/// Remove files that an earlier step may have written. While several judges run, each step may run as another user, who
/// could not overwrite them.
void Compiler::remove_outputs(const Words& names) const {
    std::error_code error;
    for (const std::string& name : names) fs::remove(work_.path() / name, error);
}

void Compiler::write_student_file(const std::string& text) const {
    std::ofstream file(in_work("student.cu"), std::ios::binary);
    if (!(file << text).flush())
        throw std::runtime_error("the file cannot be copied to " + in_work("student.cu").string());
    chmod(in_work("student.cu").c_str(), 0644);
}

/// Explain the compiler's end, or keep its warnings about the student's file.
JobOutcome Compiler::judge_compiler(const Ended& ended) {
    if (auto end = explain_end(ended, "The compiler", job_)) return *end;
    if (ended.status != 0) {
        const std::string rewritten = job_.backend == Backend::cpu ? read_output(in_work("student.cpp")) : "";
        return explain_errors(without_cache_paths(ended.output), job_, harness_.contract, text_, rewritten);
    }
    std::vector<Diagnostic> all = read_diagnostics(ended.output, job_.shown);
    lead_with_declarations(all, text_);
    compiler_warnings_ = select(all, job_.shown, "warning");
    if (job_.backend == Backend::cpu) {
        move_columns(compiler_warnings_, text_, read_output(in_work("student.cpp")));
        omit_internal_names(compiler_warnings_, text_);
    }
    return {};
}

/// Shorten paths in the cache, for example to "labs/vector_add/lab.h".
std::string Compiler::without_cache_paths(std::string output) const {
    for (const auto& folder : harness_.folders) {
        const std::string path = (folder / "include").string() + "/";
        for (std::size_t at = output.find(path); at != std::string::npos; at = output.find(path, at))
            output.erase(at, path.size());
    }
    return output;
}

/// Return the commands that rewrite and preprocess the file, scan the result, and compile exactly that text.
std::array<Words, 4> Compiler::object_commands() const {
    return {rewriter_command(rewrite_file),
            cpu_command(include_runtime, {"-E", "-fpch-preprocess", "student.cpp", "-o", "student.ii"}),
            rewriter_command(scan_file),
            cpu_command(dump_flags(), {"-fpreprocessed", "-c", "student.ii", "-o", "student.o"})};
}

JobOutcome Compiler::make_cpu_object() {
    write_student_file(text_);
    if (may_be_split())
        if (const auto split = make_split_object()) return *split;
    const auto [rewrite, expand, scan, compile] = object_commands();
    remove_outputs({"student.cpp", "student.ii", "student.o"});
    if (JobOutcome done = run_rewriter(rewrite_file); !done.passed()) return done;
    const Ended expanded = run(expand, policy_);
    if (auto end = explain_end(expanded, "The compiler", job_)) return *end;
    if (expanded.status == 0)
        if (JobOutcome done = run_rewriter(scan_file); !done.passed()) return done;
    const Ended compiled = expanded.status == 0 ? run(compile, policy_) : expanded;
    if (compiled.how != End::exited || (compiled.status == 0 && compiled.output.empty()))
        return judge_compiler(compiled);
    // g++ reports columns only for the text before macro expansion.
    const Ended explained = compile_cpu(include_runtime, {"-c", "student.cpp", "-o", "explained.o"});
    return judge_compiler((explained.status == 0) == (compiled.status == 0) ? explained : compiled);
}

/// Return the object of a program whose kernels are split at their barriers; nothing if no kernel can be split, or
/// if g++ rejects a split kernel. Messages refer to the text without splits.
std::optional<JobOutcome> Compiler::make_split_object() {
    if (!run_rewriter({"--split", "student.cu", "student.cpp"}).passed()) return std::nullopt;
    if (!contains(read_output(in_work("student.cpp")), "WARPLAB_CPU_SPLIT_KERNEL(")) return std::nullopt;
    Ended compiled = compile_cpu(include_runtime, {"-E", "-fpch-preprocess", "student.cpp", "-o", "student.ii"});
    if (!succeeded(compiled) || !run_rewriter(scan_file).passed()) return std::nullopt;
    compiled = compile_cpu(split_cpu_flags(), {"-fpreprocessed", "-c", "student.ii", "-o", "student.o"});
    if (!succeeded(compiled)) return std::nullopt;
    JobOutcome outcome;
    if (!compiled.output.empty()) {
        if (!run_rewriter(rewrite_file).passed()) return std::nullopt;
        compiled = compile_cpu(include_runtime, {"-c", "student.cpp", "-o", "explained.o"});
        if (!succeeded(compiled)) return std::nullopt;
        outcome = judge_compiler(compiled);
    }
    outcome.split = true;
    return outcome;
}

Words Compiler::dump_flags() const {
    return job_.traced ? Words{fmt::format("-fdump-tree-optimized-raw-lineno={}", gimple_name)} : Words{};
}

Ended Compiler::compile_cpu(const Words& options, const Words& arguments) const {
    remove_outputs({arguments.back()});
    return run(cpu_command(options, arguments), policy_);
}

Words Compiler::cpu_command(const Words& options, const Words& arguments) const {
    Words command = {find_cxx().string()};
    add(command, student_cpu_flags());
    add(command, hook_flags(job_));
    add(command, job_.defines);
    if (may_call_special_functions(text_)) command.push_back("-DWARPLAB_CPU_SPECIAL_FUNCTIONS");
    if (begins_with_include(text_, "algorithm")) command.push_back(algorithm_flag);
    add(command, harness_.includes);
    add(command, options);
    add(command, arguments);
    return command;
}

Words Compiler::rewriter_command(const Words& arguments) const {
    Words command = {harness_.rewriter.string(), "--name", job_.shown};
    add(command, arguments);
    return command;
}

JobOutcome Compiler::run_rewriter(const Words& arguments) {
    if (arguments.front() != "--scan") remove_outputs({arguments.back()});
    const Ended ended = run(rewriter_command(arguments), policy_);
    if (auto end = explain_end(ended, "The CPU backend's rewriter", job_)) return *end;
    if (ended.status == 0 && arguments.front() != "--scan")
        rewriter_warnings_ = select(read_diagnostics(ended.output, job_.shown), job_.shown, "warning");
    if (ended.status == 0) return {};
    const auto refusals = select(read_diagnostics(ended.output, job_.shown), job_.shown, "error");
    if (refusals.empty())
        return suspect({cause::compile_error, fmt::format("The CPU backend's rewriter cannot read this file: {}.",
                                                          line_with_error(without_cache_paths(ended.output)))});
    const Diagnostic& first = refusals.front();
    const bool fine_on_gpu = ended.status == static_cast<int>(RewriterExit::lacks_feature);
    return failed(
        {fine_on_gpu ? cause::refused_feature : cause::compile_error,
         fmt::format("Line {}: {}", first.line, first.message),
         fine_on_gpu ? "On a GPU it may compile (BACKEND=cuda). You can also solve the stage without this feature."
                     : ""},
        render(refusals, text_, max_errors_shown));
}

JobOutcome Compiler::make_cuda_object() {
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

JobOutcome Compiler::check_contract() const {
    Policy policy = policy_;
    policy.limits.output_bytes = max_symbol_list_bytes;
    return judge_symbols(run(list_symbols, policy));
}

/// Judge the list of symbols that the commands of link_lines() wrote.
JobOutcome Compiler::judge_symbol_list() const {
    Ended ended;
    ended.how = End::exited;
    ended.output = read_output(in_work(symbol_list), max_symbol_list_bytes + 1);
    ended.output_bytes = ended.output.size();
    ended.output.resize(std::min(ended.output.size(), max_symbol_list_bytes));
    return judge_symbols(ended);
}

JobOutcome Compiler::judge_symbols(const Ended& ended) const {
    if (auto end = explain_end(ended, "nm, which lists the file's functions,", job_)) return *end;
    std::optional<Failure> breach;
    const bool is_object = visit_section_names(read_output(in_work("student.o")), [&](std::string_view name) {
        breach = find_section_breach(name);
        return !breach;
    });
    if (ended.status != 0 || !is_object)
        return suspect({cause::compile_error,
                        "This file compiles to an object file that the linker's tools cannot read.",
                        "Remove asm statements and attributes that name sections or symbols."});
    if (ended.output_bytes > ended.output.size())
        return failed(
            {cause::compile_error,
             fmt::format("The list of this file's functions and variables exceeds {} MB.", max_symbol_list_bytes >> 20),
             "Does a macro or a template define them without end?"});
    if (!breach) breach = find_breach(read_symbols(ended.output), harness_.contract, text_);
    return breach ? failed(*breach) : JobOutcome{};
}

/// Return the commands that hide every symbol of the file except the contract's functions from other objects and
/// libraries, so that the file cannot replace a function that the grader calls. They also redirect the file's calls of
/// functions of the C library, including those that g++ itself adds, to the runtime's hooks.
std::array<Words, 2> Compiler::hide_commands() const {
    // If several objects define a section group, the linker keeps only one copy. This step keeps it from choosing the
    // submission's copy.
    const Words dissolve_groups = {"ld", "-r", "--force-group-allocation", "student.o", "-o", "grouped.o"};
    Words hide = {"objcopy"};
    constexpr std::string_view hook = "warplab_library_";
    for (const std::string& name : harness_.contract.reserved)
        if (name.starts_with(hook)) add(hide, {"--redefine-sym", name.substr(hook.size()) + "=" + name});
    for (const std::string& name : harness_.contract.offered) hide.push_back("--keep-global-symbol=" + name);
    add(hide, {"grouped.o", "offered.o"});
    return {dissolve_groups, hide};
}

JobOutcome Compiler::hide_symbols() const {
    remove_outputs({"grouped.o", "offered.o"});
    for (const Words& command : hide_commands()) {
        const Ended ended = run(command, policy_);
        if (auto end = explain_end(ended, "The tool that hides the file's functions", job_)) return *end;
        if (ended.status != 0)
            return suspect({cause::compile_error, "The object file cannot be read: " + ended.output});
    }
    return JobOutcome{};
}

/// Return the command that links the runner. The harness comes first, because it must read the judge's orders before
/// any code of the submission runs.
Words Compiler::link_command() const {
    Words command = {find_cxx().string(), "-o", "runner"};
    for (const auto& part : harness_.link) command.push_back(part.string());
    command.push_back(job_.backend == Backend::cpu ? "offered.o" : "student.o");
    add(command, link_flags(job_.backend));
    add(command, library_flags(job_.libraries));
    return command;
}

/// Return the command that links with gold, if it is installed, because gold takes only a third of the time.
Words Compiler::quick_link_command() const {
    Words command = link_command();
    if (!sandbox::find_program("ld.gold").empty()) command.push_back("-fuse-ld=gold");
    return command;
}

/// Link with the default linker.
JobOutcome Compiler::link() const {
    Policy policy = policy_;
    if (job_.backend == Backend::cuda) policy.readable.push_back(cuda_library());
    remove_outputs({"runner"});
    const Ended ended = run(link_command(), policy);
    if (auto end = explain_end(ended, "The linker", job_)) return *end;
    return ended.status == 0 ? JobOutcome{} : explain_linker(without_cache_paths(ended.output), text_);
}

}  // namespace warplab::compilation
