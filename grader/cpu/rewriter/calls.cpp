#include "grader/cpu/rewriter/calls.h"

#include <algorithm>

#include "grader/cpu/rewriter/declaration.h"
#include "grader/cpu/rewriter/passes.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

const Words& pure_functions() {
    static const Words words(
        "min max umin umax llmin llmax abs labs llabs fabs fabsf sqrt sqrtf rsqrt rsqrtf cbrt cbrtf exp expf exp2 "
        "exp2f exp10 exp10f expm1 expm1f log logf log2 log2f log10 log10f log1p log1pf sin sinf cos cosf tan tanf asin "
        "asinf acos acosf atan atanf atan2 atan2f sinh sinhf cosh coshf tanh tanhf pow powf fmin fminf fmax fmaxf fma "
        "fmaf fmod fmodf floor floorf ceil ceilf round roundf rint rintf trunc truncf lrintf lroundf hypot hypotf erf "
        "erff erfc erfcf isnan isinf isfinite signbit copysign copysignf __expf __exp10f __logf __log2f __log10f "
        "__sinf __cosf __tanf __powf __fdividef __saturatef __fsqrt_rn __frcp_rn __fadd_rn __fmul_rn __fmaf_rn "
        "__dadd_rn __dmul_rn __fdiv_rn __ddiv_rn __mul24 __umul24 __mulhi __umulhi __mul64hi __umul64hi __popc "
        "__popcll __clz __clzll __ffs __ffsll __brev __brevll __byte_perm __sad __usad __hadd __rhadd __funnelshift_l "
        "__funnelshift_r __int_as_float __float_as_int __uint_as_float __float_as_uint __longlong_as_double "
        "__double_as_longlong __float2int_rn __float2int_rz __float2int_rd __float2int_ru __float2uint_rn "
        "__float2uint_rz __int2float_rn __uint2float_rn __double2int_rn __double2int_rz __double2float_rn");
    return words;
}

/// Return the functions that access memory or print, but never wait.
const Words& memory_functions() {
    static const Words words(
        "__ldg __ldcg __ldca __ldcs __ldlu __ldcv __stwb __stcg __stcs __stwt atomicAdd atomicSub atomicMin atomicMax "
        "atomicAnd atomicOr atomicXor atomicInc atomicDec printf assert");
    return words;
}

bool is_atomic(std::string_view name) { return name.substr(0, 6) == "atomic"; }

bool stands_before_parenthesis(std::string_view word) {
    static const Words words(
        "if for while switch return sizeof alignof decltype noexcept alignas else case do static_cast const_cast "
        "reinterpret_cast static_assert constexpr __attribute__ __launch_bounds__ __align__");
    return words.has(word);
}

bool is_statement_word(std::string_view word) {
    static const Words words("if else for while do switch case return break continue");
    return words.has(word);
}

/// Return whether a word may let a thread wait, or is not covered by the rules for splitting.
bool may_wait(std::string_view word) {
    static const Words words(
        "volatile asm __asm __asm__ goto new delete throw try const_cast __activemask __nanosleep __trap __brkpt "
        "__threadfence __threadfence_block __threadfence_system thread_local clock clock64 __builtin_alloca alloca "
        "co_await co_yield co_return __syncwarp setjmp longjmp");
    const auto ends_in = [&](std::string_view tail) {
        return word.size() > tail.size() && word.substr(word.size() - tail.size()) == tail;
    };
    return words.has(word) || ends_in("_sync") || word.substr(0, 14) == "__syncthreads_" ||
           word.substr(0, 9) == "atomicCAS" || word.substr(0, 10) == "atomicExch" || word.substr(0, 6) == "__shfl";
}

std::string_view without_scope(std::string_view name) {
    for (const std::string_view tail : {"_block", "_system"})
        if (is_atomic(name) && name.size() > tail.size() && name.substr(name.size() - tail.size()) == tail)
            name.remove_suffix(tail.size());
    return name;
}

/// Return whether the name at `i` is initialised in a constructor's list, such as `: size_(size), at_(0) {`.
bool is_member_initialiser(const Stream& stream, int i) {
    const auto after = stream[stream.after_group(i + 1)];
    if (after != "," && after != "{") return false;
    constexpr int max_steps = 64;
    for (int steps = 0; steps < max_steps && stream.is_identifier(i); ++steps) {
        if (stream[i - 1] == ":") return stream[i - 2] == ")";
        if (stream[i - 1] != "," || stream[i - 2] != ")" || stream.match[i - 2] < 1) return false;
        i = stream.match[i - 2] - 1;
    }
    return false;
}

bool is_harmless(std::string_view name) { return Calls::is_pure(name) || memory_functions().has(without_scope(name)); }

}  // namespace

bool Calls::is_type(std::string_view name) {
    static const Words words(
        "bool char short int long float double signed unsigned size_t dim3 int8_t int16_t int32_t int64_t uint8_t "
        "uint16_t uint32_t uint64_t uchar uint ushort ulong");
    if (words.has(name)) return true;
    if (name.substr(0, 5) == "make_") name.remove_prefix(5);
    static const Words vectors("char uchar short ushort int uint long ulong longlong ulonglong float double");
    return !name.empty() && name.back() >= '1' && name.back() <= '4' && vectors.has(name.substr(0, name.size() - 1));
}

Calls::Calls(const Unit& unit, const Qualifiers& qualifiers) : unit_(unit) {
    for (const int i : guarded_updates(unit.code, qualifiers)) guarded_.insert(i);
    for (const Token& include : unit.includes)
        for (const std::string_view library : {"cooperative_groups", "cub/", "cuda/", "cuda_pipeline"})
            if (include.text.find(library) != std::string_view::npos) has_library_ = true;
    find_definitions();
}

bool Calls::is_pure(std::string_view name) {
    return pure_functions().has(name) || is_type(name) || stands_before_parenthesis(name);
}

/// Return the position of the { of the function whose name is at `name`; -1 if this is not a definition.
int Calls::find_body(int name) const {
    const Stream& code = unit_.code;
    if (!code.is_identifier(name) || code[name + 1] != "(" || stands_before_parenthesis(code[name])) return -1;
    int i = code.after_group(name + 1);
    constexpr int max_steps = 64;
    for (int steps = 0; steps < max_steps && code.has(i); ++steps, i = code.after_group(i)) {
        const auto text = code[i];
        if (text == "{" && code.match[i] >= 0) return i;
        const bool may_follow = code.is_identifier(i) || text == "(" || text == ":" || text == "," || text == "->" ||
                                text == "::" || text == "&" || text == "*" || text == "<" || text == ">";
        if (!may_follow) return -1;
    }
    return -1;
}

void Calls::find_definitions() {
    const Stream& code = unit_.code;
    int end_of_head = 0;  // where the last class's head ends; the next search begins there
    for (int i = 0; i < code.size(); ++i) {
        if ((code[i] == "struct" || code[i] == "class" || code[i] == "union") && code.is_identifier(i + 1)) {
            int& at = end_of_head = std::max(end_of_head, i + 1);
            while (code.has(at) && code[at] != "{" && code[at] != ";" && code[at] != "(") ++at;
            if (code[at] == "{") types_[code[i + 1]] = at;
        }
        if ((code[i] == "typename" || code[i] == "class") && (code[i - 1] == "<" || code[i - 1] == ","))
            template_types_.insert(code[i + 1]);
        const int body = find_body(i);
        if (body < 0) continue;
        definitions_.emplace(code[i], Definition{i + 1, body});
        i = code.match[body];
    }
    std::vector<char> in_kernel(code.tokens.size() + 1, 0);
    for (int i = 0; i < code.size(); ++i) {
        if (code[i] != "__global__") continue;
        constexpr int max_head_steps = 512;
        int k = i;
        for (int steps = 0; steps < max_head_steps && code.has(k) && code[k] != "{" && code[k] != ";"; ++steps)
            k = code.after_group(k);
        for (int end = code.after_group(k); k < end; ++k) in_kernel[k] = 1;
    }
    for (int i = 0; i < code.size(); ++i) use_thread_index_ |= code[i] == "threadIdx" && !in_kernel[i];
    for (const Macro& macro : unit_.macros)
        for (const Token& token : macro.body.tokens) use_thread_index_ |= token.text == "threadIdx";
}

bool Calls::never_wait(int begin, int end) { return !has_library_ && stream_never_waits(unit_.code, begin, end); }

bool Calls::stream_never_waits(const Stream& stream, int begin, int end) {
    constexpr int max_depth = 32;
    if (depth_ == max_depth || (budget_ -= end - begin) < 0) return false;
    ++depth_;
    const bool never = tokens_never_wait(stream, begin, end);
    --depth_;
    return never;
}

bool Calls::tokens_never_wait(const Stream& stream, int begin, int end) {
    bool may_repeat = false, uses_result = false;
    for (int i = begin; i < end; ++i) {
        const auto text = stream[i];
        if (!stream.is_identifier(i)) continue;
        const bool is_in_kernel_itself = depth_ == 1 && !stream.is_macro;
        if (is_in_kernel_itself && (text == "__syncwarp" || text.substr(0, 6) == "__shfl")) continue;
        if (may_wait(text)) return false;
        if (unit_.macro_names.count(text) && !macro_never_waits(text)) return false;
        may_repeat |= text == "while" || text == "do" || (text == "for" && stream[i + 2] == ";");
        if (is_atomic(text)) {
            const auto before = stream[i - 1];
            const bool is_statement =
                before == ";" || before == "{" || before == "}" || before == ")" || before == "else";
            uses_result |= !is_statement;
        }
        if (stream[i + 1] == "(" && text != "__syncthreads" && !call_never_waits(stream, i)) return false;
        if (types_.count(text) && !function_never_waits(text)) return false;
    }
    return !(may_repeat && uses_result);
}

bool Calls::call_never_waits(const Stream& stream, int i) {
    const auto name = without_scope(stream[i]);
    const bool of_object = stream[i - 1] == "." || stream[i - 1] == "->";
    if (!stream.is_macro && guarded_.count(i)) return false;
    if (!of_object && is_harmless(name)) return true;
    if (unit_.macro_names.count(name)) return true;
    if (!of_object && template_types_.count(name)) return all_types_never_wait();
    if (definitions_.count(name) || types_.count(name)) return function_never_waits(name);
    if (is_member_initialiser(stream, i)) return true;
    return !stream.is_macro && stream.is_identifier(i - 1) &&
           !stands_before_parenthesis(stream[i - 1]);  // a declaration, such as Walk walk(first, stride)
}

/// Return whether functions and classes of this name never wait. All members of a class count, because its operators
/// and its destructor run without being named.
bool Calls::function_never_waits(std::string_view name) {
    if (const auto iterator = known_.find(name); iterator != known_.end()) return iterator->second;
    if (std::ranges::find(examined_, name) != examined_.end())
        return examined_.back() == name;  // of the recursions, only direct ones are accepted
    examined_.push_back(name);
    const Stream& code = unit_.code;
    bool never = true;
    const auto check = [&](int begin, int end) {
        for (int i = begin; i <= end && never; ++i) never = code[i] != "__syncthreads";
        never = never && stream_never_waits(code, begin, end);
    };
    const auto [begin, end] = definitions_.equal_range(name);
    for (auto definition = begin; definition != end && never; ++definition)
        check(definition->second.parameters, code.match[definition->second.body]);
    if (const auto type = types_.find(name); type != types_.end()) check(type->second, code.match[type->second]);
    examined_.pop_back();
    known_[name] = never;
    return never;
}

bool Calls::all_types_never_wait() {
    return std::ranges::all_of(types_, [&](const auto& type) { return function_never_waits(type.first); });
}

/// Return whether a macro's body never waits and is simple enough to be sure: an expression with balanced parentheses
/// that assigns nothing.
bool Calls::macro_never_waits(std::string_view name) {
    const auto [known, is_new] = known_macros_.emplace(name, false);  // a macro cannot use itself
    if (!is_new) return known->second;
    bool never = true;
    for (const Macro& macro : unit_.macros) {
        if (macro.name != name) continue;
        const Stream& body = macro.body;
        for (int i = 0; i < body.size() && never; ++i) {
            const auto text = body[i], next = body[i + 1];
            const bool is_adjacent = body.has(i + 1) && body.tokens[i].end == body.tokens[i + 1].begin;
            const bool assigns = text == "=" && next != "=" && body[i - 1] != "=" && body[i - 1] != "!";
            const bool increments = (text == "+" || text == "-") && next == text && is_adjacent;
            const bool open = (text == "(" || text == "[") && body.match[i] < 0;
            const bool close = (text == ")" || text == "]") && body.match[i] < 0;
            never = !assigns && !increments && !open && !close && text != ";" && text != "{" && text != "}" &&
                    text != "#" && text != "##" && text != "__syncthreads" && text != "__shared__" &&
                    !is_statement_word(text);
        }
        never = never && stream_never_waits(body, 0, body.size());
    }
    known_macros_[name] = never;
    return never;
}

bool Calls::may_change_arguments(std::string_view name) const {
    if (is_harmless(name) || name.substr(0, 6) == "__shfl") return false;
    if (unit_.macro_names.count(name)) return macro_may_change(name, 0);
    const auto [begin, end] = definitions_.equal_range(name);
    if (begin == end) return true;
    for (auto definition = begin; definition != end; ++definition) {
        const int open = definition->second.parameters;
        for (int i = open; i < unit_.code.match[open]; ++i)
            if (unit_.code[i] == "&" || unit_.code[i] == "&&" || unit_.code[i] == "...") return true;
    }
    return false;
}

bool Calls::macro_may_change(std::string_view name, int depth) const {
    constexpr int max_depth = 4;
    for (const Macro& macro : unit_.macros) {
        for (int i = 0; macro.name == name && i < macro.body.size(); ++i) {
            const auto word = macro.body[i];
            if (word == "&") return true;
            if (macro.body[i + 1] != "(" || !macro.body.is_identifier(i) || is_harmless(word)) continue;
            if (depth == max_depth || !unit_.macro_names.count(word) || macro_may_change(word, depth + 1)) return true;
        }
    }
    return false;
}

}  // namespace warplab::rewriter
