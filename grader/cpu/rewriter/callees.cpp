// Refuses launches of functions that are not kernels, calls of kernels without <<<…>>>, and launches that are written
// as a shift. nvcc refuses all of these, but g++ would compile them without a message, or with a message about an
// operator.

#include <unordered_map>
#include <unordered_set>

#include "grader/cpu/rewriter/declaration.h"
#include "grader/cpu/rewriter/passes.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

class Callees {
  public:
    explicit Callees(Context& context) : context_(context), code_(context.unit.code) {
        for (const Token& header : context.unit.includes)
            uses_barriers_ = uses_barriers_ || header.text.find("barrier>") != std::string_view::npos;
    }

    void refuse() {
        find_names();
        for (int i = 0; i < code_.size(); ++i) {
            if (!code_.is_identifier(i) || code_.at_namespace[i] || !stands_alone(i)) continue;
            if (hidden_.count(code_[i])) continue;
            refuse_launch(i);
            refuse_call(i);
            refuse_shift(i);
        }
    }

  private:
    void find_names() {
        for (const Function& function : find_functions(context_)) {
            if (function.words & q_global && !function.after_macro)
                kernels_.insert(code_[function.name]);
            else if (!function.after_macro)
                functions_.emplace(code_[function.name], code_.text(function.name, function.end));
        }
        for (int i = 0; i < code_.size(); ++i)
            if (code_.is_identifier(i) && (is_variable(i) || is_member_function(i))) hidden_.insert(code_[i]);
    }

    /// Return whether the name looks like a parameter or a variable, as in `void (*fill)(float*)` and
    /// `auto fill = other;`.
    bool is_variable(int i) const {
        const auto before = code_[i - 1], after = code_[i + 1];
        const bool typed = code_.is_identifier(i - 1) || before == "*" || before == "&" || before == ">";
        return typed && (after == ")" || after == "," || after == "=" || after == ";" || after == "{");
    }

    /// Return whether a member function of this name is declared, as in `void fill();`. Other members call it without
    /// an object.
    bool is_member_function(int i) const {
        static const Words no_types("return else do throw case new");
        const auto before = code_[i - 1];
        const bool typed = (code_.is_identifier(i - 1) && !no_types.has(before)) || before == "*" || before == "&";
        return typed && code_[i + 1] == "(" && is_in_class_body(code_, i);
    }

    bool stands_alone(int i) const {
        const auto before = code_[i - 1];
        return before != "." && before != "->" && before != "::" && !context_.unit.macro_names.count(code_[i]);
    }

    void refuse_launch(int i) {
        const auto function = functions_.find(code_[i]);
        if (code_[i + 1] != "<<<" || function == functions_.end() || kernels_.count(code_[i])) return;
        add(i, std::string(code_[i]) +
                   " is launched with <<<>>> but is not a __global__ function; declare it '__global__ void " +
                   function->second + "'");
    }

    /// Refuse a call of a kernel without <<<…>>>. A declaration is not a call: it has a type before the name.
    void refuse_call(int i) {
        if (code_[i + 1] != "(" || !kernels_.count(code_[i]) || functions_.count(code_[i])) return;
        if (is_barrier_init(i)) return;
        const auto before = code_[i - 1];
        if (before != ";" && before != "{" && before != "}" && before != ")") return;
        add(i, "kernel " + std::string(code_[i]) + " is called without <<<blocks, threads>>>; a launch is written " +
                   std::string(code_[i]) + "<<<blocks, threads>>>(arguments)");
    }

    /// Refuse a launch with two brackets, `k<<blocks, threads>>(arguments)`, which is a shift for g++.
    void refuse_shift(int i) {
        if (code_[i + 1] != "<<" || !kernels_.count(code_[i])) return;
        add(i, "a launch has three brackets on each side; write " + std::string(code_[i]) +
                   "<<<blocks, threads>>>(arguments)");
    }

    /// Return whether this is libcu++'s `init(&barrier, threads)`, which argument-dependent lookup finds.
    bool is_barrier_init(int i) const { return code_[i] == "init" && code_[i + 2] == "&" && uses_barriers_; }

    /// Add a problem only for the first occurrence of each name.
    void add(int i, std::string message) {
        if (reported_.insert(code_[i]).second) context_.refuse(code_.tokens[i], std::move(message));
    }

    Context& context_;
    const Stream& code_;
    std::unordered_map<std::string_view, std::string> functions_;  // other than kernels: their names and parameters
    std::unordered_set<std::string_view> kernels_;
    std::unordered_set<std::string_view> reported_;  // names with a problem
    std::unordered_set<std::string_view> hidden_;    // names that parameters, variables or member functions also have
    bool uses_barriers_ = false;
};

}  // namespace

void refuse_wrong_callees(Context& context) { Callees(context).refuse(); }

}  // namespace warplab::rewriter
