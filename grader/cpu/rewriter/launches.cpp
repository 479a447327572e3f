#include <algorithm>
#include <unordered_map>

#include "grader/cpu/rewriter/passes.h"

namespace warplab::rewriter {
namespace {

/// Return whether the next token follows without white space.
bool touches_next(const Stream& stream, int i) {
    return stream.has(i + 1) && stream.tokens[i].end == stream.tokens[i + 1].begin;
}

/// Return whether >>> is at `i`. As in nvcc, white space is allowed only before the last >.
bool is_close(const Stream& stream, int i) {
    return stream[i] == ">" && stream[i + 1] == ">" && stream[i + 2] == ">" && touches_next(stream, i);
}

struct Launch {
    int callee = 0;     // the first token of the kernel's name
    int open = 0;       // <<<
    int close = 0;      // the first > of >>>
    int commas = 0;     // between `open` and `close`
    int arguments = 0;  // the first token after >>>: the ( of the arguments, or a macro or macro parameter that
                        // contains them; in a macro that ends with >>>, the end of its text
};

/// Return whether the name at `i` may stand for a launch's arguments: in code, a macro; in a macro's text, any name,
/// because it must be a parameter or a macro there.
bool names_arguments(const Stream& stream, const Context& context, int i) {
    return stream.is_identifier(i) && (stream.is_macro || context.unit.macro_names.count(stream[i]));
}

/// Return the last token of the arguments that begin at `i`: `)`, or the name that stands for them.
int arguments_end(const Stream& stream, int i) {
    if (stream.is_identifier(i) && stream[i + 1] == "(") ++i;
    return stream.match[i] > i ? stream.match[i] : i;
}

class LaunchReader {
  public:
    LaunchReader(const Stream& stream, Context& context) : stream_(stream), context_(context) {}

    /// Read the launch whose <<< is at `open`. Return false if a problem was found instead.
    bool read(int open, Launch& launch) {
        launch.open = open;
        return check_marker(open) && find_close(launch) && (is_configuration(launch) || find_callee(launch)) &&
               check_configuration(launch) && check_before(launch);
    }

  private:
    bool refuse(int i, std::string message) {
        context_.refuse(stream_.tokens[i], std::move(message));
        return false;
    }

    bool check_marker(int open) {
        const bool is_merge_marker =
            stream_.tokens[open].first_on_line && stream_[open + 1] == "<<<" && touches_next(stream_, open);
        if (!is_merge_marker) return true;
        return refuse(open,
                      "a merge left both versions here; keep one and delete the lines <<<<<<<, ======= and >>>>>>>");
    }

    bool find_close(Launch& launch) {
        int without_arguments = -1;
        for (int i = launch.open + 1; stream_.has(i); i = stream_.after_group(i)) {
            const auto text = stream_[i];
            if (text == ";" || text == "<<<" || text == "}") break;
            if (text == ",") ++launch.commas;
            if (!is_close(stream_, i)) continue;
            launch.close = i;
            launch.arguments = i + 3;
            if (stream_[i + 3] == "(") return check_arguments(launch);
            if (stream_.is_macro && !stream_.has(i + 3)) return true;
            if (names_arguments(stream_, context_, i + 3)) return true;
            without_arguments = i;
        }
        if (without_arguments >= 0) {
            return refuse(without_arguments, "the kernel's arguments are missing: expected '(' after '>>>'");
        }
        if (stream_.is_macro || is_closed_by_macro()) return refuse_part(launch.open);
        return refuse(launch.open,
                      "this '<<<' is not closed by '>>>'; write "
                      "kernel<<<blocks, threads>>>(arguments), without spaces inside '<<<' and '>>>'");
    }

    /// Refuse a launch of which only a part is in a macro.
    bool refuse_part(int i) {
        context_.refuse_for_cpu(stream_.tokens[i],
                                "the CPU backend needs '<<<' and '>>>' together: both in the launch, or both in the "
                                "same macro");
        return false;
    }

    bool is_closed_by_macro() const {
        return std::ranges::any_of(context_.unit.macros, [](const Macro& macro) { return is_close(macro.body, 0); });
    }

    bool check_arguments(const Launch& launch) {
        if (stream_.match[launch.arguments] >= 0) return true;
        return refuse(launch.arguments, "the ')' after the kernel's arguments is missing");
    }

    /// Return whether a macro's text is only <<<…>>>, so that the kernel's name comes before the macro's use.
    bool is_configuration(const Launch& launch) const {
        return stream_.is_macro && launch.open == 0 && !stream_.has(launch.arguments);
    }

    bool find_callee(Launch& launch) {
        launch.callee = callee_begin(stream_, launch.open - 1);
        if (launch.callee < 0) return refuse(launch.open, "expected the name of a kernel before '<<<'");
        for (int i = launch.callee; i < launch.open; ++i) {
            const bool is_simple = stream_[i] != "<<<" && stream_[i].find('\n') == std::string_view::npos;
            if (!is_simple)
                return refuse(launch.open,
                              "the expression before '<<<' is too complex; store the kernel in a variable first");
        }
        return true;
    }

    /// Check that a configuration has two to four parts, none of them empty. A macro may hide a comma, so g++ checks a
    /// single part that contains a macro.
    bool check_configuration(const Launch& launch) {
        if (stream_.is_macro) return true;
        if (launch.commas > 3 && !has_angles(launch)) {
            return refuse(launch.open,
                          "a launch has at most four parts: "
                          "kernel<<<blocks, threads, shared_bytes, stream>>>(arguments)");
        }
        if (const int i = find_empty_part(launch); launch.commas > 0 && i >= 0) {
            return refuse(i,
                          "a part of this launch is empty; a launch is written "
                          "kernel<<<blocks, threads>>>(arguments)");
        }
        if (launch.commas > 0) return true;
        for (int i = launch.open + 1; i < launch.close; ++i)
            if (may_hide_comma(stream_[i])) return true;
        return refuse(launch.open,
                      "a launch needs both the number of blocks and the threads in a block: "
                      "kernel<<<blocks, threads>>>(arguments)");
    }

    /// Return whether the word is a macro that has parameters, or whose text has a comma or another macro.
    bool may_hide_comma(std::string_view word) const {
        const auto& names = context_.unit.macro_names;
        return std::ranges::any_of(context_.unit.macros, [&](const Macro& macro) {
            if (macro.name != word) return false;
            for (int i = 0; i < macro.body.size(); ++i)
                if (macro.body[i] == "," || names.count(macro.body[i])) return true;
            return macro.has_parameters;
        });
    }

    /// Return the comma or > that follows an empty part; -1 if no part is empty.
    int find_empty_part(const Launch& launch) const {
        for (int i = launch.open + 1; i <= launch.close; i = stream_.after_group(i)) {
            const bool ends = stream_[i] == "," || i == launch.close;
            if (ends && (stream_[i - 1] == "," || i - 1 == launch.open)) return i;
        }
        return -1;
    }

    bool has_angles(const Launch& launch) const {
        for (int i = launch.open + 1; i < launch.close; ++i) {
            if (stream_[i] == "<") return true;
        }
        return false;
    }

    /// Report a missing semicolon before a launch, because g++ would explain it badly.
    bool check_before(const Launch& launch) {
        const int before = launch.callee - 1;
        if (stream_.is_macro || !stream_.has(before)) return true;
        const bool is_number = stream_.tokens[before].kind == Kind::number;
        const int begin = is_number ? before : callee_begin(stream_, before);
        const bool cast_or_condition = stream_[begin] == "(";
        if (begin < 0 || cast_or_condition || may_be_macro(stream_[begin])) return true;
        return refuse(before, "expected ';' before '" + stream_.text(launch.callee, launch.open) + "'");
    }

    bool may_be_macro(std::string_view word) const {
        const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
        const bool capitals = word[0] >= 'A' && word[0] <= 'Z' && std::ranges::none_of(word, is_small);
        return capitals || context_.unit.macro_names.count(word) || context_.qualifiers.of(word);
    }

    const Stream& stream_;
    Context& context_;
};

/// Write a launch without the kernel's name, which each use of the macro adds.
void rewrite_configuration(const Stream& stream, const Launch& launch, Context& context) {
    context.edits.replace(stream.tokens[launch.open], "::warplab_cpu::Launch(\"\", __LINE__, ");
    context.edits.replace(stream.tokens[launch.close], ")");
    context.edits.remove(stream.tokens[launch.close + 1]);
    context.edits.remove(stream.tokens[launch.close + 2]);
}

void rewrite(const Stream& stream, const Launch& launch, Context& context) {
    if (launch.open == 0) return rewrite_configuration(stream, launch, context);
    const auto callee = stream.text(launch.callee, launch.open);
    const bool is_complete = stream.has(launch.arguments);
    const std::string before = is_complete ? "static_cast<void>((" : "";
    context.edits.replace(
        stream.tokens[launch.callee],
        before + "::warplab_cpu::Launch(" + name_literal(stream, launch.callee, launch.open) + ", __LINE__, ");
    for (int i = launch.callee + 1; i <= launch.open; ++i) context.edits.remove(stream.tokens[i]);
    context.edits.replace(stream.tokens[launch.close],
                          ")," + callee + (stream.is_identifier(launch.arguments) ? " " : ""));
    context.edits.remove(stream.tokens[launch.close + 1]);
    context.edits.remove(stream.tokens[launch.close + 2]);
    if (is_complete) context.edits.insert_after(stream.tokens[arguments_end(stream, launch.arguments)], "))");
}

/// Return the macros whose text is <<<…>>>, or a use of such a macro, and whether each has parameters.
std::unordered_map<std::string_view, bool> find_configurations(const Unit& unit) {
    constexpr int max_levels = 4;  // levels of nested macros
    std::unordered_map<std::string_view, bool> configurations;
    for (int steps = 0; steps < max_levels; ++steps) {
        for (const Macro& macro : unit.macros) {
            const Stream& body = macro.body;
            const int last = body.size() - 1;
            const bool is_launch = body[0] == "<<<" && body[last - 1] == ">" && body[last] == ">";
            const auto inner = configurations.find(body[0]);
            const bool is_use = inner != configurations.end() && last + 1 == (inner->second ? body.after_group(1) : 1);
            if (is_launch || is_use) configurations.emplace(macro.name, macro.has_parameters);
        }
    }
    return configurations;
}

/// Rewrite `k ON(grid, block)(arguments)`, where ON is a configuration.
void rewrite_use(const Stream& stream, int use, bool has_parameters, Context& context) {
    const int callee = callee_begin(stream, use - 1);
    const int arguments = has_parameters ? stream.after_group(use + 1) : use + 1;
    const bool called = stream[arguments] == "(" || names_arguments(stream, context, arguments);
    if (callee < 0 || !(called || (stream.is_macro && !stream.has(arguments)))) return;
    const auto text = stream.text(callee, use);
    context.edits.replace(stream.tokens[callee], called ? "static_cast<void>((" : "");
    for (int i = callee + 1; i < use; ++i) context.edits.remove(stream.tokens[i]);
    context.edits.insert_after(stream.tokens[arguments - 1],
                               ".named(" + name_literal(stream, callee, use) + ")," + text);
    if (called) context.edits.insert_after(stream.tokens[arguments_end(stream, arguments)], "))");
}

/// Return whether a kernel is expected at `i`, for example as the first argument of cudaLaunchKernel.
bool takes_kernel(const Stream& stream, int i) {
    const auto name = stream[i - 2];
    if (stream[i - 1] == "(") return name == "cudaLaunchKernel" || name == "cudaLaunchCooperativeKernel";
    if (stream[i - 1] == "=") return name == "func";
    if (stream[i - 1] == ",") {
        const int config = callee_begin(stream, i - 2);
        const int open = stream[config - 1] == "&" ? config - 2 : config - 1;
        return stream[open] == "(" && stream[open - 1] == "cudaLaunchKernelExC";
    }
    const int type = stream[i - 2] == "=" ? i - 4 : i - 3;  // cudaKernelNodeParams params = {
    return stream[i - 1] == "{" && (stream[type] == "cudaKernelNodeParams" || name == "cudaKernelNodeParams");
}

/// Return the token after a cast such as `(void*)` or `reinterpret_cast<const void*>` at `i`; -1 without a cast.
int after_void_cast(const Stream& stream, int i) {
    const bool is_named_cast = stream[i] == "reinterpret_cast" || stream[i] == "static_cast";
    const std::string_view open = is_named_cast ? "<" : "(", close = is_named_cast ? ">" : ")";
    i += is_named_cast;
    if (stream[i++] != open) return -1;
    while (stream[i] == "const") ++i;
    if (stream[i] != "void" || stream[i + 1] != "*" || stream[i + 2] != close) return -1;
    return i + 3;
}

/// Return whether a <<< whose parts are on different lines, or a `< <<`, is at `i`. The tokenizer accepts `<< <`
/// on one line.
bool is_divided_open(const Stream& stream, int i) {
    return (stream[i] == "<<" && stream[i + 1] == "<") || (stream[i] == "<" && stream[i + 1] == "<<");
}

}  // namespace

void rewrite_launches(const Stream& stream, Context& context) {
    const auto device = device_depth(stream, context.qualifiers);
    for (int i = 0; i < stream.size(); ++i) {
        if (is_divided_open(stream, i)) {
            context.refuse(stream.tokens[i],
                           "'<<<' and '>>>' must not be divided; write kernel<<<blocks, threads>>>(arguments), "
                           "without spaces inside '<<<' and '>>>'");
            return;
        }
        if (stream[i] != "<<<") continue;
        Launch launch;
        if (!LaunchReader(stream, context).read(i, launch)) return;
        if (device[i] > 0) {
            context.refuse_for_cpu(stream.tokens[launch.callee],
                                   "a kernel launched from device code (dynamic parallelism) cannot run on the CPU "
                                   "backend; launch it from the host, or call a __device__ function");
            continue;
        }
        rewrite(stream, launch, context);
    }
}

void rewrite_configured_launches(Context& context) {
    const auto configurations = find_configurations(context.unit);
    if (configurations.empty()) return;
    const auto rewrite_uses = [&](const Stream& stream) {
        for (int i = 1; i < stream.size(); ++i)
            if (const auto iterator = configurations.find(stream[i]); iterator != configurations.end())
                rewrite_use(stream, i, iterator->second, context);
    };
    rewrite_uses(context.unit.code);
    for (const Macro& macro : context.unit.macros) rewrite_uses(macro.body);
}

void rewrite_launch_calls(const Stream& stream, Context& context) {
    for (int i = 0; i < stream.size(); ++i) {
        const int after = after_void_cast(stream, i);
        if (after < 0 || !takes_kernel(stream, i)) continue;
        for (int k = i; k < after; ++k) context.edits.remove(stream.tokens[k]);
    }
}

}  // namespace warplab::rewriter
