#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "grader/common/text.h"
#include "grader/judge/lab/explain.h"
#include "grader/judge/lab/taps.h"
#include "grader/model/recipe.h"
#include "labs/smoothing_filter/filter.h"
#include "labs/smoothing_filter/picture.h"

namespace warplab {
namespace {

enum Buffer { image, out };

struct Shape {
    std::size_t width, height, size;  // the output's width and height, and the filter's rows

    std::size_t pitch() const { return width + size - 1; }
    std::size_t rows() const { return height + size - 1; }
    std::size_t pixels() const { return width * height; }
};

Shape shape_of(const Problem& problem) {
    const auto size = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(problem.reals.size()))));
    return {static_cast<std::size_t>(problem.sizes[0]), static_cast<std::size_t>(problem.sizes[1]), size};
}

std::vector<float> weights_of(const Problem& problem) { return {problem.reals.begin(), problem.reals.end()}; }

// --- generators ---

/// Return a number from 0 to 1, excluding 1.
double unit(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
    return static_cast<double>(random_bits(seed, stream, index) >> 40) * 0x1p-24;
}

using Pixel = float (*)(std::uint64_t seed, std::size_t index);

/// Random brightness from 0 to 255.
float random_pixel(std::uint64_t seed, std::size_t i) { return static_cast<float>(255 * unit(seed, 0, i)); }

/// Brightness of both signs, so that terms of a sum cancel out.
float signed_pixel(std::uint64_t seed, std::size_t i) { return static_cast<float>(510 * unit(seed, 1, i) - 255); }

/// One pixel in 97 is white, and the others are black: around each white one, the output shows the filter itself.
float sparse_pixel(std::uint64_t seed, std::size_t i) { return random_bits(seed, 2, i) % 97 ? 0.f : 255.f; }

/// All pixels are equal. If the filter's weights add up to 1, the output's pixels are equal, too.
float flat_pixel(std::uint64_t seed, std::size_t) { return static_cast<float>(1 + 254 * unit(seed, 3, 0)); }

const std::map<std::string, Pixel> generators = {
    {"random", random_pixel}, {"signed", signed_pixel}, {"sparse", sparse_pixel}, {"flat", flat_pixel}};

/// Return the weights that the dataset names. "rings": the lab's default weights. "any": different positive weights
/// that add up to 1. "signed": weights of both signs. They depend on the dataset's seed, not on a call's seed, so that
/// all calls have the same filter.
std::vector<double> make_filter(const Dataset& dataset) {
    const auto size = read_size(dataset, "filter_size", 5);
    if (size % 2 == 0 || size > 15) throw recipe_error(dataset, "\"filter_size\" is an odd number up to 15");
    const std::string kind = read_word(dataset, "filter", "rings");
    if (kind == "rings") return ring_filter(static_cast<std::size_t>(size));
    if (kind != "any" && kind != "signed")
        throw recipe_error(dataset, "\"filter\" is \"rings\", \"any\" or \"signed\", not \"" + kind + "\"");
    std::vector<double> weights;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(size * size); ++i)
        weights.push_back(kind == "any" ? 0.1 + unit(dataset.seed, 4, i) : 2 * unit(dataset.seed, 5, i) - 1);
    double sum = 0;
    for (const double weight : weights) sum += kind == "any" ? weight : 1;
    for (double& weight : weights) weight = static_cast<float>(kind == "any" ? weight / sum : weight);
    return weights;
}

Problem make_problem(std::size_t width, std::size_t height, std::vector<double> filter, std::size_t extra) {
    Problem problem{
        {static_cast<std::int64_t>(width), static_cast<std::int64_t>(height)}, std::move(filter), {Array(), Array()}};
    const Shape shape = shape_of(problem);
    problem.arrays[image] = Array(ElementType::float32, shape.pitch() * shape.rows() + extra);
    problem.arrays[out] = Array(ElementType::float32, shape.pixels());
    return problem;
}

Problem generate_picture(const Dataset& dataset, std::uint64_t seed) {
    require_only(dataset, {"file", "filter"});
    const Image picture = read_image(read_word(dataset, "file"));
    Problem problem = make_problem(static_cast<std::size_t>(picture.width), static_cast<std::size_t>(picture.height),
                                   make_filter(dataset), 0);
    problem.arrays[image] = pad_channel(picture, static_cast<int>(seed % 3) % picture.channels, 2);
    return problem;
}

// --- outputs of students' mistakes ---

constexpr std::size_t max_explained = 1 << 24;  // pixels
constexpr auto first_with_tile = "03";          // the first stage with a tile in shared memory
constexpr auto first_with_rows = "04";          // the first stage in which a thread computes several rows
constexpr auto first_with_strips = "05";        // the first stage in which a thread reads its own rows
constexpr auto first_with_vectors = "06";       // the first stage in which a thread computes several columns
constexpr auto first_with_ring = "07";          // the first stage in which rows are loaded ahead
constexpr float beyond = std::numeric_limits<float>::quiet_NaN();  // the value of a read outside the image

struct Block {
    std::size_t x, y;
};
constexpr Block common_shapes[] = {{16, 16}, {32, 8}, {32, 32}, {8, 8},  {32, 16}, {16, 8},
                                   {8, 16},  {8, 32}, {64, 4},  {64, 8}, {64, 16}, {32, 4},
                                   {16, 32}, {64, 2}, {32, 2},  {16, 4}, {4, 4},   {128, 2}};

/// Returns whether the pixel in row i and column j of its block reads a missing part of the halo.
using Missing = std::function<bool(std::size_t i, std::size_t j)>;

/// Compares the wrong pixels with the pixels that each mistake gives.
class Explanation : Output<float> {
  public:
    Explanation(const Oracle& oracle, const Situation& situation)
        : Output(oracle, situation, out),
          situation_(situation),
          shape_(shape_of(situation.problem)),
          weights_(weights_of(situation.problem)),
          image_(situation.problem.arrays[image].as<float>()),
          may_have_tile_(situation.stage.empty() ||
                         (situation.stage >= first_with_tile && situation.stage < first_with_strips)),
          may_have_rows_(situation.stage.empty() || situation.stage >= first_with_rows),
          may_have_strips_(situation.stage.empty() || situation.stage >= first_with_strips),
          may_have_vectors_(situation.stage.empty() || situation.stage >= first_with_vectors),
          may_have_ring_(situation.stage.empty() || situation.stage >= first_with_ring) {}

    std::vector<Hypothesis> hypotheses() {
        using E = Explanation;
        if (shape_.pixels() > max_explained || wrong == 0) return {};
        if (all_wrong([this](std::size_t i) { return is_unwritten(i); }))
            return first_fit(situation_, *this, {&E::try_unwritten});
        return first_fit(situation_, *this,
                         {&E::try_unwritten, &E::try_weights, &E::try_scaled, &E::try_window, &E::try_taps,
                          &E::try_places, &E::try_shifts, &E::try_transposed, &E::try_values, &E::try_whole_numbers,
                          &E::try_halo, &E::try_far_edges});
    }

  private:
    using Value = std::function<float(std::size_t i)>;  // of a pixel; NaN if it depends on memory outside the image

    std::size_t index(std::size_t x, std::size_t y) const { return y * shape_.width + x; }

    float pixel(std::int64_t at) const {
        return at >= 0 && at < static_cast<std::int64_t>(image_.size()) ? image_[static_cast<std::size_t>(at)] : beyond;
    }

    /// Return the sum over the filter's taps, with a mistake's weights and places in the image.
    template <class Weight, class Place>
    float sum(Weight&& weight, Place&& place) const {
        float total = 0;
        for (std::size_t r = 0; r < shape_.size; ++r)
            for (std::size_t c = 0; c < shape_.size; ++c)
                if (const float w = weight(r, c); w != 0) total += w * pixel(static_cast<std::int64_t>(place(r, c)));
        return total;
    }

    /// Return a function that computes a pixel with wrong weights at the right places.
    Value with_weights(std::function<float(std::size_t r, std::size_t c)> weight) const {
        return [this, weight](std::size_t i) {
            const std::size_t x = i % shape_.width, y = i / shape_.width;
            return sum(weight, [&](std::size_t r, std::size_t c) { return (y + r) * shape_.pitch() + x + c; });
        };
    }

    /// Return a function that computes a pixel with the right weights at wrong places.
    Value with_places(
        std::function<std::int64_t(std::int64_t x, std::int64_t y, std::int64_t r, std::int64_t c)> place) const {
        return [this, place](std::size_t i) {
            const auto x = static_cast<std::int64_t>(i % shape_.width), y = static_cast<std::int64_t>(i / shape_.width);
            return sum([&](std::size_t r, std::size_t c) { return weights_[r * shape_.size + c]; },
                       [&](std::size_t r, std::size_t c) {
                           return place(x, y, static_cast<std::int64_t>(r), static_cast<std::int64_t>(c));
                       });
        };
    }

    // --- pixels that were never written ---

    Guess try_unwritten() {
        if (Guess guess = try_rows_unwritten()) return guess;
        if (shape_.pixels() > shape_.pitch() &&
            gives([this](std::size_t i) {  // in a single row, the mistake has no effect
                const std::size_t row = i / shape_.pitch(), column = i % shape_.pitch();
                return column < shape_.width ? right[index(column, row)] : before[i];
            }))
            return Mistake{
                "wrong_pitch",
                sentence("out is written as if its rows were {} pixels apart, as those of image; they are {} apart.",
                         shape_.pitch(), shape_.width),
                "out has no border: pixel (x, y) is at y * width + x, and only image has rows of width + 4 pixels."};
        if (!is_unwritten(right.size() - 1) || is_unwritten(0)) return {};
        std::size_t columns = 0, rows = 0;  // written pixels of the first row and of the first column
        while (columns < shape_.width && !is_unwritten(index(columns, 0))) ++columns;
        while (rows < shape_.height && !is_unwritten(index(0, rows))) ++rows;
        if (gives([&](std::size_t i) {
                return i % shape_.width < columns && i / shape_.width < rows ? right[i] : before[i];
            }))
            return name_unwritten(columns, rows);
        return guess_unwritten({"pixels", "written"});
    }

    /// Return the first row from `y` on that is written, or is not; the number of rows if there is none.
    std::size_t next_row(std::size_t y, bool written) const {
        while (y < shape_.height && is_unwritten(index(0, y)) == written) ++y;
        return y;
    }

    /// Return whether exactly these rows of the output are written, and right.
    template <class IsWritten>
    bool gives_rows(const IsWritten& is_written) const {
        return gives([&](std::size_t i) { return is_written(i / shape_.width) ? right[i] : before[i]; });
    }

    /// Of each block's rows, only the first ones are written, or all except the first ones.
    Guess try_rows_unwritten() const {
        if (is_unwritten(0)) return try_first_rows_unwritten();
        const std::size_t written = next_row(0, false), period = next_row(written, true), lost = period - written;
        if (period == shape_.height) return {};
        const auto begins_strip = [&](std::size_t y) { return y % period < written; };
        const auto begins_strip_or_part = [&](std::size_t y) {  // the last strip may have fewer rows
            return y + lost < std::min(y / period * period + period, shape_.height);
        };
        const bool begin = gives_rows(begins_strip);
        if (may_have_strips_ && written > 1 && lost == shape_.size - 1 && (begin || gives_rows(begins_strip_or_part)))
            return Mistake{"strip_cut_off", describe_part({.period = period, .run = written}, {"rows", "written"}),
                           "ROWS rows of out need ROWS + 4 rows of image, and a row is complete when the fifth of its "
                           "rows has been added: does the loop run to the last row of image that the strip needs?"};
        if (!begin) return {};
        return Mistake{
            "rows_left_out", describe_part({.period = period, .run = written}, {"rows", "written"}),
            "Does a block have threads in y, too? dim3(256) is a single row of threads; dim3(BLOCK_X, BLOCK_Y) "
            "has BLOCK_Y rows of threads."};
    }

    Guess try_first_rows_unwritten() const {
        const std::size_t lost = next_row(0, true), period = next_row(lost, false);
        if (period == shape_.height || !gives_rows([&](std::size_t y) { return y % period >= lost; })) return {};
        return Mistake{
            "rows_left_out", describe_part({.period = period, .run = lost, .others = true}, {"rows", "written"}),
            "If a thread computes several rows: in which step of its loop is the first of them complete, and "
            "is it stored then?"};
    }

    /// Return whether a grid with exchanged width and height covers exactly these columns and rows.
    bool covers_transposed(Block block, std::size_t columns, std::size_t rows) const {
        const auto round_up = [](std::size_t count, std::size_t to) { return (count + to - 1) / to * to; };
        return columns == std::min(shape_.width, round_up(shape_.height, block.x)) &&
               rows == std::min(shape_.height, round_up(shape_.width, block.y));
    }

    Mistake name_unwritten(std::size_t columns, std::size_t rows) const {
        const std::size_t width = shape_.width, height = shape_.height;
        constexpr auto also_transposed =
            " Or are x and y exchanged in the grid or in the index? With this picture, the same pixels are left out.";
        const std::string counts = sentence("Only {} x {} of {} x {} pixels are written", columns, rows, width, height);
        if (may_have_vectors_ && rows == height && columns == width / 4 * 4)
            return {"vector_tail_lost",
                    sentence("{}: whole groups of four columns. The last {} of every row are not written.", counts,
                             width - columns),
                    "width need not be a multiple of 4: write the last columns one by one."};
        for (const std::size_t apart : {8, 16, 4, 2})
            for (const std::size_t each : {4, 2, 8, 16})
                if (columns == width && may_have_rows_ && rows == rows_of_overlapping(apart, apart * each))
                    return {"blocks_overlap",
                            sentence("{}, as if blocks began {} rows apart, with {} rows each.", counts, apart,
                                     apart * each),
                            "If a thread computes ROWS rows, a block begins at row blockIdx.y * BLOCK_Y * ROWS, and "
                            "the next block begins where it ends. Or is the grid too small?"};
        for (const Block block : common_shapes) {
            if (columns == std::min(block.x, width) && rows == std::min(block.y, height) &&
                (columns < width - block.x || rows < height - block.y))
                return {"one_block_only", sentence("{}: one block of {} x {}.", counts, block.x, block.y),
                        std::string("A pixel's place also depends on its block: blockIdx.x * blockDim.x + "
                                    "threadIdx.x, and y likewise.") +
                            (covers_transposed(block, columns, rows) ? also_transposed : "")};
            const bool x_unscaled = columns == unscaled_end(width, block.x),
                       y_unscaled = rows == unscaled_end(height, block.y);
            if ((x_unscaled || columns == width) && (y_unscaled || rows == height)) return block_size_forgotten(counts);
            const bool x_cut = columns == width / block.x * block.x, y_cut = rows == height / block.y * block.y;
            if ((x_cut || columns == width) && (y_cut || rows == height))
                return {
                    "blocks_rounded_down",
                    sentence("{}: whole blocks of {} x {}. The rest of the picture has no threads.", counts, block.x,
                             block.y),
                    std::string("Round the number of blocks up in both directions: (width + BLOCK_X - 1) / BLOCK_X, "
                                "and height likewise.") +
                        (covers_transposed(block, columns, rows) ? also_transposed : "")};
        }
        for (const Block block : common_shapes)
            if (covers_transposed(block, columns, rows))
                return {"transposed",
                        sentence("{}: the threads cover as many columns as the picture has rows, and as many rows as "
                                 "it has columns, in blocks of {} x {}.",
                                 counts, block.x, block.y),
                        "x counts columns and y rows: blockIdx.x and threadIdx.x belong to x, and the grid has as many "
                        "blocks in x as width needs."};
        return {"grid_too_small", counts + ".",
                "Do the blocks cover the picture, across and down, and does each begin where the previous one ends? Is "
                "the guard x < width && y < height?"};
    }

    /// Return the number of rows that the right number of blocks covers if they are `height` high and begin `apart`
    /// apart.
    std::size_t rows_of_overlapping(std::size_t apart, std::size_t height) const {
        return ((shape_.height + height - 1) / height - 1) * apart + height;
    }

    // --- the filter ---

    Guess try_weights() {
        const std::size_t n = shape_.size;
        const std::vector<double> rings = ring_filter(n);
        if (Guess guess = try_first_weights()) return guess;
        return match(
            {{{"all_zero", "Every pixel is 0.",
               "Are the weights on the device when the kernel runs? An array in __constant__ or __device__ memory "
               "holds zeros until cudaMemcpyToSymbol has filled it, in a function that is called "
               "smoothing_filter_prepare: a function with another name never runs. Or are they computed by a division "
               "of ints? 1 / 35 is 0."},
              [](std::size_t) { return 0.f; }},
             {{"filter_ignored",
               "The output is that of the weights 1, 2 and 3 over their sum, whatever filter the call was given.",
               "The weights are an argument and may be different: use the weights that filter points to."},
              with_weights([&](std::size_t r, std::size_t c) { return static_cast<float>(rings[r * n + c]); })},
             {{"not_normalised", "The output is that of the weights 1, 2 and 3, not divided by their sum.",
               "Take the weights from filter: they are already divided, and they may be different."},
              with_weights([&](std::size_t r, std::size_t c) {
                  return static_cast<float>(std::round(rings[r * n + c] / rings[0]));
              })},
             {{"not_weighted", "Every pixel is the sum of the 25 pixels around it, without weights.",
               "Each pixel is multiplied by its weight before it is added."},
              with_weights([](std::size_t, std::size_t) { return 1.f; })},
             {{"not_weighted", "Every pixel is the mean of the 25 pixels around it: all weights are the same.",
               "Each pixel is multiplied by its own weight before it is added."},
              with_weights([&](std::size_t, std::size_t) { return 1.f / static_cast<float>(n * n); })},
             {{"filter_transposed",
               "The filter's rows and columns are exchanged: weight (r, c) is used in place of (c, r).",
               "The filter is stored row by row, like the image: filter[r * 5 + c] belongs to the pixel r rows down "
               "and c columns right."},
              with_weights([&](std::size_t r, std::size_t c) { return weights_[c * n + r]; })},
             {{"filter_flipped",
               "The filter is rotated by 180 degrees: weight (r, c) is used in place of (4 - r, 4 - c).",
               "The contract's sum takes filter[r * 5 + c] with the pixel r rows down and c columns right; it does not "
               "mirror the filter, as the textbook's convolution does."},
              with_weights([&](std::size_t r, std::size_t c) { return weights_[n * n - 1 - r * n - c]; })},
             {{"filter_flipped", "The filter's columns come in reverse order.",
               "Weight c belongs to the pixel c columns right."},
              with_weights([&](std::size_t r, std::size_t c) { return weights_[r * n + n - 1 - c]; })},
             {{"filter_flipped", "The filter's rows come in reverse order.",
               "Weight r belongs to the pixel r rows down."},
              with_weights([&](std::size_t r, std::size_t c) { return weights_[(n - 1 - r) * n + c]; })}});
    }

    /// Only the first weights are copied: as many bytes as there are weights, the bytes of a pointer, or one row.
    Guess try_first_weights() const {
        const std::size_t n = shape_.size, of_pointer = sizeof(void*) / sizeof(float);
        for (const std::size_t copied : {n * n / 4, of_pointer, n})
            if (gives(with_weights(
                    [&](std::size_t r, std::size_t c) { return r * n + c < copied ? weights_[r * n + c] : 0.f; })))
                return Mistake{
                    "bytes_not_elements",
                    sentence("Only the first {} of {} weights are used, as if the others were 0.", copied, n * n),
                    "cudaMemcpyToSymbol and cudaMemcpy count bytes, and a float has 4 of them: copy 25 * "
                    "sizeof(float), or sizeof the array on the device. The sizeof of a pointer is always 8."};
        return {};
    }

    /// Every pixel is the same multiple of the right one.
    Guess try_scaled() {
        std::size_t brightest = first;
        for (std::size_t i = first; i < right.size(); ++i)
            if (std::abs(right[i]) > std::abs(right[brightest]) && is_wrong(i)) brightest = i;
        const double ratio = static_cast<double>(actual[brightest]) / right[brightest];
        if (!std::isfinite(ratio) || ratio == 0) return {};
        const double nearest = ratio > 1 ? std::round(ratio) : 1 / std::round(1 / ratio);
        if (std::abs(nearest / ratio - 1) > 1e-4) return {};
        if (!gives([&](std::size_t i) { return static_cast<float>(nearest * right[i]); })) return {};
        if (nearest > 1)
            return Mistake{"not_normalised", sentence("Every pixel is {:.0f} times the right one.", nearest),
                           "The weights 1, 2 and 3 must be divided by their sum, 35. The weights in filter are already "
                           "divided: use them as they are."};
        return Mistake{"not_normalised", sentence("Every pixel is the right one divided by {:.0f}.", 1 / nearest),
                       "The weights in filter already add up to 1: do not divide again."};
    }

    /// A loop over the filter begins late or ends early, or only the last product is kept.
    Guess try_taps() {
        const std::size_t n = shape_.size;
        if (n < 2) return {};
        struct Range {
            std::size_t begin, end;
            const char* words;
            bool has(std::size_t k) const { return k >= begin && k < end; }
        };
        const Range ranges[] = {{0, n, "all"},
                                {0, n - 1, "all but the last"},
                                {1, n, "all but the first"},
                                {1, n - 1, "all but the first and the last"}};
        if (gives(with_weights(
                [&](std::size_t r, std::size_t c) { return r + 1 == n && c + 1 == n ? weights_[r * n + c] : 0.f; })))
            return Mistake{"last_term_only", "Every pixel is only the last of the filter's products.",
                           "Did you write = instead of +=, so that the sum keeps only the last product?"};
        for (const Range& rows : ranges)
            for (const Range& columns : ranges)
                if (gives(with_weights([&](std::size_t r, std::size_t c) {
                        return rows.has(r) && columns.has(c) ? weights_[r * n + c] : 0.f;
                    })))
                    return Mistake{"taps_lost",
                                   sentence("Only a part of the filter is used: of its rows, {}; of its columns, {}.",
                                            rows.words, columns.words),
                                   "Both loops run over all 5: r and c from 0 to 4."};
        return {};
    }

    /// Describes a thread that keeps the sums of five rows of out (the filter's number of rows), and stores each row
    /// when its sum should be complete. The default values belong to correct code.
    struct Window {
        std::size_t rows;       // of out, per thread
        int late = 0;           // rows of image that are read between the completion of a row and its store
        std::size_t shift = 0;  // the sums that are stored belong to the row this many rows further down
        bool begins_at_0 = true;
        std::size_t ahead = 0;     // the pixels that are used lie this number of rows further down
        std::size_t held_for = 1;  // the number of rows for which the same pixels are used
        std::size_t ring = 0;      // rows after `loaded` are not loaded: those `ring` rows before them are used
        std::size_t loaded = 0;
        bool upwards = false;  // row r of image is added to row r + k of out, not to row r - k
    };

    /// The products in a sum: pairs of a row of the filter and a row of the thread's pixels.
    using Products = std::vector<std::pair<std::size_t, std::size_t>>;

    /// Return the products in each row of a thread; nothing for a row that is never stored.
    std::vector<std::optional<Products>> stored_rows(const Window& window) const {
        const std::size_t size = shape_.size;
        std::vector<Products> sums(size);
        std::vector<std::optional<Products>> stored(window.rows);
        for (std::size_t r = 0; r < window.rows + size - 1; ++r) {
            for (std::size_t k = 0; k < size && (k <= r || window.upwards); ++k) {
                const std::size_t y = window.upwards ? r + k : r - k;
                if (y >= window.rows) continue;
                if (k == 0 && window.begins_at_0) sums[y % size].clear();
                const std::size_t last = (window.rows + size - 2) / window.held_for * window.held_for,
                                  next = (r + window.held_for - 1) / window.held_for * window.held_for;
                std::size_t used = std::min(next, last) + window.ahead;
                while (window.ring && used > window.loaded) used -= window.ring;
                sums[y % size].emplace_back(k, used);
            }
            const auto done = static_cast<std::int64_t>(r) - static_cast<std::int64_t>(size) + 1 - window.late;
            if (done < 0 || done >= static_cast<std::int64_t>(window.rows)) continue;
            const auto row = static_cast<std::size_t>(done);
            stored[row] = sums[(row + window.shift) % size];
        }
        return stored;
    }

    bool gives_window(const Window& window) const {
        const std::vector<std::optional<Products>> stored = stored_rows(window);
        return gives([&](std::size_t i) {
            const std::size_t x = i % shape_.width, y = i / shape_.width, top = y / window.rows * window.rows;
            if (!stored[y - top]) return before[i];
            const std::size_t last = std::min(window.rows, shape_.height - top) + shape_.size - 2;
            float total = 0;
            for (const auto& [k, r] : *stored[y - top])
                for (std::size_t c = 0; c < shape_.size; ++c)
                    total += weights_[k * shape_.size + c] *
                             pixel(static_cast<std::int64_t>((top + std::min(r, last)) * shape_.pitch() + x + c));
            return total;
        });
    }

    static Mistake wrong_pixels(const std::string& message) {
        return {
            "wrong_rows_used", message,
            "Row r of a thread's pixels is in coming[r % AHEAD] until row r + AHEAD is loaded to the same place: which "
            "place does the code use in step r, and which row does it load next?"};
    }

    /// A row of the window is stored too early or too late, from another row's sums, or its sums do not begin at 0.
    Guess try_window() {
        if (situation_.stage < first_with_strips || shape_.size < 2) return {};
        const auto off = [](int late) {
            return fmt::format("{} {} too {}", std::abs(late), std::abs(late) == 1 ? "step" : "steps",
                               late < 0 ? "early" : "late");
        };
        for (const std::size_t rows : {8, 4, 16, 2, 32}) {
            for (const int late : {-1, 1, -2, 2, 3, 4})
                if (gives_window({.rows = rows, .late = late}))
                    return Mistake{
                        "stored_at_wrong_step",
                        sentence("Every row of out is stored {}, by threads that compute {} rows each: {}.", off(late),
                                 rows,
                                 late < 0 ? "its last products are not in its sum yet"
                                          : "its sum has been overwritten by that of a later row"),
                        "Row r of a thread's pixels completes row r - 4 of out: store it in this step. Before, its sum "
                        "lacks products; after, its place in the array belongs to row r + 1."};
            for (std::size_t shift = 1; shift < shape_.size; ++shift)
                if (gives_window({.rows = rows, .shift = shift}))
                    return Mistake{
                        "wrong_window_row",
                        sentence("Each row of out gets the sums of the row {} further down, which are incomplete.",
                                 shift),
                        "The sums of row y of out are in sums[y % 5]: does the code store the sums of the row that is "
                        "complete?"};
            for (const std::size_t ahead : {1, 2, 3})
                if (gives_window({.rows = rows, .ahead = ahead}))
                    return wrong_pixels(sentence("Each row of the filter gets the pixels {} further down.",
                                                 format_plural(ahead, "row")));
            for (const std::size_t held_for : {3, 2, 4})
                if (gives_window({.rows = rows, .held_for = held_for}))
                    return wrong_pixels(
                        sentence("The same row of pixels is used {} times, and others never.", held_for));
            if (gives_window({.rows = rows, .upwards = true}))
                return Mistake{
                    "wrong_window_row",
                    "The product of row r of the pixels and row k of the filter is added to row r + k of out.",
                    "Row y of out needs rows y to y + 4 of the pixels: to which row of out does row r "
                    "contribute, with row k of the filter?"};
            if (Guess guess = try_last_rows(rows)) return guess;
            if (gives_window({.rows = rows, .begins_at_0 = false}))
                return Mistake{"sum_not_cleared",
                               "Each row's sums still contain those of the row 5 further up, which used the same place "
                               "in the array.",
                               "A row's sums begin at 0 with row 0 of the filter: when k is 0."};
            if (Guess guess = try_rows_skipped(rows)) return guess;
            if (Guess guess = try_sums_by_filter_row(rows)) return guess;
        }
        return {};
    }

    /// Sums are indexed by the row of the filter. Row 0 of the filter begins its sum at 0, and no other row begins one.
    Guess try_sums_by_filter_row(std::size_t rows) const {
        constexpr float unset = 1e30f;
        if (!gives([&](std::size_t i) {
                const std::size_t x = i % shape_.width, y = i / shape_.width, row = y % rows;
                if (row % shape_.size) return std::abs(actual[i]) < unset ? beyond : actual[i];
                const std::size_t used = y - row + std::min(row + shape_.size, rows) - 1;
                float total = 0;
                for (std::size_t c = 0; c < shape_.size; ++c)
                    total += weights_[c] * pixel(static_cast<std::int64_t>(used * shape_.pitch() + x + c));
                return total;
            }))
            return {};
        return Mistake{
            "wrong_window_row",
            sentence("Row 0 of every {} rows of out holds the products of one row of the filter, the first, and other "
                     "rows contain a value that was never set.",
                     rows),
            "The products of one row of out belong in one sum, whichever row k of the filter they come from: does the "
            "index of the sums depend on k alone?"};
    }

    /// The last rows of a thread's pixels are never loaded into the ring.
    Guess try_last_rows(std::size_t rows) const {
        const std::size_t needed = rows + shape_.size - 1;
        for (std::size_t ring = may_have_ring_ ? 4 : 0; ring > 0; --ring)
            for (std::size_t loaded = ring; loaded < needed; ++loaded)
                if (gives_window({.rows = rows, .ring = ring, .loaded = loaded - 1}))
                    return wrong_pixels(
                        sentence("Of the {} rows of pixels that a thread needs for {} rows of out, only the first {} "
                                 "are loaded: in place of a later row, an earlier one is used.",
                                 needed, rows, loaded));
        return {};
    }

    /// Some rows of a thread are never added up: the results of earlier rows at the same place in the array are stored,
    /// or what the array held before it was set.
    Guess try_rows_skipped(std::size_t rows) const {
        constexpr float unset = 1e30f;
        constexpr std::size_t min_earlier = 8;
        const std::size_t size = shape_.size;
        std::size_t earlier = 0, skipped = rows;
        for (std::size_t i = first; i < actual.size(); ++i) {
            if (!is_wrong(i)) continue;
            const std::size_t y = i / shape_.width % rows;
            const bool is_earlier = y >= size && fits(i, right[i - size * shape_.width]);
            if (!is_earlier && std::abs(actual[i]) < unset) return {};
            earlier += is_earlier;
            if (is_earlier) skipped = std::min(skipped, y);
        }
        if (earlier < min_earlier) return {};
        return Mistake{
            "row_never_added",
            sentence("Row {} of a thread's {} rows of out, counted from 0, holds the results of the row {} further up, "
                     "which used the same place in the array: its own products are never added.",
                     skipped, rows, size),
            "All rows of a thread from 0 to ROWS - 1 get products: for which rows does the condition in front of the "
            "sums skip them?"};
    }

    // --- places in the image ---

    Guess try_places() {
        const auto pitch = static_cast<std::int64_t>(shape_.pitch()), width = static_cast<std::int64_t>(shape_.width);
        for (const std::int64_t wrong : {width, pitch + 1, pitch - 1, pitch - 2, pitch + 4}) {
            if (!gives(with_places([=](auto x, auto y, auto r, auto c) { return (y + r) * wrong + x + c; }))) continue;
            return Mistake{"wrong_pitch",
                           fmt::format("The image is read as if its rows were {} pixels apart; they are {} apart, "
                                       "width + 4.",
                                       format_count(static_cast<std::size_t>(wrong)), format_count(shape_.pitch())),
                           "image is wider than out by its border: row y begins at y * (width + 4)."};
        }
        const auto size = static_cast<std::int64_t>(shape_.size);
        for (const std::int64_t wrong : {size, width}) {
            if (!gives(with_places([=](auto x, auto y, auto r, auto c) { return y * pitch + r * wrong + x + c; })))
                continue;
            return Mistake{
                "wrong_pitch",
                fmt::format("The {} rows that a pixel needs are read {} elements apart; in image, they are {} "
                            "apart, width + 4.",
                            size, format_count(static_cast<std::size_t>(wrong)), format_count(shape_.pitch())),
                "Row r of the filter belongs to row y + r of image: by what is r multiplied in the index "
                "into image, and by what in the index into the weights?"};
        }
        for (const std::int64_t strip : {8, 4, 16, 32})
            if (may_have_strips_ && gives(with_places([=](auto x, auto y, auto r, auto c) {
                    return y / strip * strip * width + (y % strip + r) * pitch + x + c;
                })))
                return Mistake{
                    "wrong_pitch",
                    sentence("Strips of {} rows begin as if the rows of image were {} pixels apart, as those of out; "
                             "they are {} apart, width + 4.",
                             static_cast<std::size_t>(strip), shape_.width, shape_.pitch()),
                    "Which line computes where a thread's first row begins in image, and by what does it multiply the "
                    "row's number?"};
        if (Guess guess = try_swapped_components()) return guess;
        if (Guess guess = match(
                {{{"comma_index",
                   "Every row of the output is computed from the first rows of the image: the index does not depend on "
                   "the row.",
                   "Is there an index such as image[y, x]? In C++ the comma discards y; write image[y * pitch + "
                   "x]."},
                  with_places([=](auto x, auto, auto, auto c) { return x + c; })},
                 {{"row_forgotten", "Every row of the output is the first one: the index does not depend on y.",
                   "Row y + r of image begins at (y + r) * pitch."},
                  with_places([=](auto x, auto, auto r, auto c) { return r * pitch + x + c; })},
                 {{"comma_index",
                   "The index depends on the filter's column, but not on its row: the same row is read five times.",
                   "Is there an index such as image[r, c]? In C++ the comma discards r; write out the place in the "
                   "row."},
                  with_places([=](auto x, auto y, auto, auto c) { return y * pitch + x + c; })},
                 {{"taps_lost",
                   "The index depends on the filter's row, but not on its column: the same column is read five times.",
                   "The pixel for weight (r, c) lies r rows down and c columns right: is c in the index?"},
                  with_places([=](auto x, auto y, auto r, auto) { return (y + r) * pitch + x; })}}))
            return guess;
        for (const std::size_t group : {4, 2, 8, 16})
            if (may_have_rows_ && shape_.height >= group && gives([&](std::size_t i) {
                    const std::size_t x = i % shape_.width, y = i / shape_.width;
                    return right[index(x, y - y % group)];
                }))
                return Mistake{
                    "rows_equal",
                    sentence("Of every {} pixels one below the other, all have the value of the first one.", group),
                    "A thread that computes several rows has a sum for each: which of them is stored in row "
                    "k, and which pixels does each add?"};
        for (const std::size_t group : {4, 2, 8})
            if (shape_.width >= group && gives([&](std::size_t i) {
                    const std::size_t x = i % shape_.width;
                    return right[i - x % group];
                }))
                return Mistake{
                    "neighbours_equal",
                    sentence("Of every {} neighbours in a row, all have the value of the first one.", group),
                    "A thread that computes several neighbours reads different pixels for each: the j-th pixel needs "
                    "those from column j on."};
        for (const Block block : common_shapes) {
            const auto bx = static_cast<std::int64_t>(block.x), by = static_cast<std::int64_t>(block.y);
            const std::pair<const char*, bool> directions[] = {{"x", true}, {"y", false}};
            for (const auto& [name, across] : directions)
                if (shape_.width > block.x && shape_.height > block.y &&
                    gives(with_places([=, across = across](auto x, auto y, auto r, auto c) {
                        return ((across ? y : y % by) + r) * pitch + (across ? x % bx : x) + c;
                    })))
                    return Mistake{
                        "block_index_forgotten",
                        sentence("Every block of {} x {} pixels shows the pixels of the first block of its {}.", bx, by,
                                 across ? "row" : "column"),
                        sentence(
                            "Where a block's tile begins depends on blockIdx.x and on blockIdx.y: which of the two "
                            "is missing in the index into image? Here, blockIdx.{} has no influence.",
                            name)};
            if (gives(with_places([=](auto x, auto y, auto r, auto c) { return (y % by + r) * pitch + x % bx + c; })))
                return Mistake{"block_index_forgotten",
                               sentence("Every block of {} x {} pixels shows the picture's first one.", bx, by),
                               "Where a block's tile begins depends on blockIdx."};
        }
        return {};
    }

    /// Two of every four neighbours are exchanged: a vector's components are in the wrong order.
    Guess try_swapped_components() {
        constexpr std::size_t four = 4;
        if (!may_have_vectors_) return {};
        for (std::size_t a = 0; a < four; ++a)
            for (std::size_t b = a + 1; b < four; ++b)
                if (gives([&](std::size_t i) {
                        const std::size_t x = i % shape_.width, k = x % four;
                        if (x / four * four + four > shape_.width || (k != a && k != b)) return right[i];
                        return right[i - k + (k == a ? b : a)];
                    }))
                    return Mistake{
                        "components_exchanged",
                        sentence("Of every four neighbours in a row, numbers {} and {} are exchanged, counted from 0.",
                                 a, b),
                        "A vector's x, y, z and w are neighbours, in this order: compare the lines that fill and store "
                        "vectors."};
        return {};
    }

    Guess try_shifts() {
        const auto pitch = static_cast<std::int64_t>(shape_.pitch()),
                   max_shift = static_cast<std::int64_t>(shape_.size) - 1;
        for (std::int64_t dy = -max_shift; dy <= max_shift; ++dy)
            for (std::int64_t dx = -max_shift; dx <= max_shift; ++dx)
                if (gives(
                        with_places([=](auto x, auto y, auto r, auto c) { return (y + dy + r) * pitch + x + dx + c; })))
                    return Mistake{
                        "halo_shifted",
                        sentence("The picture is shifted: every pixel is computed from pixels that are {}.",
                                 describe_shift(dx, dy)),
                        "Pixel (0, 0) of out takes image rows and columns 0 to 4: the two extra pixels on each side "
                        "are in image already, so do not add or subtract anything for the halo."};
        if (Guess guess = try_ring()) return guess;
        return try_rows_of_threads();
    }

    /// A row that is loaded ahead overwrites a row that is still needed.
    Guess try_ring() const {
        if (!may_have_ring_) return {};
        const auto pitch = static_cast<std::int64_t>(shape_.pitch()), height = static_cast<std::int64_t>(shape_.height),
                   more = static_cast<std::int64_t>(shape_.size) - 1;
        for (const std::int64_t strip : {8, 4, 6, 10, 12, 16})
            for (const std::int64_t ahead : {3, 1, 2, 4})
                if (gives(with_places([=](auto x, auto y, auto r, auto c) {
                        const auto top = y / strip * strip, row = y % strip + r, coming = row + ahead;
                        const auto last = std::min(strip, height - top) + more - 1;
                        return (top + (coming < strip + more ? std::min(coming, last) : row)) * pitch + x + c;
                    })))
                    return Mistake{
                        "ring_overwritten",
                        sentence("Rows of image are used {} too early: in place of row r, row r + {} is added, in "
                                 "strips of {} rows.",
                                 ahead == 1 ? "one step" : fmt::format("{} steps", ahead), ahead, strip),
                        "The requested row overwrites row r in the ring. Copy row r before you request row r "
                        "+ AHEAD."};
        return {};
    }

    /// Each thread computes several rows, but begins to read at the row with its own number.
    Guess try_rows_of_threads() const {
        const auto pitch = static_cast<std::int64_t>(shape_.pitch());
        for (const std::int64_t threads : {8, 16, 4, 2})
            for (const std::int64_t rows : {4, 2, 8})
                if (gives(with_places([=](auto x, auto y, auto r, auto c) {
                        const auto height = threads * rows, in_block = y % height;
                        return (y / height * height + in_block / rows + in_block % rows + r) * pitch + x + c;
                    })))
                    return Mistake{"thread_rows_overlap",
                                   sentence("Threads one below the other read rows that are one apart, although each "
                                            "computes {} rows, in blocks of {} rows of threads.",
                                            rows, threads),
                                   "Thread row threadIdx.y begins at row threadIdx.y * ROWS of the tile: is * ROWS "
                                   "there wherever the tile is read?"};
        return {};
    }

    static std::string describe_shift(std::int64_t dx, std::int64_t dy) {
        const auto distance = [](std::int64_t by, const char* unit, const char* direction) {
            return format_plural(static_cast<std::size_t>(std::abs(by)), unit) + " too far " + direction;
        };
        const std::string across = distance(dx, "column", dx < 0 ? "to the left" : "to the right");
        const std::string down = distance(dy, "row", dy < 0 ? "up" : "down");
        if (dy == 0) return across;
        return dx == 0 ? down : across + " and " + down;
    }

    Guess try_transposed() {
        const auto pitch = static_cast<std::int64_t>(shape_.pitch());
        const std::size_t width = shape_.width, height = shape_.height;
        const bool is_flat = width == 1 || height == 1;
        if (Guess guess = try_sizes_exchanged()) return guess;
        if (Guess guess = try_rows_height_apart()) return guess;
        if (Guess guess = try_tiles_transposed()) return guess;
        return match(
            {{{"transposed", "The image is read with rows and columns exchanged.",
               "x counts columns and y rows: pixel (x, y) is at y * pitch + x."},
              with_places([=](auto x, auto y, auto r, auto c) { return (x + c) * pitch + y + r; })},
             {{"transposed", sentence("The output is written column by column: pixel (x, y) is at x * {} + y.", height),
               "out is stored row by row: pixel (x, y) is at y * width + x."},
              [&](std::size_t i) { return is_flat ? right[i] : right[index(i / height, i % height)]; }},
             {{"transposed", "The output holds the picture with rows and columns exchanged.",
               "x counts columns and y rows: threadIdx.x belongs to x, threadIdx.y to y."},
              [&](std::size_t i) {
                  const std::size_t x = i % width, y = i / width;
                  return is_flat ? right[i] : x < height && y < width ? right[index(y, x)] : before[i];
              }}});
    }

    /// The kernel uses height in place of width, and width in place of height.
    Guess try_sizes_exchanged() const {
        const std::size_t width = shape_.width, height = shape_.height;
        if (width == height) return {};
        const auto pitch = static_cast<std::int64_t>(height + shape_.size - 1);
        const auto round_up = [](std::size_t count, std::size_t to) { return (count + to - 1) / to * to; };
        const Value value = [&](std::size_t i) {
            const auto x = static_cast<std::int64_t>(i % height), y = static_cast<std::int64_t>(i / height);
            return sum([&](std::size_t r, std::size_t c) { return weights_[r * shape_.size + c]; },
                       [&](std::size_t r, std::size_t c) {
                           return (y + static_cast<std::int64_t>(r)) * pitch + x + static_cast<std::int64_t>(c);
                       });
        };
        for (const Block block : common_shapes)
            if (gives([&](std::size_t i) {
                    const bool has_thread =
                        i % height < round_up(width, block.x) && i / height < round_up(height, block.y);
                    return has_thread ? value(i) : before[i];
                }))
                return Mistake{
                    "sizes_exchanged",
                    sentence("The picture is handled as if it were {} pixels wide and {} high; it is {} x {}.", height,
                             width, width, height),
                    "Are width and height exchanged, in the launch's arguments or in the kernel's "
                    "parameters? The order must be the same in both."};
        return {};
    }

    /// Rows of out are `height` pixels apart: if they overlap, any of the pixels may be the last one written.
    Guess try_rows_height_apart() const {
        const std::size_t width = shape_.width, height = shape_.height;
        if (width == height || height == 1 || width == 1) return {};
        for (std::size_t i = 0; i < actual.size(); ++i) {
            bool fits_one = false, has_one = false;
            for (std::size_t x = i % height; x < std::min(width, i + 1) && !fits_one; x += height) {
                if ((i - x) / height >= height) continue;
                has_one = true;
                fits_one = fits(i, right[index(x, (i - x) / height)]);
            }
            if (has_one ? !fits_one : !fits(i, before[i])) return {};
        }
        return Mistake{"wrong_pitch",
                       sentence("out is written as if its rows were {} pixels apart, its height; they are {} apart.",
                                height, width),
                       "Row y begins after y rows of width pixels: pixel (x, y) is at y * width + x."};
    }

    /// Threads read the tile with rows and columns exchanged. Tiles at the far edges are not full.
    Guess try_tiles_transposed() const {
        for (const Block block : common_shapes) {
            const std::size_t side = block.x, whole_x = shape_.width / side * side,
                              whole_y = shape_.height / side * side;
            if (block.y != side || first % shape_.width >= whole_x || first / shape_.width >= whole_y) continue;
            if (gives([&](std::size_t i) {
                    const std::size_t x = i % shape_.width, y = i / shape_.width;
                    if (x >= whole_x || y >= whole_y) return actual[i];
                    return right[index(x / side * side + y % side, y / side * side + x % side)];
                }))
                return Mistake{"transposed",
                               sentence("In every tile of {} x {} pixels rows and columns are exchanged.", side, side),
                               "A tile is stored as it is read: tile[row][column], so threadIdx.y belongs to the first "
                               "index and threadIdx.x to the second."};
        }
        return {};
    }

    // --- the rest ---

    Guess try_values() {
        const std::size_t middle = shape_.size / 2;
        const Problem* previous = situation_.previous;
        const bool has_previous = previous && previous->arrays[out].count() == right.size();
        const auto old = (has_previous ? *previous : situation_.problem).arrays[out].as<float>();
        return match(
            {{{"not_filtered", "The output is the image itself, without any filter.",
               "A pixel is the sum of 25 products."},
              with_weights([=](std::size_t r, std::size_t c) { return r == middle && c == middle ? 1.f : 0.f; })},
             {{"truncated", "Every pixel is truncated to a whole number.", "Add up and store floats, without an int."},
              [&](std::size_t i) { return std::trunc(right[i]); }},
             {{"added_to_garbage", "Every pixel is the right one plus what out held before the call.",
               "out holds garbage before the call: assign with =, not +=."},
              [&](std::size_t i) { return right[i] + before[i]; }},
             {stale_result("out holds the picture", "the image has"), [&](std::size_t i) { return old[i]; }}});
    }

    /// If the sum is stored in an integer, each product loses less than 1.
    Guess try_whole_numbers() {
        double furthest = 0;
        for (std::size_t i = 0; i < actual.size(); ++i) {
            if (std::trunc(actual[i]) != actual[i]) return {};  // NaN, too
            furthest = std::max(furthest, std::abs(static_cast<double>(actual[i]) - right[i]));
        }
        if (furthest > static_cast<double>(weights_.size()) + 1) return {};
        return Mistake{
            "truncated",
            sentence("Every pixel is a whole number, and differs from the right one by up to {:.1f}.", furthest),
            "Is the sum, or the variable that stores it, an int or an unsigned char? Then each product that is "
            "added to it is truncated to a whole number: add up and store floats."};
    }

    // --- the right and lower edges of the picture, where reads exceed the size of out ---

    Guess try_far_edges() {
        const std::size_t rim = shape_.size - 1, width = shape_.width, height = shape_.height;
        if (rim == 0 || width <= 2 * rim || height <= 2 * rim) return {};
        const bool columns = is_wrong(index(width - rim, 0)), rows = is_wrong(index(0, height - rim));
        if (!all_wrong([&](std::size_t i) {
                return (columns && i % width + rim >= width) || (rows && i / width + rim >= height);
            }))
            return {};
        return Mistake{
            "edge_cut_off",
            sentence("Only the last {} {} of out are wrong: those that read image beyond out's own size.", rim,
                     columns && rows ? "columns and rows"
                     : columns       ? "columns"
                                     : "rows"),
            "image has width + 4 columns and height + 4 rows, and out's last pixels read all of them: compare a place "
            "in image with these, not with width and height."};
    }

    // --- tiles with a part that was never loaded: exactly the pixels that read it are wrong ---

    Guess try_halo() {
        const std::size_t radius = may_have_tile_ ? shape_.size / 2 : 0;
        for (const Block block : common_shapes) {
            if (radius == 0 || block.x > shape_.width || block.y > shape_.height) continue;
            if (Guess guess = try_missing_regions(block, radius, radius)) return guess;
            if (Guess guess = try_missing_regions(block, 0, 2 * radius)) return guess;
            if (Guess guess = try_short_load(block)) return guess;
        }
        return {};
    }

    /// In the tile, `before` rows and columns of halo precede the block's own pixels, and `after` follow them.
    Guess try_missing_regions(Block block, std::size_t before, std::size_t after) const {
        if (block.x <= before + after || block.y <= before + after) return {};
        const std::size_t right = block.x - after, low = block.y - after;
        const std::pair<const char*, Missing> regions[] = {
            {"the rows above", [=](std::size_t i, std::size_t) { return i < before; }},
            {"the rows below", [=](std::size_t i, std::size_t) { return i >= low; }},
            {"the columns on the left", [=](std::size_t, std::size_t j) { return j < before; }},
            {"the columns on the right", [=](std::size_t, std::size_t j) { return j >= right; }},
            {"the upper left corner", [=](std::size_t i, std::size_t j) { return i < before && j < before; }},
            {"the upper right corner", [=](std::size_t i, std::size_t j) { return i < before && j >= right; }},
            {"the lower left corner", [=](std::size_t i, std::size_t j) { return i >= low && j < before; }},
            {"the lower right corner", [=](std::size_t i, std::size_t j) { return i >= low && j >= right; }}};
        std::vector<Missing> missing;
        std::vector<std::string> sides, corners;
        for (std::size_t k = 0; k < std::size(regions); ++k) {
            if (!nearly_all_wrong(block, regions[k].second)) continue;
            missing.push_back(regions[k].second);
            (k < 4 ? sides : corners).push_back(regions[k].first);
        }
        if (!are_exactly_wrong(block, [&](std::size_t i, std::size_t j) {
                return std::any_of(missing.begin(), missing.end(), [&](const Missing& part) { return part(i, j); });
            }))
            return {};
        const bool is_single = sides.empty() && corners.size() == 1;
        return Mistake{
            sides.empty() ? "corner_missing" : "halo_missing",
            sentence("In every tile of {} x {} pixels {} of the halo {} never loaded: only those pixels are wrong that "
                     "read {}.",
                     block.x, block.y, list_words(sides.empty() ? corners : sides), is_single ? "is" : "are",
                     is_single ? "it" : "them"),
            sides.empty()
                ? "The halo has four sides and four corners: pixels near a tile's corner read the corners, too."
                : "The tile is larger than the block by two pixels on each side. Step through it by the block's size "
                  "until it is full, instead of giving each thread one pixel."};
    }

    static std::string list_words(const std::vector<std::string>& words) {
        std::string list;
        for (std::size_t k = 0; k < words.size(); ++k)
            list += (k == 0 ? "" : k + 1 == words.size() ? " and " : ", ") + words[k];
        return list;
    }

    /// Each thread loaded one pixel. If the threads take the pixels in the tile's order, those after the last thread's
    /// are missing. If each takes its own row and column, in blocks of `threads` / block.x rows, those further down or
    /// to the right are missing.
    Guess try_short_load(Block block) const {
        const std::size_t last = shape_.size - 1, tile_x = block.x + last, tile_y = block.y + last;
        for (std::size_t threads = block.x * block.y; threads >= 64; threads /= 2) {
            const std::size_t rows = threads / block.x;
            const std::pair<std::string, Missing> loads[] = {
                {sentence("{} are loaded, one for each thread.", threads),
                 [=](std::size_t i, std::size_t j) { return (i + last) * tile_x + j + last >= threads; }},
                {sentence("{} x {} are loaded, one for each thread.", block.x, rows),
                 [=](std::size_t i, std::size_t j) { return i + last >= rows || j + last >= block.x; }},
                {sentence("{} rows are loaded.", rows), [=](std::size_t i, std::size_t) { return i + last >= rows; }}};
            for (const auto& [words, reads] : loads)
                if (are_exactly_wrong(block, reads))
                    return Mistake{"tile_incomplete",
                                   sentence("Of every tile of {} x {} pixels only the first {}", tile_x, tile_y, words),
                                   "A tile has more pixels than the block has threads: let each thread load several, a "
                                   "block's size apart, until the tile is full."};
        }
        return {};
    }

    /// Return whether almost all pixels that read this part are wrong (a few may be right by chance).
    bool nearly_all_wrong(Block block, const Missing& reads) const {
        std::size_t tested = 0, wrong = 0;
        std::vector<std::size_t> tested_in_row(block.y), wrong_in_row(block.y);
        const std::size_t step = std::max<std::size_t>(1, shape_.pixels() / 20000) | 1;
        for (std::size_t i = 0; i < shape_.pixels(); i += step) {
            const std::size_t x = i % shape_.width, y = i / shape_.width, row = y % block.y;
            if (!reads(row, x % block.x)) continue;
            const bool is_off = is_wrong(i);
            ++tested, ++tested_in_row[row];
            wrong += is_off, wrong_in_row[row] += is_off;
        }
        for (std::size_t row = 0; row < block.y; ++row)
            if (wrong_in_row[row] == 0 && tested_in_row[row] >= 8) return false;  // not by chance
        return tested > 0 && wrong * 20 >= tested * 19;
    }

    /// Return whether exactly the pixels that read this part are wrong, and these are at most 15 in 16.
    bool are_exactly_wrong(Block block, const Missing& reads) const {
        std::size_t right_ones = 0;
        for (std::size_t k = 0; k < block.x * block.y; ++k) right_ones += !reads(k / block.x, k % block.x);
        if (right_ones * 16 < block.x * block.y || !nearly_all_wrong(block, reads)) return false;
        return all_wrong([&](std::size_t i) { return reads(i / shape_.width % block.y, i % shape_.width % block.x); });
    }

    const Situation& situation_;
    Shape shape_;
    std::vector<float> weights_;
    std::span<const float> image_;
    bool may_have_tile_, may_have_rows_, may_have_strips_, may_have_vectors_, may_have_ring_;
};

// --- experiments ---

/// Finds the pixels of the image from which the first wrong pixel of the output is computed.
class Investigation {
  public:
    Investigation(const Oracle& oracle, const Situation& situation)
        : oracle_(oracle),
          problem_(situation.problem),
          shape_(shape_of(problem_)),
          weights_(weights_of(problem_)),
          sums_(oracle, situation, out) {}

    std::string findings(const Experiment& call) {
        const std::string places =
            describe_places(shape_.height, shape_.width, [&](std::size_t i) { return sums_.is_wrong(i); });
        const std::string places_text = places.empty() ? "" : sentence("Wrong pixels are in {}. ", places);
        if (const std::string moved = find_moved(); !moved.empty()) return places_text + moved;
        constexpr std::size_t max_wrong = 60;
        const auto taps = find_taps({oracle_, problem_, {image}, out, sums_.first}, call, max_wrong);
        if (!taps) return places_text;
        if (taps->constant != 0)
            return places_text +
                   sentence("If all pixels of image are 0, out[{}] is {:.6g}, and not 0{}.", sums_.first,
                            taps->constant,
                            std::string(taps->constant < -1e38 ? ": a variable that was never set holds this" : ""));
        std::map<std::size_t, std::map<std::size_t, Tap>> by_row;
        for (const Tap& tap : taps->wrong) by_row[tap.index / shape_.pitch()][tap.index % shape_.pitch()] = tap;
        std::string text;
        std::size_t named = 0;
        for (const auto& [row, wrong] : by_row)
            if (++named <= max_rows) text += (text.empty() ? "" : "; ") + describe_row(row, wrong);
        if (text.empty()) return places_text;
        return places_text + sentence("For out[{}], which is row {}, column {}: {}{}", sums_.first, top(), left(), text,
                                      std::string(taps->complete && named <= max_rows ? "." : ", and so on."));
    }

  private:
    static constexpr std::size_t max_rows = 5;

    /// Return a sentence if the first wrong pixels have the values of other pixels, all equally far away; otherwise "".
    std::string find_moved() const {
        constexpr std::size_t sample = 8;
        std::vector<std::size_t> wrong;
        for (std::size_t i = sums_.first; i < shape_.pixels() && wrong.size() < sample; ++i)
            if (sums_.is_wrong(i)) wrong.push_back(i);
        const auto is_at = [&](std::size_t i, std::size_t other) {
            return other < shape_.pixels() &&
                   std::abs(sums_.right[other] - sums_.actual[i]) <= 1e-5f * std::abs(sums_.right[other]);
        };
        for (std::size_t other = 0; wrong.size() == sample && other < shape_.pixels(); ++other)
            if (std::ranges::all_of(wrong, [&](std::size_t i) { return is_at(i, other + (i - wrong[0])); }))
                return sentence("out[{}], which is row {}, column {}, has the value that belongs to row {}, column {}.",
                                wrong[0], top(), left(), other / shape_.width, other % shape_.width);
        return "";
    }

    std::size_t top() const { return sums_.first / shape_.width; }
    std::size_t left() const { return sums_.first % shape_.width; }

    double right_weight(std::size_t row, std::size_t column) const {
        const std::size_t r = row - top(), c = column - left();  // above or left of the window, a huge number
        return r < shape_.size && c < shape_.size ? static_cast<double>(weights_[r * shape_.size + c]) : 0;
    }

    /// Return the row of the filter that is applied to a row of image; the filter's size if there is none.
    std::size_t filter_row(std::size_t row, const std::map<std::size_t, Tap>& wrong) const {
        for (std::size_t r = 0; r < shape_.size; ++r) {
            const auto is_weight = [&](std::size_t c) {
                const auto tap = wrong.find(left() + c);
                const double weight = tap == wrong.end() ? right_weight(row, left() + c) : tap->second.weight;
                return std::abs(weight - static_cast<double>(weights_[r * shape_.size + c])) < close;
            };
            bool all = true;
            for (std::size_t c = 0; c < shape_.size; ++c) all = all && is_weight(c);
            if (all) return r;
        }
        return shape_.size;
    }

    std::string describe_row(std::size_t row, const std::map<std::size_t, Tap>& wrong) const {
        const bool inside =
            std::ranges::all_of(wrong, [&](const auto& tap) { return tap.first - left() < shape_.size; });  // unsigned
        const bool belongs = row - top() < shape_.size;
        const bool unused = std::ranges::all_of(wrong, [](const auto& t) { return std::abs(t.second.weight) < close; });
        const std::string expected =
            belongs ? sentence("not {}", row - top()) : std::string("although it does not belong to this pixel");
        if (unused && wrong.size() == shape_.size)
            return sentence("row {} of image is not used (it belongs to row {} of the filter)", row, row - top());
        if (const std::size_t r = filter_row(row, wrong); inside && r < shape_.size)
            return sentence("row {} of image is used with row {} of the filter, {}", row, r, expected);
        constexpr std::size_t max_named = 3;
        std::string text;
        std::size_t named = 0;
        for (const auto& [column, tap] : wrong)
            if (++named <= max_named)
                text += sentence("{}column {} has weight {:.4g} instead of {:.4g}",
                                 std::string(text.empty() ? "" : ", "), column, tap.weight, tap.expected);
        return sentence("in row {} of image, {}{}", row, text, std::string(named > max_named ? ", and so on" : ""));
    }

    static constexpr double close = 1e-5;

    const Oracle& oracle_;
    const Problem& problem_;
    const Shape shape_;
    const std::vector<float> weights_;
    const Output<float> sums_;
};

class SmoothingFilter : public Oracle {
  public:
    Problem generate(const Dataset& dataset, std::uint64_t seed, std::size_t extra) const override {
        if (dataset.generator == "picture") return generate_picture(dataset, seed);
        const auto& generator = find_generator(dataset, generators, {"picture"});
        require_only(dataset, {"width", "height", "filter", "filter_size"});
        const auto width = read_size(dataset, "width"), height = read_size(dataset, "height");
        if (width == 0 || height == 0) throw recipe_error(dataset, "a picture has at least one pixel");
        Problem problem = make_problem(static_cast<std::size_t>(width), static_cast<std::size_t>(height),
                                       make_filter(dataset), extra);
        const auto pixels = problem.arrays[image].as<float>();
#pragma omp parallel for
        for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = generator(seed, i);
        return problem;
    }

    void reference(Problem& problem, Execution how) const override {
        const Shape shape = shape_of(problem);
        const Filter filter(weights_of(problem));
        const float* from = problem.arrays[image].as<float>().data();
        float* to = problem.arrays[out].as<float>().data();
#pragma omp parallel for if (how == Execution::openmp)
        for (std::size_t y = 0; y < shape.height; ++y)
            filter.smooth_row(from + y * shape.pitch(), shape.pitch(), to + y * shape.width, shape.width);
    }

    bool reference_part(const Problem& problem, std::size_t, std::size_t first, std::size_t count,
                        Array& part) const override {
        const Shape shape = shape_of(problem);
        const Filter filter(weights_of(problem));
        const float* from = problem.arrays[image].as<float>().data();
        float* to = part.as<float>().data();
        for (std::size_t done = 0; done < count;) {
            const std::size_t x = (first + done) % shape.width, y = (first + done) / shape.width;
            const std::size_t run = std::min(count - done, shape.width - x);
            filter.smooth_row(from + y * shape.pitch() + x, shape.pitch(), to + done, run);
            done += run;
        }
        return true;
    }

    /// The error of a sum of n products, in any order, with or without fused multiply-adds, is at most g S, where S is
    /// the sum of the products' magnitudes, g = n u / (1 - n u), and u = 2^-24 (Higham, Accuracy and Stability of
    /// Numerical Algorithms, section 3.1). The reference is such a sum, too, so the two differ by at most 2 g S;
    /// underflow adds n halves of the smallest float.
    bool accepts(const Problem& problem, std::size_t, std::size_t at, double expected, double actual) const override {
        if (!std::isfinite(expected) || !std::isfinite(actual)) return false;
        const double n = static_cast<double>(problem.reals.size()), u = 0x1p-24;
        const double bound = 2 * n * u / (1 - n * u), difference = std::abs(actual - expected);
        if (difference <= bound * std::abs(expected)) return true;  // S is at least |expected|
        return difference <= bound * magnitude(problem, at) + n * 0x1p-149;
    }

    Cost cost(const Problem& problem) const override {
        const Shape shape = shape_of(problem);
        const double pixels = static_cast<double>(shape.pixels());
        const double bytes = 4.0 * (static_cast<double>(shape.pitch() * shape.rows()) + pixels);
        return {bytes, bytes, 2 * static_cast<double>(problem.reals.size()) * pixels, 1,
                "8 w h: a read and a write of 4 bytes per pixel"};
    }

    std::vector<Hypothesis> hypotheses(const Situation& situation) const override {
        return Explanation(*this, situation).hypotheses();
    }

    std::string investigate(const Situation& situation, const Experiment& call) const override {
        return Investigation(*this, situation).findings(call);
    }

  private:
    /// Return S of accepts(): the sum of |weight * pixel| for one pixel of the output.
    static double magnitude(const Problem& problem, std::size_t at) {
        const Shape shape = shape_of(problem);
        const auto pixels = problem.arrays[image].as<float>();
        const std::size_t x = at % shape.width, y = at / shape.width;
        double total = 0;
        for (std::size_t r = 0; r < shape.size; ++r)
            for (std::size_t c = 0; c < shape.size; ++c)
                total += std::abs(problem.reals[r * shape.size + c] *
                                  static_cast<double>(pixels[(y + r) * shape.pitch() + x + c]));
        return total;
    }
};

}  // namespace

const Oracle* warplab_oracle() {
    static const SmoothingFilter oracle;
    return &oracle;
}

}  // namespace warplab
