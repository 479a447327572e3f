#pragma once
// Makes one call of the contract function, finds its first error, and determines what a wrong output depends on.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/check/diagnose.h"
#include "grader/judge/check/stage_run.h"

namespace warplab {

/// One call to make and judge.
struct Trial {
    /// The contents that need not be written: outputs that are poisoned already, or the inputs and outputs that the
    /// previous call left, which were checked.
    enum class Ready { nothing, poisoned_outputs, previous_contents };
    const Problem& problem;            // outputs hold the correct answer
    const std::vector<Array>& before;  // every buffer's contents before the call; an output without elements: poison
    const Problem* previous = nullptr;
    std::uint32_t thread_order = 0;
    bool host_variant = false;
    bool may_leak = false;
    Ready ready = Ready::nothing;
};

/// The first error of a call.
enum class CallError {
    none,
    no_answer,       // the program ended, or the call returned an error
    copied_to_host,  // more bytes were copied than the stage allows
    guard_zone,      // a guard zone was written
    input,           // an input was written
    output,          // an output has a wrong element
    no_kernel,       // no kernel was launched, although the outputs are correct
    leak             // device memory that was not freed
};

struct ModifiedInput {
    std::size_t buffer = 0, index = 0;
    std::string before, now;  // the element's values
};

/// The state of the outputs after a call that was stopped.
enum class StoppedOutputs { unfinished, right, too_large };

struct CallResult {
    CallError error = CallError::none;
    std::optional<Failure> no_answer = {};
    std::uint64_t copied_bytes = 0, launches = 0;
    std::int64_t leaked_bytes = 0;
    std::optional<GuardViolation> violation = {};
    std::optional<ModifiedInput> input = {};
    StoppedOutputs stopped_outputs = StoppedOutputs::unfinished;
    std::optional<Difference> difference = {};  // the first difference in an output, even if a guard zone was written
    std::vector<Array> outputs = {};  // contents after the call, one per buffer; empty if the call did not end
};

/// The condition on which a wrong output depends, found by further calls with the same input.
struct Dependence {
    enum class On { unknown, early_return, thread_order, previous_call, old_contents };
    On on = On::unknown;
    std::uint32_t blocks = 0;                                // early_return: blocks with threads that returned early
    Difference place = {};                                   // thread_order: an element that differs
    std::vector<Array> first_order = {}, second_order = {};  // thread_order: the outputs
};

struct JudgedCall {
    std::optional<Failure> failure;
    std::vector<Array> outputs;  // empty after a failure
};

/// Make a call. If an output is wrong and no known mistake explains it, make further calls to find out on what it
/// depends.
JudgedCall judge_call(StageRun& run, Buffers& buffers, const Trial& trial);

/// Return whether the correct answer requires a kernel: the call writes something and needs more than a copy of one
/// element.
bool needs_kernel(const Lab& lab, const Problem& problem);

/// Return the contents of all buffers before a call; outputs have no elements.
std::vector<Array> fresh_contents(const Lab& lab, const Problem& generated);
/// Return `contents` with these outputs.
std::vector<Array> with_outputs(const Lab& lab, std::vector<Array> contents, const std::vector<Array>& outputs);

}  // namespace warplab
