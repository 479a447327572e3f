#include "grader/judge/lab/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>

#include "grader/common/text.h"
#include "grader/model/recipe.h"

namespace warplab {
namespace {

enum Buffer { input, bins };

constexpr std::size_t bin_count = 1024;
constexpr std::uint64_t bin_full = 255;

struct Shape {
    std::size_t width, height;

    std::size_t pitch() const { return (width + 128) & ~std::size_t{127}; }
    std::size_t elements() const { return width * height; }
};

Shape shape_of(const Problem& problem) {
    return {static_cast<std::size_t>(problem.sizes[0]), static_cast<std::size_t>(problem.sizes[1])};
}

// --- generators: each fills whole rows, as many as there are; a pool for timing has more than a call ---

struct Rows {
    std::span<std::uint32_t> cells;
    Shape shape;
    std::uint64_t seed;
};

/// Calls set(cell, i) for element i, in parallel and in any order.
template <class Set>
void for_each_element(const Rows& rows, Set&& set) {
    const std::size_t pitch = rows.shape.pitch(), width = rows.shape.width;
#pragma omp parallel for
    for (std::size_t begin = 0; begin < rows.cells.size(); begin += pitch)
        for (std::size_t x = 0; x < std::min(width, rows.cells.size() - begin); ++x)
            set(rows.cells[begin + x], begin / pitch * width + x);
}

/// The C library's srand48 and drand48, with a state of its own: 48 bits, linear congruential.
class Drand48 {
  public:
    explicit Drand48(std::uint64_t seed) : state_((seed & 0xffffffffu) << 16 | 0x330e) {}

    double next() {
        state_ = (state_ * 0x5deece66dull + 0xb) & ((1ull << 48) - 1);
        return static_cast<double>(state_) * 0x1p-48;
    }

  private:
    std::uint64_t state_;
};

/// The lab's source's input. Each element is its left neighbour, or for the first of a row the one above, and a step.
void fill_walk(const Rows& rows, const Dataset& dataset) {
    const auto spread = static_cast<double>(read_size(dataset, "spread", 2));
    const std::size_t pitch = rows.shape.pitch();
    Drand48 random(rows.seed);
    int first = bin_count / 2;
    for (std::size_t begin = 0; begin < rows.cells.size(); begin += pitch) {
        int value = first;
        for (std::size_t x = 0; x < std::min(rows.shape.width, rows.cells.size() - begin); ++x) {
            const double across = random.next() - 0.5, along = random.next() - 0.5;
            value = std::clamp(value + static_cast<int>(across * along * 4 * 2 * spread), 0,
                               static_cast<int>(bin_count) - 1);
            rows.cells[begin + x] = static_cast<std::uint32_t>(value);
            if (x == 0) first = value;
        }
    }
}

/// Any value but one, which the seed draws.
std::uint32_t all_but_one(std::uint64_t seed, std::size_t i) {
    const std::uint64_t hole = random_bits(seed, 2, 0) % bin_count;
    const std::uint64_t value = random_bits(seed, 0, i) % (bin_count - 1);
    return static_cast<std::uint32_t>(value + (value >= hole));
}

void fill_uniform(const Rows& rows, const Dataset&) {
    for_each_element(rows, [&](std::uint32_t& cell, std::size_t i) { cell = all_but_one(rows.seed, i); });
}

/// A few values and no others.
void fill_few(const Rows& rows, const Dataset& dataset) {
    const auto values = static_cast<std::uint64_t>(read_size(dataset, "values"));
    if (values == 0) throw recipe_error(dataset, "\"values\" is at least 1");
    for_each_element(rows, [&](std::uint32_t& cell, std::size_t i) {
        cell = static_cast<std::uint32_t>(random_bits(rows.seed, 3, random_bits(rows.seed, 0, i) % values) % bin_count);
    });
}

/// A few values; others only among the last tenth of the elements.
void fill_late(const Rows& rows, const Dataset&) {
    constexpr std::uint64_t early = 8;
    const std::size_t late = rows.shape.elements() / 10 * 9;
    for_each_element(rows, [&](std::uint32_t& cell, std::size_t i) {
        const std::uint64_t bits = random_bits(rows.seed, 0, i);
        cell = i < late ? static_cast<std::uint32_t>(random_bits(rows.seed, 3, bits % early) % bin_count)
                        : all_but_one(rows.seed, i);
    });
}

/// Every even bin occurs as often as one of these numbers says, and odd ones share what is left over. Shuffled.
void fill_edges(const Rows& rows, const Dataset& dataset) {
    static constexpr std::size_t edges[] = {0, 1, 2, 31, 253, 254, 255, 256, 257, 300, 511, 512};
    const std::size_t elements = rows.shape.elements();
    std::vector<std::uint32_t> values;
    for (std::uint32_t bin = 0; bin < bin_count; bin += 2)
        values.insert(values.end(), edges[(bin / 2 + rows.seed) % std::size(edges)], bin);
    if (values.size() > elements)
        throw recipe_error(
            dataset, fmt::format("{} elements are too few for its counts: {} are needed", elements, values.size()));
    while (values.size() < elements)
        values.push_back(random_bits(rows.seed, 0, values.size()) % (bin_count / 2) * 2 + 1);
    std::size_t factor = elements * 5 / 8 | 1;
    while (std::gcd(factor, elements) != 1) factor += 2;
    for_each_element(rows,
                     [&](std::uint32_t& cell, std::size_t i) { cell = values[i % elements * factor % elements]; });
}

const std::map<std::string, void (*)(const Rows&, const Dataset&)> generators = {
    {"walk", fill_walk}, {"uniform", fill_uniform}, {"few", fill_few}, {"late", fill_late}, {"edges", fill_edges}};

/// "bins": values that are bins, so that counting them shows in the answer. "any": values that mostly are none.
void fill_padding(const Rows& rows, bool any) {
    const std::size_t pitch = rows.shape.pitch();
#pragma omp parallel for
    for (std::size_t begin = 0; begin < rows.cells.size(); begin += pitch)
        for (std::size_t i = begin + rows.shape.width; i < std::min(begin + pitch, rows.cells.size()); ++i)
            rows.cells[i] = static_cast<std::uint32_t>(random_bits(rows.seed, 1, i) >> (any ? 32 : 54));
}

bool read_padding(const Dataset& dataset) {
    const std::string padding = read_word(dataset, "padding", "bins");
    if (padding != "bins" && padding != "any")
        throw recipe_error(dataset, "\"padding\" is \"bins\" or \"any\", not \"" + padding + "\"");
    return padding == "any";
}

// --- references ---

using Counts = std::array<std::uint64_t, bin_count>;
using Bins = std::array<std::uint8_t, bin_count>;

/// Adds what rows [first, end) hold. Into eight copies in turn: a count that was just stored need not be loaded again,
/// where neighbours are alike.
void count_rows(const std::uint32_t* cells, const Shape& shape, std::size_t first, std::size_t end, Counts& counts) {
    constexpr std::size_t copies = 8, most = std::size_t{1} << 31;  // elements before a copy might overflow
    static thread_local std::uint32_t copy[copies][bin_count];
    const std::size_t rows_at_once = std::max<std::size_t>(1, most / std::max<std::size_t>(shape.width, 1));
    for (std::size_t y = first; y < end; y += rows_at_once) {
        for (auto& one : copy) std::fill(std::begin(one), std::end(one), 0u);
        for (std::size_t r = y; r < std::min(end, y + rows_at_once); ++r) {
            const std::uint32_t* row = cells + r * shape.pitch();
            std::size_t x = 0;
            for (; x + copies <= shape.width; x += copies)
                for (std::size_t k = 0; k < copies; ++k) ++copy[k][row[x + k]];
            for (; x < shape.width; ++x) ++copy[0][row[x]];
        }
        for (const auto& one : copy)
            for (std::size_t b = 0; b < bin_count; ++b) counts[b] += one[b];
    }
}

Counts count_sequential(const std::uint32_t* cells, const Shape& shape) {
    Counts counts{};
    count_rows(cells, shape, 0, shape.height, counts);
    return counts;
}

Counts count_openmp(const std::uint32_t* cells, const Shape& shape) {
    constexpr std::size_t rows_at_once = 16;
    Counts counts{};
#pragma omp parallel
    {
        Counts own{};
#pragma omp for nowait
        for (std::size_t y = 0; y < shape.height; y += rows_at_once)
            count_rows(cells, shape, y, std::min(shape.height, y + rows_at_once), own);
#pragma omp critical
        for (std::size_t b = 0; b < bin_count; ++b) counts[b] += own[b];
    }
    return counts;
}

Bins saturate(const Counts& counts) {
    Bins result;
    for (std::size_t b = 0; b < bin_count; ++b) result[b] = static_cast<std::uint8_t>(std::min(counts[b], bin_full));
    return result;
}

// --- what students' mistakes would give ---

constexpr std::size_t most_explained = std::size_t{1} << 25;  // elements

/// The elements in the order of the rows, cut into pieces of a block's size, one step of a block each.
class Pieces {
  public:
    static constexpr std::size_t most = 160;

    Pieces(const std::uint32_t* cells, const Shape& shape, std::size_t block)
        : block_(block),
          count_((shape.elements() + block - 1) / block),
          last_((shape.elements() + block - 1) % block + 1),
          counts_(2 * count_) {
        for (std::size_t y = 0, i = 0; y < shape.height; ++y)
            for (std::size_t x = 0; x < shape.width; ++x, ++i)
                ++counts_[2 * (i / block) + (i % block >= last_)][cells[y * shape.pitch() + x]];
    }

    std::size_t count() const { return count_; }

    /// How often elements are counted that a thread of block `block` takes in its round `round` of `rounds`.
    using Weight = std::function<unsigned(std::size_t block, std::size_t round, std::size_t rounds)>;

    /// The bins that `blocks` blocks fill which take pieces in turn.
    Bins fill(std::size_t blocks, const Weight& weight) const {
        Counts sum{};
        for (std::size_t p = 0; p < count_; ++p)
            for (const bool upper : {false, true}) {
                // Threads from last_ on have no element in the last piece.
                const std::size_t pieces = count_ - upper, block = p % blocks;
                const std::size_t rounds = pieces > block ? (pieces - block - 1) / blocks + 1 : 0;
                const unsigned times = p < pieces ? weight(block, p / blocks, rounds) : 0;
                if (times == 0) continue;
                const auto& own = counts_[2 * p + upper];
                for (std::size_t b = 0; b < bin_count; ++b) sum[b] += times * own[b];
            }
        return saturate(sum);
    }

  private:
    std::size_t block_, count_, last_;                          // last_: elements of the last piece
    std::vector<std::array<std::uint32_t, bin_count>> counts_;  // of each piece, below and from last_ on
};

/// Compares the wrong bins with what each mistake gives, likelier ones first, until one fits.
class Explanation {
  public:
    explicit Explanation(const Situation& situation)
        : shape_(shape_of(situation.problem)),
          cells_(situation.problem.arrays[input].as<std::uint32_t>()),
          right_(bins_of(situation.problem.arrays[bins])),
          actual_(bins_of(situation.actual[bins])),
          before_(bins_of(situation.before[bins])) {
        if (actual_ == right_ || shape_.elements() > most_explained) return;
        counts_ = count_sequential(cells_.data(), shape_);
        if (situation.previous) {
            previous_bins_ = bins_of(situation.previous->arrays[bins]);
            previous_ = count_sequential(situation.previous->arrays[input].as<std::uint32_t>().data(), shape_);
        }
        const auto attempts = {&Explanation::try_empty,    &Explanation::try_kept,       &Explanation::try_extremes,
                               &Explanation::try_overflow, &Explanation::try_cap,        &Explanation::try_padding,
                               &Explanation::try_end_lost, &Explanation::try_columns,    &Explanation::try_components,
                               &Explanation::try_position, &Explanation::try_neighbours, &Explanation::try_blocks,
                               &Explanation::try_full_only};
        for (const auto attempt : attempts)
            if (found_.empty()) (this->*attempt)();
    }

    std::vector<Hypothesis> found() && { return std::move(found_); }

  private:
    static Bins bins_of(const Array& array) {
        Bins copy;
        std::copy_n(array.as<std::uint8_t>().begin(), bin_count, copy.begin());
        return copy;
    }

    void explain(std::string cause, std::string message, std::string hint) {
        const auto predict = [actual = actual_](std::vector<Array>& outputs) {
            std::copy(actual.begin(), actual.end(), outputs[bins].as<std::uint8_t>().begin());
            return true;
        };
        found_.push_back({std::move(cause), std::move(message), std::move(hint), predict});
    }

    /// Whether bins have these counts, saturated.
    bool fits(const Counts& counts) const { return found_.empty() && saturate(counts) == actual_; }
    bool fits(const std::function<std::uint64_t(std::size_t)>& bin) const {
        if (!found_.empty()) return false;
        for (std::size_t b = 0; b < bin_count; ++b)
            if (static_cast<std::uint8_t>(bin(b)) != actual_[b]) return false;
        return true;
    }

    std::size_t first_wrong() const {
        return static_cast<std::size_t>(std::mismatch(right_.begin(), right_.end(), actual_.begin()).first -
                                        right_.begin());
    }

    std::string occurs(std::size_t bin) const {
        if (counts_[bin] == 0) return fmt::format("bin {}, which never occurs", bin);
        return fmt::format("bin {}, which occurs {}", bin, format_plural(counts_[bin], "time"));
    }

    void try_empty() {
        if (shape_.elements() == 0 && actual_ == before_)
            explain("empty_not_written",
                    "Without elements bins still hold what they held before the call: all are to be 0.",
                    "Clear the bins before you return early.");
    }

    void try_kept() {
        const std::size_t b = first_wrong();
        if (previous_bins_ && actual_ == *previous_bins_) {
            explain("stale_result", "The bins are those of the call before, although the input has changed since.",
                    "Nothing may be kept from one call to the next: count what the input holds now.");
            return;
        }
        if (previous_ && fits([&](auto i) { return std::min(counts_[i] + (*previous_)[i], bin_full); })) {
            explain("not_cleared",
                    fmt::format("The counts of the call before are still in the bins: bin {} holds {} of this call and "
                                "{} of the one before.",
                                b, format_count(counts_[b]), format_count((*previous_)[b])),
                    "Bins must be 0 at the beginning of every call, not only of the first: those in shared memory, in "
                    "scratch, and totals kept on the device.");
            return;
        }
        const bool stops = fits(
            [&](auto i) { return std::max<std::uint64_t>(std::min(counts_[i] + before_[i], bin_full), before_[i]); });
        if (stops || fits([&](auto i) { return counts_[i] + before_[i]; }))
            explain("not_cleared",
                    fmt::format("Bins begin with what they held before the call: bin {} held {}, and {} more were "
                                "counted.",
                                b, before_[b], format_count(counts_[b])),
                    "bins holds garbage before the call: set it to 0, in every call, before the first thread counts.");
    }

    void try_extremes() {
        const std::size_t b = first_wrong();
        if (fits([](std::size_t) { return bin_full; }))
            explain("all_full", fmt::format("Every bin is 255, also {}.", occurs(b)),
                    "Do counters of 32 bits begin with 0, in every call? scratch and shared memory hold garbage. And "
                    "nobody may conclude from some bins that are full that all are.");
        if (fits([](std::size_t) { return 0; }))
            explain(
                "nothing_counted", fmt::format("Every bin is 0, also {}.", occurs(b)),
                "Is the counting kernel launched, do its blocks write their counts where the narrowing kernel reads "
                "them, and does a thread that has too few elements for a whole step count them one by one?");
    }

    void try_overflow() {
        const auto overflowed = std::find_if(counts_.begin(), counts_.end(), [](auto c) { return c > bin_full; });
        const auto b = static_cast<std::size_t>(overflowed - counts_.begin());
        if (b < bin_count && fits([&](std::size_t i) { return counts_[i] % 256; }))
            explain("wraps_around",
                    fmt::format("Bins do not saturate: bin {} occurs {} times and holds {}, which is {} modulo 256.", b,
                                format_count(counts_[b]), actual_[b], format_count(counts_[b])),
                    "Eight bits go back to 0 after 255. Count in 32 bits and take the smaller of count and 255 before "
                    "it is narrowed; or, alone, count on only below 255.");
        if (fits([&](std::size_t i) { return std::min<std::uint64_t>(counts_[i], 256); }))
            explain("wrong_cap", "Full bins hold 0: they stop at 256, and 256 in 8 bits is 0.",
                    "The most that a bin holds is 255.");
    }

    void try_cap() {
        const std::uint64_t cap = *std::max_element(actual_.begin(), actual_.end());
        if (cap < bin_full && cap > 0 && fits([&](std::size_t i) { return std::min(counts_[i], cap); }))
            explain("wrong_cap", fmt::format("Bins stop at {}, and are right below.", cap),
                    "The most that a bin holds is 255: is the comparison with < where it should be <=, or with another "
                    "number?");
    }

    /// What the first `columns` of each of the first `rows` rows hold, rows a given distance apart.
    Counts count_cells(std::size_t columns, std::size_t rows, std::size_t distance) const {
        Counts counts{};
        for (std::size_t y = 0; y < rows; ++y)
            for (std::size_t x = 0; x < columns; ++x) {
                const std::size_t at = y * distance + x;
                if (at < cells_.size() && cells_[at] < bin_count) ++counts[cells_[at]];
            }
        return counts;
    }

    void try_padding() {
        const std::size_t b = first_wrong(), pitch = shape_.pitch();
        for (const std::size_t columns : {pitch, shape_.width + 1, (shape_.width + 3) / 4 * 4})
            if (columns > shape_.width && fits(count_cells(columns, shape_.height, pitch)))
                explain("padding_counted",
                        fmt::format("Padding is counted: of every row {} elements, and there are {}. Bin {} holds {} "
                                    "instead of {}.",
                                    format_count(columns), format_count(shape_.width), b, actual_[b], right_[b]),
                        "Rows are pitch elements apart, and only the first width of them count: the padding after them "
                        "holds anything.");
        if (fits(count_cells(shape_.width, shape_.height, shape_.width)))
            explain("wrong_pitch",
                    fmt::format("Rows are read {} elements apart; they are {} apart.", format_count(shape_.width),
                                format_count(pitch)),
                    "Row y begins at input[y * pitch], not at y * width: the padding lies between the rows.");
    }

    /// Takes elements away from the end, until the bins fit: those that do are between two numbers.
    void try_end_lost() {
        Counts counts = counts_;
        std::size_t wrong = 0;
        for (std::size_t b = 0; b < bin_count; ++b) wrong += actual_[b] != right_[b];
        for (std::size_t b = 0; b < bin_count; ++b)
            if (actual_[b] > right_[b]) return;
        std::size_t most = 0, least = 0;
        for (std::size_t n = shape_.elements(); n-- > 0;) {
            const std::uint32_t v = cells_[n / shape_.width * shape_.pitch() + n % shape_.width];
            if (--counts[v] >= bin_full) continue;
            if (counts[v] < actual_[v]) break;
            wrong -= counts[v] == actual_[v];
            if (wrong > 0) continue;
            if (most == 0) most = n;
            least = n;
        }
        if (most > 0) explain_end_lost(least, most);
    }

    /// The number of elements that were counted is one of least … most: after whole steps, where they all fit but the
    /// last, or wherever it was that all bins seemed full.
    void explain_end_lost(std::size_t least, std::size_t most) {
        const std::size_t n = shape_.elements();
        const std::string only = fmt::format(" of {} elements are counted", format_count(n));
        for (const std::size_t step : {12288, 8192, 6144, 4096, 3072, 2048, 1024, 512, 256, 128, 64, 32, 12, 4}) {
            const std::size_t counted = most / step * step;
            if (counted < least || counted == 0 || n - counted >= step) continue;
            explain("tail_lost",
                    fmt::format("Only the first {}{} ({} = {} x {}); the {} after the last whole step are lost.",
                                format_count(counted), only, format_count(counted), format_count(counted / step), step,
                                format_count(n - counted)),
                    "What is left over after whole steps, slices or blocks is to be counted, too: by a loop of its "
                    "own, or behind a test of every element's number.");
            return;
        }
        const Counts counts = count_first(most);
        if (std::all_of(counts.begin(), counts.end(), [](auto c) { return c == 0 || c >= bin_full; }))
            explain("stopped_early",
                    fmt::format("Only the first {}{}: up to there all bins that had occurred were full.",
                                format_count(most), only),
                    "A value that has not occurred yet may still come: a bin that is 0 is not full.");
        else
            explain("tail_lost", fmt::format("Only the first {}{}.", format_count(most), only),
                    "Which thread takes the last elements?");
    }

    Counts count_first(std::size_t counted) const {
        Counts counts{};
        for (std::size_t i = 0; i < counted; ++i)
            ++counts[cells_[i / shape_.width * shape_.pitch() + i % shape_.width]];
        return counts;
    }

    void try_columns() {
        for (const std::size_t step : {4, 8, 12, 16, 32, 128, 256, 512, 1024}) {
            const std::size_t columns = shape_.width / step * step;
            if (columns == 0 || columns == shape_.width) continue;
            if (fits(count_cells(columns, shape_.height, shape_.pitch())))
                explain("vector_tail_lost",
                        fmt::format("Of every row only the first {} of {} elements are counted ({} = {} x {}).",
                                    format_count(columns), format_count(shape_.width), format_count(columns),
                                    columns / step, step),
                        "The last vector or step of a row may be part padding: count its elements that belong to the "
                        "row.");
        }
    }

    void try_components() {
        Counts parts[4] = {};
        for (std::size_t y = 0; y < shape_.height; ++y)
            for (std::size_t x = 0; x < shape_.width; ++x) ++parts[x % 4][cells_[y * shape_.pitch() + x]];
        for (std::size_t k = 0; k < 4; ++k) {
            if (fits([&](std::size_t b) { return std::min(counts_[b] - parts[k][b], bin_full); }))
                explain("component_lost", fmt::format("Of every four neighbours in a row number {} is not counted.", k),
                        "A vector has four components, x, y, z and w: are all four counted?");
            if (fits(parts[k]))
                explain("component_lost",
                        fmt::format("Of every four neighbours in a row only number {} is counted.", k),
                        "A vector has four components, x, y, z and w: are all four counted?");
        }
    }

    void try_position() {
        Counts counts{};
        for (std::size_t i = 0; i < shape_.elements(); ++i) ++counts[i % bin_count];
        if (fits(counts))
            explain("position_counted",
                    "Bins count where elements are, not what they are: element i is in bin i % 1024.",
                    "The bin's number is the element's value: bins[value], not bins[threadIdx.x].");
    }

    void try_neighbours() {
        for (const int by : {-1, 1}) {
            const auto shifted = [&](std::size_t b) {
                const std::size_t from = b - static_cast<std::size_t>(by);
                return from < bin_count ? std::min(counts_[from], bin_full) : actual_[b];
            };
            if (fits(shifted))
                explain("shifted", fmt::format("Every count is in the bin {} its own.", by < 0 ? "before" : "after"),
                        "Values are 0 to 1023, and so are bins: bin v counts value v.");
        }
    }

    /// Threads that step through the elements by the size of the grid, with a mistake in some of their steps.
    void try_blocks() {
        for (const std::size_t block : {1024, 512, 256}) {
            if ((shape_.elements() + block - 1) / block > Pieces::most) continue;
            const Pieces pieces(cells_.data(), shape_, block);
            for (std::size_t blocks = 1; blocks <= pieces.count() && found_.empty(); ++blocks) {
                for (const std::size_t step : {4, 12, 2, 8, 16}) try_steps(pieces, blocks, step);
                if (blocks > 1) try_one_block(pieces, blocks, block);
            }
        }
    }

    void try_steps(const Pieces& pieces, std::size_t blocks, std::size_t step) {
        const auto whole = [step](std::size_t round, std::size_t rounds) { return round < rounds / step * step; };
        const auto fits_weight = [&](const Pieces::Weight& weight) {
            return found_.empty() && pieces.fill(blocks, weight) == actual_;
        };
        if (fits_weight([&](auto, auto round, auto rounds) { return whole(round, rounds) ? 1 : 0; }))
            explain("tail_lost",
                    fmt::format("Threads count only whole steps of {} elements: what a thread has left over is lost.",
                                step),
                    "After the loop over whole steps, another one is to count what is left, one by one.");
        for (const std::size_t lost : {1, 2}) {
            const auto is_lost = [=](auto round, auto rounds) {
                return whole(round, rounds) && round % step >= step - lost;
            };
            const std::string which =
                fmt::format("Of every {} elements that a thread takes in a step the last {} not counted", step,
                            lost == 1 ? "is" : "two are");
            const std::string hint =
                "Look at every index of the unrolled step: element k is input[j + k * stride], and its value, "
                "nothing added to it, is the bin.";
            if (fits_weight([&](auto, auto round, auto rounds) { return is_lost(round, rounds) ? 0 : 1; }))
                explain("step_index", which + ".", hint);
            if (fits_weight([&](auto, auto round, auto rounds) -> unsigned {
                    if (is_lost(round, rounds)) return 0;
                    return whole(round, rounds) && round % step + lost + 1 == step ? static_cast<unsigned>(lost + 1)
                                                                                   : 1;
                }))
                explain("step_index", which + ", and the one before instead of them.", hint);
        }
        if (fits_weight([&](auto, auto round, auto rounds) -> unsigned {
                if (!whole(round, rounds)) return 1;
                return round % step == 0 ? static_cast<unsigned>(step) : 0;
            }))
            explain("step_index", fmt::format("Each step counts its first element {} times.", step),
                    "Element k of the step is input[j + k * stride].");
    }

    void try_one_block(const Pieces& pieces, std::size_t blocks, std::size_t threads) {
        for (std::size_t one = 0; one < blocks && found_.empty(); ++one)
            if (pieces.fill(blocks, [one](auto block, auto, auto) { return block == one ? 1 : 0; }) == actual_)
                explain("one_block_only",
                        fmt::format("The bins hold what one block counted, number {} of {} (of {} threads each).", one,
                                    blocks, threads),
                        "Every block's counts are to be added to the others', atomically or by a second kernel: "
                        "storing them overwrites what another block stored.");
    }

    /// Bins below 255 are right, others are not, in whichever way: their sum does not saturate as it should.
    void try_full_only() {
        std::size_t full = 0, wrong = 0, example = bin_count;
        for (std::size_t b = 0; b < bin_count; ++b) {
            full += right_[b] == bin_full;
            if (actual_[b] == right_[b]) continue;
            if (right_[b] < bin_full) return;
            ++wrong;
            example = std::min(example, b);
        }
        explain("sum_not_saturated",
                fmt::format("Bins below 255 are right, but of {} that are full {} not: bin {} occurs {} times and "
                            "holds {}.",
                            full, wrong == 1 ? "one is" : fmt::format("{} are", wrong), example,
                            format_count(counts_[example]), actual_[example]),
                "Partial counts may stop at 255, but their sum goes beyond it: add them up in 32 bits, and only then "
                "take the smaller of sum and 255. In 8 bits 200 + 100 is 44.");
    }

    Shape shape_;
    std::span<const std::uint32_t> cells_;
    Bins right_, actual_, before_;
    Counts counts_{};
    std::optional<Counts> previous_;
    std::optional<Bins> previous_bins_;
    std::vector<Hypothesis> found_;
};

class SaturatingHistogram : public Oracle {
  public:
    Problem generate(const Dataset& dataset, std::uint64_t seed, std::size_t extra) const override {
        const auto& generator = find_generator(dataset, generators);
        require_only(dataset, {"width", "height", "padding", "spread", "values"});
        Problem problem{{read_size(dataset, "width"), read_size(dataset, "height")}, {}, {}};
        const Shape shape = shape_of(problem);
        problem.arrays = {Array(ElementType::uint32, shape.pitch() * shape.height + extra),
                          Array(ElementType::uint8, bin_count)};
        const Rows rows{problem.arrays[input].as<std::uint32_t>(), shape, seed};
        const bool any_padding = read_padding(dataset) && extra == 0;  // in a pool, rows may begin anywhere
        if (shape.elements() > 0) generator(rows, dataset);
        fill_padding(rows, any_padding);
        return problem;
    }

    void reference(Problem& problem, Execution how) const override {
        const auto count = how == Execution::sequential ? count_sequential : count_openmp;
        const Bins result = saturate(count(problem.arrays[input].as<std::uint32_t>().data(), shape_of(problem)));
        std::copy(result.begin(), result.end(), problem.arrays[bins].as<std::uint8_t>().begin());
    }

    Cost cost(const Problem& problem) const override {
        const double elements = static_cast<double>(shape_of(problem).elements());
        const double bytes = 4 * elements + bin_count;
        return {bytes, bytes, elements, 1, "4 w h: a read of 4 bytes an element"};
    }

    /// A row of the timed datasets, so that windows of a pool are rows again.
    std::size_t window_step() const override { return 4096; }

    std::vector<Hypothesis> hypotheses(const Situation& situation) const override {
        return Explanation(situation).found();
    }
};

}  // namespace

const Oracle* warplab_oracle() {
    static const SaturatingHistogram oracle;
    return &oracle;
}

}  // namespace warplab
