// Warns about arrays in device code that are local to each thread although their index depends on the thread:
// __shared__ is probably missing.

#include <unordered_map>
#include <unordered_set>

#include "grader/cpu/rewriter/declaration.h"
#include "grader/cpu/rewriter/passes.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

class ThreadArrays {
  public:
    ThreadArrays(Context& context, int begin, int end)
        : context_(context), code_(context.unit.code), begin_(begin), end_(end) {}

    void warn() {
        for (int i = begin_; i < end_; ++i) {
            if (code_.is_identifier(i) && code_[i + 1] == "=") note_value(i);
            if (begins_statement(i)) add_arrays(i);
            if (const auto array = arrays_.find(code_[i]); array != arrays_.end() && code_[i + 1] == "[") {
                if (!is_index_of_thread(i + 1)) continue;
                context_.warn(code_.tokens[array->second],
                              std::string(code_[i]) +
                                  " is a separate array in each thread, but its index depends on the thread: is "
                                  "__shared__ missing before it?");
                arrays_.erase(array);
            }
        }
    }

  private:
    void note_value(int i) {
        if (depends_on_thread(i + 2, initialiser_end(i + 2)))
            thread_dependent_.insert(code_[i]);
        else
            thread_dependent_.erase(code_[i]);
    }

    bool begins_statement(int i) const {
        const auto before = code_[i - 1];
        return code_.is_identifier(i) && !begins_other_statement(code_[i]) &&
               (before == ";" || before == "{" || before == "}");
    }

    int initialiser_end(int i) const {
        while (i < end_ && code_[i] != ";" && code_[i] != ",") i = code_.after_group(i);
        return i;
    }

    /// Return whether the expression depends on the thread. Indices do not count, because they only select what is
    /// read.
    bool depends_on_thread(int begin, int end) const {
        for (int i = begin; i < end; i = code_[i] == "[" ? code_.after_group(i) : i + 1)
            if (thread_dependent_.count(code_[i])) return true;
        return false;
    }

    void add_arrays(int i) {
        static const Words shared_by_all("static constexpr const extern");
        const Declaration declaration = read_declaration(code_, context_.qualifiers, i);
        if (!declaration.understood || declaration.words != 0 || is_in_class_body(code_, i)) return;
        for (int k = declaration.begin; k < declaration.declarators.front().name_begin; ++k)
            if (shared_by_all.has(code_[k]) || code_[k] == "(") return;
        for (const Declarator& declarator : declaration.declarators)
            if (declarator.end > declarator.name_end) arrays_[code_[declarator.name_begin]] = declarator.name_begin;
    }

    /// Return whether one of the indices at `open` depends on the thread. A difference is excluded, because it may be
    /// the same for all threads, and a remainder, because it may be meant for a small array.
    bool is_index_of_thread(int open) const {
        for (; code_[open] == "["; open = code_.match[open] + 1) {
            const int close = code_.match[open];
            if (close < 0) return false;
            bool is_excluded = false;
            for (int i = open + 1; i < close; ++i)
                is_excluded = is_excluded || code_[i] == "-" || code_[i] == "%" || code_[i] == "&";
            if (!is_excluded && depends_on_thread(open + 1, close)) return true;
        }
        return false;
    }

    Context& context_;
    const Stream& code_;
    int begin_, end_;
    std::unordered_set<std::string_view> thread_dependent_ = {"threadIdx"};
    std::unordered_map<std::string_view, int> arrays_;  // positions of the declared names
};

}  // namespace

void warn_of_thread_arrays(Context& context) {
    const Stream& code = context.unit.code;
    const auto device = device_depth(code, context.qualifiers);
    for (int i = 0; i < code.size(); ++i) {
        if (device[i] == 0 || code[i] != "{" || code.match[i] < 0) continue;
        ThreadArrays(context, i + 1, code.match[i]).warn();
        i = code.match[i];
    }
}

}  // namespace warplab::rewriter
