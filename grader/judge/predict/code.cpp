#include "grader/judge/predict/code.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <deque>
#include <unordered_set>
#include <utility>

#include "grader/judge/predict/effort.h"

namespace warplab::predict {
namespace {

constexpr int max_age = 3;

bool is_pointer(std::string_view type) { return type.ends_with('*'); }
bool is_single(std::string_view type) { return type.ends_with("float"); }
bool is_double(std::string_view type) { return type.ends_with("double"); }
bool is_wide_integer(std::string_view type) {
    return type.find("long") != std::string_view::npos || type.find("size_t") != std::string_view::npos ||
           type.find("64") != std::string_view::npos || is_pointer(type);
}

/// Return whether an operand is a name in single static assignment form, such as "_12", "sum_31(D)" or "iftmp.0_22".
bool is_name(const std::string& operand) {
    const std::size_t end = std::min(operand.find('('), operand.size()), score = operand.rfind('_', end);
    if (score == std::string::npos || score + 1 >= end || operand.find_first_not_of("0123456789", score + 1) < end)
        return false;
    if (operand.find_first_of(" *&[>-") < end) return false;
    const std::size_t dot = operand.find('.');  // GCC numbers its own variables with a dot, unlike members
    return dot >= end || std::isdigit(static_cast<unsigned char>(operand[dot + 1]));
}

/// Return the identifiers in an operand.
std::vector<std::string> words_in(const std::string& operand) {
    std::vector<std::string> words;
    const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; };
    for (std::size_t at = 0; at < operand.size();) {
        std::size_t end = at;
        // GCC numbers its own variables with a dot: "ivtmp.54_17".
        while (end < operand.size() &&
               (is_letter(operand[end]) || (operand[end] == '.' && end > at && end + 1 < operand.size() &&
                                            std::isdigit(static_cast<unsigned char>(operand[end + 1])))))
            ++end;
        if (end > at && !std::isdigit(static_cast<unsigned char>(operand[at])))
            words.push_back(operand.substr(at, end - at));
        at = std::max(end, at + 1);
    }
    return words;
}

std::string name_of(const std::string& operand) { return operand.substr(0, operand.find('(')); }

/// Return the names in an operand such as "*_39" or "weights[_18]".
std::vector<std::string> names_in(const std::string& operand) {
    std::vector<std::string> names = words_in(operand);
    std::erase_if(names, [](const std::string& word) { return !is_name(word); });
    return names;
}

bool is_number(const std::string& operand) {
    return !operand.empty() && (std::isdigit(static_cast<unsigned char>(operand[0])) || operand[0] == '-');
}

/// Sort the blocks so that each block, except the first one of a loop, comes after all blocks that jump to it: GCC may
/// write the start of a loop after its end. Blocks that cannot be reached come last.
void sort_by_execution(std::vector<BasicBlock>& blocks) {
    std::unordered_map<int, std::size_t> positions;
    for (std::size_t b = 0; b < blocks.size(); ++b) positions[blocks[b].number] = b;
    std::vector<std::vector<std::size_t>> unvisited(blocks.size());  // successors, sorted
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        for (const int number : blocks[b].successors)
            if (const auto at = positions.find(number); at != positions.end()) unvisited[b].push_back(at->second);
        std::ranges::sort(unvisited[b]);
    }
    std::vector<std::size_t> path, ended;  // a block ends after all of its successors
    std::vector<bool> visited(blocks.size(), false);
    const auto visit = [&](std::size_t block) {
        if (!visited[block]) path.push_back(block);
        visited[block] = true;
    };
    if (!blocks.empty()) visit(0);
    while (!path.empty()) {
        std::vector<std::size_t>& next = unvisited[path.back()];
        if (next.empty()) {
            ended.push_back(path.back());
            path.pop_back();
        } else {
            const std::size_t last = next.back();  // in the text; it ends first, so that a loop's body precedes it
            next.pop_back();
            visit(last);
        }
    }
    std::vector<BasicBlock> sorted;
    for (auto block = ended.rbegin(); block != ended.rend(); ++block) sorted.push_back(std::move(blocks[*block]));
    for (std::size_t b = 0; b < blocks.size(); ++b)
        if (!visited[b]) sorted.push_back(std::move(blocks[b]));
    blocks = std::move(sorted);
}

/// One function: where its names are defined and used.
class Analysis {
  public:
    Analysis(const Function& function, const std::vector<HookCall>& calls, const std::set<int>& rolled)
        : function_(function), rolled_(rolled) {
        for (std::size_t b = 0; b + 1 < function_.blocks.size(); ++b)
            if (BasicBlock& block = function_.blocks[b]; block.successors.empty() && !block.returns)
                block.successors.push_back(function_.blocks[b + 1].number);
        sort_by_execution(function_.blocks);
        for (std::size_t b = 0; b < function_.blocks.size(); ++b) position_[function_.blocks[b].number] = b;
        for (const BasicBlock& block : function.blocks) as_written_.push_back(position_.at(block.number));
        count_uses();
        find_loops();
        match(calls);
        find_known();
        find_local_arrays();
    }
    bool matches() const { return matches_; }
    /// Loops get numbers above `first_loop`.
    void add_to(std::unordered_map<std::uint32_t, Instruction>& instructions, int first_loop);
    int loops() const { return loop_count_; }

  private:
    struct Place {
        std::size_t block = 0, statement = 0;
    };
    struct Producer {
        std::uint32_t place = 0;
        Place at;
    };

    void count_uses() {
        for (const BasicBlock& block : function_.blocks)
            for (const Statement& statement : block.statements) {
                for (const std::string& operand : statement.operands)
                    for (const std::string& name : names_in(operand)) {
                        ++uses_[name];
                        users_[name] = &statement;
                    }
                for (const std::string& name : names_in(statement.result))
                    if (name != statement.result) {
                        ++uses_[name];
                        users_[name] = &statement;
                    }
            }
    }
    std::vector<std::size_t> successors_of(std::size_t block) const;
    bool steps_from(const std::string& operand, const std::string& counter) const;
    bool is_counter(const Statement& phi) const;
    void find_known();
    bool add_known();
    bool is_rolled(std::size_t block) const;
    void find_local_arrays();
    double count_local(const Statement& statement) const;
    bool is_known(const std::string& operand) const { return is_number(operand) || known_.contains(name_of(operand)); }
    bool is_shifted(const std::string& offset) const;
    void find_loops();
    void match(const std::vector<HookCall>& calls);
    std::vector<Need> needs_of(const std::vector<std::string>& operands, Place here) const;
    Work work_of(const Statement& statement) const;
    Work arithmetic(const Statement& statement) const;
    Work division(const Statement& statement) const;
    bool is_uniform(const std::string& operand, int steps = 12) const;
    bool is_aggregated(const Statement& call) const;
    bool is_fused(const Statement& product) const;
    bool becomes_address(std::string name) const;
    bool is_power_of_two(const std::string& operand, int steps = 6) const;
    const Statement* access_of(std::size_t block, std::size_t statement) const;
    bool exit_waits(std::size_t block) const;
    bool is_small(int loop) const;
    bool is_access(const Place& at) const {
        return hook_name(function_.blocks[at.block].statements[at.statement].operation).starts_with("__tsan_");
    }
    bool continues_vector(std::size_t block, std::size_t statement) const;
    PredicatedBody body_after(std::size_t block) const;
    Instruction instruction_of(std::size_t block, std::size_t statement) const;

    Function function_;                    // with its blocks in the order of execution
    std::vector<std::size_t> as_written_;  // the positions of the blocks, in the order of the text
    const std::set<int>& rolled_;          // the lines of the loops with #pragma unroll 1
    std::unordered_set<std::string> local_arrays_;
    bool matches_ = false;
    int loop_count_ = 0;
    std::vector<int> loops_;                                   // by block: its innermost loop, counted from 1
    std::vector<std::pair<std::size_t, std::size_t>> ranges_;  // by loop: its first and last block
    std::vector<std::vector<std::size_t>> exits_;              // by block: the exits of its innermost loop
    std::unordered_map<int, std::size_t> position_;            // the blocks' positions, by number
    std::unordered_map<std::string, int> uses_;
    std::unordered_set<std::string> known_;                    // names that are constants once nvcc has unrolled loops
    std::unordered_map<std::string, const Statement*> users_;  // the last user of each name
    std::unordered_map<std::string, std::pair<const Statement*, Place>> definitions_;
    std::unordered_map<std::string, Producer> producers_;  // the producers of names that a hook's operation defines
    std::unordered_map<std::string, std::vector<Producer>>
        kept_in_;  // the producers of values in local arrays and structs
    struct Hooked {
        std::uint32_t place;
        Place at;
    };
    std::vector<Hooked> hooked_;
};

std::vector<std::size_t> Analysis::successors_of(std::size_t block) const {
    const BasicBlock& from = function_.blocks[block];
    std::vector<std::size_t> successors;
    for (const int number : from.successors)
        if (const auto at = position_.find(number); at != position_.end()) successors.push_back(at->second);
    return successors;
}

/// Return whether an operand is the counter plus a constant.
bool Analysis::steps_from(const std::string& operand, const std::string& counter) const {
    const auto definition = definitions_.find(name_of(operand));
    if (definition == definitions_.end()) return false;
    const Statement& sum = *definition->second.first;
    return sum.operation == "plus_expr" && sum.operands.size() == 2 && name_of(sum.operands[0]) == counter &&
           is_number(sum.operands[1]);
}

/// Return whether a statement is a counter that begins with a constant and advances by a constant step.
bool Analysis::is_counter(const Statement& phi) const {
    const auto steps = [&](const std::string& operand) { return steps_from(operand, name_of(phi.result)); };
    return phi.kind == Statement::Kind::phi && std::ranges::any_of(phi.operands, is_number) &&
           std::ranges::any_of(phi.operands, steps) &&
           std::ranges::all_of(phi.operands,
                               [&](const std::string& operand) { return is_number(operand) || steps(operand); });
}

/// Find the names that are constants once nvcc has unrolled the loops with a constant number of iterations: the
/// counters of a loop that ends when one of them reaches a constant, and the names that are computed only from these.
void Analysis::find_known() {
    std::unordered_set<std::string> compared;  // with a constant
    for (const BasicBlock& block : function_.blocks)
        for (const Statement& statement : block.statements)
            if (statement.kind == Statement::Kind::condition && statement.operands.size() == 2 &&
                is_number(statement.operands[1]))
                compared.insert(name_of(statement.operands[0]));
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
        const BasicBlock& block = function_.blocks[b];
        if (is_rolled(b)) continue;
        std::vector<std::string> counters;
        bool ends = false;
        for (const Statement& statement : block.statements) {
            if (!is_counter(statement)) continue;
            counters.push_back(name_of(statement.result));
            ends = ends || compared.contains(counters.back()) ||
                   std::ranges::any_of(statement.operands,
                                       [&](const std::string& operand) { return compared.contains(name_of(operand)); });
        }
        if (ends) known_.insert(counters.begin(), counters.end());
    }
    while (!known_.empty() && add_known()) {
    }
}

/// Add the results of statements whose operands are all known; return whether there was one.
bool Analysis::add_known() {
    bool found = false;
    for (const auto& [name, definition] : definitions_) {
        count_effort();
        const Statement& statement = *definition.first;
        if (statement.kind == Statement::Kind::assign && !statement.operation.ends_with("_ref") &&
            !statement.operands.empty() &&
            std::ranges::all_of(statement.operands, [&](const std::string& operand) { return is_known(operand); }))
            found = known_.insert(name).second || found;
    }
    return found;
}

/// Return whether the block's innermost loop has #pragma unroll 1.
bool Analysis::is_rolled(std::size_t block) const {
    return loops_[block] && std::ranges::any_of(exits_[block], [&](std::size_t exit) {
               return std::ranges::any_of(function_.blocks[exit].statements, [&](const Statement& statement) {
                   return statement.kind == Statement::Kind::condition && rolled_.contains(statement.line);
               });
           });
}

/// An element of an array, such as "sums[_18]". GCC also writes this for a function's local arrays.
struct Element {
    std::string array, index;
};
Element element_in(const std::string& operand) {
    const std::size_t open = operand.find('['), close = operand.find(']');
    if (open == std::string::npos || close == std::string::npos || close < open) return {};
    return {operand.substr(0, open), operand.substr(open + 1, close - open - 1)};
}

/// Find the function's arrays that nvcc must keep in local memory: those with an index that it does not know.
void Analysis::find_local_arrays() {
    for (const BasicBlock& block : function_.blocks)
        for (const Statement& statement : block.statements)
            for (const std::string* operand : {&statement.result, statement.operands.data()}) {
                if (statement.operands.empty()) continue;
                const auto [array, index] = element_in(*operand);
                if (function_.arrays.contains(array) && !is_known(index)) local_arrays_.insert(array);
            }
}

/// Return the number of a statement's accesses to local memory.
double Analysis::count_local(const Statement& statement) const {
    if (local_arrays_.empty() || statement.operands.empty()) return 0;
    return local_arrays_.contains(element_in(statement.result).array) +
           local_arrays_.contains(element_in(statement.operands[0]).array);
}

/// Return whether an offset is another offset plus a constant. The constant becomes part of the load or store.
bool Analysis::is_shifted(const std::string& offset) const {
    std::string name = name_of(offset);
    for (int steps = 0; steps < 4; ++steps) {
        const auto definition = definitions_.find(name);
        if (definition == definitions_.end()) return false;
        const Statement& statement = *definition->second.first;
        if (statement.operands.empty()) return false;
        const bool constant = statement.operands.size() > 1 && is_known(statement.operands[1]);
        if ((statement.operation == "plus_expr" || statement.operation == "minus_expr") && constant) return true;
        if (statement.operation != "nop_expr" && !(statement.operation == "mult_expr" && constant)) return false;
        name = name_of(statement.operands[0]);
    }
    return false;
}

/// Find the innermost loop of each block. A loop consists of the blocks from its first block to the block that jumps
/// back to it.
void Analysis::find_loops() {
    const std::size_t count = function_.blocks.size();
    exits_.assign(count, {});
    loops_.assign(count, 0);
    std::vector<std::size_t> shortest(count, count + 1);
    for (std::size_t last = 0; last < count; ++last)
        for (const std::size_t first : successors_of(last)) {
            if (first > last) continue;
            std::vector<std::size_t> exits;
            for (std::size_t block = first; block <= last; ++block) {
                count_effort();
                if (std::ranges::any_of(successors_of(block),
                                        [&](std::size_t next) { return next < first || next > last; }))
                    exits.push_back(block);
            }
            ++loop_count_;
            ranges_.emplace_back(first, last);
            for (std::size_t block = first; block <= last; ++block) {
                if (last - first >= shortest[block]) continue;
                shortest[block] = last - first;
                exits_[block] = exits;
                loops_[block] = loop_count_;
            }
        }
}

/// Return whether a hook announces a read of threadIdx or a similar variable, which is a register.
bool reads_built_in(const Statement& call) {
    return !call.operands.empty() &&
           std::ranges::any_of(std::initializer_list<const char*>{"&threadIdx", "&blockIdx", "&blockDim", "&gridDim"},
                               [&](const char* name) { return call.operands[0].starts_with(name); });
}

void Analysis::match(const std::vector<HookCall>& calls) {
    std::size_t next = 0;
    for (const std::size_t b : as_written_) {
        std::uint32_t reading = 0;  // the place of a read whose statement follows
        for (std::size_t s = 0; s < function_.blocks[b].statements.size(); ++s) {
            const Statement& statement = function_.blocks[b].statements[s];
            const Place here{b, s};
            if (is_name(statement.result)) definitions_[name_of(statement.result)] = {&statement, here};
            if (reading && statement.kind == Statement::Kind::assign) {
                if (is_name(statement.result))
                    producers_[name_of(statement.result)] = {reading, here};
                else if (const auto words = words_in(statement.result); !words.empty())
                    kept_in_[words.front()].push_back({reading, here});
                reading = 0;
            }
            const std::string hook = statement.kind == Statement::Kind::call ? hook_name(statement.operation) : "";
            if (hook.empty()) continue;
            if (next == calls.size() || calls[next].hook != hook) return;
            const std::uint32_t place = calls[next++].place;
            hooked_.push_back({place, here});
            if (hook.find("read") != std::string::npos && !reads_built_in(statement)) reading = place;
            if (is_name(statement.result)) producers_[name_of(statement.result)] = {place, here};
        }
    }
    matches_ = next == calls.size();
}

/// Follow the operands back to the operations that produce them. Each jump back to the start of a loop leads to the
/// loop's previous iteration.
std::vector<Need> Analysis::needs_of(const std::vector<std::string>& operands, Place here) const {
    struct Step {
        std::string name;
        int age;
    };
    std::deque<Step> steps;
    std::unordered_map<std::string, int> seen;
    std::vector<Need> needs;
    const auto add = [&](const std::string& operand, int age) {
        if (!kept_in_.empty())
            for (const std::string& word : words_in(operand))
                if (const auto iterator = kept_in_.find(word); iterator != kept_in_.end())
                    for (const Producer& producer : iterator->second) needs.push_back({producer.place, 0});
        for (const std::string& name : names_in(operand)) {
            const auto iterator = seen.find(name);
            if (iterator != seen.end() && iterator->second <= age) continue;
            seen[name] = age;
            steps.push_back({name, age});
        }
    };
    for (const std::string& operand : operands) add(operand, 0);
    while (!steps.empty()) {
        count_effort();
        const Step step = steps.front();
        steps.pop_front();
        if (const auto producer = producers_.find(step.name); producer != producers_.end()) {
            const Place& at = producer->second.at;
            const bool before = at.block < here.block || (at.block == here.block && at.statement < here.statement);
            const int age = before ? step.age : step.age - 1;
            if (age >= 0 && age <= max_age) needs.push_back({producer->second.place, age});
            continue;
        }
        const auto definition = definitions_.find(step.name);
        if (definition == definitions_.end()) continue;
        const auto& [statement, at] = definition->second;
        for (std::size_t i = 0; i < statement->operands.size(); ++i) {
            int age = step.age;
            if (statement->kind == Statement::Kind::phi) {
                const auto from = position_.find(statement->from[i]);
                if (from != position_.end() && from->second >= at.block) ++age;
            }
            if (age <= max_age + 1) add(statement->operands[i], age);
        }
    }
    return needs;
}

/// Return whether an operand has the same value in all threads of a block, as far as nvcc can see: it does not depend
/// on threadIdx or on a value from memory.
bool Analysis::is_uniform(const std::string& operand, int steps) const {
    count_effort();
    for (const std::string& word : words_in(operand)) {
        if (word == "threadIdx") return false;
        if (!is_name(word)) continue;
        if (producers_.contains(word)) return false;
        const auto definition = definitions_.find(word);
        if (definition == definitions_.end()) continue;  // a parameter
        if (steps == 0) return false;
        const Statement& statement = *definition->second.first;
        if (statement.kind == Statement::Kind::call ||
            !std::ranges::all_of(statement.operands,
                                 [&](const std::string& source) { return is_uniform(source, steps - 1); }))
            return false;
    }
    return true;
}

/// Return whether nvcc lets one lane add the values of all lanes. It does so if it sees that they add to the same
/// variable: for 32-bit integers, and for constants of 64 bits.
bool Analysis::is_aggregated(const Statement& call) const {
    const std::string hook = hook_name(call.operation);
    return call.operands.size() > 1 && is_uniform(call.operands[0]) &&
           (hook == "__tsan_atomic32_fetch_add" ||
            (hook == "__tsan_atomic64_fetch_add" && is_number(call.operands[1])));
}

/// Return whether nvcc fuses a product with the addition or subtraction that uses it.
bool Analysis::is_fused(const Statement& product) const {
    const auto uses = uses_.find(name_of(product.result));
    if (uses == uses_.end() || uses->second != 1) return false;
    const Statement& user = *users_.at(name_of(product.result));
    return user.operation == "plus_expr" || user.operation == "minus_expr";
}

/// Return whether a name is used only in address arithmetic, which the GPU does in one instruction.
bool Analysis::becomes_address(std::string name) const {
    for (int steps = 0; steps < 4; ++steps) {
        const auto uses = uses_.find(name);
        if (uses == uses_.end() || uses->second != 1) return false;
        const Statement& user = *users_.at(name);
        if (user.operation == "pointer_plus_expr") return true;
        if (user.operation != "nop_expr" && user.operation != "mult_expr") return false;
        name = name_of(user.result);
    }
    return false;
}

/// Return whether a divisor is always a power of two, as far as its sources show. nvcc then does not divide: it unrolls
/// the loop that changes the divisor, or uses a mask.
bool Analysis::is_power_of_two(const std::string& operand, int steps) const {
    count_effort();
    if (is_number(operand)) {
        const long long value = std::atoll(operand.c_str());
        return value > 0 && (value & (value - 1)) == 0;
    }
    const auto definition = definitions_.find(name_of(operand));
    if (steps == 0 || definition == definitions_.end()) return steps == 0;  // 0 steps left: probably a loop
    const Statement& statement = *definition->second.first;
    const bool keeps = statement.kind == Statement::Kind::phi || statement.operation == "mult_expr" ||
                       statement.operation == "nop_expr" || statement.operation == "trunc_div_expr";
    const bool shifts = statement.operation == "lshift_expr" || statement.operation == "rshift_expr";
    if (!keeps && !shifts) return false;
    const std::size_t count = shifts ? 1 : statement.operands.size();
    return std::all_of(statement.operands.begin(), statement.operands.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](const std::string& operand) { return is_power_of_two(operand, steps - 1); });
}

/// Return the statement whose access a hook announces; null if the hook announces none.
const Statement* Analysis::access_of(std::size_t block, std::size_t statement) const {
    const std::vector<Statement>& statements = function_.blocks[block].statements;
    const bool accesses = hook_name(statements[statement].operation).starts_with("__tsan_") &&
                          hook_name(statements[statement].operation).find("atomic") == std::string::npos;
    return accesses && statement + 1 < statements.size() ? &statements[statement + 1] : nullptr;
}

/// A component of a vector in memory: "_27->y" or "MEM <float> [(struct float4 *)_24 + 4B]".
struct Component {
    std::string vector, component;  // empty if the operand is not a component
};

Component component_in(const std::string& lvalue) {
    const std::size_t mark = lvalue.find_last_of(".>");
    if (mark != std::string::npos && mark + 2 == lvalue.size() && std::string("xyzw").find(lvalue.back()) < 4)
        return {lvalue.substr(0, mark), lvalue.substr(mark + 1)};
    const std::size_t type = lvalue.find("(struct "), end = lvalue.find(" *)", type);
    if (!lvalue.starts_with("MEM <") || type == std::string::npos || end == std::string::npos) return {};
    if (lvalue[end - 1] < '2' || lvalue[end - 1] > '4') return {};
    const std::size_t plus = lvalue.find(" + ", end);
    return {lvalue.substr(type, std::min(plus, lvalue.size() - 1) - type),
            plus == std::string::npos ? "0B" : lvalue.substr(plus)};
}

Component component_in(const Statement& access) {
    Component component = component_in(access.result);
    return component.vector.empty() && !access.operands.empty() ? component_in(access.operands[0]) : component;
}

/// Return whether an access uses another component of a vector that an earlier access of the block uses.
bool Analysis::continues_vector(std::size_t block, std::size_t statement) const {
    const Statement* const access = access_of(block, statement);
    if (!access) return false;
    const auto [vector, component] = component_in(*access);
    if (vector.empty()) return false;
    for (std::size_t before = statement; before-- > 0;) {
        count_effort();
        const Statement* const other = access_of(block, before);
        if (!other) continue;
        const auto [vector_before, component_before] = component_in(*other);
        const bool same_kind = is_name(other->result) == is_name(access->result);
        if (vector_before == vector && component_before != component && same_kind) return true;
    }
    return false;
}

/// Return the work of an integer division, a remainder, or both.
Work Analysis::division(const Statement& statement) const {
    if (statement.operands.size() < 2) return {};
    const std::string& divisor = statement.operands[1];
    if (is_power_of_two(divisor)) return {.integer = 1};
    if (is_known(divisor)) return {.integer = 4};
    if (std::ranges::any_of(statement.operands,
                            [&](const std::string& operand) { return is_wide_integer(function_.type_of(operand)); }))
        return {.integer = 60};
    return {.integer = 20, .special = 1};
}

Work Analysis::arithmetic(const Statement& statement) const {
    const std::string& op = statement.operation;
    const std::string_view type = function_.type_of(statement.result);
    const bool constant =
        std::ranges::any_of(statement.operands, [&](const std::string& operand) { return is_known(operand); });
    if (known_.contains(name_of(statement.result))) return {};
    if (op == "pointer_plus_expr")
        return {.integer =
                    constant || (statement.operands.size() > 1 && is_shifted(statement.operands[1])) ? 0.0 : 1.0};
    if (constant && becomes_address(name_of(statement.result)) &&
        (op == "mult_expr" || op == "plus_expr" || op == "minus_expr"))
        return {};
    if (is_single(type) || is_double(type)) {
        double count = 1;
        if (op == "mult_expr" && is_fused(statement)) count = 0;
        if (op == "rdiv_expr")
            return is_single(type) ? Work{.fp32 = 8, .special = 1} : Work{.integer = 8, .fp64 = 9, .special = 1};
        if (op == "float_expr") return is_single(type) ? Work{.integer = 2} : Work{.special = 1};
        if (op == "nop_expr") return {.special = 1};
        return is_single(type) ? Work{.fp32 = count} : Work{.fp64 = count};
    }
    if (op == "fix_trunc_expr")
        return is_double(function_.type_of(statement.operands[0])) ? Work{.special = 1} : Work{.integer = 2};
    if (op == "nop_expr" || op == "view_convert_expr" || op == "convert_expr" || op == "ssa_name" ||
        op == "realpart_expr" || op == "imagpart_expr")
        return {};
    if (op.find("div_expr") != std::string::npos || op.find("mod_expr") != std::string::npos)
        return division(statement);
    const double words = is_wide_integer(type) ? 2 : 1;
    if (op == "mult_expr") return {.integer = words == 2 ? 3.0 : is_fused(statement) ? 0.0 : 1.0};
    return {.integer = words};
}

/// Return the work of a statement. It does not include operations with hooks (most reads and writes), or copies between
/// registers, which cost nothing.
Work Analysis::work_of(const Statement& statement) const {
    using enum Statement::Kind;
    if (statement.by_header) return {};
    if (statement.kind == condition) {
        const bool known =
            std::ranges::all_of(statement.operands, [&](const std::string& operand) { return is_known(operand); });
        return {.integer = known ? 0.0 : 2.0};
    }
    if (statement.kind == call) {
        if (!hook_name(statement.operation).empty()) return {};
        const std::string& name = statement.operation;
        if (name.starts_with(".DIVMOD")) return division(statement) += {.integer = 2};
        if (name.starts_with(".FMA") || name.starts_with("__builtin_fma")) return {.fp32 = 1};
        if (name.find("sqrt") != std::string::npos)
            return is_double(function_.type_of(statement.result)) ? Work{.integer = 4, .fp64 = 9, .special = 1}
                                                                  : Work{.fp32 = 7, .special = 1};
        if (name.find("fabs") != std::string::npos || name.find("fmax") != std::string::npos ||
            name.find("fmin") != std::string::npos)
            return !is_double(function_.type_of(statement.result)) ? Work{.fp32 = 1}
                   : name.find("fabs") != std::string::npos        ? Work{}  // a modifier of the next instruction
                                                                   : Work{.integer = 5, .fp64 = 1};
        if (name.starts_with("__builtin_")) return {.integer = 2};
        return {.integer = 10};
    }
    if (statement.kind != assign) return {};
    const std::string& op = statement.operation;
    const bool touches_memory = op.ends_with("_ref") || op.ends_with("_decl") || op == "constructor" ||
                                op.ends_with("_cst") || op == "addr_expr" || !is_name(statement.result);
    return touches_memory ? Work{.local = count_local(statement)} : arithmetic(statement);
}

/// Return whether an exit of the block's innermost loop waits for a result.
bool Analysis::exit_waits(std::size_t block) const {
    const auto waits = [&](std::size_t exit) {
        const std::vector<Statement>& statements = function_.blocks[exit].statements;
        return std::ranges::any_of(statements, [&](const Statement& statement) {
            return statement.kind == Statement::Kind::condition &&
                   !needs_of(statement.operands, {exit, statements.size()}).empty();
        });
    };
    return std::ranges::any_of(exits_[block], waits);
}

/// Return whether a loop is small enough for nvcc to combine iterations: it has few accesses, and no loop inside.
bool Analysis::is_small(int loop) const {
    constexpr auto max_accesses = 16;
    const auto [first, last] = ranges_[static_cast<std::size_t>(loop) - 1];
    for (std::size_t block = first; block <= last; ++block)
        if (loops_[block] != loop) return false;
    return std::ranges::count_if(hooked_, [&](const Hooked& hooked) {
               return loops_[hooked.at.block] == loop && is_access(hooked.at);
           }) <= max_accesses;
}

/// Return the body that a block's condition skips if nvcc predicates it: a few instructions, and nothing but reads,
/// writes and arithmetic.
PredicatedBody Analysis::body_after(std::size_t block) const {
    constexpr double max_instructions = 8;
    const auto successors = successors_of(block);
    if (successors.size() != 2) return {};
    for (int i = 0; i < 2; ++i) {
        const std::size_t inner = successors[i], after = successors[1 - i];
        if (inner <= block || successors_of(inner) != std::vector{after}) continue;
        PredicatedBody body;
        for (const Hooked& hooked : hooked_) {
            count_effort();
            if (hooked.at.block != inner) continue;
            const std::string hook = hook_name(function_.blocks[inner].statements[hooked.at.statement].operation);
            if (hook == "__sanitizer_cov_trace_pc")
                body.place = hooked.place;
            else if (hook.starts_with("__tsan_") && hook.find("atomic") == std::string::npos)
                ++body.accesses;
            else
                return {};
        }
        body.issued = body.accesses;
        for (const Statement& statement : function_.blocks[inner].statements)
            body.issued += work_of(statement).issued();
        if (body.accesses > 0 && body.issued <= max_instructions) return body;
    }
    return {};
}

/// Return the work that takes longer if each operation waits for the previous one.
const Work& longer(const Work& a, const Work& b) {
    const auto steps = [](const Work& work) { return work.issued() + work.fp64; };  // FP64 takes twice as long
    return steps(a) < steps(b) ? b : a;
}

Instruction Analysis::instruction_of(std::size_t block, std::size_t index) const {
    const std::vector<Statement>& statements = function_.blocks[block].statements;
    const Statement& call = statements[index];
    Instruction instruction;
    instruction.line = call.line;
    const std::string hook = hook_name(call.operation);
    std::vector<std::string> operands = call.operands;
    if (hook == "__sanitizer_cov_trace_pc") {
        std::unordered_map<std::string, Work> chains;  // by name: the longest chain that leads to it
        for (const Statement& statement : statements) {
            Work work = work_of(statement);
            instruction.work += work;
            if (statement.kind == Statement::Kind::condition) operands = statement.operands;
            if (statement.kind == Statement::Kind::phi) continue;
            Work before;
            for (const std::string& operand : statement.operands)
                if (const auto chain = chains.find(name_of(operand)); chain != chains.end())
                    before = longer(before, chain->second);
            work += before;
            instruction.chain = longer(instruction.chain, work);
            if (is_name(statement.result)) chains[name_of(statement.result)] = work;
        }
        instruction.needs = needs_of(operands, {block, statements.size()});
        instruction.body = body_after(block);
        return instruction;
    }
    if (hook.find("write") != std::string::npos && index + 1 < statements.size())
        operands.insert(operands.end(), statements[index + 1].operands.begin(), statements[index + 1].operands.end());
    instruction.needs = needs_of(operands, {block, index});
    instruction.continues = continues_vector(block, index);
    instruction.is_volatile = hook.find("volatile") != std::string::npos;
    const auto user = users_.find(name_of(call.result));
    instruction.wide = hook.starts_with("warp_shuffle") && user != users_.end() &&
                       (is_double(function_.type_of(user->second->result)) ||
                        is_wide_integer(function_.type_of(user->second->result)));
    instruction.compares = hook.find("compare_exchange") != std::string::npos;
    instruction.aggregates = is_aggregated(call);
    std::string result = name_of(call.result);
    if (hook.find("read") != std::string::npos && index + 1 < statements.size())
        result = name_of(statements[index + 1].result);
    instruction.result_is_used = uses_.contains(result);
    return instruction;
}

void Analysis::add_to(std::unordered_map<std::uint32_t, Instruction>& instructions, int first_loop) {
    for (const Hooked& hooked : hooked_) {
        Instruction instruction = instruction_of(hooked.at.block, hooked.at.statement);
        if (loops_[hooked.at.block] && !exit_waits(hooked.at.block) && is_small(loops_[hooked.at.block]))
            instruction.loop = first_loop + loops_[hooked.at.block];
        if (is_rolled(hooked.at.block)) instruction.at_once = 1;
        instruction.repeats_with_need = std::ranges::any_of(
            instruction.needs, [&](const Need& need) { return need.place == hooked.place || need.age > 0; });
        instructions.emplace(hooked.place, std::move(instruction));
    }
}

bool is_kernel_code(const std::string& symbol) {
    return !symbol.starts_with("_ZN11warplab_cpu") || symbol.find("run_body") != std::string::npos;
}

}  // namespace

std::set<int> rolled_loops(std::string_view source) {
    std::set<int> lines;
    bool is_next = false;
    for (int line = 1; !source.empty(); ++line) {
        const std::size_t end = std::min(source.find('\n'), source.size());
        std::string text;
        for (const char c : source.substr(0, end))
            if (c != ' ' && c != '\t' && c != '\r') text += c;
        source.remove_prefix(std::min(end + 1, source.size()));
        if (text.empty()) continue;
        if (is_next && text[0] != '#') lines.insert(line);
        is_next = text == "#pragmaunroll1" || text == "#pragmaunroll(1)" || (is_next && text[0] == '#');
    }
    return lines;
}

Code::Code(const std::vector<Function>& functions, const std::map<std::string, std::vector<HookCall>>& calls,
           const std::set<int>& rolled) {
    int loops = 0;
    for (const Function& function : functions) {
        const auto iterator = calls.find(function.symbol);
        if (iterator == calls.end() || !is_kernel_code(function.symbol)) continue;
        Analysis analysis(function, iterator->second, rolled);
        if (analysis.matches())
            analysis.add_to(instructions_, std::exchange(loops, loops + analysis.loops()));
        else
            ++unmatched_;
    }
}

}  // namespace warplab::predict
