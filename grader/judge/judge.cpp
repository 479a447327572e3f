#include "grader/judge/judge.h"

#include <dlfcn.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>
#include <utility>

#include "grader/common/hash.h"
#include "grader/judge/compile/compile.h"
#include "grader/judge/compile/toolchain.h"
#include "grader/judge/device/cuda_device.h"
#include "grader/judge/machine.h"
#include "grader/judge/run/ending.h"
#include "grader/judge/sanitizer/check_mode.h"
#include "grader/model/cause.h"
#include "grader/model/recipe.h"
#include "grader/model/score.h"
#include "grader/model/version.h"

namespace warplab {
namespace {

constexpr Effort forced_effort{.rounds = {.fewest = 1, .most = 1},
                               .of_short_calls = {.fewest = 1, .most = 1},
                               .samples = 3,
                               .sample_s = 0.3,
                               .total_s = 6,
                               .verify_s = 3};

Failure ours(const std::string& what) { return {cause::internal, what, "This is not the student's fault.", {}}; }

bool wanted(const Dataset& dataset, const Stage& stage, const Task& task) {
    if (!dataset.applies_to(stage)) return false;
    if (!task.options.dataset.empty()) return dataset.name == task.options.dataset;
    return dataset.uses.check || (dataset.uses.hidden && task.hidden);
}

/// Whether the failure took long and would take as long with every other dataset.
bool is_slow(const Check& check) {
    if (!check.failure) return false;
    return check.failure->cause == cause::timeout || (check.failure->cause == cause::out_of_memory && check.wall_s > 2);
}

Check not_run(const Dataset& dataset, const Check& slow) {
    Check check{dataset.name, dataset.uses.hidden, dataset.points, Verdict::failed, false, "", std::nullopt, 0};
    const std::string& why = slow.failure->cause;
    check.failure = Failure{why, fmt::format("Not run, because of what happened on {}.", slow.dataset), "", {}};
    check.blocked_by = slow.dataset;
    return check;
}

/// Return whether the dataset was not run because of another one. Check mode would hang on it again.
bool was_not_run(const StageReport& report, const Dataset& dataset) {
    return std::any_of(report.checks.begin(), report.checks.end(),
                       [&](const Check& check) { return check.dataset == dataset.name && !check.blocked_by.empty(); });
}

Check left_out(const Dataset& dataset) {
    return {dataset.name,   dataset.uses.hidden,
            dataset.points, Verdict::error,
            true,           "--no-cuda-only leaves it out",
            std::nullopt,   0};
}

/// Return the memory that a CPU may provide: the device's memory, and for each core the stacks of a block's threads
/// (cpu/runtime).
std::uint64_t memory_without_gpu() {
    constexpr std::uint64_t device_bytes = 4ull << 30, stack_bytes = 288ull << 20;
    return device_bytes + std::min(std::thread::hardware_concurrency(), 24u) * stack_bytes;
}

/// Return the budget of untrusted code for one stage, without timing. On one slow core the slowest solution takes about
/// a tenth of it.
std::shared_ptr<Budget> untimed_budget(const Task& task) {
    constexpr double wall_s = 90, cpu_s = 150;
    return task.sandbox == SandboxLevel::none ? nullptr : std::make_shared<Budget>(wall_s, cpu_s);
}

/// Return the same budget for timing, whose samples take up to 40 seconds.
std::shared_ptr<Budget> timed_budget(const Task& task) {
    constexpr double wall_s = 180, cpu_s = 180;
    return task.sandbox == SandboxLevel::none ? nullptr : std::make_shared<Budget>(wall_s, cpu_s);
}

/// Return the same request for check mode, which only the CPU backend has.
CompileRequest check_mode_request(CompileRequest request) {
    request.backend = Backend::cpu;
    request.fast = false;
    return request;
}

void inspect_datasets(StageRun& run, const Parts& datasets, const LaunchDigests& launches,
                      const std::filesystem::path& source, StageReport& report, const Listener& listener) {
    const Watched watched = run_check_mode(run, datasets, launches, source, outputs_failed(report), listener.doing);
    report.check_mode = watched.result;
    explain_by_findings(report.checks, watched.result.findings);
    if (outputs_failed(report)) return;
    for (const std::string& unused : watched.unused_techniques) report.notes.push_back(unused);
}

/// Turn the failure of a file that nvcc compiles into a refusal by the CPU backend, so that a GPU decides its points.
void leave_to_gpu(Failure& failure) {
    if (failure.cause == cause::refused_feature) return;
    failure.cause = cause::refused_feature;
    failure.message = fmt::format("This file cannot run on the CPU backend; nvcc compiles it. {}", failure.message);
    failure.hint = "Grading on a GPU (BACKEND=cuda) decides. You can also solve the stage without this feature.";
}

/// Fail every dataset, because the file prevents the judge from finishing.
void fail_all(StageReport& report, const Lab& lab, const Stage& stage, const Task& task, const std::string& what) {
    const Failure failure{cause::crash,
                          fmt::format("The judge could not finish grading this file: {}. It grades the stage's "
                                      "reference, so something in this file causes it.",
                                      what),
                          "",
                          {}};
    report.verdict = Verdict::failed;
    report.error.reset();
    report.measurements.clear();
    report.checks.clear();
    for (const Dataset& dataset : lab.datasets)
        if (wanted(dataset, stage, task))
            report.checks.push_back(
                {dataset.name, dataset.uses.hidden, dataset.points, Verdict::failed, false, "", failure, 0});
}

/// Call measure() and convert its exceptions to an error.
Measured measure_or_error(StageRun& run, StageRun* reference, const Dataset& dataset, const Bandwidth& bandwidth,
                          const Effort& effort, const Baseline& cpu, const Progress& progress) {
    Measured measured;
    try {
        measured = measure(run, reference, dataset, bandwidth, effort, cpu, progress);
    } catch (const std::exception& error) {
        measured.measurement.dataset = dataset.name;
        measured.error = ours(fmt::format("{} could not be timed: {}.", dataset.name, error.what()));
    }
    run.end_session();
    if (reference) reference->end_session();
    if (measured.failure && can_be_ours(*measured.failure)) measured.error = std::exchange(measured.failure, {});
    return measured;
}

/// Return the failure of a program whose dataset can be timed with the reference.
Failure fault_while_timed(Failure failure) {
    failure.cause = cause::crash;
    failure.message += " Without this program, the dataset can be timed.";
    failure.hint = "Does the program allocate memory that it never frees, or end by itself?";
    return failure;
}

/// Whether the outputs are correct: then the stage can be timed, however the outputs came about.
bool settle_verdict(StageReport& report) {
    report.verdict = verdict_of(report.checks);
    const bool right = report.verdict == Verdict::passed;
    if (right && first_finding(report)) report.verdict = Verdict::failed;
    return right;
}

}  // namespace

Judge::Judge(Folders folders, Backend backend) : folders_(std::move(folders)), backend_(backend) {}
Judge::~Judge() = default;

const Lab& Judge::lab(const std::string& name) {
    const auto known = labs_.find(name);
    return known != labs_.end() ? known->second : labs_.emplace(name, load_lab(folders_.root, name)).first->second;
}

Lab& Judge::lab_for_grading(const std::string& name) {
    lab(name);
    Lab& found = labs_.at(name);
    const bool has_hidden = std::any_of(found.datasets.begin(), found.datasets.end(),
                                        [](const Dataset& dataset) { return dataset.uses.hidden; });
    if (has_hidden) resolve_hidden_seeds(found, course_secret(folders_.root));
    return found;
}

/// Return the lab's oracle, loaded; it stays loaded.
void* Judge::library(const Lab& lab) {
    void*& library = libraries_[lab.name];
    if (library) return library;
    const std::filesystem::path file = std::filesystem::absolute(folders_.build) / "labs" / lab.name / "oracle.so";
    library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        throw std::runtime_error(
            fmt::format("The oracle of {} cannot be loaded ({}). Type make to build it.", lab.name, dlerror()));
    return library;
}

const Oracle& Judge::oracle(const Lab& lab) {
    const auto make = reinterpret_cast<const Oracle* (*)()>(dlsym(library(lab), "warplab_oracle"));
    if (!make) throw std::runtime_error(fmt::format("The oracle of {} does not define warplab_oracle().", lab.name));
    return *make();
}

Judge::ShowMaker Judge::show_maker(const Lab& lab) {
    return reinterpret_cast<ShowMaker>(dlsym(library(lab), "warplab_show"));
}

Memory& Judge::device_memory(Backend backend) {
    if (backend == Backend::cuda) return CudaDevice::get();
    if (!file_memory_) file_memory_ = make_file_memory(protocol::Transport::shared);
    return *file_memory_;
}

const Bandwidth& Judge::bandwidth() {
    if (bandwidth_) return *bandwidth_;
    bandwidth_ = std::make_unique<Bandwidth>();
    if (backend_ == Backend::cpu) return *bandwidth_;
    CudaDevice& device = CudaDevice::get();
    const std::size_t large = std::min<std::size_t>(1ull << 30, device.free_bytes() / 8 / 4096 * 4096);
    device.warm_up(0.3);
    bandwidth_->copy_bytes_per_s = device.copy_bandwidth(large);
    bandwidth_->read_bytes_per_s = device.read_bandwidth(large);
    bandwidth_->l2_bytes = device.limits().l2_bytes;
    bandwidth_->l2_bytes_per_s =
        device.read_bandwidth(std::max<std::size_t>(1 << 20, bandwidth_->l2_bytes / 2 / 4096 * 4096));
    return *bandwidth_;
}

std::filesystem::path Judge::source_of(const Lab& lab, const Stage& stage, const std::string& tree) const {
    const std::string file = stage.id + ".cu";
    if (tree.empty() || tree == "work") return folders_.work / lab.name / file;
    if (tree == "solutions" || tree == "starter") return folders_.root / tree / lab.name / file;
    const std::filesystem::path folder = tree;
    const std::filesystem::path inside = folder / lab.name / file;
    return std::filesystem::exists(inside) ? inside : folder / file;
}

Report Judge::begin_report(const std::string& verb, const Lab& lab, const Task& task, const std::string& tree) const {
    Report report;
    report.verb = verb;
    report.lab = lab.name;
    report.backend = backend_name(backend_);
    report.sandbox = sandbox_name(task.sandbox);
    if (task.sandbox != SandboxLevel::none) report.sandbox_remark = sandbox_remark();
    report.tree = tree.empty() ? "work" : tree;
    report.time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    report.warplab = version();
    report.machine = describe_machine();
    return report;
}

CompileRequest Judge::compile_request(const Lab& lab, const Stage& stage, const std::filesystem::path& source,
                                      const Task& task) const {
    CompileRequest request{lab,          stage,          source,         backend_,  task.defines,
                           task.sandbox, folders_.build, task.for_tools, task.fast, task.libraries};
    request.budget = task.budget;
    return request;
}

Judge::Ready Judge::make_ready(const Lab& lab, const Stage& stage, const std::filesystem::path& source,
                               const Task& task) {
    return make_ready(compile_request(lab, stage, source, task));
}

Judge::Ready Judge::make_ready(const CompileRequest& request) {
    const Compiled compiled = compile(request);
    const bool passed = compiled.result.verdict == Verdict::passed;
    return {compiled.result, passed ? make_run(request, compiled) : nullptr, compiled.refused};
}

std::unique_ptr<StageRun> Judge::make_run(const CompileRequest& request, const Compiled& compiled) {
    const bool on_gpu = request.backend == Backend::cuda;
    Policy policy;
    policy.activity = Activity::run;
    policy.level = request.level;
    policy.readable = {compiled.runner.parent_path()};
    policy.gpu = on_gpu;
    if (on_gpu) policy.gpu_node = CudaDevice::get().node();  // other programs may be timed on the other GPUs
    policy.limits.memory_bytes = on_gpu ? 8ull << 30 : memory_without_gpu();
    policy.limits.flood_bytes = 32 << 20;
    policy.limits.processes = 64;
    policy.budget = request.budget;
    if (!host_memory_) host_memory_ = make_file_memory(protocol::Transport::shared);
    auto run =
        std::unique_ptr<StageRun>(new StageRun{request.lab, request.stage, oracle(request.lab), request.backend,
                                               compiled.runner, policy, device_memory(request.backend), *host_memory_});
    run->answers = answers_;
    run->reference = [this, request] { return make_reference_run(request); };
    if (compiled.split)
        run->by_fibers = [request = CompileRequest(request)]() mutable {
            request.by_fibers = true;
            return compile(request).runner;
        };
    return run;
}

std::unique_ptr<StageRun> Judge::make_reference_run(const CompileRequest& request) {
    return make_ready(request_of_reference(request)).run;
}

bool Judge::reference_gives_error(const Lab& lab, const Stage& stage, const Task& task) {
    Task untimed = task;
    untimed.measure = untimed.all_compilers = false;
    return judge_stage(lab, stage, reference_source(lab, stage), untimed, {}).verdict == Verdict::error;
}

std::map<std::string, KernelResources> Judge::resources(const Lab& lab, const Stage& stage,
                                                        const std::filesystem::path& source,
                                                        const std::string& architecture) {
    return read_resource_report(resource_report(compile_request(lab, stage, source, Task{}), architecture));
}

/// A graded submission is one program with the sanitizer's hooks, so that it cannot detect the sanitizer. In a
/// student's own check nothing is graded: there, the datasets run without hooks, in a fraction of the time.
bool Judge::inspects_another_program(const Task& task) const { return backend_ == Backend::cuda || task.own_code; }

CompileRequest Judge::check_request(const Lab& lab, const Stage& stage, const std::filesystem::path& source,
                                    Task task) const {
    task.fast = inspects_another_program(task);
    return compile_request(lab, stage, source, task);
}

std::future<void> Judge::compile_ahead(const Lab& lab, const Stage& stage, const std::filesystem::path& source,
                                       const Task& task) const {
    const CompileRequest request = check_request(lab, stage, source, task);
    return std::async(std::launch::async, [this, request, task] {
        std::future<NvccAnswer> nvcc;
        std::future<Compiled> watched;
        if (task.all_compilers && backend_ == Backend::cpu) nvcc = ask_nvcc(request);
        if (task.check_mode && inspects_another_program(task))
            watched = std::async(std::launch::async, compile, check_mode_request(request));
        compile(request);
    });
}

StageReport Judge::judge_stage(const Lab& lab, const Stage& stage, const std::filesystem::path& source,
                               const Task& asked, const Listener& listener) {
    Task task = asked;
    task.budget = untimed_budget(task);
    StageReport report;
    report.stage = stage.id;
    report.title = stage.title;
    report.source = source.string();
    try {
        if (std::filesystem::is_regular_file(source)) report.source_hash = sha256_file(source);
        listener.doing("compiling");
        std::future<NvccAnswer> nvcc;
        const CompileRequest request = check_request(lab, stage, source, task), watched = check_mode_request(request);
        if (task.all_compilers && backend_ == Backend::cpu) nvcc = ask_nvcc(request);
        std::future<Compiled> compiled_to_watch;
        if (task.check_mode && inspects_another_program(task))
            compiled_to_watch = std::async(std::launch::async, compile, watched);
        Ready ready = make_ready(request);
        report.compilation = ready.compilation;
        report.verdict = ready.compilation.verdict;
        if (ready.run) {
            const Checked checked = check_all(*ready.run, report, task, listener);
            ready.run->end_session();
            if (task.check_mode) {
                listener.doing("compiling for check mode");
                const Compiled same{ready.compilation, ready.run->runner};
                watch(watched, compiled_to_watch.valid() ? compiled_to_watch.get() : same, checked, report, task,
                      listener);
                check_by_fibers_if_doubtful(*ready.run, report, task, listener);
            }
            if (settle_verdict(report) && task.measure) measure_all(*ready.run, report, task, listener);
            ready.run->end_session();
            report.output = ready.run->output;
        }
        if (nvcc.valid()) {
            listener.doing("compiling for a real GPU");
            const NvccAnswer answer = nvcc.get();
            const auto& failure = report.compilation.failure;  // of a file that was not given to a compiler
            if (!failure || answer.log != failure->message) report.compilation.nvcc = answer;
            if (ready.refused && answer.answer == NvccAnswer::Answer::compiles)
                leave_to_gpu(*report.compilation.failure);
        }
    } catch (const ManifestError&) {
        throw;
    } catch (const UsageError&) {
        throw;
    } catch (const std::exception& error) {
        report.verdict = Verdict::error;
        report.error = ours(error.what());
        const std::filesystem::path reference = reference_source(lab, stage);
        if (!reference.empty() && reference != std::filesystem::absolute(source) &&
            !reference_gives_error(lab, stage, task))
            fail_all(report, lab, stage, task, error.what());
    }
    if (!task.options.dataset.empty())
        report.notes.push_back(fmt::format("Not scored: only the dataset {} was asked for.", task.options.dataset));
    else if (report.verdict != Verdict::error)
        report.score = score_stage(stage, report);
    return report;
}

/// Run the datasets of check mode first, in a separate process, as check mode does, so that the sequence of calls does
/// not reveal the sanitizer. Returns their launches on this backend.
Judge::Checked Judge::check_all(StageRun& run, StageReport& report, const Task& task, const Listener& listener) {
    std::vector<const Dataset*> others;
    for (const Dataset& dataset : run.lab.datasets)
        if (wanted(dataset, run.stage, task)) others.push_back(&dataset);
    Checked checked;
    if (task.check_mode && !inspects_another_program(task)) checked.small = split_small(run, others);
    std::optional<Check> slow;
    std::map<const Dataset*, Check> checks;
    const auto check = [&](const Dataset& dataset) {
        listener.doing("checking " + dataset.name);
        run.launch_digests.clear();
        const bool could_run = why_not_here(run, dataset).empty();
        Check found = slow && could_run ? not_run(dataset, *slow) : check_dataset(run, dataset);
        if (found.verdict != Verdict::passed && !found.skipped && !is_slow(found) && run.by_fibers) {
            run.change_to_fibers();
            found = check_dataset(run, dataset);
        }
        listener.checked(found);
        if (!slow && (is_slow(found) || (found.failure && found.failure->hangs))) slow = found;
        return found;
    };
    for (const auto& part : checked.small) {
        for (const Dataset* dataset : part) {
            checks[dataset] = check(*dataset);
            checked.launches[dataset->name] = run.launch_digests;
        }
        run.end_session();
    }
    for (const Dataset* dataset : others)
        if (!checks.contains(dataset))
            checks[dataset] =
                task.options.no_cuda_only && dataset->uses.cuda_only ? left_out(*dataset) : check(*dataset);
    for (const Dataset& dataset : run.lab.datasets)
        if (checks.contains(&dataset)) report.checks.push_back(checks[&dataset]);
    return checked;
}

/// Run check mode after the datasets; if outputs are wrong, its first finding is the likely reason.
void Judge::watch(const CompileRequest& request, const Compiled& ready, const Checked& checked, StageReport& report,
                  const Task& task, const Listener& listener) {
    if (std::any_of(report.checks.begin(), report.checks.end(), is_slow)) return;
    const auto begin = std::chrono::steady_clock::now();
    if (ready.result.verdict != Verdict::passed) {
        report.check_mode = without_check_mode(ready.result);
    } else {
        try {
            const auto run = make_run(request, ready);
            std::vector<const Dataset*> asked;
            for (const Dataset& dataset : request.lab.datasets)
                if (wanted(dataset, request.stage, task)) asked.push_back(&dataset);
            Parts datasets = inspects_another_program(task) ? split_small(*run, asked) : checked.small;
            for (auto& part : datasets)
                std::erase_if(part, [&](const Dataset* dataset) { return was_not_run(report, *dataset); });
            inspect_datasets(*run, datasets, checked.launches, request.source, report, listener);
        } catch (const std::exception& error) {
            report.check_mode = CheckMode{};
            report.check_mode->remark = fmt::format("check mode could not finish: {}", error.what());
        }
    }
    report.check_mode->wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Check a stage again, each thread on a fiber, if the sanitizer did not pass it. A kernel that is split at its
/// barriers runs in one order of threads only.
void Judge::check_by_fibers_if_doubtful(StageRun& run, StageReport& report, const Task& task,
                                        const Listener& listener) {
    if (!run.by_fibers || !report.check_mode || report.check_mode->verdict == CheckMode::Verdict::passed) return;
    run.change_to_fibers();
    report.checks.clear();
    check_all(run, report, task, listener);
    explain_by_findings(report.checks, report.check_mode->findings);
}

void Judge::measure_all(StageRun& run, StageReport& report, const Task& task, const Listener& listener) {
    const bool on_cpu = backend_ == Backend::cpu;
    if (on_cpu && !task.options.force) return;
    run.end_session();
    Ready fast;  // the checked program has the sanitizer's hooks, which cost time
    if (on_cpu) {
        listener.doing("compiling for timing");
        Task fast_task = task;
        fast_task.fast = true;
        fast = make_ready(run.lab, run.stage, report.source, fast_task);
        if (!fast.run) throw std::runtime_error("the stage does not compile without the sanitizer's hooks");
    }
    StageRun& to_time = fast.run ? *fast.run : run;
    to_time.policy.budget = timed_budget(task);
    const std::filesystem::path solution = source_of(run.lab, run.stage, "solutions");
    Ready reference;
    if (!on_cpu && std::filesystem::exists(solution)) {
        listener.doing("compiling the reference");
        Task reference_task = task;
        reference_task.defines.clear();
        reference_task.budget = nullptr;
        reference = make_ready(run.lab, run.stage, solution, reference_task);
        if (!reference.run)
            report.notes.push_back("The reference solution does not compile here, so it was not timed alongside.");
    }
    const auto timed = [&](const Dataset& dataset) {
        return dataset.uses.bench && dataset.applies_to(run.stage) &&
               (task.options.unscored || !dataset.uses.unscored || dataset.name == task.options.dataset) &&
               !((on_cpu || task.options.no_cuda_only) && dataset.uses.cuda_only) &&
               (task.options.dataset.empty() || dataset.name == task.options.dataset);
    };
    const auto count = std::count_if(run.lab.datasets.begin(), run.lab.datasets.end(), timed);
    Effort effort = on_cpu ? forced_effort : Effort{};
    effort.sample_s *= task.options.sample_s;
    effort.total_s *= task.options.sample_s;
    effort.verify_s = std::max(0.5, effort.verify_s * task.options.sample_s);
    effort.total_s /= static_cast<double>(std::max<long>(count, 1));
    for (const Dataset& dataset : run.lab.datasets) {
        if (!timed(dataset)) continue;
        const auto say = [&](const std::string& what) { listener.doing(fmt::format("{}: {}", dataset.name, what)); };
        say("CPU baselines");
        const Baseline cpu = baseline(run.lab, dataset);
        Measured measured = measure_confirmed(to_time, reference.run.get(), dataset, effort, cpu, say);
        if (measured.failure) {
            report.verdict = Verdict::failed;
            constexpr double no_points = 0;  // the dataset's own check has them
            report.checks.push_back(
                {dataset.name, dataset.uses.hidden, no_points, Verdict::failed, false, "", measured.failure, 0});
            return;
        }
        if (measured.error) {
            report.verdict = Verdict::error;
            report.error = measured.error;
        }
        Measurement& m = measured.measurement;
        m.sequential_s = cpu.sequential_s * m.iterations;
        m.openmp_s = cpu.openmp_s * m.iterations;
        m.openmp_threads = cpu.threads;
        m.scored = !dataset.uses.unscored;
        if (!m.scored) m.caveats.push_back("this time counts for no points");
        if (on_cpu) m.caveats.push_back("timed on the CPU backend: says nothing about a GPU");
        if (!on_cpu && !reference.run) m.caveats.push_back("no reference solution here: speed points are pending");
        report.measurements.push_back(m);
        if (measured.error) return;
    }
}

/// Measure, and report an error only if the reference also gets one in place of the student's code: code that hoards
/// memory can make the other process fail.
Measured Judge::measure_confirmed(StageRun& run, StageRun* reference, const Dataset& dataset, const Effort& effort,
                                  const Baseline& cpu, const Progress& progress) {
    Measured measured = measure_or_error(run, reference, dataset, bandwidth(), effort, cpu, progress);
    if (!measured.error || measured.error->cause == cause::implausible_timing || !run.reference) return measured;
    const std::unique_ptr<StageRun> stand_in = run.reference();
    if (!stand_in) return measured;
    const Measured other = measure_or_error(*stand_in, reference, dataset, bandwidth(), forced_effort, cpu, progress);
    if (other.error || other.failure) return measured;
    measured.failure = fault_while_timed(*std::exchange(measured.error, {}));
    return measured;
}

Baseline Judge::baseline(const Lab& lab, const Dataset& dataset) {
    const std::string key = sha256(describe_machine().cpu + compiler_version() + format_parameters(dataset.parameters) +
                                   sha256_file(lab.folder() / "oracle.cpp"));
    return measure_baseline(oracle(lab), lab, dataset, folders_.build / "cache" / "baselines.json", key);
}

}  // namespace warplab
