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
#include "grader/judge/settle.h"
#include "grader/model/cause.h"
#include "grader/model/recipe.h"
#include "grader/model/version.h"

namespace warplab {
namespace {

constexpr Effort forced_effort{{1, 1}, {1, 1}, 3, 0.3, 6, 3};

Failure ours(const std::string& what) { return {cause::internal, what, "This is not the student's fault.", {}}; }

bool wanted(const Dataset& dataset, const Stage& stage, const Task& task) {
    if (!dataset.applies_to(stage)) return false;
    if (!task.dataset.empty()) return dataset.name == task.dataset;
    return dataset.uses.check || (dataset.uses.hidden && task.hidden);
}

/// Whether the failure took long and would take as long with every other dataset.
bool is_slow(const Check& check) {
    if (!check.failure) return false;
    return check.failure->cause == cause::timeout || (check.failure->cause == cause::out_of_memory && check.wall_s > 2);
}

Check not_run(const Dataset& dataset, const Check& slow) {
    Check check = failed_check(
        dataset, {slow.failure->cause, fmt::format("Not run, because of what happened on {}.", slow.dataset), "", {}});
    check.blocked_by = slow.dataset;
    return check;
}

/// Return whether the dataset was not run because of another one. The sanitizer would hang on it again.
bool was_not_run(const std::vector<Check>& checks, const Dataset& dataset) {
    return std::any_of(checks.begin(), checks.end(),
                       [&](const Check& check) { return check.dataset == dataset.name && !check.blocked_by.empty(); });
}

bool any_failed(const std::vector<Check>& checks) {
    return std::any_of(checks.begin(), checks.end(),
                       [](const Check& check) { return !check.skipped && check.verdict == Verdict::failed; });
}

std::vector<const Dataset*> wanted_datasets(const Lab& lab, const Stage& stage, const Task& task) {
    std::vector<const Dataset*> chosen;
    for (const Dataset& dataset : lab.datasets)
        if (wanted(dataset, stage, task)) chosen.push_back(&dataset);
    return chosen;
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

/// Return the same request for the sanitizer, which only the CPU backend has.
CompileRequest sanitizer_request(CompileRequest request) {
    request.backend = Backend::cpu;
    request.fast = false;
    return request;
}

/// Return the evidence with every dataset failed, because the file prevents the judge from finishing.
Evidence blame_file(const Evidence& found, const Lab& lab, const Stage& stage, const Task& task,
                    const std::string& what) {
    const Failure failure{cause::crash,
                          fmt::format("The judge could not finish grading this file: {}. It grades the stage's "
                                      "reference, so something in this file causes it.",
                                      what),
                          "",
                          {}};
    Evidence blamed;
    blamed.compilation = found.compilation;
    blamed.sanitizer = found.sanitizer;
    for (const Dataset* dataset : wanted_datasets(lab, stage, task))
        blamed.checks.push_back(failed_check(*dataset, failure));
    return blamed;
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
Failure fault_while_timed(const Failure& failure) {
    return {cause::crash, failure.message + " Without this program, the dataset can be timed.",
            "Does the program allocate memory that it never frees, or end by itself?", failure.place};
}

/// Return the results of timing one dataset, with what does not depend on the program.
Measurement completed(Measurement m, const Dataset& dataset, const Baseline& cpu, bool on_cpu, bool has_reference) {
    m.sequential_s = cpu.sequential_s * m.iterations;
    m.openmp_s = cpu.openmp_s * m.iterations;
    m.openmp_threads = cpu.threads;
    m.scored = !dataset.uses.unscored;
    if (!m.scored) m.caveats.push_back("this time counts for no points");
    if (on_cpu) m.caveats.push_back("timed on the CPU backend: says nothing about a GPU");
    if (!on_cpu && !has_reference) m.caveats.push_back("no reference solution here: speed points are pending");
    return m;
}

std::vector<const Dataset*> timed_datasets(const StageRun& run, const Task& task) {
    const bool without_cuda_only = run.backend == Backend::cpu || task.no_cuda_only;
    std::vector<const Dataset*> chosen;
    for (const Dataset& dataset : run.lab.datasets) {
        const bool requested = dataset.name == task.dataset;
        if (!dataset.uses.bench || !dataset.applies_to(run.stage)) continue;
        if (dataset.uses.unscored && !task.unscored && !requested) continue;
        if (dataset.uses.cuda_only && without_cuda_only) continue;
        if (task.dataset.empty() || requested) chosen.push_back(&dataset);
    }
    return chosen;
}

/// Return the effort for each of `count` datasets.
Effort effort_for(const Task& task, bool on_cpu, std::size_t count) {
    Effort effort = on_cpu ? forced_effort : Effort{};
    effort.sample_s *= task.sample_s;
    effort.total_s *= task.sample_s / static_cast<double>(std::max<std::size_t>(count, 1));
    effort.verify_s = std::max(0.5, effort.verify_s * task.sample_s);
    return effort;
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
    if (has_hidden) resolve_hidden_seeds(found, course_secret(folders_.root, true));
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

BufferMemory& Judge::device_memory(Backend backend) {
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
    run->known_outputs = known_outputs_;
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
        std::future<Compiled> with_hooks;
        if (task.all_compilers && backend_ == Backend::cpu) nvcc = ask_nvcc(request);
        if (task.check_mode && inspects_another_program(task))
            with_hooks = std::async(std::launch::async, compile, sanitizer_request(request));
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
    Evidence found;
    try {
        if (std::filesystem::is_regular_file(source)) report.source_hash = sha256_file(source);
        collect(found, check_request(lab, stage, source, task), task, listener);
    } catch (const ManifestError&) {
        throw;
    } catch (const UsageError&) {
        throw;
    } catch (const std::exception& error) {
        found.error = ours(error.what());
        const std::filesystem::path reference = reference_source(lab, stage);
        if (!reference.empty() && reference != std::filesystem::absolute(source) &&
            !reference_gives_error(lab, stage, task))
            found = blame_file(found, lab, stage, task, error.what());
    }
    return settle(std::move(report), stage, found, task.dataset);
}

/// Compile the file, and take all steps.
void Judge::collect(Evidence& found, const CompileRequest& request, const Task& task, const Listener& listener) {
    listener.doing("compiling");
    std::future<NvccAnswer> nvcc;
    std::future<Compiled> with_hooks;
    if (task.all_compilers && backend_ == Backend::cpu) nvcc = ask_nvcc(request);
    if (task.check_mode && inspects_another_program(task))
        with_hooks = std::async(std::launch::async, compile, sanitizer_request(request));
    Ready ready = make_ready(request);
    found.compilation = ready.compilation;
    found.refused = ready.refused;
    if (ready.run) run_all(found, *ready.run, request, std::move(with_hooks), task, listener);
    if (!nvcc.valid()) return;
    listener.doing("compiling for a real GPU");
    found.nvcc = nvcc.get();
}

/// Check the datasets, run the sanitizer, and time the program.
void Judge::run_all(Evidence& found, StageRun& run, const CompileRequest& request, std::future<Compiled> with_hooks,
                    const Task& task, const Listener& listener) {
    const Checked checked = check_all(run, task, listener);
    found.checks = checked.checks;
    run.end_session();
    if (task.check_mode) {
        listener.doing("compiling for check mode");
        const Compiled same{found.compilation, run.runner};
        inspect_all(found, sanitizer_request(request), with_hooks.valid() ? with_hooks.get() : same, checked, task,
                    listener);
        // A kernel that is split at its barriers runs in one order of threads only.
        if (run.by_fibers && found.sanitizer && found.sanitizer->verdict != CheckMode::Verdict::passed) {
            run.change_to_fibers();
            found.checks = check_all(run, task, listener).checks;
        }
    }
    if (verdict_of(found.checks) == Verdict::passed && task.measure)
        time_all(found.timed, run, request.source, task, listener);
    run.end_session();
    found.output = run.output;
}

/// Run the datasets of the sanitizer first, in a separate process, as the sanitizer does, so that the sequence of calls
/// does not reveal it.
Judge::Checked Judge::check_all(StageRun& run, const Task& task, const Listener& listener) {
    const std::vector<const Dataset*> all = wanted_datasets(run.lab, run.stage, task);
    Checked checked;
    if (task.check_mode && !inspects_another_program(task)) checked.small = split_small(run, all);
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
    for (const Dataset* dataset : all) {
        const bool left_out = task.no_cuda_only && dataset->uses.cuda_only;
        if (!checks.contains(dataset))
            checks[dataset] = left_out ? skipped_check(*dataset, "--no-cuda-only leaves it out") : check(*dataset);
        checked.checks.push_back(checks[dataset]);
    }
    return checked;
}

/// Run the sanitizer after the datasets; if outputs are wrong, its first finding is the likely reason.
void Judge::inspect_all(Evidence& found, const CompileRequest& request, const Compiled& ready, const Checked& checked,
                        const Task& task, const Listener& listener) {
    if (std::any_of(found.checks.begin(), found.checks.end(), is_slow)) return;
    const auto begin = std::chrono::steady_clock::now();
    CheckMode result;
    try {
        if (ready.result.verdict == Verdict::passed) {
            const Sanitized sanitized = sanitize(found, request, ready, checked, task, listener);
            result = settle_sanitizer(sanitized);
            if (result.verdict == CheckMode::Verdict::passed)
                found.limits = compare_with_limits(request.stage, sanitized.counted);
        } else {
            result = settle_sanitizer(ready.result);
        }
    } catch (const std::exception& error) {
        result.remark = fmt::format("check mode could not finish: {}", error.what());
    }
    result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    found.sanitizer = result;
}

Sanitized Judge::sanitize(const Evidence& found, const CompileRequest& request, const Compiled& ready,
                          const Checked& checked, const Task& task, const Listener& listener) {
    const auto run = make_run(request, ready);
    SanitizerTask sanitizer{checked.small, request.source};
    if (inspects_another_program(task))
        sanitizer.parts = split_small(*run, wanted_datasets(request.lab, request.stage, task));
    for (auto& part : sanitizer.parts)
        std::erase_if(part, [&](const Dataset* dataset) { return was_not_run(found.checks, *dataset); });
    sanitizer.outputs_failed = any_failed(found.checks);
    sanitizer.stop = sanitizer.outputs_failed ? SanitizerTask::Stop::when_found : SanitizerTask::Stop::when_slow;
    sanitizer.expected = checked.launches;
    sanitizer.doing = listener.doing;
    return run_sanitizer(*run, sanitizer);
}

void Judge::time_all(Timed& timed, StageRun& run, const std::filesystem::path& source, const Task& task,
                     const Listener& listener) {
    const bool on_cpu = backend_ == Backend::cpu;
    if (on_cpu && !task.forced_timing) return;
    run.end_session();
    Ready fast;  // the checked program has the sanitizer's hooks, which cost time
    if (on_cpu) {
        listener.doing("compiling for timing");
        Task fast_task = task;
        fast_task.fast = true;
        fast = make_ready(run.lab, run.stage, source, fast_task);
        if (!fast.run) throw std::runtime_error("the stage does not compile without the sanitizer's hooks");
    }
    StageRun& to_time = fast.run ? *fast.run : run;
    to_time.policy.budget = timed_budget(task);
    const std::unique_ptr<StageRun> reference = on_cpu ? nullptr : reference_to_time(timed, run, task, listener);
    const std::vector<const Dataset*> datasets = timed_datasets(run, task);
    const Effort effort = effort_for(task, on_cpu, datasets.size());
    for (const Dataset* dataset : datasets) {
        const auto say = [&](const std::string& what) { listener.doing(fmt::format("{}: {}", dataset->name, what)); };
        say("CPU baselines");
        const Baseline cpu = baseline(run.lab, *dataset);
        const Measured measured = measure_confirmed(to_time, reference.get(), *dataset, effort, cpu, say);
        if (measured.failure) {
            timed.failed = failed_check(*dataset, *measured.failure);
            timed.failed->points = 0;  // the dataset's own check has them
            return;
        }
        timed.measurements.push_back(completed(measured.measurement, *dataset, cpu, on_cpu, reference != nullptr));
        timed.error = measured.error;
        if (measured.error) return;
    }
}

/// Return the stage's solution, ready to be timed alongside; null if there is none or it does not compile.
std::unique_ptr<StageRun> Judge::reference_to_time(Timed& timed, const StageRun& run, const Task& task,
                                                   const Listener& listener) {
    const std::filesystem::path solution = source_of(run.lab, run.stage, "solutions");
    if (!std::filesystem::exists(solution)) return nullptr;
    listener.doing("compiling the reference");
    Task reference_task = task;
    reference_task.defines.clear();
    reference_task.budget = nullptr;
    Ready reference = make_ready(run.lab, run.stage, solution, reference_task);
    timed.reference_does_not_compile = !reference.run;
    return std::move(reference.run);
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
