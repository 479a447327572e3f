#pragma once
// Finds volatile writes of global memory that a block signals by a later write of a flag or a counter, without a fence
// in between. A block that reads the flag, or is the last to increment the counter, may still read the old values.

#include <array>
#include <cstdint>
#include <unordered_map>

namespace warplab_cpu {

/// The volatile writes and signals of one grid. Only the reads of the block that read last are kept, so missing fences
/// between blocks that alternate may be overlooked.
class UnfencedWrites {
  public:
    void begin_grid() {
        if (any()) *this = {};
    }
    bool any() const { return now_ > 0; }
    /// Record a volatile write of a word, or an atomic on it. The first volatile write of a grid begins the record.
    void note_write(std::uint32_t block, unsigned thread, std::uintptr_t word, bool atomic);
    void note_fence(unsigned thread) { writes_since_fence_[thread % writes_since_fence_.size()] = 0; }
    /// Record a volatile read of a word, or an atomic on it, at a place in the code.
    void note_read(std::uint32_t block, std::uintptr_t word, std::uint32_t place);
    /// Return whether `reader` has read a word that the volatile writer of `word` wrote later. Reads at the same place
    /// in the code do not count: there, each word signals only itself, as in a decoupled look-back. If the writer
    /// `had_fence` and this was its first write after the fence, the word itself is a flag, and the result is false.
    bool has_read_signal(std::uint32_t reader, std::uintptr_t word, std::uint32_t place, bool had_fence) const;
    /// Return whether `reader` has read this word after `writer` used it as a signal.
    bool has_read_word_since(std::uintptr_t word, std::uint32_t reader, std::uint32_t writer) const;

  private:
    static constexpr std::size_t max_words = 4096;      // flags and counters in signals_; a kernel may have many bins
    static constexpr std::size_t max_writes = 1 << 16;  // words in writes_

    /// Return the number of the last write by which `writer` used `flag` as a signal; 0 if there is none, or if the
    /// reader has not read the word since.
    std::uint64_t find_signal(std::uintptr_t flag, std::uint32_t writer) const;

    struct Write {
        std::uint32_t block = 0;
        bool first_after_fence = false;
        std::uint64_t when = 0;
    };
    struct Read {
        std::uint32_t place = 0;
        std::uint64_t when = 0;
    };
    std::uint64_t now_ = 0;                             // the number of writes so far
    std::unordered_map<std::uintptr_t, Write> writes_;  // by word: the last volatile write
    // By word, and by block: the last write of the word after a volatile write of another word.
    std::unordered_map<std::uintptr_t, std::unordered_map<std::uint32_t, std::uint64_t>> signals_;
    std::unordered_map<std::uint32_t, std::uint64_t> first_writes_;  // by block: the first volatile write
    std::array<std::uint32_t, 1024> writes_since_fence_{};           // by thread of the running block
    std::uint32_t writer_ = 0;                                       // the running block
    std::uint32_t reader_ = 0;                                       // the block that read the words in `reads_`
    std::unordered_map<std::uintptr_t, Read> reads_;                 // by word: the last read
};

}  // namespace warplab_cpu
