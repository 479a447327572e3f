#pragma once
// Describes a submission's kernels for a model of a GPU: for each place in a trace, its line, the instructions of its
// basic block, and the earlier results that it waits for.

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "grader/judge/predict/gimple.h"
#include "grader/judge/predict/hook_calls.h"

namespace warplab::predict {

/// The result of an operation with a long latency: an access or a warp function.
struct Need {
    std::uint32_t place = 0;
    int age = 0;  // 0: the most recent execution, 1: the previous one, …
};

/// Instructions that a warp issues.
struct Work {
    double integer = 0, fp32 = 0, fp64 = 0;
    double special = 0;  // on the unit for roots, reciprocals and conversions from or to 64 bits
    double local = 0;  // accesses to arrays in local memory
    double issued() const { return integer + fp32 + fp64 + special + local; }
    Work& operator+=(const Work& other) {
        integer += other.integer, fp32 += other.fp32, fp64 += other.fp64, special += other.special;
        local += other.local;
        return *this;
    }
};

/// The short body of an if without else. nvcc gives each of its instructions a predicate instead of a branch, so that a
/// warp issues them, and occupies the path to the memories, even if none of its lanes needs them.
struct PredicatedBody {
    std::uint32_t place = 0;  // the place of its basic block in the trace; 0: no such if follows
    double issued = 0, accesses = 0;
};

struct Instruction {
    int line = 0;              // a line of the student's file
    Work work = {};            // a basic block's work
    Work chain = {};           // the operations of the work that must run one after the other
    std::vector<Need> needs;   // for a basic block: the results that its final branch waits for
    PredicatedBody body = {};  // for a basic block that ends with such an if
    bool result_is_used = false;
    bool wide = false;               // a warp function of 64 bits, which is two instructions
    bool is_volatile = false;        // a load that bypasses the L1
    bool compares = false;           // a compare-and-swap, which may fail and be repeated
    bool aggregates = false;         // an atomic addition for which one lane adds the values of its warp
    bool continues = false;          // uses a vector of an earlier access in its basic block, but another component
    bool repeats_with_need = false;  // depends on its own result, or on a result of an earlier iteration
    int loop = 0;                    // its innermost loop; 0 if there is none whose iterations nvcc can combine
    int at_once = 4;                 // the iterations of the loop that nvcc combines
};

/// Return the lines of the loops with #pragma unroll 1.
std::set<int> rolled_loops(std::string_view source);

class Code {
  public:
    /// Match the intermediate code with the program. Omit functions that do not match, and count them. `rolled`: the
    /// lines of the loops that nvcc must not unroll.
    Code(const std::vector<Function>& functions, const std::map<std::string, std::vector<HookCall>>& calls,
         const std::set<int>& rolled = {});

    /// Return null for a place that is not part of a kernel.
    const Instruction* at(std::uint32_t place) const {
        const auto iterator = instructions_.find(place);
        return iterator == instructions_.end() ? nullptr : &iterator->second;
    }
    int unmatched() const { return unmatched_; }
    std::size_t size() const { return instructions_.size(); }

  private:
    std::unordered_map<std::uint32_t, Instruction> instructions_;
    int unmatched_ = 0;
};

}  // namespace warplab::predict
