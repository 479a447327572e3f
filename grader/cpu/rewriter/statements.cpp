#include "grader/cpu/rewriter/statements.h"

#include <algorithm>
#include <string_view>

#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

bool is_shuffle(std::string_view word) { return word.substr(0, 6) == "__shfl"; }

class StatementReader {
  public:
    StatementReader(const Stream& stream, const Qualifiers& qualifiers) : stream_(stream), qualifiers_(qualifiers) {}

    bool read_list(int begin, int end, std::vector<Statement>& list) {
        for (at_ = begin; at_ < end;) {
            list.emplace_back();
            if (!read(list.back(), end)) return false;
        }
        return at_ == end;
    }

  private:
    bool read(Statement& statement, int end) {
        constexpr int max_depth = 64;
        if (depth_ == max_depth || at_ >= end) return false;
        ++depth_;
        statement.begin = at_;
        const bool understood = read_kind(statement, end);
        statement.end = at_;
        --depth_;
        return understood && at_ <= end;
    }

    bool read_kind(Statement& statement, int end) {
        static const Words not_supported(
            "else case default goto try catch using typedef asm struct class union enum template co_await co_yield "
            "co_return static __asm__ __asm thread_local");
        const auto text = stream_[at_];
        if (not_supported.has(text)) return false;
        if (text == "{") return read_compound(statement);
        if (text == "if") return read_branch(statement, end);
        if (text == "for" || text == "while") return read_loop(statement, end);
        if (text == "do") return read_do(statement, end);
        if (text == "switch") return read_switch(statement, end);
        if (text == "break" || text == "continue" || text == "return") {
            statement.kind = Statement::jump;
            return skip_to_semicolon(end);
        }
        return read_simple(statement, end);
    }

    bool read_compound(Statement& statement) {
        statement.kind = Statement::compound;
        const int open = at_, close = stream_.match[open];
        if (close < 0 || !read_list(open + 1, close, statement.parts)) return false;
        at_ = close + 1;
        return true;
    }

    bool read_header(Statement& statement) {
        statement.header = at_;
        if (stream_[at_] != "(" || stream_.match[at_] < 0) return false;
        at_ = stream_.match[at_] + 1;
        return true;
    }

    bool read_part(Statement& statement, int end) {
        Statement part;
        const bool understood = read(part, end);
        statement.parts.push_back(std::move(part));
        return understood;
    }

    bool read_branch(Statement& statement, int end) {
        statement.kind = Statement::branch;
        at_ += stream_[at_ + 1] == "constexpr" ? 2 : 1;
        if (!read_header(statement) || !read_part(statement, end)) return false;
        if (at_ >= end || stream_[at_] != "else") return true;
        ++at_;
        return read_part(statement, end);
    }

    bool read_loop(Statement& statement, int end) {
        statement.kind = Statement::loop;
        const bool is_for = stream_[at_++] == "for";
        if (!read_header(statement)) return false;
        if (is_for && count_semicolons(statement.header) != 2) statement.kind = Statement::unsplittable;
        return read_part(statement, end);
    }

    int count_semicolons(int open) const {
        int count = 0;
        for (int i = open + 1; i < stream_.match[open]; i = stream_.after_group(i)) count += stream_[i] == ";";
        return count;
    }

    bool read_do(Statement& statement, int end) {
        statement.kind = Statement::loop;
        ++at_;
        if (!read_part(statement, end) || stream_[at_] != "while") return false;
        ++at_;
        return read_header(statement) && stream_[at_++] == ";";
    }

    bool read_switch(Statement& statement, int end) {
        statement.kind = Statement::unsplittable;
        ++at_;
        if (!read_header(statement) || stream_[at_] != "{" || stream_.match[at_] < 0) return false;
        at_ = stream_.match[at_] + 1;
        return at_ <= end;
    }

    bool skip_to_semicolon(int end) {
        while (at_ < end && stream_[at_] != ";") {
            if (stream_[at_] == "}") return false;
            at_ = stream_.after_group(at_);
        }
        return at_++ < end;
    }

    bool read_simple(Statement& statement, int end) {
        const int begin = at_;
        if (stream_[begin + 1] == ":" || !skip_to_semicolon(end)) return false;
        for (int i = at_ - 1; i >= begin; --i)
            if (is_shuffle(stream_[i])) statement.shuffle = i;
        if (stream_[begin] == "__syncthreads" || stream_[begin] == "__syncwarp") {
            statement.kind = Statement::barrier;
            return stream_[begin + 1] == "(" && stream_[begin + 2] == ")" && at_ == begin + 4;
        }
        if (stream_.is_identifier(begin) && stream_[begin + 1] == "(") return true;  // a call
        auto declaration = read_declaration(stream_, qualifiers_, begin);
        if (declaration.understood && declaration.end + 1 == at_) {
            statement.kind = Statement::declaration;
            statement.variables = std::move(declaration);
        } else if (const int name = constructed_name(begin, at_); name >= 0) {
            statement.kind = Statement::declaration;
            statement.variables.begin = begin;
            statement.variables.end = at_ - 1;
            statement.variables.declarators = {
                {.name_begin = name, .name_end = name + 1, .end = name + 1, .initialised = true}};
        }
        return true;
    }

    /// Return the position of the name in `Walk walk(first, stride);`; -1 for other statements.
    int constructed_name(int begin, int end) const {
        static const Words no_types("delete throw new");
        int i = begin;
        while (stream_[i] == "const") ++i;
        if (!stream_.is_identifier(i) || no_types.has(stream_[i])) return -1;
        for (++i; stream_[i] == "::" && stream_.is_identifier(i + 1); i += 2) {
        }
        if (stream_[i] == "<") i = after_angles(stream_, i);
        if (i < 0 || !stream_.is_identifier(i)) return -1;
        const bool opens = stream_[i + 1] == "(" || stream_[i + 1] == "{";
        return opens && stream_.after_group(i + 1) == end - 1 ? i : -1;
    }

    const Stream& stream_;
    const Qualifiers& qualifiers_;
    int at_ = 0, depth_ = 0;
};

bool mentions(const Stream& stream, const Statement& statement, std::string_view word) {
    for (int i = statement.begin; i < statement.end; ++i)
        if (stream[i] == word) return true;
    return false;
}

}  // namespace

std::optional<std::vector<Statement>> read_statements(const Stream& stream, const Qualifiers& qualifiers, int begin,
                                                      int end) {
    std::vector<Statement> list;
    if (!StatementReader(stream, qualifiers).read_list(begin, end, list)) return std::nullopt;
    return list;
}

bool has_return(const Stream& stream, const Statement& statement) { return mentions(stream, statement, "return"); }

bool leaves_loop(const Stream& stream, const Statement& statement) {
    if (statement.kind == Statement::jump) return stream[statement.begin] != "return";
    if (statement.kind == Statement::unsplittable)
        return stream[statement.begin] == "switch" && mentions(stream, statement, "continue");
    if (statement.kind == Statement::loop) return false;
    return std::ranges::any_of(statement.parts, [&](const Statement& part) { return leaves_loop(stream, part); });
}

bool has_barrier(const Statement& statement) {
    return statement.kind == Statement::barrier || statement.shuffle >= 0 ||
           std::ranges::any_of(statement.parts, has_barrier);
}

}  // namespace warplab::rewriter
