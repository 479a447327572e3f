#pragma once
// Finds by experiments which inputs an output element is computed from, as a weighted sum: in each call, all inputs
// except a few are 0.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/lab/oracle.h"

namespace warplab {

/// An element of an input whose weight in the sum is not the right one.
struct Tap {
    std::size_t buffer = 0, index = 0;
    double weight = 0, expected = 0;
};

/// One element of an output, as a weighted sum of elements of the inputs.
struct WeightedSum {
    const Oracle& oracle;
    Problem problem;                    // contains the inputs that are not terms, such as coefficients
    std::vector<std::size_t> inputs;    // the buffers of the terms
    std::size_t output = 0, index = 0;  // the buffer, and the element in it
};

struct Taps {
    double constant = 0;          // the output element's value if all terms are 0
    std::vector<Tap> wrong = {};  // in the order of the terms
    bool complete = false;        // `wrong` contains every wrong weight
};

/// Find up to `max_wrong` wrong weights. Return nothing if not even the first call succeeds.
std::optional<Taps> find_taps(WeightedSum sum, const Experiment& call, std::size_t max_wrong);

/// Return where the wrong elements of a matrix are, such as "numbers 1 to 3 (from 0) of every 4 rows"; empty if they
/// are everywhere or show no pattern.
std::string describe_places(std::size_t rows, std::size_t columns, const std::function<bool(std::size_t i)>& is_wrong);

}  // namespace warplab
