#pragma once
// The steps of a rewrite. Each step reads the original tokens, and adds edits, problems or warnings to the context.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grader/cpu/rewriter/edits.h"
#include "grader/cpu/rewriter/qualifiers.h"
#include "grader/cpu/rewriter/unit.h"

namespace warplab::rewriter {

struct Context {
    const Unit& unit;
    const Qualifiers& qualifiers;
    Edits edits;
    std::vector<Problem> problems;
    std::vector<std::pair<std::size_t, std::size_t>> dead;  // bytes [begin, end) that g++ does not compile
    std::unordered_map<int, Edits> splits = {};             // the result of find_splits() (split.h)
    std::vector<Problem> warnings = {};
    std::optional<std::string_view> symbol_prefix = {};  // before variables' names: "::" or "", once needed

    void refuse(const Token& token, std::string message) {
        problems.push_back({token.begin, std::move(message), false});
    }
    void warn(const Token& token, std::string message) { warnings.push_back({token.begin, std::move(message), false}); }
    void refuse_for_cpu(const Token& token, std::string message) {
        problems.push_back({token.begin, std::move(message), true});
    }
};

/// A shared variable declared in a function; its scope is the tokens (from, to).
struct SharedName {
    std::string_view name;
    int from, to;
};

/// The function or variable that a __global__ or __device__ declares.
struct Definition {
    int parameters = -1;  // position of its (
    int body = -1;        // position of its {; -1 for a declaration or a variable
};
/// Parse the declaration that follows a __global__ or __device__ at `word`.
Definition find_definition(const Stream& stream, const Qualifiers& qualifiers, int word);

/// Turn the bodies of kernels into lambdas, and refuse kernels that nvcc or the backend does not accept.
void rewrite_kernels(const Stream& stream, Context& context);
/// Turn launches into ordinary calls, and refuse launches that nvcc or the backend does not accept.
void rewrite_launches(const Stream& stream, Context& context);
/// Rewrite launches with a macro that contains only <<<grid, block>>>.
void rewrite_configured_launches(Context& context);
/// Remove the cast to void* from a kernel that is passed to cudaLaunchKernel, similar functions or a graph, because the
/// runtime needs the kernel's type.
void rewrite_launch_calls(const Stream& stream, Context& context);
/// Replace __CUDA_ARCH__ by its value in device code, and by "undefined" in host code. In functions for both, write a
/// branch at run time. Refuse the name in all other places.
void choose_architecture(Context& context);
/// Rewrite the declarations of shared variables. Return those in functions.
std::vector<SharedName> rewrite_shared(const Stream& stream, Context& context);
/// Make lambdas capture the shared variables that they use. CUDA does not require this.
void capture_shared(const Stream& stream, const std::vector<SharedName>& names, Context& context);
/// Return whether rewrite_asm replaces the asm at `i`.
bool is_runnable_asm(const Stream& stream, int i);
/// Replace inline PTX that needs no GPU with functions of the runtime.
void rewrite_asm(const Stream& stream, Context& context);
/// Return, in order, the positions of the atomics in device code that update an array which the same function reads in
/// a condition.
std::vector<int> guarded_updates(const Stream& stream, const Qualifiers& qualifiers);
/// Let other threads run before each atomic of guarded_updates().
void rewrite_guarded_updates(const Stream& stream, Context& context);
/// Register the device variables that the tokens declare.
void register_symbols(const Stream& stream, Context& context);
/// Mark the file if it has device variables that register_symbols() cannot name.
void note_unlisted_symbols(const Unit& unit, Context& context);
/// Replace __noinline__ with a macro of the runtime.
void rewrite_noinline(const Stream& stream, Context& context);
/// Refuse the features in the table of refusals.h.
void refuse_unsupported(Context& context);
/// Refuse functions that CUDA no longer has, such as warp functions without _sync.
void refuse_removed(Context& context);
/// Refuse host names in device code, and device names in host code.
void refuse_host_code(Context& context);
/// Warn about arrays that are local to each thread and seem to be meant for the whole block.
void warn_of_thread_arrays(Context& context);
/// Warn about a semicolon directly after the header of a for or an if.
void warn_of_empty_bodies(Context& context);
/// Warn if two arguments of a call have the names of each other's parameters.
void warn_of_swapped_arguments(Context& context);
/// Warn about `x % 2 * n == 0`, which tests (x % 2) * n.
void warn_of_remainders(Context& context);
/// Refuse launches of functions that are not kernels, calls of kernels, and launches that are written as a shift.
void refuse_wrong_callees(Context& context);

/// A function that the file declares or defines outside classes: its name, and the tokens [begin, end) of its
/// declaration up to the ) of the parameters.
struct Function {
    int begin, name, end;
    unsigned words = 0;        // a set of Qualifier
    int body = 0;              // its {; 0 if it is only declared
    bool after_macro = false;  // a macro of unknown meaning precedes the name, and may contain qualifiers
};
std::vector<Function> find_functions(const Context& context);

/// Return whether the innermost braces around `i` are those of a class.
bool is_in_class_body(const Stream& stream, int i);

/// Return, for each token, the number of enclosing bodies of functions that only the device runs.
std::vector<int> device_depth(const Stream& stream, const Qualifiers& qualifiers);
/// Return, for each token, the number of enclosing bodies of functions that both the host and the device run.
std::vector<int> both_depth(const Stream& stream, const Qualifiers& qualifiers);

/// Return the beginning of the name that ends at `last`: `ns::k<T>`, `table[i].k`, `(c ? a : b)`; -1 if there is none.
int callee_begin(const Stream& stream, int last);

/// Return the tokens as a string literal. In a macro, return code that makes one from the macro's arguments.
std::string name_literal(const Stream& stream, int begin, int end);

}  // namespace warplab::rewriter
