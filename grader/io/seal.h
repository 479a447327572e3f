#pragma once
// A seal on a packet: SipHash-2-4 under a key that the judge draws for each runner. The key is in the runner's memory,
// so a submission can find it with some effort (SANDBOX.md): a seal makes forgery harder, but not impossible.
// Header-only: the runner is built without the grader's libraries.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace warplab::protocol {

struct Key {
    std::uint64_t low, high;
};

class SipHash {
  public:
    explicit SipHash(const Key& key)
        : v0_(key.low ^ 0x736f6d6570736575),
          v1_(key.high ^ 0x646f72616e646f6d),
          v2_(key.low ^ 0x6c7967656e657261),
          v3_(key.high ^ 0x7465646279746573) {}

    void add(std::uint64_t word) {
        v3_ ^= word;
        round();
        round();
        v0_ ^= word;
    }

    std::uint64_t finish() {
        v2_ ^= 0xff;
        for (int i = 0; i < 4; ++i) round();
        return v0_ ^ v1_ ^ v2_ ^ v3_;
    }

  private:
    static std::uint64_t rotate(std::uint64_t word, int bits) { return word << bits | word >> (64 - bits); }
    void round() {
        v0_ += v1_;
        v1_ = rotate(v1_, 13) ^ v0_;
        v0_ = rotate(v0_, 32);
        v2_ += v3_;
        v3_ = rotate(v3_, 16) ^ v2_;
        v0_ += v3_;
        v3_ = rotate(v3_, 21) ^ v0_;
        v2_ += v1_;
        v1_ = rotate(v1_, 17) ^ v2_;
        v2_ = rotate(v2_, 32);
    }
    std::uint64_t v0_, v1_, v2_, v3_;
};

/// Return the SipHash-2-4 of `size` bytes; `size` is a multiple of 8.
inline std::uint64_t hash_words(const Key& key, const void* bytes, std::size_t size) {
    SipHash hash(key);
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= size; at += sizeof(std::uint64_t)) {
        std::uint64_t word;
        std::memcpy(&word, static_cast<const char*>(bytes) + at, sizeof word);
        hash.add(word);
    }
    hash.add(static_cast<std::uint64_t>(size) << 56);
    return hash.finish();
}

/// Return the seal of the `number`-th answer of a runner. The seal does not cover the last field, `seal`.
template <class Packet>
std::uint64_t seal_of(const Key& key, std::uint64_t number, const Packet& packet) {
    static_assert(sizeof packet % sizeof number == 0 && offsetof(Packet, seal) + sizeof packet.seal == sizeof packet);
    return hash_words({key.low ^ number, key.high}, &packet, offsetof(Packet, seal));
}

}  // namespace warplab::protocol
