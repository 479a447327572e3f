#include "grader/judge/cli/records.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "grader/common/hash.h"
#include "grader/common/json_node.h"
#include "grader/model/manifest.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;

class Records : public testing::Test {
  protected:
    Records() { fs::create_directories(work_ / "dot_product"); }
    ~Records() override { fs::remove_all(work_); }

    /// Write the source file and return a record for it.
    Record write_source(const std::string& text) const {
        std::ofstream(source_) << text;
        Record result;
        result.kind = Record::Kind::sweep;
        result.time = "2026-01-02T03:04:05Z";
        result.lab = "dot_product";
        result.stage = "01_atomic";
        result.source_hash = sha256(text);
        return result;
    }
    void append(Record result, int number) const {
        result.dataset = std::to_string(number);
        append_record(work_, result, source_);
    }
    fs::path file() const { return records_file(work_, "dot_product"); }
    /// Parse every line as a JSON document.
    std::vector<Json> lines() const {
        std::ifstream stream(file());
        std::vector<Json> documents;
        for (std::string line; std::getline(stream, line);) documents.push_back(Json::parse(line));
        return documents;
    }
    static Report report(const std::string& host, const std::string& source_hash = "") {
        Report report;
        report.verb = "grade";
        report.lab = "dot_product";
        report.backend = "cuda";
        report.time = "2026-01-02T03:04:05Z";
        report.machine.host = host;
        StageReport stage;
        stage.stage = "01_atomic";
        stage.source_hash = source_hash;
        stage.verdict = Verdict::passed;
        report.stages = {stage};
        return report;
    }

    fs::path work_ = fs::path(testing::TempDir()) /
                     (std::string("records-") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::path source_ = work_ / "dot_product/01_atomic.cu";
};

TEST_F(Records, KeepEachSourceTextOnce) {
    const Record first = write_source("one\n");
    append(first, 1);
    append(first, 2);
    const Record second = write_source("two\xff\n");
    append(second, 3);
    append(first, 4);  // its text is kept, although the file has changed
    std::string kinds;
    for (const Json& line : lines()) kinds += line["kind"] == "source" ? "s" : line["dataset"].get<std::string>();
    EXPECT_EQ(kinds, "s12s34");
    EXPECT_EQ(lines()[0]["text"], "one\n");
    EXPECT_EQ(lines()[0]["hash"], lines()[1]["source_hash"]);
    EXPECT_EQ(lines()[1]["time"], "2026-01-02T03:04:05Z");
    EXPECT_EQ(lines()[3]["text"], "two\xEF\xBF\xBD\n");
}

TEST_F(Records, DoNotKeepSourceTextThatWasNotJudged) {
    const Record judged = write_source("as it was\n");
    write_source("edited while it was checked\n");
    append(judged, 1);
    ASSERT_EQ(lines().size(), 1u);
    EXPECT_EQ(lines()[0]["source_hash"], judged.source_hash);
}

TEST_F(Records, AnIncompleteLineIsDroppedAndWrittenAgain) {
    const Record source = write_source("one\n");
    append(source, 1);
    const auto begins = fmt::format(R"({{"schema":1,"kind":"source","hash":"{}","te)", source.source_hash);
    std::ofstream(file()) << begins;  // killed while it wrote the first line
    append(source, 2);
    ASSERT_EQ(lines().size(), 2u);
    EXPECT_EQ(lines()[0]["text"], "one\n");
    EXPECT_EQ(lines()[1]["dataset"], "2");
}

TEST_F(Records, ACompleteLineWithoutALineBreakIsKept) {
    const Record source = write_source("one\n");
    append(source, 1);
    fs::resize_file(file(), fs::file_size(file()) - 1);
    append(source, 2);
    ASSERT_EQ(lines().size(), 3u);
    EXPECT_EQ(lines()[1]["dataset"], "1");
}

TEST_F(Records, ParallelWritersDoNotMixLines) {
    const Record source = write_source(std::string(100'000, 'x'));
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread)
        threads.emplace_back([&, thread] {
            for (int k = 0; k < 20; ++k) append(source, thread);
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(lines().size(), 1u + 8 * 20);
}

TEST_F(Records, AreCompleteLinesAfterAKill) {
    const Record source = write_source(std::string(300'000, 'x'));
    for (int round = 0; round < 5; ++round) {
        const pid_t child = fork();
        if (child == 0)
            for (int number = 0;; ++number) append(source, number);
        const auto before = fs::exists(file()) ? fs::file_size(file()) : 0;
        while (!fs::exists(file()) || fs::file_size(file()) == before) usleep(1000);
        usleep(3000 * round);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        append(source, -1);
        EXPECT_EQ(lines().back()["dataset"], "-1");
    }
    // The source, and one record of the parent per round. A child may be killed in its first write.
    EXPECT_GE(lines().size(), 6u);
    EXPECT_EQ(lines().front()["text"].get<std::string>().size(), 300'000u);
}

TEST_F(Records, ReportTheReasonIfTheyCannotBeWritten) {
    const Record source = write_source("one\n");
    std::ofstream(work_ / "dot_product/journal") << "a file where the folder should be";
    try {
        append(source, 1);
        FAIL() << "the record was written";
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr((work_ / "dot_product/journal/records.jsonl").string()));
    }
}

TEST_F(Records, AnImportedReportIsAddedOnce) {
    const Record source = write_source("mine\n");
    const Report first = report("box", source.source_hash), second = report("other", source.source_hash);
    EXPECT_EQ(record_imported(work_, first, first.stages[0], "back.json"), Imported::added);
    EXPECT_EQ(record_imported(work_, first, first.stages[0], "back.json"), Imported::already_there);
    write_source("mine, and changed since\n");  // the text is in the records
    EXPECT_EQ(record_imported(work_, second, second.stages[0], "back.json"), Imported::added);
    ASSERT_EQ(lines().size(), 3u);
    EXPECT_EQ(lines()[1]["imported_from"], "back.json");
    EXPECT_EQ(lines()[2]["report"]["machine"]["host"], "other");
}

TEST_F(Records, AReportOfAnotherTextIsNotImported) {
    write_source("mine\n");
    const Report other = report("box", sha256("text of another student\n"));
    EXPECT_EQ(record_imported(work_, other, other.stages[0], "back.json"), Imported::not_yours);
    EXPECT_TRUE(lines().empty());
}

TEST_F(Records, AreReadBackUnchanged) {
    Record result = write_source("one\n");
    result.backend = "cuda";
    result.machine.gpu = "H200";
    result.sweep.emplace().points.emplace_back().defines = {{"VECTORS", 4}, {"BLOCK", 256}};
    append_record(work_, result, source_);
    const std::vector<Json> written = lines();
    Record read;
    from_json(JsonNode(written[1]), read);
    EXPECT_EQ(to_json(read), written[1]);
    EXPECT_EQ(read.sweep->points[0].defines, result.sweep->points[0].defines);
    EXPECT_EQ(kind_name(read.kind), "sweep");
    EXPECT_FALSE(written[0].contains("machine"));
}

TEST_F(Records, FileThatIsTooLargeIsNotRead) {
    const Record result = write_source("one\n");
    fs::create_directories(file().parent_path());
    std::ofstream(file()).close();
    fs::resize_file(file(), std::uintmax_t{300} << 20);  // a sparse file, which needs no space on the disk
    try {
        append(result, 1);
        FAIL() << "the file was read";
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("The file has more than 256 MB"));
    }
}

TEST_F(Records, NameTheOnlyDatasetOfACheck) {
    const Report checked = report("box");
    record_report(work_, checked, checked.stages[0], "small");
    record_report(work_, checked, checked.stages[0], "");
    EXPECT_EQ(lines()[0]["dataset"], "small");
    EXPECT_FALSE(lines()[1].contains("dataset"));
    EXPECT_EQ(lines()[1]["verb"], "grade");
}

}  // namespace
}  // namespace warplab
