#pragma once
// Builds the parts of a runner that contain no student code, once per backend and per lab, and keeps them in the cache.

#include <filesystem>
#include <string>
#include <vector>

#include "grader/judge/compile/contract.h"
#include "grader/model/backend.h"

namespace warplab::compilation {

struct Harness {
    std::vector<std::filesystem::path> folders;  // everything that the compiler must be able to read
    std::vector<std::string> includes;           // flags
    std::vector<std::filesystem::path>
        link;                        // objects; they precede the student's object, so that their constructors run first
    std::filesystem::path rewriter;  // the CPU backend's rewriter
    std::string hash;                // changes if any part changes
    Contract contract;
};

/// Build missing parts and keep them in `cache`. Throws std::runtime_error with the compiler's message if the harness's
/// own code does not compile.
Harness harness_for(const std::filesystem::path& root, const std::filesystem::path& build,
                    const std::filesystem::path& cache, Backend backend, const std::string& lab);

}  // namespace warplab::compilation
