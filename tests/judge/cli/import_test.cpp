#include "grader/judge/cli/import.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "grader/common/hash.h"
#include "grader/common/read_file.h"
#include "grader/common/utf8.h"
#include "grader/model/manifest.h"
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

    std::string refusal(const Report& report) const {
        try {
            import_report(report, lab_, "back.json", work_);
        } catch (const UsageError& error) {
            return error.what();
        }
        return "";
    }

    fs::path work_;
    Lab lab_;
};

TEST_F(Import, PrintsNoControlCharactersOfAReport) {
    const ImportSummary done = import_report(make_report(), lab_, "back.json", work_);
    EXPECT_EQ(done.added, 1);
    EXPECT_THAT(done.text, testing::HasSubstr("measured on A ?[2J GPU ?"));
    EXPECT_EQ(to_printable(done.text), done.text);
}

TEST_F(Import, FindsAStageByItsSlugIfItsNumberHasChanged) {
    Report report = make_report();
    report.stages[0].stage = "77" + lab_.stages[0].id.substr(2);
    EXPECT_EQ(import_report(report, lab_, "back.json", work_).added, 1);
    EXPECT_THAT(read_file(work_ / lab_.name / "journal/records.jsonl"),
                testing::Not(testing::HasSubstr(report.stages[0].stage)));
}

TEST_F(Import, RejectsFilesThatAreTooLargeOrMissing) {
    const fs::path large = work_ / "large.json";
    std::ofstream(large) << "{}";
    fs::resize_file(large, std::uintmax_t{1} << 40);
    EXPECT_THROW(read_report(large), UsageError);
    EXPECT_THROW(read_report("/dev/zero"), UsageError);
    EXPECT_THROW(read_report(work_ / "missing.json"), UsageError);
}

TEST_F(Import, RejectsInvalidAndFutureTimes) {
    Report report = make_report();
    for (const char* time :
         {"", "2026-13-45T99:99:99Z", "2026-02-30T00:00:00Z", "2026-11-20T24:00:00Z", " 026-11-20T10:00:00Z",
          "2026-11-20T10:00:00z", "2026-11-20 10:00:00Z", "2026-11-20T10:00:00+", "2026-11-20T10:00:00Z\n"}) {
        report.time = time;
        EXPECT_EQ(refusal(report), fmt::format("back.json cannot be imported: its time, \"{}\", is not in the form "
                                               "2026-11-20T10:00:00Z.",
                                               UntrustedText(time).for_terminal()));
    }
    report.time = "2099-01-01T00:00:00Z";
    EXPECT_THAT(refusal(report), testing::HasSubstr("its time, 2099-01-01T00:00:00Z, is in the future"));
    report.time = "2024-02-29T23:59:59Z";
    EXPECT_EQ(refusal(report), "");
}

TEST_F(Import, RejectsReportsThatTheJudgeCannotHaveProduced) {
    Report in_future = make_report(), of_unknown_dataset = make_report(), without_time = make_report();
    in_future.time = "9999-01-01T00:00:00Z";
    of_unknown_dataset.stages[0].measurements[0].dataset = "none";
    without_time.stages[0].measurements[0].median_s = 0;
    for (const Report& report : {in_future, of_unknown_dataset, without_time})
        EXPECT_THROW(import_report(report, lab_, "back.json", work_), UsageError);
    EXPECT_FALSE(fs::exists(work_ / lab_.name / "journal"));
}

}  // namespace
}  // namespace warplab
