#pragma once
// Compiles a student's file into a runner: the program that the judge starts and sends requests to.

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "grader/judge/compile/source.h"
#include "grader/judge/sandbox/process.h"
#include "grader/model/backend.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

struct CompileRequest {
    const Lab& lab;
    const Stage& stage;
    Source source;
    Backend backend;
    std::vector<std::string> defines;  // BLOCK=256
    SandboxLevel level = SandboxLevel::none;
    std::filesystem::path build;              // build folder; its cache keeps finished compilations
    bool for_tools = false;                   // cuda: line numbers for compute-sanitizer and ncu
    bool fast = false;                        // cpu: without the sanitizer's hooks
    std::vector<std::string> libraries = {};  // libraries of the CUDA Toolkit to link: "cublas"
    bool by_fibers = false;                   // cpu, fast: no kernel is split at its barriers
    bool traced = false;                      // cpu: for a trace of the warps' operations
    double limit_s = 0;                       // for each step; 0: the default, far longer than any stage takes
    std::shared_ptr<Budget> budget = nullptr;
};

struct Compiled {
    Compilation result;
    std::filesystem::path runner;       // empty unless result.verdict is passed; alone in its folder
    std::filesystem::path gimple = {};  // traced: the compiler's intermediate code, next to the runner
    bool split = false;                 // some of the file's kernels are split at their barriers
    bool refused = false;               // the backend's compiler, or an earlier step, rejects the text
};

/// Return the reference, a file that always compiles: the stage's solution, or its starter if there are no solutions;
/// empty if there is neither.
std::filesystem::path reference_source(const Lab& lab, const Stage& stage);

/// Return the request with the reference in place of the submission. The result has no budget: a submission could spend
/// the budget first, and the judge would take the reference for broken.
CompileRequest request_of_reference(CompileRequest request);

/// Compile a stage's file. Every outcome is a verdict: failed, with a cause, if the file has a mistake or breaks a tool
/// that compiles the stage's reference; error if the reference does not compile either. An outcome that depends only on
/// the file is cached.
Compiled compile(const CompileRequest& request);

/// Compile the request's file with nvcc while the judge does other work. The file passes if it compiles and defines the
/// contract's functions.
std::future<NvccAnswer> ask_nvcc(const CompileRequest& request);

/// Return ptxas' report of the kernels in the request's file (grader/judge/compile/resources.h reads it), compiled for
/// an architecture such as "sm_90"; "" if there is no nvcc, or if nvcc rejects the file or does not support the
/// architecture.
std::string resource_report(const CompileRequest& request, const std::string& architecture);

/// Build in advance the objects that every compilation links: the runner, the backend, the drivers of all labs. Throws
/// std::runtime_error with the compiler's message.
void build_harness(const std::filesystem::path& root, const std::filesystem::path& build, Backend backend);

}  // namespace warplab
