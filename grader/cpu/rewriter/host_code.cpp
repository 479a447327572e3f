// Refuses device code that uses host functions or variables, changes built-in variables, or needs a feature that GPUs
// lack, such as exceptions. Refuses host code that uses built-in variables, calls device functions, or passes a device
// variable to a kernel. g++ would compile all of this without a message.

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "grader/cpu/rewriter/calls.h"
#include "grader/cpu/rewriter/declaration.h"
#include "grader/cpu/rewriter/passes.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

using Names = std::unordered_set<std::string_view>;

struct HostOnly {
    std::string_view scope, name, instead;
};

constexpr std::string_view after_the_launch = "call it in host code, after the launch";
constexpr std::array host_only = {
    HostOnly{"std", "max", "write max(a, b), or fmax(a, b)"},
    HostOnly{"std", "min", "write min(a, b), or fmin(a, b)"},
    HostOnly{"std", "swap", "exchange the two with a temporary variable"},
    HostOnly{"std", "accumulate", "write a loop"},
    HostOnly{"std", "fill", "write a loop"},
    HostOnly{"std", "copy", "write a loop"},
    HostOnly{"std", "sort", "write the loops yourself"},
    HostOnly{"std", "vector", "use an array of fixed size, or __shared__ memory"},
    HostOnly{"std", "string", "use printf to show something"},
    HostOnly{"std", "cout", "use printf"},
    HostOnly{"std", "cerr", "use printf"},
    HostOnly{"std", "numeric_limits", "use a constant, such as FLT_MAX or INT_MAX"},
    HostOnly{"", "cudaDeviceSynchronize", after_the_launch},
    HostOnly{"", "cudaStreamSynchronize", after_the_launch},
    HostOnly{"", "cudaMemcpy", "device code reads and writes device memory by itself"},
    HostOnly{"", "cudaMemset", "device code reads and writes device memory by itself"},
    HostOnly{"", "cudaMemcpyToSymbol", "call it in host code, before the launch"},
    HostOnly{"", "cudaMemcpyFromSymbol", after_the_launch},
    HostOnly{"", "rand", "compute random numbers in a __device__ function"},
    HostOnly{"", "exit", "write return"},
    HostOnly{"", "puts", "use printf"},
};

struct NotOnGpus {
    std::string_view word, why;
};

constexpr std::string_view no_exceptions = "GPUs have no exceptions; return a value that reports the failure";
constexpr std::string_view no_types = "GPUs have no information about types at run time";
constexpr std::array not_on_gpus = {
    NotOnGpus{"throw", no_exceptions},
    NotOnGpus{"try", no_exceptions},
    NotOnGpus{"catch", no_exceptions},
    NotOnGpus{"typeid", no_types},
    NotOnGpus{"dynamic_cast", no_types},
    NotOnGpus{"thread_local", "there, a function's variables belong to one thread anyway; remove it"},
};

bool is_qualified(const Stream& stream, int i) {
    const auto before = stream[i - 1];
    return before == "." || before == "->" || before == "::";
}

bool is_declarator_word(std::string_view word) {
    static const Words words("* & && const volatile __restrict__ __restrict ...");
    return words.has(word);
}

/// Finds the names of parameters, of variables in functions, and of members of classes.
class LocalNames {
  public:
    /// `others`: the positions of names in the declarations of functions and variables at namespace scope.
    LocalNames(const Stream& code, const Qualifiers& qualifiers, const std::unordered_set<int>& others)
        : code_(code), qualifiers_(qualifiers), others_(others) {}

    Names find() {
        for (int i = 0; i < code_.size(); ++i) {
            if (!others_.count(i) && follows_type(i)) names_.insert(code_[i]);
            if (!code_.at_namespace[i]) {
                if (begins_statement(i)) add_declared(i);
                if (code_[i] == "[" && code_[i - 1] == "auto") add_bindings(i);
            }
            if (code_[i] == "(" && begins_parameters(i)) add_parameters(i);
        }
        return std::move(names_);
    }

  private:
    static bool is_not_type(std::string_view word) {
        static const Words words(
            "return else do case throw goto and or not sizeof new delete using typedef if while for switch co_return");
        return words.has(word);
    }

    /// Return whether the token at `i` is a name that follows a type, as in `float x` or `const float* x`.
    bool follows_type(int i) const {
        if (!code_.is_identifier(i)) return false;
        const auto before = code_[i - 1];
        if (code_.is_identifier(i - 1)) return !is_not_type(before);
        if (before != "*" && before != "&" && before != ">") return false;
        static const Words begins("; { } ( , const auto unsigned struct");
        return before == ">" || (code_.is_identifier(i - 2) && begins.has(code_[i - 3]));
    }

    bool begins_statement(int i) const {
        const auto before = code_[i - 1];
        const bool in_header = before == "(" && (code_[i - 2] == "for" || code_[i - 2] == "if" ||
                                                 code_[i - 2] == "while" || code_[i - 2] == "switch");
        return before == ";" || before == "{" || before == "}" || before == ":" || before == ")" || in_header;
    }

    void add_declared(int i) {
        if (!code_.is_identifier(i) || is_not_type(code_[i]) || is_call(i)) return;
        const Declaration declaration = read_declaration(code_, qualifiers_, i);
        if (!declaration.understood) return;
        for (const Declarator& declarator : declaration.declarators) names_.insert(code_[declarator.name_begin]);
    }

    /// Return whether a statement that begins at `i` is a call such as `add(&x, 1)`, and not `T (&x)[2]` or `int (x)`.
    bool is_call(int i) const {
        static const Words types("auto bool char short int long signed unsigned float double");
        if (code_[i + 1] != "(" || types.has(code_[i])) return false;
        const auto after = code_[code_.match[i + 1] + 1];
        return after != "[" && after != "(";
    }

    /// Add the names of `auto [x, y]`.
    void add_bindings(int open) {
        for (int i = open + 1; i < code_.match[open]; ++i)
            if (code_.is_identifier(i)) names_.insert(code_[i]);
    }

    /// Return whether the parameters of a function or a lambda with a body begin at `open`.
    bool begins_parameters(int open) const {
        static const Words after("{ -> const noexcept mutable override final :");
        const auto before = code_[open - 1];
        const bool named = code_.is_identifier(open - 1) && !is_not_type(before) && before != "constexpr";
        const bool is_operator = code_[open - 2] == "operator" || code_[open - 3] == "operator";
        const bool is_function = named || is_operator || before == "]" || before == ">";
        return is_function && code_.match[open] > open && after.has(code_[code_.match[open] + 1]);
    }

    void add_parameters(int open) {
        const int close = code_.match[open];
        for (int i = open + 1; i < close; i = code_.after_group(i)) {
            const bool of_function = code_[i] == "(" && is_declarator_word(code_[i + 1]);  // int (*f)(int)
            const int name = of_function ? i + 2 : i;
            const auto next = code_[name + 1];
            const bool ends = next == "," || next == "=" || next == "[" || next == ")";
            if (code_.is_identifier(name) && ends &&
                (code_.is_identifier(name - 1) || code_[name - 1] == ">" || is_declarator_word(code_[name - 1])))
                names_.insert(code_[name]);
        }
    }

    const Stream& code_;
    const Qualifiers& qualifiers_;
    const std::unordered_set<int>& others_;
    Names names_;
};

class HostCode {
  public:
    explicit HostCode(Context& context)
        : context_(context),
          code_(context.unit.code),
          device_(device_depth(context.unit.code, context.qualifiers)),
          both_(both_depth(context.unit.code, context.qualifiers)) {}

    void refuse() {
        find_names();
        for (int i = 0; i < code_.size(); ++i) {
            if (!code_.is_identifier(i)) continue;
            if (runs_on_device(i) || runs_on_device(i + 1))
                refuse_keyword(i);  // void k() try { … } begins before its {
            if (device_[i] == 0) continue;
            refuse_library_name(i);
            refuse_host_name(i);
            refuse_assigned(i);
            refuse_address(i);
        }
        for (const Function& function : device_functions_) refuse_lengths(function);
        for (const Function& function : host_functions_) refuse_built_in(function);
        for (const Function& function : host_functions_) refuse_device_functions(function);
        for (const Function& function : host_functions_) refuse_symbols(function);
    }

  private:
    void find_names() {
        for (const Function& function : find_functions(context_)) {
            own_declarations_.insert(function.name);
            if (function.words & (q_device | q_global)) {
                for_device_.insert(code_[function.name]);
                if (is_device_only(function)) device_only_.insert(code_[function.name]);
                if (function.body && !function.after_macro) device_functions_.push_back(function);
            } else if (function.body) {
                functions_.emplace(code_[function.name], "__device__ " + code_.text(function.begin, function.end));
                if (!function.after_macro) host_functions_.push_back(function);
            }
        }
        for (int i = 0; i < code_.size(); ++i) {
            if (!code_.is_identifier(i)) continue;
            if (code_.at_namespace[i]) find_variables(i);
            if (code_[i + 1] == "<<<") launched_.insert(code_[i]);
        }
        for (const Function& function : find_functions(context_))  // host code calls the host's overloads
            if (!(function.words & q_device) || (function.words & q_host)) device_only_.erase(code_[function.name]);
        for (const int place : own_declarations_) own_names_.insert(code_[place]);
        hidden_ = LocalNames(code_, context_.qualifiers, own_declarations_).find();
        for (const auto name : for_device_) functions_.erase(name);
    }

    /// Record the variables of a declaration such as `float weights[25];` that begins at `i`.
    void find_variables(int i) {
        static const Words others("static_assert using typedef template namespace extern");
        const bool attribute = context_.qualifiers.after_attribute(code_, i) > i;
        if (statement_begin(code_, i, &context_.qualifiers) != i || others.has(code_[i]) ||
            (context_.unit.macro_names.count(code_[i]) && !attribute))
            return;
        const auto declaration = read_declaration(code_, context_.qualifiers, i);
        constexpr unsigned of_device = q_shared | q_constant | q_device | q_managed | q_extern;
        if (declaration.understood && (declaration.words & (q_constant | q_device)) && !(declaration.words & q_managed))
            for (const auto& declarator : declaration.declarators) symbols_.insert(code_[declarator.name_begin]);
        if (!declaration.understood || (declaration.words & of_device)) return;
        for (const auto& declarator : declaration.declarators) {
            own_declarations_.insert(declarator.name_begin);
            const bool is_array = declarator.end > declarator.name_end;
            if (declarator.qualified || (is_constant(declaration.begin, declarator.name_begin) && !is_array)) continue;
            variables_.emplace(code_[declarator.name_begin], code_.text(declaration.begin, declarator.end));
        }
    }

    /// Return whether only device code may call a function. Host code may call a constexpr function if an option of
    /// nvcc allows it, and the host has its own functions with some names of CUDA's functions, such as max.
    bool is_device_only(const Function& function) const {
        if ((function.words & (q_host | q_global)) || function.after_macro) return false;
        for (int i = function.begin; i < function.name; ++i)
            if (code_[i] == "constexpr") return false;
        return !Calls::is_pure(code_[function.name]);
    }

    bool is_constant(int begin, int end) const {
        for (int i = begin; i < end; ++i)
            if (code_[i] == "const" || code_[i] == "constexpr") return true;
        return false;
    }

    void refuse_library_name(int i) {
        for (const auto& listed : host_only) {
            if (code_[i] != listed.name || hidden_.count(code_[i])) continue;
            const bool of_cuda = code_[i - 3] == "::" && code_[i - 4] == "cuda";
            const bool scoped = code_[i - 1] == "::" && code_[i - 2] == "std" && !of_cuda;
            if (listed.scope.empty() ? is_qualified(code_, i) || code_[i + 1] != "(" : !scoped) continue;
            if (listed.scope.empty() && (functions_.count(code_[i]) || for_device_.count(code_[i]))) continue;
            const std::string name = (listed.scope.empty() ? "" : "std::") + std::string(code_[i]);
            add(i, name + " is host code, which device code cannot use; " + std::string(listed.instead));
        }
    }

    /// Return whether the device certainly executes the code at `i`. In a function for both sides, code within an #if
    /// does not count, because a condition such as #ifndef __CUDA_ARCH__ can exclude the device.
    bool runs_on_device(int i) const { return device_[i] > 0 || (both_[i] > 0 && code_.branch[i] == 0); }

    void refuse_keyword(int i) {
        const auto listed = std::ranges::find(not_on_gpus, code_[i], &NotOnGpus::word);
        if (listed != not_on_gpus.end())
            add(i, std::string(code_[i]) + " cannot be used in device code: " + std::string(listed->why));
    }

    void refuse_host_name(int i) {
        if (is_qualified(code_, i) || hidden_.count(code_[i])) return;
        const bool of_cuda_too = Calls::is_pure(code_[i]);  // overload resolution chooses, as in nvcc
        if (const auto iterator = functions_.find(code_[i]); iterator != functions_.end() && is_call(i) && !of_cuda_too)
            add(i, std::string(code_[i]) + " is a host function, which device code cannot call; declare it '" +
                       iterator->second + "'");
        if (const auto iterator = variables_.find(code_[i]); iterator != variables_.end() && !is_only_named(i))
            add(i, std::string(code_[i]) + " is a variable of the host ('" + iterator->second +
                       "'), which device code cannot use; write __device__ or __constant__ before its declaration, or "
                       "pass its value as an argument");
    }

    bool is_built_in(int i) const {
        static const Words variables("threadIdx blockIdx blockDim gridDim"),
            functions(
                "__syncthreads __syncthreads_count __syncthreads_and __syncthreads_or __syncwarp __threadfence "
                "__threadfence_block __threadfence_system __shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync "
                "__ballot_sync __any_sync __all_sync __activemask __ldg __ldcs __ldcg __popc __popcll __clz __clzll "
                "__ffs __ffsll __brev atomicAdd atomicSub atomicExch atomicMin atomicMax atomicInc atomicDec atomicCAS "
                "atomicAnd atomicOr atomicXor");
        const bool listed = variables.has(code_[i]) || (functions.has(code_[i]) && code_[i + 1] == "(");
        return listed && !is_qualified(code_, i) && !hidden_.count(code_[i]) && !own_names_.count(code_[i]);
    }

    /// Refuse built-in variables and functions of the device in a host function. A launch of the function is refused
    /// elsewhere, with a more precise message.
    void refuse_built_in(const Function& function) {
        if (launched_.count(code_[function.name])) return;
        for (int i = function.body; i < code_.match[function.body]; ++i) {
            if (!is_built_in(i) || device_[i] > 0 || both_[i] > 0 || is_only_named(i)) continue;
            const std::string name(code_[function.name]), whole = code_.text(function.begin, function.end);
            const bool waits = code_[i].substr(0, 6) == "__sync";
            add(i, std::string(code_[i]) + " exists only in device code, and " + name +
                       " is a host function; use it in " +
                       (waits ? "a kernel. Host code waits for kernels with cudaDeviceSynchronize()"
                              : "a kernel, or declare '__global__ " + whole + "' if it is meant to be a kernel"));
        }
    }

    /// Refuse calls of functions that only the device has.
    void refuse_device_functions(const Function& function) {
        for (int i = function.body; i < code_.match[function.body]; ++i) {
            if (!device_only_.count(code_[i]) || !is_call(i) || code_[i + 1] != "(" || device_[i] > 0 || both_[i] > 0)
                continue;
            if (is_qualified(code_, i) || hidden_.count(code_[i]) || is_only_named(i)) continue;
            const std::string name(code_[i]);
            add(i, name +
                       " is a __device__ function, which host code cannot call; if both need it, declare it "
                       "__host__ __device__, or without a qualifier if only the host calls it");
        }
    }

    /// Refuse a variable of the device as an argument of a launch.
    void refuse_symbols(const Function& function) {
        const int end = code_.match[function.body];
        for (int i = function.body; i < end; ++i) {
            const bool closes = code_[i - 3] == ">" && code_[i - 2] == ">" && code_[i - 1] == ">";
            if (!closes || code_[i] != "(") continue;
            for (int k = i + 1; k < code_.match[i]; ++k) {
                const auto before = code_[k - 1], after = code_[k + 1];
                const bool is_whole_argument =
                    (before == "(" || before == "," || before == "&") && (after == "," || after == ")");
                if (!is_whole_argument || !symbols_.count(code_[k]) || declares(function, code_[k])) continue;
                add(k, std::string(code_[k]) +
                           " is a device variable: in host code, its name is not its device address. Do not pass it to "
                           "the kernel; use it in the kernel directly");
            }
        }
    }

    /// Return whether a parameter or a variable of a function has this name.
    bool declares(const Function& function, std::string_view name) const {
        for (int i = function.begin; i < code_.match[function.body]; ++i)
            if (code_[i] == name && follows_type(i)) return true;
        return false;
    }

    bool follows_type(int i) const {
        const bool by_pointer = (code_[i - 1] == "*" || code_[i - 1] == "&") && code_.is_identifier(i - 2);
        return code_.is_identifier(i - 1) || by_pointer;
    }

    /// Return whether a declaration has the word __shared__ before the name at `i`.
    bool is_shared(int i) const {
        while (code_[i] != ";" && code_[i] != "{" && code_[i] != "}")
            if (code_[i--] == "__shared__") return true;
        return false;
    }

    /// Refuse arrays whose length depends on a parameter or a built-in variable. g++ would accept them, except in
    /// shared memory.
    void refuse_lengths(const Function& function) {
        static const Words types("float double int unsigned char short long bool size_t");
        const Names values = names_of_values(function);
        for (int i = function.body; i < code_.match[function.body]; ++i) {
            if (!code_.is_identifier(i) || types.has(code_[i]) || !types.has(code_[i - 1]) || is_shared(i)) continue;
            bool is_known = true;
            for (int open = i + 1; code_[open] == "[" && code_.match[open] > open; open = code_.match[open] + 1)
                is_known = is_known && !varies(open, values);
            if (!is_known)
                add(i, "the length of the array " + std::string(code_[i]) +
                           " must be a constant in device code; if the launch decides it, declare the array extern "
                           "__shared__ without a length");
        }
    }

    /// Return whether the length in the brackets at `open` depends on the call of the function.
    bool varies(int open, const Names& values) const {
        static const Words unevaluated("sizeof decltype alignof noexcept");
        static const Words members(". -> :: ( {");  // n.size() and n::size can be constants
        bool found = false;
        for (int i = open + 1; i < code_.match[open]; ++i) {
            if (unevaluated.has(code_[i])) return false;
            const bool is_value = values.count(code_[i]) && !is_qualified(code_, i) && !members.has(code_[i + 1]);
            found = found || is_value || (is_built_in(i) && code_[i + 1] == ".");
        }
        return found;
    }

    /// Return the names of a function's parameters, except those that a variable in the body also has.
    Names names_of_values(const Function& function) const {
        static const Words no_types("return else do case throw goto and or not sizeof new delete using");
        Names names;
        for (int i = function.name + 1; i < code_.match[function.body]; ++i) {
            if (!code_.is_identifier(i) || !code_.is_identifier(i - 1) || no_types.has(code_[i - 1])) continue;
            if (i > function.body)
                names.erase(code_[i]);
            else if (code_[i + 1] == "," || code_[i + 1] == ")")
                names.insert(code_[i]);
        }
        return names;
    }

    void refuse_address(int i) {
        const auto before = code_[i - 2];
        const bool has_operand = code_.is_identifier(i - 2) || before == ")" || before == "]" || before == "&" ||
                                 (code_.has(i - 2) && code_.tokens[i - 2].kind == Kind::number);
        if (code_[i - 1] != "&" || (has_operand && before != "return") || !is_built_in(i)) return;
        add(i, "the address of " + std::string(code_[i]) +
                   " cannot be taken; copy the value to your own variable, and take the address of that");
    }

    void refuse_assigned(int i) {
        if (!is_built_in(i)) return;
        const int after = code_[i + 1] == "." ? i + 3 : i + 1;
        const bool prefixed = is_increment(i - 2) && !is_increment(i - 3);  // x+++threadIdx.x changes x
        if (!is_assignment(after) && !is_increment(after) && !prefixed) return;
        if (code_[after] == "=" && begins_condition(i))
            return add(i, std::string(code_[i]) + " cannot be changed: = assigns; to compare, write ==");
        add(i, std::string(code_[i]) +
                   " cannot be changed: CUDA sets it; copy the value to your own variable, and change that");
    }

    /// Return whether the token at `i` begins a condition or follows && or ||.
    bool begins_condition(int i) const {
        const auto before = code_[i - 1];
        if (before == "(") return code_[i - 2] == "if" || code_[i - 2] == "while";
        return before == "&&" || before == "||";
    }

    bool touches_next(int i) const { return code_.has(i + 1) && code_.tokens[i].end == code_.tokens[i + 1].begin; }

    /// Return whether an assignment such as = or += is at `i`.
    bool is_assignment(int i) const {
        static const Words operators("+ - * / % & | ^ <<");
        const bool precedes_equals = code_[i + 1] == "=" && touches_next(i);
        return code_[i] == "=" ? !precedes_equals : operators.has(code_[i]) && precedes_equals;
    }

    /// Return whether ++ or -- is at `i`.
    bool is_increment(int i) const {
        return (code_[i] == "+" || code_[i] == "-") && code_[i + 1] == code_[i] && touches_next(i);
    }

    bool is_call(int i) const { return code_[i + 1] == "(" || code_[i + 1] == "<"; }

    /// Return whether the name at `i` is in a sizeof, a decltype or a constant expression, which do not read the
    /// variable at run time.
    bool is_only_named(int i) const {
        for (int k = i - 1; k > i - 4 && k >= 0; --k)
            if (code_[k] == "sizeof" || code_[k] == "decltype") return true;
        for (int k = statement_begin(code_, i); k < i; ++k)
            if (code_[k] == "constexpr" || code_[k] == "static_assert") return true;
        return false;
    }

    /// Add a problem only for the first occurrence of each name.
    void add(int i, std::string message) {
        if (reported_.insert(code_[i]).second) context_.refuse(code_.tokens[i], std::move(message));
    }

    Context& context_;
    const Stream& code_;
    std::vector<int> device_, both_;
    std::vector<Function> host_functions_, device_functions_;
    std::unordered_map<std::string_view, std::string> functions_, variables_;
    Names for_device_, device_only_, own_names_, symbols_;
    std::unordered_set<int> own_declarations_;  // positions of the names that the file declares outside of functions
    Names launched_;                            // names before a <<<
    Names hidden_;                              // names that a parameter or a variable of a function has, too
    Names reported_;                            // names with a problem
};

}  // namespace

void refuse_host_code(Context& context) { HostCode(context).refuse(); }

}  // namespace warplab::rewriter
