#include "grader/cpu/rewriter/scan.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

#include "grader/cpu/rewriter/compile_limits.h"
#include "grader/cpu/rewriter/tokenizer.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

/// `part*` matches all words that begin with `part`, and `*part*` all words that contain it.
struct RefusedWord {
    std::string_view pattern, reason;
};

constexpr std::string_view uninstrumented = "code that the sanitizer does not instrument",
                           sanitizer_name = "code that names the functions of the sanitizer";
constexpr RefusedWord refused_words[] = {
    {"asm", "inline assembler"},           {"__asm", "inline assembler"},         {"__asm__", "inline assembler"},
    {"__builtin_ia32_*", uninstrumented},  {"__builtin_apply*", uninstrumented},  {"__builtin_return", uninstrumented},
    {"__builtin_mem*", uninstrumented},    {"__builtin_bc*", uninstrumented},     {"__builtin_st*", uninstrumented},
    {"__builtin___*", uninstrumented},     {"__builtin_setjmp*", uninstrumented}, {"__builtin_longjmp", uninstrumented},
    {"__tsan_*", sanitizer_name},          {"__ubsan_*", sanitizer_name},         {"__asan_*", sanitizer_name},
    {"__sanitizer_*", sanitizer_name},     {"warplab_seen_*", sanitizer_name},    {"*11warplab_cpu*", sanitizer_name},
    {"warplab_library_*", sanitizer_name}, {"load_unobserved", uninstrumented},
};
/// The names of the runtime that the rewriter and the macros of its output write into a submission. With the runtime's
/// other names, a submission could turn hooks off, or report fences and barriers that do not exist.
const Words runtime_names(
    "IfShuffled Kernel KeptVariable Launch Line Shared Shuffle ShuffleAny ShuffleCall ShuffleDown ShuffleUp "
    "ShuffleValues ShuffleXor SplitKernel StaticSymbol Symbol SymbolKind Threads UnlistedSymbols "
    "compiler_fence dynamic_shared in_kernel lane lanes_above lanes_below lanes_equal launch_bounds "
    "yield_before_checked_atomic multiprocessor ticks warp");
/// Words that have a meaning only in an attribute. Elsewhere, they are ordinary names.
constexpr RefusedWord refused_attributes[] = {
    {"*no_sanitize*", uninstrumented}, {"ifunc", uninstrumented},       {"__ifunc__", uninstrumented},
    {"weakref", sanitizer_name},       {"__weakref__", sanitizer_name}, {"copy", uninstrumented},
    {"__copy__", uninstrumented},
};
/// Attributes whose text g++ passes to the assembler unchanged.
constexpr std::string_view attributes_with_text[] = {"section",   "__section__", "alias",
                                                     "__alias__", "symver",      "__symver__"};
constexpr std::string_view refused_pragmas[] = {"redefine_extname", "weak", "system_header", "pch_preprocess"};

bool matches(std::string_view word, std::string_view pattern) {
    if (pattern.front() == '*') return word.find(pattern.substr(1, pattern.size() - 2)) != std::string_view::npos;
    if (pattern.back() == '*') return word.substr(0, pattern.size() - 1) == pattern.substr(0, pattern.size() - 1);
    return word == pattern;
}

std::string_view unquoted(std::string_view text) {
    return text.size() >= 2 ? text.substr(1, text.size() - 2) : std::string_view();
}

class Scanner {
  public:
    Scanner(std::string_view text, std::string_view shown_name)
        : text_(text), shown_name_(shown_name), tokens_(tokenize(text)) {}

    std::vector<HiddenCode> scan() {
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            count_lines(tokens_[i].begin);
            if (tokens_[i].directive) {
                std::size_t end = i;
                while (end < tokens_.size() && tokens_[end].directive == tokens_[i].directive) ++end;
                read_directive(i, end);
                i = end - 1;
            } else {
                follow_attribute(tokens_[i].text);
                if (in_submission_ && limits_.exceeds(tokens_[i])) add_exceeded_limit();
                if (in_submission_ && tokens_[i].kind == Kind::identifier) read_word(i);
            }
        }
        return std::move(hidden_);
    }

  private:
    void count_lines(std::size_t to) {
        line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                             text_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
        counted_ = to;
    }

    /// Read a line marker such as # 12 "file.cu" 3 4
    void read_marker(std::size_t begin, std::size_t end) {
        const std::string_view number = tokens_[begin + 1].text, file = unquoted(tokens_[begin + 2].text);
        if (begun_ && (file.ends_with("intrin.h") || file.ends_with("arm_neon.h")))
            add("a processor's intrinsics", uninstrumented);
        std::from_chars(number.data(), number.data() + number.size(), line_);
        --line_;  // the line break after the marker adds 1
        bool of_system = false;
        for (std::size_t i = begin + 3; i < end; ++i) of_system = of_system || tokens_[i].text == "3";
        const std::string_view name = file.substr(file.rfind('/') + 1);
        const bool is_submission =
            file == shown_name_ || name == "student.cpp" || name == "student.cu" || may_be_submission(file);
        begun_ = begun_ || (is_submission && number != "0");  // 0 precedes the files that the command line includes
        in_submission_ = begun_ && (is_submission || !of_system);
        in_own_text_ = begun_ && is_submission;
    }

    /// Return whether a path may be another name of the submission, such as /proc/self/fd/3. #pragma GCC system_header
    /// would make such a file a system header.
    static bool may_be_submission(std::string_view file) {
        return file.starts_with("/proc/") || file.starts_with("/dev/");
    }

    void read_directive(std::size_t begin, std::size_t end) {
        if (end - begin >= 3 && tokens_[begin + 1].kind == Kind::number && tokens_[begin + 2].kind == Kind::string)
            return read_marker(begin, end);
        if (!in_submission_ || end - begin < 3) return;
        if (tokens_[begin + 1].text == "ident" || tokens_[begin + 1].text == "sccs") read_ident(begin + 1, end);
        if (tokens_[begin + 1].text != "pragma") return;
        const std::size_t name = tokens_[begin + 2].text == "GCC" ? std::min(begin + 3, end - 1) : begin + 2;
        for (const std::string_view pragma : refused_pragmas)
            if (tokens_[name].text == pragma) add("#pragma " + std::string(pragma), uninstrumented);
    }

    /// Check the text of #ident. g++ replaces its escapes and passes it to the assembler, where a quote would end the
    /// string.
    void read_ident(std::size_t name, std::size_t end) {
        const std::string_view text = tokens_[name + 1].text;
        const bool is_plain = text.starts_with('"') && text.find('\\') == std::string_view::npos && end == name + 2;
        if (!is_plain) add("#ident", "text for the assembler");
    }

    /// Track attributes in __attribute__((…)) and [[…]]. Since <: is an alternative spelling of [, any text after <:
    /// may be an attribute.
    void follow_attribute(std::string_view word) {
        const std::string_view before = std::exchange(before_, word);
        if (before == "<" && word == ":") anything_is_attribute_ = true;
        if (!closing_.empty()) {
            depth_ += (word == opening_) - (word == closing_);
            if (word == closing_ && depth_ <= 0) closing_ = {};
        } else if (word == "__attribute__" || word == "__attribute") {
            opening_ = "(", closing_ = ")", depth_ = 0;
        } else if (before == "[" && word == "[") {
            opening_ = "[", closing_ = "]", depth_ = 2;
        }
    }

    /// Return the next token after `i` that is not part of a directive, such as a line marker; an empty token at the
    /// end.
    const Token& next(std::size_t& i) const {
        static constexpr Token none{};
        do ++i;
        while (i < tokens_.size() && tokens_[i].directive);
        return i < tokens_.size() ? tokens_[i] : none;
    }

    /// Return whether :: and a name that the rewriter writes follow token `i`.
    bool precedes_written_name(std::size_t i) const {
        const std::string_view colons = next(i).text, name = next(i).text;
        return colons == "::" && runtime_names.has(name);
    }

    /// Return whether ("word") follows token `i`.
    bool has_one_word_as_argument(std::size_t i) const {
        const std::string_view opening = next(i).text, text = unquoted(next(i).text), closing = next(i).text;
        const bool is_word = !text.empty() && std::ranges::all_of(text, [](unsigned char letter) {
            return std::isalnum(letter) || letter == '_' || letter == '.';
        });
        return opening == "(" && is_word && closing == ")";
    }

    void read_word(std::size_t i) {
        const std::string_view word = tokens_[i].text;
        for (const RefusedWord& refused : refused_words)
            if (matches(word, refused.pattern)) return add(word, refused.reason);
        if (in_own_text_ && word == "warplab_cpu" && !precedes_written_name(i)) return add(word, sanitizer_name);
        if (closing_.empty() && !anything_is_attribute_) return;
        for (const RefusedWord& refused : refused_attributes)
            if (matches(word, refused.pattern)) return add(word, refused.reason);
        for (const std::string_view attribute : attributes_with_text)
            if (word == attribute && !has_one_word_as_argument(i))
                return add(word, "an attribute with text for the assembler");
    }

    void add_exceeded_limit() {
        if (hidden_.empty() || hidden_.front().fine_on_gpu)
            hidden_.insert(hidden_.begin(), {line_, "after macro expansion, " + limits_.message(), false});
    }

    void add(std::string_view word, std::string_view reason) {
        if (!reasons_.insert(reason).second) return;
        hidden_.push_back(
            {line_, std::string(word) + ": " + std::string(reason) + " cannot run on the CPU backend; remove it"});
    }

    std::string_view text_, shown_name_;
    std::vector<Token> tokens_;
    std::size_t counted_ = 0;
    int line_ = 1;
    bool begun_ = false;          // the files that the command line includes have ended
    bool in_submission_ = false;  // in the submission, or in a file that it includes, except system headers
    bool in_own_text_ = false;    // in the submission itself
    std::string_view before_;     // the previous token, without directives
    std::string_view opening_, closing_;  // brackets of the attribute that has begun; empty outside attributes
    int depth_ = 0;
    bool anything_is_attribute_ = false;
    CompileLimits limits_;
    std::set<std::string_view> reasons_;
    std::vector<HiddenCode> hidden_;
};

}  // namespace

std::vector<HiddenCode> find_hidden(std::string_view preprocessed, std::string_view shown_name) {
    return Scanner(preprocessed, shown_name).scan();
}

}  // namespace warplab::rewriter
