#pragma once
// The journal's records: the verbs' results for the student's own files, one line of JSON each
// (schema/record.schema.json), in work/<lab>/journal/records.jsonl. The judge only appends to this file;
// grader/python/journal reads and renders the records.

#include <filesystem>
#include <string>

#include "generated/record.h"
#include "grader/judge/compile/source.h"
#include "grader/model/report.h"

namespace warplab {

std::filesystem::path records_file(const std::filesystem::path& work, const std::string& lab);

/// Append a result, preceded by the text of `source` if this text still has the result's hash and is not recorded yet.
/// A single write under a lock keeps the records of two writers apart. If a writer is killed in the middle of a line,
/// the next one removes the incomplete line. Throw UsageError if the records cannot be written; they then contain no
/// part of the result.
void append_record(const std::filesystem::path& work, const Record& result, const Source& source);

/// Record the result of a check, a benchmark or grading of one of the report's stages. `dataset`: the only one
/// requested, if any.
void record_report(const std::filesystem::path& work, const Report& report, const StageReport& stage,
                   const std::string& dataset);

enum class Imported { added, already_there, not_yours };
/// Record a report from another machine, read from the file `from`. It must be about the student's file, in its present
/// or an earlier recorded version, and it is added only once.
Imported record_imported(const std::filesystem::path& work, const Report& report, const StageReport& stage,
                         const std::string& from);

}  // namespace warplab
