#pragma once
// Turns a student's file into a runner: the program that the judge starts and asks for calls.

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "grader/judge/sandbox/process.h"
#include "grader/model/backend.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

struct CompileRequest {
    const Lab& lab;
    const Stage& stage;
    std::filesystem::path source;
    Backend backend;
    std::vector<std::string> defines;  // BLOCK=256
    SandboxLevel level = SandboxLevel::none;
    std::filesystem::path build;              // build folder; what was compiled is kept in its cache
    bool for_tools = false;                   // cuda: line numbers for compute-sanitizer and ncu
    bool fast = false;                        // cpu: without the sanitizer's hooks, for timing only
    std::vector<std::string> libraries = {};  // of the CUDA Toolkit, to link: "cublas"
    bool by_fibers = false;                   // cpu, fast: no kernel is split at its barriers
    double limit_s = 0;                       // for each step; 0: far beyond what any stage takes
    std::shared_ptr<Budget> budget = nullptr;
};

struct Compiled {
    Compilation result;
    std::filesystem::path runner;  // empty unless result.verdict is passed; alone in its folder
    bool split = false;            // some of its kernels are split at their barriers
    bool refused = false;          // the backend's compiler, or an earlier step, rejects the text
};

/// The reference, a file that always compiles: the stage's solution, or without solutions its starter; empty if none.
std::filesystem::path reference_source(const Lab& lab, const Stage& stage);

/// Every outcome is a verdict: failed, with a cause, if the file has a mistake or makes a tool fail that compiles the
/// stage's reference; error if the reference does not compile either. An outcome that depends only on the file is
/// cached.
Compiled compile(const CompileRequest& request);

/// Ask nvcc about the same file while the judge does other work. It compiles if it also defines the contract's
/// functions.
std::future<NvccAnswer> ask_nvcc(const CompileRequest& request);

/// What ptxas reports of the same file's kernels (grader/judge/compile/resources.h reads it), compiled for "sm_90" or
/// the like;
/// "" without nvcc, and where nvcc refuses the file or no longer knows the architecture.
std::string resource_report(const CompileRequest& request, const std::string& architecture);

/// Builds ahead what every compilation links: the runner, the backend, the drivers of all labs. Throws
/// std::runtime_error with the compiler's words.
void build_harness(const std::filesystem::path& root, const std::filesystem::path& build, Backend backend);

}  // namespace warplab
