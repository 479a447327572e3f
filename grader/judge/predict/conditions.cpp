#include "grader/judge/predict/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "grader/common/text.h"
#include "grader/judge/compile/hand_in.h"

namespace warplab::predict {
namespace {

constexpr std::size_t max_bytes = 10'000;  // the maximum length of a directive; real programs have shorter ones

struct Directive {
    int line = 0;
    std::string name;
    std::vector<std::string> identifiers;
    bool is_too_long = false;
    bool makes_tokens = false;  // a macro with # or ##, which turns its arguments into a text or a name
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Finds everything that may be a directive, even in comments and strings of several lines, so that none can be hidden
/// there. It takes linear time and does not recurse, because the file is untrusted.
class DirectiveReader {
  public:
    explicit DirectiveReader(const std::string& source) {
        for (std::size_t i = 0, line = 1; i < source.size(); ++i) {
            std::size_t end = i + 1;  // g++ allows blanks between the backslash and the end of the line
            while (source[i] == '\\' && end < source.size() && is_blank(source[end])) ++end;
            const bool is_splice = source[i] == '\\' && end < source.size() && source[end] == '\n';
            if (is_splice)
                i = end;
            else
                text_ += source[i], lines_.push_back(static_cast<int>(line));
            line += source[i] == '\n';
        }
    }

    std::vector<Directive> read() {
        bool has_directive = false;  // in the current line
        for (at_ = 0; at_ < text_.size();) {
            if (text_[at_] == '\n') has_directive = false;
            const std::size_t length = has_directive || !may_begin() ? 0 : text_[at_] == '#' ? 1 : starts("%:") ? 2 : 0;
            if (length > 0) {
                has_directive = true;
                read_directive(at_ + length);
                if (directives_.back().is_too_long) break;
            }
            ++at_;
        }
        return std::move(directives_);
    }

    const std::string& text() const { return text_; }
    const std::vector<int>& lines() const { return lines_; }

  private:
    bool starts(std::string_view word) const { return starts(at_, word); }
    bool starts(std::size_t at, std::string_view word) const { return text_.compare(at, word.size(), word) == 0; }

    /// Return whether only blanks or the end of a comment precede this character on its line.
    bool may_begin() {
        if (text_[at_] != '#' && text_[at_] != '%') return false;
        std::size_t before = at_;
        while (before > 0 && is_blank(text_[before - 1])) --before;
        return before == 0 || text_[before - 1] == '\n' || (before > 1 && starts(before - 2, "*/"));
    }

    /// Return the end of a comment that begins at `at`.
    std::size_t end_of_comment(std::size_t at) {
        if (close_ < at + 2) close_ = std::min(text_.find("*/", at + 2), text_.size());
        return std::min(close_ + 2, text_.size());
    }

    std::size_t skip_literal(std::size_t at) const {
        const char quote = text_[at++];
        while (at < text_.size() && text_[at] != quote && text_[at] != '\n') at += text_[at] == '\\' ? 2 : 1;
        return std::min(at + 1, text_.size());
    }

    void read_directive(std::size_t at) {
        Directive directive;
        directive.line = lines_[at_];
        const std::size_t begin = at;
        while (at < text_.size() && text_[at] != '\n' && !directive.is_too_long) {
            const std::size_t word = at;
            while (at < text_.size() && (is_word_character(text_[at]) || (is_digit(text_[word]) && separates(at))))
                ++at;
            if (at > word && directive.name.empty())
                directive.name = text_.substr(word, at - word);
            else if (at > word && !is_digit(text_[word]))
                directive.identifiers.push_back(text_.substr(word, at - word));
            else if (at == word && starts(at, "/*"))
                at = end_of_comment(at);
            else if (at == word && starts(at, "//"))
                break;
            else if (at == word && (text_[at] == '#' || starts(at, "%:")) && !directive.name.empty())
                directive.makes_tokens = true, ++at;
            else if (at == word)
                at = text_[at] == '"' || text_[at] == '\'' ? skip_literal(at) : at + 1;
            directive.is_too_long = at - begin > max_bytes;
        }
        directives_.push_back(directive);
    }

    /// Return whether a separator of digits is at `at`, as in 1'000.
    bool separates(std::size_t at) const {
        return text_[at] == '\'' && at + 1 < text_.size() && is_word_character(text_[at + 1]);
    }

    std::string text_;        // without line splices
    std::vector<int> lines_;  // the line of each character
    std::size_t at_ = 0, close_ = 0;
    std::vector<Directive> directives_;
};

/// The macros whose values depend on the file alone.
class OwnMacros {
  public:
    explicit OwnMacros(const std::vector<Directive>& directives) {
        for (const Directive& directive : directives)
            if (directive.name == "define") add(directive.identifiers);
    }
    /// Return whether the macro is one of them. Names that begin with an underscore are not, because compilers define
    /// such names.
    bool has(const std::string& name) const { return name == "defined" || (name[0] != '_' && names_.contains(name)); }

  private:
    void add(const std::vector<std::string>& identifiers) {
        const bool is_own = std::all_of(identifiers.begin() + !identifiers.empty(), identifiers.end(),
                                        [&](const std::string& name) { return has(name); });
        if (!identifiers.empty() && is_own) names_.insert(identifiers.front());
    }
    std::set<std::string> names_;
};

/// Return whether a name has the form of the compiler's macros. Macros for messages, such as __LINE__, are harmless.
bool is_compiler_macro(std::string_view name) {
    if (!name.starts_with("__")) return false;
    if (name == "__VA_ARGS__" || name == "__VA_OPT__" || name == "__LINE__" || name == "__FILE__") return false;
    return name == "__cplusplus" || std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
}

std::string differs(int line, std::string_view name) {
    return fmt::format("line {} depends on {}, which may differ on a GPU", line, name);
}

/// Return the text with its comments replaced by blanks. Return a text with raw strings unchanged: their line splices
/// have been removed, so they could make code look like a comment.
std::string visible_part(const std::string& text) {
    return text.find("R\"") != std::string::npos ? text : compilation::without_comments(text);
}

/// Describe the first place where the value of a compiler's macro may become part of the program; "" if there is none.
/// Even without a condition, this value can change the program, as a text, as a part of a name, or as a number.
/// Therefore, the file must not name the compiler's macros at all. The arguments of a macro with # or ## are expanded
/// only if another macro calls it.
std::string find_foreign_value(const std::string& text, const std::vector<int>& lines,
                               const std::vector<Directive>& directives) {
    std::set<std::string, std::less<>> makers;
    for (const Directive& directive : directives)
        if (directive.name == "define" && directive.makes_tokens && !directive.identifiers.empty())
            makers.insert(directive.identifiers.front());
    for (const Directive& directive : directives)
        for (std::size_t i = 1; directive.name == "define" && i < directive.identifiers.size(); ++i)
            if (makers.contains(directive.identifiers[i]))
                return differs(directive.line, "the arguments of " + directive.identifiers[i]);
    bool in_directive = false;
    for (std::size_t at = 0, end; at < text.size(); at = end) {
        end = at + 1;
        if (text[at] == '\n') in_directive = false;
        if (text[at] == '#') in_directive = true;
        if (!is_word_character(text[at])) continue;
        while (end < text.size() && is_word_character(text[end])) ++end;
        const std::string_view word = std::string_view(text).substr(at, end - at);
        if (is_compiler_macro(word)) return differs(lines[at], word);
        if (in_directive || makers.empty() || !makers.contains(word)) continue;
        const std::size_t next = std::min(text.find_first_not_of(" \t\r\n", end), text.size());
        if (next == text.size() || text[next] != '(')
            return differs(lines[at], fmt::format("the argument of {}", word));
    }
    return "";
}

}  // namespace

std::string find_foreign_condition(const std::string& source) {
    DirectiveReader reader(source);
    const std::vector<Directive> directives = reader.read();
    const OwnMacros own(directives);
    for (const Directive& directive : directives) {
        if (directive.is_too_long)
            return fmt::format("line {} is a directive of more than {} bytes", directive.line, max_bytes);
        if (!directive.name.starts_with("if") && !directive.name.starts_with("elif")) continue;
        for (const std::string& name : directive.identifiers)
            if (!own.has(name)) return differs(directive.line, name);
    }
    return find_foreign_value(visible_part(reader.text()), reader.lines(), directives);
}

}  // namespace warplab::predict
