// Warns if two arguments of a call have the names of each other's parameters: `fill(rows, columns)` for
// `void fill(int columns, int rows)`. Pointers are excluded, because swapping two buffers is common.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "grader/cpu/rewriter/declaration.h"
#include "grader/cpu/rewriter/passes.h"

namespace warplab::rewriter {
namespace {

using PartNames = std::vector<std::string_view>;  // "" for a part without a name

class SwappedArguments {
  public:
    explicit SwappedArguments(Context& context) : context_(context), code_(context.unit.code) {}

    void warn() {
        find_parameters();
        std::vector<std::pair<int, std::string>> warnings;
        std::unordered_map<std::string_view, int> swaps, calls;  // of each function
        for (int i = 0; i < code_.size(); ++i) {
            const auto function = functions_.find(code_[i]);
            const int open = function == functions_.end() || code_.at_namespace[i] ? -1 : arguments_of(i);
            if (open < 0 || is_in_body_of(function->first, i)) continue;
            const std::string swap = swap_in(function->second, read_names(open, Part::argument));
            ++calls[code_[i]];
            if (swap.empty()) continue;
            ++swaps[code_[i]];
            warnings.emplace_back(i, swap);
        }
        for (const auto& [at, swap] : warnings)  // a function that is called in both ways is called so deliberately
            if (swaps[code_[at]] == calls[code_[at]]) context_.warn(code_.tokens[at], swap);
    }

  private:
    enum class Part { parameter, argument };
    static constexpr int max_searched = 256, max_parts = 64;  // limit the time for a file that is designed to be slow

    void find_parameters() {
        std::unordered_set<std::string_view> overloaded;
        for (const Function& function : find_functions(context_)) {
            const PartNames names = read_names(function.name + 1, Part::parameter);
            bodies_.emplace(code_[function.name], function.body);
            const auto [known, is_new] = functions_.emplace(code_[function.name], names);
            if (!is_new && known->second != names) overloaded.insert(code_[function.name]);
        }
        for (const auto name : overloaded) functions_.erase(name);
    }

    /// Return whether a function calls itself at `i`: it may exchange its own parameters.
    bool is_in_body_of(std::string_view name, int i) const {
        const auto [begin, end] = bodies_.equal_range(name);
        return std::any_of(begin, end, [&](const auto& body) {
            return body.second > 0 && body.second < i && i < code_.match[body.second];
        });
    }

    /// Return the ( of the arguments of a call or launch of the function at `i`; -1 if it is not called there.
    int arguments_of(int i) const {
        if (code_[i - 1] == "." || code_[i - 1] == "->" || context_.unit.macro_names.count(code_[i])) return -1;
        int at = i + 1;
        if (code_[at] == "<") at = after_angles(code_, at);
        if (code_[at] == "<<<") {
            const int limit = at + max_searched;
            while (at < limit && code_[at] != ";" && !(code_[at] == ">" && code_[at + 1] == ">"))
                at = code_.after_group(at);
            at += 3;
        }
        return code_[at] == "(" && code_.match[at] > at ? at : -1;
    }

    /// Return the names in the parentheses at `open`, one for each part: of a parameter that is not a pointer, or of an
    /// argument that is only a name.
    PartNames read_names(int open, Part part) const {
        PartNames names;
        const int close = code_.match[open];
        int begin = open + 1, depth = 0;
        for (int at = begin; at <= close && names.size() < max_parts; at = code_.after_group(at)) {
            if (part == Part::parameter) depth += (code_[at] == "<") - (code_[at] == ">");
            if (at < close && (code_[at] != "," || depth > 0)) continue;
            names.push_back(part == Part::argument ? argument_in(begin, at) : parameter_in(begin, at));
            begin = at + 1;
        }
        return names;
    }

    std::string_view argument_in(int begin, int end) const {
        return end == begin + 1 && code_.is_identifier(begin) ? code_[begin] : std::string_view();
    }

    std::string_view parameter_in(int begin, int end) const {
        for (int i = begin; i < end; ++i) {
            if (code_[i] == "*" || code_[i] == "[" || code_[i] == "(" || code_[i] == "...") return {};
            if (code_[i] == "=") end = i;
        }
        return end > begin + 1 && code_.is_identifier(end - 1) ? code_[end - 1] : std::string_view();
    }

    /// Return words about the first two arguments that have the names of each other's parameters; "" if there are none.
    static std::string swap_in(const PartNames& parameters, const PartNames& arguments) {
        const std::size_t count = std::min(parameters.size(), arguments.size());
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t k = i + 1; k < count; ++k)
                if (!arguments[i].empty() && arguments[i] == parameters[k] && !arguments[k].empty() &&
                    arguments[k] == parameters[i] && arguments[i] != arguments[k])
                    return std::string(arguments[i]) + " is passed as " + std::string(parameters[i]) + ", and " +
                           std::string(arguments[k]) + " as " + std::string(parameters[k]);
        return "";
    }

    Context& context_;
    const Stream& code_;
    std::unordered_map<std::string_view, PartNames> functions_;  // the names of their parameters
    std::unordered_multimap<std::string_view, int> bodies_;      // their {; 0 for a declaration
};

}  // namespace

void warn_of_swapped_arguments(Context& context) { SwappedArguments(context).warn(); }

}  // namespace warplab::rewriter
