#include "grader/model/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "tests/model/approval.h"
#include "tests/model/sample_report.h"

namespace warplab {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Report reread(const Report& report) { return report_from_json(Json::parse(to_json(report).dump())); }

std::string error_of(const Json& json) {
    try {
        report_from_json(json);
        return "";
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

TEST(Report, IsWrittenAsApproved) {
    test::expect_approved("report.json", to_json(test::sample_report()).dump(2) + "\n");
}

TEST(Report, EmptyReportIsWrittenAsApproved) {
    Report report;
    report.verb = "check";
    report.lab = "dot_product";
    report.backend = "cpu";
    report.sandbox = "none";
    StageReport bare;
    bare.stage = "01_serial_block_sum";
    report.stages = {bare};
    test::expect_approved("report_bare.json", to_json(report).dump(2) + "\n");
}

TEST(Report, IsUnchangedAfterWritingAndReading) {
    const auto written = to_json(test::sample_report()).dump();
    EXPECT_EQ(to_json(reread(test::sample_report())).dump(), written);
}

TEST(Report, PendingCorrectnessIsKeptAndOptionalInEarlierReports) {
    Report report = test::sample_report();
    report.stages[0].score->correctness_pending = true;
    EXPECT_TRUE(reread(report).stages[0].score->correctness_pending);
    EXPECT_DOUBLE_EQ(report.total().pending, test::sample_report().total().pending + 6);
    Json json = to_json(report);
    json["stages"][0]["score"].erase("correctness_pending");
    EXPECT_FALSE(report_from_json(json).stages[0].score->correctness_pending);
}

TEST(Report, ReadsTheEarlierFormatOfNvccsAnswer) {
    using enum NvccAnswer::Answer;
    const std::vector<std::tuple<std::string, NvccAnswer::Answer, std::string>> texts = {
        {"", not_asked, ""},
        {"ok", compiles, ""},
        {"not found", not_found, ""},
        {"could not be asked: it crashed.", no_answer, "it crashed."},
        {"a.cu(3): error: no member w", refuses, "a.cu(3): error: no member w"}};
    Json json = to_json(test::sample_report());
    for (const auto& [text, kind, log] : texts) {
        json["stages"][0]["compilation"]["nvcc"] = text;
        const NvccAnswer nvcc = report_from_json(json).stages[0].compilation.nvcc;
        EXPECT_EQ(nvcc.answer, kind) << text;
        EXPECT_EQ(nvcc.log, log);
    }
}

TEST(Report, OfEarlierVersionsIsRead) {
    const auto folder = test::root_folder() / "tests/model/old";
    int files = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        const Json json = Json::parse(test::read_file(file.path()));
        const Report report = report_from_json(json);
        EXPECT_EQ(report.stages.size(), 5u) << file.path();
        EXPECT_DOUBLE_EQ(report.total().points, json["total"]["points"].get<double>());
        EXPECT_EQ(report.stages[0].compilation.nvcc.answer, NvccAnswer::Answer::compiles);
        ++files;
    }
    EXPECT_EQ(files, 2);
}

TEST(Report, EveryFieldIsReadBack) {
    // If the reader omitted a key, its field would keep its initial value.
    const Json json = to_json(test::sample_report());
    const Report report = report_from_json(json);
    EXPECT_EQ(report.machine.cpu_cores, 16);
    EXPECT_EQ(report.machine.driver, "580.1");
    const auto& failed = report.stages[1];
    EXPECT_EQ(failed.checks[1].failure->place->index, 1234567u);
    EXPECT_EQ(failed.checks[1].failure->place->actual, "nan");
    EXPECT_TRUE(failed.checks[3].hidden);
    ASSERT_TRUE(failed.check_mode);
    EXPECT_EQ(failed.check_mode->verdict, SanitizerResult::Verdict::failed);
    ASSERT_TRUE(first_finding(failed));
    EXPECT_EQ(first_finding(failed)->line, 10);
    EXPECT_EQ(first_finding(failed)->other_line, 8);
    EXPECT_FALSE(first_finding(report.stages[0]));  // a note
    EXPECT_TRUE(report.stages[0].check_mode->findings[0].note);
    EXPECT_FALSE(report.stages[4].check_mode);
    EXPECT_FALSE(failed.checks[0].failure);
    EXPECT_EQ(report.stages[0].checks[2].skipped_why, "too large for the CPU backend");
    EXPECT_TRUE(report.stages[0].compilation.cached);
    EXPECT_EQ(report.stages[3].error->cause, "implausible_timing");
    EXPECT_FALSE(report.stages[3].score);
    const auto& timed = report.stages[4].measurements[1];
    EXPECT_EQ(timed.calls_per_sample, 500);
    EXPECT_EQ(timed.conditions[1].throttle, "power cap");
    EXPECT_EQ(timed.conditions[1].sm_clock_mhz, 1975);
    EXPECT_EQ(timed.conditions[0].copy_bytes_per_s, 4.25e12);
    EXPECT_FALSE(timed.conditions[1].copy_bytes_per_s);
    EXPECT_FALSE(timed.conditions[2].temperature_c);
    EXPECT_EQ(timed.reference_ratio->high, 1.15);
}

TEST(Report, DoublesComeBackBitForBit) {
    const double values[] = {0.1,
                             1.0 / 3,
                             5e-324,
                             1e20,
                             -0.0,
                             123456789.123456789,
                             3,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
    Report report = test::sample_report();
    auto& samples = report.stages[4].measurements[0].samples_s;
    samples.assign(std::begin(values), std::end(values));
    const auto values_read = reread(report).stages[4].measurements[0].samples_s;
    ASSERT_EQ(values_read.size(), samples.size());
    for (std::size_t i = 0; i < values_read.size(); ++i) {
        EXPECT_EQ(std::isnan(values_read[i]), std::isnan(samples[i]));
        EXPECT_EQ(std::signbit(values_read[i]), std::signbit(samples[i])) << samples[i];
        EXPECT_TRUE(std::isnan(samples[i]) || values_read[i] == samples[i]) << samples[i];
    }
}

TEST(Report, ReportsWithAnyNumbersCanBeReadBack) {
    // Lines, counts and messages may come from a submission's process.
    Report report = test::sample_report();
    auto& stage = report.stages[1];
    Finding& finding = stage.check_mode->findings[0];
    finding.line = -5;
    finding.other_line = std::numeric_limits<int>::min();
    finding.count = UINT64_MAX;
    stage.output = std::string(400'000, '\xff') + "end";
    stage.check_mode->findings.resize(12'000, finding);
    stage.score->correctness = -1;
    stage.score->hygiene_max = std::numeric_limits<double>::quiet_NaN();
    report.stages[4].measurements[0].median_s = 1e300;
    const StageReport stage_read = reread(report).stages[1];
    EXPECT_EQ(stage_read.check_mode->findings[0].line, 0);
    EXPECT_EQ(stage_read.check_mode->findings[0].other_line, 0);
    EXPECT_LT(stage_read.check_mode->findings.size(), 12'000u);
    EXPECT_EQ(stage_read.score->correctness, 0);
}

TEST(Report, LargestIndexIsReadBack) {
    Report report = test::sample_report();
    report.stages[1].checks[1].failure->place->index = UINT64_MAX;
    EXPECT_EQ(reread(report).stages[1].checks[1].failure->place->index, UINT64_MAX);
}

TEST(Report, TextThatIsNotUtf8CanBeWritten) {
    Report report = test::sample_report();
    report.stages[0].output = "na\xefve \xff \xe2\x82\xac \xed\xa0\x80";
    EXPECT_EQ(reread(report).stages[0].output, "na\ufffdve \ufffd \u20ac \ufffd\ufffd\ufffd");
}

TEST(Report, TextFromAFileCannotChangeATerminal) {
    Report report = test::sample_report();
    report.machine.gpu = "H200\033[2J\u202e";
    report.stages[0].notes = {"\033]0;title\a"};
    EXPECT_EQ(reread(report).machine.gpu, "H200?[2J?");
    EXPECT_EQ(reread(report).stages[0].notes.front(), "?]0;title?");
}

TEST(Report, UnknownAndMissingKeysAreAccepted) {
    Json json = to_json(test::sample_report());
    json["new_key"] = {{"a", 1}};
    json["stages"][0]["new_key"] = 2;
    json["stages"][0].erase("notes");
    json["stages"][0]["score"].erase("speed_why");
    json["stages"][0]["error"] = nullptr;
    EXPECT_EQ(error_of(json), "");
}

TEST(Report, RejectsExcessiveSizesWithTheirPlace) {
    Json many_stages = to_json(test::sample_report()), many_checks = many_stages, long_text = many_stages;
    while (many_stages["stages"].size() < 121) many_stages["stages"].push_back(many_stages["stages"][0]);
    Json& checks = many_checks["stages"][1]["checks"];
    while (checks.size() < 401) checks.push_back(checks[0]);
    long_text["stages"][0]["title"] = std::string(1'000'001, 'x');
    EXPECT_THAT(error_of(many_stages), testing::HasSubstr("/stages: 121 items exceed the limit of 120"));
    EXPECT_THAT(error_of(many_checks), testing::HasSubstr("/stages/1/checks: 401 items exceed the limit of 400"));
    EXPECT_THAT(error_of(long_text), testing::HasSubstr("/stages/0/title: 1000001 bytes of text exceed"));
    many_stages["stages"].erase(0);
    checks.erase(0);
    EXPECT_EQ(error_of(many_stages) + error_of(many_checks), "");
}

TEST(Report, MessagesQuoteOnlyAShortPartOfTheFile) {
    const std::string number(5000, '9');
    for (const auto& text : {number, "{\"a\": \"" + number + "\" x", "{\"" + number + "\": 1, \"" + number + "\": 2}",
                             "{\"schema\": \"" + number + "\"}"}) {
        try {
            parse_report(text);
            ADD_FAILURE() << "parse_report() accepted an invalid report";
        } catch (const std::runtime_error& error) {
            EXPECT_LT(std::string_view(error.what()).size(), 1200) << error.what();
        }
    }
}

TEST(Report, InvalidValuesAreReportedWithTheirPlace) {
    const auto after = [](const std::string& pointer, const Json& value) {
        Json json = to_json(test::sample_report());
        json[Json::json_pointer(pointer)] = value;
        return error_of(json);
    };
    EXPECT_THAT(after("/schema", 2), AllOf(HasSubstr("at /schema"), HasSubstr("newer")));
    EXPECT_THAT(after("/stages/1/verdict", "perfect"), AllOf(HasSubstr("at /stages/1/verdict"), HasSubstr("perfect")));
    EXPECT_THAT(after("/stages/1/checks/0/points", "many"), HasSubstr("at /stages/1/checks/0/points"));
    EXPECT_THAT(after("/stages/1/check_mode/verdict", "skipped"), HasSubstr("passed, failed, error, unconfirmed"));
    EXPECT_THAT(after("/stages/1/check_mode/findings/0/line", -1), HasSubstr("-1 is not between 0 and"));
    EXPECT_THAT(after("/stages/4/measurements/0/samples_of_rounds/1", 0), HasSubstr("/samples_of_rounds/1: 0 is"));
    EXPECT_THAT(after("/stages/1/checks/0/hidden", 1), HasSubstr("at /stages/1/checks/0/hidden"));
    EXPECT_THAT(after("/machine/cpu_cores", 1e10), HasSubstr("at /machine/cpu_cores"));
    EXPECT_THAT(after("/machine/cpu_cores", 10'000'000'000), HasSubstr("10000000000 is not between 0 and 2147483647"));
    EXPECT_THAT(after("/stages", "none"), HasSubstr("at /stages"));
    // Export formats have a line for each point, and numbers can have many digits.
    for (const Json& value : {Json(18446744073709551616.0), Json(-1), Json("inf"), Json(10'001)}) {
        EXPECT_THAT(after("/stages/0/score/speed_max", value), HasSubstr("at /stages/0/score/speed_max"));
        EXPECT_THAT(after("/stages/0/score/correctness", value), HasSubstr("at /stages/0/score/correctness"));
        EXPECT_THAT(after("/stages/1/checks/0/points", value), HasSubstr("at /stages/1/checks/0/points"));
    }
    EXPECT_THAT(after("/stages/4/measurements/0/median_s", 1e21), HasSubstr("at /stages/4/measurements/0/median_s"));
    EXPECT_THAT(after("/stages/0/score", 3), HasSubstr("at /stages/0/score"));
    EXPECT_THAT(error_of(Json::array()), HasSubstr("at the top"));
    EXPECT_THAT(error_of({{"schema", 1}}), HasSubstr("\"verb\" is missing"));
}

TEST(Report, OverallVerdictIsTheWorstOfTheStages) {
    Report report;
    EXPECT_EQ(report.verdict(), Verdict::error);
    const auto with = [&](std::initializer_list<Verdict> verdicts) {
        report.stages.clear();
        for (const auto verdict : verdicts) report.stages.push_back(test::stage_report("01_x", "X", verdict));
        return report.verdict();
    };
    EXPECT_EQ(with({Verdict::passed, Verdict::passed}), Verdict::passed);
    EXPECT_EQ(with({Verdict::passed, Verdict::error}), Verdict::error);
    EXPECT_EQ(with({Verdict::error, Verdict::failed, Verdict::passed}), Verdict::failed);
}

TEST(Report, TotalAddsTheScoresOfScoredStages) {
    const Total sum = test::sample_report().total();
    EXPECT_DOUBLE_EQ(sum.points, 8 + 1.2 + 0 + 7.75);
    EXPECT_DOUBLE_EQ(sum.max, 4 * 10);
    EXPECT_DOUBLE_EQ(sum.pending, 2 + 2);
    EXPECT_EQ(sum.without_score, 1);
}

TEST(Report, SpeedupsNeedTwoTimes) {
    Measurement measured;
    measured.sequential_s = 1;
    EXPECT_EQ(measured.speedup_sequential(), 0);
    EXPECT_EQ(measured.bound_fraction(), 0);
    measured.median_s = 2;
    measured.bound_s = 1;
    measured.sequential_s = 8;
    EXPECT_EQ(measured.speedup_sequential(), 4);
    EXPECT_EQ(measured.speedup_openmp(), 0);
    EXPECT_EQ(measured.bound_fraction(), 0.5);
}

}  // namespace
}  // namespace warplab
