#include "grader/judge/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "grader/core/hash.h"
#include "grader/core/manifest.h"
#include "grader/core/utf8.h"
#include "tests/paths.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;

class Import : public testing::Test {
  protected:
    Import()
        : work_(fs::path(testing::TempDir()) / "warplab-import"), lab_(load_lab(test::root_folder(), "vector_add")) {
        fs::remove_all(work_);
        fs::create_directories(work_ / lab_.name);
        std::ofstream(work_ / lab_.name / (lab_.stages[0].id + ".cu")) << "mine\n";
    }

    Report make_report() const {
        Report report;
        report.lab = lab_.name;
        report.time = "2026-11-20T10:00:00Z";
        report.backend = "cuda";
        report.machine.gpu = "A \033[2J GPU \u202e";
        StageReport stage;
        stage.stage = lab_.stages[0].id;
        stage.source_hash = sha256("mine\n");
        Measurement measurement;
        measurement.dataset = lab_.datasets[0].name;
        measurement.samples_s = {1};
        measurement.median_s = 1;
        stage.measurements = {measurement};
        report.stages = {stage};
        return report;
    }

    fs::path work_;
    Lab lab_;
};

TEST_F(Import, PrintsNothingRawOfAReport) {
    const ImportSummary done = import_report(make_report(), lab_, "back.json", work_);
    EXPECT_EQ(done.added, 1);
    EXPECT_THAT(done.text, testing::HasSubstr("measured on A ?[2J GPU ?"));
    EXPECT_EQ(to_printable(done.text), done.text);
}

TEST_F(Import, AddsNothingOfAReportThatTheJudgeCannotHaveProduced) {
    Report late = make_report(), strange = make_report(), timeless = make_report();
    late.time = "9999-01-01T00:00:00Z";
    strange.stages[0].measurements[0].dataset = "none";
    timeless.stages[0].measurements[0].median_s = 0;
    for (const Report& report : {late, strange, timeless})
        EXPECT_THROW(import_report(report, lab_, "back.json", work_), UsageError);
    EXPECT_FALSE(fs::exists(work_ / lab_.name / "journal"));
}

}  // namespace
}  // namespace warplab
