#include "grader/judge/compile/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "grader/common/hash.h"
#include "grader/common/json.h"
#include "grader/common/read_file.h"
#include "grader/judge/compile/cache.h"
#include "grader/judge/compile/compiler.h"
#include "grader/judge/compile/hand_in.h"
#include "grader/judge/compile/harness.h"
#include "grader/judge/compile/toolchain.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {
using namespace compilation;

/// Return a cache key that covers everything that the outcome depends on.
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

void write_outcome(const JobOutcome& outcome, const fs::path& folder) {
    Json json = {{"passed", outcome.passed()}, {"log", outcome.log},     {"warned_line", outcome.warned_line},
                 {"note", outcome.note},       {"split", outcome.split}, {"refused", outcome.refused}};
    if (outcome.failure) json["failure"] = {outcome.failure->cause, outcome.failure->message, outcome.failure->hint};
    std::ofstream(folder / "outcome.json") << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

std::optional<JobOutcome> read_outcome(const fs::path& folder) {
    std::ifstream file(folder / "outcome.json");
    const Json json = Json::parse(file, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    JobOutcome outcome;
    outcome.verdict = json.value("passed", false) ? Verdict::passed : Verdict::failed;
    outcome.log = json.value("log", "");
    outcome.warned_line = json.value("warned_line", 0);
    outcome.note = json.value("note", "");
    outcome.split = json.value("split", false);
    outcome.refused = json.value("refused", false);
    if (json.contains("failure"))
        outcome.failure = Failure{json["failure"][0], json["failure"][1], json["failure"][2], {}};
    std::error_code error;
    if (outcome.passed() && !fs::exists(folder / "runner", error)) return std::nullopt;
    return outcome;
}

Compiled finish(const JobOutcome& outcome, const fs::path& folder = {}) {
    Compiled compiled;
    compiled.result.verdict = outcome.verdict;
    compiled.result.failure = outcome.failure;
    compiled.result.log = outcome.log;
    compiled.result.warned_line = outcome.warned_line;
    compiled.result.note = outcome.note;
    compiled.split = outcome.split;
    compiled.refused = outcome.refused && outcome.verdict == Verdict::failed;
    if (outcome.passed()) compiled.runner = folder / "runner";
    if (outcome.passed() && fs::exists(folder / gimple_name)) compiled.gimple = folder / gimple_name;
    return compiled;
}

Harness harness_of(const Job& job) { return harness_for(job.root, job.build, job.cache(), job.backend, job.lab); }

/// Compile the reference with the same tools in the same sandbox, uncached. Return why it failed; empty if it passed.
std::string why_reference_fails(const Job& job) {
    try {
        const Job reference = job.of_reference();
        const HandIn source = read_hand_in(reference.source, reference.lab, Links::followed);
        if (source.failure) return source.failure->message;
        const Harness harness = harness_of(reference);
        const JobOutcome outcome = Compiler(reference, harness, source.text).make_runner();
        return outcome.passed() ? "" : outcome.failure->message;
    } catch (const std::exception& problem) {
        return problem.what();
    }
}

/// Decide a suspect outcome: it is the file's failure if the reference compiles, otherwise an error of the judge. Thus
/// a file cannot cause an error by making a tool fail.
JobOutcome confirm(JobOutcome outcome, const Job& job) {
    if (!outcome.suspect) return outcome;
    if (const std::string reason = why_reference_fails(job); !reason.empty())
        return broken(cause::internal,
                      fmt::format("{} does not compile here either: {}", job.reference.string(), reason),
                      "This is not a mistake of the student: repair the compiler's installation and grade again.");
    const Failure& failure = *outcome.failure;
    outcome.failure =
        Failure{failure.cause,
                failure.message + " The same tools compile the stage's reference, so something in this file causes it.",
                failure.hint, failure.place};
    return outcome;
}

/// Return whether a tool may succeed at the second attempt: on a busy machine it can be killed for lack of memory. A
/// batch repeats a time-out itself, when the machine is idle.
bool may_be_chance(const JobOutcome& outcome) {
    return outcome.suspect && outcome.failure->cause != cause::compile_timeout;
}

Compiled compile_job(const Job& job) {
    const HandIn hand_in = read_hand_in(job.source, job.lab, job.links());
    if (hand_in.failure) return finish(failed(*hand_in.failure));
    const Harness harness = harness_of(job);
    const std::string key = cache_key(job, harness, hand_in.text);
    if (const auto folder = find_cached(job.cache(), key))
        if (const auto outcome = read_outcome(*folder)) {
            Compiled compiled = finish(*outcome, *folder);
            compiled.result.cached = true;
            return compiled;
        }

    auto compiler = std::make_unique<Compiler>(job, harness, hand_in.text);
    JobOutcome outcome = compiler->make_runner();
    if (may_be_chance(outcome)) {
        compiler = std::make_unique<Compiler>(job, harness, hand_in.text);
        outcome = compiler->make_runner();
    }
    if (!outcome.passed()) compiler.reset();  // its files take room that the reference may need
    outcome = confirm(std::move(outcome), job);
    if (!outcome.keep) return finish(outcome);
    WorkFolder finished(job.cache());
    if (outcome.passed()) copy_out(compiler->runner(), finished.path() / "runner");
    if (outcome.passed() && job.traced) copy_out(compiler->gimple(), finished.path() / gimple_name);
    write_outcome(outcome, finished.path());
    const fs::path folder = finished.publish(key);
    tidy(job.cache());
    return finish(outcome, folder);
}

/// Try again if a step of the judge itself fails: another program may have filled the disk for a moment.
Compiled compile_twice(const Job& job) {
    try {
        return compile_job(job);
    } catch (const std::exception&) {
        return compile_job(job);
    }
}

/// Return nvcc's answer, from the cache if it is there. Throws std::runtime_error if nvcc fails without a result.
NvccAnswer compile_with_nvcc(const Job& job) {
    using enum NvccAnswer::Answer;
    if (find_nvcc().empty()) return {not_found, ""};
    const HandIn hand_in = read_hand_in(job.source, job.lab, job.links());
    if (hand_in.failure) return {not_asked, ""};  // compile() reports the failure
    const Harness harness = harness_of(job);
    const std::string key = "nvcc-refuses-" + cache_key(job, harness, hand_in.text);
    if (const auto folder = find_cached(job.cache(), key)) {
        const std::string log = read_file(*folder / "log");
        return {log.empty() ? compiles : refuses, log};
    }
    Compiler compiler(job, harness, hand_in.text);
    const JobOutcome outcome = compiler.make_checked_object();
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
    if (const auto folder = find_cached(job.cache(), key)) return read_file(*folder / "report");
    Compiler compiler(job, harness, hand_in.text);
    const auto report = compiler.report_resources(architecture);
    if (!report) return "";
    WorkFolder finished(job.cache());
    std::ofstream(finished.path() / "report", std::ios::binary) << *report;
    finished.publish(key);
    return *report;
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
    if (request.limit_s > 0) request.limit_s = std::max(request.limit_s, default_limit_s(request.backend));
    return request;
}

Compiled compile(const CompileRequest& request) {
    const auto begin = std::chrono::steady_clock::now();
    const Job job(request);
    Compiled compiled;
    try {
        compiled = compile_twice(job);
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
