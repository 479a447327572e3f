// Traces of a reference solution.
#include <gtest/gtest.h>

#include "grader/judge/predict/predict.h"
#include "tests/paths.h"

namespace warplab::predict {
namespace {
namespace fs = std::filesystem;

/// Return the first sampled block of vector_add's first stage, by its offset in the input.
std::uint64_t first_sampled() {
    Judge judge({fs::current_path(), fs::absolute(test::build_folder()), fs::temp_directory_path()}, Backend::cpu);
    const Lab& lab = judge.lab("vector_add");
    const Stage& stage = lab.stage("01");
    Dataset dataset = lab.datasets.front();
    dataset.parameters["n"] = std::int64_t{1} << 22;
    const Recording recording = record(judge, lab, stage, lab.root / "solutions/vector_add" / (stage.id + ".cu"),
                                       judge.oracle(lab).generate(dataset, dataset.seed, 0),
                                       read_machine("grader/judge/predict/gpus", "h100"), SandboxLevel::none);
    EXPECT_EQ(recording.why_not, "");
    for (const TracedOperation& operation : recording.trace.launches.at(0).sampled.at(0).warps.at(0))
        if (operation.kind == trace::OperationKind::device_read) {
            const std::uint64_t address = std::uint64_t{operation.words[0]} * 32;
            for (const TracedMemory& memory : recording.trace.memories)
                if (address >= memory.begin && address < memory.begin + memory.bytes) return address - memory.begin;
        }
    ADD_FAILURE() << "no read of the input";
    return 0;
}

TEST(Record, DrawsOtherBlocksEachTime) { EXPECT_NE(first_sampled(), first_sampled()); }

}  // namespace
}  // namespace warplab::predict
