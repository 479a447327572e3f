#pragma once
// One compilation, and the outcome of its steps.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grader/common/utf8.h"
#include "grader/judge/compile/cache.h"
#include "grader/judge/compile/compile.h"
#include "grader/judge/compile/hand_in.h"
#include "grader/judge/compile/toolchain.h"

namespace warplab::compilation {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// Return the time limit of each step. It is much longer than any stage takes, because a correct solution must not fail
/// when the machine is busy.
inline double default_limit_s(Backend backend) { return backend == Backend::cpu ? 30 : 60; }

/// Return a path as one line of valid UTF-8: #line directives and the tools' messages carry it.
inline std::string shown_path(const fs::path& path) {
    std::string shown = to_harmless(path.string());
    std::replace(shown.begin(), shown.end(), '\n', '?');
    return shown;
}

/// A request without references to the judge's data, so that a thread may keep it.
struct Job {
    fs::path root, build, reference;
    Source source;
    std::string lab, shown;  // the file's name as the student sees it
    Backend backend;
    Words defines;
    SandboxLevel level;
    bool for_tools, fast, by_fibers, traced;
    Words libraries;
    double limit_s;
    std::shared_ptr<Budget> budget;

    explicit Job(const CompileRequest& request)
        : root(fs::absolute(request.lab.root)),
          build(fs::absolute(request.build)),
          reference(reference_source(request.lab, request.stage)),
          source(request.source),
          lab(request.lab.name),
          shown(shown_path(request.source.file())),
          backend(request.backend),
          level(request.level),
          for_tools(request.for_tools),
          fast(request.fast),
          by_fibers(request.by_fibers),
          traced(request.traced),
          libraries(request.libraries),
          limit_s(request.limit_s > 0 ? request.limit_s : default_limit_s(request.backend)),
          budget(request.budget) {
        for (const auto& define : request.defines) defines.push_back(define.starts_with("-D") ? define : "-D" + define);
    }
    /// Return the processor time that each compiler or tool may use. It is shorter than `limit_s`: on a busy
    /// machine, a step takes longer, but hardly uses more processor time. The solution that takes longest to compile
    /// needs about a sixth of this limit.
    double cpu_limit_s() const { return limit_s / 2; }
    fs::path cache() const { return cache_folder(build, level); }
    Links links() const { return level == SandboxLevel::none ? Links::followed : Links::refused; }

    /// Return the same compilation of the stage's reference.
    Job of_reference() const {
        Job job = *this;
        job.source = reference;
        job.shown = shown_path(reference);
        job.defines.clear();
        job.budget = nullptr;
        job.limit_s = std::max(limit_s, default_limit_s(backend));
        return job;
    }
};

/// Return the flags that add the sanitizer's hooks, or omit them. The checks and the sanitizer run the same program, so
/// that the way in which it was compiled does not reveal the sanitizer.
inline Flags hook_flags(const Job& job) {
    return job.traced ? traced_cpu_flags() : job.fast ? fast_cpu_flags() : sanitizer_flags();
}

inline constexpr auto gimple_name = "student.gimple";

/// The outcome of one step, or of all steps.
struct JobOutcome {
    Verdict verdict = Verdict::passed;
    std::optional<Failure> failure;
    std::string log;
    bool keep = true;       // the outcome depends only on the file, so it can be cached
    bool suspect = false;   // a tool failed without naming a mistake in the file: see confirm()
    bool split = false;     // Compiled::split
    bool refused = false;   // Compiled::refused
    int warned_line = 0;    // line of the first warning that may explain wrong outputs; 0 if there is none
    std::string note = {};  // Compilation::note

    bool passed() const { return verdict == Verdict::passed; }
};

/// Return the outcome for a mistake in the file.
JobOutcome failed(Failure failure, std::string log = "");
/// Return the outcome for an error of the judge or the machine.
JobOutcome broken(const char* cause, std::string message, std::string hint);
/// Return the outcome for a failure whose reason may be the file or a tool: see confirm().
JobOutcome suspect(Failure failure);

}  // namespace warplab::compilation
