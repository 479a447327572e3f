#include "grader/cpu/rewriter/passes.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

bool is_keyword(std::string_view word) {
    static const Words words(
        "return else do case throw goto if while for new not switch and or delete sizeof constexpr typeid operator "
        "co_return");
    return words.has(word);
}

bool is_name(const Stream& stream, int i) { return stream.is_identifier(i) && !is_keyword(stream[i]); }

/// Template arguments are short. This limits the time for a file that is designed to be slow.
constexpr int max_argument_tokens = 256;

/// Return the position of the < of the template arguments that close at `i`; -1 if there is none.
int angle_begin(const Stream& stream, int i) {
    int depth = 0;
    for (const int limit = i - max_argument_tokens; i >= 0 && i > limit; --i) {
        const auto text = stream[i];
        if (text == ">") ++depth;
        if (text == "<" && --depth == 0) return i;
        if (text == ";" || text == "{" || text == "<<<") return -1;
        if ((text == ")" || text == "]" || text == "}") && stream.match[i] >= 0) i = stream.match[i];
    }
    return -1;
}

/// Return the beginning of the last part of a name that ends at `last`, without the parts before a ::, . or ->.
int part_begin(const Stream& stream, int last) {
    for (int i = last, steps = 0; i >= 0 && steps < max_argument_tokens; ++steps) {
        const auto text = stream[i];
        if (text == "]" && stream.match[i] >= 0) {
            i = stream.match[i] - 1;
        } else if (text == ")" && stream.match[i] >= 0) {
            const int open = stream.match[i];
            if (!is_name(stream, open - 1)) return open;
            i = open - 1;
        } else if (text == ">") {
            i = angle_begin(stream, i) - 1;
        } else if (is_name(stream, i)) {
            if (stream[i - 1] != "##") return i;
            i -= 2;
        } else {
            return -1;
        }
    }
    return -1;
}

}  // namespace

int callee_begin(const Stream& stream, int last) {
    int begin = part_begin(stream, last);
    for (int steps = 0; begin > 0 && steps < max_argument_tokens; ++steps) {
        if (stream[begin - 1] == "template") --begin;
        const auto joint = stream[begin - 1];
        const bool is_scope = joint == "::";
        if (!is_scope && joint != "." && joint != "->") break;
        const bool qualifies = is_name(stream, begin - 2) || stream[begin - 2] == ">" || !is_scope;
        if (!qualifies) return begin - 1;
        begin = part_begin(stream, begin - 2);
    }
    return begin;
}

std::string name_literal(const Stream& stream, int begin, int end) {
    const auto text = stream.text(begin, end);
    if (stream.is_macro) return "WARPLAB_CPU_NAME(" + text + ")";
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c == '\n' ? ' ' : c;
    }
    return quoted + '"';
}

}  // namespace warplab::rewriter
