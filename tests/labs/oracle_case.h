#pragma once
// Helpers for tests of a lab's oracle: they load it, and let it explain a wrong output.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/lab/oracle.h"
#include "tests/paths.h"

namespace warplab::test {

inline const Oracle& load_oracle(const std::string& lab) {
    const auto file = build_folder() / "labs" / lab / "oracle.so";
    void* library = dlopen(file.c_str(), RTLD_NOW);
    if (!library) throw std::runtime_error(dlerror());
    return *reinterpret_cast<const Oracle* (*)()>(dlsym(library, "warplab_oracle"))();
}

inline Parameter whole(std::size_t number) { return static_cast<std::int64_t>(number); }

inline Dataset make_dataset(const std::string& generator, Parameters parameters) {
    Dataset dataset;
    dataset.name = "test";
    dataset.generator = generator;
    dataset.parameters = std::move(parameters);
    return dataset;
}

/// Return a problem with the right answer in its outputs.
inline Problem solve(const Oracle& oracle, const Dataset& dataset, std::uint64_t seed) {
    Problem problem = oracle.generate(dataset, seed, 0);
    oracle.reference(problem, Execution::sequential);
    return problem;
}

/// Return an array with every word set to `pattern`, as an output is before a call.
inline Array filled(ElementType type, std::size_t count, std::uint32_t pattern) {
    Array array(type, count);
    for (std::uint32_t& word : array.as<std::uint32_t>()) word = pattern;
    return array;
}

/// Return the first hypothesis that gives `actual` in buffer `output`, as the judge looks for it.
inline std::optional<Hypothesis> explain(const Oracle& oracle, const Problem& problem, std::size_t output,
                                         const Array& before, const Array& actual, const Problem* previous = nullptr,
                                         std::uint32_t beyond = 0x7ff81235u) {
    std::vector<Array> arrays_before = problem.arrays, arrays_after = problem.arrays;
    arrays_before[output] = before;
    arrays_after[output] = actual;
    for (const Hypothesis& hypothesis : oracle.hypotheses({problem, arrays_before, arrays_after, previous, beyond})) {
        std::vector<Array> predicted = problem.arrays;
        predicted[output] = problem.arrays[output].clone();
        if (!hypothesis.predict(predicted)) continue;
        if (std::memcmp(predicted[output].data(), actual.data(), actual.bytes()) == 0) return hypothesis;
    }
    return std::nullopt;
}

}  // namespace warplab::test
