// Parsing of GCC's intermediate code, and the properties of kernels that follow from it.
#include "grader/judge/predict/gimple.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "grader/judge/predict/code.h"

namespace warplab::predict {
namespace {

// Output of g++ 12 for: for (i = first; i < n; ++i) sum += a[i] * b[i]; *out = sum;
constexpr auto loop = R"(
;; Function warplab_cpu::run_body<k()::<lambda()> > (_ZN11warplab_cpu8run_bodyIZ1kvEUlvE_EEvT_, funcdef_no=1, decl_uid=2, cgraph_uid=3, symbol_order=4)

void warplab_cpu::run_body<k()::<lambda()> > (struct ._anon body)
{
  float sum;
  float * _1;
  float _2;
  float _3;
  float _4;
  long unsigned int _9;
  int i;

  <bb 2> [local count: 1]:
  [k.cu:3:5] gimple_call <__builtin___sanitizer_cov_trace_pc, NULL>
  [k.cu:3:9] gimple_assign <component_ref, _1, [k.cu:3:9] body.__a, NULL, NULL>

  <bb 3> [local count: 2]:
  # gimple_phi <i_5, [k.cu:4:7] i_6(3), 0(2)>
  # gimple_phi <sum_7, [k.cu:4:7] sum_8(3), 0.0(2)>
  [k.cu:4:7] gimple_debug BEGIN_STMT
  [k.cu:4:7] gimple_call <__builtin___sanitizer_cov_trace_pc, NULL>
  [k.cu:4:9] gimple_assign <mult_expr, _9, i_5, 4, NULL>
  [k.cu:4:9] gimple_assign <pointer_plus_expr, _1b, _1, _9, NULL>
  [k.cu:4:9] gimple_call <__builtin___tsan_read4, NULL, _1>
  [k.cu:4:9] gimple_assign <mem_ref, _2, *_1, NULL, NULL>
  [k.cu:4:12] gimple_assign <mult_expr, _3, _2, _2, NULL>
  [k.cu:4:12] gimple_assign <plus_expr, sum_8, _3, sum_7, NULL>
  [k.cu:4:16] gimple_assign <plus_expr, i_6, i_5, 1, NULL>
  [k.cu:4:16] gimple_cond <ne_expr, i_6, 100, NULL, NULL>
    goto <bb 3>; [99.00%]
  else
    goto <bb 4>; [1.00%]

  <bb 4> [local count: 1]:
  [k.cu:5:5] gimple_call <__builtin___sanitizer_cov_trace_pc, NULL>
  [grader/cpu/include/warplab_cpu/sync.h:109:5] gimple_call <note_barrier, NULL, 5>
  [k.cu:6:5] gimple_call <__builtin___tsan_write4, NULL, _1>
  [k.cu:6:5] gimple_assign <ssa_name, *_1, sum_8, NULL, NULL>
  [k.cu:6:5] gimple_return <NULL>
}
)";

std::vector<HookCall> calls_of_loop() {
    return {{0x10, "__sanitizer_cov_trace_pc"},
            {0x20, "__sanitizer_cov_trace_pc"},
            {0x30, "__tsan_read4"},
            {0x40, "__sanitizer_cov_trace_pc"},
            {0x50, "note_barrier"},
            {0x60, "__tsan_write4"}};
}

constexpr auto symbol = "_ZN11warplab_cpu8run_bodyIZ1kvEUlvE_EEvT_";

TEST(Gimple, FunctionsBlocksAndStatementsAreRead) {
    const auto functions = read_gimple(loop);
    ASSERT_EQ(functions.size(), 1u);
    EXPECT_EQ(functions[0].symbol, symbol);
    ASSERT_EQ(functions[0].blocks.size(), 3u);
    EXPECT_EQ(functions[0].type_of("sum_8"), "float");
    EXPECT_EQ(functions[0].type_of("_1"), "float *");
    EXPECT_EQ(functions[0].blocks[1].successors, (std::vector{3, 4}));
    const Statement& phi = functions[0].blocks[1].statements.front();
    EXPECT_EQ(phi.kind, Statement::Kind::phi);
    EXPECT_EQ(phi.result, "i_5");
    EXPECT_EQ(phi.operands, (std::vector<std::string>{"i_6", "0"}));
    EXPECT_EQ(phi.from, (std::vector{3, 2}));
}

TEST(Gimple, AcceptsInvalidText) {
    EXPECT_TRUE(read_gimple("").empty());
    EXPECT_TRUE(read_gimple("what is this\n<bb 2>\n").empty());
    EXPECT_EQ(read_gimple(";; Function f (no end\n<bb 2>\ngimple_assign <\ngimple_call <x\n# gimple_phi <\n").size(),
              1u);
}

// Output of g++ 12 for: if (t < half) s[t] += s[t + half];
constexpr auto short_if = R"(
;; Function warplab_cpu::run_body<k()::<lambda()> > (_ZN11warplab_cpu8run_bodyIZ1kvEUlvE_EEvT_, funcdef_no=1, decl_uid=2, cgraph_uid=3, symbol_order=4)

void warplab_cpu::run_body<k()::<lambda()> > (struct ._anon body)
{
  int _1;
  int _2;
  int _3;

  <bb 2> [local count: 1]:
  [k.cu:3:5] gimple_call <__builtin___sanitizer_cov_trace_pc, NULL>
  [k.cu:3:9] gimple_cond <lt_expr, t_4, half_5, NULL, NULL>
    goto <bb 3>; [50.00%]
  else
    goto <bb 4>; [50.00%]

  <bb 3> [local count: 1]:
  [k.cu:3:20] gimple_call <__builtin___sanitizer_cov_trace_pc, NULL>
  [k.cu:3:20] gimple_call <__builtin___tsan_read4, NULL, _6>
  [k.cu:3:20] gimple_assign <mem_ref, _1, *_6, NULL, NULL>
  [k.cu:3:20] gimple_call <__builtin___tsan_read4, NULL, _7>
  [k.cu:3:20] gimple_assign <mem_ref, _2, *_7, NULL, NULL>
  [k.cu:3:20] gimple_assign <plus_expr, _3, _1, _2, NULL>
  [k.cu:3:20] gimple_call <__builtin___tsan_write4, NULL, _6>
  [k.cu:3:20] gimple_assign <ssa_name, *_6, _3, NULL, NULL>

  <bb 4> [local count: 1]:
  [k.cu:5:5] gimple_call <__builtin___sanitizer_cov_trace_pc, NULL>
  [k.cu:6:5] gimple_return <NULL>
}
)";

PredicatedBody body_of_short_if(const std::string& text, const char* write) {
    const std::vector<HookCall> calls = {{0x10, "__sanitizer_cov_trace_pc"},
                                         {0x20, "__sanitizer_cov_trace_pc"},
                                         {0x30, "__tsan_read4"},
                                         {0x40, "__tsan_read4"},
                                         {0x50, write},
                                         {0x60, "__sanitizer_cov_trace_pc"}};
    const Code code(read_gimple(text), {{symbol, calls}});
    EXPECT_EQ(code.unmatched(), 0);
    EXPECT_EQ(code.at(0x20)->body.place, 0u);
    return code.at(0x10)->body;
}

TEST(Code, AShortIfHasAPredicatedBody) {
    const PredicatedBody body = body_of_short_if(short_if, "__tsan_write4");
    EXPECT_EQ(body.place, 0x20u);
    EXPECT_EQ(body.accesses, 3);
    EXPECT_EQ(body.issued, 4);
    std::string with_atomic = short_if;
    const std::string write = "__builtin___tsan_write4, NULL";
    with_atomic.replace(with_atomic.find(write), write.size(), "__builtin___tsan_atomic32_fetch_add, NULL");
    EXPECT_EQ(body_of_short_if(with_atomic, "__tsan_atomic32_fetch_add").place, 0u);
}

TEST(Code, WorkNeedsAndLoopsComeFromTheStatements) {
    const Code code(read_gimple(loop), {{symbol, calls_of_loop()}});
    ASSERT_EQ(code.unmatched(), 0);
    const Instruction* const body = code.at(0x20);
    ASSERT_TRUE(body);
    EXPECT_EQ(body->line, 4);
    EXPECT_EQ(body->work.fp32, 1) << "nvcc fuses the product with the sum";
    EXPECT_TRUE(body->needs.empty()) << "the loop's end depends on no access";
    ASSERT_TRUE(code.at(0x30));
    EXPECT_GT(code.at(0x30)->loop, 0);
    EXPECT_TRUE(code.at(0x30)->result_is_used);
    const Instruction* const store = code.at(0x60);
    ASSERT_TRUE(store);
    EXPECT_EQ(store->loop, 0);
    ASSERT_FALSE(store->needs.empty());
    EXPECT_EQ(store->needs[0].place, 0x30u);
    EXPECT_EQ(store->needs[0].age, 0);
    EXPECT_EQ(code.at(0x50)->line, 5) << "the line is in the student's file, not in the header";
}

std::string replaced(std::string text, const std::string& old, const std::string& with) {
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + with.size()))
        text.replace(at, old.size(), with);
    return text;
}

// A store of the value that the previous iteration loaded. GCC has written the start of the loop after its end.
constexpr auto rotated_loop = R"(
;; Function warplab_cpu::run_body<k()::<lambda()> > (_ZN11warplab_cpu8run_bodyIZ1kvEUlvE_EEvT_, funcdef_no=1, decl_uid=2, cgraph_uid=3, symbol_order=4)

void warplab_cpu::run_body<k()::<lambda()> > (struct ._anon body)
{
  float * _1;
  float _2;
  float arriving;
  int i;

  <bb 2> [local count: 1]:
  [k.cu:3:5] gimple_call <__builtin___sanitizer_cov_trace_pc, NULL>
  goto <bb 4>; [100.00%]

  <bb 3> [local count: 2]:
  [k.cu:4:7] gimple_call <__builtin___sanitizer_cov_trace_pc, NULL>
  [k.cu:4:9] gimple_call <__builtin___tsan_read4, NULL, _1>
  [k.cu:4:9] gimple_assign <mem_ref, _2, *_1, NULL, NULL>
  [k.cu:5:9] gimple_call <__builtin___tsan_write4, NULL, _1>
  [k.cu:5:9] gimple_assign <ssa_name, *_1, arriving_7, NULL, NULL>
  [k.cu:4:16] gimple_cond <ne_expr, i_6, 100, NULL, NULL>
    goto <bb 4>; [99.00%]
  else
    goto <bb 5>; [1.00%]

  <bb 4> [local count: 2]:
  # gimple_phi <i_5, i_6(3), 0(2)>
  # gimple_phi <arriving_7, _2(3), 0.0(2)>
  [k.cu:4:7] gimple_call <__builtin___sanitizer_cov_trace_pc, NULL>
  [k.cu:4:16] gimple_assign <plus_expr, i_6, i_5, 1, NULL>
  goto <bb 3>; [100.00%]

  <bb 5> [local count: 1]:
  [k.cu:6:5] gimple_return <NULL>
}
)";

TEST(Code, AgesOfResultsAreRightIfALoopIsWrittenFromItsMiddle) {
    const std::vector<HookCall> calls = {{0x10, "__sanitizer_cov_trace_pc"},
                                         {0x20, "__sanitizer_cov_trace_pc"},
                                         {0x30, "__tsan_read4"},
                                         {0x40, "__tsan_write4"},
                                         {0x50, "__sanitizer_cov_trace_pc"}};
    const Code code(read_gimple(rotated_loop), {{symbol, calls}});
    ASSERT_EQ(code.unmatched(), 0);
    ASSERT_EQ(code.at(0x40)->needs.size(), 1u);
    EXPECT_EQ(code.at(0x40)->needs[0].place, 0x30u);
    EXPECT_EQ(code.at(0x40)->needs[0].age, 1);
    EXPECT_GT(code.at(0x30)->loop, 0);
}

TEST(Code, CountersOfALoopWithConstantEndsCostNothing) {
    const auto integers = [](const std::string& text) {
        const Code code(read_gimple(text), {{symbol, calls_of_loop()}});
        EXPECT_EQ(code.unmatched(), 0);
        return code.at(0x20)->work.integer;
    };
    EXPECT_EQ(integers(loop), 0);
    EXPECT_GT(integers(replaced(loop, "i_6, 100", "i_6, _9")), 2) << "the end is not a constant";
}

TEST(Code, ValuesThatGccNamesWithADotKeepTheirNeeds) {
    const Code code(read_gimple(replaced(loop, "sum_8", "iftmp.0_8")), {{symbol, calls_of_loop()}});
    EXPECT_EQ(code.unmatched(), 0);
    ASSERT_FALSE(code.at(0x60)->needs.empty());
    EXPECT_EQ(code.at(0x60)->needs[0].place, 0x30u);
}

TEST(Code, OnlyDependentWorkFormsAChain) {
    const std::string sum = "gimple_assign <plus_expr, sum_8, _3, sum_7, NULL>";
    const auto chain = [&](const char* second) {
        const std::string text =
            replaced(replaced(loop, sum, sum + "\n  [k.cu:4:12] " + second), "float _4;", "float _4;\n  float _11;");
        return Code(read_gimple(text), {{symbol, calls_of_loop()}}).at(0x20)->chain.fp32;
    };
    EXPECT_EQ(chain("gimple_assign <minus_expr, _11, sum_7, 1.0e+0, NULL>"), 1);
    EXPECT_EQ(chain("gimple_assign <minus_expr, _11, sum_8, 1.0e+0, NULL>"), 2);
}

/// Return a kernel's code whose only hook announces this atomic addition.
bool is_aggregated(const std::string& statements, const std::string& hook) {
    std::string text = loop;
    text.erase(text.find("  [k.cu:3:5]"));
    const Code code(read_gimple(text + statements + "\n  [k.cu:6:5] gimple_return <NULL>\n}\n"),
                    {{symbol, {{0x10, hook}}}});
    EXPECT_EQ(code.unmatched(), 0);
    return code.at(0x10)->aggregates;
}

TEST(Code, OneLaneAddsForItsWarpIfNvccSeesThatAllAddToOneVariable) {
    const std::string parameter = "  [k.cu:4:1] gimple_assign <component_ref, _1, body.__a, NULL, NULL>\n",
                      thread = "  [k.cu:4:1] gimple_assign <component_ref, _4, threadIdx.x, NULL, NULL>\n",
                      offset =
                          "  [k.cu:4:1] gimple_assign <mult_expr, _9, _4, 4, NULL>\n"
                          "  [k.cu:4:1] gimple_assign <pointer_plus_expr, _1, _1, _9, NULL>\n";
    const auto add = [](const std::string& bits, const std::string& value) {
        return "  [k.cu:5:1] gimple_call <__builtin___tsan_atomic" + bits + "_fetch_add, NULL, _1, " + value + ", 0>";
    };
    EXPECT_TRUE(is_aggregated(parameter + add("32", "_3"), "__tsan_atomic32_fetch_add"));
    EXPECT_TRUE(is_aggregated(parameter + add("64", "1"), "__tsan_atomic64_fetch_add"));
    EXPECT_FALSE(is_aggregated(parameter + add("64", "_3"), "__tsan_atomic64_fetch_add"));
    EXPECT_FALSE(is_aggregated(thread + offset + add("32", "_3"), "__tsan_atomic32_fetch_add"));
}

TEST(Code, DivisionsRootsAndConversionsTakeSeveralInstructions) {
    const auto work_of = [](const std::string& type, const std::string& statement) {
        const std::string text =
            replaced(replaced(loop, "float _4;", type + " _4;\n  double _22;\n  complex int both_5;"),
                     "[k.cu:4:16] gimple_assign", "[k.cu:4:14] " + statement + "\n  [k.cu:4:16] gimple_assign");
        const Code code(read_gimple(text), {{symbol, calls_of_loop()}}),
            without(read_gimple(loop), {{symbol, calls_of_loop()}});
        EXPECT_EQ(code.unmatched(), 0);
        Work work = code.at(0x20)->work;
        work.integer -= without.at(0x20)->work.integer, work.fp32 -= without.at(0x20)->work.fp32;
        return work;
    };
    EXPECT_EQ(work_of("int", "gimple_assign <trunc_mod_expr, _4, _11, 8, NULL>").integer, 1);
    EXPECT_EQ(work_of("int", "gimple_assign <trunc_mod_expr, _4, 100, _12, NULL>").integer, 20) << "100 divided by it";
    EXPECT_EQ(work_of("int", "gimple_call <.DIVMOD, both_5, _11, _12>").integer, 22)
        << "quotient and remainder at once";
    EXPECT_EQ(work_of("int", "gimple_assign <imagpart_expr, _4, IMAGPART_EXPR <both_5>, NULL, NULL>").integer, 0);
    EXPECT_EQ(work_of("int", "gimple_call <.DIVMOD, both_5, _11, _12>").special, 1);
    EXPECT_EQ(work_of("double", "gimple_assign <nop_expr, _4, _2, NULL, NULL>").special, 1);
    EXPECT_EQ(work_of("int", "gimple_assign <fix_trunc_expr, _4, _22, NULL, NULL>").special, 1);
    EXPECT_EQ(work_of("int", "gimple_assign <fix_trunc_expr, _4, _2, NULL, NULL>").special, 0);
    EXPECT_GT(work_of("double", "gimple_call <sqrt, _4, _22>").fp64, 1);
    EXPECT_EQ(work_of("float", "gimple_call <sqrtf, _4, _2>").fp64, 0);
}

TEST(Code, AnArrayWithAnUnknownIndexIsInLocalMemory) {
    const auto local = [](const std::string& element) {
        const std::string text = replaced(
            replaced(loop, "float _4;", "float _4;\n  float sums[4];"), "[k.cu:4:16] gimple_assign",
            "[k.cu:4:14] gimple_assign <array_ref, _4, " + element + ", NULL, NULL>\n  [k.cu:4:16] gimple_assign");
        const Code code(read_gimple(text), {{symbol, calls_of_loop()}});
        EXPECT_EQ(code.unmatched(), 0);
        return code.at(0x20)->work.local;
    };
    EXPECT_EQ(local("sums[3]"), 0);
    EXPECT_EQ(local("sums[i_5]"), 0) << "nvcc unrolls the loop";
    EXPECT_EQ(local("sums[_9]"), 0) << "it is computed from the counter";
    EXPECT_EQ(local("sums[_2b]"), 1);
}

TEST(Code, ALoopWithUnroll1DoesOneIterationAtATime) {
    const auto calls = std::map<std::string, std::vector<HookCall>>{{symbol, calls_of_loop()}};
    const Code free(read_gimple(loop), calls), rolled(read_gimple(loop), calls, {4});
    EXPECT_EQ(free.at(0x30)->at_once, 4);
    EXPECT_EQ(rolled.at(0x30)->at_once, 1);
    EXPECT_GT(rolled.at(0x20)->work.integer, free.at(0x20)->work.integer) << "its counter is no constant";
}

TEST(Code, FindsTheLoopsWithUnroll1) {
    EXPECT_EQ(rolled_loops("#pragma unroll 1\n\nfor (;;)\n# pragma unroll (1)\r\n#pragma nv_x\nfor (;;)"),
              (std::set{3, 6}));
    EXPECT_TRUE(rolled_loops("#pragma unroll\nfor (;;)\n#pragma unroll 16\nfor (;;)").empty());
    EXPECT_TRUE(rolled_loops("#pragma unroll 1").empty());
}

TEST(Code, FunctionThatDoesNotMatchIsOmitted) {
    auto calls = calls_of_loop();
    calls[2].hook = "__tsan_read8";
    const Code code(read_gimple(loop), {{symbol, calls}});
    EXPECT_EQ(code.unmatched(), 1);
    EXPECT_EQ(code.size(), 0u);
}

int count_by_header(const std::string& text) {
    int count = 0;
    for (const Function& function : read_gimple(text))
        for (const BasicBlock& block : function.blocks)
            count += static_cast<int>(std::ranges::count_if(block.statements, &Statement::by_header));
    return count;
}

TEST(Code, HandInInAFolderWithTheNameOfTheBackendsIsNoHeader) {
    EXPECT_EQ(count_by_header(replaced(loop, "[k.cu:", "[warplab_cpu/k.cu:")), count_by_header(loop));
}

TEST(HookCalls, AreEmptyForDamagedPrograms) {
    EXPECT_TRUE(find_hook_calls("", {}).empty());
    EXPECT_TRUE(find_hook_calls(std::string("\x7f"
                                            "ELF") +
                                    std::string(60, '\xff'),
                                {})
                    .empty());
}

#if defined(__x86_64__)
/// Return an executable with one function of many names, which calls one hook.
std::string executable_with_names(const std::vector<std::string>& names) {
    constexpr std::uint64_t code_at = 0x400, code_bytes = 5;
    std::string strings(1, '\0');
    std::vector<Elf64_Sym> symbols;
    const auto add = [&](const std::string& name, std::uint64_t address) {
        Elf64_Sym symbol{};
        symbol.st_name = static_cast<Elf64_Word>(strings.size());
        symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
        symbol.st_value = address;
        symbol.st_size = code_bytes;
        symbols.push_back(symbol);
        strings += name + '\0';
    };
    add("__sanitizer_cov_trace_pc", code_at + code_bytes);
    for (const std::string& name : names) add(name, code_at);
    const std::uint64_t symbol_bytes = symbols.size() * sizeof(Elf64_Sym), symbols_at = code_at + 2 * code_bytes;
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_filesz = symbols_at;
    Elf64_Shdr tables[2] = {};
    tables[0].sh_type = SHT_SYMTAB;
    tables[0].sh_offset = symbols_at;
    tables[0].sh_size = symbol_bytes;
    tables[0].sh_link = 1;
    tables[1].sh_offset = symbols_at + symbol_bytes;
    tables[1].sh_size = strings.size();
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_phnum = 1;
    header.e_shoff = sizeof header + sizeof segment;
    header.e_shnum = 2;
    std::string file(code_at, '\0');
    std::memcpy(file.data(), &header, sizeof header);
    std::memcpy(file.data() + header.e_phoff, &segment, sizeof segment);
    std::memcpy(file.data() + header.e_shoff, tables, sizeof tables);
    file += std::string("\xe8\0\0\0\0", code_bytes) + std::string(code_bytes, '\0');  // calls the next instruction
    file.append(reinterpret_cast<const char*>(symbols.data()), symbol_bytes);
    return file + strings;
}

TEST(HookCalls, OfAFunctionWithManyNamesAreFoundOnce) {
    std::vector<Function> functions(1);
    functions[0].symbol = "k";
    const auto calls = find_hook_calls(executable_with_names({"alias", "k", "alias2", "k"}), functions);
    ASSERT_EQ(calls.size(), 1u);
    ASSERT_EQ(calls.at("k").size(), 1u);
    EXPECT_EQ(calls.at("k")[0].hook, "__sanitizer_cov_trace_pc");
    EXPECT_EQ(calls.at("k")[0].place, 0x405u);
}
#endif

}  // namespace
}  // namespace warplab::predict
