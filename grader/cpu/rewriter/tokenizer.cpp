#include "grader/cpu/rewriter/tokenizer.h"

#include <algorithm>
#include <array>

namespace warplab::rewriter {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_identifier_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           (static_cast<unsigned char>(c) & 0x80);
}

bool is_identifier_part(char c) { return is_identifier_start(c) || is_digit(c); }

/// Return whether a ' between a digit and this character is a digit separator, not the beginning of a literal.
bool may_follow_separator(char c) {
    return is_identifier_part(c) && c != '$' && !(static_cast<unsigned char>(c) & 0x80);
}

class Tokenizer {
  public:
    explicit Tokenizer(std::string_view source) : source_(source) {}

    std::vector<Token> run() {
        while (true) {
            skip_space();
            if (at_ >= source_.size()) return std::move(tokens_);
            next();
        }
    }

  private:
    char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
    bool starts(std::string_view text) const { return source_.substr(at_, text.size()) == text; }

    void skip_space() {
        while (at_ < source_.size()) {
            if (peek() == '\n') {
                ++at_;
                at_line_start_ = true;
                in_directive_ = false;
            } else if (const std::size_t length = splice_length()) {
                at_ += length;
            } else if (starts("//")) {
                skip_line_comment();
            } else if (starts("/*")) {
                const auto close = source_.find("*/", at_ + 2);
                at_ = close == std::string_view::npos ? source_.size() : close + 2;
            } else if (is_space(peek())) {
                ++at_;
            } else {
                return;
            }
        }
    }

    static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

    void skip_line_comment() {
        while (at_ < source_.size() && peek() != '\n') at_ += std::max<std::size_t>(splice_length(), 1);
    }

    /// Return the length of the line splice here, or 0. As in g++, white space may precede the end of the line.
    std::size_t splice_length() const {
        if (peek() != '\\') return 0;
        std::size_t length = 1;
        while (is_space(peek(length))) ++length;
        return peek(length) == '\n' ? length + 1 : 0;
    }

    void next() {
        const bool opens_directive = at_line_start_ && peek() == '#';
        if (opens_directive) {
            in_directive_ = true;
            ++directives_;
            tokens_in_directive_ = 0;
        }
        const std::size_t begin = at_;
        const Kind kind = read();
        add(kind, begin);
    }

    void add(Kind kind, std::size_t begin) {
        const auto text = source_.substr(begin, at_ - begin);
        if (text == "<" && completes_launch_open(begin)) {
            tokens_.back().text = "<<<";
            tokens_.back().end = at_;
            return;
        }
        tokens_.push_back({kind, at_line_start_, in_directive_ ? directives_ : 0, begin, at_, text});
        at_line_start_ = false;
        after_include_ = in_directive_ && ++tokens_in_directive_ == 2 && is_include(text);
    }

    /// Return whether the < at `begin` completes `<< <`. Visual Studio writes this, and nvcc accepts it on one line.
    bool completes_launch_open(std::size_t begin) const {
        if (tokens_.empty() || tokens_.back().text != "<<" || tokens_.back().end == begin) return false;
        const std::size_t gap = tokens_.back().end;
        return source_.substr(gap, begin - gap).find('\n') == std::string_view::npos;
    }

    Kind read() {
        const char c = peek();
        if (after_include_ && (c == '<' || c == '"')) return read_header(c == '<' ? '>' : '"');
        if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number();
        if (at_word()) return read_identifier_or_string();
        if (c == '"') return read_quoted('"', Kind::string);
        if (c == '\'') return read_quoted('\'', Kind::character);
        return read_punctuation();
    }

    Kind read_header(char close) {
        ++at_;
        while (at_ < source_.size() && peek() != '\n' && peek() != close) ++at_;
        if (peek() == close) ++at_;
        return Kind::header;
    }

    Kind read_number() {
        while (at_ < source_.size()) {
            const char c = peek();
            const bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
            if (exponent && (peek(1) == '+' || peek(1) == '-')) {
                at_ += 2;
            } else if (is_identifier_part(c) || c == '.' || (c == '\'' && may_follow_separator(peek(1)))) {
                ++at_;
            } else {
                break;
            }
        }
        return Kind::number;
    }

    Kind read_identifier_or_string() {
        const std::size_t begin = at_;
        skip_word();
        const auto word = source_.substr(begin, at_ - begin);
        const bool plain = word == "u8" || word == "u" || word == "U" || word == "L";
        if (plain && peek() == '"') return read_quoted('"', Kind::string);
        if (plain && peek() == '\'') return read_quoted('\'', Kind::character);
        const bool raw = word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
        if (raw && peek() == '"') return read_raw_string();
        return Kind::identifier;
    }

    /// Read a quoted literal. As in g++, an unterminated literal ends with its line.
    Kind read_quoted(char quote, Kind kind) {
        ++at_;
        while (at_ < source_.size() && peek() != '\n' && peek() != quote) {
            const std::size_t escape = peek() == '\\' && at_ + 1 < source_.size() ? 2 : 1;
            at_ += std::max(splice_length(), escape);
        }
        if (peek() == quote) end_literal(at_ + 1);
        return kind;
    }

    /// Continue after a literal's closing quote and its suffix (""s). Otherwise, ""R"(" would seem to begin a raw
    /// string.
    void end_literal(std::size_t end) {
        at_ = end;
        if (at_word()) skip_word();
    }

    /// Return the length of the universal character name here (\u00e9, \u{e9}, \N{…}), or 0. The length does not
    /// include digits without braces: skip_word() reads them as parts of the word.
    std::size_t escape_length() const {
        if (peek() != '\\' || (peek(1) != 'u' && peek(1) != 'U' && peek(1) != 'N')) return 0;
        const std::size_t close = peek(2) == '{' ? source_.find_first_of("}\n", at_) : std::string_view::npos;
        return close == std::string_view::npos ? 2 : close + 1 - at_;
    }

    bool at_word() const { return is_identifier_start(peek()) || escape_length() > 0; }

    void skip_word() {
        while (is_identifier_part(peek()) || escape_length() > 0) at_ += std::max<std::size_t>(escape_length(), 1);
    }

    Kind read_raw_string() {
        constexpr std::size_t max_delimiter_bytes = 16;
        const auto delimiter = source_.substr(at_ + 1, max_delimiter_bytes + 1);
        const std::size_t length = delimiter.find_first_of("( )\\\t\v\f\n");
        if (length == std::string_view::npos || delimiter[length] != '(') return read_quoted('"', Kind::string);
        std::array<char, max_delimiter_bytes + 2> close;
        close[0] = ')';
        source_.copy(close.data() + 1, length, at_ + 1);
        close[length + 1] = '"';
        const auto end = source_.find(std::string_view(close.data(), length + 2), at_ + 1 + length);
        end_literal(end == std::string_view::npos ? source_.size() : end + length + 2);
        return Kind::string;
    }

    Kind read_punctuation() {
        static constexpr std::string_view longer[] = {"<<<", "...", "<<", "<=", ">=", "::", "->", "##", "&&", "||"};
        for (const auto text : longer) {
            if (starts(text)) {
                at_ += text.size();
                return Kind::punctuation;
            }
        }
        ++at_;
        return Kind::punctuation;
    }

    std::string_view source_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    std::uint32_t directives_ = 0, tokens_in_directive_ = 0;
    bool at_line_start_ = true, in_directive_ = false, after_include_ = false;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Tokenizer(source).run(); }

bool is_include(std::string_view directive) {
    return directive.starts_with("include") || directive == "import" || directive == "embed";
}

}  // namespace warplab::rewriter
