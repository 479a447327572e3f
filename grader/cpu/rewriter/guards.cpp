// Finds atomics after a check of the same memory, as in `if (bins[v] < 255) atomicAdd(&bins[v], 1);`. On a GPU, another
// thread may change bins[v] between the check and the atomic, so the CPU backend also lets other threads run there.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "grader/cpu/rewriter/passes.h"

namespace warplab::rewriter {
namespace {

using Names = std::unordered_set<std::string_view>;

/// One body of a kernel or device function: the tokens [begin, end).
class Body {
  public:
    Body(const Stream& stream, int begin, int end) : stream_(stream), begin_(begin), end_(end) {}

    /// Add the atomics that update an array which an earlier condition reads, directly or through a variable with a
    /// value from the array.
    void add_guarded_updates(std::vector<int>& atomics) {
        for (int i = begin_; i < end_; ++i) {
            if (is_assignment(i)) note_assignment(i);
            const int open = stream_[i] == ")" ? stream_.match[i] : -1;
            if (open > begin_ && (stream_[open - 1] == "if" || stream_[open - 1] == "while"))
                add_read(open + 1, i, checked_);
            if (stream_[i] == "?" || stream_[i] == "&&") add_read(statement_begin(i), i, checked_);
            if (is_update(i) && is_guarded(i)) atomics.push_back(i);
        }
    }

  private:
    /// Return whether an atomic such as atomicAdd( is at `i`. atomicCAS is excluded, because the runtime itself lets
    /// other threads run before it.
    bool is_update(int i) const {
        const auto before = stream_[i - 1];
        return stream_[i].starts_with("atomic") && !stream_[i].starts_with("atomicCAS") && stream_[i + 1] == "(" &&
               stream_.match[i + 1] >= 0 && before != "." && before != "->" && before != "::";
    }

    bool is_assignment(int i) const {
        return stream_[i] == "=" && stream_.is_identifier(i - 1) && stream_[i + 1] != "=";  // == has two tokens
    }

    int first_argument_end(int open) const {
        int i = open + 1;
        while (i < stream_.match[open] && stream_[i] != ",") i = stream_.after_group(i);
        return i;
    }

    /// Add `name` and the arrays that it points or refers to.
    void add_name(std::string_view name, Names& names) const {
        names.insert(name);
        const auto aliased = aliases_.find(name);
        if (aliased != aliases_.end()) names.insert(aliased->second.begin(), aliased->second.end());
    }

    /// Add the names in an address such as &bins[values[i]] or words + i, except those in an index.
    void add_address(int begin, int end, Names& names) const {
        for (int i = begin; i < end; i = stream_[i] == "[" ? stream_.after_group(i) : i + 1)
            if (stream_.is_identifier(i)) add_name(stream_[i], names);
    }

    /// Add the names of arrays and pointers that the tokens [begin, end) read: `a` for a[i], *a, *(T*)(a + i) and
    /// __ldcg(a + i).
    void add_read(int begin, int end, Names& names) const {
        for (int i = begin; i < end; ++i) {
            if (stream_[i] == "*" && is_unary(i)) add_address(i + 1, dereferenced_end(i + 1), names);
            if (!stream_.is_identifier(i)) continue;
            if (stream_[i + 1] == "[" || stream_[i + 1] == "->") add_name(stream_[i], names);
            const bool loads = stream_[i].starts_with("__ld") || stream_[i].starts_with("atomic");
            if (loads && stream_[i + 1] == "(") add_address(i + 2, first_argument_end(i + 1), names);
            const auto iterator = loaded_from_.find(stream_[i]);
            if (iterator != loaded_from_.end()) names.insert(iterator->second.begin(), iterator->second.end());
        }
    }

    bool is_unary(int star) const {
        const auto before = stream_[star - 1];
        return !stream_.is_identifier(star - 1) && before != ")" && before != "]" && before != "}" &&
               (!stream_.has(star - 1) || stream_.tokens[star - 1].kind != Kind::number);
    }

    /// Return the end of the operand of a unary * that begins at `i`, such as `a` or `(T*)(a + i)`.
    int dereferenced_end(int i) const {
        while (stream_[i] == "(" && stream_.match[i] >= 0 && stream_[stream_.match[i] - 1] == "*")
            i = stream_.after_group(i);
        if (!stream_[i].ends_with("_cast")) return stream_.after_group(i);
        while (i < end_ && stream_[i] != "(") ++i;
        return stream_.after_group(i);
    }

    int statement_begin(int i) const {
        while (i > begin_ && stream_[i - 1] != ";" && stream_[i - 1] != "{" && stream_[i - 1] != "}") --i;
        return i;
    }

    int statement_end(int i) const {
        while (i < end_ && stream_[i] != ";") i = stream_.after_group(i);
        return i;
    }

    /// Record what the variable before the = at `i` points to, or from which arrays its value comes.
    void note_assignment(int i) {
        const int end = statement_end(i + 1);
        const auto before = stream_[i - 2];
        Names names;
        if (before == "*" || before == "&" || stream_[i + 1] == "&") {
            add_address(i + 1, end, names);
            aliases_[stream_[i - 1]].merge(names);
        } else {
            add_read(i + 1, end, names);
            if (!names.empty()) loaded_from_[stream_[i - 1]].merge(names);
        }
    }

    /// Return whether the atomic at `i` updates a checked array. A check in the atomic's second
    /// argument, as in a[k] < 9 ? 1 : 0, counts, too.
    bool is_guarded(int i) {
        const int address_end = first_argument_end(i + 1);
        for (int k = address_end; k < stream_.match[i + 1]; ++k)
            if (stream_[k] == "?") add_read(address_end, k, checked_);
        Names names;
        add_address(i + 2, address_end, names);
        return std::ranges::any_of(names, [&](std::string_view name) { return checked_.contains(name); });
    }

    const Stream& stream_;
    const int begin_, end_;
    Names checked_;
    std::unordered_map<std::string_view, Names> loaded_from_;  // by variable: the arrays from which its value comes
    std::unordered_map<std::string_view, Names> aliases_;      // by pointer or reference: the arrays that it refers to
};

}  // namespace

std::vector<int> guarded_updates(const Stream& stream, const Qualifiers& qualifiers) {
    std::vector<int> atomics;
    const std::vector<int> depth = device_depth(stream, qualifiers);
    for (int i = 0; i < stream.size(); ++i) {
        if (!depth[i]) continue;
        const int begin = i;
        while (i < stream.size() && depth[i]) ++i;
        Body(stream, begin, i).add_guarded_updates(atomics);
    }
    return atomics;
}

void rewrite_guarded_updates(const Stream& stream, Context& context) {
    if (stream.is_macro) return;
    for (const int i : guarded_updates(stream, context.qualifiers)) {
        context.edits.insert_before(stream.tokens[i], "(::warplab_cpu::yield_before_checked_atomic(), ");
        context.edits.insert_after(stream.tokens[stream.match[i + 1]], ")");
    }
}

}  // namespace warplab::rewriter
