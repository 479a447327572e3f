#pragma once
// Atomic functions for the types that CUDA supports. The threads of a block share one OS thread, which never switches
// between them within an atomic, so shared memory needs no locked instruction.

#include <string.h>

#include <type_traits>

#include "scheduler.h"

namespace warplab_cpu {

/// Tell the sanitizer that the next atomic on these bytes is atomic only within the block.
#ifdef WARPLAB_CPU_FAST
inline void note_block_scope(const volatile void*, size_t, bool) {}
#else
__attribute__((visibility("default"))) void note_block_scope(const volatile void* place, size_t bytes, bool writes);
#endif

template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, unsigned long long,
                                std::conditional_t<sizeof(T) == 4, unsigned, unsigned short>>;

template <class T>
WARPLAB_CPU_INLINE auto bits_of(T value) {
    Bits<T> bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}
template <class T>
WARPLAB_CPU_INLINE auto value_of(Bits<T> bits) {
    T value;
    memcpy(static_cast<void*>(&value), &bits, sizeof(value));
    return value;
}

/// Replace the value with the result of `change`. Return the old value.
template <class T, class Change>
WARPLAB_CPU_INLINE auto replace(T* place, Change change) {
    if (needs_no_lock(place)) {
        const T old = *place;
        *place = change(old);
        return old;
    }
    Bits<T>* word = reinterpret_cast<Bits<T>*>(place);
    Bits<T> seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (true) {
        const T old = value_of<T>(seen);
        if (__atomic_compare_exchange_n(word, &seen, bits_of(change(old)), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return old;
    }
}

/// Do the same for functions by which a thread can poll: a call that changes nothing may wait until another thread
/// changes the value.
template <class T, class Change>
WARPLAB_CPU_INLINE auto update(T* place, Change change) {
    const T old = replace(place, change);
    if (__builtin_expect(change(old) == old, 0)) {
        note_spin();
        restore_thread();
    }
    return old;
}

template <class T>
WARPLAB_CPU_INLINE auto add(T* place, T value) {
    if (__builtin_constant_p(value == 0) && value == 0) {  // a thread that polls until something changes
        note_spin();
        restore_thread();
    }
    if constexpr (std::is_floating_point_v<T>) {
        return replace(place, [value](T old) { return old + value; });
    } else {
        if (needs_no_lock(place)) {
            const T old = *place;
            *place = old + value;
            return old;
        }
        return __atomic_fetch_add(place, value, __ATOMIC_RELAXED);
    }
}

/// Set the value to `better(old)` if that differs. Most calls change nothing, so without the sanitizer they only read.
/// A call with a constant that changes nothing may be polling.
template <class T, class Better>
WARPLAB_CPU_INLINE auto improve(T* place, Better better, bool is_constant) {
#ifdef WARPLAB_CPU_FAST
    T old = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (needs_no_lock(place) || better(old) != old) old = replace(place, better);
#else
    const T old = replace(place, better);
#endif
    if (is_constant && better(old) == old) {
        note_spin();
        restore_thread();
    }
    return old;
}

template <class T>
WARPLAB_CPU_INLINE auto minimum(T* place, T value) {
    return improve(
        place, [value](T old) { return value < old ? value : old; }, __builtin_constant_p(value));
}
template <class T>
WARPLAB_CPU_INLINE auto maximum(T* place, T value) {
    return improve(
        place, [value](T old) { return old < value ? value : old; }, __builtin_constant_p(value));
}

template <class T>
WARPLAB_CPU_INLINE auto exchange(T* place, T value) {
    T old;
    if (needs_no_lock(place)) {
        old = *place;
        *place = value;
    } else {
        old = value_of<T>(__atomic_exchange_n(reinterpret_cast<Bits<T>*>(place), bits_of(value), __ATOMIC_SEQ_CST));
    }
    if (__builtin_expect(bits_of(old) == bits_of(value), 0)) {  // may be a lock that another thread holds
        note_spin();
        restore_thread();
    }
    return old;
}

template <class T>
WARPLAB_CPU_INLINE auto compare_and_swap(T* place, T compare, T value) {
    yield_before_atomic();
    T old = compare;
    if (needs_no_lock(place)) {
        old = *place;
        if (old == compare) *place = value;
    } else {
        __atomic_compare_exchange_n(place, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    if (__builtin_expect(old != compare || compare == value, 0)) note_spin();
    restore_thread();
    return old;
}

}  // namespace warplab_cpu

#define WARPLAB_CPU_ATOMIC(type, function, expression)                     \
    inline type function(type* address, type value) { return expression; } \
    WARPLAB_CPU_INLINE type function##_block(type* address, type value) {  \
        warplab_cpu::note_block_scope(address, sizeof(type), true);        \
        return expression;                                                 \
    }                                                                      \
    inline type function##_system(type* address, type value) { return function(address, value); }

#define WARPLAB_CPU_ADD(type) WARPLAB_CPU_ATOMIC(type, atomicAdd, warplab_cpu::add(address, value))
WARPLAB_CPU_ADD(int)
WARPLAB_CPU_ADD(unsigned int)
WARPLAB_CPU_ADD(unsigned long long)
WARPLAB_CPU_ADD(float)
WARPLAB_CPU_ADD(double)
WARPLAB_CPU_ATOMIC(int, atomicSub, warplab_cpu::add(address, int(0u - unsigned(value))))
WARPLAB_CPU_ATOMIC(unsigned int, atomicSub, warplab_cpu::add(address, 0u - value))

#define WARPLAB_CPU_BITWISE(type)                                                                                \
    WARPLAB_CPU_ATOMIC(type, atomicMin, warplab_cpu::minimum(address, value))                                    \
    WARPLAB_CPU_ATOMIC(type, atomicMax, warplab_cpu::maximum(address, value))                                    \
    WARPLAB_CPU_ATOMIC(type, atomicAnd, warplab_cpu::update(address, [value](type old) { return old & value; })) \
    WARPLAB_CPU_ATOMIC(type, atomicOr, warplab_cpu::update(address, [value](type old) { return old | value; }))  \
    WARPLAB_CPU_ATOMIC(type, atomicXor, warplab_cpu::update(address, [value](type old) { return old ^ value; }))
WARPLAB_CPU_BITWISE(int)
WARPLAB_CPU_BITWISE(unsigned int)
WARPLAB_CPU_BITWISE(long long)
WARPLAB_CPU_BITWISE(unsigned long long)

#define WARPLAB_CPU_EXCHANGE(type) WARPLAB_CPU_ATOMIC(type, atomicExch, warplab_cpu::exchange(address, value))
WARPLAB_CPU_EXCHANGE(int)
WARPLAB_CPU_EXCHANGE(unsigned int)
WARPLAB_CPU_EXCHANGE(unsigned long long)
WARPLAB_CPU_EXCHANGE(float)

WARPLAB_CPU_ATOMIC(unsigned int, atomicInc,
                   warplab_cpu::update(address, [value](unsigned old) { return old >= value ? 0 : old + 1; }))
WARPLAB_CPU_ATOMIC(unsigned int, atomicDec, warplab_cpu::update(address, [value](unsigned old) {
                       return old == 0 || old > value ? value : old - 1;
                   }))

#define WARPLAB_CPU_CAS(type)                                                          \
    inline type atomicCAS(type* address, type compare, type value) {                   \
        return warplab_cpu::compare_and_swap(address, compare, value);                 \
    }                                                                                  \
    WARPLAB_CPU_INLINE type atomicCAS_block(type* address, type compare, type value) { \
        warplab_cpu::note_block_scope(address, sizeof(type), true);                    \
        return warplab_cpu::compare_and_swap(address, compare, value);                 \
    }                                                                                  \
    inline type atomicCAS_system(type* address, type compare, type value) { return atomicCAS(address, compare, value); }
WARPLAB_CPU_CAS(int)
WARPLAB_CPU_CAS(unsigned int)
WARPLAB_CPU_CAS(unsigned long long)
WARPLAB_CPU_CAS(unsigned short)

#undef WARPLAB_CPU_ATOMIC
#undef WARPLAB_CPU_ADD
#undef WARPLAB_CPU_BITWISE
#undef WARPLAB_CPU_EXCHANGE
#undef WARPLAB_CPU_CAS
