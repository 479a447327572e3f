// Like stage 06, but a value in the window costs one atomic and no wait: add first, then test the old value. If the
// byte had reached 128, the addition is taken back, which a soft cap of 127 allows. Additions of other threads may come
// in between, so a byte could carry into the next one. But before that it is 255, and the thread that adds to a 255
// notices this: then the block counts the window again, by compare-and-swap. If no thread saw a 255, no byte carried:
// each byte holds the additions that were not taken back, and only those that saw 128 or more were taken back.
//
// The rest keeps memory busy. Values are loaded ahead of their use. Bins are written once: the block writes zeros
// outside the window while it counts, and values outside the window wait in a list until these zeros are there.

#include <cstdio>

#include "labs/large_histogram/lab.h"

#ifndef WINDOW_KB  // of shared memory, where the device has as much
#define WINDOW_KB 216
#endif
#ifndef BLOCK
#define BLOCK 1024
#endif
#ifndef AHEAD  // vectors of four values in a set that is loaded while the other one is counted
#define AHEAD 2
#endif
constexpr unsigned warp_threads = 32;
constexpr unsigned most_listed = 65536;  // values outside the window, per histogram
constexpr unsigned spare_bytes = warp_threads * sizeof(unsigned);
constexpr unsigned keep_below = 128;  // additions to a smaller byte are never taken back
static_assert(keep_below >= soft_cap && (keep_below & (keep_below - 1)) == 0, "one bit tells, and the cap is reached");

struct Extent {
    unsigned width, height;
};

// The part of the histogram that is in shared memory, and where each of its bins is. Bin numbers need no division: with
// the window's first bin subtracted, column and row in the window are the lower and upper bits. What lies left of the
// window or above it wraps around to columns and rows that are too large. After the window comes a spare word for each
// lane.
struct Window {
    unsigned* words;
    unsigned first_bin, column_bits;
    Extent extent;

    __device__ unsigned x(unsigned bin) const { return (bin - first_bin) & ((1u << column_bits) - 1); }
    __device__ unsigned y(unsigned bin) const { return (bin - first_bin) >> column_bits; }
    __device__ bool holds(unsigned bin) const { return (x(bin) < extent.width) & (y(bin) < extent.height); }
    __device__ unsigned place(unsigned bin) const { return y(bin) * extent.width + x(bin); }
    __device__ unsigned spare_place() const { return extent.width * extent.height + threadIdx.x % warp_threads * 4; }
    __device__ unsigned* word_of(unsigned place) const {
        return reinterpret_cast<unsigned*>(reinterpret_cast<char*>(words) + (place & ~3u));
    }

    __device__ void clear() const {
        for (unsigned i = threadIdx.x; i < extent.width * extent.height / 16; i += BLOCK)
            reinterpret_cast<uint4*>(words)[i] = make_uint4(0, 0, 0, 0);
    }
    __device__ void store(uint4* histogram) const {
        const unsigned row_vectors = extent.width / 16;
        for (unsigned i = threadIdx.x; i < extent.height * row_vectors; i += BLOCK) {
            const unsigned y = i / row_vectors, x = i % row_vectors;
            __stcs(histogram + (first_bin + (y << column_bits)) / 16 + x, reinterpret_cast<const uint4*>(words)[i]);
        }
    }
};

// Values outside the window.
struct List {
    unsigned* values;
    unsigned capacity;
    unsigned* count;  // shared; more than capacity: some were not listed
};

// amount in byte place % 4. A funnel shift takes its distance modulo 32, so that one instruction does it.
__device__ unsigned in_byte(unsigned place, unsigned amount) { return __funnelshift_l(0, amount, place * 8); }

// Adds 1 to a bin, unless it has reached the cap; correct for any number of threads. Most words are still 0, so
// that is tried first, without a read.
__device__ void count_by_exchange(unsigned* words, unsigned place) {
    unsigned* word = words + place / 4;
    const unsigned shift = place % 4 * 8;
    unsigned seen = 0;
    while ((seen >> shift & 255) < soft_cap) {
        const unsigned found = atomicCAS(word, seen, seen + (1u << shift));
        if (found == seen) return;
        seen = found;
    }
}

// Takes back the addition to byte `place` of a word that was `before`. Sets the flag if that addition has carried.
__device__ void take_back(unsigned* words, unsigned place, unsigned before, unsigned* ran_over) {
    // TODO: subtract what was added to byte `place`. Which `before` means that the addition has carried into the
    // next byte, or beyond the word? Then set *ran_over, for the whole block.
    (void)words, (void)place, (void)before, (void)ran_over;
}

// Lists the values outside the window.
template <unsigned count>
__device__ void append(const Window& window, const List& list, const unsigned (&values)[count]) {
    unsigned outside = 0;
#pragma unroll
    for (unsigned k = 0; k < count; ++k) outside += !window.holds(values[k]);
    unsigned at = atomicAdd(list.count, outside);
#pragma unroll
    for (unsigned k = 0; k < count; ++k)
        if (!window.holds(values[k])) {
            if (at < list.capacity) list.values[at] = values[k];
            ++at;
        }
}

// All additions are issued before the first result is used. There is no branch on the way: a value outside the window
// adds 0 to a spare word.
template <unsigned count>
__device__ void count_values(const Window& window, const List& list, const unsigned (&values)[count],
                             unsigned* ran_over) {
    // TODO: three steps, each for all values before the next one begins, so that no addition waits for another one:
    // 1. If the value is in the window, add 1 to the byte at its place: in_byte(place, 1) to its word. If not, add
    //    0 to the word of window.spare_place(). Keep what was added, and what atomicAdd returns.
    // 2. If any value was outside, append all of them to the list; append leaves out those that are in the window.
    // 3. Take back the additions to bytes that held keep_below or more. One bit of atomicAdd's result shows it.
    (void)window, (void)list, (void)values, (void)ran_over;
}

// Writes zeros to the histogram's bins outside the window, a piece at a time: in between, the block counts.
class Eraser {
  public:
    __device__ Eraser(uint4* histogram, unsigned bins) : histogram_(histogram), end_(bins / 16), next_(threadIdx.x) {}
    __device__ bool done() const { return next_ >= end_; }
    __device__ void step(const Window& window) {
        if (!done() & !window.holds(next_ * 16)) __stcs(histogram_ + next_, make_uint4(0, 0, 0, 0));
        next_ += BLOCK;
    }

  private:
    uint4* histogram_;
    unsigned end_, next_;
};

// A histogram's values: whole vectors of four, and up to three values before and after them.
struct Values {
    const unsigned* first;
    std::size_t n;
    unsigned head, vectors, tail;  // tail: how many come after the vectors

    __device__ Values(const unsigned* values, std::size_t count) : first(values), n(count) {
        const unsigned to_alignment = (4 - reinterpret_cast<std::size_t>(values) / sizeof(unsigned) % 4) % 4;
        head = count < to_alignment ? static_cast<unsigned>(count) : to_alignment;
        vectors = static_cast<unsigned>((count - head) / 4);
        tail = static_cast<unsigned>((count - head) % 4);
    }
    __device__ const uint4* fours() const { return reinterpret_cast<const uint4*>(first + head); }
    // Vectors at, at + BLOCK, …; instead of those past the end, the last one is loaded, so no load needs a condition.
    __device__ void load(uint4 (&set)[AHEAD], unsigned at) const {
#pragma unroll
        for (unsigned k = 0; k < AHEAD; ++k) set[k] = __ldcs(fours() + min(at + k * BLOCK, vectors - 1));
    }
};

__device__ void count_vector(uint4 vector, const Window& window, const List& list, unsigned* ran_over) {
    count_values<4>(window, list, {vector.x, vector.y, vector.z, vector.w}, ran_over);
}

// `now` holds the first vectors, which are already loaded.
__device__ void count_all(uint4 (&now)[AHEAD], const Values& values, const Window& window, const List& list,
                          Eraser& eraser, unsigned* ran_over) {
    constexpr unsigned step = 2 * AHEAD * BLOCK;
    const unsigned whole = values.vectors / step * step;  // the vectors of whole steps, none of which needs a check
    for (unsigned at = threadIdx.x; at < whole; at += step) {
        uint4 next[AHEAD];
        values.load(next, at + AHEAD * BLOCK);
#pragma unroll
        for (unsigned k = 0; k < AHEAD; ++k) {
            eraser.step(window);
            count_vector(now[k], window, list, ran_over);
        }
        values.load(now, at + step);
#pragma unroll
        for (unsigned k = 0; k < AHEAD; ++k) count_vector(next[k], window, list, ran_over);
    }
    for (unsigned at = whole + threadIdx.x; at < values.vectors; at += BLOCK)
        count_vector(values.fours()[at], window, list, ran_over);
    if (threadIdx.x < values.head) count_values<1>(window, list, {values.first[threadIdx.x]}, ran_over);
    if (threadIdx.x < values.tail) count_values<1>(window, list, {values.first[values.n - 1 - threadIdx.x]}, ran_over);
    while (!eraser.done()) eraser.step(window);
}

// Counts the window again after a byte has overflowed into its neighbour.
__device__ void count_window_again(const Values& values, const Window& window) {
    // TODO: clear the window. When all of it is clear, count all values that are in it with count_by_exchange.
    (void)values, (void)window;
}

// Counts the values outside the window, after zeros were written there. If the list was too short, goes through all
// values once more.
__device__ void count_outside(const Values& values, const Window& window, const List& list, unsigned* histogram) {
    const unsigned listed = *list.count;
    if (listed <= list.capacity) {
        unsigned next = threadIdx.x < listed ? list.values[threadIdx.x] : 0;
        for (unsigned i = threadIdx.x; i < listed; i += BLOCK) {
            const unsigned value = next;
            if (i + BLOCK < listed) next = list.values[i + BLOCK];  // loaded while this value is counted
            count_by_exchange(histogram, value);
        }
    } else {
        for (std::size_t i = threadIdx.x; i < values.n; i += BLOCK)
            if (!window.holds(values.first[i])) count_by_exchange(histogram, values.first[i]);
    }
}

// Returns the beginning of a window of `size` whose middle is at `centre`, so that no part of it is beyond `all`.
__device__ unsigned place_around(unsigned centre, unsigned size, unsigned all) {
    const unsigned first = centre < size / 2 ? 0 : centre - size / 2;
    return min(first, all - size);
}

// Returns the first bin of a window that is centred on the mean of the first values.
__device__ unsigned find_first_bin(const Values& values, unsigned column_bits, unsigned rows, Extent extent) {
    __shared__ unsigned sum_x, sum_y;
    const unsigned columns = 1u << column_bits, samples = values.n < BLOCK ? static_cast<unsigned>(values.n) : BLOCK;
    if (threadIdx.x == 0) sum_x = sum_y = 0;
    __syncthreads();
    if (threadIdx.x < samples) {
        const unsigned bin = values.first[threadIdx.x];
        atomicAdd(&sum_x, bin & (columns - 1));
        atomicAdd(&sum_y, bin >> column_bits);
    }
    __syncthreads();
    if (samples == 0) return 0;
    const unsigned x = place_around(sum_x / samples, extent.width, columns) / 16 * 16;
    return (place_around(sum_y / samples, extent.height, rows) << column_bits) + x;
}

__global__ void __launch_bounds__(BLOCK, 1)
    large_histogram_kernel(const unsigned* all_values, unsigned char* all_bins, std::size_t n, unsigned column_bits,
                           unsigned rows, Extent extent, unsigned* lists, unsigned list_capacity) {
    extern __shared__ uint4 window_memory[];
    __shared__ unsigned listed, ran_over;
    const Values values(all_values + blockIdx.x * n, n);
    const unsigned bins = rows << column_bits;
    auto* histogram = reinterpret_cast<uint4*>(all_bins + std::size_t{blockIdx.x} * bins);
    uint4 now[AHEAD];
    if (values.vectors > 0) values.load(now, threadIdx.x);  // being loaded while the window is placed and cleared
    if (threadIdx.x == 0) listed = ran_over = 0;
    const Window window{reinterpret_cast<unsigned*>(window_memory), find_first_bin(values, column_bits, rows, extent),
                        column_bits, extent};
    const List list{lists + std::size_t{blockIdx.x} * list_capacity, list_capacity, &listed};
    window.clear();
    __syncthreads();

    Eraser eraser(histogram, bins);
    count_all(now, values, window, list, eraser, &ran_over);
    __syncthreads();
    // TODO: if a byte has carried, count the window again. When may a thread store it?
    window.store(histogram);  // while these stores are on their way, count_outside waits for the values of its list
    count_outside(values, window, list, reinterpret_cast<unsigned*>(histogram));
}

std::size_t list_capacity(std::size_t n) { return n < most_listed ? n : most_listed; }

std::size_t large_histogram_scratch_bytes(unsigned histograms, std::size_t n, unsigned /*columns*/, unsigned /*rows*/) {
    return histograms * list_capacity(n) * sizeof(unsigned);
}

// Returns the bytes that a block can have for its window on this device. Prints a message, once, if they are too few.
unsigned find_window_bytes() {
    int device, limit;
    cudaFuncAttributes kernel;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    CUDA_CHECK(cudaFuncGetAttributes(&kernel, large_histogram_kernel));
    const unsigned wanted = WINDOW_KB * 1024;
    const unsigned most = static_cast<unsigned>(limit - static_cast<int>(kernel.sharedSizeBytes)) - spare_bytes;
    static bool said = false;
    if (wanted > most && !said) {
        std::fprintf(stderr, "This device has %u bytes of shared memory for the window, not %u: it gets smaller.\n",
                     most, wanted);
        said = true;
    }
    return wanted < most ? wanted : most;
}

// Returns a window of at most this many bytes, 1.5 times as wide as high if the histogram allows it. Whole groups
// of 16.
Extent choose_extent(unsigned bytes, unsigned columns, unsigned rows) {
    unsigned width = 16;
    while (2 * (width + 16) * (width + 16) <= 3 * bytes) width += 16;
    if (width > columns) width = columns;
    unsigned height = bytes / width;
    if (height > rows) {
        height = rows;
        width = bytes / rows / 16 * 16 < columns ? bytes / rows / 16 * 16 : columns;
    }
    return {width, height};
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* scratch) {
    unsigned column_bits = 0;
    while (1u << column_bits < columns) ++column_bits;
    const Extent extent = choose_extent(find_window_bytes(), columns, rows);
    const unsigned shared_bytes = extent.width * extent.height + spare_bytes;
    CUDA_CHECK(cudaFuncSetAttribute(large_histogram_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes)));
    large_histogram_kernel<<<histograms, BLOCK, shared_bytes>>>(values, bins, n, column_bits, rows, extent,
                                                                static_cast<unsigned*>(scratch),
                                                                static_cast<unsigned>(list_capacity(n)));
    CUDA_CHECK(cudaGetLastError());
}
