#pragma once
// The histories of all words of an object. They take 16 times the object's memory. Therefore, chunks of a large
// object's histories become writable only when they are needed, so that memory that a program allocates but hardly uses
// costs little.

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "grader/cpu/runtime/fault.h"
#include "grader/cpu/runtime/history.h"

namespace warplab_cpu {

/// Map zeroed memory whose pages exist only after a write. While it is not writable, RLIMIT_DATA does not count it.
inline void* map_shadow(std::size_t bytes, bool writable) {
    void* const memory = mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) end_with_fault(warplab::Fault::no_memory, "no memory for the sanitizer");
    return memory;
}

/// The histories of one object. Copies of a Shadow refer to the same histories; only one copy may release them.
class Shadow {
  public:
    explicit operator bool() const { return words_ != nullptr; }
    /// Return the histories of all words. Histories that are not ready must not be read or written.
    History* words() const { return words_; }

    /// Map histories for this number of words.
    void provide(std::size_t count) {
        count_ = count;
        const std::size_t chunks = count > chunk_words ? (count + chunk_words - 1) / chunk_words : 0;
        words_ = static_cast<History*>(map_shadow(count * sizeof(History), chunks == 0));
        ready_.assign(chunks, false);
        shared_histories_.assign(chunks, {});
    }
    void release() {
        if (words_) munmap(words_, count_ * sizeof(History));
        *this = {};
    }

    const History& operator[](std::size_t index) const {
        return is_ready(index / chunk_words) ? words_[index] : shared_histories_[index / chunk_words];
    }
    /// Make the histories of the words [first, last) ready. End the process if memory runs out.
    void prepare(std::size_t first, std::size_t last) {
        for (std::size_t chunk = first / chunk_words; chunk * chunk_words < last; ++chunk)
            if (!is_ready(chunk)) prepare_chunk(chunk);
    }
    /// Change the histories of all words of [first, last) in the same way.
    template <class Change>
    void change(std::size_t first, std::size_t last, Change change_word) {
        while (first < last) {
            const std::size_t chunk = first / chunk_words, end = std::min(last, end_of(chunk));
            if (!is_ready(chunk) && first == chunk * chunk_words && end == end_of(chunk)) {
                change_word(shared_histories_[chunk]);
            } else {
                prepare(first, end);
                std::for_each(words_ + first, words_ + end, change_word);
            }
            first = end;
        }
    }
    /// Return the largest range of words around a word with a ready history in which all histories are ready.
    std::pair<std::size_t, std::size_t> ready_around(std::size_t index) const {
        std::size_t first = index / chunk_words, last = first;
        while (first > 0 && is_ready(first - 1)) --first;
        while (end_of(last) < count_ && is_ready(last + 1)) ++last;
        return {first * chunk_words, end_of(last)};
    }

  private:
    static constexpr std::size_t chunk_words = std::size_t{1} << 16;  // 4 MB of histories

    bool is_ready(std::size_t chunk) const { return ready_.empty() || ready_[chunk]; }
    std::size_t end_of(std::size_t chunk) const { return std::min(count_, (chunk + 1) * chunk_words); }
    void prepare_chunk(std::size_t chunk) {
        History* const begin = words_ + chunk * chunk_words;
        const std::size_t count = end_of(chunk) - chunk * chunk_words;
        if (mprotect(begin, count * sizeof(History), PROT_READ | PROT_WRITE) != 0)
            end_with_fault(warplab::Fault::no_memory, "no memory for the sanitizer");
        if (shared_histories_[chunk].bytes.written || shared_histories_[chunk].bytes.read ||
            shared_histories_[chunk].latest != History{}.latest)
            std::fill_n(begin, count, shared_histories_[chunk]);
        ready_[chunk] = true;
    }

    History* words_ = nullptr;
    std::size_t count_ = 0;
    std::vector<bool> ready_;                // by chunk; empty if all chunks are ready
    std::vector<History> shared_histories_;  // by chunk that is not ready: the history that all its words share
};

}  // namespace warplab_cpu
