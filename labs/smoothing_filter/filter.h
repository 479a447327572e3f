#pragma once
// The filter on the CPU, for any odd number of rows; 5 rows are optimised.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace warplab {

/// Return the weights 1 at the border, 2 on the ring inside it, and so on to the centre, divided by their sum (35 for 5
/// rows) and rounded to float, row by row.
inline std::vector<double> ring_filter(std::size_t size) {
    std::vector<double> weights;
    double sum = 0;
    for (std::size_t r = 0; r < size; ++r)
        for (std::size_t c = 0; c < size; ++c) {
            weights.push_back(1 + static_cast<double>(std::min({r, c, size - 1 - r, size - 1 - c})));
            sum += weights.back();
        }
    for (double& weight : weights) weight = static_cast<float>(weight / sum);
    return weights;
}

class Filter {
  public:
    explicit Filter(std::vector<float> weights)
        : weights_(std::move(weights)),
          size_(static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(weights_.size()))))) {}

    /// Compute `count` pixels of a row of the output. The first one is computed from the pixels from `from` on, whose
    /// rows are `pitch` pixels apart.
    void smooth_row(const float* from, std::size_t pitch, float* to, std::size_t count) const {
        if (size_ == 5)
            smooth_row_5(from, pitch, to, count);
        else
            smooth_row_any(from, pitch, to, count);
    }

  private:
    void smooth_row_5(const float* __restrict from, std::size_t pitch, float* __restrict to, std::size_t count) const {
        const float* w = weights_.data();
#pragma omp simd
        for (std::size_t x = 0; x < count; ++x) {
            float sum = 0;
#pragma GCC unroll 5
            for (std::size_t r = 0; r < 5; ++r)
#pragma GCC unroll 5
                for (std::size_t c = 0; c < 5; ++c) sum += w[r * 5 + c] * from[r * pitch + x + c];
            to[x] = sum;
        }
    }

    void smooth_row_any(const float* __restrict from, std::size_t pitch, float* __restrict to,
                        std::size_t count) const {
        std::fill(to, to + count, 0.f);
        for (std::size_t r = 0; r < size_; ++r)
            for (std::size_t c = 0; c < size_; ++c) {
                const float weight = weights_[r * size_ + c];
                const float* row = from + r * pitch + c;
                for (std::size_t x = 0; x < count; ++x) to[x] += weight * row[x];
            }
    }

    std::vector<float> weights_;
    std::size_t size_;
};

}  // namespace warplab
