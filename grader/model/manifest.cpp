#include "grader/model/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "grader/common/hash.h"
#include "grader/common/json_node.h"
#include "grader/common/nearest.h"
#include "grader/common/read_file.h"

namespace warplab {
namespace {

namespace fs = std::filesystem;

// The limits of one request of the protocol between judge and runner.
constexpr std::size_t max_call_sizes = 16, max_call_reals = 256, max_call_buffers = 16;

const std::map<std::string, ElementType> element_types = {{"float32", ElementType::float32},
                                                          {"float64", ElementType::float64},
                                                          {"int32", ElementType::int32},
                                                          {"uint32", ElementType::uint32},
                                                          {"uint8", ElementType::uint8}};
const std::map<std::string, Role> roles = {{"input", Role::input}, {"output", Role::output}, {"inout", Role::inout}};

const std::map<std::string, Counter> counter_names = {
    {"thread_bytes", Counter::thread_bytes},
    {"device_bytes", Counter::device_bytes},
    {"device_accesses", Counter::device_accesses},
    {"device_atomics", Counter::device_atomics},
    {"sectors", Counter::sectors},
    {"bank_passes", Counter::bank_passes},
    {"idle_lanes", Counter::idle_lanes},
};

template <class Map>
std::vector<std::string> keys_of(const Map& map) {
    std::vector<std::string> keys;
    for (const auto& [key, unused] : map) keys.push_back(key);
    return keys;
}

/// Return the value that a word stands for.
template <class T>
T pick(const JsonNode& node, const std::map<std::string, T>& choices) {
    const auto word = node.text();
    if (const auto iterator = choices.find(word); iterator != choices.end()) return iterator->second;
    const auto names = keys_of(choices);
    node.fail(
        fmt::format("\"{}\" is unknown.{} Choose one of: {}", word, did_you_mean(word, names), fmt::join(names, ", ")));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

bool is_name(std::string_view word) {
    return !word.empty() && is_lower(word.front()) &&
           std::ranges::all_of(word, [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

bool is_macro(std::string_view word) {
    return !word.empty() && is_upper(word.front()) &&
           std::ranges::all_of(word, [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
}

bool is_stage_id(std::string_view id) {
    return id.size() > 3 && is_digit(id[0]) && is_digit(id[1]) && id[2] == '_' && is_name(id.substr(3));
}

int stage_number(std::string_view id) { return (id[0] - '0') * 10 + (id[1] - '0'); }
std::string_view stage_slug(std::string_view id) { return id.substr(3); }

std::string read_name(const JsonNode& node) {
    auto name = node.text();
    if (!is_name(name))
        node.fail(fmt::format("\"{}\" is not a name; use a-z, 0-9 and _, beginning with a letter", name));
    return name;
}

double read_points(const JsonNode& node) {
    const double points = node.number();
    if (!(points >= 0)) node.fail(fmt::format("points cannot be {}; use 0 or more", points));
    return points;
}

/// Fail if a name occurs twice; `where` contains the first place of each name.
void require_new(const JsonNode& node, const std::string& name, std::string_view what,
                 std::map<std::string, std::string>& where) {
    const auto [first, is_new] = where.emplace(name, node.place());
    if (is_new) return;
    node.fail(fmt::format("{} \"{}\" occurs twice, first at {}; rename or remove one", what, name, first->second));
}

void require_schema_1(const JsonNode& document) {
    const auto schema = document.at("schema");
    if (schema.integer() != 1) schema.fail("this version reads schema 1; write \"schema\": 1");
}

// --- lab.json ---

using ReadNames = std::vector<std::string> (*)(const JsonNode&);

std::vector<std::string> read_names(const JsonNode& document, const std::string& key, std::size_t max_names,
                                    ReadNames read, std::map<std::string, std::string>& where) {
    std::vector<std::string> names;
    const auto list = document.find(key);
    if (!list) return names;
    for (const auto& item : list->items()) {
        for (const auto& name : read(item)) {
            names.push_back(name);
            require_new(item, name, "the name", where);
        }
    }
    if (names.size() > max_names)
        list->fail(
            fmt::format("{} names, but a call carries {} at most; pass tables as a buffer", names.size(), max_names));
    return names;
}

BufferSpec read_buffer(const JsonNode& node) {
    node.require_only({"name", "type", "role", "about"});
    return {read_name(node.at("name")), pick(node.at("type"), element_types), pick(node.at("role"), roles),
            node.at("about").filled_text()};
}

std::vector<BufferSpec> read_buffers(const JsonNode& list, std::map<std::string, std::string>& where) {
    std::vector<BufferSpec> buffers;
    for (const auto& item : list.items()) {
        buffers.push_back(read_buffer(item));
        require_new(item.at("name"), buffers.back().name, "the name", where);
    }
    if (buffers.size() > max_call_buffers)
        list.fail(fmt::format("{} buffers, but a call carries {} at most", buffers.size(), max_call_buffers));
    const auto is_written = [](const BufferSpec& buffer) { return buffer.role != Role::input; };
    if (std::ranges::none_of(buffers, is_written))
        list.fail("no buffer is written, so there is nothing to check; give one the role \"output\" or \"inout\"");
    return buffers;
}

Benchmark read_benchmark(const JsonNode& node) {
    node.require_only({"iterations", "iterations_per_call"});
    const auto read = [&](const std::string& key, int fallback) {
        const auto found = node.find(key);
        if (!found) return fallback;
        const auto value = found->integer();
        if (value < 1 || value > 1'000'000) found->fail(fmt::format("{} is not between 1 and 1000000", value));
        return static_cast<int>(value);
    };
    const Benchmark defaults;
    const Benchmark benchmark{read("iterations", defaults.iterations),
                              read("iterations_per_call", defaults.iterations_per_call)};
    if (benchmark.iterations % benchmark.iterations_per_call != 0)
        node.fail(fmt::format("iterations_per_call ({}) does not divide iterations ({}); choose a divisor",
                              benchmark.iterations_per_call, benchmark.iterations));
    return benchmark;
}

Tunable read_tunable(const JsonNode& node) {
    node.require_only({"macro", "about", "values", "default"});
    Tunable tunable;
    tunable.macro = node.at("macro").text();
    if (!is_macro(tunable.macro))
        node.at("macro").fail(fmt::format("\"{}\" is not a macro; use A-Z, 0-9 and _, such as BLOCK", tunable.macro));
    tunable.about = node.at("about").filled_text();
    const auto values = node.at("values");
    for (const auto& item : values.items()) {
        const auto value = item.integer();
        if (std::ranges::count(tunable.values, value) > 0)
            item.fail(fmt::format("the value {} occurs twice; remove one", value));
        tunable.values.push_back(value);
    }
    tunable.default_value = node.at("default").integer();
    if (std::ranges::count(tunable.values, tunable.default_value) == 0)
        node.at("default").fail(fmt::format("the default {} is not among the values; add it", tunable.default_value));
    return tunable;
}

CounterLimit read_counter_limit(const JsonNode& node) {
    node.require_only({"counter", "at_most", "dataset", "about"});
    CounterLimit limit{pick(node.at("counter"), counter_names), node.at("at_most").number(), node.at("dataset").text(),
                       node.at("about").filled_text()};
    if (!(limit.at_most >= 0))
        node.at("at_most").fail(fmt::format("counters are never below 0; the limit {} is impossible", limit.at_most));
    return limit;
}

Points read_stage_points(const JsonNode& node) {
    node.require_only({"correctness", "hygiene", "speed"});
    Points points;
    points.correctness = read_points(node.at("correctness"));
    if (const auto hygiene = node.find("hygiene")) points.hygiene = read_points(*hygiene);
    if (const auto speed = node.find("speed")) points.speed = read_points(*speed);
    if (points.correctness == 0)
        node.at("correctness").fail("a correct stage would get no points; give correctness some");
    return points;
}

Stage read_stage(const JsonNode& node) {
    node.require_only({"id", "title", "idea", "points", "beyond", "host_variant", "host_bytes_per_call",
                       "host_bytes_per_iteration", "tunables", "counters"});
    Stage stage;
    stage.id = node.at("id").text();
    if (!is_stage_id(stage.id))
        node.at("id").fail(
            fmt::format("\"{}\" is not a stage's id; use two digits, an underscore and a name, such as "
                        "01_one_thread_per_element",
                        stage.id));
    stage.title = node.at("title").filled_text();
    stage.idea = node.at("idea").filled_text();
    stage.points = read_stage_points(node.at("points"));
    if (const auto beyond = node.find("beyond")) stage.beyond = beyond->boolean();
    if (const auto variant = node.find("host_variant")) stage.host_variant = variant->boolean();
    if (const auto bytes = node.find("host_bytes_per_call")) stage.host_bytes_per_call = bytes->natural();
    if (const auto bytes = node.find("host_bytes_per_iteration")) stage.host_bytes_per_iteration = bytes->natural();
    std::map<std::string, std::string> macros;
    if (const auto tunables = node.find("tunables")) {
        for (const auto& item : tunables->items()) {
            stage.tunables.push_back(read_tunable(item));
            require_new(item.at("macro"), stage.tunables.back().macro, "the macro", macros);
        }
    }
    if (const auto counters = node.find("counters"))
        for (const auto& item : counters->items()) stage.counters.push_back(read_counter_limit(item));
    return stage;
}

std::vector<Stage> read_stages(const JsonNode& list) {
    std::vector<Stage> stages;
    std::map<std::string, std::string> ids, slugs;
    for (const auto& item : list.items()) {
        stages.push_back(read_stage(item));
        const auto& id = stages.back().id;
        const auto id_node = item.at("id");
        require_new(id_node, id, "the stage", ids);
        require_new(id_node, std::string(stage_slug(id)), "the stage's name", slugs);
        if (stage_number(id) != static_cast<int>(stages.size()))
            id_node.fail(
                fmt::format("stages are numbered from 01 without gaps, so this one begins with {:02}_, not "
                            "{:.3}; rename it and its files",
                            stages.size(), id));
    }
    if (stages.empty()) list.fail("a lab has at least one stage; describe one");
    return stages;
}

void require_points_add_up(const JsonNode& points, const std::vector<Stage>& stages) {
    const double total = read_points(points);
    double sum = 0;
    for (const auto& stage : stages) sum += stage.points.total();
    if (std::abs(sum - total) > 1e-9 * std::max(1.0, total))
        points.fail(
            fmt::format("the lab has {} points, but its stages' points add up to {}; correct one of them", total, sum));
}

Peer read_peer(const JsonNode& node, const std::vector<Stage>& stages) {
    node.require_only({"name", "title", "stage", "about", "libraries"});
    Peer peer;
    peer.name = read_name(node.at("name"));
    peer.title = node.at("title").filled_text();
    peer.stage = node.at("stage").text();
    if (std::ranges::none_of(stages, [&](const Stage& stage) { return stage.id == peer.stage; }))
        node.at("stage").fail(fmt::format("no stage has the id \"{}\"; name one of this lab's", peer.stage));
    peer.about = node.at("about").filled_text();
    if (const auto libraries = node.find("libraries"))
        for (const auto& item : libraries->items()) peer.libraries.push_back(read_name(item));
    return peer;
}

/// Read one name, or {"name", "count"} for a table of names: name_0, name_1 …
std::vector<std::string> read_real(const JsonNode& node) {
    if (node.value().is_string()) return {read_name(node)};
    node.require_only({"name", "count"});
    const auto name = read_name(node.at("name"));
    const auto count = node.at("count").natural();
    if (count < 1 || count > max_call_reals)
        node.at("count").fail(
            fmt::format("{} is not between 1 and {}; pass larger tables as a buffer", count, max_call_reals));
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < count; ++i) names.push_back(fmt::format("{}_{}", name, i));
    return names;
}

std::vector<std::string> read_single(const JsonNode& node) { return {read_name(node)}; }

Lab read_lab(const JsonNode& document, std::string_view folder_name) {
    document.require_only({"$schema", "schema", "lab", "order", "title", "about", "points", "sizes", "reals", "buffers",
                           "asks_first", "divides_scratch", "benchmark", "stages", "peers"});
    require_schema_1(document);
    Lab lab;
    const auto name = document.at("lab");
    lab.name = read_name(name);
    if (lab.name != folder_name)
        name.fail(
            fmt::format("the lab's name is \"{}\" here, but its folder is \"{}\"; rename one", lab.name, folder_name));
    if (const auto order = document.find("order")) order->natural();  // fails if invalid; find_labs() uses the value
    lab.title = document.at("title").filled_text();
    lab.about = document.at("about").filled_text();
    std::map<std::string, std::string> names;
    document.at("sizes");  // fails if it is missing, unlike "reals"
    lab.sizes = read_names(document, "sizes", max_call_sizes, read_single, names);
    lab.reals = read_names(document, "reals", max_call_reals, read_real, names);
    lab.buffers = read_buffers(document.at("buffers"), names);
    if (const auto asks = document.find("asks_first")) lab.asks_first = asks->boolean();
    if (const auto divides = document.find("divides_scratch")) lab.divides_scratch = divides->boolean();
    if (const auto benchmark = document.find("benchmark")) lab.benchmark = read_benchmark(*benchmark);
    lab.stages = read_stages(document.at("stages"));
    if (const auto peers = document.find("peers"))
        for (const auto& item : peers->items()) lab.peers.push_back(read_peer(item, lab.stages));
    require_points_add_up(document.at("points"), lab.stages);
    return lab;
}

/// Require that each counter limit names a dataset that is checked in its stage on the CPU. Call this when `lab`
/// contains the public datasets, and only these.
void require_datasets_of_limits(const JsonNode& stages, const Lab& lab) {
    for (std::size_t i = 0; i < lab.stages.size(); ++i) {
        const Stage& stage = lab.stages[i];
        for (std::size_t k = 0; k < stage.counters.size(); ++k) {
            const auto can_count = [&](const Dataset& dataset) {
                return dataset.name == stage.counters[k].dataset && dataset.uses.check && !dataset.uses.cuda_only &&
                       dataset.applies_to(stage);
            };
            if (std::ranges::none_of(lab.datasets, can_count))
                stages.items()[i]
                    .at("counters")
                    .items()[k]
                    .at("dataset")
                    .fail(fmt::format(
                        "no dataset \"{}\" of public.json is checked in this stage on the CPU; name one that is",
                        stage.counters[k].dataset));
        }
    }
}

// --- public.json and hidden.json ---

Uses read_uses(const JsonNode& dataset, bool hidden) {
    Uses uses;
    uses.hidden = hidden;
    const auto list = hidden ? dataset.find("uses") : dataset.at("uses");
    if (list) {
        const std::map<std::string, bool Uses::*> known = {{"check", &Uses::check},
                                                           {"bench", &Uses::bench},
                                                           {"cuda-only", &Uses::cuda_only},
                                                           {"unscored", &Uses::unscored}};
        for (const auto& item : list->items()) {
            const auto use = pick(item, known);
            if (hidden && use == &Uses::check)
                item.fail("hidden datasets are always checked when grading, and only then; remove \"check\"");
            if (uses.*use) item.fail("this use occurs twice; remove one");
            uses.*use = true;
        }
    }
    if (uses.unscored && (hidden || !uses.bench))
        list->fail("\"unscored\" needs a public dataset with the use \"bench\"; remove it here");
    if (!uses.check && !uses.bench && !uses.hidden)
        list->fail("this dataset has no use; add \"check\", \"bench\" or both");
    return uses;
}

std::uint64_t read_seed(const JsonNode& dataset, bool hidden) {
    if (!hidden) return dataset.at("seed").natural();
    if (const auto seed = dataset.find("seed"))
        seed->fail("a hidden dataset's seed is derived from the course secret; remove the key");
    return 0;
}

std::vector<std::string> read_dataset_stages(const JsonNode& list, const std::vector<Stage>& stages) {
    std::vector<std::string> ids, known;
    for (const auto& stage : stages) known.push_back(stage.id);
    for (const auto& item : list.items()) {
        const auto id = item.text();
        if (std::ranges::count(known, id) == 0)
            item.fail(fmt::format("the lab has no stage \"{}\".{} Stages: {}", id, did_you_mean(id, known),
                                  fmt::join(known, ", ")));
        if (std::ranges::count(ids, id) > 0) item.fail("this stage occurs twice; remove one");
        ids.push_back(id);
    }
    if (ids.empty()) list.fail("this dataset has no stage; name one, or omit the key for all");
    return ids;
}

Parameters read_parameters(const JsonNode& node) {
    node.require_object();
    Parameters parameters;
    for (const auto& [name, value] : node.value().items()) {
        const JsonNode item = node.at(name);
        if (value.is_number_integer())
            parameters[name] = item.integer();
        else if (value.is_number())
            parameters[name] = item.number();
        else if (value.is_string())
            parameters[name] = item.text();
        else
            item.fail("a parameter is a number or a word");
    }
    return parameters;
}

Dataset read_dataset(const JsonNode& node, const Lab& lab, bool hidden) {
    node.require_only({"name", "generator", "parameters", "seed", "uses", "points", "about", "stages"});
    Dataset dataset;
    dataset.place = node.place();
    dataset.name = read_name(node.at("name"));
    dataset.generator = read_name(node.at("generator"));
    dataset.parameters = read_parameters(node.at("parameters"));
    dataset.uses = read_uses(node, hidden);
    dataset.seed = read_seed(node, hidden);
    dataset.about = node.at("about").filled_text();
    if (const auto stages = node.find("stages")) dataset.stages = read_dataset_stages(*stages, lab.stages);

    const bool is_checked = dataset.uses.check || dataset.uses.hidden;
    const auto points = is_checked ? node.at("points") : node.find("points");
    if (points) dataset.points = read_points(*points);
    if (is_checked && dataset.points == 0)
        points->fail("a dataset that is checked needs points above 0: its weight among the others");
    if (!is_checked && dataset.points > 0)
        points->fail(
            "these points never count, because the dataset is only timed; add the use \"check\" or remove them");
    return dataset;
}

enum class Visibility { everyone, hidden };

void read_datasets(const JsonNode& document, Visibility visibility, std::map<std::string, std::string>& names,
                   Lab& lab) {
    document.require_only({"$schema", "schema", "datasets"});
    require_schema_1(document);
    for (const auto& item : document.at("datasets").items()) {
        lab.datasets.push_back(read_dataset(item, lab, visibility == Visibility::hidden));
        require_new(item.at("name"), lab.datasets.back().name, "the dataset", names);
    }
}

void require_datasets_for(const Stage& stage, const Lab& lab, const JsonNode& list) {
    const auto any = [&](auto&& has_use) {
        return std::ranges::any_of(lab.datasets, [&](const Dataset& dataset) {
            return !dataset.uses.hidden && dataset.applies_to(stage) && has_use(dataset.uses);
        });
    };
    if (!any([](const Uses& uses) { return uses.check && !uses.cuda_only; }))
        list.fail(
            fmt::format("nothing checks stage {} on the CPU backend; give a dataset for it the use \"check\", "
                        "without \"cuda-only\"",
                        stage.id));
    if (stage.points.speed > 0 && !any([](const Uses& uses) { return uses.bench && !uses.unscored; }))
        list.fail(
            fmt::format("stage {} has {} points for speed, but no time counts for them; give a dataset for it the use "
                        "\"bench\", without \"unscored\"",
                        stage.id, stage.points.speed));
}

// --- files ---

std::string read_text(const fs::path& root, const fs::path& file) {
    auto text = try_read_file(root / file);
    if (!text) throw ManifestError(file, "", "this file cannot be read; check that it exists and is readable");
    return *std::move(text);
}

/// Parse a file's text and pass its root to `read`. Convert a JsonError of either to a ManifestError.
template <class Read>
void with_document(const fs::path& file, std::string_view text, Read&& read) {
    try {
        const auto document = parse_json(text);
        read(JsonNode(document));
    } catch (const JsonError& error) {
        throw ManifestError(file, error.place, error.what());
    }
}

void require_files(const fs::path& root, const fs::path& folder) {
    const std::pair<const char*, const char*> needed[] = {
        {"lab.h", "the contract that students write to"},
        {"driver.cu", "the call of the contract function"},
        {"oracle.cpp", "the generators and right answers"},
    };
    for (const auto& [name, what] : needed)
        if (!fs::is_regular_file(root / folder / name))
            throw ManifestError(folder / name, "", fmt::format("this file, with {}, is missing; write it", what));
}

/// Require that a tree of solutions or starters has one file for each stage and no other .cu file. A kit may lack the
/// tree.
void require_tree_agrees(const fs::path& root, const fs::path& tree, const std::vector<Stage>& stages) {
    if (!fs::is_directory(root / tree)) return;
    std::vector<std::string> expected;
    for (const auto& stage : stages) expected.push_back(stage.id + ".cu");
    for (const auto& name : expected)
        if (!fs::is_regular_file(root / tree / name))
            throw ManifestError(tree / name, "",
                                "this file is missing: lab.json names the stage; write it, or remove "
                                "the stage from lab.json");
    for (const auto& entry : fs::directory_iterator(root / tree)) {
        const auto name = entry.path().filename().string();
        if (entry.path().extension() != ".cu" || std::ranges::count(expected, name) > 0) continue;
        throw ManifestError(tree / name, "",
                            fmt::format("no stage of lab.json is called \"{}\".{} Rename the file, or "
                                        "describe the stage",
                                        entry.path().stem().string(), did_you_mean(name, expected)));
    }
}

void require_lab_exists(const fs::path& root, std::string_view name) {
    const auto labs = find_labs(root);
    if (std::ranges::count(labs, name) > 0) return;
    const auto folder = fs::path("labs") / name;
    if (is_name(name) && fs::is_directory(root / folder))
        throw ManifestError(folder / "lab.json", "", "this file is missing, so the folder is not a lab; write it");
    throw UsageError(fmt::format("There is no lab \"{}\".{} Labs: {}.", name, did_you_mean(name, labs),
                                 labs.empty() ? "none" : fmt::format("{}", fmt::join(labs, ", "))));
}

std::string manifest_message(const fs::path& file, const std::string& place, const std::string& what) {
    return fmt::format("{}{}{}: {}", file.string(), place.empty() ? "" : ", at ", place, what);
}

}  // namespace

std::string_view counter_name(Counter counter) {
    for (const auto& [name, known] : counter_names)
        if (known == counter) return name;
    return "";
}

std::string_view element_name(ElementType type) {
    for (const auto& [name, value] : element_types)
        if (value == type) return name;
    throw std::logic_error("unknown element type");
}

bool Dataset::applies_to(const Stage& stage) const {
    return stages.empty() || std::ranges::count(stages, stage.id) > 0;
}

bool is_same_stage(std::string_view a, std::string_view b) {
    return a == b || (is_stage_id(a) && is_stage_id(b) && stage_slug(a) == stage_slug(b));
}

const Stage& Lab::stage(std::string_view requested) const {
    const bool is_number = !requested.empty() && requested.size() <= 4 && std::ranges::all_of(requested, is_digit);
    std::vector<std::string> ids, words;
    for (const auto& stage : stages) {
        if (is_same_stage(requested, stage.id) || requested == stage_slug(stage.id)) return stage;
        if (is_number && std::stoi(std::string(requested)) == stage_number(stage.id)) return stage;
        ids.push_back(stage.id);
        words.insert(words.end(), {stage.id, std::string(stage_slug(stage.id))});
    }
    if (requested.empty()) throw UsageError(fmt::format("Which STAGE of {}? {}.", name, fmt::join(ids, ", ")));
    throw UsageError(fmt::format("{} has no stage \"{}\".{} Stages: {}.", name, requested,
                                 is_number ? "" : did_you_mean(requested, words), fmt::join(ids, ", ")));
}

const Dataset& Lab::dataset(std::string_view requested) const {
    std::vector<std::string> names;
    for (const auto& dataset : datasets) {
        if (requested == dataset.name) return dataset;
        if (!dataset.uses.hidden) names.push_back(dataset.name);
    }
    throw UsageError(fmt::format("{} has no dataset \"{}\".{} Datasets: {}.", name, requested,
                                 did_you_mean(requested, names), fmt::join(names, ", ")));
}

ManifestError::ManifestError(fs::path file_, std::string place_, std::string message)
    : std::runtime_error(manifest_message(file_, place_, message)), file(std::move(file_)), place(std::move(place_)) {}

Lab parse_lab(std::string_view name, const LabTexts& texts) {
    const auto manifest = fs::path("labs") / name / "lab.json";
    const auto datasets = fs::path("datasets") / name;
    Lab lab;
    with_document(manifest, texts.lab, [&](const JsonNode& document) { lab = read_lab(document, name); });
    std::map<std::string, std::string> names;
    with_document(datasets / "public.json", texts.public_datasets, [&](const JsonNode& document) {
        read_datasets(document, Visibility::everyone, names, lab);
        for (const auto& stage : lab.stages) require_datasets_for(stage, lab, document.at("datasets"));
    });
    with_document(manifest, texts.lab,
                  [&](const JsonNode& document) { require_datasets_of_limits(document.at("stages"), lab); });
    for (auto& [dataset, place] : names) place = fmt::format("{} of public.json", place);
    if (texts.hidden)
        with_document(datasets / "hidden.json", *texts.hidden,
                      [&](const JsonNode& document) { read_datasets(document, Visibility::hidden, names, lab); });
    for (auto& dataset : lab.datasets) dataset.file = datasets / (dataset.uses.hidden ? "hidden.json" : "public.json");
    return lab;
}

Lab load_lab(const fs::path& root, std::string_view name) {
    require_lab_exists(root, name);
    const auto folder = fs::path("labs") / name;
    const auto datasets = fs::path("datasets") / name;
    LabTexts texts{read_text(root, folder / "lab.json"), read_text(root, datasets / "public.json"), std::nullopt};
    if (fs::exists(root / datasets / "hidden.json")) texts.hidden = read_text(root, datasets / "hidden.json");
    Lab lab = parse_lab(name, texts);
    lab.root = root;
    for (auto& dataset : lab.datasets) dataset.folder = root / datasets;
    require_files(root, folder);
    for (const auto tree : {"solutions", "starter"}) require_tree_agrees(root, fs::path(tree) / name, lab.stages);
    return lab;
}

void resolve_hidden_seeds(Lab& lab, std::string_view secret) {
    for (auto& dataset : lab.datasets)
        if (dataset.uses.hidden) dataset.seed = hidden_seed(secret, lab.name + "/" + dataset.name);
}

namespace {

/// Return the lab's "order"; for labs without one, a number above all others. load_lab() reports invalid files.
double order_of(const fs::path& root, const std::string& name) {
    std::ifstream stream(root / "labs" / name / "lab.json");
    const Json document = Json::parse(stream, nullptr, false);
    const auto order = document.is_object() ? document.find("order") : document.end();
    return order != document.end() && order->is_number() ? order->get<double>() : std::numeric_limits<double>::max();
}

}  // namespace

std::vector<std::string> find_labs(const fs::path& root) {
    std::set<std::pair<double, std::string>> ordered;
    if (!fs::is_directory(root / "labs")) return {};
    for (const auto& entry : fs::directory_iterator(root / "labs")) {
        const std::string name = entry.path().filename().string();
        if (fs::is_regular_file(entry.path() / "lab.json")) ordered.emplace(order_of(root, name), name);
    }
    std::vector<std::string> names;
    for (const auto& [order, name] : ordered) names.push_back(name);
    return names;
}

}  // namespace warplab
