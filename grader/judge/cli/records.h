#pragma once
// The journal's records: the verbs' results for the student's own files, one line of JSON each, in
// work/<lab>/journal/records.jsonl. The judge only appends to it; grader/python/journal reads and renders the records.

#include <filesystem>
#include <string>

#include "grader/common/json.h"
#include "grader/model/report.h"

namespace warplab {

/// The stage of a record, and the version of its file.
struct RecordedFile {
    std::string lab, stage;
    std::string hash;              // sha256 of the compiled text
    std::filesystem::path source;  // a copy is kept per hash if the file still has that hash; may be missing
};

std::filesystem::path records_file(const std::filesystem::path& work, const std::string& lab);

/// Append {"schema": 1, "kind": kind, "time": time, "lab": …, "stage": …, "source_hash": …} and the keys of `entry`, in
/// one write under a lock: two writers do not mix, and a killed one leaves only whole lines. Throws UsageError if the
/// file cannot be written; then it contains no part of the entry.
void append_record(const std::filesystem::path& work, const RecordedFile& file, const std::string& kind,
                   const std::string& time, const Json& entry);

/// Record the result of a check, a benchmark or grading of one of the report's stages. `dataset`: the only one
/// requested, if any.
void record_report(const std::filesystem::path& work, const Report& report, const StageReport& stage,
                   const std::string& dataset);

/// Record a report that was made elsewhere, from the file of that name. It must be about a text that is the student's,
/// now or in an earlier record, and it is added only once.
enum class Imported { added, there_already, not_yours };
Imported record_imported(const std::filesystem::path& work, const Report& report, const StageReport& stage,
                         const std::string& from);

}  // namespace warplab
