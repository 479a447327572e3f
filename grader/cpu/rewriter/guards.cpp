// Finds atomics after a check of the same memory, as in `if (bins[v] < 255) atomicAdd(&bins[v], 1);`. On a GPU, another
// thread may change the word between the check and the atomic, so the CPU backend also lets other threads run there.

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

    void add_guarded_updates(std::vector<int>& found) {
        find_checked_arrays();
        if (checked_.empty()) return;
        for (int i = begin_; i < end_; ++i)
            if (is_update(i) && is_into_checked(i + 2, first_argument_end(i + 1))) found.push_back(i);
    }

  private:
    /// Return whether an atomic such as atomicAdd( is at `i`. atomicCAS is excluded, because the runtime itself lets
    /// other threads run before it.
    bool is_update(int i) const {
        const auto before = stream_[i - 1];
        return stream_[i].starts_with("atomic") && !stream_[i].starts_with("atomicCAS") && stream_[i + 1] == "(" &&
               stream_.match[i + 1] >= 0 && before != "." && before != "->" && before != "::";
    }

    int first_argument_end(int open) const {
        int i = open + 1;
        while (i < stream_.match[open] && stream_[i] != ",") i = stream_.after_group(i);
        return i;
    }

    /// Add the names of arrays and pointers that the tokens [begin, end) read: `a` for a[i], *a and *(T*)&a[i].
    void add_read(int begin, int end, Names& names) const {
        for (int i = begin; i < end; ++i) {
            if (!stream_.is_identifier(i)) continue;
            if (stream_[i + 1] == "[" || stream_[i + 1] == "->" || is_dereferenced(i)) names.insert(stream_[i]);
            const auto found = loaded_from_.find(stream_[i]);
            if (found != loaded_from_.end()) names.insert(found->second.begin(), found->second.end());
        }
    }

    bool is_dereferenced(int i) const {
        if (stream_[i - 1] != "*") return false;
        const auto before = stream_[i - 2];
        return !stream_.is_identifier(i - 2) && before != ")" && before != "]" &&
               (!stream_.has(i - 2) || stream_.tokens[i - 2].kind != Kind::number);
    }

    /// Find the arrays that conditions read, directly or through a variable that was set before.
    void find_checked_arrays() {
        for (int i = begin_; i < end_; ++i) {
            if (stream_[i] == "=" && stream_.is_identifier(i - 1)) {
                int end = i + 1;
                while (end < end_ && stream_[end] != ";") end = stream_.after_group(end);
                Names names;
                add_read(i + 1, end, names);
                if (!names.empty()) loaded_from_[stream_[i - 1]].merge(names);
            }
            const bool is_condition = (stream_[i] == "if" || stream_[i] == "while") && stream_[i + 1] == "(";
            if (is_condition && stream_.match[i + 1] >= 0) add_read(i + 2, stream_.match[i + 1], checked_);
        }
    }

    /// Return whether an address such as &bins[values[i]] is in a checked array. The array of an index does not matter.
    bool is_into_checked(int begin, int end) const {
        for (int i = begin; i < end; i = stream_[i] == "[" ? stream_.after_group(i) : i + 1)
            if (checked_.count(stream_[i])) return true;
        return false;
    }

    const Stream& stream_;
    const int begin_, end_;
    Names checked_;
    std::unordered_map<std::string_view, Names> loaded_from_;
};

}  // namespace

std::vector<int> guarded_updates(const Stream& stream, const Qualifiers& qualifiers) {
    std::vector<int> found;
    const std::vector<int> depth = device_depth(stream, qualifiers);
    for (int i = 0; i < stream.size(); ++i) {
        if (!depth[i]) continue;
        const int begin = i;
        while (i < stream.size() && depth[i]) ++i;
        Body(stream, begin, i).add_guarded_updates(found);
    }
    return found;
}

void rewrite_guarded_updates(const Stream& stream, Context& context) {
    if (stream.is_macro) return;
    for (const int i : guarded_updates(stream, context.qualifiers)) {
        context.edits.insert_before(stream.tokens[i], "(::warplab_cpu::yield_before_checked_atomic(), ");
        context.edits.insert_after(stream.tokens[stream.match[i + 1]], ")");
    }
}

}  // namespace warplab::rewriter
