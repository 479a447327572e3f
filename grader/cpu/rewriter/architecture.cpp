// Replaces __CUDA_ARCH__. nvcc compiles each file twice, but g++ only once: device code gets the value of the device
// view, and host code that of the host view. A function for both gets a branch at run time.

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "grader/cpu/rewriter/condition.h"
#include "grader/cpu/rewriter/declaration.h"
#include "grader/cpu/rewriter/passes.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

constexpr std::string_view refusal =
    "__CUDA_ARCH__ is defined in device code only, and the CPU backend cannot distinguish host from device here; test "
    "it inside a __global__ or __device__ function, around whole statements";

class Architecture {
  public:
    explicit Architecture(Context& context)
        : context_(context),
          code_(context.unit.code),
          device_(device_depth(code_, context.qualifiers)),
          both_(both_depth(code_, context.qualifiers)) {
        for (int i = 0; i < code_.size(); ++i)
            if (device_[i] == 0) used_by_host_.insert(code_[i]);
        for (const auto& macro : context.unit.macros)
            for (const auto& token : macro.body.tokens) used_by_host_.insert(token.text);
    }

    void choose() {
        for (const auto& conditional : context_.unit.by_architecture) choose(conditional);
        for (int i = 0; i < code_.size(); ++i)
            if (code_[i] == architecture) write_value(i);
        for (const auto& macro : context_.unit.macros) {
            for (const auto& token : macro.body.tokens)
                if (macro.name == architecture || token.text == architecture) return refuse(token);
        }
    }

  private:
    enum class Place { device, host, both, unknown };
    static constexpr int none = -1;

    void refuse(const Token& token) { context_.refuse_for_cpu(token, std::string(refusal)); }

    void write_value(int i) {
        if (device_[i] > 0 || for_device_.count(i))
            context_.edits.replace(code_.tokens[i], std::string(architecture_value));
        else
            refuse(code_.tokens[i]);
    }

    void choose(const Conditional& conditional) {
        if (conditional.is_deep) return refuse(conditional.branches[0].directive[0]);
        const auto host = chosen_branch(conditional, View::host), device = chosen_branch(conditional, View::device);
        if (host && device && *host == *device) return write_view(conditional, View::device);
        switch (place_of(conditional.branches[0].begin)) {
            case Place::device:
                return write_view(conditional, View::device);
            case Place::host:
                return write_view(conditional, View::host);
            case Place::both:
                if (host && device && can_be_statements(conditional))
                    return write_branches(conditional, *host, *device);
                break;
            case Place::unknown:
                if (is_for_device(conditional)) return write_view(conditional, View::device);
                break;
        }
        refuse(conditional.branches[0].directive[0]);
    }

    /// Return the branch that is compiled, `none` if no branch is. Return nothing if only g++ can decide.
    static std::optional<int> chosen_branch(const Conditional& conditional, View view) {
        for (int i = 0; i < static_cast<int>(conditional.branches.size()); ++i) {
            const auto value = value_of(conditional.branches[i].directive, view);
            if (!value) return {};
            if (*value) return i;
        }
        return none;
    }

    static std::optional<long long> value_of(const std::vector<Token>& directive, View view) {
        const std::string_view word = directive[1].text;
        const Token *begin = directive.data() + 2, *end = directive.data() + directive.size();
        if (word == "else") return 1;
        if (word == "if" || word == "elif") return evaluate_condition(begin, end, view);
        if (begin == end || begin->text != architecture) return {};
        return (word.back() == 'f' && word.find("ndef") == std::string_view::npos) == (view == View::device);
    }

    /// Return the side that runs the code at `i`, from the innermost function around it.
    Place place_of(int i) const {
        constexpr int max_blocks = 64;
        int block = i < code_.size() ? code_.block[i] : none;
        if (device_[i] > 0) return Place::device;
        if (both_[i] > 0) return Place::both;
        for (int steps = 0; block >= 0 && steps < max_blocks; block = code_.block[block], ++steps) {
            if (const auto place = place_in(block)) return *place;
        }
        return Place::unknown;
    }

    /// Return the side that runs the code in the braces at `brace`, if the braces enclose the body of a function, or of
    /// a statement such as `if (…)`.
    std::optional<Place> place_in(int brace) const {
        const int begin = statement_begin(code_, brace - 1);
        bool has_parameters = code_[brace - 1] == ")";
        for (int i = begin; i < brace; ++i) {
            const auto word = code_[i];
            if (word == "constexpr" || word == "consteval") return Place::unknown;
            if (word == "struct" || word == "class" || word == "union" || word == "enum" || word == "namespace")
                return {};
            has_parameters = has_parameters || word == "(";
        }
        return has_parameters ? std::optional(Place::host) : std::nullopt;
    }

    // At file scope

    /// Return whether only device code depends on the conditional: it contains only __device__ or __global__ functions,
    /// and macros that only device code uses.
    bool is_for_device(const Conditional& conditional) const {
        const auto& macros = context_.unit.macros;
        const auto before = [](const Macro& macro, std::size_t at) { return macro.at < at; };
        for (auto macro = std::lower_bound(macros.begin(), macros.end(), begin_of(conditional), before);
             macro != macros.end() && macro->at < end_of(conditional); ++macro)
            if (used_by_host_.count(macro->name)) return false;
        return std::ranges::all_of(conditional.branches, [this](const auto& branch) {
            return holds_device_functions(branch.begin, branch.end);
        });
    }

    bool holds_device_functions(int begin, int end) const {
        unsigned words = 0;
        bool has_parameters = false;
        for (int i = begin; i < end; i = code_.after_group(i)) {
            words |= context_.qualifiers.of(code_, i);
            has_parameters = has_parameters || code_[i] == "(";
            if (code_[i] != ";" && code_[i] != "{") continue;
            if (!(words & (q_device | q_global)) || (words & q_host) || !has_parameters) return false;
            if (code_[i] == "{" && code_.match[i] < 0) return false;
            words = 0;
            has_parameters = false;
        }
        return words == 0 && !has_parameters;
    }

    static std::size_t begin_of(const Conditional& conditional) { return conditional.branches[0].directive[0].begin; }
    static std::size_t end_of(const Conditional& conditional) { return conditional.endif[0].begin; }

    // One view: the directives stay

    void write_view(const Conditional& conditional, View view) {
        const auto live = chosen_branch(conditional, view);
        for (int i = 0; i < static_cast<int>(conditional.branches.size()); ++i) {
            write_directive(conditional.branches[i].directive, view);
            if (live && i != *live) context_.dead.push_back(bytes_of(conditional, i));
        }
    }

    static std::pair<std::size_t, std::size_t> bytes_of(const Conditional& conditional, int i) {
        const bool is_last = i + 1 == static_cast<int>(conditional.branches.size());
        const auto& next = is_last ? conditional.endif : conditional.branches[i + 1].directive;
        return {conditional.branches[i].directive.back().end, next[0].begin};
    }

    void write_directive(const std::vector<Token>& directive, View view) {
        const bool on_device = view == View::device;
        const std::string_view word = directive[1].text;
        const bool tests_definition = word.find("def") != std::string_view::npos;
        if (tests_definition && directive.size() > 2 && directive[2].text == architecture) {
            const bool negated = word.find("ndef") != std::string_view::npos;
            context_.edits.replace(directive[1], word[0] == 'e' ? "elif" : "if");
            context_.edits.replace(directive[2], on_device != negated ? "1" : "0");
            return;
        }
        for (std::size_t i = 2; i < directive.size(); ++i)
            if (directive[i].text == architecture) write_operand(directive, i, on_device);
    }

    /// Replace `defined(__CUDA_ARCH__)`, or the macro itself, by its value.
    void write_operand(const std::vector<Token>& directive, std::size_t i, bool on_device) {
        const bool in_parentheses = directive[i - 1].text == "(" && directive[i - 2].text == "defined";
        const bool is_defined = in_parentheses || directive[i - 1].text == "defined";
        const std::string value = is_defined  ? (on_device ? "1" : "0")
                                  : on_device ? std::string(architecture_value)
                                              : "0";
        context_.edits.replace(directive[i], value);
        if (!is_defined) return;
        context_.edits.remove(directive[in_parentheses ? i - 2 : i - 1]);
        if (!in_parentheses) return;
        context_.edits.remove(directive[i - 1]);
        if (i + 1 < directive.size()) context_.edits.remove(directive[i + 1]);
    }

    // Both views: the directives become a branch at run time

    bool can_be_statements(const Conditional& conditional) const {
        const auto before = code_[conditional.branches[0].begin - 1];
        if (before != ";" && before != "{" && before != "}") return false;
        const auto& others = context_.unit.other_directives;
        const auto next = std::lower_bound(others.begin(), others.end(), begin_of(conditional));
        if (next != others.end() && *next < end_of(conditional)) return false;
        return std::ranges::all_of(conditional.branches,
                                   [this](const auto& branch) { return holds_statements(branch); });
    }

    /// Return whether the branch contains only whole statements and declares nothing that later code uses.
    bool holds_statements(const ConditionalBranch& branch) const {
        static const Words no_types("return goto throw delete else break");
        bool begins = true;
        for (int i = branch.begin; i < branch.end; i = code_.after_group(i)) {
            const bool opens = code_[i] == "(" || code_[i] == "[" || code_[i] == "{";
            const bool leaves = opens ? code_.match[i] < i || code_.match[i] >= branch.end : code_.match[i] >= 0;
            if (leaves || code_[i] == "case" || code_[i] == "default") return false;
            if (begins && !no_types.has(code_[i]) &&
                is_used_after(read_declaration(code_, context_.qualifiers, i), branch))
                return false;
            begins = code_[i] == ";" || code_[i] == "{";
        }
        return begins;
    }

    bool is_used_after(const Declaration& declaration, const ConditionalBranch& branch) const {
        if (!declaration.understood) return false;
        constexpr int max_tokens = 4096;
        const int block = code_.block[declaration.begin], end = block < 0 ? code_.size() : code_.match[block];
        if (end - branch.end > max_tokens) return true;
        for (const auto& declarator : declaration.declarators)
            for (int i = branch.end; i < end; ++i)
                if (code_[i] == code_[declarator.name_begin]) return true;
        return false;
    }

    void write_branches(const Conditional& conditional, int host, int device) {
        bool opened = false;
        for (int i = 0; i < static_cast<int>(conditional.branches.size()); ++i) {
            const auto& branch = conditional.branches[i];
            const bool is_live = i == host || i == device;
            const std::string condition = i == device ? "::warplab_cpu::in_kernel()" : "!::warplab_cpu::in_kernel()";
            write_over(branch.directive, !is_live ? "" : opened ? "} else {" : "if (" + condition + ") {");
            opened = opened || is_live;
            if (!is_live) remove_lines(branch.directive[0], bytes_of(conditional, i));
            for (int k = branch.begin; i == device && k < branch.end; ++k) for_device_.insert(k);
        }
        write_over(conditional.endif, "}");
    }

    /// Remove everything except the line endings.
    void remove_lines(const Token& anywhere, std::pair<std::size_t, std::size_t> bytes) {
        const char* const source = anywhere.text.data() - anywhere.begin;
        const auto lines = std::count(source + bytes.first, source + bytes.second, '\n');
        context_.edits.replace(bytes.first, bytes.second, std::string(static_cast<std::size_t>(lines), '\n'));
    }

    void write_over(const std::vector<Token>& directive, std::string text) {
        context_.edits.replace(directive[0], std::move(text));
        for (std::size_t i = 1; i < directive.size(); ++i) context_.edits.remove(directive[i]);
    }

    Context& context_;
    const Stream& code_;
    std::vector<int> device_, both_;
    std::unordered_set<std::string_view> used_by_host_;  // the names outside of device functions, and in macros
    std::unordered_set<int> for_device_;                 // tokens in __host__ __device__ functions for the device only
};

}  // namespace

void choose_architecture(Context& context) { Architecture(context).choose(); }

}  // namespace warplab::rewriter
