#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "grader/cpu/rewriter/declaration.h"
#include "grader/cpu/rewriter/passes.h"

namespace warplab::rewriter {
namespace {

/// Return a name derived from the declarator's name. In a macro, it is made by pasting, because the declarator's name
/// may be a parameter.
std::string derived_name(const Stream& stream, const Declarator& declarator, std::string_view prefix) {
    const auto name = stream.text(declarator.name_begin, declarator.name_end);
    return std::string(prefix) + (stream.is_macro ? "##" : "") + name;
}

/// Return the attributes of a declaration as text, with those in macros of its qualifiers.
std::vector<std::string> attributes_of(const Stream& stream, const Qualifiers& qualifiers,
                                       const Declaration& declaration) {
    std::vector<std::string> attributes;
    for (const int i : declaration.word_tokens)
        for (auto& attribute : qualifiers.attributes_of(stream[i])) attributes.push_back(std::move(attribute));
    const auto& tokens = declaration.attribute_tokens;
    for (auto at = tokens.begin(); at != tokens.end();) {
        const int end = qualifiers.after_attribute(stream, *at);
        attributes.push_back(stream.text(*at, end));
        while (at != tokens.end() && *at < end) ++at;
    }
    return attributes;
}

/// Return a struct with the alignment that the attributes require.
std::string aligned_struct(const std::vector<std::string>& attributes, const std::string& name) {
    std::string members;
    for (std::size_t i = 0; i < attributes.size(); ++i)
        members += " " + attributes[i] + " char m" + std::to_string(i) + ";";
    return "; struct " + name + " {" + members + " }";
}

std::string defining_text(const Stream& stream, const Qualifiers& qualifiers, const Declaration& declaration,
                          const Declarator& declarator) {
    const bool in_file = stream.at_namespace[declaration.begin];
    const auto name = stream.text(declarator.name_begin, declarator.name_end);
    const auto type = derived_name(stream, declarator, "warplab_cpu_type_");
    const auto storage = derived_name(stream, declarator, "warplab_cpu_");
    const auto place = "(" + name_literal(stream, declarator.name_begin, declarator.name_end) + ", __LINE__)";
    const std::string reference = (in_file ? "; WARPLAB_CPU_FILE_SHARED auto& " : "; auto& ") + name + " = ";
    if (declaration.words & q_extern)
        return reference + "::warplab_cpu::dynamic_shared<decltype(" + type + ")>" + place;
    const auto attributes = attributes_of(stream, qualifiers, declaration);
    const bool is_aligned = !attributes.empty();
    const auto alignment = derived_name(stream, declarator, "warplab_cpu_aligned_");
    return (is_aligned ? aligned_struct(attributes, alignment) : "") + "; WARPLAB_CPU_SHARED ::warplab_cpu::Shared<" +
           type + (is_aligned ? ", " + alignment : "") + "> " + storage + reference + storage + ".use" + place;
}

class SharedRewriter {
  public:
    SharedRewriter(const Stream& stream, Context& context) : stream_(stream), context_(context) {
        while (first_goto_ < stream.size() && stream[first_goto_] != "goto") ++first_goto_;
    }

    std::vector<SharedName> run() {
        for (int i = 0; i < stream_.size(); ++i) {
            if (!(context_.qualifiers.of(stream_, i) & q_shared)) continue;
            const auto declaration =
                read_declaration(stream_, context_.qualifiers, statement_begin(stream_, i, &context_.qualifiers));
            if (!check(i, declaration)) continue;
            rewrite(declaration);
            i = declaration.end;
        }
        return std::move(names_);
    }

  private:
    bool refuse(int i, std::string message) {
        context_.refuse(stream_.tokens[i], std::move(message));
        return false;
    }

    /// Return the position of the macro that hides the declarator's name; -1 if there is none.
    int find_macro_in(const Declarator& declarator) const {
        const auto is_macro = [&](int i) { return context_.unit.macro_names.count(stream_[i]) > 0; };
        const int name = declarator.name_begin;
        if (is_macro(name)) return name;
        return stream_[name - 1] == "(" && is_macro(name - 2) ? name - 2 : -1;
    }

    /// Return the position of the first macro of the file in the rest of a declaration; -1 if there is none.
    int find_macro_after(int word) const {
        for (int i = word + 1; stream_.has(i) && stream_[i] != ";" && stream_[i] != "{" && stream_[i] != "}"; ++i)
            if (context_.unit.macro_names.count(stream_[i]) && !context_.qualifiers.of(stream_, i)) return i;
        return -1;
    }

    bool refuse_part(int i) {
        context_.refuse_for_cpu(
            stream_.tokens[i],
            "the CPU backend cannot read the part of this __shared__ variable that is in the macro '" +
                std::string(stream_[i]) +
                "'; write '__shared__ float tile[256];', or put the whole declaration into the macro");
        return false;
    }

    bool refuse_macro(int i) {
        context_.refuse_for_cpu(
            stream_.tokens[i],
            "the CPU backend cannot read the name of this __shared__ variable in the macro '" +
                std::string(stream_[i]) +
                "'; write '__shared__ float tile[256];', or put the whole declaration into the macro");
        return false;
    }

    bool check(int word, const Declaration& declaration) {
        if (!declaration.understood || declaration.end <= word) {
            if (const int macro = find_macro_after(word); macro >= 0) return refuse_part(macro);
            return refuse(word,
                          "expected a declaration such as '__shared__ float tile[256];' (without an initialiser, and "
                          "not partly in a macro)");
        }
        for (const auto& declarator : declaration.declarators) {
            const auto name = "'" + stream_.text(declarator.name_begin, declarator.name_end) + "'";
            if (const int macro = find_macro_in(declarator); macro >= 0) return refuse_macro(macro);
            if (declarator.initialised) {
                return refuse(declarator.name_begin, "a __shared__ variable cannot have an initialiser; assign to " +
                                                         name + " in the kernel, then __syncthreads()");
            }
            if (declarator.ends_in_unknown_bound && !(declaration.words & q_extern)) {
                return refuse(declarator.name_begin,
                              name + " needs a size; if the launch gives it, write 'extern __shared__'");
            }
        }
        return true;
    }

    /// Rewrite a declaration. Dynamic memory stays extern, so that a name has the same type in the whole namespace, as
    /// with nvcc.
    void rewrite(const Declaration& declaration) {
        auto& edits = context_.edits;
        enclose_before_label(declaration);
        std::string word = declaration.words & q_extern ? "extern" : "typedef";
        for (const int i : declaration.word_tokens) {
            const bool is_shared_word = context_.qualifiers.of(stream_, i) & q_shared;
            edits.replace(stream_.tokens[i], is_shared_word ? std::exchange(word, "") : "");
        }
        for (const int i : declaration.attribute_tokens) edits.remove(stream_.tokens[i]);
        for (const auto& declarator : declaration.declarators) {
            const Token& name = stream_.tokens[declarator.name_begin];
            edits.insert_before(name, stream_.is_macro ? "warplab_cpu_type_##" : "warplab_cpu_type_");
            remember(declaration, declarator);
            if (is_repeated(declaration, declarator)) continue;
            const auto definition = defining_text(stream_, context_.qualifiers, declaration, declarator);
            if (stream_.has(declaration.end)) {
                edits.insert_before(stream_.tokens[declaration.end], definition);
            } else {
                edits.insert_after(stream_.tokens.back(), definition);
            }
        }
    }

    /// Put braces around the declaration and the statements up to the next label, because no jump may pass the
    /// initialised reference.
    void enclose_before_label(const Declaration& declaration) {
        const int block = stream_.block[declaration.begin];
        if (block < 0 || stream_.match[block] < 0) return;
        const int condition = stream_[block - 1] == ")" ? stream_.match[block - 1] : -1;
        const bool in_switch = stream_[condition - 1] == "switch";
        int& enclosed_until = enclosed_until_[block];
        if (declaration.begin < enclosed_until || !(in_switch || follows_goto(declaration.begin))) return;
        for (int i = declaration.end; i < stream_.match[block] && budget_ > 0; i = stream_.after_group(i), --budget_) {
            const bool is_case = in_switch && (stream_[i] == "case" || stream_[i] == "default");
            if (!is_case && !is_label_of_goto(i, declaration.begin)) continue;
            context_.edits.insert_before(stream_.tokens[declaration.begin], "{");
            context_.edits.insert_before(stream_.tokens[i], "}");
            enclosed_until = i;
            return;
        }
        if (!follows_goto(stream_.match[block])) enclosed_until = stream_.match[block];
    }

    bool follows_goto(int i) const { return first_goto_ < i; }

    /// Return whether a label is at `i` to which a goto before the token `before` jumps.
    bool is_label_of_goto(int i, int before) {
        const auto last = stream_[i - 1];
        const bool is_label = stream_.is_identifier(i) && stream_[i + 1] == ":" &&
                              (last == ";" || last == "}" || last == "{" || last == ")" || last == ":");
        for (int k = first_goto_; is_label && k < before && budget_ > 0; ++k, --budget_)
            if (stream_[k] == "goto" && stream_[k + 1] == stream_[i]) return true;
        return false;
    }

    /// Return whether the file has already declared this dynamic shared memory, except in another branch of an #if.
    bool is_repeated(const Declaration& declaration, const Declarator& declarator) {
        const int at = declaration.begin;
        if (!stream_.at_namespace[at] || !(declaration.words & q_extern)) return false;
        auto& branches = in_file_[{stream_.block[at], stream_[declarator.name_begin]}];
        if (branches.count(0) || branches.count(stream_.branch[at])) return true;
        branches.insert(stream_.branch[at]);
        return false;
    }

    void remember(const Declaration& declaration, const Declarator& declarator) {
        const int block = stream_.block[declaration.begin];
        if (stream_.is_macro || stream_.at_namespace[declaration.begin] || block < 0) return;
        names_.push_back({stream_[declarator.name_begin], declaration.end, stream_.match[block]});
    }

    const Stream& stream_;
    Context& context_;
    std::vector<SharedName> names_;
    int first_goto_ = 0;
    long budget_ = 4'000'000;                      // tokens that may still be examined for labels
    std::unordered_map<int, int> enclosed_until_;  // by block: up to here, no declaration needs further braces
    std::map<std::pair<int, std::string_view>, std::set<int>> in_file_;  // by block and name: the declaring branches
};

class LambdaCapturer {
  public:
    LambdaCapturer(const Stream& stream, const std::vector<SharedName>& names, Context& context)
        : stream_(stream), context_(context) {
        for (const auto& name : names) names_[name.name].push_back(name);
    }

    void run() {
        for (int i = 0; i < stream_.size(); ++i) {
            const int body = lambda_body(i);
            if (body >= 0) capture(i, stream_.match[i], body);
        }
    }

  private:
    /// Return the position of the { of the lambda that begins at `i`; -1 if none begins there.
    int lambda_body(int i) const {
        if (stream_[i] != "[" || stream_.match[i] < 0) return -1;
        const auto before = stream_[i - 1];
        const bool after_operand =
            stream_.is_identifier(i - 1) && before != "return" && before != "else" && before != "do";
        if (after_operand || before == ")" || before == "]" || before == "[" || before == ">") return -1;
        constexpr int max_steps = 64;  // tokens and groups between ] and {
        for (int at = stream_.match[i] + 1, steps = 0; steps < max_steps && stream_.has(at); ++steps) {
            const auto text = stream_[at];
            if (text == "{") return stream_.match[at] < 0 ? -1 : at;
            if (text == ";" || text == "=" || text == "," || text == ")" || text == ":") return -1;
            at = stream_.after_group(at);
        }
        return -1;
    }

    void capture(int open, int close, int body) {
        if (stream_[open + 1] == "&" && (open + 2 == close || stream_[open + 2] == ",")) return;
        std::unordered_set<std::string_view> listed;
        for (int i = open + 1; i < close; ++i) listed.insert(stream_[i]);
        std::string added;
        for (int i = close + 1; i < stream_.match[body] && budget_ > 0; ++i, --budget_) {
            if (!stream_.is_identifier(i) || !is_visible(stream_[i], open)) continue;
            const bool is_parameter = i < body;
            if (!listed.insert(stream_[i]).second || is_parameter) continue;
            added += (open + 1 == close && added.empty() ? "&" : ", &") + std::string(stream_[i]);
        }
        if (!added.empty()) context_.edits.insert_before(stream_.tokens[close], added);
    }

    bool is_visible(std::string_view name, int at) const {
        const auto iterator = names_.find(name);
        if (iterator == names_.end()) return false;
        const auto& declared = iterator->second;
        auto after = std::partition_point(declared.begin(), declared.end(),
                                          [at](const SharedName& shared) { return shared.from < at; });
        constexpr int max_steps = 16;  // declarations of one name in enclosing blocks
        for (int steps = 0; after != declared.begin() && steps < max_steps; ++steps) {
            if (at < (--after)->to) return true;
        }
        return false;
    }

    const Stream& stream_;
    Context& context_;
    std::unordered_map<std::string_view, std::vector<SharedName>> names_;
    long budget_ = 4'000'000;  // tokens that may still be examined: lambdas can be nested
};

}  // namespace

std::vector<SharedName> rewrite_shared(const Stream& stream, Context& context) {
    return SharedRewriter(stream, context).run();
}

void capture_shared(const Stream& stream, const std::vector<SharedName>& names, Context& context) {
    if (!names.empty()) LambdaCapturer(stream, names, context).run();
}

}  // namespace warplab::rewriter
