#pragma once
// The description of a lab in labs/<lab>/lab.json and datasets/<lab>/{public,hidden}.json.
// Schemas: schema/lab.schema.json and schema/datasets.schema.json.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "grader/common/usage_error.h"

namespace warplab {

enum class ElementType { float32, float64, int32, uint32, uint8 };

inline std::size_t element_bytes(ElementType type) {
    switch (type) {
        case ElementType::float32:
            return 4;
        case ElementType::float64:
            return 8;
        case ElementType::int32:
            return 4;
        case ElementType::uint32:
            return 4;
        case ElementType::uint8:
            return 1;
    }
    throw std::logic_error("unknown element type");
}

std::string_view element_name(ElementType type);  // "float32" …

enum class Role { input, output, inout };

/// A device pointer of the contract function. The driver and the oracle index the pointers in the order of lab.json.
struct BufferSpec {
    std::string name;
    ElementType type;
    Role role;
    std::string about;  // for the handout's contract table, e.g. "n elements"
};

/// A macro that the build can override in a stage's source (-DBLOCK=256), and the values that a sweep tries.
struct Tunable {
    std::string macro;
    std::string about;
    std::vector<std::int64_t> values;
    std::int64_t default_value = 0;
};

/// The sanitizer's counters of a stage's kernels on a dataset; grader/judge/sanitizer/counts.h defines them.
enum class Counter { device_bytes, thread_bytes, device_accesses, device_atomics, sectors, bank_passes, idle_lanes };

std::string_view counter_name(Counter counter);  // "device_bytes" …

/// A limit for a counter that code exceeds only without the stage's technique.
struct CounterLimit {
    Counter counter;
    double at_most = 0;
    std::string dataset;
    std::string about;  // the technique: "shared bins"
};

struct Points {
    double correctness = 0, hygiene = 0, speed = 0;
    double total() const { return correctness + hygiene + speed; }
};

struct Stage {
    std::string id;  // NN_slug
    std::string title;
    std::string idea;
    Points points;
    bool beyond = false;                         // goes beyond the material of the lab
    bool host_variant = false;                   // also defines <lab>_host
    std::uint64_t host_bytes_per_call = 0;       // device-to-host bytes that a call may copy …
    std::uint64_t host_bytes_per_iteration = 0;  // … and additional bytes for each iteration of a solver in the call
    std::vector<Tunable> tunables;
    std::vector<CounterLimit> counters;
};

struct Uses {
    bool check = false;      // used by make check
    bool bench = false;      // timed by make bench
    bool hidden = false;     // used only in grading; from hidden.json
    bool cuda_only = false;  // too large for the CPU backend
    bool unscored = false;   // its times count for no points, and grading omits them by default
};

using Parameter = std::variant<std::int64_t, double, std::string>;
using Parameters = std::map<std::string, Parameter, std::less<>>;

struct Dataset {
    std::string name;
    std::string generator;   // one of the oracle's generators
    Parameters parameters;   // e.g. {"n": 100000}; the oracle reads and checks them
    std::uint64_t seed = 0;  // hidden datasets: derived from the course secret
    Uses uses;
    double points = 0;                // weight within the stage's correctness points
    std::string about;                // one line: the error that it detects
    std::vector<std::string> stages;  // empty = all
    std::filesystem::path folder;     // datasets/<lab>: the folder of the files that the parameters name
    std::filesystem::path file;       // the file that describes it, from the root: datasets/<lab>/public.json
    std::string place;                // its place in that file: /datasets/2
    bool applies_to(const Stage& stage) const;
};

struct Benchmark {
    int iterations = 1000;        // the iterations of a sample
    int iterations_per_call = 1;  // heat: one call does all 1000
};

/// A library function that is timed for comparison with a stage: labs/<lab>/peers/<name>.cu calls it in the contract
/// function. Its results are not checked, because it may solve a problem of the same size for another type.
struct Peer {
    std::string name;   // name of the file, without .cu
    std::string title;  // "cublasSdot"
    std::string stage;  // id of the stage with which it is compared
    std::string about;
    std::vector<std::string> libraries;  // to link: "cublas"
};

struct Lab {
    std::string name;
    std::string title;
    std::string about;
    std::filesystem::path root;      // the project's root
    std::vector<std::string> sizes;  // names of Problem::sizes, in order
    std::vector<std::string> reals;  // names of Problem::reals, in order
    std::vector<BufferSpec> buffers;
    bool asks_first = true;        // a student's check shows a question before the hint (HINT=1)
    bool divides_scratch = false;  // its driver also keeps its own arrays in scratch, in addition to the student's part
    std::vector<Stage> stages;
    std::vector<Dataset> datasets;
    std::vector<Peer> peers;
    Benchmark benchmark;

    std::filesystem::path folder() const { return root / "labs" / name; }
    /// Return a stage by number ("2", "02"), slug ("dyadic_interleaved") or id, which may be from an earlier version of
    /// the lab (is_same_stage). Throw UsageError with the choices if there is none.
    const Stage& stage(std::string_view requested) const;
    const Dataset& dataset(std::string_view requested) const;
};

/// Return whether two ids denote the same stage of a lab. A stage gets a new number if another one is inserted
/// before it, but keeps its slug, which is unique in the lab. Reports and files with the old id therefore stay valid.
bool is_same_stage(std::string_view a, std::string_view b);

/// A mistake in the lab's own files, never the student's mistake.
class ManifestError : public std::runtime_error {
  public:
    ManifestError(std::filesystem::path file, std::string place, std::string message);
    const std::filesystem::path file;
    const std::string place;  // JSON pointer such as /stages/2/points
};

/// Read and check one lab. Hidden datasets are read if their file exists (a students' kit has none). Throws UsageError
/// if there is no such lab. Throws ManifestError for an unknown key, a missing file, a duplicate stage, points that do
/// not add up, a stage without its solution or starter if that tree exists, or a file in the tree that no stage names.
Lab load_lab(const std::filesystem::path& root, std::string_view name);

/// The texts that describe a lab. Each is a JSON document.
struct LabTexts {
    std::string lab, public_datasets;
    std::optional<std::string> hidden;
};

/// Do the part of load_lab that needs only the texts, without access to other files: the lab has no root, and its
/// datasets have no folder. Throws ManifestError.
Lab parse_lab(std::string_view name, const LabTexts& texts);

/// Set the seeds of the hidden datasets, which are 0 otherwise, from the course secret (hash.h). Throw
/// std::invalid_argument if the secret is empty.
void resolve_hidden_seeds(Lab& lab, std::string_view secret);

/// Return the names of all labs in the course's order: the folders in labs/ that have a lab.json.
std::vector<std::string> find_labs(const std::filesystem::path& root);

}  // namespace warplab
