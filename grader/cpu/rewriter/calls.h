#pragma once
// Finds the calls in device code that certainly lead to no barrier, no warp function and no other wait for a thread.

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "grader/cpu/rewriter/qualifiers.h"
#include "grader/cpu/rewriter/unit.h"

namespace warplab::rewriter {

class Calls {
  public:
    Calls(const Unit& unit, const Qualifiers& qualifiers);

    /// Return whether nothing in the tokens [begin, end), including macros and called functions, waits for another
    /// thread. Unknown functions may wait. A `__syncthreads`, `__syncwarp` or shuffle among the tokens themselves does
    /// not count.
    bool never_wait(int begin, int end);

    /// Return whether a call of `name` may change its arguments: true for unknown functions, for functions of the file
    /// with reference or variadic parameters, and for macros that contain & or call a function other than CUDA's and
    /// C's.
    bool may_change_arguments(std::string_view name) const;

    /// Return whether `name(…)` only computes a value from its arguments (a function of CUDA or C, a type, a cast), or
    /// is not a call because the name is a keyword such as `if`.
    static bool is_pure(std::string_view name);
    /// Return whether a name is a type of CUDA or C, or a function such as make_float4.
    static bool is_type(std::string_view name);

    /// Return whether the file defines a function of this name.
    bool is_function(std::string_view name) const { return definitions_.count(name) != 0; }

    /// Return whether a macro, or a function other than a kernel, uses threadIdx.
    bool use_thread_index() const { return use_thread_index_; }

  private:
    struct Definition {
        int parameters, body;  // their opening parenthesis and brace
    };
    bool stream_never_waits(const Stream& stream, int begin, int end);
    bool tokens_never_wait(const Stream& stream, int begin, int end);
    bool all_types_never_wait();
    bool function_never_waits(std::string_view name);
    bool call_never_waits(const Stream& stream, int i);
    bool macro_may_change(std::string_view name, int depth) const;
    bool macro_never_waits(std::string_view name);
    void find_definitions();
    int find_body(int name) const;

    const Unit& unit_;
    std::unordered_set<int> guarded_;  // atomics before which another thread may run
    std::unordered_multimap<std::string_view, Definition> definitions_;
    std::unordered_map<std::string_view, int> types_;      // classes of the file, with the position of their {
    std::unordered_set<std::string_view> template_types_;  // T of template <typename T>
    std::unordered_map<std::string_view, bool> known_, known_macros_;  // whether these never wait
    std::vector<std::string_view> examined_;  // functions that are being examined, innermost last
    bool has_library_ = false;                // cooperative groups, CUB or libcu++
    bool use_thread_index_ = false;
    int depth_ = 0;
    long budget_ = 4'000'000;  // tokens that may still be examined
};

}  // namespace warplab::rewriter
