#include "grader/cpu/rewriter/split.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>

#include "grader/cpu/rewriter/calls.h"
#include "grader/cpu/rewriter/statements.h"
#include "grader/cpu/rewriter/variables.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

using Names = std::unordered_set<std::string_view>;

/// Statements that each thread runs without waiting (a part, in OUTPUT.md). The rewriter turns them into a loop over
/// the block's threads.
struct Region {
    int begin, end;  // tokens
    bool returns = false;
    const Statement* next_shuffle = nullptr;  // if set: at its end, each thread gives a value to this shuffle
    int first_shuffle = -1;                   // the shuffle whose value the region's first statement takes
    const Statement* strided_loop = nullptr;  // if set: the region is this loop; threads take turns, a few steps each
    bool is_bare = false;                     // the only statement of a loop or branch without braces
};

/// Names in the file that affect splitting.
struct FileNames {
    Names changing;    // device variables, and names that some statement of the file may change
    Names full_masks;  // constants for all lanes of a warp
};

bool is_all_lanes(std::string_view text) {
    static const Words words(
        "0xffffffff 0xFFFFFFFF 0xffffffffu 0xffffffffU 0xFFFFFFFFu 0xFFFFFFFFU (0xffffffff) (0xFFFFFFFF) (0xffffffffu) "
        "(0xFFFFFFFFu) -1 ~0 ~0u ~0U");
    return words.has(text);
}

/// The way in which a region gets a variable that another region declares.
enum class Supply { none, by_block, repeated, kept };

class KernelSplitter {
  public:
    /// `in_turns`: let the threads take turns in loops that stride over the grid.
    KernelSplitter(const Context& context, std::string_view source, Calls& calls, const FileNames& names,
                   const Definition& kernel, bool in_turns)
        : context_(context),
          code_(context.unit.code),
          source_(source),
          calls_(calls),
          names_(names),
          in_turns_(in_turns),
          parameters_(kernel.parameters),
          body_(kernel.body),
          end_(code_.match[kernel.body]),
          variables_(code_, context.unit, calls) {}

    /// Add the edits that split the kernel. Return false if the kernel cannot be split.
    bool split(Edits& edits) {
        const bool fits = is_plain_text() && calls_.never_wait(parameters_, end_) && read() && find_needed() &&
                          find_regions() && find_supplies();
        if (fits) write(edits);
        return fits;
    }

  private:
    // ---- Reading

    /// Return whether the body is not too long and has barriers, but no lambdas, and no directives except pragmas.
    bool is_plain_text() const {
        constexpr int max_tokens = 4000;
        if (end_ - body_ > max_tokens) return false;
        bool has_barrier = false;
        for (int i = body_; i <= end_; ++i) {
            has_barrier |= waits(code_[i]);
            if (code_.branch[i] != code_.branch[body_]) return false;
            const bool after_word = code_.is_identifier(i - 1) && code_[i - 1] != "return" && code_[i - 1] != "auto";
            const bool is_subscript = after_word || code_[i - 1] == "]" || code_[i - 1] == ")";
            if (code_[i] == "[" && !is_subscript) return false;
        }
        for (const std::size_t at : context_.unit.other_directives)
            if (at > code_.tokens[body_].begin && at < code_.tokens[end_].begin && !is_pragma(at)) return false;
        return has_barrier;
    }

    static bool waits(std::string_view word) {
        return word == "__syncthreads" || word == "__syncwarp" || word.substr(0, 6) == "__shfl";
    }

    bool is_pragma(std::size_t at) const {
        const std::size_t word = source_.find_first_not_of(" \t", at + 1);
        return word != std::string_view::npos && source_.substr(word, 6) == "pragma";
    }

    /// The place of a list of statements in the kernel. `top`: the list is the kernel's body.
    struct Place {
        bool in_loop = false, top = false;
    };

    bool read() {
        auto statements = read_statements(code_, context_.qualifiers, body_ + 1, end_);
        if (!statements) return false;
        statements_ = std::move(*statements);
        for (std::size_t i = 0; i < statements_.size(); ++i)
            if (has_barrier(statements_[i])) last_barrier_ = static_cast<int>(i);
        const auto barriers = std::count_if(code_.tokens.begin() + body_, code_.tokens.begin() + end_,
                                            [](const Token& token) { return waits(token.text); });
        if (barriers != count_barriers(statements_)) return false;
        if (!variables_.add_parameters(parameters_, end_) || !collect(statements_, end_, {.top = true})) return false;
        constexpr std::size_t max_variables = 64;
        if (variables_.all().size() > max_variables) return false;
        variables_.find_changes(body_ + 1, end_);
        return variables_.are_distinct();
    }

    static long count_barriers(const std::vector<Statement>& list) {
        long count = 0;
        for (const Statement& statement : list) {
            const bool is_single = statement.kind == Statement::barrier || statement.shuffle >= 0;
            count += is_single ? 1 : count_barriers(statement.parts);
        }
        return count;
    }

    /// Return whether the block, rather than each thread, runs the statement, so that its parts are split.
    bool is_opened(const Statement& statement, bool in_loop, bool trailing) const {
        if (statement.kind == Statement::expression || statement.kind == Statement::declaration) return false;
        return has_barrier(statement) || (in_loop && leaves_loop(code_, statement)) ||
               (!trailing && has_return(code_, statement));
    }

    /// Return whether the kernel's body has no barrier in or after its statement `i`.
    bool is_trailing(std::size_t i, bool top) const { return top && static_cast<int>(i) > last_barrier_; }

    /// Record the variables that more than one region may use.
    bool collect(const std::vector<Statement>& list, int to, Place place) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            const Statement& statement = list[i];
            if (statement.kind == Statement::declaration) {
                const bool shared = statement.variables.words & q_shared;
                variables_.add(statement.variables, to, shared ? Variable::shared : Variable::local);
            }
            if (statement.shuffle >= 0 && !can_split_shuffle(statement)) return false;
            if (!is_opened(statement, place.in_loop, is_trailing(i, place.top))) continue;
            if (statement.kind == Statement::unsplittable || !collect_opened(statement, place.in_loop)) return false;
        }
        return true;
    }

    bool collect_opened(const Statement& statement, bool in_loop) {
        if (statement.header >= 0) {
            const int open = statement.header, close = code_.match[open];
            const bool is_for = code_[statement.begin] == "for";
            const auto declaration = read_declaration(code_, context_.qualifiers, open + 1);
            const bool declares = declaration.understood && declaration.end < close;
            if (declares && !is_for) return false;
            if (declares) variables_.add(declaration, statement.end, Variable::header);
            const bool may_declare = !declares && code_.is_identifier(open + 1) && code_.is_identifier(open + 2);
            if (may_declare) return false;
            headers_.push_back({open + 1, close});
        }
        const bool inner_loop = in_loop || statement.kind == Statement::loop;
        if (statement.kind == Statement::compound)
            return collect(statement.parts, statement.end, {.in_loop = inner_loop});
        for (const Statement& part : statement.parts) {
            const bool compound = part.kind == Statement::compound;
            if (part.kind == Statement::declaration) return false;
            if (!(compound ? collect(part.parts, part.end, {.in_loop = inner_loop})
                           : collect({part}, part.end, {.in_loop = inner_loop})))
                return false;
        }
        return true;
    }

    // ---- Variables of the block, which conditions around barriers use

    bool find_needed() {
        for (const auto& [begin, end] : headers_)
            if (!need_all(begin, end)) return false;
        for (const Variable& variable : variables_.all())
            if (variable.is_array && !need_all(variable.at + 1, variable.bounds_end)) return false;
        for (std::size_t i = 0; i < needed_.size(); ++i)
            if (!check_needed(*needed_[i])) return false;
        return true;
    }

    bool is_needed(const Variable& variable) const { return std::ranges::find(needed_, &variable) != needed_.end(); }

    /// Record the variables of an expression that must have one value for all threads. Return false if that is
    /// clearly impossible.
    bool need_all(int begin, int end) {
        bool uniform = true;
        variables_.visit_names(begin, end, [&](std::string_view name, int at) {
            uniform = uniform && name != "threadIdx" && name.substr(0, 6) != "atomic";
            Variable* variable = variables_.find(name, at);
            const bool in_macro = name != code_[at];
            if (!in_macro && code_[at + 1] == "(" && !Calls::is_pure(name) && !is_macro(name)) uniform = false;
            if (!variable || variable->origin == Variable::shared || is_needed(*variable)) return;
            if (variable->origin != Variable::parameter || !variable->changes.empty() || variable->escapes)
                needed_.push_back(variable);
        });
        for (int i = begin; i < end && uniform; ++i) {
            const bool calls_member = variables_.is_member(i) && code_[i + 1] == "(" && !Calls::is_pure(code_[i]);
            const bool in_macro_unsafe = is_macro(code_[i]) && calls_.may_change_arguments(code_[i]);
            uniform = !calls_member && !in_macro_unsafe;
        }
        return uniform;
    }

    bool is_macro(std::string_view name) const { return context_.unit.macro_names.count(name) != 0; }

    bool check_needed(const Variable& variable) {
        if (variable.escapes || variable.is_array || variable.is_reference || variable.is_constructed) return false;
        if (variable.origin == Variable::local) declare_by_block(variable.declaration);
        if (variable.is_initialised && !need_all(variable.bounds_end, variable.end)) return false;
        return std::ranges::all_of(variable.changes, [&](int at) {
            const bool in_header = std::ranges::any_of(
                headers_, [at](const auto& header) { return header.first <= at && at < header.second; });
            return in_header || is_uniform_statement(at);
        });
    }

    /// Let the block run a declaration, and therefore also the declarations of the variables in its initialisers.
    void declare_by_block(int declaration) {
        if (!by_block_.insert(declaration).second) return;
        for (const Variable& variable : variables_.all()) {
            if (variable.declaration != declaration || variable.origin != Variable::local) continue;
            variables_.visit_names(variable.bounds_end, variable.end, [&](std::string_view name, int at) {
                const Variable* other = variables_.find(name, at);
                if (other && other->origin == Variable::local) declare_by_block(other->declaration);
            });
        }
    }

    /// Return whether the change at `at` is in a statement such as `half /= 2, k += step;`, which the block can run. If
    /// so, let the block run it.
    bool is_uniform_statement(int at) {
        const Statement* statement = whole_statement(statements_, at, {.top = true});
        if (!statement || statement->kind != Statement::expression) return false;
        for (int i = statement->begin; i < statement->end; ++i) {
            if (code_[i] == "[" || code_[i] == "->") return false;
            const bool changes = variables_.is_assignment(i) || variables_.is_increment(i);
            const int name = code_.is_identifier(i - 1) && i > statement->begin ? i - 1 : i + 2;
            if (!changes) continue;
            const bool is_start =
                name == statement->begin || code_[name - 1] == "," || variables_.is_increment(name - 2);
            if (!is_start || !variables_.find(code_[name], name)) return false;
            if (code_[i] != "=") ++i;
        }
        by_block_.insert(statement->begin);
        return need_all(statement->begin, statement->end);
    }

    /// Return the outermost statement around `at` that each thread runs as a whole.
    const Statement* whole_statement(const std::vector<Statement>& list, int at, Place place) const {
        for (std::size_t i = 0; i < list.size(); ++i) {
            const Statement& statement = list[i];
            if (at < statement.begin || at >= statement.end) continue;
            const bool opened = is_opened(statement, place.in_loop, is_trailing(i, place.top));
            if (!opened) return &statement;
            return whole_statement(statement.parts, at,
                                   {.in_loop = place.in_loop || statement.kind == Statement::loop});
        }
        return nullptr;
    }

    // ---- Shuffles

    /// Return the tokens of the value that each thread gives to a shuffle; an empty range if they are not understood.
    std::pair<int, int> shuffled_value(int shuffle) const {
        const int close = code_.match[shuffle + 1];
        int commas[2] = {close, close}, count = 0;
        for (int i = shuffle + 2; i < close; i = code_.after_group(i)) {
            if (code_[i] == "<") return {0, 0};
            if (code_[i] == "," && count < 2) commas[count++] = i;
        }
        return count == 2 ? std::pair(commas[0] + 1, commas[1]) : std::pair(0, 0);
    }

    static const char* shuffle_kind(std::string_view word) {
        return word == "__shfl_sync"        ? "ShuffleAny"
               : word == "__shfl_up_sync"   ? "ShuffleUp"
               : word == "__shfl_down_sync" ? "ShuffleDown"
               : word == "__shfl_xor_sync"  ? "ShuffleXor"
                                            : nullptr;
    }

    /// Return whether a shuffle can be split. All lanes store a value before any lane continues, so the mask must
    /// contain all lanes, and nothing else in the statement may depend on the order.
    bool can_split_shuffle(const Statement& statement) const {
        const int shuffle = statement.shuffle;
        if (!shuffle_kind(code_[shuffle]) || code_[shuffle + 1] != "(" || code_.match[shuffle + 1] < 0) return false;
        int assignments = 0;
        for (int i = statement.begin; i < statement.end; ++i) {
            if (code_[i] == "?" || code_[i] == "&&" || code_[i] == "||" || variables_.is_increment(i)) return false;
            if (code_.is_identifier(i) && code_[i + 1] == "(" && i != shuffle && !Calls::is_pure(code_[i]))
                return false;
            if (!variables_.is_assignment(i)) continue;
            ++assignments;
            if (code_[i] != "=") ++i;
        }
        const auto [begin, end] = shuffled_value(shuffle);
        return assignments <= 1 && begin < end && is_full_mask(shuffle + 2, begin - 1);
    }

    /// Return whether the tokens [begin, end) are 0xffffffff, or a name for it.
    bool is_full_mask(int begin, int end) const {
        if (is_all_lanes(code_.text(begin, end))) return true;
        if (end != begin + 1 || variables_.has(code_[begin])) return false;
        return names_.full_masks.count(code_[begin]) != 0;
    }

    // ---- Loops that stride over the grid

    /// Return whether a loop is `for (int i = …; i < n; i += blockDim.x * gridDim.x) …`. Neighbouring threads read
    /// neighbouring memory, which is still in the cache if each thread runs only a few steps at a time.
    bool strides_over_grid(const Statement& statement) const {
        if (!in_turns_ || statement.kind != Statement::loop || code_[statement.begin] != "for") return false;
        const auto [condition, step, close] = parts_of(statement);
        const auto declaration = read_declaration(code_, context_.qualifiers, statement.header + 1);
        const bool declares = declaration.understood && declaration.end + 1 == condition &&
                              declaration.declarators.size() == 1 && declaration.declarators[0].initialised;
        if (!declares || condition + 1 >= step || step == close || has_newline(statement.begin, condition))
            return false;
        const int name = declaration.declarators[0].name_begin;
        if (!is_plain_type(declaration.begin, name) || variables_.has(code_[name])) return false;
        for (int i = condition; i < step; ++i)
            if (variables_.is_assignment(i) || variables_.is_increment(i) || !is_pure_word(i)) return false;
        for (int i = close; i < statement.end; ++i)
            if (code_[i] == "return" || code_[i] == "break") return false;
        bool strides = false;
        variables_.visit_names(step, close, [&](std::string_view name, int at) {
            strides = strides || name == "gridDim" || is_grid_wide(name, at);
        });
        return strides;
    }

    bool is_pure_word(int i) const {
        return !code_.is_identifier(i) || code_[i + 1] != "(" || (Calls::is_pure(code_[i]) && !variables_.is_member(i));
    }

    /// Return the first tokens of the condition and of the step of a `for`, and its ).
    std::tuple<int, int, int> parts_of(const Statement& loop) const {
        const int close = code_.match[loop.header];
        int after[2] = {close, close}, count = 0;
        for (int i = loop.header + 1; i < close && count < 2; i = code_.after_group(i))
            if (code_[i] == ";") after[count++] = i + 1;
        return {after[0], after[1], close};
    }

    bool has_newline(int begin, int end) const {
        const std::size_t from = code_.tokens[begin].begin, to = code_.tokens[end].begin;
        return source_.substr(from, to - from).find('\n') != std::string_view::npos;
    }

    /// Return whether a variable is a stride such as `const int stride = blockDim.x * gridDim.x;`.
    bool is_grid_wide(std::string_view name, int at) const {
        const Variable* variable = const_cast<Variables&>(variables_).find(name, at);
        if (!variable || variable->origin != Variable::local) return false;
        bool is_named = false;
        variables_.visit_names(variable->bounds_end, variable->end,
                               [&](std::string_view word, int) { is_named = is_named || word == "gridDim"; });
        return is_named;
    }

    // ---- Regions

    bool find_regions() {
        constexpr std::size_t max_regions = 64;
        return add_regions(statements_, {.top = true}) && !regions_.empty() && regions_.size() <= max_regions;
    }

    bool add_regions(const std::vector<Statement>& list, Place place) {
        bool open = false;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (is_opened(list[i], place.in_loop, is_trailing(i, place.top)) || is_shared(list[i]) ||
                by_block_.count(list[i].begin)) {
                open = false;
                if (!add_opened(list[i], place.in_loop)) return false;
            } else if (!add_statement(list[i], open, false, is_between_barriers(list, i, place.top))) {
                return false;
            }
        }
        return true;
    }

    /// Return whether a barrier before or after the statement would make no difference.
    bool is_between_barriers(const std::vector<Statement>& list, std::size_t i, bool top) const {
        const auto is_barrier = [](const Statement& part) { return part.kind == Statement::barrier; };
        const auto at = list.begin() + static_cast<std::ptrdiff_t>(i);
        const auto before = std::find_if(std::make_reverse_iterator(at), list.rend(), is_barrier);
        const auto after = std::find_if(at, list.end(), is_barrier);
        if (!top && (before == list.rend() || after == list.end())) return false;
        return std::all_of(before.base(), at, [this](const Statement& part) { return is_private(part); }) &&
               std::all_of(at + 1, after, [this](const Statement& part) { return is_private(part) || is_store(part); });
    }

    /// Return whether the statement uses only the thread's own variables.
    bool is_private(const Statement& statement) const {
        const bool is_known = statement.kind == Statement::expression || statement.kind == Statement::declaration;
        return is_shared(statement) || (is_known && are_private(statement.begin, statement.end));
    }

    bool are_private(int begin, int end) const {
        for (int i = begin; i < end; ++i) {
            const bool calls = code_.is_identifier(i) && code_[i + 1] == "(" && !Calls::is_pure(code_[i]);
            const bool operand = code_.is_identifier(i - 1) || code_[i - 1] == ")" || code_[i - 1] == "]" ||
                                 code_.tokens[i - 1].kind == Kind::number;
            if (calls || code_[i] == "[" || code_[i] == "->" || (code_[i] == "*" && !operand)) return false;
            if (code_.is_identifier(i) && (is_macro(code_[i]) || names_.changing.count(code_[i])) &&
                !variables_.has(code_[i]))
                return false;
        }
        return true;
    }

    /// Return whether the statement is similar to `s[t] = sum;`, which reads no other thread's value.
    bool is_store(const Statement& statement) const {
        const int open = statement.begin + 1;
        if (statement.kind != Statement::expression || code_[open] != "[" || code_.match[open] < 0) return false;
        const int assigned = code_.match[open] + 1;
        return code_[assigned] == "=" && variables_.is_assignment(assigned) && are_private(open + 1, assigned - 1) &&
               are_private(assigned + 1, statement.end);
    }

    static bool is_shared(const Statement& statement) {
        return statement.kind == Statement::declaration && (statement.variables.words & q_shared);
    }

    /// Add a statement that each thread runs. `open`: add it to the last region. `may_be_separate`: the statement may
    /// be a region of its own.
    bool add_statement(const Statement& statement, bool& open, bool is_bare, bool may_be_separate = false) {
        if (!open && !regions_.empty() && regions_.back().returns) return false;
        if (statement.shuffle >= 0) {
            if (!open) regions_.push_back({statement.begin, statement.begin});
            regions_.back().next_shuffle = &statement;
            regions_.back().is_bare = is_bare;
            regions_.push_back({statement.begin, statement.end});
            regions_.back().first_shuffle = statement.shuffle;
            regions_.back().is_bare = is_bare;
        } else if (may_be_separate && strides_over_grid(statement)) {
            if (!regions_.empty() && regions_.back().returns) return false;
            regions_.push_back({statement.begin, statement.end});
            regions_.back().strided_loop = &statement;
            open = false;
            return true;
        } else if (!open) {
            regions_.push_back({statement.begin, statement.end});
        }
        open = true;
        regions_.back().end = statement.end;
        regions_.back().returns |= has_return(code_, statement);
        return true;
    }

    /// Add a statement that the block runs.
    bool add_opened(const Statement& statement, bool in_loop) {
        if (statement.kind == Statement::barrier) barriers_.push_back(statement.begin);
        if (statement.kind == Statement::jump && code_[statement.begin] == "return") {
            const bool without_value = statement.end == statement.begin + 2;
            if (!without_value) return false;
        }
        const bool inner_loop = in_loop || statement.kind == Statement::loop;
        if (statement.kind == Statement::compound) return add_regions(statement.parts, {.in_loop = inner_loop});
        for (const Statement& part : statement.parts) {
            bool open = false;
            const bool opened = is_opened(part, inner_loop, false) || by_block_.count(part.begin);
            if (!(opened ? add_opened(part, inner_loop) : add_statement(part, open, true))) return false;
        }
        return true;
    }

    bool mentions(const Region& region, const Variable& variable) const {
        bool is_named = false;
        const auto visit = [&](std::string_view name, int at) {
            is_named = is_named || (name == variable.name && variable.from <= at && at < variable.to);
        };
        variables_.visit_names(region.begin, region.end, visit);
        if (region.next_shuffle) {
            const auto [begin, end] = shuffled_value(region.next_shuffle->shuffle);
            variables_.visit_names(begin, end, visit);
        }
        return is_named;
    }

    static bool holds(const Region& region, int at) { return region.begin <= at && at < region.end; }

    // ---- Variables that more than one region uses

    bool find_supplies() {
        for (const Variable& variable : variables_.all()) {
            const auto supply = supply_of(variable);
            if (!supply) return false;
            supplies_.push_back(*supply);
        }
        constexpr auto max_kept = 16;  // each takes memory for 1024 threads
        return std::ranges::count(supplies_, Supply::kept) <= max_kept;
    }

    std::optional<Supply> supply_of(const Variable& variable) const {
        if (variable.origin == Variable::shared) return Supply::none;
        if (is_needed(variable)) return Supply::by_block;
        if (variable.origin == Variable::parameter) {
            if (variable.changes.empty() && !variable.escapes) return Supply::none;
            if (variable.escapes || variable.is_reference) return std::nullopt;
            return Supply::kept;
        }
        if (variable.origin == Variable::header) return std::nullopt;
        const bool by_block = by_block_.count(variable.declaration) != 0;
        const bool crosses = std::ranges::any_of(
            regions_, [&](const Region& region) { return !holds(region, variable.at) && mentions(region, variable); });
        if (by_block && !is_repeatable(variable, 0)) return std::nullopt;
        if (!crosses) return Supply::none;
        if (is_repeatable(variable, 0)) return Supply::repeated;
        return can_be_kept(variable) ? std::optional(Supply::kept) : std::nullopt;
    }

    /// Return whether the variable's declaration may be repeated in each region that uses it, with the same value.
    bool is_repeatable(const Variable& variable, int depth) const {
        constexpr int max_depth = 16;
        if (depth > max_depth || !variable.changes.empty() || variable.escapes || !variable.is_initialised)
            return false;
        if (variable.is_array || variable.is_reference || variable.is_constructed) return false;
        if (!has_plain_type(variable) && !is_computed(variable)) return false;
        for (int i = variable.bounds_end; i < variable.end; ++i) {
            const auto text = code_[i];
            if (text == "[" || text == "->" || variables_.is_assignment(i + 1) || variables_.is_increment(i))
                return false;
            const bool prefix = !code_.is_identifier(i - 1) && code_[i - 1] != ")" && code_[i - 1] != "}" &&
                                code_.tokens[i - 1].kind != Kind::number;
            if ((text == "*" || text == "&") && prefix && code_[i - 1] != ">") return false;
            if (variables_.is_member(i) && code_[i + 1] == "(" && !Calls::is_pure(text)) return false;
            if (is_macro(text) && !is_constant_macro(text)) return false;
            if (text == "::" && names_.changing.count(code_[i + 1])) return false;
        }
        bool is_repeatable = true;
        variables_.visit_names(variable.bounds_end, variable.end, [&](std::string_view name, int at) {
            is_repeatable = is_repeatable && is_repeatable_name(variable, name, at, depth);
        });
        return is_repeatable;
    }

    bool is_repeatable_name(const Variable& in, std::string_view name, int at, int depth) const {
        if (names_.changing.count(name)) return false;
        const bool calls = code_[at + 1] == "(" || code_[at + 1] == "{" || code_[at + 1] == "<";
        if (calls && name == code_[at] && !is_macro(name) && !variables_.has(name)) return Calls::is_pure(name);
        const Variable* variable = const_cast<Variables&>(variables_).find(name, at);
        if (!variable) return !variables_.has(name);
        if (variable->escapes || variable->origin == Variable::shared) return false;
        const auto changes_within = [&](int change) { return in.at <= change && change < in.to; };
        if (is_needed(*variable)) return std::ranges::none_of(variable->changes, changes_within);
        if (variable->origin == Variable::parameter) return variable->changes.empty();
        return is_repeatable(*variable, depth + 1);
    }

    /// Return whether a macro accesses no memory and calls only pure functions.
    bool is_constant_macro(std::string_view name) const {
        for (const Macro& macro : context_.unit.macros) {
            if (macro.name != name) continue;
            const Stream& body = macro.body;
            for (int i = 0; i < body.size(); ++i) {
                if (body[i] == "[" || body[i] == "->" || body[i] == "&") return false;
                const bool calls = body.is_identifier(i) && body[i + 1] == "(";
                if (calls && !Calls::is_pure(body[i]) && !is_macro(body[i])) return false;
            }
        }
        return true;
    }

    /// Return whether values of a type may be copied and computed again: types of C and <cstdint>, and vectors.
    bool is_plain_type(int begin, int end) const {
        static const Words others("const std :: size_t ptrdiff_t uint ushort uchar ulong");
        for (int i = begin; i < end; ++i) {
            const auto word = code_[i];
            const bool is_typedef = word.size() > 2 && word.substr(word.size() - 2) == "_t";
            if (!others.has(word) && !is_typedef && !Calls::is_type(word)) return false;
        }
        return true;
    }

    bool has_plain_type(const Variable& variable) const {
        return is_plain_type(variable.declaration, variable.specifiers_end);
    }

    bool is_computed(const Variable& variable) const {
        const auto first = code_[variable.declaration];
        return first == "auto" || first == "constexpr" ||
               (first == "const" && code_[variable.declaration + 1] == "auto");
    }

    bool has_template_type(const Variable& variable) const {
        const auto first = code_[variable.declaration];
        const int type = first == "const" ? variable.declaration + 1 : variable.declaration;
        return type + 1 == variable.specifiers_end && is_template_type(code_[type]);
    }

    bool can_be_kept(const Variable& variable) const {
        if (variable.escapes || variable.is_reference || variable.is_constructed) return false;
        const bool of_template = has_template_type(variable);
        if (!of_template && !has_plain_type(variable)) return false;
        // The address of a variable differs between regions.
        if ((variable.is_pointer || of_template) && has_escaped()) return false;
        return code_[variable.at + 2] != "]" || !variable.is_array;
    }

    /// Return whether code takes the address of one of a thread's own variables.
    bool has_escaped() const {
        return std::ranges::any_of(variables_.all(), [](const Variable& variable) {
            return variable.escapes && variable.origin != Variable::shared;
        });
    }

    /// Return whether `template <typename T …>` with this type precedes the kernel.
    bool is_template_type(std::string_view word) const {
        constexpr int max_words = 64;
        for (int i = parameters_; i > 1 && i > parameters_ - max_words; --i) {
            if (code_[i] == ";" || code_[i] == "}") return false;
            if (code_[i] == word && (code_[i - 1] == "typename" || code_[i - 1] == "class")) return true;
        }
        return false;
    }

    // ---- Writing

    void write(Edits& edits) const {
        for (std::size_t i = 0; i < supplies_.size(); ++i) {
            const Variable& variable = variables_.all()[i];
            if (supplies_[i] == Supply::kept && variable.origin == Variable::parameter)
                edits.insert_before(code_.tokens[body_ + 1], keep_parameter(std::string(variable.name)));
        }
        for (const int barrier : barriers_) edits.replace(code_.tokens[barrier], "WARPLAB_CPU_SPLIT");
        for (const Region& region : regions_) {
            edits.insert_before(code_.tokens[region.begin], text_before(region));
            if (region.begin == region.end)
                edits.insert_before(code_.tokens[region.begin], text_after(region));
            else
                edits.insert_after(code_.tokens[region.end - 1], text_after(region));
            if (region.strided_loop) write_turns(*region.strided_loop, edits);
            if (region.first_shuffle >= 0)
                edits.replace(code_.tokens[region.first_shuffle], "WARPLAB_CPU_SHUFFLE(" +
                                                                      std::to_string(region.first_shuffle) + ", " +
                                                                      shuffle_kind(code_[region.first_shuffle]) + ")");
        }
    }

    /// Make the loop continue where the thread's last turn ended.
    void write_turns(const Statement& loop, Edits& edits) const {
        const auto [condition, step, close] = parts_of(loop);
        const auto declaration = read_declaration(code_, context_.qualifiers, loop.header + 1);
        const int name = declaration.declarators[0].name_begin;
        edits.replace(code_.tokens[loop.begin].begin, code_.tokens[condition - 1].end,
                      code_.text(declaration.begin, name + 1) + " = WARPLAB_CPU_TAKE(" + std::string(code_[name]) +
                          "); for (int warplab_cpu_steps = 0;");
        edits.insert_before(code_.tokens[condition], "warplab_cpu_steps < WARPLAB_CPU_STEPS && (");
        edits.insert_before(code_.tokens[step - 1], ")");
        edits.insert_before(code_.tokens[close], ", ++warplab_cpu_steps");
    }

    /// Return the code that sets a loop variable's first value and begins the threads' turns.
    std::string turns_begin(const Region& region, const std::string& threads, const std::string& takes) const {
        const auto declaration = read_declaration(code_, context_.qualifiers, region.strided_loop->header + 1);
        const int name = declaration.declarators[0].name_begin;
        const std::string variable(code_[name]), type = "warplab_cpu_type_" + variable;
        return "{typedef " + code_.text(declaration.begin, name) + " " + type + "; WARPLAB_CPU_KEPT(" + type + ", " +
               variable + "); " + threads + takes + code_.text(declaration.begin, declaration.end) +
               "; WARPLAB_CPU_KEEP(" + variable +
               ");}; for (bool warplab_cpu_again = true; warplab_cpu_again;) { warplab_cpu_again = false; " + threads +
               takes;
    }

    std::string turns_end(const Region& region) const {
        const auto [condition, step, close] = parts_of(*region.strided_loop);
        const auto declaration = read_declaration(code_, context_.qualifiers, region.strided_loop->header + 1);
        return " if (" + code_.text(condition, step - 1) + ") warplab_cpu_again = true; WARPLAB_CPU_KEEP(" +
               std::string(code_[declaration.declarators[0].name_begin]) + ");";
    }

    static std::string keep_parameter(const std::string& name) {
        return "WARPLAB_CPU_KEPT(decltype(" + name + "), " + name +
               "); WARPLAB_CPU_THREADS(int, false){WARPLAB_CPU_KEEP(" + name + ");}; ";
    }

    std::string declaration_text(const Variable& variable) const {
        return code_.text(variable.declaration, variable.specifiers_end) + " " +
               code_.text(variable.begin, variable.bounds_end);
    }

    /// Return the variables that the region takes from other regions, and the variables from which these are computed.
    std::vector<const Variable*> taken(const Region& region) const {
        std::vector<const Variable*> variables;
        const auto& all = variables_.all();
        for (std::size_t i = all.size(); i-- > 0;) {  // a variable's operands are declared before it
            const bool crosses = supplies_[i] == Supply::repeated || supplies_[i] == Supply::kept;
            if ((!crosses && all[i].origin != Variable::local) || holds(region, all[i].at)) continue;
            if (supplies_[i] == Supply::by_block) continue;
            const bool used =
                (crosses && mentions(region, all[i])) || std::ranges::any_of(variables, [&](const Variable* other) {
                    return supply(*other) != Supply::kept && computes_from(*other, all[i]);
                });
            if (used) variables.push_back(&all[i]);
        }
        std::ranges::reverse(variables);
        return variables;
    }

    Supply supply(const Variable& variable) const { return supplies_[&variable - variables_.all().data()]; }

    bool computes_from(const Variable& variable, const Variable& other) const {
        bool is_named = false;
        variables_.visit_names(variable.bounds_end, variable.end, [&](std::string_view name, int at) {
            is_named = is_named || (name == other.name && other.from <= at && at < other.to);
        });
        return is_named;
    }

    std::string text_before(const Region& region) const {
        std::string text = region.is_bare && region.next_shuffle ? "{" : "";
        if (region.next_shuffle) text += "WARPLAB_CPU_GIVEN(" + std::to_string(region.next_shuffle->shuffle) + "); ";
        for (const Variable& variable : variables_.all()) {
            const bool kept_here = supply(variable) == Supply::kept && holds(region, variable.at);
            if (!kept_here) continue;
            std::string type = code_.text(variable.declaration, variable.specifiers_end) + " " +
                               code_.text(variable.begin, variable.at) + " warplab_cpu_type_" +
                               code_.text(variable.at, variable.bounds_end);
            text += "typedef " + type + "; WARPLAB_CPU_KEPT(warplab_cpu_type_" + std::string(variable.name) + ", " +
                    std::string(variable.name) + "); ";
        }
        const std::string threads = std::string("WARPLAB_CPU_THREADS(") + index_type(region) + ", " +
                                    (calls_.use_thread_index() ? "true" : "false") + "){";
        const std::string takes = text_of_taken(region);
        return text + (region.strided_loop ? turns_begin(region, threads, takes) : threads + takes);
    }

    std::string text_of_taken(const Region& region) const {
        std::string text;
        for (const Variable* variable : taken(region)) {
            const std::string name(variable->name);
            if (supply(*variable) != Supply::kept)
                text += declaration_text(*variable) + " " + code_.text(variable->bounds_end, variable->end) + "; ";
            else if (variable->is_array || variable->origin == Variable::parameter)
                text += (variable->is_array ? "auto& " : "auto ") + name + " = WARPLAB_CPU_TAKE(" + name + "); ";
            else
                text += declaration_text(*variable) + " = WARPLAB_CPU_TAKE(" + name + "); ";
        }
        return text;
    }

    std::string text_after(const Region& region) const {
        std::string text = region.strided_loop ? turns_end(region) : "";
        for (const Variable& variable : variables_.all()) {
            if (supply(variable) != Supply::kept) continue;
            const bool declared_here = holds(region, variable.at);
            const bool changed_here =
                !variable.is_array && std::ranges::any_of(variable.changes, [&](int at) { return holds(region, at); });
            if (declared_here || changed_here) text += " WARPLAB_CPU_KEEP(" + std::string(variable.name) + ");";
        }
        if (region.next_shuffle) {
            const auto [begin, end] = shuffled_value(region.next_shuffle->shuffle);
            text += " WARPLAB_CPU_GIVE(" + std::to_string(region.next_shuffle->shuffle) + ", " +
                    code_.text(begin, end) + ");";
        }
        if (region.strided_loop) return text + "};}}";
        return text + (region.is_bare && region.first_shuffle >= 0 ? "};}" : "};");
    }

    /// Return the type that counts threads: the type in the kernel's comparisons, so that GCC can determine for which
    /// threads `t < half` is true.
    const char* index_type(const Region& region) const {
        for (int i = region.begin; i < region.end; ++i)
            if (code_[i] == "threadIdx") return "unsigned";
        for (const Variable* variable : taken(region))
            for (int i = variable->declaration; i < variable->specifiers_end; ++i)
                if (code_[i] == "unsigned" || code_[i] == "size_t") return "unsigned";
        return "int";
    }

    const Context& context_;
    const Stream& code_;
    const std::string_view source_;
    Calls& calls_;
    const FileNames& names_;
    const bool in_turns_;
    const int parameters_, body_, end_;
    std::vector<Statement> statements_;
    int last_barrier_ = -1;  // the last statement of the body with a barrier
    mutable Variables variables_;
    std::vector<std::pair<int, int>> headers_;  // the headers of opened statements: tokens [begin, end)
    std::vector<Variable*> needed_;             // variables that must have one value for all threads
    std::unordered_set<int> by_block_;          // first tokens of the statements that the block runs
    std::vector<Region> regions_;
    std::vector<int> barriers_;
    std::vector<Supply> supplies_;  // one per variable
};

bool is_built_in(std::string_view name) {
    return name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim";
}

/// Return whether the = after the name at `i` initialises this name, as for y in `const int x = first, y = second;`.
bool is_later_declarator(const Context& context, int i) {
    const Stream& code = context.unit.code;
    if (code[i - 1] != "," || code[i + 1] != "=") return false;
    const int begin = statement_begin(code, i, &context.qualifiers);
    if (code[begin] != "const" && code[begin] != "auto" && !Calls::is_type(code[begin])) return false;
    const auto declaration = read_declaration(code, context.qualifiers, begin);
    return declaration.understood && std::ranges::any_of(declaration.declarators, [i](const Declarator& declarator) {
               return declarator.name_begin == i;
           });
}

/// Return the names whose value may be different when it is read again.
Names find_changing(const Context& context, const Calls& calls) {
    const Stream& code = context.unit.code;
    const Variables variables(code, context.unit, calls);
    Names names;
    for (int i = 0; i < code.size(); ++i) {
        const bool changes = code.is_identifier(i) && !is_built_in(code[i]) && variables.may_change(i);
        if (changes && !is_later_declarator(context, i)) names.insert(code[i]);
        if (!code.at_namespace[i] || !(context.qualifiers.of(code, i) & (q_device | q_managed))) continue;
        const auto declaration =
            read_declaration(code, context.qualifiers, statement_begin(code, i, &context.qualifiers));
        if (!declaration.understood) continue;
        for (const auto& declarator : declaration.declarators) names.insert(code[declarator.name_begin]);
    }
    return names;
}

/// Return the names that mean all lanes: `constexpr unsigned all = 0xffffffff;`, and macros with that value.
Names find_full_masks(const Context& context) {
    const Stream& code = context.unit.code;
    Names found, others;
    for (const Macro& macro : context.unit.macros) {
        const bool full = !macro.has_parameters && is_all_lanes(macro.body.text(0, std::min(macro.body.size(), 4)));
        (full ? found : others).insert(macro.name);
    }
    for (int i = 2; i < code.size(); ++i) {
        if (!code.at_namespace[i] || code[i] != "=" || !code.is_identifier(i - 1)) continue;
        const int end = code[i + 2] == ";" ? i + 2 : i + 3;
        bool constant = false;
        for (int k = i - 2; k > i - 6 && code.is_identifier(k); --k)
            constant |= code[k] == "constexpr" || code[k] == "const";
        const bool full = constant && code[end] == ";" && is_all_lanes(code.text(i + 1, end));
        (full ? found : others).insert(code[i - 1]);
    }
    for (const auto name : others) found.erase(name);
    return found;
}

}  // namespace

std::unordered_map<int, Edits> find_splits(const Context& context, std::string_view source) {
    const Stream& code = context.unit.code;
    std::unordered_map<int, Edits> splits;
    for (const Token& include : context.unit.includes)
        if (include.text.front() == '"' && include.text.find("lab.h\"") == std::string_view::npos) return splits;
    Calls calls(context.unit, context.qualifiers);
    const FileNames names{find_changing(context, calls), find_full_masks(context)};
    for (int i = 0; i < code.size(); ++i) {
        if (!(context.qualifiers.of(code, i) & q_global)) continue;
        const auto kernel = find_definition(code, context.qualifiers, i);
        if (kernel.body < 0 || code.match[kernel.body] < 0 || splits.count(kernel.body)) continue;
        Edits edits;
        const bool fits = KernelSplitter(context, source, calls, names, kernel, true).split(edits) ||
                          KernelSplitter(context, source, calls, names, kernel, false).split(edits);
        if (fits) splits.emplace(kernel.body, std::move(edits));
    }
    return splits;
}

}  // namespace warplab::rewriter
