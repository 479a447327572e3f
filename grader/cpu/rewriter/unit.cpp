#include "grader/cpu/rewriter/unit.h"

#include <algorithm>
#include <span>
#include <string>

#include "grader/cpu/rewriter/condition.h"

namespace warplab::rewriter {
namespace {

enum class Truth { yes, no, unknown };

/// Return whether a comment may continue after this part of a line.
bool leaves_comment_open(std::string_view text) {
    const std::size_t open = text.rfind("/*");
    return open != std::string_view::npos && text.find("*/", open + 2) == std::string_view::npos;
}

/// Return the text from `begin` to the end of its line, with the lines that splices join to it.
std::string_view logical_line(std::string_view source, std::size_t begin) {
    std::size_t end = source.find('\n', begin);
    while (end != std::string_view::npos) {
        const std::size_t last = source.find_last_not_of(" \t\r\f\v", end - 1);
        if (last == std::string_view::npos || source[last] != '\\') break;
        end = source.find('\n', end + 1);
    }
    return source.substr(begin, end == std::string_view::npos ? end : end - begin);
}

/// Return whether g++ may read the rest of an #include, after its header, as another header.
bool has_second_header(std::span<const Token> rest) {
    return std::ranges::any_of(
        rest, [](const Token& token) { return token.text.find_first_of("<\"'") != std::string_view::npos; });
}

/// Return whether g++ reads this text as a header only where it expects one: <a"b>, <a//b> or "a\b".
bool is_unclear_header(std::string_view header) {
    const bool is_closed = header.size() > 1 && header.back() == (header.front() == '<' ? '>' : '"');
    const std::string_view name = header.substr(1, header.size() - 1 - is_closed);
    return name.find_first_of("\"'\\") != std::string_view::npos || name.find("/*") != std::string_view::npos ||
           name.find("//") != std::string_view::npos;
}

/// Return whether the condition may contain a header, for __has_include or for a macro that uses it, with characters
/// that begin a comment or a literal elsewhere.
bool has_unclear_header(std::span<const Token> condition, std::string_view source) {
    for (const Token& token : condition) {
        if (token.kind == Kind::string && token.text.find('\\') != std::string_view::npos) return true;
        if (!token.text.starts_with('<')) continue;
        const std::string_view rest = logical_line(source, token.begin);
        return rest.find('>') != std::string_view::npos &&
               (rest.find_first_of("\"'") != std::string_view::npos || leaves_comment_open(rest));
    }
    return false;
}

/// Return whether g++ may split this directive into other tokens than tokenize(), so that a comment or a literal begins
/// or ends elsewhere. g++ expects headers only in some directives, and only in code that it compiles.
bool is_unclear(std::span<const Token> directive, std::string_view source) {
    if (directive.size() < 3) return false;
    const std::string_view name = directive[1].text;
    if (name == "if" || name == "elif") return has_unclear_header(directive.subspan(2), source);
    if (!is_include(name)) return false;
    const bool has_header = directive[2].kind == Kind::header;
    return (has_header && is_unclear_header(directive[2].text)) || has_second_header(directive.subspan(3));
}

Truth negate(Truth truth) {
    if (truth == Truth::unknown) return truth;
    return truth == Truth::yes ? Truth::no : Truth::yes;
}

using Tokens = std::vector<Token>;

/// Evaluate a condition as g++ does. The result is also unknown if it differs between host code and device code.
Truth evaluate_both_views(const Tokens& tokens, std::size_t begin, std::size_t end) {
    const auto host = evaluate_condition(tokens.data() + begin, tokens.data() + end, View::host);
    const auto device = evaluate_condition(tokens.data() + begin, tokens.data() + end, View::device);
    if (!host || !device || (*host != 0) != (*device != 0)) return Truth::unknown;
    return *host ? Truth::yes : Truth::no;
}

/// The place of an #if, #elif, #else or #endif among the code's tokens.
struct Branch {
    enum Kind { opens, alternative, closes } kind;
    int at;  // the number of code tokens before it
};

/// Matches brackets. The open brackets are a stack with shared tails, so that returning to an #if takes no time.
class BracketMatcher {
  public:
    BracketMatcher(Stream& stream, const std::vector<Branch>& branches) : stream_(stream), branches_(branches) {}

    void run() {
        const auto count = stream_.tokens.size();
        stream_.match.assign(count, -1);
        stream_.block.assign(count, -1);
        stream_.branch.assign(count, 0);
        stream_.at_namespace.assign(count, 0);
        opens_ = {{-1, 0, -1, -1, !stream_.is_macro}};
        auto branch = branches_.begin();
        for (int i = 0; i < stream_.size(); ++i) {
            for (; branch != branches_.end() && branch->at <= i; ++branch) enter(branch->kind);
            if (!conditionals_.empty()) stream_.branch[i] = conditionals_.back().branch;
            read(i);
        }
        find_brackets_around();
    }

  private:
    void find_brackets_around() {
        stream_.around.assign(stream_.tokens.size(), -1);
        int around = -1;
        for (int i = 0; i < stream_.size(); ++i) {
            stream_.around[i] = around;
            const auto text = stream_[i];
            if (text == "(" || text == "[" || text == "{")
                around = i;
            else if (text == ";")
                around = -1;
            else if ((text == ")" || text == "]" || text == "}") && stream_.match[i] >= 0)
                around = stream_.around[stream_.match[i]];
        }
    }

    struct Open {
        int at;     // token; -1 for the bottom
        int below;  // in opens_
        int block;
        int twin;  // in opens_: a bracket in another branch of an #if with the same closing bracket; -1 for none
        bool at_namespace;
    };
    struct Conditional {
        int top_before, top_of_first;
        int branch;
    };

    void enter(Branch::Kind kind) {
        if (kind == Branch::opens) {
            conditionals_.push_back({top_, -1, ++count_of_branches_});
        } else if (!conditionals_.empty()) {
            auto& conditional = conditionals_.back();
            if (kind == Branch::alternative) {
                if (conditional.top_of_first < 0) conditional.top_of_first = top_;
                top_ = conditional.top_before;
                conditional.branch = ++count_of_branches_;
            } else {
                if (conditional.top_of_first >= 0) pair_branches(conditional.top_of_first, top_);
                conditionals_.pop_back();
            }
        }
    }

    void pair_branches(int first, int last) {
        constexpr int max_pairs = 8;
        for (int i = 0; i < max_pairs && first != last && first != 0 && last != 0; ++i) {
            opens_[last].twin = first;
            first = opens_[first].below;
            last = opens_[last].below;
        }
    }

    void read(int i) {
        const auto& token = stream_.tokens[i];
        const char c = token.text.size() == 1 && token.kind == Kind::punctuation ? token.text[0] : '\0';
        if (closes(stream_[opens_[top_].at], c)) close(i);
        stream_.block[i] = opens_[top_].block;
        stream_.at_namespace[i] = opens_[top_].at_namespace;
        if (c == '(' || c == '[' || c == '{') {
            const bool inner = c == '{' && opens_[top_].at_namespace && opens_namespace(i);
            opens_.push_back({i, top_, c == '{' ? i : opens_[top_].block, -1, inner});
            top_ = static_cast<int>(opens_.size()) - 1;
        }
    }

    void close(int i) {
        const auto& open = opens_[top_];
        stream_.match[i] = open.at;
        stream_.match[open.at] = i;
        if (open.twin >= 0) stream_.match[opens_[open.twin].at] = i;
        top_ = open.below;
    }

    static bool closes(std::string_view open, char close) {
        return (open == "(" && close == ')') || (open == "[" && close == ']') || (open == "{" && close == '}');
    }

    bool opens_namespace(int brace) const {
        if (stream_[brace - 2] == "extern" && stream_.tokens[brace - 1].kind == Kind::string) return true;
        int i = brace - 1;
        while (stream_.is_identifier(i) && stream_[i] != "namespace") i -= stream_[i - 1] == "::" ? 2 : 1;
        return stream_[i] == "namespace";
    }

    Stream& stream_;
    const std::vector<Branch>& branches_;
    std::vector<Open> opens_;
    std::vector<Conditional> conditionals_;
    int top_ = 0, count_of_branches_ = 0;
};

class Reader {
  public:
    explicit Reader(std::string_view source) : source_(source), tokens_(tokenize(source)) {}

    Unit read() {
        for (std::size_t i = 0; i < tokens_.size();) {
            if (tokens_[i].directive == 0) {
                if (live()) unit_.code.tokens.push_back(tokens_[i]);
                ++i;
                continue;
            }
            std::size_t end = i;
            while (end < tokens_.size() && tokens_[end].directive == tokens_[i].directive) ++end;
            read_directive(i, end);
            i = end;
        }
        BracketMatcher(unit_.code, branches_).run();
        static const std::vector<Branch> none;
        for (auto& macro : unit_.macros) BracketMatcher(macro.body, none).run();
        return std::move(unit_);
    }

  private:
    struct Liveness {
        bool outer_live, live;
        bool decided;  // a branch is certainly compiled, so the later ones are dead
    };

    bool live() const { return conditionals_.empty() || conditionals_.back().live; }

    void read_directive(std::size_t begin, std::size_t end) {
        const auto name = begin + 1 < end ? tokens_[begin + 1].text : std::string_view();
        if (name == "line" || (begin + 1 < end && tokens_[begin + 1].kind == Kind::number))
            unit_.line_directives.push_back(tokens_[begin]);
        if (is_unclear(std::span(tokens_).subspan(begin, end - begin), source_))
            unit_.unclear_directives.push_back(tokens_[begin]);
        const auto rest = std::min(begin + 2, end);
        note_conditional(name, begin, end);
        if (name == "if") {
            open(evaluate_both_views(tokens_, rest, end));
        } else if (name == "ifdef" || name == "ifndef") {
            const bool is_backend_macro = rest < end && tokens_[rest].text == "__WARPLAB_CPU__";
            const Truth defined = is_backend_macro ? Truth::yes : Truth::unknown;
            open(name == "ifdef" ? defined : negate(defined));
        } else if (name == "elif") {
            alternative(evaluate_both_views(tokens_, rest, end));
        } else if (name == "elifdef" || name == "elifndef") {
            alternative(Truth::unknown);
        } else if (name == "else") {
            alternative(Truth::yes);
        } else if (name == "endif") {
            if (!conditionals_.empty()) conditionals_.pop_back();
            branch(Branch::closes);
        } else if (live() && name == "define") {
            unit_.other_directives.push_back(tokens_[begin].begin);
            read_macro(rest, end);
        } else if (live() && is_include(name) && rest < end && tokens_[rest].kind == Kind::header) {
            unit_.includes.push_back(tokens_[rest]);
            unit_.other_directives.push_back(tokens_[begin].begin);
        } else if (live()) {
            unit_.other_directives.push_back(tokens_[begin].begin);
            const bool has_words = name == "pragma" && rest + 1 < end;
            if (has_words && tokens_[rest].text == "GCC" && tokens_[rest + 1].text == "target")
                unit_.target_pragmas.push_back(tokens_[rest]);
            if (name == "pragma" && rest < end && tokens_[rest].text == "unroll")
                unit_.unroll_pragmas.push_back({tokens_[rest], unit_.code.size(), is_one(rest + 1, end)});
        }
    }

    /// Return whether the tokens are 1 or (1).
    bool is_one(std::size_t begin, std::size_t end) const {
        if (begin < end && tokens_[begin].text == "(") ++begin;
        return begin < end && tokens_[begin].text == "1";
    }

    /// Record a directive of a conditional.
    void note_conditional(std::string_view name, std::size_t begin, std::size_t end) {
        const bool opens = name == "if" || name == "ifdef" || name == "ifndef";
        if (opens) unfinished_.emplace_back();
        if (unfinished_.empty() || (!opens && name.substr(0, 2) != "el" && name != "endif")) return;
        Conditional& conditional = unfinished_.back();
        const int at = unit_.code.size();
        const Tokens directive(tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                               tokens_.begin() + static_cast<std::ptrdiff_t>(end));
        if (!conditional.branches.empty()) conditional.branches.back().end = at;
        if (name != "endif") {
            conditional.branches.push_back({directive, at, at});
            return;
        }
        constexpr std::size_t max_depth = 64;
        conditional.endif = directive;
        conditional.is_deep = unfinished_.size() > max_depth;
        if (outer_live() && tests_architecture(conditional)) unit_.by_architecture.push_back(std::move(conditional));
        unfinished_.pop_back();
    }

    bool outer_live() const { return conditionals_.empty() || conditionals_.back().outer_live; }

    static bool tests_architecture(const Conditional& conditional) {
        for (const auto& branch : conditional.branches)
            for (const auto& token : branch.directive)
                if (token.text == architecture) return true;
        return false;
    }

    void branch(Branch::Kind kind) { branches_.push_back({kind, unit_.code.size()}); }

    void open(Truth truth) {
        conditionals_.push_back({live(), live() && truth != Truth::no, truth == Truth::yes});
        branch(Branch::opens);
    }

    void alternative(Truth truth) {
        if (conditionals_.empty()) return;
        auto& conditional = conditionals_.back();
        conditional.live = conditional.outer_live && !conditional.decided && truth != Truth::no;
        conditional.decided = conditional.decided || truth == Truth::yes;
        branch(Branch::alternative);
    }

    void read_macro(std::size_t begin, std::size_t end) {
        if (begin == end) return;
        std::size_t body = begin + 1;
        const bool has_parameters =
            body < end && tokens_[body].text == "(" && tokens_[body].begin == tokens_[begin].end;
        std::vector<std::string_view> parameters;
        if (has_parameters) {
            for (; body < end && tokens_[body].text != ")"; ++body)
                if (tokens_[body].kind == Kind::identifier) parameters.push_back(tokens_[body].text);
            body = std::min(body + 1, end);
        }
        unit_.macro_names.insert(tokens_[begin].text);
        unit_.macros.push_back({tokens_[begin].text, tokens_[begin].begin, has_parameters, parameters, {}});
        auto& stream = unit_.macros.back().body;
        stream.is_macro = true;
        stream.tokens.assign(tokens_.begin() + body, tokens_.begin() + end);
    }

    std::string_view source_;
    Tokens tokens_;
    Unit unit_;
    std::vector<Liveness> conditionals_;
    std::vector<Conditional> unfinished_;  // the conditionals that are being read, innermost last
    std::vector<Branch> branches_;
};

}  // namespace

std::string Stream::text(int begin, int end) const {
    std::string joined;
    for (int i = begin; i < end && has(i); ++i) {
        if (i > begin && tokens[i - 1].end != tokens[i].begin) joined += ' ';
        joined += tokens[i].text;
    }
    return joined;
}

Unit read_unit(std::string_view source) { return Reader(source).read(); }

}  // namespace warplab::rewriter
