#pragma once
// From a lab's files to reports: compile, check, measure and score stages.

#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "grader/judge/bench/measure.h"
#include "grader/judge/check/check.h"
#include "grader/judge/compile/compile.h"
#include "grader/judge/compile/resources.h"
#include "grader/judge/lab/show.h"
#include "grader/judge/sandbox/process.h"
#include "grader/judge/sanitizer/check_mode.h"
#include "grader/model/backend.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

struct Folders {
    std::filesystem::path root;  // the project
    std::filesystem::path build;
    std::filesystem::path work;  // the student's
};

/// What a verb asks of the judge.
struct Task {
    bool hidden = false;         // with hidden datasets
    bool own_code = false;       // the user's own, which need not be distrusted
    bool measure = false;        // time it once it passed
    bool forced_timing = false;  // time on the CPU backend, too
    bool unscored = false;       // time datasets that count for nothing, too
    double sample_s = 1;         // seconds that a sample may take
    bool all_compilers = false;  // nvcc as well, where it is
    std::string dataset;         // this one only; shows the student's own output
    bool no_cuda_only = false;   // skips the datasets that take a GPU, on a GPU too
    bool check_mode = false;     // small datasets once more with every access watched
    SandboxLevel sandbox = SandboxLevel::none;
    std::vector<std::string> defines;    // BLOCK=256 … of a sweep
    bool for_tools = false;              // compiled for compute-sanitizer and ncu
    bool fast = false;                   // CPU backend: compiled for timing, without the sanitizer's hooks
    std::vector<std::string> libraries;  // of a peer
    std::shared_ptr<Budget> budget;      // of untrusted code
};

/// Told as things happen; each may be empty.
struct Listener {
    std::function<void(const std::string&)> doing = [](const std::string&) {};
    std::function<void(const Check&)> checked = [](const Check&) {};
};

class Judge {
  public:
    Judge(Folders folders, Backend backend);
    ~Judge();

    const Lab& lab(const std::string& name);        // throws ManifestError, UsageError (with the labs there are)
    Lab& lab_for_grading(const std::string& name);  // with the hidden datasets' seeds
    const Oracle& oracle(const Lab& lab);           // throws std::runtime_error when it is not built

    /// What makes the lab's Show; null when it has none. Throws like oracle().
    using ShowMaker = std::unique_ptr<Show> (*)(const ShowRequest&);
    ShowMaker show_maker(const Lab& lab);

    /// Compiles what judge_stage will want of a stage, on other cores. Lab and stage outlive the future.
    std::future<void> compile_ahead(const Lab& lab, const Stage& stage, const std::filesystem::path& source,
                                    const Task& task) const;
    /// Every error in the report also occurs with the stage's reference; a problem that only the file causes is a
    /// failure.
    StageReport judge_stage(const Lab& lab, const Stage& stage, const std::filesystem::path& source, const Task& task,
                            const Listener& listener);

    /// A report without stages: machine, backend, versions, time.
    Report begin_report(const std::string& verb, const Lab& lab, const Task& task, const std::string& tree) const;

    /// Where a stage's source is in a tree: work, solutions, starter or a folder.
    std::filesystem::path source_of(const Lab& lab, const Stage& stage, const std::string& tree) const;

    /// A stage ready to run (compiled, not started); the compilation's outcome otherwise.
    struct Ready {
        Compilation compilation;
        std::unique_ptr<StageRun> run;
        bool refused = false;  // Compiled's
    };
    Ready make_ready(const Lab& lab, const Stage& stage, const std::filesystem::path& source, const Task& task);

    /// What a file's kernels take on a GPU of this architecture; empty where nvcc cannot say.
    std::map<std::string, KernelResources> resources(const Lab& lab, const Stage& stage,
                                                     const std::filesystem::path& source,
                                                     const std::string& architecture);

    const Bandwidth& bandwidth();

    /// The CPU's times of a dataset: measured on all cores where they are not known yet, so let nothing else run.
    Baseline baseline(const Lab& lab, const Dataset& dataset);
    Backend backend() const { return backend_; }
    const Folders& folders() const { return folders_; }

  private:
    CompileRequest compile_request(const Lab& lab, const Stage& stage, const std::filesystem::path& source,
                                   const Task& task) const;
    /// Whether check mode runs a different program than the one that checks the datasets.
    bool inspects_another_program(const Task& task) const;
    /// The request that compiles the program for checking the datasets.
    CompileRequest check_request(const Lab& lab, const Stage& stage, const std::filesystem::path& source,
                                 Task task) const;
    Ready make_ready(const CompileRequest& request);
    std::unique_ptr<StageRun> make_run(const CompileRequest& request, const Compiled& compiled);
    std::unique_ptr<StageRun> make_reference_run(const CompileRequest& request);
    bool reference_gives_error(const Lab& lab, const Stage& stage, const Task& task);
    Measured measure_confirmed(StageRun& run, StageRun* reference, const Dataset& dataset, const Effort& effort,
                               const Baseline& cpu, const Progress& progress);
    /// The datasets for check mode, as they ran without it, and their launches.
    struct Checked {
        Parts small;
        LaunchDigests launches;
    };
    Checked check_all(StageRun& run, StageReport& report, const Task& task, const Listener& listener);
    void watch(const CompileRequest& request, const Compiled& ready, const Checked& checked, StageReport& report,
               const Task& task, const Listener& listener);
    void check_by_fibers_if_doubtful(StageRun& run, StageReport& report, const Task& task, const Listener& listener);
    void measure_all(StageRun& run, StageReport& report, const Task& task, const Listener& listener);
    Memory& device_memory(Backend backend);
    void* library(const Lab& lab);

    Folders folders_;
    Backend backend_;
    std::map<std::string, Lab> labs_;
    std::map<std::string, void*> libraries_;  // of the labs' oracles, by lab
    std::unique_ptr<Memory> file_memory_, host_memory_;
    std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
    std::unique_ptr<Bandwidth> bandwidth_;
};

}  // namespace warplab
