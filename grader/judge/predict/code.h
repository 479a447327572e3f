#pragma once
// A submission's kernels, described for a model of a GPU: for each place in a trace, its line, the instructions of its
// basic block, and the earlier results for which it waits.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "grader/judge/predict/gimple.h"
#include "grader/judge/predict/hook_calls.h"

namespace warplab::predict {

/// The result of an operation with a long latency: an access or a warp function.
struct Need {
    std::uint32_t place = 0;
    int ago = 0;  // 0: the most recent execution, 1: the one before …
};

/// Instructions that a warp issues.
struct Work {
    double integer = 0, fp32 = 0, fp64 = 0, special = 0;
    double issued() const { return integer + fp32 + fp64 + 2 * special; }
};

/// The short body of an if without else. nvcc puts a predicate before each of its instructions instead of a branch, so
/// a warp issues them, and occupies the path to the memories, even if none of its lanes needs them.
struct PredicatedBody {
    std::uint32_t place = 0;  // where its basic block is recorded; 0: no such if follows
    double issued = 0, accesses = 0;
};

struct Instruction {
    int line = 0;              // a line of the student's file
    Work work = {};            // a basic block's work
    std::vector<Need> needs;   // for a basic block: the results for which its final branch waits
    PredicatedBody body = {};  // for a basic block that ends in such an if
    bool result_is_used = false;
    bool is_volatile = false;        // a load that bypasses the L1
    bool compares = false;           // an atomic that may find another value and be repeated
    bool continues = false;          // reads or writes the next component of the vector of the previous access
    bool repeats_with_need = false;  // depends on its own result from an earlier iteration
    int loop = 0;  // its innermost loop; 0 if there is none, or if an exit of that loop waits for a result
};

class Code {
  public:
    /// Match the intermediate code with the program. Functions that do not match are omitted and counted.
    Code(const std::vector<Function>& functions, const std::map<std::string, std::vector<HookCall>>& calls);

    /// Return null for a place that is not part of a kernel.
    const Instruction* at(std::uint32_t place) const {
        const auto found = instructions_.find(place);
        return found == instructions_.end() ? nullptr : &found->second;
    }
    int unmatched() const { return unmatched_; }
    std::size_t size() const { return instructions_.size(); }

  private:
    std::unordered_map<std::uint32_t, Instruction> instructions_;
    int unmatched_ = 0;
};

}  // namespace warplab::predict
