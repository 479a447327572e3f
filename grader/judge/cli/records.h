#pragma once
// The journal's records: what the verbs found about the student's own files, one line each of JSON, in
// work/<lab>/journal/records.jsonl. Only ever appended to; grader/journal reads and renders them.

#include <filesystem>
#include <string>

#include "grader/common/json.h"
#include "grader/model/report.h"

namespace warplab {

/// The stage and the text of it that a record is about.
struct RecordedFile {
    std::string lab, stage;
    std::string hash;              // sha256 of what was compiled
    std::filesystem::path source;  // kept once a hash, if it still is that text; may be missing
};

std::filesystem::path records_file(const std::filesystem::path& work, const std::string& lab);

/// Appends {"schema": 1, "kind": kind, "time": time, "lab": …, "stage": …, "source_hash": …} and the keys of `entry`,
/// in one write under a lock: two at once do not mix, and being killed leaves whole lines. Throws UsageError when the
/// file cannot be written; nothing of the entry is in it then.
void append_record(const std::filesystem::path& work, const RecordedFile& file, const std::string& kind,
                   const std::string& time, const Json& entry);

/// What a check, a benchmark or grading found about one of the report's stages. `dataset`: when only one was asked for.
void record_report(const std::filesystem::path& work, const Report& report, const StageReport& stage,
                   const std::string& dataset);

/// The same of a report that was made elsewhere, from the file of that name: only of a text that is the student's, now
/// or in an earlier record, and only once.
enum class Imported { added, there_already, not_yours };
Imported record_imported(const std::filesystem::path& work, const Report& report, const StageReport& stage,
                         const std::string& from);

}  // namespace warplab
