#include "grader/judge/compile.h"

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
#include <stdexcept>

#include "grader/core/cause.h"
#include "grader/core/hash.h"
#include "grader/core/json.h"
#include "grader/judge/compilation/cache.h"
#include "grader/judge/compilation/diagnostics.h"
#include "grader/judge/compilation/hand_in.h"
#include "grader/judge/compilation/harness.h"
#include "grader/judge/compilation/symbols.h"
#include "grader/judge/toolchain.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;
using namespace compilation;
using Words = std::vector<std::string>;

constexpr std::size_t errors_shown = 10, warnings_shown = 5;
constexpr std::uint64_t compiler_memory_bytes = 4ull << 30;
constexpr std::uint64_t runner_bytes = 256ull << 20;

/// Far beyond what any stage takes: on a crowded machine a right solution must not fail for it.
double usual_limit_s(Backend backend) { return backend == Backend::cpu ? 30 : 60; }

/// A request without references into the judge, so that a thread may keep it.
struct Job {
    fs::path root, build, source;
    std::string lab, shown;  // the file's name as the student knows it
    Backend backend;
    Words defines;
    SandboxLevel level;
    bool for_tools;
    Words libraries;
    double limit_s;
    std::shared_ptr<Budget> budget;

    explicit Job(const CompileRequest& request)
        : root(fs::absolute(request.lab.root)),
          build(fs::absolute(request.build)),
          source(request.source),
          lab(request.lab.name),
          shown(request.source.string()),
          backend(request.backend),
          level(request.level),
          for_tools(request.for_tools),
          libraries(request.libraries),
          limit_s(request.limit_s > 0 ? request.limit_s : usual_limit_s(request.backend)),
          budget(request.budget) {
        for (const auto& define : request.defines) defines.push_back(define.starts_with("-D") ? define : "-D" + define);
    }
    fs::path cache() const { return build / "cache"; }
};

/// How one step, or all of them, went.
struct Outcome {
    Verdict verdict = Verdict::passed;
    std::optional<Failure> failure;
    std::string log;
    bool keep = true;  // depends on the file alone: the same again tomorrow

    bool passed() const { return verdict == Verdict::passed; }
};

Outcome failed(Failure failure, std::string log = "") {
    return {Verdict::failed, std::move(failure), std::move(log), true};
}
Outcome broken(const char* cause, std::string message, std::string hint) {
    return {Verdict::error, Failure{cause, std::move(message), std::move(hint), {}}, "", false};
}
Outcome not_kept(Failure failure) { return {Verdict::failed, std::move(failure), "", false}; }

Outcome too_much_memory() {
    return not_kept(
        {cause::out_of_memory,
         fmt::format("Compiling needed more than {} GB of memory and was ended.", compiler_memory_bytes >> 30),
         "Is there a template, a macro or a large array that expands without end?",
         {}});
}

Outcome too_much_written() {
    return failed({cause::compile_error,
                   "What the compiler wrote grew beyond 256 MB.",
                   "Is there a large array with contents in the file?",
                   {}});
}

/// What to try, by the compiler's words.
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

/// What the assembler says of an asm statement, "" when it says nothing: its lines are not the student's.
std::string assembler_error(const std::string& words) {
    const std::size_t opening = words.find("Assembler messages:"), at = words.find(": Error: ", opening);
    if (opening == std::string::npos || at == std::string::npos) return "";
    const std::size_t begin = at + std::string(": Error: ").size();
    return words.substr(begin, words.find('\n', begin) - begin);
}

/// The compiler said no. `rewritten` is what it read, when that was not the text itself.
Outcome explain_errors(const std::string& words, const Job& job, const Contract& contract, const std::string& text,
                       const std::string& rewritten) {
    const std::vector<Diagnostic> all = read_diagnostics(words, job.shown);
    std::vector<Diagnostic> errors = select(all, job.shown, "error", true);
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
        // Our headers are right by themselves: the harness was compiled with them.
        const auto elsewhere = std::find_if(all.begin(), all.end(), is_error);
        if (const std::string said = assembler_error(words); elsewhere == all.end() && !said.empty())
            return failed({cause::compile_error,
                           fmt::format("An asm statement is refused by the assembler: {}", said),
                           "The stage can be solved without asm.",
                           {}});
        if (elsewhere == all.end())
            return broken(cause::internal, "the compiler failed without naming an error: " + words.substr(0, 500), "");
        return failed({cause::compile_error,
                       fmt::format("{} does not compile after what this file says before it: {}",
                                   fs::path(elsewhere->file).filename().string(), elsewhere->message),
                       "Does a #define change a word that the header uses? Put the #include lines first.",
                       {}});
    }
    const Diagnostic& first = errors.front();
    const std::string more = count > 1 ? fmt::format(" ({} errors; this is the first)", count) : "";
    return failed({cause::compile_error,
                   fmt::format("Line {}: {}{}", first.line, first.message, more),
                   hint_for(first.message),
                   {}},
                  log);
}

/// A file that the sandboxed compiler left: a link or a device in its place is not followed.
int open_left(const fs::path& path, struct stat& file) {
    const int number = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (number < 0) return -1;
    if (fstat(number, &file) == 0 && S_ISREG(file.st_mode) && static_cast<std::uint64_t>(file.st_size) <= runner_bytes)
        return number;
    close(number);
    return -1;
}

void copy_out(const fs::path& from, const fs::path& to) {
    struct stat file {};
    const int source = open_left(from, file);
    const int target = source >= 0 ? open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755) : -1;
    off_t copied = 0;
    while (target >= 0 && copied < file.st_size &&
           sendfile(target, source, &copied, static_cast<std::size_t>(file.st_size - copied)) > 0) {
    }
    const bool done = target >= 0 && copied == file.st_size && fchmod(target, 0755) == 0;
    if (source >= 0) close(source);
    if (target >= 0) close(target);
    if (!done) throw std::runtime_error("the compiled program cannot be copied to " + to.string());
}

std::string read_left(const fs::path& path) {
    struct stat file {};
    const int source = open_left(path, file);
    std::string text(source >= 0 ? static_cast<std::size_t>(file.st_size) : 0, '\0');
    const ssize_t got = source >= 0 ? read(source, text.data(), text.size()) : 0;
    if (source >= 0) close(source);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
}

/// A folder above `path` that other users may not enter, "" when there is none.
fs::path closed_folder(const fs::path& path) {
    for (fs::path folder = path; folder != folder.root_path(); folder = folder.parent_path()) {
        struct stat what {};
        if (stat(folder.c_str(), &what) == 0 && S_ISDIR(what.st_mode) && !(what.st_mode & S_IXOTH)) return folder;
    }
    return {};
}

class Compiler {
  public:
    Compiler(const Job& job, const Harness& harness, const std::string& text)
        : job_(job), harness_(harness), text_(text), work_(job.cache(), job.level != SandboxLevel::none) {
        policy_.level = job.level;
        policy_.readable = harness.folders;
        policy_.writable = {work_.path()};
        policy_.limits.wall_s = job.limit_s;
        policy_.budget = job.budget;
        policy_.limits.memory_bytes = compiler_memory_bytes;
        policy_.limits.file_bytes = runner_bytes;
        policy_.limits.output_bytes = 256 << 10;
    }

    /// `runner` is then in the work folder.
    Outcome make_runner() {
        Outcome outcome = make_object();
        if (!outcome.passed()) return outcome;
        if (Outcome checked = check_contract(); !checked.passed()) return checked;
        if (Outcome linked = link(); !linked.passed()) return linked;
        return outcome;
    }

    Outcome make_object() {
        if (job_.level == SandboxLevel::uid)
            if (const fs::path closed = closed_folder(work_.path()); !closed.empty())
                return broken(
                    cause::sandbox,
                    fmt::format("the folder {} is closed to other users, so the sandbox's user cannot "
                                "compile below it.",
                                closed.string()),
                    fmt::format("Type: chmod o+x \"{}\"  (or keep the build folder elsewhere).", closed.string()));
        return job_.backend == Backend::cpu ? make_cpu_object() : make_cuda_object();
    }

    /// The compiler's words; nothing when it says no.
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

    Ended run(const Words& command, const Policy& policy) const {
        return run_to_end(command, policy, {"TMPDIR=" + work_.path().string()}, work_.path());
    }

    void write_student_file(const std::string& text) const {
        std::ofstream(in_work("student.cu"), std::ios::binary) << text;
        chmod(in_work("student.cu").c_str(), 0644);
    }

    /// What any step may die of; nothing when it ended by itself.
    std::optional<Outcome> explain_end(const Ended& ended) const {
        switch (ended.how) {
            case End::exited:
            case End::flooded:  // not limited
                break;
            case End::not_started:
                return broken(job_.level == SandboxLevel::none ? cause::internal : cause::sandbox,
                              "the compiler could not be started: " + ended.why, "");
            case End::timed_out:
                return not_kept({cause::compile_timeout,
                                 fmt::format("Compiling took longer than {} s and was ended.", job_.limit_s),
                                 "Is there a template, a macro or a constexpr function that expands without end?",
                                 {}});
            case End::budget_spent:
                return not_kept({cause::compile_timeout,
                                 "The stage has used up the time that a submission gets for everything together.",
                                 "Is there a template, a macro or a constexpr function that expands without end?",
                                 {}});
            case End::out_of_memory:
                return too_much_memory();
            case End::signaled:
                if (ended.status == SIGXFSZ) return too_much_written();
                return broken(cause::internal, fmt::format("the compiler was ended by signal {}", ended.status), "");
        }
        if (contains(ended.output, "Killed signal terminated program")) return too_much_memory();
        if (contains(ended.output, "File size limit exceeded signal terminated program")) return too_much_written();
        if (contains(ended.output, "internal compiler error"))
            return broken(cause::internal, "the compiler itself crashed on this file",
                          "Another way to write it may work.");
        return std::nullopt;
    }

    /// Warnings about the student's file stay in the log.
    Outcome judge_compiler(const Ended& ended) const {
        if (auto end = explain_end(ended)) return *end;
        if (ended.status != 0) {
            const std::string rewritten = job_.backend == Backend::cpu ? read_left(in_work("student.cpp")) : "";
            return explain_errors(without_our_paths(ended.output), job_, harness_.contract, text_, rewritten);
        }
        Outcome outcome;
        outcome.log =
            render(select(read_diagnostics(ended.output, job_.shown), job_.shown, "warning"), text_, warnings_shown);
        return outcome;
    }

    /// "labs/vector_add/lab.h" for what lies in the cache under a long name.
    std::string without_our_paths(std::string words) const {
        for (const auto& folder : harness_.folders) {
            const std::string path = (folder / "include").string() + "/";
            for (std::size_t at = words.find(path); at != std::string::npos; at = words.find(path, at))
                words.erase(at, path.size());
        }
        return words;
    }

    Outcome make_cpu_object() {
        if (Outcome rewritten = rewrite(); !rewritten.passed()) return rewritten;
        Words command = {find_cxx().string()};
        add(command, student_cpu_flags());
        if (job_.for_tools) add(command, check_mode_flags());
        add(command, job_.defines);
        add(command, harness_.includes);
        add(command, {"-include", "cuda_runtime.h", "-c", "student.cpp", "-o", "student.o"});
        return judge_compiler(run(command, policy_));
    }

    Outcome rewrite() {
        write_student_file(text_);
        const Ended ended =
            run({harness_.rewriter.string(), "student.cu", "student.cpp", "--name", job_.shown}, policy_);
        if (auto end = explain_end(ended)) return *end;
        if (ended.status == 0) return {};
        const auto refusals = select(read_diagnostics(ended.output, job_.shown), job_.shown, "error");
        if (refusals.empty()) return broken(cause::internal, "the rewriter failed: " + ended.output, "");
        const Diagnostic& first = refusals.front();
        const bool fine_on_gpu = contains(first.message, "cannot run on the CPU backend");
        return failed({fine_on_gpu ? cause::refused_feature : cause::compile_error,
                       fmt::format("Line {}: {}", first.line, first.message),
                       fine_on_gpu ? "On a GPU it may compile (BACKEND=cuda); the stage can be solved without it." : "",
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
        policy.limits.output_bytes = 8 << 20;
        const Ended ended = run({"nm", "-C", "student.o"}, policy);
        if (auto end = explain_end(ended)) return *end;
        if (ended.status != 0) return broken(cause::internal, "nm does not read the object file: " + ended.output, "");
        const auto breach = find_breach(read_symbols(ended.output), harness_.contract, text_);
        return breach ? failed(*breach) : Outcome{};
    }

    Outcome link() const {
        Words command = {find_cxx().string(), "-o", "runner", "student.o"};
        for (const auto& part : harness_.link) command.push_back(part.string());
        add(command, link_flags(job_.backend));
        add(command, library_flags(job_.libraries));
        Policy policy = policy_;
        if (job_.backend == Backend::cuda) policy.readable.push_back(cuda_library());
        if (job_.backend == Backend::cpu && linked_by_gold(command, policy)) return Outcome{};
        const Ended ended = run(command, policy);
        if (auto end = explain_end(ended)) return *end;
        return ended.status == 0 ? Outcome{} : explain_linker(ended.output);
    }

    /// gold takes a third of the time. Where it is missing, or says no in its own words, the usual linker follows.
    bool linked_by_gold(Words command, const Policy& policy) const {
        command.push_back("-fuse-ld=gold");
        const Ended ended = run(command, policy);
        return ended.how == End::exited && ended.status == 0;
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
        return broken(cause::internal, "linking failed: " + words.substr(0, 1000), "");
    }

    /// " in line 12", when the text says where.
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

/// Everything that the outcome depends on.
std::string cache_key(const Job& job, const Harness& harness, const std::string& text) {
    std::string all = text + '\0' + job.shown + '\0' + harness.hash + '\0';
    const auto add = [&](const Words& words) {
        for (const auto& word : words) all += word + '\0';
    };
    add(job.backend == Backend::cpu ? student_cpu_flags() : student_cuda_flags(job.for_tools));
    if (job.backend == Backend::cpu && job.for_tools) add(check_mode_flags());
    add(job.defines);
    add(link_flags(job.backend));
    add(job.libraries);
    all += compiler_identity("/proc/self/exe") + '\0';  // the judge's own words
    all += compiler_identity(find_cxx()) + '\0';
    all += job.backend == Backend::cpu ? harness.rewriter.parent_path().filename().string()
                                       : compiler_identity(find_nvcc());
    return sha256(all);
}

void write_outcome(const Outcome& outcome, const fs::path& folder) {
    Json json = {{"passed", outcome.passed()}, {"log", outcome.log}};
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
    if (json.contains("failure"))
        outcome.failure = Failure{json["failure"][0], json["failure"][1], json["failure"][2], {}};
    std::error_code error;
    if (outcome.passed() && !fs::exists(folder / "runner", error)) return std::nullopt;
    return outcome;
}

Compiled finish(const Outcome& outcome, const fs::path& folder, bool cached) {
    Compiled compiled;
    compiled.result.verdict = outcome.verdict;
    compiled.result.failure = outcome.failure;
    compiled.result.log = outcome.log;
    compiled.result.cached = cached;
    if (outcome.passed()) compiled.runner = folder / "runner";
    return compiled;
}

Compiled compile_job(const Job& job) {
    const HandIn hand_in = read_hand_in(job.source);
    if (hand_in.failure) return finish(failed(*hand_in.failure), {}, false);
    const Harness harness = harness_for(job.root, job.build, job.backend, job.lab);
    const std::string key = cache_key(job, harness, hand_in.text);
    if (const auto folder = find_cached(job.cache(), key))
        if (const auto outcome = read_outcome(*folder)) return finish(*outcome, *folder, true);

    Compiler compiler(job, harness, hand_in.text);
    const Outcome outcome = compiler.make_runner();
    if (!outcome.keep) return finish(outcome, {}, false);
    WorkFolder finished(job.cache(), false);
    if (outcome.passed()) copy_out(compiler.runner(), finished.path() / "runner");
    write_outcome(outcome, finished.path());
    const fs::path folder = finished.publish(key);
    tidy(job.cache());
    return finish(outcome, folder, false);
}

std::string ask_nvcc(const Job& job) {
    if (find_nvcc().empty()) return "not found";
    const HandIn hand_in = read_hand_in(job.source);
    if (hand_in.failure) return hand_in.failure->message;
    const Harness harness = harness_for(job.root, job.build, Backend::cuda, job.lab);
    const std::string key = "nvcc-" + cache_key(job, harness, hand_in.text);
    if (const auto folder = find_cached(job.cache(), key)) {
        std::ifstream file(*folder / "says");
        return {std::istreambuf_iterator<char>(file), {}};
    }
    Compiler compiler(job, harness, hand_in.text);
    const Outcome outcome = compiler.make_object();
    const std::string says = outcome.passed() ? "ok" : !outcome.log.empty() ? outcome.log : outcome.failure->message;
    if (!outcome.keep) return says;
    WorkFolder finished(job.cache(), false);
    std::ofstream(finished.path() / "says", std::ios::binary) << says;
    finished.publish(key);
    return says;
}

std::string ask_resources(const Job& job, const std::string& architecture) {
    const HandIn hand_in = read_hand_in(job.source);
    if (find_nvcc().empty() || hand_in.failure) return "";
    const Harness harness = harness_for(job.root, job.build, Backend::cuda, job.lab);
    const std::string key = "resources-" + architecture + "-" + cache_key(job, harness, hand_in.text);
    if (const auto folder = find_cached(job.cache(), key)) {
        std::ifstream file(*folder / "says");
        return {std::istreambuf_iterator<char>(file), {}};
    }
    Compiler compiler(job, harness, hand_in.text);
    const auto says = compiler.report_resources(architecture);
    if (!says) return "";
    WorkFolder finished(job.cache(), false);
    std::ofstream(finished.path() / "says", std::ios::binary) << *says;
    finished.publish(key);
    return *says;
}

}  // namespace

Compiled compile(const CompileRequest& request) {
    const auto begin = std::chrono::steady_clock::now();
    Compiled compiled;
    try {
        compiled = compile_job(Job(request));
    } catch (const std::exception& problem) {
        compiled.result.verdict = Verdict::error;
        compiled.result.failure = Failure{cause::internal, problem.what(), "", {}};
    }
    compiled.result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return compiled;
}

std::future<std::string> nvcc_says(const CompileRequest& request) {
    Job job(request);
    job.backend = Backend::cuda;
    return std::async(std::launch::async, [job] {
        try {
            return ask_nvcc(job);
        } catch (const std::exception& problem) {
            return fmt::format("could not be asked: {}", problem.what());
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
        return "";  // without registers the rest can still be said
    }
}

void build_harness(const fs::path& root, const fs::path& build, Backend backend) {
    for (const auto& lab : find_labs(root)) harness_for(root, build, backend, lab);
}

}  // namespace warplab
