// Messages of findings; for an index beyond a declared array, they name the array as in the student's line.
#include "grader/judge/sanitizer/findings.h"

#include <gtest/gtest.h>

#include <cstring>

#include "grader/model/cause.h"

namespace warplab {
namespace {

Finding index_beyond(const std::string& line, std::uint32_t column, const char* type, std::int64_t index,
                     std::uint32_t thread) {
    RawFinding finding{};
    finding.now.thread[0] = thread;
    finding.launch_block[0] = 512;
    finding.launch_block[1] = finding.launch_block[2] = 1;
    finding.launch_line = 9;
    finding.kind = static_cast<std::uint32_t>(FindingKind::out_of_bounds);
    finding.space = static_cast<std::uint32_t>(FindingSpace::declared);
    finding.offset = index;
    finding.width = column;
    finding.line = 1;
    std::strncpy(finding.kernel, "smooth", sizeof finding.kernel - 1);
    std::strncpy(finding.detail, type, sizeof finding.detail - 1);
    return describe_findings({}, {}, line + "\n", {}, {finding}).front();
}

std::string words_for(const std::string& line, std::uint32_t column, const char* type, std::int64_t index) {
    return index_beyond(line, column, type, index, 0).message;
}

constexpr auto line = "    if (n) halo->tile[t / 32][k[t] + 1] = row[2 * (t + 1)];";

std::uint32_t column_after(const char* part) {
    return static_cast<std::uint32_t>(std::string(line).find(part) + std::strlen(part));
}

TEST(IndexBeyond, NamesTheArrayOfTheBracket) {
    EXPECT_EQ(words_for(line, column_after("+ 1]"), "'float [17]'", 17),
              "Kernel smooth uses index 17 of halo->tile[t / 32], declared as float [17], with indices 0 to 16: thread "
              "(0,0,0) of block (0,0,0).");
    EXPECT_NE(words_for(line, column_after("1)]"), "'int [8]'", -2).find("index -2 of row, declared as int [8]"),
              std::string::npos);
    EXPECT_NE(words_for(line, column_after("32]"), "'int [4][17]'", 4).find("index 4 of halo->tile, "),
              std::string::npos);
}

TEST(IndexBeyond, NamesNoArrayIfTheColumnIsNotAnIndex) {
    for (const std::uint32_t column : {0u, 1u, 38u, 60u, 4000000000u})
        EXPECT_NE(words_for(line, column, "'int [8]'", 8).find("of an array, declared as"), std::string::npos);
    EXPECT_NE(words_for("]] = 1", 2, "'int [8]'", 8).find("of an array, "), std::string::npos);
}

TEST(IndexBeyond, HasAHintThatFitsTheIndex) {
    const auto hint_for = [](std::int64_t index, std::uint32_t thread) {
        return index_beyond("tile[k] = 0;", 7, "'float [128]'", index, thread).hint;
    };
    EXPECT_NE(hint_for(128, 128).find("this thread's number in its block"), std::string::npos);
    EXPECT_NE(hint_for(130, 130).find("line 9 has blocks of 512 threads, and the array has 128 elements. Are the "
                                      "numbers of blocks and threads swapped there?"),
              std::string::npos);
    EXPECT_NE(hint_for(128, 0).find("128 is the first index past the end"), std::string::npos);
    EXPECT_NE(hint_for(200, 0).find("dimension by dimension"), std::string::npos);
    EXPECT_NE(hint_for(-1, 0).find("negative"), std::string::npos);
}

TEST(IndexBeyond, IsDescribedWithoutAName) {
    const Finding finding = index_beyond("p[q[0][k]] = r[s[k]];", 0, "'float [8]'", 8, 0);
    EXPECT_NE(finding.message.find("uses index 8 of an array, declared as float [8]"), std::string::npos);
}

TEST(IndexBeyond, AsksAboutExchangedDimensions) {
    const auto hint_for = [](const char* text, std::uint32_t column, const char* type, std::int64_t index) {
        return index_beyond(text, column, type, index, 31).hint;
    };
    const auto asks = [](const std::string& hint) { return hint.find("exchanged") != std::string::npos; };
    EXPECT_TRUE(asks(hint_for("tile[i][j] = 0;", 7, "'float [12][36]'", 31)));
    EXPECT_FALSE(asks(hint_for("tile[i][j] = 0;", 7, "'float [12][36]'", 36)));
    EXPECT_FALSE(asks(hint_for("tile[i][j] = 0;", 7, "'float [12][36]'", -1)));
    EXPECT_TRUE(asks(hint_for("tile[i][j] = 0;", 10, "'float [12]'", 12)));
    EXPECT_FALSE(asks(hint_for("tile[i] = 0;", 7, "'float [12]'", 12)));
}

Finding far_access(std::uint64_t address) {
    RawFinding finding{};
    finding.kind = static_cast<std::uint32_t>(FindingKind::out_of_bounds);
    finding.offset = static_cast<std::int64_t>(address);
    return describe_findings({}, {}, "", {}, {finding}).front();
}

TEST(FarAccess, NamesThePointer) {
    EXPECT_NE(far_access(12).message.find("through a null pointer"), std::string::npos);
    EXPECT_NE(far_access(12).hint.find("_scratch_bytes()"), std::string::npos);
    EXPECT_NE(far_access(0xFEFEFEFEFEFEFF02).message.find("a pointer that was never set"), std::string::npos);
    for (const std::uint64_t address : {0x10000ull, 0x7f0000000000ull, 0xffff000000000000ull})
        EXPECT_NE(far_access(address).message.find("an address far from all memory"), std::string::npos);
}

TEST(OutOfBounds, OfScratchHasAHintOnItsSize) {
    RawFinding finding{};
    finding.kind = static_cast<std::uint32_t>(FindingKind::out_of_bounds);
    finding.space = static_cast<std::uint32_t>(FindingSpace::buffer);
    finding.offset = finding.bytes = 16;
    const std::vector<BufferSpec> buffers = {{"out", ElementType::int32, Role::output, ""}};
    const auto hint = [&] { return describe_findings(buffers, {}, "", {}, {finding}).front().hint; };
    EXPECT_EQ(hint().find("_scratch_bytes()"), std::string::npos);
    finding.buffer = 1;
    EXPECT_NE(hint().find("the 16 bytes that the stage's _scratch_bytes() returns"), std::string::npos);
    for (std::uint32_t& extent : finding.launch_block) extent = 4;
    finding.launch_line = 12;
    EXPECT_NE(hint().find("right with blocks of 64 threads, as line 12 has them?"), std::string::npos);
}

RawFinding finding_of(FindingKind kind, FindingSpace space = FindingSpace::buffer) {
    RawFinding finding{};
    finding.kind = static_cast<std::uint32_t>(kind);
    finding.space = static_cast<std::uint32_t>(space);
    finding.now.program_counter = finding.before.program_counter = 7;
    finding.width = 4;
    finding.bytes = 1024;
    return finding;
}

Finding describe_one(const RawFinding& finding) {
    const std::vector<BufferSpec> buffers = {{"out", ElementType::int32, Role::output, ""}};
    return describe_findings(buffers, {{7, 1}}, "", {}, {finding}).front();
}

testing::AssertionResult has(const std::string& text, const std::string& words) {
    if (text.find(words) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << text;
}

TEST(OutOfBounds, NamesASingleElement) {
    RawFinding finding = finding_of(FindingKind::out_of_bounds);
    finding.offset = -480;
    EXPECT_TRUE(has(describe_one(finding).message, "element -120 of out"));
    finding.offset = -482;
    EXPECT_TRUE(has(describe_one(finding).message, "elements -121 to -120 of out"));
    finding.offset = 1022;
    EXPECT_TRUE(has(describe_one(finding).message, "elements 255 to 256 of out"));
    EXPECT_TRUE(has(describe_one(finding).hint, "Guard the access"));
    EXPECT_FALSE(has(describe_one(finding).hint, "first past the end"));
    finding.offset = 1024;
    finding.now.thread[0] = 255;
    finding.now.block[0] = 7;
    EXPECT_TRUE(has(describe_one(finding).hint, "Thread (255,0,0) of block (7,0,0) must not reach this line"));
    EXPECT_TRUE(has(describe_one(finding).hint, "This element is the first past the end."));
    finding.offset = 128 << 20;
    EXPECT_TRUE(has(describe_one(finding).hint, "was probably read from memory"));
}

std::string hint_for_line(const RawFinding& finding, const std::string& line) {
    const std::vector<BufferSpec> buffers = {{"out", ElementType::int32, Role::output, ""}};
    return describe_findings(buffers, {{7, 1}}, line, {}, {finding}).front().hint;
}

TEST(OutOfBounds, HintDependsOnTheLine) {
    RawFinding finding = finding_of(FindingKind::out_of_bounds);
    finding.offset = 2048;
    EXPECT_TRUE(has(hint_for_line(finding, "if (i < n - k) out[i + k] = 0;"), "is huge if k is larger than n"));
    EXPECT_FALSE(has(hint_for_line(finding, "if (i < n) out[i - k] = 0;"), "is huge"));
    finding.width = 16;
    EXPECT_TRUE(has(hint_for_line(finding, "vectors[i] = zero;"), "where does it begin, and how long is it?"));
    finding.space = static_cast<std::uint32_t>(FindingSpace::allocation);
    finding.other_line = 1;
    EXPECT_TRUE(has(hint_for_line(finding, "sum += rows[y * pitch + x];"), "height * pitch elements?"));
    EXPECT_FALSE(has(hint_for_line(finding, "sum += rows[y * columns + x];"), "pitch"));
}

TEST(OutOfBounds, MentionsRowsOnlyIfTheirLengthIsAVariable) {
    RawFinding finding = finding_of(FindingKind::out_of_bounds);
    finding.offset = 1024;
    const auto hint_for = [&](const char* text) {
        const std::vector<BufferSpec> buffers = {{"out", ElementType::int32, Role::output, ""}};
        return describe_findings(buffers, {{7, 1}}, text, {}, {finding}).front().hint;
    };
    EXPECT_TRUE(has(hint_for("out[y * columns + x] = 1;"), "columns must be the row length"));
    EXPECT_TRUE(has(hint_for("out[first * 4 + k] = 1;"), "Guard the access"));
}

TEST(OutOfBounds, OfDynamicSharedMemoryNamesTheLaunchsArgument) {
    RawFinding finding = finding_of(FindingKind::out_of_bounds, FindingSpace::dynamic_shared);
    finding.offset = 1024;
    EXPECT_TRUE(has(describe_one(finding).hint, "<<<blocks, threads, bytes>>>"));
}

TEST(OutOfBounds, NamesThePieceOfScratch) {
    RawFinding finding = finding_of(FindingKind::out_of_bounds);
    finding.buffer = 1;
    finding.offset = 1024;
    EXPECT_TRUE(has(describe_one(finding).message, "element 256 of scratch"));
    std::strncpy(finding.object, "current", sizeof finding.object - 1);
    EXPECT_TRUE(has(describe_one(finding).message, "element 256 of current"));
    EXPECT_FALSE(has(describe_one(finding).hint, "_scratch_bytes()"));
    std::strncpy(finding.object, "scratch", sizeof finding.object - 1);  // the part that belongs to the student
    EXPECT_TRUE(has(describe_one(finding).hint, "_scratch_bytes()"));
}

TEST(OutOfBounds, NamesTheCallThatAllocatedTheMemory) {
    RawFinding finding = finding_of(FindingKind::out_of_bounds, FindingSpace::allocation);
    for (const char* call : {"cudaMalloc", "cudaMallocHost"}) {
        std::strncpy(finding.object, call, sizeof finding.object - 1);
        EXPECT_TRUE(has(describe_one(finding).message, std::string(" from ") + call));
    }
}

TEST(Misaligned, MentionsAVectorOnlyIfOneIsUsed) {
    RawFinding finding = finding_of(FindingKind::misaligned);
    finding.offset = 1;
    EXPECT_TRUE(has(describe_one(finding).hint, "4 bytes are read and written at multiples of 4"));
    finding.width = 8;
    EXPECT_TRUE(has(describe_one(finding).hint, "A vector of two begins where the index is a multiple of two"));
    finding.width = 16;
    EXPECT_TRUE(has(describe_one(finding).hint, "A vector of four"));
    finding.space = static_cast<std::uint32_t>(FindingSpace::allocation);
    EXPECT_TRUE(has(describe_one(finding).hint, "16 bytes are read"));
}

TEST(Misaligned, NamesTheDeclarationOfASharedArray) {
    RawFinding finding = finding_of(FindingKind::misaligned, FindingSpace::shared);
    finding.offset = 8;
    finding.width = 8;
    EXPECT_TRUE(has(describe_one(finding).message, "whose type does not put it at a multiple of 8"));
    EXPECT_TRUE(has(describe_one(finding).hint, "__align__(8)"));
}

TEST(Race, OfALineWithItselfNamesBothBarriersAndTheAtomics) {
    RawFinding finding = finding_of(FindingKind::race, FindingSpace::shared);
    finding.before.writes = 1;
    EXPECT_TRUE(has(describe_one(finding).hint, "__syncthreads(), or __syncwarp() if threads exchange"));
    EXPECT_TRUE(has(describe_one(finding).hint, "If a barrier is there, both threads run this line in the same step"));
    finding.now.writes = 1;
    EXPECT_TRUE(has(describe_one(finding).hint, "atomicMax for a maximum"));
    EXPECT_TRUE(has(describe_one(finding).hint, "If each has its own, the index is wrong"));
}

TEST(Race, InGlobalMemorySaysThatABarrierIsForOneBlock) {
    RawFinding finding = finding_of(FindingKind::race);
    finding.before.program_counter = 8;
    finding.before.writes = 1;
    EXPECT_TRUE(has(describe_one(finding).hint, "If other blocks use it too, no barrier helps"));
    EXPECT_FALSE(has(describe_one(finding).hint, "Should both threads write"));
    finding.now.writes = 1;
    EXPECT_TRUE(has(describe_one(finding).hint, "Should both threads write this element?"));
    finding.now.writes = 0;
    finding.space = static_cast<std::uint32_t>(FindingSpace::shared);
    EXPECT_TRUE(has(describe_one(finding).hint, "A barrier belongs between the two lines: __syncthreads(), or"));
}

TEST(AbsentLane, SaysThatAllLanesMustCallTheFunction) {
    EXPECT_TRUE(has(describe_one(finding_of(FindingKind::absent_lane)).hint, "let all lanes of the warp call"));
}

TEST(Race, OfTwoPointersToOneArrayNamesTheLaunchFirst) {
    RawFinding finding = finding_of(FindingKind::race);
    finding.now.writes = 1;
    std::strncpy(finding.detail, "the launch at line 9", sizeof finding.detail - 1);
    const Finding description = describe_one(finding);
    EXPECT_TRUE(
        description.message.starts_with("Two arguments of the launch at line 9 point to the same array. Race on "));
    EXPECT_TRUE(has(description.hint, "in place of std::swap(a, b)"));
}

TEST(Race, BetweenBlocksOnOneLineNamesTheAtomics) {
    RawFinding finding = finding_of(FindingKind::race);
    finding.before.writes = finding.before.block[0] = 1;
    EXPECT_TRUE(has(describe_one(finding).hint, "atomicAdd for a sum"));
    EXPECT_FALSE(has(describe_one(finding).hint, "grid.sync()"));
}

TEST(Race, BetweenBlocksAsksWhetherABlockMayReadTheElement) {
    RawFinding finding = finding_of(FindingKind::race);
    finding.before.program_counter = 8;
    finding.before.writes = finding.before.block[0] = 1;
    EXPECT_TRUE(has(describe_one(finding).hint, "Should a block read what another one writes?"));
}

TEST(Race, WithoutThreadIndicesSaysThatAllThreadsDoTheSame) {
    RawFinding finding = finding_of(FindingKind::race);
    finding.before.writes = 1;
    const auto hint_in = [&](const char* text) { return describe_findings({}, {}, text, {}, {finding}).front().hint; };
    EXPECT_TRUE(has(hint_in("__global__ void add(int* a) { ++a[blockIdx.x]; }"), "No line uses threadIdx"));
    EXPECT_FALSE(has(hint_in("__global__ void add(int* a) { ++a[threadIdx.y]; }"), "No line uses"));
    finding.before.block[0] = 1;
    EXPECT_TRUE(has(hint_in("__global__ void add(int* a) { ++a[threadIdx.y]; }"), "No line uses blockIdx"));
    EXPECT_FALSE(has(hint_in("__global__ void add(int* a) { ++a[blockIdx.x]; }"), "No line uses"));
}

TEST(Uninitialised, NamesTheLineThatAllocatedTheMemory) {
    RawFinding finding = finding_of(FindingKind::uninitialised, FindingSpace::allocation);
    finding.before.program_counter = 0;
    finding.other_line = 12;
    std::strncpy(finding.object, "cudaMalloc", sizeof finding.object - 1);
    EXPECT_TRUE(has(describe_one(finding).message, "from cudaMalloc of line 12, which has not been written yet"));
}

TEST(Race, OfTwoWarpsDoesNotSuggestSyncwarp) {
    RawFinding finding = finding_of(FindingKind::race, FindingSpace::shared);
    finding.before.writes = 1;
    finding.before.thread[0] = finding.now.thread[0] + 32;
    EXPECT_TRUE(has(describe_one(finding).hint, "__syncthreads()."));
    EXPECT_FALSE(has(describe_one(finding).hint, "__syncwarp"));
}

TEST(Race, OfTwoAtomicsStatesTheirDifference) {
    RawFinding finding = finding_of(FindingKind::atomic_race);
    finding.before.block[0] = 1;
    finding.before.writes = finding.before.atomic = finding.now.writes = finding.now.atomic = 1;
    EXPECT_TRUE(has(describe_one(finding).hint, "the scope of one is its block"));
    finding.other_width = 8;
    EXPECT_TRUE(has(describe_one(finding).hint, "one of 4 and one of 8 bytes"));
    finding.before.atomic = 0;
    EXPECT_TRUE(has(describe_one(finding).hint, "Use an atomic here as well"));
}

TEST(FailedLaunch, HasAHintOnTheLimitThatItExceeds) {
    const auto hint_for = [](LaunchLimit limit) {
        RawFinding finding = finding_of(FindingKind::failed_launch);
        finding.limit = static_cast<std::uint32_t>(limit);
        return describe_one(finding).hint;
    };
    EXPECT_TRUE(has(hint_for(LaunchLimit::blocks), "65,535 blocks"));
    EXPECT_TRUE(has(hint_for(LaunchLimit::shared), "cudaFuncSetAttribute"));
    EXPECT_TRUE(has(hint_for(LaunchLimit::threads), "swapped"));
    for (std::uint32_t limit = 0; limit < 10; ++limit)
        EXPECT_TRUE(has(hint_for(static_cast<LaunchLimit>(limit)), "Call cudaGetLastError()"));
}

TEST(Copies, HaveAHintForEachKind) {
    const auto hint_for = [](FindingKind kind) { return describe_one(finding_of(kind)).hint; };
    EXPECT_TRUE(has(hint_for(FindingKind::copy_direction), "The first pointer is the destination"));
    EXPECT_TRUE(has(hint_for(FindingKind::copy_beyond_variable), "is the & a mistake?"));
    EXPECT_TRUE(has(hint_for(FindingKind::copy_by_name), "cudaMemcpyFromSymbol"));
    EXPECT_TRUE(has(hint_for(FindingKind::copy_at_direction), "the direction comes fifth"));
    EXPECT_TRUE(has(hint_for(FindingKind::copy_beyond_heap), "a float has 4 bytes, a double 8"));
    EXPECT_TRUE(has(hint_for(FindingKind::copy_of_host_variable), "declared outside all functions"));
    EXPECT_TRUE(has(hint_for(FindingKind::copy_of_freed), "Is the memory freed before this copy?"));
    EXPECT_EQ(describe_one(finding_of(FindingKind::copy_of_freed)).cause, cause::use_after_free);
    RawFinding fill = finding_of(FindingKind::copy_direction);
    std::strncpy(fill.object, "cudaMemset", sizeof fill.object - 1);
    EXPECT_TRUE(has(describe_one(fill).hint, "It fills device memory"));
}

Finding beyond_shared(std::uint32_t block, std::int64_t index, const std::string& declaration) {
    RawFinding finding = finding_of(FindingKind::out_of_bounds);
    finding.space = static_cast<std::uint32_t>(FindingSpace::declared);
    finding.line = 1;
    finding.width = 7;
    finding.offset = index;
    finding.now.block[0] = block;
    finding.now.thread[0] = 3;
    finding.launch_block[0] = 128;
    finding.launch_block[1] = finding.launch_block[2] = 1;
    std::strncpy(finding.detail, "'float [128]'", sizeof finding.detail - 1);
    return describe_findings({}, {}, "tile[k] = 0;\n" + declaration, {}, {finding}).front();
}

TEST(SharedIndex, ThatIsTheThreadsNumberInTheGridIsNamed) {
    constexpr auto shared = "__shared__ float tile[128];", local = "float tile[128];";
    EXPECT_TRUE(has(beyond_shared(1, 131, shared).hint, "131 is blockIdx.x * blockDim.x + threadIdx.x"));
    EXPECT_FALSE(has(beyond_shared(1, 132, shared).hint, "blockIdx.x"));
    EXPECT_FALSE(has(beyond_shared(1, 131, local).hint, "blockIdx.x"));
}

TEST(FlatBlock, IsNamedIfTheKernelUsesRowsOfThreads) {
    const auto hint_for = [](const std::string& body) {
        RawFinding finding = finding_of(FindingKind::out_of_bounds);
        finding.space = static_cast<std::uint32_t>(FindingSpace::declared);
        finding.line = 1;
        finding.launch_line = 40;
        finding.launch_block[0] = 1024;
        finding.launch_block[1] = finding.launch_block[2] = 1;
        finding.offset = finding.now.thread[0] = 32;
        std::strncpy(finding.kernel, "sum", sizeof finding.kernel - 1);
        std::strncpy(finding.detail, "'int [32]'", sizeof finding.detail - 1);
        const std::string text =
            "\n__global__ void sum(int* p) {" + body + "}\n__global__ void other() { threadIdx.y; }";
        return describe_findings({}, {}, text, {}, {finding}).front().hint;
    };
    EXPECT_TRUE(has(hint_for("s[threadIdx.y] = 0;"), "line 40 launches blocks of 1024 x 1 threads"));
    EXPECT_FALSE(has(hint_for("s[threadIdx.x] = 0;"), "threadIdx.y"));
}

TEST(OutOfBounds, NamesAPointerThatTheLaunchPasses) {
    RawFinding finding = finding_of(FindingKind::out_of_bounds);
    finding.space = static_cast<std::uint32_t>(FindingSpace::allocation);
    finding.width = 4;
    finding.bytes = 400;
    finding.offset = 1604;
    finding.passed_outside = 1;
    finding.passed_offset = 1600;
    finding.launch_line = 62;
    EXPECT_TRUE(has(describe_one(finding).message, "The pointer that line 62 passes to kernel"));
    EXPECT_TRUE(has(describe_one(finding).message, "points to element 400 of"));
    finding.launch_block[0] = finding.launch_block[1] = finding.launch_block[2] = 1;
    finding.now.thread[0] = 1;
    EXPECT_TRUE(has(describe_one(finding).message, "has overwritten its own local variables"));
}

TEST(Uninitialised, NamesTheLaunchThatWroteOnlyParts) {
    RawFinding finding = finding_of(FindingKind::uninitialised);
    finding.writer_line = 94;
    finding.writer_block[0] = 8;
    finding.writer_block[1] = 32;
    finding.written = 8;
    finding.written_distance = 32;
    std::strncpy(finding.detail, "update", sizeof finding.detail - 1);
    EXPECT_TRUE(has(describe_one(finding).message, "blocks of 8 x 32 threads, wrote elements 0 to 7 and 32 to 39"));
    finding.written_distance = 0;
    EXPECT_FALSE(has(describe_one(finding).message, "update"));
}

TEST(WritesOutOfBounds, ComeBeforeReadsOfUnwrittenMemory) {
    RawFinding read = finding_of(FindingKind::uninitialised), write = finding_of(FindingKind::out_of_bounds);
    read.line = 1;
    write.line = 2;
    const auto first = [&] { return describe_findings({}, {}, "a\nb\n", {}, {read, write}).front().cause; };
    EXPECT_EQ(first(), cause::uninitialised);
    write.now.writes = 1;
    EXPECT_EQ(first(), cause::out_of_bounds);
}

TEST(OmittedFindings, IncludeNotesThatCallARaceHarmless) {
    const auto findings =
        describe_findings({}, {{7, 1}}, "", {}, {finding_of(FindingKind::same_value), finding_of(FindingKind::race)});
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].cause, "race");
}

TEST(OmittedFindings, IncludeRacesOnALineWithAnIndexBeyondAnArray) {
    RawFinding beyond{}, race{}, elsewhere{};
    for (RawFinding* finding : {&beyond, &race, &elsewhere}) finding->line = finding == &elsewhere ? 2 : 1;
    beyond.kind = static_cast<std::uint32_t>(FindingKind::out_of_bounds);
    race.kind = elsewhere.kind = static_cast<std::uint32_t>(FindingKind::race);
    const auto findings = describe_findings({}, {}, "", {}, {race, beyond, elsewhere});
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].cause, "out_of_bounds");
    EXPECT_EQ(findings[1].line, 2);
}

TEST(OrderOfFindings, PutsAccessesOutOfBoundsFirstAndNotesLast) {
    RawFinding race = finding_of(FindingKind::race), beyond = finding_of(FindingKind::out_of_bounds),
               note = finding_of(FindingKind::absent_lane);
    race.line = 1;
    beyond.line = 2;
    note.line = 3;
    const auto findings = describe_findings({}, {}, "", {}, {note, race, beyond});
    ASSERT_EQ(findings.size(), 3u);
    EXPECT_EQ(findings[0].cause, "out_of_bounds");
    EXPECT_EQ(findings[1].cause, "race");
    EXPECT_TRUE(findings[2].note);
}

}  // namespace
}  // namespace warplab
