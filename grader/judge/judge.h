#pragma once
// Compiles, checks, measures and scores the stages of a lab, and reports the results.

#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/bench/measure.h"
#include "grader/judge/check/check.h"
#include "grader/judge/compile/compile.h"
#include "grader/judge/compile/resources.h"
#include "grader/judge/device/gpu_lock.h"
#include "grader/judge/lab/show.h"
#include "grader/judge/options.h"
#include "grader/judge/sandbox/process.h"
#include "grader/model/backend.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

/// The judge's work for one verb: the options that were typed, and what the verb decides.
struct Task {
    Options options = {};
    bool hidden = false;         // include the hidden datasets
    bool own_code = false;       // the user's own code, which may be trusted
    bool measure = false;        // time the code after it has passed
    bool all_compilers = false;  // also compile with nvcc, if it is installed
    bool sanitizer = false;      // run small datasets again and check every access
    SandboxLevel sandbox = SandboxLevel::none;
    std::vector<std::string> defines = {};    // BLOCK=256 … of a sweep
    bool for_tools = false;                   // compile for compute-sanitizer and ncu
    bool fast = false;                        // CPU backend: compile for timing, without the sanitizer's hooks
    std::vector<std::string> libraries = {};  // libraries that a peer links
    std::shared_ptr<Budget> budget = {};      // the budget of untrusted code
};

/// Receives messages about the judge's progress.
struct Listener {
    std::function<void(const std::string&)> doing = [](const std::string&) {};
};

class Judge {
  public:
    Judge(Folders folders, Backend backend);
    ~Judge();

    const Lab& lab(const std::string& name);        // throws ManifestError, UsageError (lists the labs)
    Lab& lab_for_grading(const std::string& name);  // includes the hidden datasets' seeds
    const Oracle& oracle(const Lab& lab);           // throws std::runtime_error if it is not built

    /// Return the function that makes the lab's Show; null if the lab has none. Throws like oracle().
    using ShowMaker = std::unique_ptr<Show> (*)(const ShowRequest&);
    ShowMaker show_maker(const Lab& lab);

    /// Compile, on other cores, the programs that judge_stage will need for a stage. Lab and stage must outlive the
    /// future.
    std::future<void> compile_ahead(const Lab& lab, const Stage& stage, const Source& source, const Task& task) const;
    /// Judge one stage. The report contains an error only if the stage's reference has an error, too; a problem that
    /// only the student's file has is a failure.
    StageReport judge_stage(const Lab& lab, const Stage& stage, const Source& source, const Task& task,
                            const Listener& listener);

    /// Return a report without stages: machine, backend, versions, time.
    Report begin_report(const std::string& verb, const Lab& lab, const Task& task, const std::string& tree) const;

    /// Return the path of a stage's source in a tree: work, solutions, starter or a folder.
    std::filesystem::path source_of(const Lab& lab, const Stage& stage, const std::string& tree) const;

    /// A stage that is ready to run (compiled, not started); if it does not compile, only the compilation's outcome.
    struct Ready {
        Compilation compilation;
        std::unique_ptr<StageRun> run;
        bool refused = false;  // Compiled::refused
    };
    /// Compile a stage, or take the program from the cache, and return it ready to run.
    Ready make_ready(const Lab& lab, const Stage& stage, const Source& source, const Task& task);
    Ready make_ready(const CompileRequest& request);
    /// Return a run of a program that compiled, with the limits of its sandbox.
    std::unique_ptr<StageRun> make_run(const CompileRequest& request, const Compiled& compiled);
    CompileRequest compile_request(const Lab& lab, const Stage& stage, const Source& source, const Task& task) const;

    /// Return the resources that each kernel of a file uses on a GPU of this architecture; empty if nvcc cannot report
    /// them.
    std::map<std::string, KernelResources> resources(const Lab& lab, const Stage& stage, const Source& source,
                                                     const std::string& architecture);

    /// Return the GPU's bandwidth, measured once per machine; all 0 on the CPU backend.
    const Bandwidth& bandwidth();

    /// Wait until other judges allow this use of the GPU; return nothing on the CPU backend. Call `waiting` if another
    /// judge uses it.
    std::optional<GpuLock> lock_gpu(GpuLock::Use use, const std::function<void(const std::string&)>& waiting) const;

    /// Return the CPU's times of a dataset. Unknown times are measured on all cores, so run nothing else at the same
    /// time. `known`: the dataset's problem, or null to generate it; a measurement overwrites the problem's outputs.
    Baseline baseline(const Lab& lab, const Dataset& dataset, const Problem* known = nullptr);
    Backend backend() const { return backend_; }
    KnownProblems& known_problems() { return *known_problems_; }
    const Folders& folders() const { return folders_; }

  private:
    BufferMemory& device_memory(Backend backend);
    void* library(const Lab& lab);

    Folders folders_;
    Backend backend_;
    std::map<std::string, Lab> labs_;
    std::map<std::string, void*> libraries_;  // the labs' oracles, by lab
    std::mutex make_run_mutex_;
    std::unique_ptr<BufferMemory> file_memory_, host_memory_;
    std::shared_ptr<KnownProblems> known_problems_ = std::make_shared<KnownProblems>();
    std::unique_ptr<Bandwidth> bandwidth_;
};

}  // namespace warplab
