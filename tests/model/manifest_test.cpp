#include "grader/model/manifest.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "grader/common/hash.h"
#include "grader/io/protocol.h"
#include "tests/model/project.h"
#include "tests/paths.h"

namespace warplab {
namespace {

using test::Project;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Return load_lab's error as "file|place|message", or "" if there is none.
std::string error_of(const Project& project, const std::string& lab = "scale") {
    try {
        load_lab(project.root, lab);
        return "";
    } catch (const ManifestError& error) {
        return fmt::format("{}|{}|{}", error.file.string(), error.place, error.what());
    }
}

std::string error_after(const std::function<void(Project&)>& change) {
    Project project;
    change(project);
    project.write();
    return error_of(project);
}

TEST(Manifest, ReadsEverything) {
    Project project;
    project.write();
    const Lab lab = load_lab(project.root, "scale");
    EXPECT_EQ(lab.name, "scale");
    EXPECT_EQ(lab.folder(), project.root / "labs/scale");
    EXPECT_THAT(lab.sizes, ElementsAre("n"));
    EXPECT_THAT(lab.reals, ElementsAre("factor"));
    ASSERT_EQ(lab.buffers.size(), 2u);
    EXPECT_EQ(lab.buffers[1].role, Role::output);
    EXPECT_EQ(lab.buffers[1].type, ElementType::float32);
    EXPECT_EQ(lab.benchmark.iterations_per_call, 10);
    ASSERT_EQ(lab.stages.size(), 2u);
    EXPECT_EQ(lab.stages[0].points.total(), 10);
    EXPECT_TRUE(lab.stages[0].host_variant);
    EXPECT_EQ(lab.stages[0].host_bytes_per_call, 64u);
    EXPECT_EQ(lab.stages[0].host_bytes_per_iteration, 8u);
    ASSERT_EQ(lab.stages[0].tunables.size(), 1u);
    EXPECT_THAT(lab.stages[0].tunables[0].values, ElementsAre(64, 128));
    EXPECT_EQ(lab.stages[0].tunables[0].default_value, 128);
    ASSERT_EQ(lab.stages[1].counters.size(), 1u);
    EXPECT_EQ(counter_name(lab.stages[1].counters[0].counter), "sectors");
    EXPECT_EQ(lab.stages[1].counters[0].at_most, 1.5);
    EXPECT_EQ(lab.stages[1].points.speed, 0);
    ASSERT_EQ(lab.datasets.size(), 3u);
    EXPECT_EQ(lab.datasets[0].parameters.at("n"), Parameter(7));
    EXPECT_TRUE(lab.datasets[1].uses.check && lab.datasets[1].uses.bench && lab.datasets[1].uses.cuda_only);
    EXPECT_FALSE(lab.datasets[1].applies_to(lab.stages[1]));
    EXPECT_TRUE(lab.datasets[0].applies_to(lab.stages[1]));
}

TEST(Manifest, HiddenDatasetsGetTheirSeedOnRequest) {
    Project project;
    project.write();
    Lab lab = load_lab(project.root, "scale");
    EXPECT_TRUE(lab.datasets[2].uses.hidden);
    EXPECT_FALSE(lab.datasets[2].uses.check);
    EXPECT_EQ(lab.datasets[2].seed, 0u);
    EXPECT_FALSE(std::filesystem::exists(project.root / "datasets/.secret"));

    resolve_hidden_seeds(lab, "a secret");
    EXPECT_EQ(lab.datasets[2].seed, hidden_seed("a secret", "scale/secret"));
    EXPECT_EQ(lab.datasets[0].seed, 1u);
    EXPECT_THROW(resolve_hidden_seeds(lab, ""), std::invalid_argument);
}

TEST(Manifest, StudentsKitLoadsWithoutHiddenDatasetsAndSolutions) {
    Project project;
    project.write();
    std::filesystem::remove(project.root / "datasets/scale/hidden.json");
    std::filesystem::remove_all(project.root / "solutions");
    EXPECT_EQ(error_of(project), "");
}

TEST(Manifest, FindsLabsByTheirManifest) {
    Project project;
    project.write();
    test::write_file(project.root / "labs/another/lab.json", "{}");
    std::filesystem::create_directories(project.root / "labs/notes");
    EXPECT_THAT(find_labs(project.root), ElementsAre("another", "scale"));
    EXPECT_TRUE(find_labs(project.root / "nowhere").empty());
}

TEST(Manifest, LabSettingDecidesWhetherAQuestionComesFirst) {
    Project project;
    project.write();
    EXPECT_TRUE(load_lab(project.root, "scale").asks_first);
    project.lab["asks_first"] = false;
    project.write();
    EXPECT_FALSE(load_lab(project.root, "scale").asks_first);
}

TEST(Manifest, LabsWithAnOrderComeFirst) {
    Project project;
    project.lab["order"] = 12;
    project.write();
    test::write_file(project.root / "labs/another/lab.json", "{}");
    test::write_file(project.root / "labs/broken/lab.json", "{");
    test::write_file(project.root / "labs/zeroth/lab.json", R"({"order": 2})");
    EXPECT_THAT(find_labs(project.root), ElementsAre("zeroth", "scale", "another", "broken"));
    EXPECT_EQ(error_of(project), "");
}

TEST(Manifest, StageIsFoundByNumberSlugAndId) {
    Project project;
    project.write();
    const Lab lab = load_lab(project.root, "scale");
    for (const auto* name : {"2", "02", "strided", "02_strided"}) EXPECT_EQ(lab.stage(name).id, "02_strided");
    EXPECT_EQ(lab.dataset("secret").points, 3);
}

TEST(Manifest, StageIsFoundByItsIdBeforeAStageWasInserted) {
    Project project;
    project.write();
    const Lab lab = load_lab(project.root, "scale");
    EXPECT_EQ(lab.stage("01_strided").id, "02_strided");
    for (const auto* name : {"01_stride", "1_strided", "_strided", "ab_strided", "01strided"})
        EXPECT_THROW(lab.stage(name), UsageError) << name;
    EXPECT_TRUE(is_same_stage("05_warp", "08_warp"));
    EXPECT_FALSE(is_same_stage("05_warp", "05_block"));
    EXPECT_FALSE(is_same_stage("", "05_block"));
}

template <class Call>
std::string usage_error(Call&& call) {
    try {
        call();
        return "";
    } catch (const UsageError& error) {
        return error.what();
    }
}

TEST(Manifest, UnknownNamesListTheChoices) {
    Project project;
    project.write();
    const Lab lab = load_lab(project.root, "scale");
    EXPECT_EQ(usage_error([&] { lab.stage("strided_"); }),
              "scale has no stage \"strided_\". Did you mean \"strided\"? Stages: 01_plain, 02_strided.");
    EXPECT_EQ(usage_error([&] { lab.stage("3"); }), "scale has no stage \"3\". Stages: 01_plain, 02_strided.");
    EXPECT_EQ(usage_error([&] { lab.stage(""); }), "Which STAGE of scale? 01_plain, 02_strided.");
    EXPECT_EQ(usage_error([&] { lab.stage("99999999999999999999"); }),
              "scale has no stage \"99999999999999999999\". Stages: 01_plain, 02_strided.");
    EXPECT_EQ(usage_error([&] { lab.dataset("tinny"); }),
              "scale has no dataset \"tinny\". Did you mean \"tiny\"? Datasets: tiny, large.");
    EXPECT_EQ(usage_error([&] { load_lab(project.root, "scales"); }),
              "There is no lab \"scales\". Did you mean \"scale\"? Labs: scale.");
    EXPECT_EQ(usage_error([&] { load_lab(project.root, "../labs/scale"); }),
              "There is no lab \"../labs/scale\". Labs: scale.");
}

// --- every mistake is reported with its file, its place and a helpful message ---

struct Mistake {
    std::string name;
    std::function<void(Project&)> make;
    std::string file, place, words;
};

class ManifestMistake : public testing::TestWithParam<Mistake> {};

TEST_P(ManifestMistake, IsReportedWithItsPlace) {
    const auto& mistake = GetParam();
    const auto error = error_after(mistake.make);
    EXPECT_THAT(error, HasSubstr(mistake.file + "|" + mistake.place + "|"));
    EXPECT_THAT(error, HasSubstr(mistake.words));
}

const std::string lab_file = "labs/scale/lab.json";
const std::string public_file = "datasets/scale/public.json", hidden_file = "datasets/scale/hidden.json";

Mistake in_lab(std::string name, std::string pointer, Json value, std::string place, std::string words) {
    return {std::move(name), [=](Project& project) { project.lab[Json::json_pointer(pointer)] = value; }, lab_file,
            std::move(place), std::move(words)};
}

Mistake in_public(std::string name, std::string pointer, Json value, std::string place, std::string words) {
    return {std::move(name), [=](Project& project) { project.public_datasets[Json::json_pointer(pointer)] = value; },
            public_file, std::move(place), std::move(words)};
}

Mistake in_hidden(std::string name, std::string pointer, Json value, std::string place, std::string words) {
    return {std::move(name), [=](Project& project) { project.hidden_datasets[Json::json_pointer(pointer)] = value; },
            hidden_file, std::move(place), std::move(words)};
}

const std::vector<Mistake> lab_mistakes = {
    in_lab("UnknownKey", "/titel", "x", "", "unknown key \"titel\". Did you mean \"title\"?"),
    in_lab("UnknownStageKey", "/stages/1/ponits", 1, "/stages/1", "Did you mean \"points\"?"),
    in_lab("UnknownTunableKey", "/stages/0/tunables/0/value", 1, "/stages/0/tunables/0", "\"values\""),
    in_lab("OtherSchema", "/schema", 2, "/schema", "schema 1"),
    in_lab("OtherName", "/lab", "scales", "/lab", "its folder is \"scale\""),
    in_lab("NameWithCapital", "/lab", "Scale", "/lab", "a-z"),
    in_lab("EmptyTitle", "/title", " ", "/title", "empty"),
    in_lab("NullForNothing", "/benchmark", nullptr, "", "omit the key"),
    in_lab("WrongType", "/about", 3, "/about", "expected text in double quotes, found 3"),
    in_lab("PointsDoNotAddUp", "/points", 21, "/points", "21 points, but its stages' points add up to 20"),
    in_lab("NegativePoints", "/stages/1/points/correctness", -1, "/stages/1/points/correctness", "0 or more"),
    in_lab("NoPointsForCorrectness", "/stages/1/points/correctness", 0, "/stages/1/points/correctness",
           "would get no points"),
    in_lab("StageId", "/stages/1/id", "2_strided", "/stages/1/id", "two digits"),
    in_lab("StageIdWithPath", "/stages/1/id", "02_../x", "/stages/1/id", "two digits"),
    in_lab("StageGap", "/stages/1/id", "03_strided", "/stages/1/id", "begins with 02_, not 03_"),
    in_lab("StageTwice", "/stages/1/id", "01_plain", "/stages/1/id",
           "the stage \"01_plain\" occurs twice, first at "
           "/stages/0/id"),
    in_lab("SlugTwice", "/stages/1/id", "02_plain", "/stages/1/id", "\"plain\" occurs twice"),
    in_lab("NoStages", "/stages", Json::array(), "/stages", "at least one"),
    in_lab("StagesNoList", "/stages", 3, "/stages", "expected a list"),
    in_lab("BufferTwice", "/buffers/1/name", "in", "/buffers/1/name", "\"in\" occurs twice"),
    in_lab("BufferNamedAsSize", "/buffers/1/name", "n", "/buffers/1/name", "first at /sizes/0"),
    in_lab("BufferType", "/buffers/1/type", "float", "/buffers/1/type", "float32, float64, int32, uint32, uint8"),
    in_lab("BufferRole", "/buffers/1/role", "outptu", "/buffers/1/role", "Did you mean \"output\"?"),
    in_lab("NothingWritten", "/buffers/1/role", "input", "/buffers", "no buffer is written"),
    in_lab("Iterations", "/benchmark/iterations", 0, "/benchmark/iterations", "between 1"),
    in_lab("IterationsPerCall", "/benchmark/iterations_per_call", 3, "/benchmark", "divisor"),
    in_lab("NegativeBytes", "/stages/0/host_bytes_per_call", -1, "/stages/0/host_bytes_per_call", "0 or more"),
    in_lab("FractionOfBytes", "/stages/0/host_bytes_per_call", 1.5, "/stages/0/host_bytes_per_call", "whole number"),
    in_lab("Macro", "/stages/0/tunables/0/macro", "block", "/stages/0/tunables/0/macro", "A-Z"),
    in_lab("TunableValueTwice", "/stages/0/tunables/0/values/0", 128, "/stages/0/tunables/0/values/1", "twice"),
    in_lab("UnknownCounter", "/stages/1/counters/0/counter", "sector", "/stages/1/counters/0/counter",
           "Did you mean \"sectors\"?"),
    in_lab("CounterBelowZero", "/stages/1/counters/0/at_most", -1, "/stages/1/counters/0/at_most", "below 0"),
    in_lab("CounterWithoutDataset", "/stages/1/counters/0/dataset", "tyni", "/stages/1/counters/0/dataset", "tyni"),
    in_lab("CounterOnDatasetForGpus", "/stages/1/counters/0/dataset", "large", "/stages/1/counters/0/dataset", "CPU"),
    in_lab("UnknownCounterKey", "/stages/1/counters/0/limit", 1, "/stages/1/counters/0", "at_most"),
    in_lab("DefaultNotAmongValues", "/stages/0/tunables/0/default", 96, "/stages/0/tunables/0/default", "not among"),
};

const std::vector<Mistake> dataset_mistakes = {
    in_public("UnknownKey", "/datasets/0/use", 1, "/datasets/0", "Did you mean \"uses\"?"),
    in_public("UnknownUse", "/datasets/0/uses/0", "chek", "/datasets/0/uses/0", "Did you mean \"check\"?"),
    in_public("UseTwice", "/datasets/0/uses", Json({"check", "check"}), "/datasets/0/uses/1", "twice"),
    in_public("NoUse", "/datasets/0/uses", Json({"cuda-only"}), "/datasets/0/uses", "has no use"),
    in_public("NothingToScore", "/datasets/0/uses", Json({"check", "unscored"}), "/datasets/0/uses", "remove it"),
    in_public("NoTimeCounts", "/datasets/1/uses", Json({"check", "bench", "unscored"}), "/datasets", "no time counts"),
    in_public("NameTwice", "/datasets/1/name", "tiny", "/datasets/1/name", "\"tiny\" occurs twice"),
    in_public("UnknownStage", "/datasets/1/stages/0", "01_plane", "/datasets/1/stages/0", "Did you mean \"01_plain\"?"),
    in_public("StageTwice", "/datasets/1/stages", Json({"01_plain", "01_plain"}), "/datasets/1/stages/1", "twice"),
    in_public("ForNoStage", "/datasets/1/stages", Json::array(), "/datasets/1/stages", "omit the key"),
    in_public("NoPoints", "/datasets/0/points", 0, "/datasets/0/points", "above 0"),
    in_public("PointsForTiming", "/datasets/1/uses", Json({"bench"}), "/datasets/1/points", "only timed"),
    in_public("NegativeSeed", "/datasets/0/seed", -1, "/datasets/0/seed", "0 or more"),
    in_public("ParametersNoObject", "/datasets/0/parameters", 3, "/datasets/0/parameters", "expected an object"),
    in_public("OnlyOnCuda", "/datasets/0/uses", Json({"check", "cuda-only"}), "/datasets", "stage 01_plain on the CPU"),
    in_hidden("HiddenSeed", "/datasets/0/seed", 3, "/datasets/0/seed", "course secret"),
    in_hidden("HiddenCheck", "/datasets/0/uses/0", "check", "/datasets/0/uses/0", "remove \"check\""),
    in_hidden("HiddenUnscored", "/datasets/0/uses", Json({"bench", "unscored"}), "/datasets/0/uses", "public"),
    in_hidden("HiddenNamedAsPublic", "/datasets/0/name", "tiny", "/datasets/0/name", "/datasets/0/name of public.json"),
};

std::string mistake_name(const testing::TestParamInfo<Mistake>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Lab, ManifestMistake, testing::ValuesIn(lab_mistakes), mistake_name);
INSTANTIATE_TEST_SUITE_P(Datasets, ManifestMistake, testing::ValuesIn(dataset_mistakes), mistake_name);

TEST(ManifestFiles, TextThatIsNotJsonIsNamedByLineAndColumn) {
    Project project;
    project.write();
    test::write_file(project.root / lab_file, "{\n  \"schema\": 1,\n  \"lab\": \"scale\",,\n}\n");
    EXPECT_THAT(error_of(project), AllOf(HasSubstr(lab_file + "|line 3, column 18|"), HasSubstr("not valid JSON")));
    test::write_file(project.root / lab_file, "");
    EXPECT_THAT(error_of(project), HasSubstr(lab_file + "|line 1, column 1|"));
}

TEST(ManifestFiles, ValuesNestedDeeplyAreRefused) {
    Project project;
    project.write();
    const std::string opening(200'000, '['), closing(200'000, ']');
    test::write_file(project.root / public_file, R"({"schema": 1, "datasets": )" + opening + closing + "}");
    EXPECT_THAT(error_of(project), HasSubstr("nested in more than 100 levels"));
}

TEST(ManifestFiles, DuplicateKeyIsReported) {
    Project project;
    project.write();
    test::write_file(project.root / public_file, R"({"schema": 1, "datasets": [], "schema": 1})");
    EXPECT_THAT(error_of(project), HasSubstr("the key \"schema\" occurs twice"));
}

TEST(ManifestFiles, MissingFilesAreNamed) {
    for (const auto* file :
         {"labs/scale/lab.h", "labs/scale/driver.cu", "labs/scale/oracle.cpp", "datasets/scale/public.json",
          "solutions/scale/02_strided.cu", "starter/scale/01_plain.cu"}) {
        Project project;
        project.write();
        std::filesystem::remove(project.root / file);
        EXPECT_THAT(error_of(project), HasSubstr(fmt::format("{}||", file))) << file;
    }
}

TEST(ManifestFiles, FolderWithoutManifestIsNamed) {
    Project project;
    project.write();
    std::filesystem::create_directories(project.root / "labs/half_done");
    EXPECT_THAT(error_of(project, "half_done"), HasSubstr("labs/half_done/lab.json||"));
}

TEST(ManifestFiles, FileOfAnUnknownStageIsReported) {
    Project project;
    project.write();
    test::write_file(project.root / "solutions/scale/02_stridden.cu", "");
    EXPECT_THAT(error_of(project),
                AllOf(HasSubstr("solutions/scale/02_stridden.cu||"), HasSubstr("Did you mean \"02_strided.cu\"?")));
}

TEST(ManifestFiles, OtherFilesInATreeAreIgnored) {
    Project project;
    project.write();
    test::write_file(project.root / "solutions/scale/NOTES.md", "");
    EXPECT_EQ(error_of(project), "");
}

TEST(Manifest, LimitsTheNumbersOfSizesRealsAndBuffers) {
    const auto with_sizes = [](int count) {
        return error_after([=](Project& project) {
            project.lab["sizes"] = Json::array();
            for (int i = 0; i < count; ++i) project.lab["sizes"].push_back(fmt::format("n{}", i));
        });
    };
    const auto with_reals = [](int count) {
        return error_after([=](Project& project) {
            project.lab["reals"] = Json::array();
            for (int i = 0; i < count; ++i) project.lab["reals"].push_back(fmt::format("x{}", i));
        });
    };
    const auto with_buffers = [](int count) {
        return error_after([=](Project& project) {
            const Json buffer = project.lab["buffers"][1];
            project.lab["buffers"] = Json::array();
            for (int i = 0; i < count; ++i) {
                project.lab["buffers"].push_back(buffer);
                project.lab["buffers"][i]["name"] = fmt::format("b{}", i);
            }
        });
    };
    EXPECT_EQ(with_sizes(protocol::max_sizes), "");
    EXPECT_THAT(with_sizes(protocol::max_sizes + 1), HasSubstr("|/sizes|"));
    EXPECT_EQ(with_reals(protocol::max_reals), "");
    EXPECT_THAT(with_reals(protocol::max_reals + 1), HasSubstr("|/reals|"));
    EXPECT_EQ(with_buffers(protocol::max_buffers), "");
    EXPECT_THAT(with_buffers(protocol::max_buffers + 1), HasSubstr("|/buffers|"));
}

TEST(Manifest, AnEntryOfRealsCanBeATable) {
    const auto with_reals = [](const char* reals) {
        return error_after([=](Project& project) { project.lab["reals"] = Json::parse(reals); });
    };
    EXPECT_EQ(with_reals(R"(["factor", {"name": "weights", "count": 225}])"), "");
    EXPECT_THAT(with_reals(R"([{"name": "weights", "count": 0}])"), HasSubstr("|/reals/0/count|"));
    EXPECT_THAT(with_reals(R"([{"name": "weights", "count": 257}])"), HasSubstr("|/reals/0/count|"));
    EXPECT_THAT(with_reals(R"([{"name": "weights"}])"), HasSubstr("|/reals/0|"));
    EXPECT_THAT(with_reals(R"(["factor", {"name": "weights", "count": 256}])"), HasSubstr("|/reals|"));
    EXPECT_THAT(with_reals(R"(["weights_1", {"name": "weights", "count": 2}])"), HasSubstr("|/reals/1|"));
}

TEST(Manifest, SpeedPointsNeedADatasetThatIsTimed) {
    const auto error = error_after([](Project& project) {
        project.lab["stages"][1]["points"] = {{"correctness", 5}, {"speed", 5}};
    });
    EXPECT_THAT(error, AllOf(HasSubstr(public_file + "|/datasets|"), HasSubstr("no time counts")));
}

// --- the schemas and the reader agree ---

Json schema_of(const std::string& name) {
    return Json::parse(test::read_file(test::root_folder() / "grader/model/schema" / (name + ".schema.json")));
}

const Json& resolve(const Json& schema, const Json& root) {
    if (!schema.contains("$ref")) return schema;
    return resolve(root.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))), root);
}

/// Call `visit(pointer, schema)` for every object of the document that the schema describes key by key.
void walk(const Json& schema_or_ref, const Json& root, const Json& value, const std::string& pointer,
          const std::function<void(const std::string&, const Json&)>& visit) {
    const Json& schema = resolve(schema_or_ref, root);
    if (value.is_array() && schema.contains("items"))
        for (std::size_t i = 0; i < value.size(); ++i)
            walk(schema["items"], root, value[i], fmt::format("{}/{}", pointer, i), visit);
    if (!value.is_object() || !schema.contains("properties")) return;
    visit(pointer, schema);
    for (const auto& [key, inner] : value.items())
        walk(schema["properties"][key], root, inner, pointer + "/" + key, visit);
}

/// Remove each key in turn, and add an unknown one: the reader must refuse exactly what the schema refuses.
void expect_same_keys(Json Project::*document, const Json& schema, const Json& root) {
    const Project complete;
    int objects = 0;
    walk(schema, root, complete.*document, "", [&](const std::string& pointer, const Json& object) {
        ++objects;
        const auto required = object.value("required", Json::array());
        for (const auto& [key, unused] : object["properties"].items()) {
            const bool needed = std::find(required.begin(), required.end(), key) != required.end();
            if (!(complete.*document)[Json::json_pointer(pointer)].contains(key)) {
                EXPECT_FALSE(needed) << pointer << "/" << key;
                continue;
            }
            const auto error = error_after(
                [&, key = key](Project& project) { (project.*document)[Json::json_pointer(pointer)].erase(key); });
            const auto missing = fmt::format("|{}|", pointer);
            if (needed)
                EXPECT_THAT(error, AllOf(HasSubstr(missing), HasSubstr(fmt::format("\"{}\" is missing", key))));
            else
                EXPECT_THAT(error, testing::Not(HasSubstr("is missing"))) << pointer << "/" << key;
        }
        EXPECT_EQ(object["additionalProperties"], false) << pointer;
        EXPECT_THAT(error_after([&](Project& project) { (project.*document)[Json::json_pointer(pointer)]["zzz"] = 1; }),
                    HasSubstr("unknown key \"zzz\""));
    });
    EXPECT_GE(objects, 2);
}

TEST(ManifestSchema, OfLabsAgreesWithTheReader) {
    const auto schema = schema_of("lab");
    expect_same_keys(&Project::lab, schema, schema);
}

TEST(ManifestSchema, OfDatasetsAgreesWithTheReader) {
    auto schema = schema_of("datasets");
    schema["properties"]["datasets"]["items"] = {{"$ref", "#/$defs/public"}};
    schema["$defs"]["public"]["required"].push_back("points");  // required for datasets that are checked, as these are
    schema["$defs"]["parameters"].erase("properties");
    expect_same_keys(&Project::public_datasets, schema, schema);
    schema["properties"]["datasets"]["items"] = {{"$ref", "#/$defs/hidden"}};
    expect_same_keys(&Project::hidden_datasets, schema, schema);
}

TEST(Manifest, ElementTypesHaveNamesAndSizes) {
    const std::vector<std::pair<ElementType, std::pair<std::string, std::size_t>>> types = {
        {ElementType::float32, {"float32", 4}},
        {ElementType::float64, {"float64", 8}},
        {ElementType::int32, {"int32", 4}},
        {ElementType::uint32, {"uint32", 4}},
        {ElementType::uint8, {"uint8", 1}}};
    for (const auto& [type, expected] : types) {
        EXPECT_EQ(element_name(type), expected.first);
        EXPECT_EQ(element_bytes(type), expected.second);
    }
}

TEST(Manifest, EveryLabOfTheProjectLoads) {
    const auto root = test::root_folder();
    const auto labs = find_labs(root);
    EXPECT_FALSE(labs.empty());
    for (const auto& lab : labs) EXPECT_NO_THROW(load_lab(root, lab)) << lab;
}

}  // namespace
}  // namespace warplab
