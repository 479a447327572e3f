#include "grader/judge/cli/records.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "grader/common/descriptor.h"
#include "grader/common/hash.h"
#include "grader/common/read_file.h"
#include "grader/model/manifest.h"

namespace warplab {
namespace fs = std::filesystem;
namespace {

std::string as_line(const Json& json) { return json.dump() + "\n"; }

UsageError cannot_write(const fs::path& file) {
    return UsageError(fmt::format("The journal's records {} cannot be written ({}).", file.string(), strerror(errno)));
}

/// The file of records, locked while this object exists.
class Records {
  public:
    explicit Records(const fs::path& file) : file_(file) {
        std::error_code error;
        fs::create_directories(file.parent_path(), error);
        locked_ = Descriptor(open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644));
        struct stat status {};
        if (!locked_ || fstat(locked_.get(), &status) != 0) throw cannot_write(file);
        if (!S_ISREG(status.st_mode))
            throw UsageError(
                fmt::format("{} is not a regular file, so the journal's records cannot be kept in it. "
                            "Remove it.",
                            file.string()));
        while (flock(locked_.get(), LOCK_EX) != 0)
            if (errno != EINTR) break;  // the file system has no locks, but append() still makes a single write
        auto text = try_read_file(file, max_bytes);
        if (!text) {
            const auto limit = fmt::format("The file has more than {} MB, or cannot be read", max_bytes >> 20);
            throw UsageError(
                fmt::format("The journal's records {} are not used. {}. Move the file to another folder "
                            "to begin a new journal.",
                            file.string(), limit));
        }
        text_ = *std::move(text);
        drop_half_line();
    }

    bool has(const std::string& part) const { return text_.find(part) != std::string::npos; }

    void append(std::string lines) {
        if (!text_.empty() && text_.back() != '\n') lines.insert(0, "\n");
        const ssize_t wrote = write(locked_.get(), lines.data(), lines.size());
        if (wrote == static_cast<ssize_t>(lines.size())) return;
        const int error = wrote < 0 ? errno : ENOSPC;
        if (wrote > 0 && ftruncate(locked_.get(), static_cast<off_t>(text_.size())) != 0) errno = error;
        errno = error;
        throw cannot_write(file_);
    }

  private:
    /// Remove the incomplete line of a process that was killed while writing; no reader has used it.
    void drop_half_line() {
        const std::size_t begin = text_.rfind('\n') + 1;  // 0 if there is none
        if (begin == text_.size() || Json::accept(text_.substr(begin))) return;
        if (ftruncate(locked_.get(), static_cast<off_t>(begin)) == 0) text_.resize(begin);
    }

    static constexpr std::size_t max_bytes = 256 << 20;  // many times the size of a term's journal

    fs::path file_;
    Descriptor locked_;
    std::string text_;  // the file's text when the lock was taken
};

bool has_text(const Records& records, const std::string& hash) {
    return records.has(fmt::format(R"({{"schema":1,"kind":"source","hash":"{}")", hash));
}

/// Return the record with the file's text; empty if the text is already recorded or the file has changed since.
std::string source_line(const Records& records, const Record& result, const Source& source) {
    if (result.source_hash.empty() || has_text(records, result.source_hash)) return "";
    if (source.hash() != result.source_hash) return "";
    Record line;
    line.kind = Record::Kind::source;
    line.hash = result.source_hash;
    line.time = result.time;
    line.lab = result.lab;
    line.stage = result.stage;
    line.file = result.stage + ".cu";
    line.text = source.text();
    return as_line(to_json(line));
}

void append_to(Records& records, const Record& result, const Source& source) {
    records.append(source_line(records, result, source) + as_line(to_json(result)));
}

Record record_of(const Report& report, const StageReport& stage) {
    Record result;
    result.kind = Record::Kind::report;
    result.time = report.time;
    result.lab = report.lab;
    result.stage = stage.stage;
    result.source_hash = stage.source_hash;
    result.verb = report.verb;
    result.report = report;
    result.report->stages = {stage};
    return result;
}

}  // namespace

fs::path records_file(const fs::path& work, const std::string& lab) { return work / lab / "journal/records.jsonl"; }

void append_record(const fs::path& work, const Record& result, const Source& source) {
    Records records(records_file(work, result.lab));
    append_to(records, result, source);
}

void record_report(const fs::path& work, const Report& report, const StageReport& stage, const std::string& dataset) {
    Record result = record_of(report, stage);
    result.dataset = dataset;
    append_record(work, result, Source(stage.source));
}

Imported record_imported(const fs::path& work, const Report& report, const StageReport& stage,
                         const std::string& from) {
    Records records(records_file(work, report.lab));
    Record result = record_of(report, stage);
    std::string body = as_line({{"report", to_json(*result.report)}});  // {"report":…}
    body = body.substr(1, body.size() - 3);
    if (records.has(body)) return Imported::already_there;
    const Source own_file(work / report.lab / (stage.stage + ".cu"));
    if (own_file.hash() != stage.source_hash && !has_text(records, stage.source_hash)) return Imported::not_yours;
    result.imported_from = from;
    append_to(records, result, own_file);
    return Imported::added;
}

}  // namespace warplab
