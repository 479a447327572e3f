// Runs the profilers and checkers of the CUDA Toolkit. For them, the runner allocates its own memory
// (Transport::local), so that they see each buffer at its exact size.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "grader/common/descriptor.h"
#include "grader/common/read_file.h"
#include "grader/common/text.h"
#include "grader/common/utf8.h"
#include "grader/judge/check/check.h"
#include "grader/judge/cli/verbs.h"
#include "grader/judge/cli/work.h"
#include "grader/judge/device/cuda_device.h"
#include "grader/judge/judge.h"
#include "grader/judge/machine.h"

namespace warplab {
namespace fs = std::filesystem;
namespace {

/// Return the program on the PATH or in the toolkit; empty if it is in neither.
std::string find_program(const std::string& name) {
    std::stringstream path(std::string(std::getenv("PATH") ? std::getenv("PATH") : "") + ":/usr/local/cuda/bin");
    for (std::string folder; std::getline(path, folder, ':');) {
        const std::string file = folder + "/" + name;
        if (!folder.empty() && access(file.c_str(), X_OK) == 0) return file;
    }
    return "";
}

std::string need_program(const std::string& name, const std::string& what) {
    const std::string program = find_program(name);
    if (program.empty())
        throw UsageError(
            fmt::format("{} needs {}, which is neither on the PATH nor in /usr/local/cuda/bin. It comes with the "
                        "CUDA Toolkit; some distributions have a separate package for it.",
                        what, name));
    return program;
}

void need_gpu(const std::string& what) {
    if (!why_no_gpu().empty()) throw UsageError(fmt::format("{} needs an NVIDIA GPU: {}.", what, why_no_gpu()));
}

/// A file for a tool's output, separate from the output of the student's program.
class ToolOutput {
  public:
    ToolOutput() : path_(fs::temp_directory_path() / "warplab-tool-XXXXXX") {
        std::string path = path_.string();
        if (!Descriptor(mkstemp(path.data())))
            throw std::runtime_error(fmt::format("no file can be created in {}", path_.parent_path().string()));
        path_ = path;
    }
    ~ToolOutput() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    ToolOutput(const ToolOutput&) = delete;
    ToolOutput& operator=(const ToolOutput&) = delete;
    std::string path() const { return path_.string(); }
    std::string text() const { return read_file(path_); }

  private:
    fs::path path_;
};

/// The stage that a tool runs, and the memory of its buffers.
struct ToolStage {
    Judge judge;
    const Lab& lab;
    const Stage& stage;
    fs::path source;
    std::unique_ptr<BufferMemory> memory;

    explicit ToolStage(const Options& options)
        : judge(options.folders, Backend::cuda),
          lab(judge.lab(options.lab)),
          stage(lab.stage(options.stage)),
          source(options.source.empty() ? judge.source_of(lab, stage, options.tree) : options.source),
          memory(make_file_memory(protocol::Transport::local)) {
        if (options.source.empty() && options.tree.empty()) start_lab(lab, judge.folders());
    }
};

/// Compile the stage for tools and run it on `dataset` under `tool`. Append the program's output to `output`, and the
/// tool's output if the tool does not write to a file.
Check run_under(ToolStage& tool_stage, const std::vector<std::string>& tool, const Dataset& dataset,
                std::string& output) {
    Judge::Ready ready =
        tool_stage.judge.make_ready(tool_stage.lab, tool_stage.stage, tool_stage.source, {.for_tools = true});
    if (!ready.run) {
        Check check;
        check.dataset = dataset.name;
        check.verdict = ready.compilation.verdict;
        check.failure = ready.compilation.failure;
        return check;
    }
    StageRun& plain = *ready.run;
    plain.policy.limits.output_bytes = 4 << 20;
    plain.policy.limits.max_printed_bytes = 0;
    plain.policy.limits.memory_bytes = 64ull << 30;
    StageRun run{plain.lab,    plain.stage,        plain.oracle, plain.backend, plain.runner,
                 plain.policy, *tool_stage.memory, plain.host,   tool};
    Check check = check_dataset(run, dataset);
    run.end_session();
    output += run.output;
    return check;
}

std::vector<const Dataset*> datasets_for_tools(const ToolStage& tool_stage, const Options& options) {
    std::vector<const Dataset*> chosen;
    for (const Dataset& dataset : tool_stage.lab.datasets) {
        const bool fits =
            options.dataset.empty() ? dataset.uses.check && !dataset.uses.cuda_only : dataset.name == options.dataset;
        if (fits && dataset.applies_to(tool_stage.stage)) chosen.push_back(&dataset);
    }
    if (chosen.empty()) tool_stage.lab.dataset(options.dataset);  // throws with the available names
    return chosen;
}

/// Return the useful lines of compute-sanitizer's log, without its "=========" margin.
std::string useful_lines(const std::string& output) {
    std::stringstream stream(output);
    std::string text;
    int lines = 0;
    for (std::string line; std::getline(stream, line) && lines < 24;) {
        if (!line.starts_with("=========")) continue;
        line.erase(0, std::min<std::size_t>(line.size(), 10));
        const bool noise =
            line.empty() || line.starts_with("COMPUTE-SANITIZER") || line.find("Host Frame") != std::string::npos ||
            line.find("SUMMARY: 0") != std::string::npos || line.find("Saved host backtrace") != std::string::npos;
        if (noise) continue;
        text += "    " + line + "\n";
        ++lines;
    }
    return text;
}

bool found_nothing(const std::string& output) {
    const auto summary = output.find("SUMMARY:");
    return summary != std::string::npos && output.find("SUMMARY: 0 ") == summary;
}

bool sanitize_with(ToolStage& tool_stage, const std::string& sanitizer, const std::string& tool,
                   const Options& options) {
    std::vector<std::string> command = {sanitizer, "--tool", tool, "--print-limit", "5"};
    if (tool == "memcheck") command.insert(command.end(), {"--leak-check", "no"});
    const std::size_t options_of_tool = command.size();
    bool clean = true;
    std::string words;
    const auto datasets = datasets_for_tools(tool_stage, options);
    for (const Dataset* dataset : datasets) {
        std::string printed;
        const ToolOutput log;
        command.resize(options_of_tool);
        command.insert(command.end(), {"--log-file", log.path()});
        const Check check = run_under(tool_stage, command, *dataset, printed);
        if (check.skipped) continue;
        const std::string output = log.text();
        const bool silent = found_nothing(output);
        if (silent && check.verdict == Verdict::passed) continue;
        clean = false;
        words += fmt::format("  on {}:\n{}", dataset->name, to_printable(useful_lines(output)));
        if (check.failure)
            words += wrap("The check failed: " + check.failure->message, 4, text_style(STDOUT_FILENO).width);
        if (!silent && useful_lines(output).empty())
            words += wrap("The tool gave no summary: " + to_printable((output + printed).substr(0, 400)), 4, 100);
        break;
    }
    fmt::print("{:<10} {}\n{}", tool,
               clean ? fmt::format("clean on {}", format_plural(datasets.size(), "dataset")) : "found problems", words);
    std::fflush(stdout);
    return clean;
}

void print_limits(const DeviceLimits& l) {
    fmt::print("{} (compute capability {}.{}, driver for CUDA {}.{})\n", l.name, l.major, l.minor,
               l.driver_version / 1000, l.driver_version % 1000 / 10);
    fmt::print("  {} multiprocessors, each: {} threads, {} blocks, {} registers, {} of shared memory\n",
               l.multiprocessors, format_count(static_cast<std::uint64_t>(l.threads_per_multiprocessor)),
               l.blocks_per_multiprocessor, format_count(static_cast<std::uint64_t>(l.registers_per_multiprocessor)),
               format_bytes(l.shared_per_multiprocessor));
    fmt::print("  a block: {} threads, {} of shared memory ({} if requested); a warp: {}\n", l.threads_per_block,
               format_bytes(l.shared_per_block), format_bytes(l.shared_opt_in), l.warp);
    fmt::print("  memory {}, L2 {}, clock {} MHz\n", format_bytes(static_cast<double>(l.memory_bytes)),
               format_bytes(static_cast<double>(l.l2_bytes)), l.clock_khz / 1000);
}

void print_bounds(Judge& judge, const Lab& lab) {
    const Bandwidth& bandwidth = judge.bandwidth();
    for (const Dataset& dataset : lab.datasets) {
        if (!dataset.uses.bench) continue;
        const Oracle& oracle = judge.oracle(lab);
        const Problem problem = oracle.generate(dataset, dataset.seed, 0);
        const Cost cost = oracle.cost(problem);
        const double rate = std::max(bandwidth.copy_bytes_per_s, bandwidth.read_bytes_per_s);
        const double call_s = cost.bound_bytes / rate;
        fmt::print("  {:<14} {:<16} {:<34} {:>9} a call, {:>9} for {} iterations\n", lab.name, dataset.name,
                   cost.formula, format_seconds(call_s),
                   format_seconds(call_s * lab.benchmark.iterations / cost.iterations), lab.benchmark.iterations);
    }
}

/// Return the stage's dataset with this name or, by default, a timed one, preferably one that the CPU backend can run:
/// the others are large. Return null if no dataset fits.
const Dataset* find_timed(const Lab& lab, const Stage& stage, const std::string& name) {
    const Dataset* found = nullptr;
    for (const Dataset& dataset : lab.datasets) {
        if (!dataset.applies_to(stage) || (name.empty() ? !dataset.uses.bench : dataset.name != name)) continue;
        if (!found || (found->uses.cuda_only && !dataset.uses.cuda_only)) found = &dataset;
    }
    return found;
}

/// Print each kernel's shape and occupancy, as the runner reported them at the launch.
void print_launches(Judge& judge, const Lab& lab, const std::string& tree) {
    const DeviceLimits& limits = CudaDevice::get().limits();
    for (const Stage& stage : lab.stages) {
        const fs::path source = judge.source_of(lab, stage, tree);
        if (std::error_code unreadable; !fs::exists(source, unreadable)) continue;
        Judge::Ready ready = judge.make_ready(lab, stage, source, {});
        if (!ready.run) continue;
        const ToolOutput launches;
        ready.run->environment = {"WARPLAB_LAUNCHES=" + launches.path()};
        if (const Dataset* const dataset = find_timed(lab, stage, "")) check_dataset(*ready.run, *dataset);
        ready.run->end_session();
        std::stringstream stream(launches.text());
        std::string kernel;
        for (long long blocks, threads, shared, registers, resident;
             stream >> kernel >> blocks >> threads >> shared >> registers >> resident;)
            fmt::print("  {:<24} {:<28} {:>9} x {:<5} {:>4} registers {:>9} shared {:>3} blocks, {:>3.0f}% occupied\n",
                       stage.id, to_printable(kernel.substr(0, 28)), blocks, threads, registers,
                       format_bytes(static_cast<double>(shared)), resident,
                       100.0 * static_cast<double>(resident * threads) / limits.threads_per_multiprocessor);
    }
}

/// Return the command for Nsight Compute. It collects all metrics from all launches or, if metrics are named, only
/// these from the first 30 launches, which are enough for an average.
std::vector<std::string> profiler_command(const std::string& ncu, const std::string& metrics) {
    std::vector<std::string> command = {ncu, "--clock-control", "none"};
    if (metrics.empty())
        command.insert(command.end(), {"--set", "full", "--import-source", "no"});
    else
        command.insert(command.end(), {"--metrics", metrics, "--csv", "--page", "raw", "--print-units", "base",
                                       "--launch-count", "30"});
    return command;
}

}  // namespace

int sanitize(const Options& options) {
    need_gpu("make sanitize");
    const std::string sanitizer = need_program("compute-sanitizer", "make sanitize");
    ToolStage tool_stage(options);
    fmt::print("{}/{} under compute-sanitizer (cuda backend)\n", tool_stage.lab.name, tool_stage.stage.id);
    bool clean = true;
    for (const char* tool : {"memcheck", "racecheck", "initcheck", "synccheck"})
        clean &= sanitize_with(tool_stage, sanitizer, tool, options);
    return clean ? 0 : 1;
}

int profile(const Options& options) {
    need_gpu("make profile");
    ToolStage tool_stage(options);
    const std::string ncu = need_program("ncu", "make profile");
    const Dataset* chosen = find_timed(tool_stage.lab, tool_stage.stage, options.dataset);
    if (!chosen) chosen = &tool_stage.lab.dataset(options.dataset);
    fmt::print("{}/{} on {} under Nsight Compute (cuda backend)\n", tool_stage.lab.name, tool_stage.stage.id,
               chosen->name);
    std::string output;
    const ToolOutput log;
    std::vector<std::string> command = profiler_command(ncu, options.metrics);
    command.insert(command.end(), {"--log-file", log.path()});
    const Check check = run_under(tool_stage, command, *chosen, output);
    fmt::print("{}{}", to_printable(output), to_printable(log.text()));
    if (check.failure) fmt::print("\n{}", wrap(check.failure->message, 0, text_style(STDOUT_FILENO).width));
    if (!options.metrics.empty()) return check.verdict == Verdict::passed ? 0 : 1;
    const std::string nsys = find_program("nsys");
    if (nsys.empty()) {
        fmt::print("\nNsight Systems (nsys) is not on this machine, so there is no timeline.\n");
    } else {
        const fs::path folder = fs::absolute(options.folders.build) / "profile";
        fs::create_directories(folder);
        std::string statistics;
        run_under(tool_stage,
                  {nsys, "profile", "--stats=true", "--force-overwrite=true", "-o",
                   (folder / (tool_stage.lab.name + "-" + tool_stage.stage.id)).string()},
                  *chosen, statistics);
        fmt::print("{}", to_printable(statistics));
    }
    return check.verdict == Verdict::passed ? 0 : 1;
}

int show_device(const Options& options) {
    if (!why_no_gpu().empty()) {
        fmt::print(
            "No GPU to show: {}.\nThe CPU backend simulates a GPU of compute capability 9.0 with 16 multiprocessors, "
            "48 KB of shared memory (227 KB if requested) and 1024 threads per block, whatever this machine "
            "is.\n",
            why_no_gpu());
        return 0;
    }
    Judge judge(options.folders, Backend::cuda);
    print_limits(CudaDevice::get().limits());
    const Bandwidth& bandwidth = judge.bandwidth();
    fmt::print("  measured: copies {}, reads {}, reads from L2 {}\n\nBandwidth bounds, if each byte moves once:\n",
               format_bandwidth(bandwidth.copy_bytes_per_s), format_bandwidth(bandwidth.read_bytes_per_s),
               format_bandwidth(bandwidth.l2_bytes_per_s));
    const std::vector<std::string> names = requested_labs(options);
    for (const std::string& name : names) print_bounds(judge, judge.lab(name));
    for (const std::string& name : names) {
        fmt::print(
            "\nLaunches of {} (blocks x threads; then the resident blocks per multiprocessor, and its occupancy):\n",
            name);
        std::fflush(stdout);
        print_launches(judge, judge.lab(name),
                       options.tree.empty() && !fs::exists(options.folders.work / name) ? "solutions" : options.tree);
    }
    return 0;
}

}  // namespace warplab
