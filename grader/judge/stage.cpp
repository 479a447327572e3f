// Judges one stage: compiles, checks, runs the sanitizer and times. settle.h turns the results into a report.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "grader/common/hash.h"
#include "grader/common/text.h"
#include "grader/judge/check/failure_messages.h"
#include "grader/judge/judge.h"
#include "grader/judge/narrow_index.h"
#include "grader/judge/run/phases.h"
#include "grader/judge/settle.h"
#include "grader/judge/starter.h"
#include "grader/judge/timing.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {

/// Return the budget of untrusted code for one stage, without timing. On one slow core the slowest solution takes about
/// a tenth of it.
std::shared_ptr<Budget> untimed_budget(const Task& task) {
    constexpr double wall_s = 90, cpu_s = 150;
    return task.sandbox == SandboxLevel::none ? nullptr : std::make_shared<Budget>(wall_s, cpu_s);
}

/// Return whether the failure took long and would probably take as long with the other datasets.
bool is_slow(const Check& check) {
    if (!check.failure) return false;
    return check.failure->cause == cause::timeout || (check.failure->hangs && check.wall_s > 1) ||
           (check.failure->cause == cause::out_of_memory && check.wall_s > 2);
}

constexpr const char* omitted_by_option = "--no-cuda-only omits it";

/// Return whether exclusive use of the GPU would not change the check: it passed, or an option omits its dataset.
bool is_settled(const Check& check) {
    return check.skipped ? check.skipped_why == omitted_by_option : check.verdict == Verdict::passed;
}

Check not_run(const Dataset& dataset, const Check& slow) {
    Check check = failed_check(dataset, {cause::not_run, fmt::format("Not run, because {} failed.", slow.dataset)});
    check.blocked_by = slow.dataset;
    return check;
}

bool has_finished(const std::future<Sanitized>& result) {
    return result.valid() && result.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

bool has_word(const Source& source, const char* word) { return source.text().find(word) != std::string::npos; }

/// Return whether threads may wait until a variable changes. An endless wait can be detected only with hooks.
bool may_poll(const Source& source) { return has_word(source, "volatile"); }

/// Return whether grids may depend on the size of the GPU.
bool asks_about_the_gpu(const Source& source) { return has_word(source, "ultiProcessorCount"); }

/// Return the request for the program that checks the datasets. On the CPU backend, a graded submission is one program
/// with the sanitizer's hooks, so that it cannot detect the sanitizer. In a student's own check nothing is graded, so
/// the datasets run without hooks, in a fraction of the time, unless threads may wait until a variable changes.
CompileRequest check_request(const Judge& judge, const Lab& lab, const Stage& stage, const Source& source, Task task) {
    task.fast = judge.backend() == Backend::cuda || (task.own_code && !may_poll(source));
    return judge.compile_request(lab, stage, source, task);
}

/// Return whether the sanitizer needs a separate program, because the one that checks the datasets has no hooks.
bool needs_separate_program(const CompileRequest& request) { return request.fast; }

/// Return the request for the sanitizer's program, which has hooks and runs on the CPU backend.
CompileRequest sanitizer_request(CompileRequest request) {
    request.backend = Backend::cpu;
    request.fast = false;
    return request;
}

/// Compilations whose results the first steps do not need.
struct Later {
    std::future<NvccAnswer> nvcc;
    std::shared_future<Compiled> with_hooks;  // only if the sanitizer needs a separate program
};

Later compile_later(const Judge& judge, const CompileRequest& request, const Task& task) {
    Later later;
    if (task.all_compilers && judge.backend() == Backend::cpu) later.nvcc = ask_nvcc(request);
    if (task.sanitizer && needs_separate_program(request))
        later.with_hooks = std::async(std::launch::async, compile, sanitizer_request(request)).share();
    return later;
}

/// The judging of one stage.
class StageJudge {
  public:
    StageJudge(Judge& judge, const CompileRequest& request, const Task& task, const Progress& progress)
        : judge_(judge), request_(request), task_(task), progress_(progress) {
        for (const Dataset& dataset : request.lab.datasets)
            if (is_included(dataset)) (dataset.uses.hidden ? hidden_ : datasets_).push_back(&dataset);
    }

    void take_all_steps() {
        progress_(GradingPhase::compile, "compiling");
        Later later = compile_later(judge_, request_, task_);
        if (judge_.backend() == Backend::cuda) solve_ahead();
        Judge::Ready ready = judge_.make_ready(request_);
        evidence_.compilation = ready.compilation;
        evidence_.refused = ready.refused;
        evidence_.starter = find_starter(request_.lab, request_.stage, request_.source);
        if (ready.run) {
            wait_for_answers();
            run_all(*ready.run, later);
        }
        if (!later.nvcc.valid()) return;
        progress_(GradingPhase::nvcc, "compiling for a real GPU");
        evidence_.nvcc = later.nvcc.get();
    }

    /// Handle an exception of the judge. If the judge can grade the reference, the file is the cause, and all datasets
    /// fail.
    void handle_exception(const std::string& what) {
        gpu_.reset();
        if (!finishes_reference()) {
            evidence_.error = internal_error(what);
            return;
        }
        const Failure failure{cause::crash,
                              fmt::format("The judge could not finish grading this file: {}. It grades the stage's "
                                          "reference, so something in this file causes it.",
                                          what)};
        evidence_.checks.clear();
        evidence_.limits.clear();
        evidence_.timed = {};
        for (const auto* datasets : {&datasets_, &hidden_})
            for (const Dataset* dataset : *datasets) evidence_.checks.push_back(failed_check(*dataset, failure));
    }

    const Evidence& evidence() const { return evidence_; }

  private:
    /// The datasets that the sanitizer will run, by part, and the digests of their launches without the sanitizer.
    struct BeforeSanitizer {
        Parts small;
        LaunchDigests launches;
    };

    /// The sanitizer's run in parallel with the checks, which use another program. If a check fails, the run is
    /// cancelled.
    struct Ahead {
        std::atomic<bool> cancelled = false;
        std::future<Sanitized> result = {};

        ~Ahead() { cancelled = true; }  // the future's destructor then waits for the thread
    };

    bool is_included(const Dataset& dataset) const {
        if (!dataset.applies_to(request_.stage)) return false;
        if (!task_.options.dataset.empty()) return dataset.name == task_.options.dataset;
        return dataset.uses.check || (dataset.uses.hidden && task_.hidden);
    }

    bool finishes_reference() {
        const std::filesystem::path reference = reference_source(request_.lab, request_.stage);
        if (reference.empty() || reference == std::filesystem::absolute(request_.source.file())) return false;
        Task untimed = task_;
        untimed.measure = untimed.all_compilers = false;
        return judge_.judge_stage(request_.lab, request_.stage, reference, untimed, {}).verdict != Verdict::error;
    }

    /// Begin to compute the correct answers of all datasets, so that no program waits for them on the GPU.
    void solve_ahead() {
        const Oracle& oracle = judge_.oracle(request_.lab);
        solver_ = std::jthread([this, &oracle](const std::stop_token& ended) {
            const auto solve = [&](const Dataset& dataset) {
                if (!ended.stop_requested()) solve_for_check(judge_.known_problems(), oracle, request_.lab, dataset);
            };
            try {
                for (const Dataset* dataset : datasets_) solve(*dataset);
                for (const Dataset* dataset : hidden_) solve(for_this_file(*dataset));
            } catch (const std::exception&) {  // the check of this dataset reports it
            }
        });
    }

    void wait_for_answers() {
        if (!solver_.joinable()) return;
        progress_(GradingPhase::inputs, "computing the correct answers");
        solver_.join();
    }

    void run_all(StageRun& run, const Later& later) {
        if (later.with_hooks.valid()) sanitize_ahead(later.with_hooks);
        const BeforeSanitizer before = check_all(run);
        std::optional<Sanitized> sanitized;
        if (has_finished(ahead_.result)) sanitized = take_ahead();
        if (task_.sanitizer && !sanitized) leave_gpu(run);
        if (task_.sanitizer) {
            progress_(GradingPhase::check_mode, "sanitizer");
            const Compiled same{evidence_.compilation, run.runner};
            run.pause_session();  // the hidden datasets use the same session, because starting a process takes time
            inspect_all(later.with_hooks.valid() ? later.with_hooks.get() : same, before, std::move(sanitized));
            run.resume_session();
            // A kernel that is split at its barriers runs in only one order of threads.
            if (run.make_fiber_runner && evidence_.sanitizer &&
                evidence_.sanitizer->verdict != SanitizerResult::Verdict::passed) {
                run.switch_to_fibers();
                check_all(run);
            }
            if (run.backend == Backend::cpu && found_race()) check_in_one_thread(run);
            if (asks_about_the_gpu(request_.source)) check_on_other_gpus(run);
        }
        check_hidden(run);
        leave_gpu(run);
        evidence_.narrow_index = note_narrow_index(skipped_datasets(), request_.source.text());
        run.end_session();
        const bool times = judge_.backend() == Backend::cuda || task_.options.force;
        if (verdict_of(evidence_.checks) == Verdict::passed && task_.measure && times)
            time_stage(evidence_.timed, judge_, run, request_.source, task_, progress_);
        run.end_session();
        evidence_.output = run.output;
    }

    bool found_race() const {
        if (!evidence_.sanitizer) return false;
        return std::ranges::any_of(evidence_.sanitizer->findings, [](const Finding& finding) {
            return !finding.note && (finding.cause == cause::race || finding.cause == cause::atomic_race);
        });
    }

    /// Check all datasets again with one OS thread, and let later checks use only one, too: if blocks run at the same
    /// time, it depends on chance which datasets pass in spite of a race. If the program then hangs or takes too long,
    /// the earlier results count.
    void check_in_one_thread(StageRun& run) {
        const std::vector<Check> before = evidence_.checks;
        const std::optional<Check> slow = slow_;
        run.end_session();
        run.output.clear();
        run.searching_s = StageRun::max_searching_s;
        run.experimenting_s = StageRun::max_experimenting_s;
        run.environment = {"WARPLAB_THREADS=1"};
        const std::shared_ptr<Budget> budget = std::exchange(run.policy.budget, untimed_budget(task_));
        check_all(run);
        run.end_session();
        run.policy.budget = budget;
        if (!slow_ || slow) return;
        evidence_.checks = before;
        slow_.reset();
        run.environment.clear();
    }

    /// Return the result of `check`. If a check fails and other judges used the GPU meanwhile, their programs may be
    /// the reason: check again with exclusive use. The GPU remains locked until leave_gpu().
    std::vector<Check> check_on_gpu(StageRun& run, const std::function<std::vector<Check>()>& check) {
        std::vector<Check> checks;
        for (const auto use : {GpuLock::Use::with_others, GpuLock::Use::alone}) {
            if (!gpu_)
                gpu_ =
                    judge_.lock_gpu(use, [&](const std::string& what) { progress_(GradingPhase::wait_for_gpu, what); });
            checks = check();
            if (!gpu_ || !gpu_->another_judge_ran() || std::ranges::all_of(checks, is_settled)) break;
            leave_gpu(run);
        }
        return checks;
    }

    void leave_gpu(StageRun& run) {
        if (!gpu_) return;
        run.end_session();  // the program may still use the GPU
        gpu_.reset();
    }

    /// Check all datasets that are not hidden. Each process first gets the same calls as a process of the sanitizer;
    /// otherwise, a program could detect the sanitizer by the sequence of its calls. The last process continues with
    /// the other datasets.
    BeforeSanitizer check_all(StageRun& run) {
        BeforeSanitizer before;
        evidence_.checks = check_on_gpu(run, [&] {
            before = {};
            return check_once(run, before);
        });
        return before;
    }

    std::vector<Check> check_once(StageRun& run, BeforeSanitizer& before) {
        slow_.reset();
        if (task_.sanitizer && !needs_separate_program(request_)) before.small = split_small(run, datasets_);
        std::map<const Dataset*, Check> checked;
        for (const auto& part : before.small) {
            run.end_session();
            for (const Dataset* dataset : part) {
                checked[dataset] = check_one(run, *dataset);
                before.launches[dataset->name] = run.launch_digests;
            }
        }
        std::vector<Check> checks;
        for (const Dataset* dataset : datasets_)
            checks.push_back(checked.contains(dataset) ? checked[dataset] : check_one(run, *dataset));
        return checks;
    }

    /// If all datasets passed, check the largest one again as on other GPUs: if grid and block may be swapped, on one
    /// with many multiprocessors, where the blocks would be too large; always, on one with a single multiprocessor,
    /// where each thread has several elements.
    void check_on_other_gpus(StageRun& run) {
        constexpr unsigned of_h100 = 132;
        if (may_be_swapped_)
            check_on(run, of_h100, fmt::format("On a GPU with {} multiprocessors, such as an H100: ", of_h100));
        check_on(run, 1, "On a GPU with 1 multiprocessor, where each thread has more elements: ");
    }

    void check_on(StageRun& run, unsigned multiprocessors, const std::string& where) {
        if (run.backend != Backend::cpu || verdict_of(evidence_.checks) != Verdict::passed) return;
        std::map<std::size_t, const Dataset*> by_bytes;
        for (const Dataset* dataset : datasets_)
            if (why_not_on_this_backend(run, *dataset).empty())
                by_bytes[Buffers::bytes_per_slot(run.generate(*dataset, dataset->seed), 0, 0)] = dataset;
        if (by_bytes.empty()) return;
        const Dataset& largest = *by_bytes.rbegin()->second;
        const unsigned original = std::exchange(run.multiprocessors, multiprocessors);
        run.end_session();  // the program may have stored the GPU's properties
        Check check = check_one(run, largest);
        run.multiprocessors = original;
        run.end_session();
        const bool is_small = multiprocessors < original;  // a correct grid may be too large for this GPU
        if (!check.failure || (is_small && !check.failure->place)) return;
        check.failure->message = where + check.failure->message;
        *std::ranges::find(evidence_.checks, largest.name, &Check::dataset) = check;
    }

    /// Return a hidden dataset with inputs that only this file gets. Otherwise, a program could store its hidden
    /// inputs, and the program of another file could show them to the student as wrong outputs for a public dataset.
    Dataset for_this_file(Dataset dataset) const {
        dataset.seed = hidden_seed(std::to_string(dataset.seed), request_.source.hash());
        return dataset;
    }

    /// Check the hidden datasets after the steps whose values the student sees.
    void check_hidden(StageRun& run) {
        if (hidden_.empty()) return;
        const std::vector<Check> hidden = check_on_gpu(run, [&, slow = slow_] {
            slow_ = slow;
            std::vector<Check> checks;
            for (const Dataset* dataset : hidden_) checks.push_back(check_one(run, for_this_file(*dataset)));
            return checks;
        });
        evidence_.checks.insert(evidence_.checks.end(), hidden.begin(), hidden.end());
    }

    /// Check one dataset, unless an earlier one was slow.
    Check check_one(StageRun& run, const Dataset& dataset) {
        if (task_.options.no_cuda_only && dataset.uses.cuda_only) return skipped_check(dataset, omitted_by_option);
        progress_(GradingPhase::check, "checking " + dataset.name);
        run.launch_digests.clear();
        run.doing = [&](const std::string& what) {
            progress_(GradingPhase::check, fmt::format("{} failed: {}", dataset.name, what));
        };
        if (slow_ && why_not_on_this_backend(run, dataset).empty()) return not_run(dataset, *slow_);
        Check check;
        {
            const auto limiter = limit_ahead();
            check = check_dataset(run, dataset);
        }
        if (check.verdict != Verdict::passed && !check.skipped && !is_slow(check) && run.make_fiber_runner) {
            run.switch_to_fibers();
            check = check_dataset(run, dataset);
        }
        if (check.verdict != Verdict::passed && !check.skipped) ahead_.cancelled = true;
        if (run.session && evidence_.idle_threads.empty()) evidence_.idle_threads = note_idle_threads(run, dataset);
        if (!slow_ && (is_slow(check) || (check.failure && check.failure->hangs))) slow_ = check;
        return check;
    }

    /// Return a note if the last call's largest launch has far more threads than any array has elements.
    static std::string note_idle_threads(StageRun& run, const Dataset& dataset) {
        constexpr double many = 1 << 20, too_many = 64;
        const LaunchSize launch = run.session->status().largest_launch;
        if (launch.line <= 0 || launch.threads() < many || !why_not_on_this_backend(run, dataset).empty()) return "";
        std::size_t elements = 1;
        for (const Array& array : run.generate(dataset, dataset.seed).arrays)
            elements = std::max(elements, array.count());
        if (launch.threads() < too_many * static_cast<double>(elements)) return "";
        return fmt::format(
            "Line {} launches {} threads, although no array has more than {} elements: most threads have nothing to "
            "do. If the grid has n blocks, divide by the threads of a block, rounded up.",
            launch.line, format_count(static_cast<std::uint64_t>(launch.threads())), format_count(elements));
    }

    /// Cancel the sanitizer if the check that begins now takes long: the program may hang, and the check makes faster
    /// progress if the sanitizer does not run the same loop. The returned thread ends when it is destroyed.
    std::jthread limit_ahead() {
        if (!ahead_.result.valid()) return {};
        return std::jthread([this](const std::stop_token& ended) {
            constexpr std::chrono::seconds max_wait(2);
            std::mutex mutex;
            std::unique_lock lock(mutex);
            std::condition_variable_any never;
            never.wait_for(lock, ended, max_wait, [] { return false; });
            if (!ended.stop_requested()) ahead_.cancelled = true;
        });
    }

    /// Settle the results `known` from the sanitizer's run in parallel with the checks. If there are none yet, wait for
    /// them or run the sanitizer now. If outputs are wrong, the first finding is the likely reason. Do nothing if a
    /// check was slow.
    void inspect_all(const Compiled& compiled, const BeforeSanitizer& before, std::optional<Sanitized> known) {
        if (std::ranges::any_of(evidence_.checks, is_slow)) return;
        SanitizerResult result;
        try {
            if (compiled.result.verdict == Verdict::passed) {
                if (!known) known = take_ahead();
                const Sanitized sanitized = known ? std::move(*known) : sanitize(compiled, before);
                result = settle_sanitizer(sanitized);
                may_be_swapped_ = may_be_swapped(sanitized.counted);
                if (result.verdict == SanitizerResult::Verdict::passed)
                    evidence_.limits = compare_with_limits(request_.stage, sanitized.counted);
            } else {
                result = settle_sanitizer(compiled.result);
            }
        } catch (const std::exception& error) {
            result.remark = fmt::format("the sanitizer could not finish: {}", error.what());
        }
        evidence_.sanitizer = result;
    }

    void sanitize_ahead(const std::shared_future<Compiled>& with_hooks) {
        ahead_.result = std::async(std::launch::async, [this, with_hooks] {
            const Compiled& compiled = with_hooks.get();
            if (compiled.result.verdict != Verdict::passed) return Sanitized();
            const auto run = judge_.make_run(sanitizer_request(request_), compiled);
            SanitizerTask task{split_small(*run, datasets_), request_.source, SanitizerTask::Stop::when_slow};
            task.cancelled = &ahead_.cancelled;
            return run_sanitizer(*run, task);
        });
    }

    /// Return the sanitizer's results from its run in parallel with the checks; nothing if there was no such run, if
    /// outputs are wrong, or if the run was too slow.
    std::optional<Sanitized> take_ahead() {
        if (!ahead_.result.valid()) return std::nullopt;
        Sanitized sanitized = ahead_.result.get();
        if (ahead_.cancelled || std::ranges::any_of(sanitized.checks, is_slow)) return std::nullopt;
        return sanitized;
    }

    Sanitized sanitize(const Compiled& compiled, const BeforeSanitizer& before) {
        const auto run = judge_.make_run(sanitizer_request(request_), compiled);
        SanitizerTask task{before.small, request_.source};
        if (needs_separate_program(request_)) task.parts = split_small(*run, datasets_);
        for (auto& part : task.parts)
            std::erase_if(part, [&](const Dataset* dataset) { return was_blocked(*dataset); });
        task.outputs_failed = std::ranges::any_of(
            evidence_.checks, [](const Check& check) { return !check.skipped && check.verdict == Verdict::failed; });
        if (const Dataset* unexplained = find_unexplained(task.parts); unexplained && is_quick(*run, *unexplained))
            task.parts.push_back({unexplained});
        task.stop = task.outputs_failed ? SanitizerTask::Stop::when_found : SanitizerTask::Stop::when_slow;
        task.expected = before.launches;
        task.doing = [this](const std::string& what) { progress_(GradingPhase::check_mode, what); };
        return run_sanitizer(*run, task);
    }

    std::vector<const Dataset*> skipped_datasets() const {
        std::vector<const Dataset*> skipped;
        for (const Dataset* dataset : datasets_)
            if (std::ranges::any_of(evidence_.checks, [&](const Check& check) {
                    return check.skipped && check.dataset == dataset->name;
                }))
                skipped.push_back(dataset);
        return skipped;
    }

    /// Return the first dataset that failed, if it is not in the parts, its failure names no line, and the sanitizer
    /// may find one; otherwise null.
    const Dataset* find_unexplained(const Parts& parts) const {
        const auto failed = std::ranges::find_if(
            evidence_.checks, [](const Check& check) { return !check.skipped && check.verdict == Verdict::failed; });
        if (failed == evidence_.checks.end() || !failed->failure) return nullptr;
        const Failure& failure = *failed->failure;
        if (!is_unexplained(failure) && failure.cause != cause::race && failure.cause != cause::out_of_bounds_write &&
            failure.cause != cause::crash)
            return nullptr;
        const auto is_failed_dataset = [&](const Dataset* dataset) { return dataset->name == failed->dataset; };
        if (std::ranges::any_of(parts, [&](const auto& part) { return std::ranges::any_of(part, is_failed_dataset); }))
            return nullptr;
        const auto iterator = std::ranges::find_if(datasets_, is_failed_dataset);
        return iterator == datasets_.end() ? nullptr : *iterator;
    }

    /// Return whether the dataset was not run because another one was slow. The sanitizer would hang on it again.
    bool was_blocked(const Dataset& dataset) const {
        return std::ranges::any_of(evidence_.checks, [&](const Check& check) {
            return check.dataset == dataset.name && !check.blocked_by.empty();
        });
    }

    Judge& judge_;
    const CompileRequest& request_;
    const Task& task_;
    const Progress& progress_;
    std::vector<const Dataset*> datasets_, hidden_;
    std::optional<Check> slow_;
    bool may_be_swapped_ = false;  // whether the grid and the block of a launch may be swapped
    std::optional<GpuLock> gpu_;   // while the checks use it
    Evidence evidence_;
    Ahead ahead_;
    std::jthread solver_;
};

}  // namespace

std::future<void> Judge::compile_ahead(const Lab& lab, const Stage& stage, const Source& source,
                                       const Task& task) const {
    const CompileRequest request = check_request(*this, lab, stage, source, task);
    return std::async(std::launch::async, [this, request, task] {
        const Later later = compile_later(*this, request, task);
        compile(request);
    });
}

StageReport Judge::judge_stage(const Lab& lab, const Stage& stage, const Source& source, const Task& requested,
                               const Listener& listener) {
    Task task = requested;
    task.budget = untimed_budget(task);
    StageReport report;
    report.stage = stage.id;
    report.title = stage.title;
    report.source = source.file().string();
    const CompileRequest request = check_request(*this, lab, stage, source, task);
    PhaseClock clock;
    const Progress progress = [&](GradingPhase phase, const std::string& what) {
        clock.enter(phase);
        listener.doing(what);
    };
    StageJudge steps(*this, request, task, progress);
    try {
        report.source_hash = source.hash();
        steps.take_all_steps();
    } catch (const ManifestError&) {
        throw;
    } catch (const UsageError&) {
        throw;
    } catch (const std::exception& error) {
        steps.handle_exception(error.what());
    }
    report.phases = clock.finish();
    return settle(std::move(report), stage, steps.evidence(), task.options.dataset);
}

}  // namespace warplab
