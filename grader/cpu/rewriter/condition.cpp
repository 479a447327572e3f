#include "grader/cpu/rewriter/condition.h"

#include <cstdlib>
#include <string>

namespace warplab::rewriter {
namespace {

using Value = std::optional<long long>;

Value from_bool(bool value) { return value ? 1 : 0; }

Value number_of(std::string_view text) {
    std::string digits;
    for (const char c : text)
        if (c != '\'') digits += c;
    char* end = nullptr;
    const long long value = std::strtoll(digits.c_str(), &end, 0);
    const std::string_view suffix = end;
    return suffix.find_first_not_of("uUlL") == std::string_view::npos ? Value(value) : Value();
}

Value apply(std::string_view op, Value left, Value right) {
    if (op == "&&") {
        if ((left && !*left) || (right && !*right)) return 0;
        return left && right ? Value(1) : Value();
    }
    if (op == "||") {
        if ((left && *left) || (right && *right)) return 1;
        return left && right ? Value(0) : Value();
    }
    if (!left || !right) return {};
    if (op == "==") return from_bool(*left == *right);
    if (op == "!=") return from_bool(*left != *right);
    if (op == "<") return from_bool(*left < *right);
    if (op == ">") return from_bool(*left > *right);
    if (op == "<=") return from_bool(*left <= *right);
    if (op == ">=") return from_bool(*left >= *right);
    const auto a = static_cast<unsigned long long>(*left), b = static_cast<unsigned long long>(*right);
    if (op == "+") return static_cast<long long>(a + b);
    if (op == "-") return static_cast<long long>(a - b);
    if (op == "*") return static_cast<long long>(a * b);
    if (op == "/" && *right > 0) return *left / *right;
    if (op == "%" && *right > 0) return *left % *right;
    return {};
}

int precedence(std::string_view op) {
    if (op == "||") return 1;
    if (op == "&&") return 2;
    if (op == "==" || op == "!=") return 3;
    if (op == "<" || op == ">" || op == "<=" || op == ">=") return 4;
    if (op == "+" || op == "-") return 5;
    if (op == "*" || op == "/" || op == "%") return 6;
    return 0;
}

class Evaluator {
  public:
    Evaluator(const Token* begin, const Token* end, View view) : at_(begin), end_(end), view_(view) {}

    Value run() {
        const Value value = read_binary(1, 0);
        return at_ == end_ && !failed_ ? value : Value();
    }

  private:
    static constexpr int max_depth = 64;

    std::string_view text() const { return at_ < end_ ? at_->text : std::string_view(); }

    /// Return the operator at at_: `==`, `!=` or one that the tokenizer returns as a single token.
    std::string_view read_operator() const {
        const std::string_view op = text();
        if ((op == "=" || op == "!") && at_ + 1 < end_ && at_[1].text == "=" && at_[1].begin == at_->end)
            return op == "=" ? "==" : "!=";
        return op;
    }

    Value read_binary(int min_level, int depth) {
        Value left = read_unary(depth);
        while (!failed_) {
            const std::string_view op = read_operator();
            const int level = precedence(op);
            if (level < min_level || level == 0) break;
            at_ += op == "==" || op == "!=" ? 2 : 1;
            left = apply(op, left, read_binary(level + 1, depth + 1));
        }
        return left;
    }

    Value read_unary(int depth) {
        if (depth > max_depth || at_ >= end_) return fail();
        const Token& token = *at_++;
        if (token.text == "!") {
            const Value value = read_unary(depth + 1);
            return value ? from_bool(!*value) : value;
        }
        if (token.text == "-") return apply("-", 0, read_unary(depth + 1));
        if (token.text == "(") {
            const Value value = read_binary(1, depth + 1);
            return skip(")") ? value : fail();
        }
        if (token.kind == Kind::number) return number_of(token.text);
        if (token.text == "defined") return read_defined();
        if (token.kind == Kind::identifier) return value_of(token.text);
        return fail();
    }

    Value read_defined() {
        const bool in_parentheses = skip("(");
        if (at_ >= end_ || at_->kind != Kind::identifier) return fail();
        const std::string_view name = at_++->text;
        if (in_parentheses && !skip(")")) return fail();
        if (name == architecture) return from_bool(view_ == View::device);
        return name == "__WARPLAB_CPU__" ? Value(1) : Value();
    }

    Value value_of(std::string_view name) const {
        if (name == architecture) return view_ == View::device ? number_of(architecture_value) : Value(0);
        return name == "__WARPLAB_CPU__" ? Value(1) : Value();
    }

    bool skip(std::string_view expected) {
        if (text() != expected) return false;
        ++at_;
        return true;
    }

    Value fail() {
        failed_ = true;
        return {};
    }

    const Token *at_, *end_;
    View view_;
    bool failed_ = false;
};

}  // namespace

std::optional<long long> evaluate_condition(const Token* begin, const Token* end, View view) {
    return Evaluator(begin, end, view).run();
}

}  // namespace warplab::rewriter
