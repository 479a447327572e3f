#pragma once
// The interface that a lab's oracle.cpp implements: it computes the correct answers. Only the judge loads it, as a
// shared object.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grader/model/manifest.h"

namespace warplab {

/// A typed array on the host. Copies share the storage; `part` is a view into it.
class Array {
  public:
    Array() = default;
    Array(ElementType type, std::size_t count);  // zeroed lazily by the system; 64-byte aligned

    ElementType type() const { return type_; }
    std::size_t count() const { return count_; }
    std::size_t bytes() const { return count_ * element_bytes(type_); }
    std::byte* data() { return data_; }
    const std::byte* data() const { return data_; }

    template <class T>
    std::span<T> as() {
        return {reinterpret_cast<T*>(data_), count_};
    }
    template <class T>
    std::span<const T> as() const {
        return {reinterpret_cast<const T*>(data_), count_};
    }

    Array part(std::size_t first, std::size_t count) const;  // throws std::out_of_range
    Array clone() const;                                     // with separate storage

  private:
    std::shared_ptr<std::byte[]> storage_;
    std::byte* data_ = nullptr;
    ElementType type_ = ElementType::uint8;
    std::size_t count_ = 0;
};

/// One call of the contract function: its sizes and one array per buffer of the manifest. Inputs have their contents,
/// an inout buffer has its contents before the call, and an output has its type and count and, after Oracle::reference,
/// its right contents.
struct Problem {
    std::vector<std::int64_t> sizes;  // in the order of the manifest's "sizes"
    std::vector<double> reals;        // in the order of the manifest's "reals"
    std::vector<Array> arrays;        // in the order of the manifest's "buffers"
};

enum class Execution { sequential, openmp };

/// The allowed difference between an output and the reference. Both 0: bit for bit. NaN never equals anything.
struct Tolerance {
    double absolute = 0, relative = 0;
};

/// A mistake that students make, and the output that it would produce. The judge names the first hypothesis that
/// reproduces the output of the student's code.
struct Hypothesis {
    std::string cause;    // snake_case id, e.g. "tail_lost"
    std::string message;  // the mistake, with the numbers that show it, as a sentence
    std::string hint;     // what to check; may be empty
    /// Overwrite the right answers in `outputs` (one array per buffer; only outputs and inouts count) with the
    /// mistake's results. Return false if the mistake does not apply here.
    std::function<bool(std::vector<Array>& outputs)> predict;
};

/// The data that a hypothesis may use.
struct Situation {
    const Problem& problem;             // outputs hold the right answer
    const std::vector<Array>& before;   // what the outputs held before the call
    const std::vector<Array>& actual;   // the outputs of the student's code
    const Problem* previous = nullptr;  // the call before this one in the same process, if any
    std::uint32_t beyond = 0;           // the 32-bit pattern that lies beyond the end of every input
    std::string stage = "";             // the stage's id, or empty; some mistakes apply to some stages only
};

/// Calls the student's code with other inputs of the same shape, or with fewer iterations, and returns one array per
/// buffer; nothing if the call fails or no time is left.
using Experiment = std::function<std::optional<std::vector<Array>>(const Problem& problem)>;

/// The work of one call.
struct Cost {
    double floor_bytes = 0;  // each input read once and each output written once
    double bound_bytes = 0;  // what a straightforward kernel must move through device memory
    double flops = 0;
    double iterations = 1;  // a solver's iterations within the call
    std::string formula;    // the explanation of bound_bytes, for the journal: "12 n: two reads and a write"
};

class Oracle {
  public:
    virtual ~Oracle() = default;

    /// Make the inputs of a dataset. `extra` > 0 requests a pool for timing: inputs that can be moved get `extra`
    /// additional elements. Throw ManifestError if the parameters are invalid.
    virtual Problem generate(const Dataset& dataset, std::uint64_t seed, std::size_t extra) const = 0;

    /// Write the right answer to the problem's outputs, sequentially or in parallel as `how` says. It must be
    /// efficient, because it is timed as the CPU baseline.
    virtual void reference(Problem& problem, Execution how) const = 0;

    /// Return the work of a call on this problem.
    virtual Cost cost(const Problem& problem) const = 0;

    /// Reduce a solver's problem to fewer iterations if the reference takes long: the CPU baseline is timed with these
    /// and scaled by cost().iterations. Default: keep all.
    virtual void shorten(Problem& problem) const;

    /// Return the step, in elements, by which inputs of a pool may be shifted: the judge draws a multiple of it for
    /// each input. If it is 0, inputs cannot be moved.
    virtual std::size_t window_step() const { return 4; }

    /// Write the right answer for elements [first, first + count) of one output to `out`: exactly this slice of
    /// reference()'s result, even if an element needs inputs beyond the slice. This lets the judge check more parts of
    /// timed outputs in the same time. Default: return false, because only the whole output can be computed.
    virtual bool reference_part(const Problem& problem, std::size_t buffer, std::size_t first, std::size_t count,
                                Array& out) const;

    /// Return the allowed difference of an output's elements. Default: none.
    virtual Tolerance tolerance(const Problem& problem, std::size_t buffer) const;

    /// Return whether an output is right, for outputs with more than one right answer. Default: by tolerance.
    virtual bool accepts(const Problem& problem, std::size_t buffer, std::size_t index, double expected,
                         double actual) const;

    /// Return the mistakes that may explain a wrong output, the more likely ones first. Default: none.
    virtual std::vector<Hypothesis> hypotheses(const Situation& situation) const;

    /// If no hypothesis reproduces a wrong output, find out by experiments which inputs it is computed from. Return
    /// sentences that state what the experiments show, without a guess about the reason; empty if they show nothing.
    /// Default: make no experiment.
    virtual std::string investigate(const Situation& situation, const Experiment& call) const;
};

/// Every oracle.cpp defines this function.
extern "C" const Oracle* warplab_oracle();

}  // namespace warplab
