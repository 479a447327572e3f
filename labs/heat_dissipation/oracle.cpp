#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

#include "grader/common/text.h"
#include "grader/judge/lab/explain.h"
#include "grader/judge/lab/taps.h"
#include "grader/model/cause.h"
#include "grader/model/recipe.h"
#include "labs/heat_dissipation/pgm.h"

namespace warplab {
namespace {

enum Buffer { initial, conductivity, halo, field, result };
enum Result { iterations_done, largest_change };

constexpr double direct_weight = std::numbers::sqrt2 / (std::numbers::sqrt2 + 1) / 4;
constexpr double diagonal_weight = 1 / (std::numbers::sqrt2 + 1) / 4;
constexpr double hottest = 1000;  // the largest magnitude of a temperature

struct Sizes {
    std::size_t rows, columns, max_iterations, report_every;
    std::size_t cells() const { return rows * columns; }
};

Sizes sizes_of(const Problem& problem) {
    const auto size = [&](std::size_t index) { return static_cast<std::size_t>(problem.sizes[index]); };
    return {size(0), size(1), size(2), size(3)};
}

double threshold_of(const Problem& problem) { return problem.reals[0]; }

// --- bounds of the rounding errors ---

/// Return the largest allowed difference of a cell from the reference after some iterations. A new value is a weighted
/// mean of old values with weights that add up to 1, so existing errors do not grow. Each iteration adds the rounding
/// errors of one evaluation: 3 each for the two sums, one each for the products, for their sum, for 1 - c, for two more
/// products and for the last sum. Any path has at most 9 of them, each at most 2^-53 of a term that is not larger than
/// the hottest cell. In the form old + (1 - c) * (mean - old), the difference can be twice as large, which gives 11.
/// The weights may be rounded differently, which adds 2. Fused multiply-adds round less often. Both the submission and
/// the reference round, so the factor is 24.
double rounding_bound(double iterations) { return 24 * iterations * 0x1p-53 * hottest; }

// --- references ---

/// The two padded buffers of the contract.
class Fields {
  public:
    explicit Fields(const Problem& problem)
        : sizes(sizes_of(problem)),
          pitch(sizes.columns + 2),
          first_(ElementType::float64, (sizes.rows + 2) * pitch),
          second_(ElementType::float64, (sizes.rows + 2) * pitch) {
        const double* edge = problem.arrays[halo].as<double>().data();
        const double* cells = problem.arrays[initial].as<double>().data();
#pragma omp parallel for
        for (std::size_t i = 0; i < sizes.rows + 2; ++i) {
            const double* from = i == 0                ? edge
                                 : i == sizes.rows + 1 ? edge + sizes.columns
                                                       : cells + (i - 1) * sizes.columns;
            fill_row(current + i * pitch, from);
            fill_row(next + i * pitch, from);
        }
    }

    void exchange() { std::swap(current, next); }

    /// Copy the cells of a padded field, without its border.
    void copy_cells(const double* padded, double* to) const {
        for (std::size_t i = 0; i < sizes.rows; ++i)
            std::copy_n(padded + (i + 1) * pitch + 1, sizes.columns, to + i * sizes.columns);
    }

    const Sizes sizes;
    const std::size_t pitch;

  private:
    void fill_row(double* row, const double* cells) const {
        std::copy_n(cells, sizes.columns, row + 1);
        row[0] = cells[sizes.columns - 1];
        row[sizes.columns + 1] = cells[0];
    }

    Array first_, second_;

  public:
    double *current = first_.as<double>().data(), *next = second_.as<double>().data();
};

/// Compute a row of cells and its mirrors, and return the largest change. All pointers except `c` point to mirror
/// columns.
double update_row(const double* above, const double* here, const double* below, const double* c, double* next,
                  std::size_t columns) {
    double largest = 0;
#pragma omp simd reduction(max : largest)
    for (std::size_t j = 1; j <= columns; ++j) {
        const double direct = above[j] + here[j - 1] + here[j + 1] + below[j];
        const double diagonal = above[j - 1] + above[j + 1] + below[j - 1] + below[j + 1];
        const double value =
            c[j - 1] * here[j] + (1 - c[j - 1]) * (direct_weight * direct + diagonal_weight * diagonal);
        next[j] = value;
        const double change = std::abs(value - here[j]);
        largest = change > largest ? change : largest;
    }
    next[0] = next[columns];
    next[columns + 1] = next[1];
    return largest;
}

double update_row(Fields& fields, const double* c, std::size_t i) {
    const double* above = fields.current + i * fields.pitch;
    return update_row(above, above + fields.pitch, above + 2 * fields.pitch, c + i * fields.sizes.columns,
                      fields.next + (i + 1) * fields.pitch, fields.sizes.columns);
}

double iterate(Fields& fields, const double* c, Execution how) {
    double largest = 0;
#pragma omp parallel for reduction(max : largest) if (how == Execution::openmp)
    for (std::size_t i = 0; i < fields.sizes.rows; ++i) largest = std::max(largest, update_row(fields, c, i));
    return largest;
}

struct Outcome {
    std::size_t iterations = 0;
    double change = 0;
};

/// Iterate until the end; the answer is the current field.
Outcome solve(Fields& fields, const Problem& problem, Execution how) {
    const double* c = problem.arrays[conductivity].as<double>().data();
    Outcome outcome;
    while (outcome.iterations < fields.sizes.max_iterations) {
        outcome.change = iterate(fields, c, how);
        ++outcome.iterations;
        fields.exchange();
        if (outcome.change < threshold_of(problem)) break;
    }
    return outcome;
}

// --- generators: temperatures and conductivities by position ---

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }  // [0, 1)

struct Place {
    std::uint64_t seed;
    std::size_t row, column, rows, columns, index;
};

/// Random temperatures from 0 to 100, and random conductivities.
double random_temperature(const Place& at) { return 100 * unit(random_bits(at.seed, 0, at.index)); }
double random_conductivity(const Place& at) { return unit(random_bits(at.seed, 1, at.index)); }

/// A cold plate with hot discs, and stripes that hardly conduct.
double disc_temperature(const Place& at) {
    for (std::uint64_t k = 0; k < 5; ++k) {
        const double y = unit(random_bits(at.seed, 2, 3 * k)) * static_cast<double>(at.rows);
        const double x = unit(random_bits(at.seed, 2, 3 * k + 1)) * static_cast<double>(at.columns);
        const double radius = 1 + unit(random_bits(at.seed, 2, 3 * k + 2)) * static_cast<double>(at.rows) / 6;
        if (std::hypot(static_cast<double>(at.row) - y, static_cast<double>(at.column) - x) < radius) return 90;
    }
    return 10 + unit(random_bits(at.seed, 0, at.index));
}
double stripe_conductivity(const Place& at) { return at.column / 4 % 3 == 0 ? 0.9 : 0.1; }

/// Extremes: cells that never change next to cells that adopt their neighbours' temperature, also below zero.
double extreme_temperature(const Place& at) {
    static constexpr double special[] = {-1000, 1000, 0, -0.001};
    return special[random_bits(at.seed, 0, at.index) % 4];
}
double extreme_conductivity(const Place& at) { return static_cast<double>(random_bits(at.seed, 1, at.index) % 2); }

/// One cell halves its temperature in each iteration, without rounding; all others are 0 and never change.
bool is_middle(const Place& at) { return at.row == at.rows / 2 && at.column == at.columns / 2; }
double middle_temperature(const Place& at) { return is_middle(at) ? 512 : 0; }
double middle_conductivity(const Place& at) { return is_middle(at) ? 0.5 : 1; }

using ValueAt = double (*)(const Place&);
const std::map<std::string, std::pair<ValueAt, ValueAt>> generators = {
    {"random", {random_temperature, random_conductivity}},
    {"discs", {disc_temperature, stripe_conductivity}},
    {"extremes", {extreme_temperature, extreme_conductivity}},
    {"halving", {middle_temperature, middle_conductivity}}};

void fill(Array& array, ValueAt value, std::uint64_t seed, std::size_t rows, std::size_t columns) {
    const auto values = array.as<double>();
#pragma omp parallel for
    for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = value({seed, k / columns, k % columns, rows, columns, k});
}

/// Return a problem of these sizes, all zero, with inputs that are longer by `extra` elements.
Problem empty_problem(const Dataset& dataset, std::size_t rows, std::size_t columns, std::size_t extra) {
    const std::int64_t iterations = read_size(dataset, "iterations");
    const std::int64_t every = read_size(dataset, "report_every", std::max<std::int64_t>(iterations, 1));
    const double threshold = read_number(dataset, "threshold", 0);
    if (rows == 0 || columns == 0) throw recipe_error(dataset, "a field has at least one row and one column");
    if (every == 0) throw recipe_error(dataset, "\"report_every\" is 0; it must be at least 1");
    if (!(threshold >= 0)) throw recipe_error(dataset, "\"threshold\" is below 0");
    const auto real = [](std::size_t count) { return Array(ElementType::float64, count); };
    const std::size_t cells = rows * columns;
    return {{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), iterations, every},
            {threshold},
            {real(cells + extra), real(cells + extra), real(2 * columns + extra), real(cells), real(2)}};
}

/// The halo rows repeat the first and the last row; the additional elements of a pool continue with the next rows.
void fill_halo(Problem& problem) {
    const Sizes sizes = sizes_of(problem);
    const double* cells = problem.arrays[initial].as<double>().data();
    const auto edge = problem.arrays[halo].as<double>();
    const std::size_t cell_count = problem.arrays[initial].count();
    for (std::size_t k = 0; k < edge.size(); ++k)
        edge[k] = k < sizes.columns ? cells[k] : cells[(sizes.cells() - 2 * sizes.columns + k) % cell_count];
}

/// Read a picture from the dataset's folder.
heat::Picture read_picture(const Dataset& dataset, const std::string& name) {
    return heat::PgmReader(dataset.folder / read_word(dataset, name)).read();
}

Problem from_pictures(const Dataset& dataset) {
    const heat::Picture temperatures = read_picture(dataset, "temperature"),
                        conductivities = read_picture(dataset, "conductivity");
    if (temperatures.width != conductivities.width || temperatures.height != conductivities.height)
        throw recipe_error(
            dataset,
            fmt::format(
                "temperature is a picture of {} x {}, conductivity one of {} x {}; they must have the same size",
                temperatures.width, temperatures.height, conductivities.width, conductivities.height));
    Problem problem = empty_problem(dataset, temperatures.height, temperatures.width, 0);
    const double low = read_number(dataset, "low", 0), high = read_number(dataset, "high", 100);
    const auto cells = problem.arrays[initial].as<double>();
    for (std::size_t k = 0; k < cells.size(); ++k) cells[k] = low + temperatures.values[k] * (high - low);
    std::ranges::copy(conductivities.values, problem.arrays[conductivity].as<double>().data());
    return problem;
}

/// Return a threshold that ends the iterations after `min_iterations` or, if changes grow there, soon afterwards. The
/// largest change of every iteration differs enough from the threshold that rounding does not matter.
double find_threshold(const Dataset& dataset, const Problem& problem, std::size_t min_iterations) {
    Fields fields(problem);
    const double* c = problem.arrays[conductivity].as<double>().data();
    double smallest_change = std::numeric_limits<double>::infinity();
    for (std::size_t iteration = 1; iteration <= fields.sizes.max_iterations; ++iteration) {
        const double change = iterate(fields, c, Execution::openmp);
        fields.exchange();
        const double room = 8 * rounding_bound(static_cast<double>(iteration));
        if (iteration >= min_iterations && smallest_change - change > room)
            return std::isinf(smallest_change) ? change + room : (smallest_change + change) / 2;
        smallest_change = std::min(smallest_change, change);
    }
    throw recipe_error(dataset, fmt::format("it does not end within the {} iterations", fields.sizes.max_iterations));
}

// --- outputs of students' mistakes ---

/// The rules by which a wrong program iterates.
struct Rules {
    enum class Conductivity {
        correct,
        inverted,
        ignored,
        first_row,
        transposed,
        padded,
        above,
        below,
        left_cell,
        right_cell,
        along_row
    };
    enum class Mirror {
        correct,
        never,
        only_left,
        only_right,
        own_side,
        late,
        late_left,
        late_right,
        of_old_field,
        misplaced
    };
    /// Offsets for Mirror::misplaced, in elements. If all are 0, row[0] = row[columns] and row[columns + 1] = row[1].
    struct Misplaced {
        int left_from = 0, right_to = 0, right_from = 0;
        bool right_first = false;
        bool left_reversed = false, right_reversed = false;  // a cell gets the value of its mirror
    };
    enum class Halo { fixed, follows, wraps };
    Conductivity conductivity = Conductivity::correct;
    Mirror mirror = Mirror::correct;
    Misplaced misplaced = {};
    Halo halo = Halo::fixed;
    double direct = direct_weight, diagonal = diagonal_weight;
    bool in_place = false, exchanges = true;
    bool without_border = false;   // reads and writes the rows of a field `columns` apart
    bool sizes_exchanged = false;  // uses `rows` in place of `columns`, and `columns` in place of `rows`
    std::size_t rows_covered = SIZE_MAX, columns_covered = SIZE_MAX, rows_mirrored = SIZE_MAX;
    std::size_t first_mirrored = 1;  // row of the padded field
    /// The factor of each neighbour's weight: above, left, right and below, then above left, above right, below left
    /// and below right.
    std::array<int, 8> times = {1, 1, 1, 1, 1, 1, 1, 1};
    bool without_parentheses = false;  // c * old + 1 - c * (…)

    struct Factors {  // new = (old_1 + old_c * c) * old + (mean_1 + mean_c * c) * mean
        double old_1 = 0, old_c = 1, mean_1 = 1, mean_c = -1;
    };
    Factors factors = {};
    std::size_t walk = 0;  // rows of a thread; all but the first of them use their own row in place of the row above
    int row_above = -1, row_below = 1;  // the rows, counted from the cell's own, from which neighbours are taken
    bool first_row_fixed = false, last_row_fixed = false;
    std::size_t strip = 1;         // rows of a thread, one below the other
    bool strip_lags = false;       // a thread loads its own row again as the row below, and then moves to it
    bool strip_is_narrow = false;  // within a strip, rows are stored `columns` apart
};

/// The changes that an iteration made.
struct Changes {
    double largest = 0, with_sign = -std::numeric_limits<double>::infinity(), mean = 0, first_cell = 0;
};

/// Solves the problem by the rules, on one thread.
class MistakenSolver {
  public:
    MistakenSolver(const Problem& problem, const Rules& rules)
        : fields(problem), rules_(rules), c_(problem.arrays[conductivity].as<double>().data()) {}

    Changes iterate() {
        Changes changes;
        const double* from = fields.current;
        double* to = rules_.in_place ? fields.current : fields.next;
        if (rules_.mirror == Rules::Mirror::late) mirror_columns(from, to);
        const Sizes& sizes = fields.sizes;
        const std::size_t rows = rules_.sizes_exchanged ? sizes.columns : sizes.rows,
                          columns = rules_.sizes_exchanged ? sizes.rows : sizes.columns;
        for (std::size_t i = 0; i < std::min(rows, rules_.rows_covered); ++i)
            for (std::size_t j = 0; j < std::min(columns, rules_.columns_covered); ++j) {
                const std::size_t at = (i + 1) * pitch() + j + 1;
                const double* here = from + at - (rules_.strip_lags && i % rules_.strip ? pitch() : 0);
                const double old = *here, value = is_fixed(i) ? old : new_value(here, i, j);
                if (rules_.strip_is_narrow)
                    store_with_mirror(to + at - i % rules_.strip * (fields.pitch - columns), j, value);
                else
                    to[at] = value;
                note(changes, value - old, i + j == 0);
            }
        changes.mean /= static_cast<double>(sizes.cells());
        if (rules_.strip_is_narrow) {
            // The mirror columns are stored with the cells.
        } else if (rules_.mirror == Rules::Mirror::of_old_field)
            mirror_columns(from, fields.current);
        else if (rules_.mirror == Rules::Mirror::late_left || rules_.mirror == Rules::Mirror::late_right)
            mirror_columns(from, to);
        else if (rules_.mirror != Rules::Mirror::late)
            mirror_columns(to, to);
        change_halo(to);
        if (rules_.exchanges && !rules_.in_place) fields.exchange();
        return changes;
    }

    /// Return the buffer that contains the answer after an iteration.
    const double* answer() const { return rules_.exchanges ? fields.current : fields.next; }

    Fields fields;

  private:
    /// Return the distance between rows in the kernel that computes new temperatures.
    std::size_t pitch() const {
        if (rules_.without_border) return fields.sizes.columns;
        return rules_.sizes_exchanged ? fields.sizes.rows + 2 : fields.pitch;
    }

    double new_value(const double* here, std::size_t i, std::size_t j) const {
        const bool own_row_above = rules_.walk && i % rules_.walk;
        const auto apart = static_cast<std::ptrdiff_t>(pitch());
        const std::size_t lag = rules_.strip_lags ? i % rules_.strip : 0;  // row 1 still uses the right row above
        const double *above = own_row_above || lag == 1 ? here : here + rules_.row_above * apart,
                     *below = here + (rules_.strip_lags && lag == 0 ? 0 : rules_.row_below) * apart;
        const auto& k = rules_.times;
        const double direct = k[0] * above[0] + k[1] * here[-1] + k[2] * here[1] + k[3] * below[0];
        const double diagonal = k[4] * above[-1] + k[5] * above[1] + k[6] * below[-1] + k[7] * below[1];
        const double c = conductivity_of(i, j);
        if (rules_.without_parentheses)
            return c * here[0] + 1 - c * (rules_.direct * direct + rules_.diagonal * diagonal);
        const Rules::Factors& f = rules_.factors;
        return (f.old_1 + f.old_c * c) * here[0] +
               (f.mean_1 + f.mean_c * c) * (rules_.direct * direct + rules_.diagonal * diagonal);
    }

    bool is_fixed(std::size_t i) const {
        return (rules_.first_row_fixed && i == 0) || (rules_.last_row_fixed && i + 1 == fields.sizes.rows);
    }

    double conductivity_of(std::size_t i, std::size_t j) const {
        const std::size_t cells = fields.sizes.cells(), columns = fields.sizes.columns;
        if (rules_.sizes_exchanged) return c_[i * fields.sizes.rows + j];
        switch (rules_.conductivity) {
            case Rules::Conductivity::inverted:
                return 1 - c_[i * columns + j];
            case Rules::Conductivity::ignored:
                return 0;
            case Rules::Conductivity::first_row:
                return c_[j];
            case Rules::Conductivity::transposed:
                return c_[std::min(j * fields.sizes.rows + i, cells - 1)];
            case Rules::Conductivity::padded:
                return c_[std::min(i * fields.pitch + j, cells - 1)];
            case Rules::Conductivity::above:
                return c_[(i > 0 ? i - 1 : 0) * columns + j];
            case Rules::Conductivity::below:
                return c_[std::min(i + 1, fields.sizes.rows - 1) * columns + j];
            case Rules::Conductivity::left_cell:
                return c_[i * columns + (j + columns - 1) % columns];
            case Rules::Conductivity::right_cell:
                return c_[i * columns + (j + 1) % columns];
            case Rules::Conductivity::along_row:
                return c_[std::min((i - i % rules_.strip) * columns + j + i % rules_.strip, cells - 1)];
            default:
                return c_[i * columns + j];
        }
    }

    void store_with_mirror(double* cell, std::size_t j, double value) const {
        const std::size_t columns = fields.sizes.columns;
        *cell = value;
        if (j == 0) *(cell + columns) = value;
        if (j + 1 == columns) *(cell - columns) = value;
    }

    static void note(Changes& changes, double change, bool first) {
        changes.largest = std::max(changes.largest, std::abs(change));
        changes.with_sign = std::max(changes.with_sign, change);
        changes.mean += std::abs(change);
        if (first) changes.first_cell = std::abs(change);
    }

    void mirror_columns(const double* from, double* to) const {
        const std::size_t columns = fields.sizes.columns;
        const bool own_side = rules_.mirror == Rules::Mirror::own_side;
        if (rules_.mirror == Rules::Mirror::never) return;
        if (rules_.mirror == Rules::Mirror::misplaced) return misplace_columns(to);
        const std::size_t begin = rules_.first_mirrored;
        for (std::size_t i = begin; i < begin + std::min(fields.sizes.rows, rules_.rows_mirrored); ++i) {
            const bool left_is_old = rules_.mirror == Rules::Mirror::late_left,
                       right_is_old = rules_.mirror == Rules::Mirror::late_right;
            double* row = to + i * fields.pitch;
            const double *old = from + i * fields.pitch, *left = right_is_old ? row : old,
                         *right = left_is_old ? row : old, first = right[1], last = left[columns];
            if (rules_.mirror != Rules::Mirror::only_right) row[0] = own_side ? first : last;
            if (rules_.mirror != Rules::Mirror::only_left) row[columns + 1] = own_side ? last : first;
        }
    }

    void misplace_columns(double* to) const {
        const auto last = static_cast<std::ptrdiff_t>(fields.sizes.columns);
        const auto& [left_from, right_to, right_from, right_first, left_reversed, right_reversed] = rules_.misplaced;
        for (std::size_t i = 1; i <= fields.sizes.rows; ++i) {
            double* row = to + i * fields.pitch;
            const auto copy_left = [&] { left_reversed ? row[last] = row[0] : row[0] = row[last + left_from]; };
            if (!right_first) copy_left();
            right_reversed ? row[1] = row[last + 1] : row[last + 1 + right_to] = row[1 + right_from];
            if (right_first) copy_left();
        }
    }

    void change_halo(double* to) const {
        if (rules_.halo == Rules::Halo::fixed) return;
        const std::size_t pitch = fields.pitch, rows = fields.sizes.rows;
        const bool wraps = rules_.halo == Rules::Halo::wraps;
        std::copy_n(to + (wraps ? rows : 1) * pitch, pitch, to);
        std::copy_n(to + (wraps ? 1 : rows) * pitch, pitch, to + (rows + 1) * pitch);
    }

    Rules rules_;
    const double* c_;
};

/// From which lanes, and from which of their two columns, a lane takes its neighbours.
struct Shuffles {
    int up = 1, down = 1;  // distances to the lanes with the left and the right neighbour; below 0: on the other side
    bool up_of_left = false, down_of_right = false;  // the lane's far column is taken, not its near one
};

/// Computes several iterations in overlapping strips of columns. A warp computes a strip, with two columns per lane.
class Strips {
  public:
    Strips(const Problem& problem, const Shuffles& shuffles)
        : fields(problem), shuffles_(shuffles), c_(problem.arrays[conductivity].as<double>().data()) {}

    void pass(std::size_t steps) {
        const std::size_t halo = (steps + 1) / 2, width = 2 * (lanes - 2 * halo), columns = fields.sizes.columns;
        for (std::size_t first = 0; first < columns; first += width) compute(first, halo, steps);
        for (std::size_t i = 1; i <= fields.sizes.rows; ++i) {
            double* const padded = fields.next + i * fields.pitch;
            padded[0] = padded[columns];
            padded[columns + 1] = padded[1];
        }
        fields.exchange();
    }

    Fields fields;

  private:
    static constexpr std::size_t lanes = 32, strip = 2 * lanes;

    /// Compute the strip whose own columns begin at `first`.
    void compute(std::size_t first, std::size_t halo, std::size_t steps) {
        const std::size_t rows = fields.sizes.rows, columns = fields.sizes.columns;
        std::array<std::size_t, strip> column;
        for (std::size_t k = 0; k < strip; ++k) column[k] = (first + k + columns * strip - 2 * halo) % columns;
        std::vector<double> old((rows + 2) * strip), fresh, sides((rows + 2) * strip);
        for (std::size_t i = 0; i < rows + 2; ++i)
            for (std::size_t k = 0; k < strip; ++k)
                old[i * strip + k] = fields.current[i * fields.pitch + 1 + column[k]];
        fresh = old;
        for (std::size_t step = 0; step < steps; ++step) {
            for (std::size_t i = 0; i < rows + 2; ++i) add_sides(&old[i * strip], &sides[i * strip]);
            for (std::size_t i = 1; i <= rows; ++i)
                for (std::size_t k = 0; k < strip; ++k) {
                    const std::size_t at = i * strip + k, above = at - strip, below = at + strip;
                    const double mean = direct_weight * (old[above] + old[below] + sides[at]) +
                                        diagonal_weight * (sides[above] + sides[below]);
                    fresh[at] = old[at] + (1 - c_[(i - 1) * columns + column[k]]) * (mean - old[at]);
                }
            std::swap(old, fresh);
        }
        for (std::size_t i = 1; i <= rows; ++i)
            for (std::size_t k = 2 * halo; k < strip - 2 * halo && first + k - 2 * halo < columns; ++k)
                fields.next[i * fields.pitch + 1 + first + k - 2 * halo] = old[i * strip + k];
    }

    void add_sides(const double* row, double* sides) const {
        for (int lane = 0; lane < static_cast<int>(lanes); ++lane) {
            const auto from = [&](int other) { return row + 2 * (other < 0 || other >= 32 ? lane : other); };
            const double left = from(lane - shuffles_.up)[shuffles_.up_of_left ? 0 : 1],
                         right = from(lane + shuffles_.down)[shuffles_.down_of_right ? 1 : 0];
            sides[2 * lane] = left + row[2 * lane + 1];
            sides[2 * lane + 1] = row[2 * lane] + right;
        }
    }

    Shuffles shuffles_;
    const double* c_;
};

/// Computes several iterations at once in bands of rows. Each row is stored one row too high, and the first row of a
/// band is never stored.
class HighRows {
  public:
    HighRows(const Problem& problem, std::size_t band)
        : fields(problem), band_(band), c_(problem.arrays[conductivity].as<double>().data()) {}

    void pass(std::size_t steps) {
        const std::size_t pitch = fields.pitch, rows = fields.sizes.rows, columns = fields.sizes.columns;
        std::vector<double> old(fields.current, fields.current + (rows + 2) * pitch), fresh = old;
        for (std::size_t step = 0; step < steps; ++step) {
            for (std::size_t i = 0; i < rows; ++i) {
                const double* above = &old[i * pitch];
                update_row(above, above + pitch, above + 2 * pitch, c_ + i * columns, &fresh[(i + 1) * pitch], columns);
            }
            std::swap(old, fresh);
        }
        for (std::size_t i = 1; i < rows; ++i)
            if (i % band_) std::copy_n(&old[(i + 1) * pitch], pitch, fields.next + i * pitch);
        fields.exchange();
    }

    Fields fields;

  private:
    std::size_t band_;
    const double* c_;
};

/// The rows that a thread reads while it walks down its rows of a tile.
struct TileWalk {
    int first_above = -1;        // the row above the thread's first row, counted from that row
    int below = 1;               // the row below each row, counted from that row
    bool above_follows = false;  // for the next row, the row above is the row below, not the thread's previous row
};

/// Computes two iterations in each tile of 32 rows, of which 28 are its own, by threads with four rows each.
class TiledRows {
  public:
    TiledRows(const Problem& problem, const TileWalk& walk)
        : fields(problem), walk_(walk), c_(problem.arrays[conductivity].as<double>().data()) {}

    void pass(std::size_t steps) {
        const int rows = static_cast<int>(fields.sizes.rows);
        for (int top = 0; top < rows; top += own) compute(top - halo, steps);
        for (std::size_t i = 1; i <= fields.sizes.rows; ++i) {
            double* const padded = fields.next + i * fields.pitch;
            padded[0] = padded[fields.sizes.columns];
            padded[fields.sizes.columns + 1] = padded[1];
        }
        fields.exchange();
    }

    Fields fields;

  private:
    static constexpr int halo = 2, tile = 32, own = tile - 2 * halo, rows_per_thread = 4;

    /// Compute the tile whose first row is row `top` of the cells.
    void compute(int top, std::size_t steps) {
        const int rows = static_cast<int>(fields.sizes.rows);
        const std::size_t pitch = fields.pitch, columns = fields.sizes.columns;
        std::vector<double> old(tile * pitch);
        for (int t = 0; t < tile; ++t)
            std::copy_n(fields.current + static_cast<std::size_t>(std::clamp(top + t, -1, rows) + 1) * pitch, pitch,
                        &old[static_cast<std::size_t>(t) * pitch]);
        for (std::size_t step = 0; step < steps; ++step) old = iterate(old, top);
        for (int t = halo; t < tile - halo && top + t < rows; ++t)
            std::copy_n(&old[static_cast<std::size_t>(t) * pitch + 1], columns,
                        fields.next + static_cast<std::size_t>(top + t + 1) * pitch + 1);
    }

    std::vector<double> iterate(const std::vector<double>& old, int top) const {
        const std::size_t pitch = fields.pitch, columns = fields.sizes.columns;
        const auto row = [&](int t) { return &old[static_cast<std::size_t>(std::clamp(t, 0, tile - 1)) * pitch + 1]; };
        std::vector<double> fresh = old;
        for (int first = 0; first < tile; first += rows_per_thread) {
            const double *above = row(first + walk_.first_above), *middle = row(first);
            for (int t = first; t < first + rows_per_thread; ++t) {
                const double* below = row(t + walk_.below);
                double* const to = &fresh[static_cast<std::size_t>(t) * pitch];
                const int i = top + t;
                const bool fixed = i < 0 || i >= static_cast<int>(fields.sizes.rows);
                for (std::size_t j = 0; j < columns; ++j) {
                    const double weight = fixed ? 0 : 1 - c_[static_cast<std::size_t>(i) * columns + j];
                    const auto sides = [j](const double* of) { return (of + j)[-1] + of[j + 1]; };
                    const double mean = direct_weight * (above[j] + below[j] + sides(middle)) +
                                        diagonal_weight * (sides(above) + sides(below));
                    to[j + 1] = middle[j] + weight * (mean - middle[j]);
                }
                if (!fixed) to[0] = to[columns], to[columns + 1] = to[1];
                above = walk_.above_follows ? below : middle;
                middle = below;
            }
        }
        return fresh;
    }

    TileWalk walk_;
    const double* c_;
};

constexpr auto first_stage_with_strips = "05", first_tiled_stage = "07";
constexpr std::size_t max_steps = 8;               // iterations of a pass
constexpr std::size_t max_later = 300;             // iterations after the right last one whose fields are compared
constexpr std::size_t max_explained = 30'000'000;  // cells times iterations; all mistakes then take a few seconds

/// Lists possible mistakes; the judge compares the output of each with every element.
class Suspicions {
  public:
    explicit Suspicions(const Situation& situation)
        : actuals_(situation.actual),
          problem_(situation.problem),
          sizes_(sizes_of(problem_)),
          answer_(problem_.arrays[result].as<double>()),
          actual_(situation.actual[result].as<double>()),
          right_iterations_(static_cast<std::size_t>(answer_[iterations_done])) {
        suspect_no_field();
        suspect_idle_iteration();
        suspect_unchanged();
        if (sizes_.cells() * std::max<std::size_t>(right_iterations_, 1) <= max_explained) suspect_all(situation.stage);
        suspect_result();
    }

    std::vector<Hypothesis> hypotheses() && { return std::move(hypotheses_); }

  private:
    using Predict = std::function<bool(std::vector<Array>&)>;

    void suspect_all(const std::string& stage) {
        suspect_end();
        suspect_lost_iterations();
        suspect_change();
        suspect_rules();
        suspect_coverage();
        suspect_change_in_float();
        suspect_half_of_change();
        suspect_change_of_other_iteration();
        suspect_lost_maximum();
        suspect_ended_early();
        suspect_misplaced_mirror();
        suspect_exchanged_sizes();
        suspect_exchanged_fields();
        suspect_factors();
        suspect_formula();
        suspect_too_large_maximum();
        if (stage.empty() || stage >= first_stage_with_strips) suspect_strips();
        if (!stage.empty() && stage < first_tiled_stage) return;
        suspect_tile_walk();
        suspect_high_rows();
        suspect_shuffles();
        for (const std::size_t tile : {64, 60, 32, 28, 16}) suspect_tile_edges(tile);  // 60 x 28: stage 07's own cells
    }

    void suspect(Mistake mistake, Predict predict) {
        hypotheses_.push_back(
            {std::move(mistake.cause), std::move(mistake.message), std::move(mistake.hint), std::move(predict)});
    }

    /// Iterate by the rules until they end, and use the result as the answer.
    void suspect(Mistake mistake, const Rules& rules) {
        suspect(std::move(mistake), [problem = problem_, rules](std::vector<Array>& outputs) {
            return run_to_end(problem, rules, outputs);
        });
    }

    static double take_largest(const Changes& changes, double) { return changes.largest; }

    static bool run_to_end(const Problem& problem, const Rules& rules, std::vector<Array>& outputs,
                           double (*measure)(const Changes& changes, double kept) = take_largest) {
        const Sizes sizes = sizes_of(problem);
        if (sizes.max_iterations == 0 || sizes.cells() * sizes.max_iterations > max_explained) return false;
        MistakenSolver mistaken(problem, rules);
        std::size_t iterations = 0;
        double change = 0;
        do {
            change = measure(mistaken.iterate(), change);
            ++iterations;
        } while (iterations < sizes.max_iterations && !(change < threshold_of(problem)));
        set(outputs, mistaken, static_cast<double>(iterations), change);
        return true;
    }

    static void set(std::vector<Array>& outputs, const MistakenSolver& mistaken, double iterations, double change) {
        mistaken.fields.copy_cells(mistaken.answer(), outputs[field].as<double>().data());
        const auto values = outputs[result].as<double>();
        values[iterations_done] = iterations;
        values[largest_change] = change;
    }

    /// Return the submission's number of iterations, at most a million; 0 if it is below 0 or NaN.
    std::size_t claimed_iterations() const {
        const double claimed = actual_[iterations_done];
        return claimed >= 0 ? static_cast<std::size_t>(std::min(claimed, 1e6)) : 0;
    }
    bool one_call() const { return sizes_.report_every >= sizes_.max_iterations; }
    bool ends_early() const { return right_iterations_ < sizes_.max_iterations; }

    /// Return a prediction that copies these outputs of the submission, so that they always fit.
    Predict take_actual(std::initializer_list<Buffer> outputs_taken) const {
        return [actuals = actuals_, taken = std::vector<Buffer>(outputs_taken)](std::vector<Array>& outputs) {
            for (const Buffer buffer : taken) outputs[buffer] = actuals[buffer];
            return true;
        };
    }

    void suspect_no_field() {
        if (actual_[iterations_done] != -1) return;
        suspect({"no_field", "The returned field is neither current nor next.",
                 "HeatState::field must be current or next: the pointer to which the answer was written."},
                take_actual({field, result}));
    }

    void suspect_unchanged() {
        const auto is_initial = [&](const std::vector<Array>& arrays, const Array& actual) {
            return std::ranges::equal(arrays[initial].as<double>().first(sizes_.cells()), actual.as<double>());
        };
        if (is_initial(problem_.arrays, problem_.arrays[field]) || !is_initial(problem_.arrays, actuals_[field]))
            return;
        suspect({"field_unchanged", "Every cell of the returned field still has its initial temperature.",
                 "Does a thread store new temperatures, and is the condition in front of that line true for any cell? "
                 "Is the field that was written the one that is returned?"},
                take_actual({field, result}));
    }

    static double largest_of(const std::vector<double>& changes) {
        const auto [lowest, highest] = std::minmax_element(changes.begin(), changes.end());
        return std::max(-*lowest, *highest);
    }

    /// An iteration that computes nothing has a largest change of 0, and ends the iterations.
    void suspect_idle_iteration() {
        const std::size_t claimed = claimed_iterations();
        if (!one_call() || claimed < 2 || claimed > right_iterations_ || actual_[largest_change] != 0) return;
        if (!(threshold_of(problem_) > 0)) return;
        if (sizes_.cells() * claimed > max_explained) return;
        const bool at_threshold =
            std::abs(largest_of(last_changes(claimed - 1)) - threshold_of(problem_)) <= change_bound();
        if (claimed == right_iterations_ && !at_threshold) return;
        MistakenSolver right(problem_, {});
        std::vector<double> cells(sizes_.cells());
        for (std::size_t computed = 0; computed < claimed; ++computed) {
            right.fields.copy_cells(right.answer(), cells.data());
            if (equals_field(cells, computed)) {
                if (at_threshold)
                    suspect({"threshold_counts",
                             sentence("Iteration {} computes nothing: the largest change of the one before it is the "
                                      "threshold, {}. The returned field is that after {}.",
                                      claimed, threshold_of(problem_), format_plural(computed, "iteration")),
                             "Iterations end when every change is below the threshold: < and not <=, in the kernel and "
                             "on the host."},
                            take_actual({field, result}));
                suspect({"lost_maximum",
                         sentence("The code ends after {} of {} iterations, because the largest change of the last one "
                                  "is 0: it computed nothing. The returned field is that after {}.",
                                  claimed, right_iterations_, format_plural(computed, "iteration")),
                         "A kernel that tests whether it has anything to do must test the change of the previous "
                         "iteration: its own is still 0 then."},
                        take_actual({field, result}));
                return;
            }
            right.iterate();
        }
    }

    bool equals_field(const std::vector<double>& cells, std::size_t iterations) const {
        const auto actual = std::as_const(actuals_[field]).as<double>();
        const double bound = rounding_bound(static_cast<double>(iterations));
        return std::equal(cells.begin(), cells.end(), actual.begin(),
                          [&](double a, double b) { return std::abs(a - b) <= bound; });
    }

    /// The iterations are right, but the code ends after a different iteration.
    void suspect_end() {
        if (!one_call() || right_iterations_ == 0) return;
        const std::size_t actual = claimed_iterations();
        const std::string right_end =
            sentence("The computation must end after iteration {}, {}.", right_iterations_,
                     ends_early() ? sentence("the first in which every change is below {}", threshold_of(problem_))
                                  : "which is max_iterations");
        if (Guess guess = name_end(actual, right_end))
            suspect_stopped_at(actual, *guess);
        else if (actual != right_iterations_ && actual > 0 && actual <= sizes_.max_iterations)
            suspect_wrong_comparison(actual, right_end);
        suspect_other_state(right_end);
    }

    Guess name_end(std::size_t actual, const std::string& right_end) const {
        if (actual == right_iterations_ + 1)
            return Mistake{
                "stops_one_late", right_end + " The code does one more.",
                "Test the change of each iteration directly after it: not the change of the previous iteration, "
                "and not only when the next iteration begins."};
        if (actual + 1 == right_iterations_)
            return Mistake{
                "one_iteration_missing", right_end + " The code does one fewer.",
                "Begin counting at 0 and continue while fewer than max_iterations are done; the iteration in "
                "which all changes are below the threshold counts."};
        if (ends_early() && actual == sizes_.max_iterations)
            return Mistake{"never_converged",
                           right_end + " The code continued to the last iteration, although it had converged.",
                           "Compare the largest change of every iteration with the threshold, and leave the loop."};
        // The code may test the change only after every k-th iteration.
        for (std::size_t k = 2; k <= 128 && actual > right_iterations_; ++k)
            if (ends_early() && (right_iterations_ + k - 1) / k * k == actual)
                return Mistake{
                    "tested_every_k_iterations",
                    sentence("{} The code ends after {}: it tests the change only after every {} iterations, or a "
                             "similar number.",
                             right_end, actual, k),
                    "The test belongs in every iteration. If several iterations are done at once, compute the field "
                    "of the right iteration again, from the last field before it."};
        return {};
    }

    /// Field and change are right for the iteration after which the code ends, so its comparison is wrong.
    void suspect_wrong_comparison(std::size_t last, const std::string& right_end) {
        if (sizes_.cells() * last > max_explained) return;
        const std::vector<double> changes = last_changes(last);
        double largest = 0;
        for (const double change : changes) largest = std::max(largest, std::abs(change));
        const double threshold = threshold_of(problem_);
        if (largest <= threshold + change_bound()) return;
        const bool first_above = last == 1;
        suspect_stopped_at(last, {"wrong_threshold",
                                  sentence("{} The code ends after {}: the largest change is {} there, and the "
                                           "threshold is {}.",
                                           right_end, last, largest, threshold),
                                  first_above ? "Is the comparison reversed? Iterations end when the largest change is "
                                                "below the threshold: if (largest_change < threshold) break;"
                                              : "Compare the largest change of each iteration with threshold itself: "
                                                "if (largest_change < threshold) break;"});
    }

    /// The code ends after iteration `last`. It reports `change` or, if this is empty, the right change of `last`.
    void suspect_stopped_at(std::size_t last, Mistake mistake, std::optional<double> change = {}) {
        suspect(std::move(mistake), [problem = problem_, last, change](std::vector<Array>& outputs) {
            if (sizes_of(problem).cells() * last > max_explained) return false;
            MistakenSolver right(problem, {});
            double largest = 0;
            for (std::size_t k = 0; k < last; ++k) largest = right.iterate().largest;
            set(outputs, right, static_cast<double>(last), change.value_or(largest));
            return true;
        });
    }

    /// The last iteration of each batch is never computed, but counted.
    void suspect_lost_iterations() {
        if (!one_call() || actual_[iterations_done] != answer_[iterations_done]) return;
        for (const std::size_t batch : {64, 32, 128, 100, 16}) {
            if (batch >= right_iterations_) continue;
            suspect(
                {"iteration_lost", sentence("Of every {} iterations, the last is never computed.", batch),
                 "A batch ends where the next one begins: is its end excluded or included, in the loop that "
                 "launches and where the next batch begins?"},
                [problem = problem_, batch, done = right_iterations_, actuals = actuals_](std::vector<Array>& outputs) {
                    MistakenSolver solver(problem, {});
                    for (std::size_t k = 1; k <= done; ++k)
                        if (k % batch)
                            solver.iterate();
                        else
                            solver.fields.exchange();
                    solver.fields.copy_cells(solver.answer(), outputs[field].as<double>().data());
                    outputs[result] = actuals[result];
                    return true;
                });
        }
    }

    /// The count is right, but the field is that of another iteration.
    void suspect_other_state(const std::string& right_end) {
        if (actual_[iterations_done] != answer_[iterations_done]) return;
        std::size_t state = right_iterations_;
        for (std::size_t earlier = 0; earlier < right_iterations_; ++earlier)
            if (fits_state(earlier)) state = earlier;
        if (state + 1 < right_iterations_)
            suspect({"field_too_early",
                     sentence("{} The returned field is that after {}.", right_end, format_plural(state, "iteration")),
                     "The field that was written last is the answer. If a launch does several iterations, the fields "
                     "are exchanged once per launch: count launches to know which field it is."},
                    take_actual({field}));
        if (state + 1 == right_iterations_)
            suspect({"buffers_not_swapped", right_end + " The returned field is that of the previous iteration.",
                     "The field that was written last is the answer. If the fields are exchanged after each iteration, "
                     "it is called current then. If a launch does several iterations: how many did the last one do?"},
                    take_actual({field}));
        for (std::size_t later = 1; later <= (ends_early() ? max_later : max_steps); ++later) {
            if (!fits_state(right_iterations_ + later)) continue;
            suspect(
                {"field_too_late",
                 sentence("{} The code reports this number, but the returned field includes {} more.", right_end,
                          later),
                 ends_early() ? "No later iteration may write to the field of the last iteration: let it do nothing, "
                                "or repeat the last pass from the field with which it began."
                              : "How many iterations does the last launch do, and how many are left then?"},
                take_actual({field}));
            return;
        }
    }

    /// Return whether the submission's field is that after some iterations. Call it with ascending numbers.
    bool fits_state(std::size_t iterations) {
        if (sizes_.cells() * iterations > max_explained) return false;
        if (!states_) states_.emplace(problem_, Rules{});
        for (; state_ < iterations; ++state_) states_->iterate();
        std::vector<double> cells(sizes_.cells());
        states_->fields.copy_cells(states_->answer(), cells.data());
        return equals_field(cells, iterations);
    }

    /// The code compares or reports a value other than the largest change.
    void suspect_change() {
        if (!one_call() || right_iterations_ == 0) return;
        const bool has_sign = many_cells_cool_by_more();
        const std::string sign_hint = "It is the absolute value that counts: fabs(new - old).";
        const std::pair<Mistake, double (*)(const Changes& changes, double kept)> measures[] = {
            {{"change_with_sign", "The largest of new - old is used; a cell that cools by more does not count.",
              sign_hint},
             [](const Changes& changes, double) { return changes.with_sign; }},
            {{"change_with_sign", "The largest of new - old, or 0, is used; a cell that cools by more does not count.",
              sign_hint},
             [](const Changes& changes, double) { return std::max(changes.with_sign, 0.0); }},
            {{"change_not_cleared", "The largest change of all iterations so far is used, not that of this one.",
              "The variable that collects the largest change must be 0 when an iteration begins."},
             [](const Changes& changes, double kept) { return std::max(kept, changes.largest); }},
            {{"mean_change", "The mean of the changes is used, not the largest.",
              "Iterations end when every change, and thus the largest, is below the threshold."},
             [](const Changes& changes, double) { return changes.mean; }},
            {{"one_cell_only", "Only the change of cell (0, 0) is used, not the largest of all.",
              "The reduction must include every cell: look at the values that are compared in each of its steps."},
             [](const Changes& changes, double) { return changes.first_cell; }}};
        const bool is_zero = actual_[largest_change] == 0;  // this points to no cell in particular
        for (const auto& [mistake, measure] : measures)
            if ((mistake.cause != "change_with_sign" || has_sign) && (mistake.cause != "one_cell_only" || !is_zero))
                suspect(mistake, [problem = problem_, measure](std::vector<Array>& outputs) {
                    return run_to_end(problem, {}, outputs, measure);
                });
    }

    /// Return whether many cells cool by more than the reported change. If they are few, a reduction may have lost just
    /// these cells; if they are many, a missing absolute value is more likely.
    bool many_cells_cool_by_more() const {
        constexpr long min_count = 6;
        const std::size_t ended = claimed_iterations();
        if (sizes_.cells() * ended > max_explained) return false;
        const double min_change = actual_[largest_change] + change_bound();
        const std::vector<double> changes = last_changes(ended);
        return std::count_if(changes.begin(), changes.end(), [&](double change) { return -change > min_change; }) >=
               min_count;
    }

    void suspect_rules() {
        using Mirror = Rules::Mirror;
        using Conductivity = Rules::Conductivity;
        const auto mirror = [](const std::string& what) {
            return Mistake{"wrong_mirror", "Columns wrap around: the first and the last are neighbours. " + what,
                           "After every iteration column 0 of the padded field repeats the last column of cells, at "
                           "index columns, and column columns + 1 the first one, at index 1."};
        };
        const auto only_one = [&](const char* updated, const char* old) {
            if (sizes_.columns > 1)
                return mirror(fmt::format("Only the {} mirror column is updated; the {} one keeps its old values.",
                                          updated, old));
            Mistake mistake = mirror("Only one of the two mirror columns is updated; the other keeps its old values.");
            mistake.hint = "With one column, the same cell is on both sides: two ifs, without an else.";
            return mistake;
        };
        const auto halo = [](const std::string& what) {
            return Mistake{
                "halo_updated", "The rows above and below " + what + "; they must never change.",
                "Rows 0 and rows + 1 of the padded field are never written: cells are rows 1 to rows of it."};
        };
        const std::pair<Mistake, Rules> mistakes[] = {
            {{"buffers_not_swapped",
              "The field has changed by only one iteration: each iteration begins with the same old field.",
              "Exchange current and next after each iteration: std::swap(current, next)."},
             {.exchanges = false}},
            {{"in_place",
              "New temperatures are computed from new ones: a cell's neighbours have changed already when it is "
              "computed.",
              "Read only from current, and write only to next; then exchange them."},
             {.in_place = true}},
            {mirror("The mirror columns still hold what they held at the beginning."), {.mirror = Mirror::never}},
            {only_one("left", "right"), {.mirror = Mirror::only_left}},
            {only_one("right", "left"), {.mirror = Mirror::only_right}},
            {mirror("Each mirror column repeats the column next to it, not the one at the other end."),
             {.mirror = Mirror::own_side}},
            {mirror("The mirror columns are updated in the field that was read, not in the new one."),
             {.mirror = Mirror::of_old_field}},
            {mirror("The mirror columns are one iteration behind."), {.mirror = Mirror::late}},
            {mirror("Of the two mirror columns, the left one is one iteration behind."), {.mirror = Mirror::late_left}},
            {mirror("Of the two mirror columns, the right one is one iteration behind."),
             {.mirror = Mirror::late_right}},
            {{"wrong_pitch", "Rows of the field are read and written columns apart; they are columns + 2 apart.",
              "The mirror columns belong to each row of the field: its pitch is columns + 2. Only conductivity has "
              "rows of columns elements."},
             {.without_border = true}},
            {halo("take over the new first and last row in every iteration"), {.halo = Rules::Halo::follows}},
            {halo("wrap around, like the columns"), {.halo = Rules::Halo::wraps}},
            {{"weights_exchanged", "The weights of direct and diagonal neighbours are exchanged.",
              "Direct neighbours, which are nearer, have the larger weight."},
             {.direct = diagonal_weight, .diagonal = direct_weight}},
            {{"diagonal_forgotten", "The diagonal neighbours are not in the sum.", ""}, {.diagonal = 0}},
            {{"weights_equal", "All eight neighbours have the same weight.",
              "Direct neighbours have direct_weight each, diagonal ones diagonal_weight."},
             {.direct = 0.125, .diagonal = 0.125}},
            {{"conductivity_inverted", "c and 1 - c are exchanged.",
              "c is the share of its own temperature that a cell keeps: with c = 1 it does not change."},
             {.conductivity = Conductivity::inverted}},
            {{"conductivity_ignored", "The conductivity has no influence: as if c were 0.", ""},
             {.conductivity = Conductivity::ignored}},
            {{"comma_index",
              "Every cell has the conductivity of its column's cell in the first row: i has no influence.",
              "In C++17 a[i, j] is a[j]: the comma discards i. An index into rows is i * columns + j."},
             {.conductivity = Conductivity::first_row}},
            {{"padded_index", "conductivity is read as if it had mirror columns, at i * (columns + 2) + j.",
              "Unlike the fields it has no border: cell (i, j) has conductivity[i * columns + j]."},
             {.conductivity = Conductivity::padded}},
            {{"transposed_index",
              "Cell (i, j) has the conductivity at index j * rows + i: rows and columns are exchanged.",
              "Fields lie row after row: cell (i, j) has conductivity[i * columns + j]."},
             {.conductivity = Conductivity::transposed}}};
        for (const auto& [mistake, rules] : mistakes) suspect(mistake, rules);
        for (const std::size_t block : {1024, 512, 256, 128, 100, 64, 32})
            for (const std::size_t covered : {block, sizes_.rows / block * block})
                if (covered < sizes_.rows)
                    suspect({"wrong_mirror",
                             sentence("Only the first {} of {} rows have their mirror columns updated.", covered,
                                      sizes_.rows),
                             "Every row needs a thread of the kernel that updates the mirrors: (rows + threads - 1) / "
                             "threads blocks."},
                            {.rows_mirrored = covered});
        for (const std::size_t walk : {8, 4, 16, 32})
            if (walk < sizes_.rows)
                suspect({"row_not_kept",
                         sentence("Of every {} rows, only the first uses the row above it: the others use their own "
                                  "row in its place.",
                                  walk),
                         "When a thread walks down, the row above, this row and the row below change places: in which "
                         "order are they assigned?"},
                        {.walk = walk});
        const std::tuple<const char*, int, int> rows[] = {{"above is the cell's own row", 0, 1},
                                                          {"below is the cell's own row", -1, 0},
                                                          {"above is the row below", 1, 1},
                                                          {"below is the row above", -1, -1}};
        for (const auto& [words, above, below] : rows)
            suspect({"wrong_operation", sentence("In every cell's sum, the row {}.", words),
                     "A cell has three neighbours in the row above it and three in the row below it: which row does "
                     "each line read, for the first and for the last row of a thread?"},
                    {.row_above = above, .row_below = below});
        suspect(
            mirror("The mirror columns of rows 0 to rows - 1 of the padded field are updated; cells are in rows 1 to "
                   "rows."),
            {.first_mirrored = 0});
    }

    /// The formula has a wrong factor, cells get a neighbour's conductivity, or an edge row is never computed.
    void suspect_factors() {
        constexpr std::size_t max_updates = 1'000'000;  // cells times iterations
        if (sizes_.cells() * sizes_.max_iterations > max_updates) return;
        const std::pair<const char*, Rules::Factors> factors[] = {{"c * old + c * mean", {0, 1, 0, 1}},
                                                                  {"c * old + mean", {0, 1, 1, 0}},
                                                                  {"old + (1 - c) * mean", {1, 0, 1, -1}},
                                                                  {"(1 - c) * mean", {0, 0, 1, -1}},
                                                                  {"(1 - c) * old + (1 - c) * mean", {1, -1, 1, -1}},
                                                                  {"c * mean", {0, 0, 0, 1}},
                                                                  {"old + c * mean", {1, 0, 0, 1}},
                                                                  {"c * old + (1 + c) * mean", {0, 1, 1, 1}},
                                                                  {"c * old - (1 - c) * mean", {0, 1, -1, 1}}};
        for (const auto& [words, factor] : factors)
            suspect(
                {"wrong_operation",
                 sentence("The new values are those of {}, where mean is the weighted sum of the neighbours.", words),
                 "A cell keeps c of its own temperature and takes 1 - c from its neighbours: c * old + (1 - c) * "
                 "mean."},
                {.factors = factor});
        suspect({"wrong_operation", "The new values are those of c * old: the neighbours do not count.",
                 "A cell takes 1 - c from its neighbours: c * old + (1 - c) * mean, with their weighted mean."},
                {.factors = {0, 1, 0, 0}});
        const std::pair<const char*, Rules::Conductivity> cells[] = {{"above it", Rules::Conductivity::above},
                                                                     {"below it", Rules::Conductivity::below},
                                                                     {"on its left", Rules::Conductivity::left_cell},
                                                                     {"on its right", Rules::Conductivity::right_cell}};
        for (const auto& [words, conductivity] : cells)
            suspect(
                {"other_conductivity", sentence("Every cell has the conductivity of the cell {}.", words),
                 "Cell (i, j) has conductivity[i * columns + j], without mirror columns and halo rows. If values are "
                 "loaded ahead or kept: to which row or column do they belong when they are used?"},
                {.conductivity = conductivity});
        const std::pair<const char*, Rules> edges[] = {
            {"first and the last row of cells keep", {.first_row_fixed = true, .last_row_fixed = true}},
            {"first row of cells keeps", {.first_row_fixed = true}},
            {"last row of cells keeps", {.last_row_fixed = true}}};
        for (const auto& [words, rules] : edges)
            suspect({"edge_row_fixed", sentence("The {} the old values; only halo rows are fixed.", words),
                     "Cells are rows 1 to rows of the padded field, and all of them change. The fixed halo rows are 0 "
                     "and rows + 1: which of the two numberings does your test use?"},
                    rules);
    }

    /// The mirror columns are read from, or written to, neighbours of the right elements.
    void suspect_misplaced_mirror() {
        const auto element = [](int off) {
            return off == 0 ? std::string("columns") : fmt::format("columns {} 1", off < 0 ? '-' : '+');
        };
        const char* const hint =
            "A row of the padded field has columns + 2 elements: its cells are 1 to columns. So, "
            "row[0] = row[columns], and row[columns + 1] = row[1].";
        suspect({"wrong_mirror", "A copy to a mirror column is the wrong way round: row[columns] gets row[0].", hint},
                {.mirror = Rules::Mirror::misplaced, .misplaced = {.left_reversed = true}});
        suspect(
            {"wrong_mirror", "A copy to a mirror column is the wrong way round: row[1] gets row[columns + 1].", hint},
            {.mirror = Rules::Mirror::misplaced, .misplaced = {.right_reversed = true}});
        for (const int right_to : {-1, 0})
            for (const int right_from : {-1, 0, 1})
                for (const int left_from : {0, -1, 1})
                    for (const bool right_first : {false, true})
                        suspect({"wrong_mirror",
                                 sentence("Columns wrap around, but here element 0 of each row gets element {}, and "
                                          "element {} gets element {}.",
                                          element(left_from), element(1 + right_to), std::to_string(1 + right_from)),
                                 hint},
                                {.mirror = Rules::Mirror::misplaced,
                                 .misplaced = {left_from, right_to, right_from, right_first, false, false}});
    }

    /// Threads cover only a part of the cells: the grid's rows and columns are exchanged, its size is rounded down, or
    /// an index lacks the block's size.
    void suspect_coverage() {
        const auto round_up = [](std::size_t count, std::size_t to) { return (count + to - 1) / to * to; };
        for (const std::size_t x : {32, 16, 8, 64, 128, 256, 4, 1})
            for (const std::size_t y : {8, 32, 16, 4, 1, 2})
                suspect_covered("transposed_index", round_up(sizes_.columns, x), round_up(sizes_.rows, y),
                                "rows and columns are exchanged: blockIdx.x belongs to columns, blockIdx.y to rows");
        for (const std::size_t x : {32, 16, 8, 64, 128, 256, 4})
            for (const std::size_t y : {8, 32, 16, 4, 1, 2})
                suspect_covered("block_size_forgotten", unscaled_end(sizes_.rows, y), unscaled_end(sizes_.columns, x),
                                "blocks begin blockDim apart: blockIdx.x * blockDim.x + threadIdx.x, and y likewise");
        for (const std::size_t block : {32, 16, 8, 64, 128, 256, 4}) {
            suspect_covered("tail_lost", sizes_.rows / block * block, sizes_.columns,
                            name_rounding("rows", 'y', sizes_.rows, block));
            suspect_covered("tail_lost", sizes_.rows, sizes_.columns / block * block,
                            name_rounding("columns", 'x', sizes_.columns, block));
        }
    }

    /// Return the reason why only whole blocks are covered in a direction: with a few columns, blocks with exchanged
    /// extents cover as many of them as a grid that is rounded down.
    static std::string name_rounding(const char* name, char axis, std::size_t count, std::size_t block) {
        const std::string reason = sentence("{} / {} rounds down", name, block);
        for (const std::size_t extent : {32, 16, 64, 128})
            if (extent > block && (count + extent - 1) / extent * block == count / block * block)
                return sentence(
                    "{}, or the block has {} threads in {}, and the grid is computed for blocks of {}, as if the "
                    "extents of the block were exchanged",
                    reason, block, axis, extent);
        return reason;
    }

    void suspect_covered(const char* cause, std::size_t rows, std::size_t columns, const std::string& reason) {
        if (rows >= sizes_.rows && columns >= sizes_.columns) return;
        const auto old = problem_.arrays[initial].as<double>(), found = actuals_[field].as<double>();
        for (std::size_t k = 0; k < sizes_.cells(); ++k)
            if (found[k] != old[k] && (k / sizes_.columns >= rows || k % sizes_.columns >= columns)) return;
        const std::string some_rows = rows < sizes_.rows ? sentence("the first {} of {} rows", rows, sizes_.rows) : "",
                          some_columns = columns < sizes_.columns
                                             ? sentence("the first {} of {} columns", columns, sizes_.columns)
                                             : "",
                          both = some_rows.empty() || some_columns.empty() ? "" : " and ";
        suspect(
            {cause, sentence("Only {}{}{} ever change: {}.", some_rows, both, some_columns, reason),
             "The grid has (columns + BLOCK_X - 1) / BLOCK_X blocks in x and as many in y as rows need, rounded up."},
            {.rows_covered = rows, .columns_covered = columns});
    }

    /// The kernel uses `rows` in place of `columns`, and `columns` in place of `rows`. The changes of cells that it
    /// does not compute are unknown.
    void suspect_exchanged_sizes() {
        const std::size_t iterations = claimed_iterations();
        if (!one_call() || sizes_.rows == sizes_.columns || iterations == 0) return;
        if (sizes_.cells() * iterations > max_explained) return;
        for (const std::size_t x : {32, 16, 8, 64, 128, 256})
            for (const std::size_t y : {8, 32, 16, 4, 1, 0}) {  // 0: threads step through all rows
                const auto covered = [](std::size_t count, std::size_t to) {
                    return to ? (count + to - 1) / to * to : SIZE_MAX;
                };
                const Rules rules{.sizes_exchanged = true,
                                  .rows_covered = covered(sizes_.rows, y),
                                  .columns_covered = covered(sizes_.columns, x)};
                suspect({"transposed_index",
                         sentence("The field is handled as if it had {} rows and {} columns; it has {} and {}.",
                                  sizes_.columns, sizes_.rows, sizes_.rows, sizes_.columns),
                         "Are rows and columns exchanged, in a launch's arguments or in the kernel's parameters? The "
                         "order must be the same in both."},
                        [problem = problem_, rules, iterations, actuals = actuals_](std::vector<Array>& outputs) {
                            MistakenSolver mistaken(problem, rules);
                            for (std::size_t k = 0; k < iterations; ++k) mistaken.iterate();
                            mistaken.fields.copy_cells(mistaken.answer(), outputs[field].as<double>().data());
                            outputs[result] = actuals[result];
                            return true;
                        });
            }
    }

    /// The kernel reads next and writes current: the returned field is that of the previous iteration, and its mirror
    /// columns are updated only after it was read.
    void suspect_exchanged_fields() {
        if (!one_call() || right_iterations_ < 2 || claimed_iterations() != right_iterations_) return;
        suspect({"buffers_not_swapped",
                 "The returned field is that of the previous iteration, and its mirror columns were updated too "
                 "late: as if the kernel read next and wrote current.",
                 "The kernel reads current and writes next: compare the arguments of the launch with the parameters."},
                [problem = problem_, last = right_iterations_ - 1, actuals = actuals_](std::vector<Array>& outputs) {
                    MistakenSolver mistaken(problem, {.mirror = Rules::Mirror::of_old_field});
                    for (std::size_t k = 0; k < last; ++k) mistaken.iterate();
                    mistaken.fields.copy_cells(mistaken.answer(), outputs[field].as<double>().data());
                    outputs[result] = actuals[result];
                    return true;
                });
    }

    /// A neighbour is missing, is subtracted, or replaces another one; or parentheses are missing.
    void suspect_formula() {
        constexpr std::size_t max_updates = 300'000;  // cells times iterations: there are 41 such mistakes
        if (sizes_.rows < 3 || sizes_.columns < 3 || sizes_.cells() * sizes_.max_iterations > max_updates) return;
        static constexpr const char* names[] = {"above",      "on the left", "on the right", "below",
                                                "above left", "above right", "below left",   "below right"};
        const auto formula = [](const std::string& message) {
            return Mistake{"wrong_operation", message,
                           "Each of the eight neighbours is added once: four direct ones, times direct_weight, and "
                           "four diagonal ones, times diagonal_weight."};
        };
        suspect(
            {"wrong_operation", "The new values are those of c * old + 1 - c * (…), without parentheses around 1 - c.",
             "Products are computed before differences: write (1 - c) * (…)."},
            {.without_parentheses = true});
        for (std::size_t k = 0; k < std::size(names); ++k) {
            Rules rules;
            rules.times[k] = -1;
            suspect(formula(sentence("The neighbour {} is subtracted, not added.", names[k])), rules);
            rules.times[k] = 0;
            suspect(formula(sentence("The neighbour {} is not in the sum.", names[k])), rules);
            for (std::size_t other = k / 4 * 4; other < k / 4 * 4 + 4; ++other) {
                if (other == k) continue;
                rules.times[other] = 2;
                suspect(formula(sentence("The neighbour {} is added twice, and the neighbour {} not at all.",
                                         names[other], names[k])),
                        rules);
                rules.times[other] = 1;
            }
        }
    }

    /// A thread that computes several rows takes a wrong row for the one above or below, or uses the wrong distance
    /// between rows.
    void suspect_strips() {
        for (const std::size_t rows : {8, 4, 16, 2}) {
            suspect(
                {"other_conductivity",
                 sentence("In strips of {} rows, each row uses the conductivities of the strip's first row, and "
                          "begins there one cell further on for each row.",
                          rows),
                 "The conductivities of cells one below the other are `columns` elements apart: what is added to the "
                 "pointer for row k of a thread?"},
                {.conductivity = Rules::Conductivity::along_row, .strip = rows});
            suspect({"row_not_kept",
                     sentence("A thread walks down its {} rows, but for row k it loads row k again as the row below.",
                              rows),
                     "The row below row k is row k + 1: which row belongs to the k-th conductivity, and which one is "
                     "loaded with it?"},
                    {.strip = rows, .strip_lags = true});
            suspect({"wrong_pitch",
                     sentence("In strips of {} rows, new temperatures are stored as if rows were {} apart; rows of the "
                              "padded field are {} apart.",
                              rows, sizes_.columns, sizes_.columns + 2),
                     "In current and next, the next row begins columns + 2 elements further on, because of the mirror "
                     "columns; in conductivity, columns elements."},
                    {.strip = rows, .strip_is_narrow = true});
        }
    }

    void suspect_high_rows() {
        const std::size_t iterations = iterations_to_repeat();
        if (iterations == 0) return;
        for (const std::size_t steps : {4, 2, 3})
            for (const std::size_t band : {16, 8, 32})
                suspect(
                    {"stored_too_high",
                     sentence("Rows are stored one row too high: in each band of {} rows, the first is never "
                              "stored, and the second takes its place.",
                              band),
                     "The last step of a pass gives row - steps. Its first row that belongs to the band is row top: "
                     "does the condition in front of the store include it?"},
                    [problem = problem_, steps, band, iterations, actuals = actuals_](std::vector<Array>& outputs) {
                        return repeat_passes(HighRows(problem, band), steps, iterations, actuals, outputs);
                    });
    }

    void suspect_tile_walk() {
        const std::size_t iterations = iterations_to_repeat();
        if (iterations == 0) return;
        const std::pair<const char*, TileWalk> walks[] = {
            {"for the k-th row, it reads row y + k of the tile as the row below, and moves there", {.below = 0}},
            {"for the k-th row, it reads row y + k + 2 of the tile as the row below, and moves there", {.below = 2}},
            {"it begins with its own first row in place of the row above", {.first_above = 0}},
            {"it begins with the row below its first row in place of the row above", {.first_above = 1}},
            {"the row above gets the row below, not the thread's previous row", {.above_follows = true}}};
        for (const auto& [words, walk] : walks)
            suspect({"row_not_kept", sentence("A thread walks down its rows of a tile, but {}.", words),
                     "When a thread moves down by one, its own row becomes the row above, and the row below becomes "
                     "its own: after cell k, the row below is row y + k + 1, and the next one is y + k + 2."},
                    [problem = problem_, walk, iterations, actuals = actuals_](std::vector<Array>& outputs) {
                        return repeat_passes(TiledRows(problem, walk), 2, iterations, actuals, outputs);
                    });
    }

    /// Lanes get the value of a wrong lane, or of its wrong column.
    void suspect_shuffles() {
        const std::size_t iterations = iterations_to_repeat();
        if (iterations == 0) return;
        for (const std::size_t steps : {4, 2, 3, 6, 8})
            for (const Shuffles& shuffles : wrong_shuffles())
                suspect(
                    {"wrong_lane", describe_shuffles(shuffles),
                     "A lane has two neighbouring columns. The neighbour on the left is the right column of "
                     "the lane before, by __shfl_up_sync with a distance of 1; the neighbour on the right is "
                     "the left column of the next lane, by __shfl_down_sync with 1."},
                    [problem = problem_, shuffles, steps, iterations, actuals = actuals_](std::vector<Array>& outputs) {
                        return repeat_passes(Strips(problem, shuffles), steps, iterations, actuals, outputs);
                    });
    }

    /// Return the iterations that the program claims; 0 if they are divided among several calls, if the field is right,
    /// or if repeating them takes too long.
    std::size_t iterations_to_repeat() const {
        constexpr std::size_t max_updates = 400'000;  // cells times iterations
        const std::size_t iterations = claimed_iterations();
        return one_call() && sizes_.cells() * iterations <= max_updates && !field_is_right() ? iterations : 0;
    }

    /// Compute the iterations in passes of at most `steps`, and write the field to the outputs. The result is the
    /// submission's, so that only the field is compared.
    template <class Passes>
    static bool repeat_passes(Passes passes, std::size_t steps, std::size_t iterations,
                              const std::vector<Array>& actuals, std::vector<Array>& outputs) {
        for (std::size_t first = 0; first < iterations; first += steps)
            passes.pass(std::min(steps, iterations - first));
        passes.fields.copy_cells(passes.fields.current, outputs[field].as<double>().data());
        outputs[result] = actuals[result];
        return true;
    }

    bool field_is_right() const {
        const auto is_near = [](double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(1.0, std::abs(a)); };
        return std::ranges::equal(problem_.arrays[field].as<double>(), actuals_[field].as<double>(), is_near);
    }

    static std::vector<Shuffles> wrong_shuffles() {
        std::vector<Shuffles> all = {{.up_of_left = true},
                                     {.down_of_right = true},
                                     {.up_of_left = true, .down_of_right = true},
                                     {.up = -1, .down = -1}};
        for (const int distance : {2, 3, 4, 0, 16, 5, 8}) {
            all.push_back({.up = distance});
            all.push_back({.down = distance});
            all.push_back({.up = distance, .down = distance});
        }
        return all;
    }

    static std::string describe_shuffles(const Shuffles& shuffles) {
        const auto lane = [](int distance, const char* where) {
            return distance == 0
                       ? std::string("the lane itself")
                       : sentence("{} {} {}", std::abs(distance), std::abs(distance) == 1 ? "lane" : "lanes", where);
        };
        std::string words = "Warps get neighbours from wrong lanes or columns:";
        if (shuffles.up != 1 || shuffles.up_of_left)
            words +=
                sentence(" the neighbour on the left is the {} column of {}", shuffles.up_of_left ? "left" : "right",
                         lane(shuffles.up, shuffles.up < 0 ? "further on" : "before"));
        if ((shuffles.up != 1 || shuffles.up_of_left) && (shuffles.down != 1 || shuffles.down_of_right))
            words += ", and";
        if (shuffles.down != 1 || shuffles.down_of_right)
            words += sentence(" the neighbour on the right is the {} column of {}",
                              shuffles.down_of_right ? "right" : "left",
                              lane(shuffles.down, shuffles.down < 0 ? "before" : "further on"));
        return words + ".";
    }

    /// The code reports the largest change rounded to float, after the right number of iterations or after all.
    void suspect_change_in_float() {
        const double reported = actual_[largest_change];
        const std::size_t last = claimed_iterations();
        if (right_iterations_ == 0 || (last != right_iterations_ && last != sizes_.max_iterations)) return;
        if (reported == 0 || static_cast<double>(static_cast<float>(reported)) != reported) return;
        const std::vector<double> changes = last_changes(last);
        const auto [lowest, highest] = std::minmax_element(changes.begin(), changes.end());
        const double largest = std::max(-*lowest, *highest);
        const double distance = std::abs(reported - largest);
        if (distance <= change_bound() || distance > largest * std::numeric_limits<float>::epsilon()) return;
        suspect_stopped_at(last,
                           {"truncated",
                            sentence("The largest change is {}, but {} is reported: that is the same value as a float.",
                                     largest, reported),
                            "Changes are doubles. Is a change stored in a float variable, parameter or array, or "
                            "computed by a function for float, fabsf or fmaxf? Use fabs and fmax."},
                           reported);
    }

    /// The code copies only the first 4 of the 8 bytes of the largest change.
    void suspect_half_of_change() {
        const double reported = actual_[largest_change];
        const std::size_t last = claimed_iterations();
        if (last == 0 || last > sizes_.max_iterations || sizes_.cells() * last > max_explained) return;
        const double largest = largest_of(last_changes(last));
        if (std::abs(reported - largest) <= change_bound() || !is_half_of(reported, largest)) return;
        suspect_stopped_at(last,
                           {"truncated",
                            sentence("The largest change is {}, but {} is reported: these are the first 4 of its 8 "
                                     "bytes, read as another number.",
                                     largest, reported),
                            "A change is a double. Is the variable to which it is copied a double, and is the size of "
                            "the copy sizeof(double)?"},
                           reported);
    }

    /// Return whether `reported` has the first 4 bytes of `largest`: as a float, as an int or in an empty double. The
    /// value of `largest` is known only up to rounding errors.
    bool is_half_of(double reported, double largest) const {
        constexpr double max_slack = 0x1p24;  // of 2^32 values
        if (reported == 0 || !std::isfinite(reported)) return false;
        const double infinity = std::numeric_limits<double>::infinity();
        const double slack = change_bound() / (std::nextafter(largest, infinity) - largest);
        const auto first_half = [](double value) {
            return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value));
        };
        const auto is_near = [&](std::uint32_t bits) {
            const auto distance = static_cast<std::int32_t>(bits - first_half(largest));
            return std::abs(static_cast<double>(distance)) <= slack;
        };
        if (slack > max_slack || is_near(0)) return false;  // small numbers would fit a half of 0
        const auto as_float = static_cast<float>(reported);
        const bool is_float = static_cast<double>(as_float) == reported,
                   is_integer = reported == std::floor(reported) && std::abs(reported) < 0x1p32,
                   is_empty = std::bit_cast<std::uint64_t>(reported) >> 32 == 0;
        return (is_float && is_near(std::bit_cast<std::uint32_t>(as_float))) ||
               (is_integer && is_near(static_cast<std::uint32_t>(static_cast<std::int64_t>(reported)))) ||
               (is_empty && is_near(first_half(reported)));
    }

    /// The code reports the largest change of a different iteration, and may end because of it.
    void suspect_change_of_other_iteration() {
        const double reported = actual_[largest_change];
        const std::size_t last = claimed_iterations(), computed = std::max(last, right_iterations_);
        if (last == 0 || last > sizes_.max_iterations || sizes_.cells() * computed > max_explained) return;
        MistakenSolver right(problem_, {});
        std::vector<double> largest;
        for (std::size_t k = 0; k < computed; ++k) largest.push_back(right.iterate().largest);
        const auto is_near = [&](double change) { return std::abs(change - reported) <= change_bound(); };
        const auto found = std::ranges::find_if(largest, is_near);
        if (std::ranges::count_if(largest, is_near) != 1 || is_near(largest[last - 1]) || is_near(0)) return;
        const auto other = static_cast<std::size_t>(found - largest.begin()) + 1;
        suspect_stopped_at(
            last,
            {"other_iteration",
             sentence("The largest change of iteration {}, the last one, is {}, but {} is reported: this "
                      "is the largest change of iteration {}.",
                      last, largest[last - 1], reported, other),
             other + 1 == last ? "Is the change copied after the kernels of this iteration, and from where they write "
                                 "it?"
                               : "If the changes of several iterations are copied at once: where do those of this "
                                 "batch begin, in the array on the device and in that on the host?"},
            reported);
    }

    /// The reported change exceeds all changes, so the iterations never end early.
    void suspect_too_large_maximum() {
        const double reported = actual_[largest_change];
        if (!one_call() || right_iterations_ == 0 || claimed_iterations() != sizes_.max_iterations) return;
        const std::vector<double> changes = last_changes(sizes_.max_iterations);
        const auto [lowest, highest] = std::minmax_element(changes.begin(), changes.end());
        const double largest = std::max(-*lowest, *highest);
        if (!(reported > largest + change_bound())) return;
        suspect_stopped_at(
            sizes_.max_iterations,
            {"maximum_too_large",
             sentence("{} is reported as the largest change of the last iteration, which is {}.", reported, largest),
             "Start the maximum at 0 in each iteration. Does the comparison include a value from another iteration, or "
             "memory that was never set? Or does a step add two values instead of taking the larger one?"},
            reported);
    }

    /// Field and count are right, but the reported change is that of another cell.
    void suspect_lost_maximum() {
        if (right_iterations_ == 0 || actual_[iterations_done] != answer_[iterations_done]) return;
        if (!(actual_[largest_change] < answer_[largest_change])) return;
        const std::vector<double> changes = last_changes(right_iterations_);
        if (actual_[largest_change] == 0 && ends_early() && right_iterations_ > 1)
            suspect(
                {"change_not_returned",
                 sentence("The code ends after the right iteration, so it finds the largest change of each. But it "
                          "returns 0 instead of the last one, {}.",
                          largest_of(changes)),
                 "Set HeatState::largest_change to the value that is compared with threshold. Do two variables have "
                 "the same name, one of them inside the loop?"},
                take_actual({result}));
        suspect({"lost_maximum",
                 sentence("The field is right, but the largest change is not: {}.", describe_lost_maximum(changes)),
                 lost_maximum_hint(changes)},
                take_actual({result}));
    }

    /// If the reported change is the largest new - old, a missing fabs is as likely as lost cells.
    std::string lost_maximum_hint(const std::vector<double>& changes) const {
        const double reported = actual_[largest_change], warmest = *std::max_element(changes.begin(), changes.end());
        const auto magnitude = [](double a, double b) { return std::abs(a) < std::abs(b); };
        const double smallest = std::abs(*std::min_element(changes.begin(), changes.end(), magnitude));
        if (reported == 0)
            return std::string(threshold_of(problem_) > 0
                                   ? ""
                                   : "Is the 0 what the reduction finds, or only what the function returns: is "
                                     "HeatState::largest_change set to the value that is compared with threshold? If "
                                     "the reduction finds 0: ") +
                   "Is the largest value that threads exchange kept, or only assigned: max(a, b), and not a = b? And "
                   "is it the maximum, fmax, and not fmin, which keeps the 0 that it begins with?";
        if (reported < 0 && std::abs(warmest - reported) > change_bound())
            return "A largest change is never below 0. Is it a double in every line, and is all of it copied, from "
                   "where the kernel writes it?";
        if (reported > 0 && reported < std::numeric_limits<double>::min())
            return sentence(
                "It has the bits of the integer {}: convert bits by __double_as_longlong and "
                "__longlong_as_double, not values.",
                std::bit_cast<std::uint64_t>(reported));
        if (reported == std::floor(reported))
            return "It is a whole number: is the change computed with fabs, in double, and not with abs or an int?";
        if (std::abs(smallest - reported) <= change_bound())
            return "It is the smallest change: is the minimum taken where the maximum is needed?";
        const bool is_short = std::abs(largest_in_beginning(changes) - reported) <= change_bound();
        const std::string count = is_short ? "A field with its border has (rows + 2) * (columns + 2) elements: with "
                                             "how many are the changes compared? "
                                           : "";
        const bool has_sign = std::abs(warmest - reported) <= change_bound();
        return count + (has_sign ? "Is it the absolute value, fabs(new - old)? And is" : "Is") +
               " every cell compared, with fmax and not fmin in any line? A tree that halves the number of threads "
               "loses some of them unless it is a power of two. If the value differs from run to run, threads race: "
               "between two steps of a tree, all of them must wait at a __syncthreads(), and several blocks or warps "
               "may write to a variable only with atomicMax.";
    }

    /// Return the largest change of the cells that lie in the first rows * columns elements of a padded field.
    double largest_in_beginning(const std::vector<double>& changes) const {
        double largest = 0;
        for (std::size_t k = 0; k < changes.size(); ++k)
            if ((k / sizes_.columns + 1) * (sizes_.columns + 2) + k % sizes_.columns + 1 < sizes_.cells())
                largest = std::max(largest, std::abs(changes[k]));
        return largest;
    }

    /// Return the largest allowed difference of a change from the reference.
    double change_bound() const { return 2 * rounding_bound(static_cast<double>(sizes_.max_iterations)); }

    /// Return each cell's new - old in the last of some iterations.
    std::vector<double> last_changes(std::size_t iterations) const {
        MistakenSolver right(problem_, {});
        for (std::size_t k = 0; k < iterations; ++k) right.iterate();
        std::vector<double> changes(sizes_.cells());
        for (std::size_t k = 0; k < changes.size(); ++k) {
            const std::size_t at = (k / sizes_.columns + 1) * right.fields.pitch + k % sizes_.columns + 1;
            changes[k] = right.fields.current[at] - right.fields.next[at];
        }
        return changes;
    }

    /// Return a clause such as "3.1 is the change of cell (1, 0), and cell (6, 14) changes by -3.4".
    std::string describe_lost_maximum(const std::vector<double>& changes) const {
        const double reported = actual_[largest_change];
        std::size_t largest = 0, nearest = 0;
        const auto distance = [&](std::size_t k) { return std::abs(std::abs(changes[k]) - reported); };
        for (std::size_t k = 0; k < changes.size(); ++k) {
            if (std::abs(changes[k]) > std::abs(changes[largest])) largest = k;
            if (distance(k) < distance(nearest)) nearest = k;
        }
        const auto name = [&](std::size_t k) {
            return sentence("cell ({}, {})", k / sizes_.columns, k % sizes_.columns);
        };
        const bool is_of_a_cell = distance(nearest) <= change_bound();
        const double warmest = *std::max_element(changes.begin(), changes.end());
        const bool has_sign = is_of_a_cell && std::abs(warmest - reported) <= change_bound();
        return sentence("{} is {}{}, and {} changes by {}", reported,
                        is_of_a_cell ? "the change of " + name(nearest) : std::string("no cell's change"),
                        has_sign ? ", the largest of new - old" : "", name(largest), changes[largest]);
    }

    /// The computed change is too small, or equals the threshold, so the iterations end too early.
    void suspect_ended_early() {
        const double count = actual_[iterations_done], found = actual_[largest_change];
        if (!one_call() || !(count >= 1) || !(count < answer_[iterations_done])) return;
        const auto ended = static_cast<std::size_t>(count);
        const std::vector<double> changes = last_changes(ended);
        const double largest = largest_of(changes), threshold = threshold_of(problem_);
        if (std::max(std::abs(largest - threshold), std::abs(found - threshold)) <= change_bound())
            suspect_stopped_at(
                ended,
                {"threshold_counts",
                 sentence("The code ends after {} of {} iterations, when the largest change is the threshold, {}.",
                          ended, right_iterations_, threshold),
                 "Iterations end when every change is below the threshold: < and not <=."},
                found);
        else if (found < largest - change_bound())
            suspect_stopped_at(ended,
                               {"lost_maximum",
                                sentence("The code ends after {} of {} iterations, because the largest change that it "
                                         "found is too small: {}.",
                                         ended, right_iterations_, describe_lost_maximum(changes)),
                                lost_maximum_hint(changes)},
                               found);
    }

    /// Return a hint for a result whose count differs from the right one by `difference`.
    static std::string result_hint(double difference, bool claims_nothing) {
        if (claims_nothing)
            return "Does the program reach the line that sets the result? If the result comes from a std::vector, use "
                   "v.resize(n): v.reserve(n) adds no elements.";
        if (difference < -1)
            return sentence("{} iterations are missing. Does the count go on from one batch of iterations to the next?",
                            -difference);
        if (difference > 1)
            return sentence(
                "{} iterations too many are counted. Do those count that were computed after the one that ends?",
                difference);
        if (difference != 0)
            return "Every computed iteration counts, including the last one: count it before the test that ends the "
                   "loop.";
        return "It is the largest fabs(new - old) of all cells in the last iteration. Is it copied from where the "
               "kernel wrote it, after the kernel has written it?";
    }

    /// The field is right, but the reported values are not: name the wrong value. The judge still looks for a race.
    void suspect_result() {
        const auto words = [&](std::size_t which, const char* name) {
            return sentence("HeatState::{} is {}, expected {}", name, actual_[which], answer_[which]);
        };
        const double difference = actual_[iterations_done] - answer_[iterations_done];
        const char* off = difference == 1 ? ", one too many" : difference == -1 ? ", one too few" : "";
        const bool count_is_wrong = difference != 0;
        const bool change_is_wrong = !(std::abs(actual_[largest_change] - answer_[largest_change]) <= change_bound());
        if (!count_is_wrong && !change_is_wrong) return;
        const bool claims_nothing = actual_[iterations_done] == 0 && actual_[largest_change] == 0;
        const std::string count = words(iterations_done, "iterations") + off,
                          change = words(largest_change, "largest_change");
        suspect({cause::wrong_result,
                 sentence("The field is right, but the returned result is not: {}{}{}.", count_is_wrong ? count : "",
                          count_is_wrong && change_is_wrong ? "; " : "", change_is_wrong ? change : ""),
                 result_hint(difference, claims_nothing)},
                take_actual({result}));
    }

    /// All wrong cells are so close to the edges of tiles that only data from neighbouring tiles can be wrong.
    void suspect_tile_edges(std::size_t tile) {
        if (right_iterations_ == 0 || 4 * right_iterations_ > tile) return;
        const auto right = std::as_const(problem_.arrays[field]).as<double>();
        const auto actual = std::as_const(actuals_[field]).as<double>();
        const double bound = rounding_bound(static_cast<double>(right_iterations_));
        const auto is_near = [&](std::size_t at, std::size_t end) {
            const std::size_t edge = (at + tile / 2) / tile * tile;
            return edge > 0 && edge < end && (at < edge ? edge - at : at - edge + 1) <= right_iterations_;
        };
        const auto is_outermost = [&](std::size_t at, std::size_t end) {
            return at < right_iterations_ || at + right_iterations_ >= end;
        };
        bool across = true, down = true;
        bool at_sides = true, at_ends = true;  // the field's own edges explain the wrong cells as well
        // [k]: edge k between two tiles is near a wrong cell.
        std::vector<bool> columns(sizes_.columns / tile + 2), rows(sizes_.rows / tile + 2);
        for (std::size_t k = 0; k < sizes_.cells(); ++k) {
            if (std::abs(right[k] - actual[k]) <= bound) continue;
            const std::size_t i = k / sizes_.columns, j = k % sizes_.columns;
            across = across && is_near(j, sizes_.columns);
            down = down && is_near(i, sizes_.rows);
            at_sides = at_sides && is_outermost(j, sizes_.columns);
            at_ends = at_ends && is_outermost(i, sizes_.rows);
            columns[(j + tile / 2) / tile] = rows[(i + tile / 2) / tile] = true;
        }
        const auto all_edges = [&](const std::vector<bool>& wrong, std::size_t end) {
            return std::all_of(wrong.begin() + 1, wrong.begin() + 1 + static_cast<long>((end - 1) / tile),
                               [](bool is_wrong) { return is_wrong; });
        };
        across = across && !at_sides && sizes_.columns > tile && all_edges(columns, sizes_.columns);
        down = down && !at_ends && sizes_.rows > tile && all_edges(rows, sizes_.rows);
        if (!across && !down) return;
        suspect({"tile_edge_wrong",
                 sentence("All wrong cells lie where tiles of {} {} meet, at most {} cells from there.", tile,
                          across ? "columns" : "rows", right_iterations_),
                 "A tile needs one more ring of cells around it for each iteration of a pass, including the "
                 "corners: are all of them loaded?"},
                take_actual({field, result}));
    }

    std::vector<Array> actuals_;
    Problem problem_;
    Sizes sizes_;
    std::span<const double> answer_, actual_;
    std::size_t right_iterations_;  // the right number of iterations
    std::optional<MistakenSolver> states_;
    std::size_t state_ = 0;  // the number of iterations that states_ has done
    std::vector<Hypothesis> hypotheses_;
};

// --- experiments ---

/// Finds the first iteration after which cells are wrong, and the cells from which the first wrong one is computed.
class Investigation {
  public:
    Investigation(const Oracle& oracle, const Situation& situation, const Experiment& call)
        : oracle_(oracle), problem_(situation.problem), sizes_(sizes_of(problem_)), call_(call) {
        problem_.reals[0] = 0;  // no iteration is the last one before max_iterations
        for (const Buffer buffer : {field, result}) problem_.arrays[buffer] = problem_.arrays[buffer].clone();
    }

    std::string findings() {
        constexpr std::size_t max_tried = 8;
        for (std::size_t k = 1; k <= std::min(sizes_.max_iterations, max_tried); ++k) {
            problem_.sizes[2] = problem_.sizes[3] = static_cast<std::int64_t>(k);
            const auto outputs = call_(problem_);
            if (!outputs) return "";
            right_.push_back(solve_after(k));
            const Array& actual = (*outputs)[field];
            const auto is_wrong = [&](std::size_t i) {
                return !oracle_.accepts(problem_, field, i, right_.back().as<double>()[i], actual.as<double>()[i]);
            };
            std::size_t first = 0, wrong = 0;
            for (std::size_t i = sizes_.cells(); i-- > 0;)
                if (is_wrong(i)) first = i, ++wrong;
            if (wrong == 0) continue;
            if (const std::string state = name_state(k, actual); !state.empty()) return state;
            const std::string places = describe_places(sizes_.rows, sizes_.columns, is_wrong);
            return begin_sentence(k) +
                   sentence("{} of {} cells are wrong{}. ", wrong, sizes_.cells(),
                            places.empty() ? places : ", in " + places) +
                   (k > 1 ? name_border(is_wrong) : "") + describe_cell(k, first, actual.as<double>()[first]);
        }
        return "";
    }

  private:
    static std::string begin_sentence(std::size_t k) {
        if (k == 1) return "After one iteration, ";
        return sentence("After {} the field is right, but after {}, ", format_plural(k - 1, "iteration"),
                        std::to_string(k));
    }

    /// If the whole field is that after a number of iterations other than k, return a sentence that says so.
    std::string name_state(std::size_t k, const Array& actual) {
        for (std::size_t other = 0; other <= k + max_steps; ++other) {
            if (other == k) continue;
            const Array after = solve_after(other);
            const auto is_same = [](double a, double b) { return std::abs(a - b) <= rounding_bound(2 * max_steps); };
            if (!std::ranges::equal(after.as<double>(), actual.as<double>(), is_same)) continue;
            const std::string before =
                k == 1 ? "" : sentence("After {} the field is right. ", format_plural(k - 1, "iteration"));
            return before + (other == 0
                                 ? sentence("If max_iterations is {}, the field has not changed.", std::to_string(k))
                                 : sentence("If max_iterations is {}, the field is that after {}.", std::to_string(k),
                                            format_plural(other, "iteration")));
        }
        return "";
    }

    /// If all wrong cells read the same part of the border, return a sentence that says so.
    std::string name_border(const std::function<bool(std::size_t i)>& is_wrong) const {
        bool in_rows = sizes_.rows > 2, in_columns = sizes_.columns > 2;
        for (std::size_t k = 0; k < sizes_.cells(); ++k) {
            if (!is_wrong(k)) continue;
            const std::size_t i = k / sizes_.columns, j = k % sizes_.columns;
            in_rows = in_rows && (i == 0 || i + 1 == sizes_.rows);
            in_columns = in_columns && (j == 0 || j + 1 == sizes_.columns);
        }
        if (in_rows == in_columns) return "";
        return in_rows ? "All of them have neighbours in a halo row, which must stay as it was. "
                       : "All of them have neighbours in a mirror column, which must repeat the column of cells at the "
                         "other end. ";
    }

    Array solve_after(std::size_t k) {
        problem_.sizes[2] = problem_.sizes[3] = static_cast<std::int64_t>(k);
        oracle_.reference(problem_, Execution::openmp);
        return problem_.arrays[field].clone();
    }

    std::string name(std::size_t cell) const {
        return sentence("cell ({}, {})", cell / sizes_.columns, cell % sizes_.columns);
    }

    std::string describe_cell(std::size_t k, std::size_t cell, double actual) {
        const auto is_close = [&](double value) { return std::abs(value - actual) <= rounding_bound(8); };
        if (is_close(problem_.arrays[initial].as<double>()[cell]))
            return sentence("The first of them, {}, still has its value from the beginning.", name(cell));
        for (std::size_t other = 1; other <= k + 1; ++other)
            if (const Array after = solve_after(other); other != k && is_close(after.as<double>()[cell]))
                return sentence("The first of them, {}, has the value that belongs there after {}.", name(cell),
                                format_plural(other, "iteration"));
        const Array right = solve_after(k);
        for (std::size_t other = 0; other < sizes_.cells(); ++other)
            if (is_close(right.as<double>()[other]))
                return sentence("The first of them, {}, has the value that belongs to {}.", name(cell), name(other));
        return k == 1 ? describe_weights(cell) : "";
    }

    std::string describe_weights(std::size_t cell) {
        constexpr std::size_t max_wrong = 30, max_named = 6;
        problem_.sizes[2] = problem_.sizes[3] = 1;
        Array& conductivities = problem_.arrays[conductivity];
        conductivities = Array(ElementType::float64, conductivities.count());
        std::ranges::fill(conductivities.as<double>(), equal_conductivity);
        const auto taps = find_taps({oracle_, problem_, {initial, halo}, field, cell}, call_, max_wrong);
        if (!taps) return "";
        if (taps->constant != 0)
            return sentence("If all temperatures are 0, {} becomes {}.", name(cell), taps->constant);
        std::string text;
        for (std::size_t i = 0; i < std::min(taps->wrong.size(), max_named); ++i)
            text += (i ? "; " : "") + describe_tap(cell, taps->wrong[i]);
        if (text.empty() && taps->complete)
            return sentence(
                "If all conductivities are equal, {} is right: it is computed with the conductivity of "
                "another cell.",
                name(cell));
        if (text.empty()) return "";
        return sentence("In {}, {}{}", name(cell), text,
                        std::string(taps->complete && taps->wrong.size() <= max_named ? "." : "; and so on."));
    }

    std::string describe_tap(std::size_t cell, const Tap& tap) const {
        const std::string which = name_term(cell, tap);
        constexpr double rest = 1 - equal_conductivity;
        constexpr double close = 1e-4;
        if (std::abs(tap.weight) < close) return which + " does not count";
        if (std::abs(tap.weight - rest * direct_weight) < close) return which + " counts as a direct neighbour";
        if (std::abs(tap.weight - rest * diagonal_weight) < close) return which + " counts as a diagonal neighbour";
        if (tap.expected != 0 && std::abs(tap.weight / tap.expected - std::round(tap.weight / tap.expected)) < close)
            return sentence("{} counts {} times", which, std::round(tap.weight / tap.expected));
        if (std::abs(tap.weight - tap.expected - rest * direct_weight) < close)
            return which + " also counts as a direct neighbour";
        if (std::abs(tap.weight - tap.expected - rest * diagonal_weight) < close)
            return which + " also counts as a diagonal neighbour";
        return sentence("{} has weight {:.4g} instead of {:.4g}", which, tap.weight, tap.expected);
    }

    /// Return the place of a term relative to the cell, or its row and column.
    std::string name_term(std::size_t cell, const Tap& tap) const {
        const auto columns = static_cast<std::int64_t>(sizes_.columns);
        const auto row = static_cast<std::int64_t>(tap.buffer == initial        ? tap.index / sizes_.columns
                                                   : tap.index < sizes_.columns ? std::size_t{0} - 1
                                                                                : sizes_.rows);
        const auto column = static_cast<std::int64_t>(tap.index % sizes_.columns);
        const std::int64_t down = row - static_cast<std::int64_t>(cell / sizes_.columns);
        std::int64_t across = column - static_cast<std::int64_t>(cell % sizes_.columns);
        if (across == columns - 1 && columns > 2) across = -1;
        if (across == 1 - columns && columns > 2) across = 1;
        static constexpr const char* names[3][3] = {
            {"the cell above left", "the cell above", "the cell above right"},
            {"the cell on the left", "the cell itself", "the cell on the right"},
            {"the cell below left", "the cell below", "the cell below right"}};
        if (std::abs(down) <= 1 && std::abs(across) <= 1) return names[down + 1][across + 1];
        return sentence("cell ({}, {})", row, column);
    }

    static constexpr double equal_conductivity = 0.25;

    const Oracle& oracle_;
    Problem problem_;
    const Sizes sizes_;
    const Experiment& call_;
    std::vector<Array> right_;  // after 1, 2 … iterations
};

class HeatDissipation : public Oracle {
  public:
    Problem generate(const Dataset& dataset, std::uint64_t seed, std::size_t extra) const override {
        Problem problem = dataset.generator == "pgm" ? read_pictures(dataset) : compute(dataset, seed, extra);
        fill_halo(problem);
        if (dataset.parameters.contains("stop_after"))
            problem.reals[0] =
                find_threshold(dataset, problem, static_cast<std::size_t>(read_size(dataset, "stop_after")));
        return problem;
    }

    void reference(Problem& problem, Execution how) const override {
        Fields fields(problem);
        const Outcome outcome = solve(fields, problem, how);
        fields.copy_cells(fields.current, problem.arrays[field].as<double>().data());
        const auto values = problem.arrays[result].as<double>();
        values[iterations_done] = static_cast<double>(outcome.iterations);
        values[largest_change] = outcome.change;
    }

    Cost cost(const Problem& problem) const override {
        const Sizes sizes = sizes_of(problem);
        const auto cells = static_cast<double>(sizes.cells()), iterations = static_cast<double>(sizes.max_iterations);
        return {24 * cells, 24 * cells * iterations, 12 * cells * iterations, iterations,
                "24 rows x columns x iterations: two reads and a write of 8 bytes each for every cell"};
    }

    void shorten(Problem& problem) const override {
        const Sizes sizes = sizes_of(problem);
        const std::size_t max_kept = std::max<std::size_t>(40, 1'000'000'000 / sizes.cells());
        problem.sizes[2] = static_cast<std::int64_t>(std::min(sizes.max_iterations, max_kept));
    }

    Tolerance tolerance(const Problem& problem, std::size_t) const override {
        return {rounding_bound(static_cast<double>(sizes_of(problem).max_iterations)), 0};
    }

    /// The number of iterations is exact; a change is the difference of two temperatures.
    bool accepts(const Problem& problem, std::size_t buffer, std::size_t index, double expected,
                 double actual) const override {
        if (buffer == result && index == iterations_done) return expected == actual;
        const double bound = tolerance(problem, buffer).absolute;
        return std::abs(actual - expected) <= (buffer == result ? 2 * bound : bound);
    }

    std::vector<Hypothesis> hypotheses(const Situation& situation) const override {
        return Suspicions(situation).hypotheses();
    }

    std::string investigate(const Situation& situation, const Experiment& call) const override {
        return Investigation(*this, situation, call).findings();
    }

  private:
    static Problem read_pictures(const Dataset& dataset) {
        require_only(dataset, {"temperature", "conductivity", "low", "high", "iterations", "report_every", "threshold",
                               "stop_after"});
        return from_pictures(dataset);
    }

    static Problem compute(const Dataset& dataset, std::uint64_t seed, std::size_t extra) {
        const auto& generator = find_generator(dataset, generators, {"pgm"});
        require_only(dataset, {"rows", "columns", "iterations", "report_every", "threshold", "stop_after"});
        const auto rows = static_cast<std::size_t>(read_size(dataset, "rows"));
        const auto columns = static_cast<std::size_t>(read_size(dataset, "columns"));
        Problem problem = empty_problem(dataset, rows, columns, extra);
        fill(problem.arrays[initial], generator.first, seed, rows, columns);
        fill(problem.arrays[conductivity], generator.second, seed, rows, columns);
        return problem;
    }
};

}  // namespace

const Oracle* warplab_oracle() {
    static const HeatDissipation oracle;
    return &oracle;
}

}  // namespace warplab
