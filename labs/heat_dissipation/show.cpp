// Calls the contract's function once for each report, prints the table of reports, and saves the fields for show.py.

#include "grader/judge/lab/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <utility>
#include <vector>

#include "grader/common/text.h"
#include "labs/heat_dissipation/pgm.h"

namespace warplab {
namespace {

enum Buffer { initial, conductivity, halo, field, result };

const std::filesystem::path own_pictures = "datasets/heat_dissipation";
constexpr double flops_per_cell = 12;
constexpr std::size_t max_across = 400;  // rows or columns of a saved field: of a larger one, a sample is saved
constexpr std::size_t default_reports = 40;

/// Statistics over all cells of a field; NaN if a cell is NaN.
struct Report {
    double min = 0, max = 0, mean = 0;
};

Report summarise(std::span<const double> cells) {
    Report report{cells[0], cells[0], 0};
    for (const double cell : cells) {
        report.min = std::isnan(cell) ? cell : std::min(report.min, cell);
        report.max = std::isnan(cell) ? cell : std::max(report.max, cell);
    }
    report.mean = std::accumulate(cells.begin(), cells.end(), 0.0) / static_cast<double>(cells.size());
    return report;
}

class HeatShow : public Show {
  public:
    explicit HeatShow(const ShowRequest& request) : folder_(request.folder) {
        request.require_only({"conductivity", "low", "high", "iterations", "every", "threshold"});
        low_ = request.number("low", 0, -1000, 1000);
        high_ = request.number("high", 100, -1000, 1000);
        iterations_ = static_cast<std::size_t>(request.number("iterations", 2000, 1, 1e6));
        const auto default_every = static_cast<double>((iterations_ + default_reports - 1) / default_reports);
        every_ = static_cast<std::size_t>(request.number("every", default_every, 1, 1e6));
        threshold_ = request.number("threshold", 0, 0, 1000);
        if (iterations_ / every_ > 1000)
            throw UsageError(fmt::format("every={} would give {} reports; choose a value that gives at most 1000.",
                                         every_, format_count(iterations_ / every_)));
        read_pictures(request);
        saved_.open(folder_ / "fields.f32", std::ios::binary);
        save(std::as_const(cells_).as<double>());
    }

    std::optional<Problem> next_call() override {
        if (done_ >= iterations_ || ended_) return std::nullopt;
        const auto k = static_cast<std::int64_t>(std::min(every_, iterations_ - done_));
        return Problem{{static_cast<std::int64_t>(rows_), static_cast<std::int64_t>(columns_), k, k},
                       {threshold_},
                       {cells_, conductivity_, halo_, Array(ElementType::float64, rows_ * columns_),
                        Array(ElementType::float64, 2)}};
    }

    std::string take(const Problem& problem, double call_s) override {
        const auto result_array = problem.arrays[result].as<double>();
        const auto requested = static_cast<double>(problem.sizes[2]);
        std::string lines;
        if (done_ == 0)
            lines = fmt::format("  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}\n", "iterations", "T(min)",
                                "T(max)", "T(diff)", "T(avg)", "time", "FLOP/s");
        ended_ = !(result_array[0] == requested) || !(result_array[1] >= threshold_);  // also true for NaN
        done_ +=
            static_cast<std::size_t>(std::clamp(std::isnan(result_array[0]) ? 0 : result_array[0], 0.0, requested));
        time_s_ += call_s;
        cells_ = problem.arrays[field].clone();
        const auto cells = std::as_const(cells_).as<double>();
        save(cells);
        const Report report = summarise(cells);
        const double flops = flops_per_cell * static_cast<double>(rows_ * columns_ * done_);
        lines += fmt::format("  {:>10}  {:>10.4f}  {:>10.4f}  {:>10.3e}  {:>10.4f}  {:>10}  {:>10.3e}\n",
                             format_count(done_), report.min, report.max, result_array[1], report.mean,
                             format_seconds(time_s_), time_s_ > 0 ? flops / time_s_ : 0);
        return lines;
    }

    std::string finish() override {
        saved_.close();
        std::ofstream(folder_ / "fields.json")
            << fmt::format(R"({{"rows": {}, "columns": {}, "low": {}, "high": {}, "iterations": [{}]}})", saved_rows(),
                           saved_columns(), std::min(low_, high_), std::max(low_, high_), fmt::join(reports_, ", "))
            << "\n";
        return "";
    }

  private:
    void read_pictures(const ShowRequest& request) {
        const bool is_default = request.image.empty();
        const heat::Picture temperatures =
            heat::PgmReader(is_default ? own_pictures / "stove_temperature.pgm" : request.image).read();
        rows_ = temperatures.height;
        columns_ = temperatures.width;
        cells_ = Array(ElementType::float64, rows_ * columns_);
        conductivity_ = Array(ElementType::float64, rows_ * columns_);
        halo_ = Array(ElementType::float64, 2 * columns_);
        const auto cells = cells_.as<double>(), conductivities = conductivity_.as<double>(), edge = halo_.as<double>();
        for (std::size_t k = 0; k < cells.size(); ++k) cells[k] = low_ + temperatures.values[k] * (high_ - low_);
        std::copy_n(cells.begin(), columns_, edge.begin());
        std::copy_n(cells.end() - static_cast<std::ptrdiff_t>(columns_), columns_,
                    edge.begin() + static_cast<std::ptrdiff_t>(columns_));

        const std::string file =
            request.text("conductivity", is_default ? (own_pictures / "stove_conductivity.pgm").string() : "");
        if (file.empty()) {
            std::fill(conductivities.begin(), conductivities.end(), 0.2);
            return;
        }
        const heat::Picture picture = heat::PgmReader(file).read();
        if (picture.width != columns_ || picture.height != rows_)
            throw UsageError(
                fmt::format("{}: the picture of conductivities is {} x {}, and the picture of temperatures {} x {}; "
                            "they must have the same size.",
                            file, picture.width, picture.height, columns_, rows_));
        std::copy(picture.values.begin(), picture.values.end(), conductivities.begin());
    }

    std::size_t step() const { return (std::max(rows_, columns_) + max_across - 1) / max_across; }
    std::size_t saved_rows() const { return (rows_ + step() - 1) / step(); }
    std::size_t saved_columns() const { return (columns_ + step() - 1) / step(); }

    void save(std::span<const double> cells) {
        std::vector<float> sampled;
        for (std::size_t i = 0; i < rows_; i += step())
            for (std::size_t j = 0; j < columns_; j += step())
                sampled.push_back(static_cast<float>(cells[i * columns_ + j]));
        saved_.write(reinterpret_cast<const char*>(sampled.data()),
                     static_cast<std::streamsize>(sampled.size() * sizeof(float)));
        reports_.push_back(done_);
    }

    std::filesystem::path folder_;
    double low_ = 0, high_ = 0, threshold_ = 0, time_s_ = 0;
    std::size_t iterations_ = 0, every_ = 0, rows_ = 0, columns_ = 0, done_ = 0;
    bool ended_ = false;
    Array cells_, conductivity_, halo_;
    std::ofstream saved_;
    std::vector<std::size_t> reports_;  // iterations done at each saved field
};

}  // namespace

std::unique_ptr<Show> warplab_show(const ShowRequest& request) { return std::make_unique<HeatShow>(request); }

}  // namespace warplab
