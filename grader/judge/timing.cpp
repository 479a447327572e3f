#include "grader/judge/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <utility>

#include "grader/common/hash.h"
#include "grader/judge/bench/few_calls.h"
#include "grader/judge/bench/kept_numbers.h"
#include "grader/judge/bench/pool.h"
#include "grader/judge/machine.h"
#include "grader/judge/run/ending.h"
#include "grader/model/cause.h"
#include "grader/model/recipe.h"
#include "grader/model/score.h"

namespace warplab {
namespace {

const Effort fixed_effort{.rounds = {.min = 1, .max = 1},
                          .rounds_of_short_calls = {.min = 1, .max = 1},
                          .samples = 3,
                          .sample_s = 0.3,
                          .total_s = 6,
                          .verify_s = 3};

/// Return the number of calls whose new inputs are made before the GPU is locked. It is a guess, because the GPU's time
/// is still unknown: if it is too small, FewCalls makes the others while the GPU is locked.
std::size_t guess_calls_on_new_inputs(double openmp_s) {
    constexpr double gpu_speedup = 100;
    return static_cast<std::size_t>(timing::calls_per_short_command(openmp_s / gpu_speedup));
}

/// Return the budget of untrusted code for timing, whose samples take up to 40 seconds.
std::shared_ptr<Budget> timed_budget(const Task& task) {
    constexpr double wall_s = 180, cpu_s = 180;
    return task.sandbox == SandboxLevel::none ? nullptr : std::make_shared<Budget>(wall_s, cpu_s);
}

/// Call measure() and convert its exceptions to an error.
Measured measure_or_error(StageRun& run, StageRun* reference, const Dataset& dataset, const Bandwidth& bandwidth,
                          const Effort& effort, const Baseline& cpu, const Progress& progress,
                          const std::optional<timing::Inputs>& inputs) {
    Measured measured;
    try {
        measured = measure(run, reference, dataset, bandwidth, effort, cpu, progress, inputs);
    } catch (const std::exception& error) {
        measured.measurement.dataset = dataset.name;
        measured.error = internal_error(fmt::format("{} could not be timed: {}.", dataset.name, error.what()));
    }
    {
        std::future<void> reference_end;
        if (reference) reference_end = std::async(std::launch::async, [&] { reference->end_session(); });
        run.end_session();
    }
    if (measured.failure && may_be_judges_fault(*measured.failure))
        measured.error = std::exchange(measured.failure, {});
    return measured;
}

/// Return the failure of a program whose dataset can be timed with the reference.
Failure fault_while_timed(const Failure& failure) {
    return {cause::crash, failure.message + " Without this program, the dataset can be timed.",
            "Does the program allocate memory that it never frees, or end by itself?", failure.place};
}

/// Measure, and report an error only if the reference in place of the student's code also causes an error, because code
/// that hoards memory can make other processes fail. The student's code is at fault only if the error occurs again
/// after the measurement of the reference, because other programs can take the GPU's memory for a while. Impossible
/// times are an error only if a second measurement also has them, because a change of clocks or another program can
/// cause them.
Measured measure_confirmed(StageRun& run, StageRun* reference, const Dataset& dataset, const Bandwidth& bandwidth,
                           const Effort& effort, const Baseline& cpu, const Progress& progress,
                           const std::optional<timing::Inputs>& inputs) {
    const auto measure_once = [&] {
        return measure_or_error(run, reference, dataset, bandwidth, effort, cpu, progress, inputs);
    };
    const Measured measured = measure_once();
    if (!measured.error) return measured;
    if (measured.error->cause == cause::implausible_timing) return measure_once();
    if (!run.reference) return measured;
    const std::unique_ptr<StageRun> stand_in = run.reference();
    if (!stand_in) return measured;
    const Measured of_reference =
        measure_or_error(*stand_in, reference, dataset, bandwidth, fixed_effort, cpu, progress, inputs);
    if (of_reference.error || of_reference.failure) return measured;
    const Measured second = measure_once();
    if (!second.error || second.error->cause == cause::implausible_timing) return second;
    return {measured.measurement, fault_while_timed(*measured.error), std::nullopt};
}

/// Add the fields that do not depend on the program.
Measurement completed(Measurement m, const Dataset& dataset, const Baseline& cpu, std::optional<double> previous_ratio,
                      bool on_cpu, bool has_reference) {
    m.previous_ratio = previous_ratio;
    m.sequential_s = cpu.sequential_s * m.iterations;
    m.openmp_s = cpu.openmp_s * m.iterations;
    m.openmp_threads = cpu.threads;
    m.scored = !dataset.uses.unscored;
    if (!m.scored) m.caveats.push_back("this time gives no points");
    if (on_cpu) m.caveats.push_back("timed on the CPU backend: says nothing about a GPU");
    if (!on_cpu && !has_reference) m.caveats.push_back("no reference solution here: speed points are pending");
    return m;
}

std::vector<const Dataset*> timed_datasets(const StageRun& run, const Task& task) {
    const bool without_cuda_only = run.backend == Backend::cpu || task.options.no_cuda_only;
    std::vector<const Dataset*> chosen;
    for (const Dataset& dataset : run.lab.datasets) {
        const bool requested = dataset.name == task.options.dataset;
        if (!dataset.uses.bench || !dataset.applies_to(run.stage)) continue;
        if (dataset.uses.unscored && !task.options.unscored && !requested) continue;
        if (dataset.uses.cuda_only && without_cuda_only) continue;
        if (task.options.dataset.empty() || requested) chosen.push_back(&dataset);
    }
    return chosen;
}

/// Return the check without its points: the dataset's own check has them.
Check without_points(Check check) {
    check.points = 0;
    return check;
}

/// The previous stage's solution, which is timed in alternation with this stage's solution once per machine and
/// dataset.
class PreviousSolution {
  public:
    PreviousSolution(Judge& judge, const StageRun& run, const Task& task) : judge_(judge), run_(run), task_(task) {
        const std::vector<Stage>& stages = run.lab.stages;
        const auto iterator =
            std::find_if(stages.begin(), stages.end(), [&](const Stage& s) { return s.id == run.stage.id; });
        if (iterator == stages.begin() || iterator == stages.end()) return;
        source_ = judge.source_of(run.lab, *(iterator - 1), "solutions");
        if (std::filesystem::exists(source_)) stage_ = &*(iterator - 1);
    }

    /// Return the time of this solution divided by the reference's; nothing if there is no solution or timing fails.
    std::optional<double> ratio(StageRun& reference, const Dataset& dataset, const Effort& effort, const Baseline& cpu,
                                const Progress& progress, const std::optional<timing::Inputs>& inputs) {
        if (!stage_ || !dataset.applies_to(*stage_)) return std::nullopt;
        const std::filesystem::path file = judge_.folders().build / "cache" / "previous.json";
        const std::string name = name_of(dataset);
        if (const auto kept = find_numbers(file, name, 1)) return kept->front();
        progress(GradingPhase::baselines, fmt::format("timing the solution of {}, once on this machine", stage_->id));
        const std::unique_ptr<StageRun> run = ready();
        if (!run) return std::nullopt;
        const Bandwidth& bandwidth = judge_.bandwidth();  // not within keep_numbers(): both take the same lock
        Effort for_ratio = effort;
        for_ratio.points = {};
        for_ratio.rounds = for_ratio.rounds_of_short_calls = {.min = 4, .max = 4};
        const std::vector<double> numbers = keep_numbers(file, name, 1, [&]() -> std::vector<double> {
            const Measured measured =
                measure_or_error(*run, &reference, dataset, bandwidth, for_ratio, cpu, progress, inputs);
            if (measured.failure || measured.error) return {};
            return {measured.measurement.reference_ratio->median};
        });
        return numbers.empty() ? std::nullopt : std::optional(numbers.front());
    }

  private:
    std::string name_of(const Dataset& dataset) const {
        const Machine machine = describe_machine();
        const std::filesystem::path solution = judge_.source_of(run_.lab, run_.stage, "solutions");
        return fmt::format("{}/{}/{}/{}", run_.lab.name, run_.stage.id, dataset.name,
                           sha256(machine.gpu + machine.driver + machine.compiler + sha256_file(source_) +
                                  sha256_file(solution) + format_parameters(dataset.parameters)));
    }

    std::unique_ptr<StageRun> ready() {
        Task task = task_;
        task.defines.clear();
        task.budget = nullptr;
        return std::move(judge_.make_ready(run_.lab, *stage_, source_, task).run);
    }

    Judge& judge_;
    const StageRun& run_;
    const Task& task_;
    const Stage* stage_ = nullptr;
    std::filesystem::path source_;
};

/// Return inputs that are made before the GPU is locked; nothing if memory runs out: measure() then makes them, and its
/// caller reports an error.
std::optional<timing::Inputs> make_inputs_without_gpu(const StageRun& run, const Dataset& dataset, std::size_t fresh) {
    try {
        return timing::make_inputs(run, dataset, fresh);
    } catch (const std::bad_alloc&) {
        return std::nullopt;
    }
}

/// Return the seconds for copying the inputs and outputs of all iterations, measured once on this machine; 0 if the
/// measurement fails.
double transfer_s(const Judge& judge, const StageRun& run, const Dataset& dataset, const Problem& inputs) {
    const Machine machine = describe_machine();
    const std::string name =
        fmt::format("{}/{}/{}", run.lab.name, dataset.name,
                    sha256(machine.gpu + machine.driver + machine.cpu + format_parameters(dataset.parameters)));
    const auto measure_once = [&]() -> std::vector<double> {
        return {timing::measure_transfer(run, timing::shape_of_call(run, inputs))};
    };
    try {
        const double call_s =
            keep_numbers(judge.folders().build / "cache" / "transfers.json", name, 1, measure_once).front();
        return call_s * run.lab.benchmark.iterations / run.lab.benchmark.iterations_per_call;
    } catch (const std::exception&) {
        return 0;
    }
}

/// Return the file's program without the sanitizer's hooks; null, and the reason in `timed`, if it does not compile.
std::unique_ptr<StageRun> without_hooks(Judge& judge, const StageRun& run, const Source& source, const Dataset& first,
                                        Task task, Timed& timed) {
    task.fast = true;
    task.budget = timed_budget(task);
    Judge::Ready ready = judge.make_ready(run.lab, run.stage, source, task);
    if (ready.run) return std::move(ready.run);
    Failure reported = *ready.compilation.failure;
    reported.message = "The file compiles for the sanitizer, but not for timing. " + reported.message;
    if (ready.compilation.verdict == Verdict::error)
        timed.error = reported;
    else
        timed.failed = without_points(failed_check(first, reported));
    return nullptr;
}

/// Return the stage's solution, ready to be timed in alternation; null if there is none or it does not compile.
std::unique_ptr<StageRun> solution_of(Judge& judge, const StageRun& run, Task task, Timed& timed) {
    const std::filesystem::path solution = judge.source_of(run.lab, run.stage, "solutions");
    if (!std::filesystem::exists(solution)) return nullptr;
    task.defines.clear();
    task.budget = nullptr;
    Judge::Ready ready = judge.make_ready(run.lab, run.stage, solution, task);
    timed.reference_does_not_compile = !ready.run;
    return std::move(ready.run);
}

}  // namespace

Effort effort_for(const Task& task, bool on_cpu, std::size_t count) {
    if (on_cpu) return fixed_effort;
    Effort effort{.rounds_of_short_calls = {.min = 4, .max = 16}, .sample_s = 0.05, .verify_s = 0.25};
    if (task.options.precise) effort = {};
    if (task.options.sample_s > 0) effort.sample_s = task.options.sample_s;
    effort.total_s /= static_cast<double>(std::max<std::size_t>(count, 1));
    return effort;
}

PointsFor points_for(const Stage& stage, double sequential_s, std::optional<double> previous_ratio) {
    return [=, max_points = stage.points.speed](double ratio, double reference_s) {
        if (std::isnan(ratio) || !(reference_s > 0)) return std::numeric_limits<double>::quiet_NaN();
        return max_points * speed_share(ratio * reference_s, speed_marks(reference_s, sequential_s, previous_ratio));
    };
}

void time_stage(Timed& timed, Judge& judge, StageRun& run, const Source& source, const Task& task,
                const Progress& progress) {
    const std::vector<const Dataset*> datasets = timed_datasets(run, task);
    if (datasets.empty()) return;
    const bool on_cpu = judge.backend() == Backend::cpu;
    run.end_session();
    progress(on_cpu ? GradingPhase::compile : GradingPhase::compile_reference,
             on_cpu ? "compiling for timing" : "compiling the reference");
    const std::unique_ptr<StageRun> fast =
        on_cpu ? without_hooks(judge, run, source, *datasets.front(), task, timed) : nullptr;
    if (on_cpu && !fast) return;
    const std::unique_ptr<StageRun> solution = on_cpu ? nullptr : solution_of(judge, run, task, timed);
    StageRun& to_time = fast ? *fast : run;
    to_time.policy.budget = timed_budget(task);
    Effort effort = effort_for(task, on_cpu, datasets.size());
    PreviousSolution previous(judge, run, task);
    for (const Dataset* dataset : datasets) {
        const Progress say = [&](GradingPhase phase, const std::string& what) {
            progress(phase, fmt::format("{}: {}", dataset->name, what));
        };
        say(GradingPhase::baselines, "CPU baselines");
        const Baseline cpu = judge.baseline(run.lab, *dataset);
        say(GradingPhase::inputs, "making inputs");
        const double call_s = cpu.openmp_s * run.lab.benchmark.iterations_per_call;
        const bool on_new_inputs = solution && timing::can_keep_results(run.lab) && call_s <= effort.verify_s;
        const std::optional<timing::Inputs> inputs =
            make_inputs_without_gpu(to_time, *dataset, on_new_inputs ? guess_calls_on_new_inputs(call_s) : 0);
        const auto lock = judge.lock_gpu(GpuLock::Use::alone,
                                         [&](const std::string& what) { say(GradingPhase::wait_for_gpu, what); });
        std::optional<double> previous_ratio;
        if (solution && !dataset->uses.unscored)
            previous_ratio = previous.ratio(*solution, *dataset, effort, cpu, say, inputs);
        if (solution && !task.options.precise)
            effort.points = points_for(run.stage, cpu.sequential_s * run.lab.benchmark.iterations, previous_ratio);
        const Measured measured =
            measure_confirmed(to_time, solution.get(), *dataset, judge.bandwidth(), effort, cpu, say, inputs);
        if (measured.failure) {
            timed.failed = without_points(failed_check(*dataset, *measured.failure));
            return;
        }
        timed.measurements.push_back(
            completed(measured.measurement, *dataset, cpu, previous_ratio, on_cpu, solution != nullptr));
        if (inputs && !measured.error)
            timed.measurements.back().transfer_s = transfer_s(judge, to_time, *dataset, inputs->pool);
        timed.error = measured.error;
        if (measured.error) return;
    }
}

}  // namespace warplab
