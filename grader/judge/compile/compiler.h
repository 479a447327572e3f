#pragma once
// Runs the steps that turn a student's file into a runner, each in the sandbox.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/compile/cache.h"
#include "grader/judge/compile/diagnostics.h"
#include "grader/judge/compile/harness.h"
#include "grader/judge/compile/job.h"

namespace warplab::compilation {

class Compiler {
  public:
    /// The arguments must outlive the compiler. `text`: the student's file.
    Compiler(const Job& job, const Harness& harness, const std::string& text);

    /// Make the runner, in the work folder.
    JobOutcome make_runner();

    /// Compile the file with nvcc and check its functions and their signatures. The object is not linked.
    JobOutcome make_checked_object();

    /// Return ptxas' messages; nothing if nvcc rejects the file.
    std::optional<std::string> report_resources(const std::string& architecture);

    fs::path runner() const { return in_work("runner"); }
    fs::path gimple() const { return in_work(gimple_name); }

  private:
    fs::path in_work(const char* name) const { return work_.path() / name; }
    Ended run(const Words& command, const Policy& policy) const;
    Ended run_in_turn(const std::vector<std::string>& lines) const;
    void remove_outputs(const Words& names) const;
    void write_student_file(const std::string& text) const;
    std::string without_cache_paths(std::string output) const;

    bool may_be_split() const;
    JobOutcome make_runner_of_any_size();
    std::optional<JobOutcome> make_in_one_sandbox();
    JobOutcome make_object();
    std::array<Words, 4> object_commands() const;
    JobOutcome make_cpu_object();
    std::optional<JobOutcome> make_split_object();
    JobOutcome make_cuda_object();
    Words dump_flags() const;
    Ended compile_cpu(const Words& options, const Words& arguments) const;
    Words cpu_command(const Words& options, const Words& arguments) const;
    Words rewriter_command(const Words& arguments) const;
    JobOutcome run_rewriter(const Words& arguments);
    JobOutcome judge_compiler(const Ended& ended);
    JobOutcome with_warnings(JobOutcome outcome) const;

    JobOutcome link_object() const;
    std::vector<std::string> link_lines() const;
    JobOutcome check_contract() const;
    JobOutcome judge_symbol_list() const;
    JobOutcome judge_symbols(const Ended& ended) const;
    std::array<Words, 2> hide_commands() const;
    JobOutcome hide_symbols() const;
    Words link_command() const;
    Words quick_link_command() const;
    JobOutcome link() const;

    const Job& job_;
    const Harness& harness_;
    const std::string& text_;
    WorkFolder work_;
    Policy policy_;
    std::vector<Diagnostic> rewriter_warnings_, compiler_warnings_;
};

/// Copy a file that the sandboxed compiler wrote. Throws std::runtime_error if that fails.
void copy_out(const fs::path& from, const fs::path& to);

}  // namespace warplab::compilation
