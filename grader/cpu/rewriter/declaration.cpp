#include "grader/cpu/rewriter/declaration.h"

#include <string_view>

#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

const Words& type_words() {
    static const Words words(
        "void bool char short int long float double signed unsigned wchar_t char16_t char32_t __int128 auto");
    return words;
}

const Words& specifier_words() {
    static const Words words("const volatile inline constexpr constinit __forceinline__ __noinline__ typename");
    return words;
}

const Words& pointer_words() {
    static const Words words("* & && const volatile __restrict__ __restrict restrict");
    return words;
}

/// Real declarations are much shorter. This limits the time for a file that is designed to be slow.
constexpr int max_search_tokens = 512;

class DeclarationReader {
  public:
    DeclarationReader(const Stream& stream, const Qualifiers& qualifiers, int begin)
        : stream_(stream), qualifiers_(qualifiers), at_(begin) {
        result_.begin = begin;
    }

    Declaration read() {
        result_.understood = read_specifiers() && read_declarators();
        result_.end = at_;
        return std::move(result_);
    }

  private:
    std::string_view text() const { return stream_[at_]; }

    bool read_specifiers() {
        bool has_type = false;
        while (stream_.has(at_) && at_ < result_.begin + max_search_tokens) {
            if (const unsigned words = qualifiers_.of(stream_, at_)) {
                result_.words |= words;
                result_.word_tokens.push_back(at_++);
            } else if (skip_attribute()) {
                continue;
            } else if (specifier_words().has(text()) || follows_extern()) {
                ++at_;
            } else if (text() == "struct" || text() == "class" || text() == "union" || text() == "enum") {
                if (!read_elaborated_type()) return false;
                has_type = true;
            } else if (type_words().has(text())) {
                ++at_;
                has_type = true;
            } else if (!has_type && (text() == "decltype" || text() == "typeof" || text() == "__typeof__")) {
                at_ = stream_.after_group(at_ + 1);
                has_type = true;
            } else if (!has_type && (stream_.is_identifier(at_) || text() == "::")) {
                if (!read_type_name()) return false;
                has_type = true;
            } else {
                break;
            }
        }
        return has_type;
    }

    /// Return whether the token at at_ is the "C" of an extern "C".
    bool follows_extern() const {
        return stream_.has(at_) && stream_.tokens[at_].kind == Kind::string && stream_[at_ - 1] == "extern";
    }

    /// Record the attribute at at_, if there is one, and skip it. Return whether there is one.
    bool skip_attribute() {
        const int begin = at_;
        at_ = qualifiers_.after_attribute(stream_, begin);
        for (int i = begin; i < at_; ++i) result_.attribute_tokens.push_back(i);
        return at_ > begin;
    }

    bool read_elaborated_type() {
        ++at_;
        while (skip_attribute()) {
        }
        if (stream_.is_identifier(at_) && !read_type_name()) return false;
        if (text() == ":") {
            for (const int limit = at_ + max_search_tokens; stream_.has(at_) && text() != "{" && text() != ";"; ++at_) {
                if (at_ > limit) return false;
            }
        }
        if (text() == "{") at_ = stream_.after_group(at_);
        return true;
    }

    /// Read a name such as a::b<c>::d; in a macro, it may have pasted parts.
    bool read_type_name() {
        while (true) {
            if (text() == "::") ++at_;
            if (text() == "template") ++at_;
            if (!read_identifier()) return false;
            if (text() == "<") {
                const int after = after_angles(stream_, at_);
                if (after < 0) return false;
                at_ = after;
            }
            if (text() != "::") return true;
        }
    }

    bool read_identifier() {
        if (!stream_.is_identifier(at_)) return false;
        ++at_;
        while (text() == "##" && stream_.has(at_ + 1)) at_ += 2;
        return true;
    }

    bool read_declarators() {
        while (true) {
            if (!read_declarator()) return false;
            if (text() == ";" || (stream_.is_macro && !stream_.has(at_))) return true;
            if (text() != "," || result_.declarators.size() > max_search_tokens) return false;
            ++at_;
        }
    }

    bool read_declarator() {
        Declarator declarator = {};
        skip_pointers();
        const bool is_nested = text() == "(";
        const int outer = at_;
        while (text() == "(") {
            ++at_;
            skip_pointers();
        }
        declarator.name_begin = at_;
        if (!read_identifier()) return false;
        while (text() == "::") {
            declarator.qualified = true;
            ++at_;
            declarator.name_begin = at_;
            if (!read_identifier()) return false;
        }
        declarator.name_end = at_;
        if (is_nested) at_ = stream_.after_group(outer);
        declarator.ends_in_unknown_bound = text() == "[" && stream_[at_ + 1] == "]";
        const bool is_plain = !is_nested || declarator.name_begin == outer + 1;
        const bool is_constructed = is_plain && text() == "(" && is_device_variables_initialiser(at_);
        if (is_plain && text() == "(" && !is_constructed) return false;
        while (!is_constructed && (skip_attribute() || text() == "[" || text() == "(")) {
            if (text() == "[" || text() == "(") at_ = stream_.after_group(at_);
        }
        declarator.end = at_;
        if (is_constructed || text() == "=" || text() == "{") {
            declarator.initialised = true;
            skip_initialiser();
        }
        result_.declarators.push_back(declarator);
        return true;
    }

    bool is_device_variables_initialiser(int open) const {
        return (result_.words & (q_device | q_constant | q_managed)) &&
               read_parentheses(stream_, open) == Parentheses::initialiser;
    }

    void skip_pointers() {
        while (pointer_words().has(text())) ++at_;
    }

    /// Skip to the comma or semicolon after the initialiser. The text after a comma shows whether the comma
    /// separates template arguments.
    void skip_initialiser() {
        for (int steps = 0; stream_.has(at_) && steps < max_search_tokens; ++steps) {
            if (text() == ";" || (text() == "," && begins_declarator(at_ + 1))) return;
            if (text() == "," && may_begin_declarator(at_ + 1)) result_.may_have_more = true;
            at_ = stream_.after_group(at_);
        }
    }

    bool begins_declarator(int i) const {
        while (pointer_words().has(stream_[i])) ++i;
        if (!stream_.is_identifier(i)) return false;
        const auto after = stream_[i + 1];
        if (after == "(" && is_device_variables_initialiser(i + 1)) return true;
        return after == "=" || after == "[" || after == ";" || after == "," || after == "{";
    }

    /// Return whether begins_declarator() cannot distinguish a declarator at `i` from a template argument.
    bool may_begin_declarator(int i) const {
        while (pointer_words().has(stream_[i])) ++i;
        const auto after = stream_[i + 1];
        return stream_[i] == "(" || (stream_.is_identifier(i) &&
                                     (after == "(" || after == "::" || after == "##" || is_attribute_word(after)));
    }

    const Stream& stream_;
    const Qualifiers& qualifiers_;
    int at_;
    Declaration result_;
};

/// Return the position after the name that begins at `i`, such as a::b<c>::d.
int after_name(const Stream& stream, int i) {
    while (true) {
        if (stream[i] == "::") ++i;
        if (stream.is_identifier(i)) ++i;
        if (const int after = stream[i] == "<" ? after_angles(stream, i) : -1; after > 0) i = after;
        if (stream[i] != "::") return i;
    }
}

bool begins_value(const Stream& stream, int i) {
    static const Words words(
        "- + ! ~ & * ( { true false sizeof alignof nullptr static_cast NULL const_cast reinterpret_cast");
    const Kind kind = stream.has(i) ? stream.tokens[i].kind : Kind::punctuation;
    return kind == Kind::number || kind == Kind::string || kind == Kind::character || words.has(stream[i]);
}

/// Classify the parentheses around an argument, the tokens [begin, end), by this argument alone.
Parentheses read_argument(const Stream& stream, int begin, int end) {
    static const Words type_begins("const volatile struct class union enum typename ...");
    static const Words operators("+ - / % ? . -> || << {");
    if (begins_value(stream, begin)) return Parentheses::initialiser;
    if (type_begins.has(stream[begin])) return Parentheses::parameters;
    int at = begin;
    while (type_words().has(stream[at])) ++at;
    const bool is_basic = at > begin;
    if (!is_basic) at = after_name(stream, begin);
    const auto next = at < end ? stream[at] : std::string_view();
    if (operators.has(next)) return Parentheses::initialiser;
    if (next == "(")
        return begins_value(stream, at + 1) && stream[at + 1] != "*" && stream[at + 1] != "&" ? Parentheses::initialiser
                                                                                              : Parentheses::unknown;
    if (is_basic || (at < end && stream.is_identifier(at)) || next == "...") return Parentheses::parameters;
    const bool is_pointer = (next == "*" || next == "&" || next == "&&") && at + 1 == end;
    return is_pointer ? Parentheses::parameters : Parentheses::unknown;
}

}  // namespace

bool is_attribute_word(std::string_view word) {
    static const Words words(
        "alignas __align__ __attribute__ __attribute __declspec __launch_bounds__ __maxnreg__ __cluster_dims__ "
        "__block_size__");
    return words.has(word);
}

Parentheses read_parentheses(const Stream& stream, int open) {
    const int close = stream.match[open];
    if (close < 0) return Parentheses::unknown;
    const auto after = stream[close + 1];
    const bool ends = after == ";" || after == "," || (stream.is_macro && !stream.has(close + 1));
    if (!ends || close == open + 1) return Parentheses::parameters;
    Parentheses kind = Parentheses::unknown;
    for (int begin = open + 1, i = begin; i <= close && kind == Parentheses::unknown && i < open + max_search_tokens;
         i = stream.after_group(i)) {
        if (i != close && stream[i] != ",") continue;
        if (begin < i) kind = read_argument(stream, begin, i);
        begin = i + 1;
    }
    return kind;
}

Declaration read_declaration(const Stream& stream, const Qualifiers& qualifiers, int begin) {
    return DeclarationReader(stream, qualifiers, begin).read();
}

bool begins_other_statement(std::string_view word) {
    static const Words words("return if else switch while for do goto case default delete throw using typedef");
    return words.has(word);
}

int statement_begin(const Stream& stream, int i, const Qualifiers* qualifiers) {
    for (const int limit = i - max_search_tokens; i > 0 && i > limit;) {
        const auto before = stream[i - 1];
        if (before == ";" || before == "{" || before == "}" || before == ":") return i;
        if (before == ")" || before == "]") {
            const int open = stream.match[i - 1];
            if (open < 0) return i;
            const bool is_attribute = is_attribute_word(stream[open - 1]) ||
                                      (qualifiers && qualifiers->after_attribute(stream, open - 1) == i);
            if (is_attribute) {
                i = open - 1;
            } else if (stream[open] == "[" && stream[open + 1] == "[") {
                i = open;
            } else {
                return i;
            }
        } else {
            --i;
        }
    }
    return i;
}

int after_angles(const Stream& stream, int i) {
    int depth = 0;
    for (const int limit = i + max_search_tokens; stream.has(i) && i < limit; i = stream.after_group(i)) {
        if (stream[i] == "<") ++depth;
        if (stream[i] == ">" && --depth == 0) return i + 1;
        if (stream[i] == ";") return -1;
    }
    return -1;
}

}  // namespace warplab::rewriter
