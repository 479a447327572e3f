#include "grader/judge/judge.h"

#include <dlfcn.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <thread>
#include <utility>

#include "grader/common/hash.h"
#include "grader/judge/bench/kept_numbers.h"
#include "grader/judge/compile/compile.h"
#include "grader/judge/compile/toolchain.h"
#include "grader/judge/device/cuda_device.h"
#include "grader/judge/machine.h"
#include "grader/model/recipe.h"
#include "grader/model/version.h"

namespace warplab {
namespace {

/// Return the memory limit of a runner on the CPU backend, in bytes: the device's memory and, for each core, the stacks
/// of a block's threads (cpu/runtime).
std::uint64_t memory_limit_without_gpu() {
    constexpr std::uint64_t device_bytes = 4ull << 30, stack_bytes = 288ull << 20;
    return device_bytes + std::min(std::thread::hardware_concurrency(), 24u) * stack_bytes;
}

/// Open the GPU. If programs of other judges use all of its memory, wait until none of them runs.
void open_gpu(const std::filesystem::path& build) {
    try {
        CudaDevice::get();
    } catch (const OutOfMemory&) {
        const GpuLock lock(build, gpu_address(), GpuLock::Use::alone, {});
        CudaDevice::get();
    }
}

}  // namespace

Judge::Judge(Folders folders, Backend backend) : folders_(std::move(folders)), backend_(backend) {
    if (backend_ == Backend::cuda && why_no_device().empty()) open_gpu(folders_.build);
}
Judge::~Judge() = default;

const Lab& Judge::lab(const std::string& name) {
    const auto iterator = labs_.find(name);
    return iterator != labs_.end() ? iterator->second
                                   : labs_.emplace(name, load_lab(folders_.root, name)).first->second;
}

Lab& Judge::lab_for_grading(const std::string& name) {
    lab(name);
    Lab& loaded = labs_.at(name);
    const bool has_hidden =
        std::ranges::any_of(loaded.datasets, [](const Dataset& dataset) { return dataset.uses.hidden; });
    if (has_hidden) resolve_hidden_seeds(loaded, course_secret(folders_.root));
    return loaded;
}

/// Load the lab's oracle, unless it is loaded, and return its handle.
void* Judge::library(const Lab& lab) {
    void*& library = libraries_[lab.name];
    if (library) return library;
    const std::filesystem::path file = std::filesystem::absolute(folders_.build) / "labs" / lab.name / "oracle.so";
    library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        throw std::runtime_error(fmt::format("The oracle of {} cannot be loaded ({}). Type  make program  to build it.",
                                             lab.name, dlerror()));
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

std::optional<GpuLock> Judge::lock_gpu(GpuLock::Use use, const std::function<void(const std::string&)>& waiting) const {
    if (backend_ == Backend::cpu) return std::nullopt;
    const auto must_wait = [&] {
        waiting(use == GpuLock::Use::alone ? "waiting until no other judge uses the GPU"
                                           : "waiting until another judge has timed on the GPU");
    };
    return GpuLock(folders_.build, gpu_address(), use, must_wait);
}

const Bandwidth& Judge::bandwidth() {
    if (bandwidth_) return *bandwidth_;
    bandwidth_ = std::make_unique<Bandwidth>();
    if (backend_ == Backend::cpu) return *bandwidth_;
    CudaDevice& device = CudaDevice::get();
    const std::size_t l2_bytes = device.limits().l2_bytes;
    const auto measure = [&]() -> std::vector<double> {
        const std::size_t large = std::min<std::size_t>(1ull << 30, device.free_bytes() / 8 / 4096 * 4096);
        device.warm_up(0.3);
        return {device.copy_bandwidth(large), device.read_bandwidth(large),
                device.read_bandwidth(std::max<std::size_t>(1 << 20, l2_bytes / 2 / 4096 * 4096))};
    };
    const Machine machine = describe_machine();
    const std::vector<double> rates =
        keep_numbers(folders_.build / "cache" / "bandwidth.json",
                     fmt::format("{}, driver {}", machine.gpu, machine.driver), 3, measure);
    *bandwidth_ = {rates[0], rates[1], rates[2], l2_bytes};
    return *bandwidth_;
}

std::filesystem::path Judge::source_of(const Lab& lab, const Stage& stage, const std::string& tree) const {
    const std::string file = stage.id + ".cu";
    if (tree.empty() || tree == "work") return folders_.work / lab.name / file;
    if (tree == "solutions" || tree == "starter") return folders_.root / tree / lab.name / file;
    const std::filesystem::path folder = tree;
    const std::filesystem::path inside = folder / lab.name / file;
    std::error_code error;  // a path that cannot be read counts as missing
    return std::filesystem::exists(std::filesystem::symlink_status(inside, error)) ? inside : folder / file;
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

CompileRequest Judge::compile_request(const Lab& lab, const Stage& stage, const Source& source,
                                      const Task& task) const {
    CompileRequest request{lab,          stage,          source,         backend_,  task.defines,
                           task.sandbox, folders_.build, task.for_tools, task.fast, task.libraries};
    request.budget = task.budget;
    return request;
}

Judge::Ready Judge::make_ready(const Lab& lab, const Stage& stage, const Source& source, const Task& task) {
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
    policy.limits.memory_bytes = on_gpu ? 8ull << 30 : memory_limit_without_gpu();
    policy.limits.max_printed_bytes = 32 << 20;
    policy.limits.processes = 64;
    policy.budget = request.budget;
    const std::lock_guard lock(make_run_mutex_);  // the sanitizer runs in parallel with the checks
    if (!host_memory_) host_memory_ = make_file_memory(protocol::Transport::shared);
    auto run =
        std::unique_ptr<StageRun>(new StageRun{request.lab, request.stage, oracle(request.lab), request.backend,
                                               compiled.runner, policy, device_memory(request.backend), *host_memory_});
    run->known_problems = known_problems_;
    run->reference = [this, request] { return make_ready(request_of_reference(request)).run; };
    if (compiled.split)
        run->make_fiber_runner = [request = CompileRequest(request)]() mutable {
            request.by_fibers = true;
            return compile(request).runner;
        };
    return run;
}

std::map<std::string, KernelResources> Judge::resources(const Lab& lab, const Stage& stage, const Source& source,
                                                        const std::string& architecture) {
    return read_resource_report(resource_report(compile_request(lab, stage, source, Task{}), architecture));
}

Baseline Judge::baseline(const Lab& lab, const Dataset& dataset, const Problem* known) {
    const std::string key = sha256(describe_machine().cpu + compiler_version() + format_parameters(dataset.parameters) +
                                   sha256_file(lab.folder() / "oracle.cpp"));
    return measure_baseline(oracle(lab), lab, dataset, known, folders_.build / "cache" / "baselines.json", key);
}

}  // namespace warplab
