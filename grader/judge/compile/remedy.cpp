#include "grader/judge/compile/remedy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>

#include "grader/common/text.h"
#include "grader/judge/compile/hand_in.h"

namespace warplab::compilation {
namespace {

/// Return the quoted parts of a message, without what g++ adds to the names of types: {aka ‘long unsigned int’}.
std::vector<std::string> quoted_parts(std::string message) {
    for (std::size_t at; (at = message.find(" {aka ")) != std::string::npos;) {
        const std::size_t end = message.find('}', at);
        message.erase(at, end == std::string::npos ? end : end + 1 - at);
    }
    const std::string open = "‘", close = "’";
    std::vector<std::string> parts;
    for (std::size_t at = 0; (at = message.find(open, at)) != std::string::npos;) {
        const std::size_t begin = at + open.size(), end = message.find(close, begin);
        if (end == std::string::npos) break;
        parts.push_back(message.substr(begin, end - begin));
        at = end;
    }
    return parts;
}

/// Return the notes that follow the error.
std::vector<Diagnostic> notes_of(const Diagnostic& error, const std::vector<Diagnostic>& all) {
    const auto is_this_error = [&](const Diagnostic& other) {
        return other.kind == "error" && other.file == error.file && other.line == error.line;
    };
    std::vector<Diagnostic> notes;
    for (auto at = std::ranges::find_if(all, is_this_error); at != all.end(); ++at)
        if (at->kind == "note")
            notes.push_back(*at);
        else if (!is_this_error(*at))
            break;
    return notes;
}

const Diagnostic* find_note(const std::vector<Diagnostic>& notes, const char* words) {
    const auto iterator =
        std::ranges::find_if(notes, [&](const Diagnostic& note) { return contains(note.message, words); });
    return iterator == notes.end() ? nullptr : &*iterator;
}

/// Return whether a declaration mentions the type of the call's last argument.
bool takes_last_argument(const std::string& declaration, const std::string& call) {
    const std::string last = call.substr(call.find_last_of("(,") + 1);
    const std::size_t begin = last.find_first_not_of(' ');
    return begin != std::string::npos &&
           contains(declaration, last.substr(begin, last.find_first_of("&)", begin) - begin).c_str());
}

/// Return the function that the call was probably meant for: of several candidates, one that accepts its last argument.
std::string closest_candidate(const std::vector<Diagnostic>& notes, const Diagnostic& error) {
    const auto call = quoted_parts(error.message);
    std::string closest;
    for (const Diagnostic& note : notes) {
        const auto parts =
            contains(note.message, "candidate: ") ? quoted_parts(note.message) : std::vector<std::string>();
        if (parts.empty()) continue;
        const bool fits = !call.empty() && takes_last_argument(parts[0], call[0]);
        if (!closest.empty() && !fits) continue;
        const std::size_t end = parts[0].starts_with("template<") ? parts[0].find('>') : std::string::npos;
        const bool is_template = end != std::string::npos && parts[0].compare(end, 2, "> ") == 0;
        closest = without_internal_names(is_template ? parts[0].substr(end + 2) : parts[0]);
        if (fits) break;
    }
    return closest;
}

/// Return the declaration that a note names, with the parameters' names if it is in the student's file.
std::string declaration_in(const std::vector<Diagnostic>& notes, const Diagnostic& error, const std::string& source) {
    if (const Diagnostic* note = find_note(notes, "declared here"); note && note->file == error.file) {
        const std::string line = source_line(source, note->line);
        const std::size_t end = line.rfind(')');
        if (line.find('(') < end && end != std::string::npos)
            return line.substr(line.find_first_not_of(" \t"), end + 1 - line.find_first_not_of(" \t"));
    }
    return closest_candidate(notes, error);
}

/// Return whether a call such as "atomicAdd(unsigned char*, unsigned int)" is an atomic on less than 32 bits.
bool is_atomic_on_small(const std::string& call) {
    if (!call.starts_with("atomic")) return false;
    const std::size_t open = call.find('(');
    const std::string first = call.substr(open + 1, call.find_first_of(",)", open) - open - 1);
    return first.ends_with("char*") || first.ends_with("short int*") || first.ends_with("int8_t*") ||
           first.ends_with("int16_t*") || first == "bool*" || first.ends_with("short unsigned int*");
}

/// Return whether a call such as "atomicAdd(int&, int*&)" passes the value first and the address second.
bool has_address_last(const std::string& call) {
    const std::size_t open = call.find('('), comma = call.find(',');
    if (!call.starts_with("atomic") || !call.ends_with(')') || open == std::string::npos) return false;
    if (comma == std::string::npos || comma <= open + 1 || comma != call.rfind(',')) return false;
    const std::string_view first = std::string_view(call).substr(open + 1, comma - open - 1);
    std::string_view last = std::string_view(call).substr(comma + 1, call.size() - comma - 2);
    if (last.ends_with('&')) last.remove_suffix(1);
    return first.find('*') == std::string_view::npos && last.ends_with('*');
}

/// Return the remedy for a call of a template whose parameter no argument determines; "" if that is not the reason.
std::string remedy_for_template(const Diagnostic& error, const std::vector<Diagnostic>& notes) {
    const auto candidates =
        std::ranges::count_if(notes, [](const Diagnostic& note) { return contains(note.message, "candidate: "); });
    const Diagnostic* undeduced = find_note(notes, "couldn’t deduce template parameter");
    const auto called = quoted_parts(error.message);
    if (candidates != 1 || !undeduced || called.empty()) return "";
    const auto parameter = quoted_parts(undeduced->message.substr(undeduced->message.find("parameter")));
    const std::string name = called[0].substr(0, called[0].find('('));
    if (parameter.empty() || name.empty()) return "";
    return fmt::format(
        "{0} is a template, and its parameter {1} does not follow from the arguments: write a value for it after the "
        "name, {0}<value>(…) in a call and {0}<value><<<blocks, threads>>>(…) in a launch.",
        name, parameter[0]);
}

/// Return the types in the parentheses of a call or declaration, without references.
std::vector<std::string> types_in(const std::string& call) {
    std::vector<std::string> types;
    const std::size_t open = call.find('('), close = call.rfind(')');
    if (open == std::string::npos || close == std::string::npos) return types;
    int depth = 0;
    for (std::size_t at = open + 1, begin = at; at <= close; ++at) {
        depth += (call[at] == '<') - (call[at] == '>');
        if (at < close && (call[at] != ',' || depth > 0)) continue;
        std::string type = call.substr(begin, at - begin);
        type.erase(0, std::min(type.find_first_not_of(' '), type.size()));
        if (type.ends_with('&')) type.pop_back();
        types.push_back(type);
        begin = at + 1;
    }
    return types;
}

/// Return a sentence about the first argument with one & too many; "" if there is none.
std::string excess_address(const std::string& call, const std::string& declaration) {
    const auto given_types = types_in(call), needed = types_in(declaration);
    for (std::size_t k = 0; k < std::min(given_types.size(), needed.size()); ++k)
        if (needed[k].ends_with('*') && given_types[k] == needed[k] + "*")
            return fmt::format(
                " Argument {} is the address of a pointer, and the pointer itself is needed: omit the &.", k + 1);
    return "";
}

std::string without_const(const std::string& type) { return type.starts_with("const ") ? type.substr(6) : type; }

bool is_pointer(const std::string& type) { return type.ends_with('*'); }

bool is_number(std::string type) {
    static constexpr std::string_view names[] = {"int",          "unsigned int", "long int", "long unsigned int",
                                                 "std::size_t",  "size_t",       "char",     "unsigned char",
                                                 "std::uint8_t", "uint8_t",      "float",    "double",
                                                 "bool"};
    return std::ranges::find(names, without_const(type)) != std::end(names);
}

/// Return whether a value of one type fits a parameter of the other.
bool fits(const std::string& from, const std::string& to) {
    return without_const(from) == without_const(to) || (is_number(from) && is_number(to));
}

/// Return whether two arguments of these types are certainly swapped: each fits where the other is, and C++ does not
/// convert one into the other.
bool are_swapped(const std::string& from, const std::string& to, const std::string& other_from,
                 const std::string& other_to) {
    return fits(from, other_to) && fits(other_from, to) && !fits(from, to) &&
           (is_pointer(from) || is_pointer(other_from));
}

std::string swap_words(std::size_t first, std::size_t second) {
    return fmt::format(
        "Arguments {0} and {1} are swapped: argument {0} has the type that parameter {1} needs, and argument {1} has "
        "that of parameter {0}.",
        first, second);
}

/// Return a sentence about two arguments that are swapped; "" if there are none.
std::string swap_in_call(const std::string& call, const std::string& declaration) {
    const auto given = types_in(call), needed = types_in(declaration);
    if (given.size() != needed.size()) return "";
    for (std::size_t i = 0; i < given.size(); ++i)
        for (std::size_t j = i + 1; j < given.size(); ++j)
            if (are_swapped(given[i], needed[i], given[j], needed[j])) return " " + swap_words(i + 1, j + 1);
    return "";
}

/// Return the argument types of an atomic's candidates as words, such as "int and float", if none of them is the type
/// of the call's first argument; otherwise "".
std::string types_of_atomic(const std::string& call, const std::vector<Diagnostic>& notes) {
    const auto given = types_in(call);
    if (given.empty() || !is_pointer(given[0]) || given[0].ends_with("**")) return "";
    std::vector<std::string> types;
    for (const Diagnostic& note : notes) {
        const auto parts = quoted_parts(note.message);
        if (!contains(note.message, "candidate: ") || parts.empty() || contains(parts[0], "<")) continue;
        const auto needed = types_in(parts[0]);
        if (needed.empty() || needed[0] == given[0] || !is_pointer(needed[0])) return "";
        const std::string type = needed[0].substr(0, needed[0].size() - 1);
        if (std::ranges::find(types, type) == types.end()) types.push_back(type);
    }
    std::string words;
    for (std::size_t i = 0; i < types.size(); ++i)
        words += (i == 0 ? "" : i + 1 < types.size() ? ", " : " and ") + types[i];
    return words;
}

/// Return the remedy for an atomic that CUDA does not have for the type of its address; "" if that is not the reason.
std::string remedy_for_atomic(const Diagnostic& error, const std::vector<Diagnostic>& notes) {
    const auto called = quoted_parts(error.message);
    if (called.empty() || !called[0].starts_with("atomic")) return "";
    if (is_atomic_on_small(called[0]))
        return "CUDA does not have this atomic for 8-bit or 16-bit types. Declare the variable that it changes as int "
               "or unsigned (32 bits).";
    const std::string types = types_of_atomic(called[0], notes);
    if (types.empty()) return "";
    const std::string type = types_in(called[0])[0];
    return fmt::format("CUDA does not have {} for {}, only for {}.", called[0].substr(0, called[0].find('(')),
                       type.substr(0, type.size() - 1), types);
}

/// Return the remedy for a call whose arguments do not fit the function.
std::string remedy_for_call(const Diagnostic& error, const std::vector<Diagnostic>& notes, const std::string& source) {
    if (const Diagnostic* deduced = find_note(notes, "deduced conflicting types")) {
        const auto parts = quoted_parts(deduced->message), called = quoted_parts(error.message);
        if (parts.size() == 3 && !called.empty()) {
            const bool has_long = contains(parts[1], "long") || contains(parts[1], "size_t");
            const std::string name = called[0].substr(0, called[0].find('(')), wider = parts[has_long ? 1 : 2];
            return fmt::format(
                "The arguments have different types, {} and {}, but need the same one: write std::{}<{}>(…).", parts[1],
                parts[2], name, wider == "long unsigned int" ? std::string("std::size_t") : wider);
        }
    }
    if (const auto called = quoted_parts(error.message); !called.empty() && has_address_last(called[0]))
        return fmt::format("The arguments are swapped: the address comes first, then the value, as in {}(&sum, 1).",
                           called[0].substr(0, called[0].find('(')));
    if (const std::string of_template = remedy_for_template(error, notes); !of_template.empty()) return of_template;
    std::string declaration = declaration_in(notes, error, source);
    if (declaration.empty() && contains(error.message, " arguments to function "))
        if (const auto parts = quoted_parts(error.message); !parts.empty()) declaration = parts[0];
    if (declaration.empty()) return "Compare the call's arguments with the function's parameters, one by one.";
    if (const std::string of_atomic = remedy_for_atomic(error, notes); !of_atomic.empty()) return of_atomic;
    const auto called = quoted_parts(error.message);
    if (const std::string swap = called.empty() ? "" : swap_in_call(called[0], closest_candidate(notes, error));
        !swap.empty())
        return fmt::format("The function is declared as  {}.{}", declaration, swap);
    const std::string first =
        contains(declaration, "_sync(") ? " The first is the mask of the lanes that take part: 0xffffffff for all 32."
        : contains(declaration, "(T**") ? " The first is the address of a pointer: after float* p, write &p."
        : called.empty()                ? ""
                                        : excess_address(called[0], declaration);
    return fmt::format("The function is declared as  {}. Compare the arguments one by one.{}", declaration, first);
}

bool is_triple(const std::string& type) { return type.ends_with("dim3") || type.ends_with("uint3"); }
constexpr auto triple_words = "A value such as threadIdx or a dim3 has three parts: take one of them, .x, .y or .z.";

/// Return whether a type such as "const float4" is a vector of CUDA.
bool is_vector(std::string type) {
    if (type.starts_with("const ")) type.erase(0, 6);
    const std::size_t digit = type.empty() ? 0 : type.size() - 1;
    if (digit < 3 || type[digit] < '2' || type[digit] > '4') return false;
    type.pop_back();
    static constexpr std::string_view elements[] = {"char", "uchar", "short", "ushort", "int",      "uint",
                                                    "long", "ulong", "float", "double", "longlong", "ulonglong"};
    return std::ranges::find(elements, type) != std::end(elements);
}

/// Return the remedy for an operator whose operands do not fit.
std::string remedy_for_operator(const Diagnostic& error) {
    const auto parts = quoted_parts(error.message);
    if (std::ranges::any_of(parts, is_triple)) return triple_words;
    if (const auto vector = std::ranges::find_if(parts, is_vector); vector != parts.end()) {
        const std::string type = vector->starts_with("const ") ? vector->substr(6) : *vector;
        return fmt::format(
            "CUDA has no operators for {}: compute with its parts, {}, and make the result with "
            "make_{}(…).",
            type,
            type.back() == '4'   ? ".x, .y, .z and .w"
            : type.back() == '3' ? ".x, .y and .z"
                                 : ".x and .y",
            type);
    }
    if (std::ranges::any_of(parts, [](const std::string& type) { return type.starts_with("std::vector<"); }))
        return "A std::vector is an object, not a pointer to its first element: use .data(), or .begin() and .end().";
    const auto is_array = [](const std::string& type) { return type.ends_with(']') && contains(type, " ["); };
    if (contains(error.message, "invalid operands") && std::ranges::any_of(parts, is_array))
        return "One operand is a whole array: an array with two dimensions needs two indices, as in tile[y][x].";
    return "";
}

/// Return the number in "initializing argument 2 of ‘…’".
std::string argument_number(const std::string& note) {
    const std::size_t begin = note.find("argument ") + 9;
    return note.substr(begin, note.find(' ', begin) - begin);
}

/// A value of a wrong type. If g++ says so, it is an argument: its number, and the function.
struct Misfit {
    int line, number;
    std::string from, to, function;
};

/// Return the errors about types from `error` on, up to another kind of error.
std::vector<Misfit> misfits_from(const Diagnostic& error, const std::vector<Diagnostic>& all) {
    std::vector<Misfit> misfits;
    const auto is_error = [&](const Diagnostic& other) {
        return other.line == error.line && other.message == error.message;
    };
    for (auto at = std::ranges::find_if(all, is_error); at != all.end(); ++at) {
        const auto parts = quoted_parts(at->message);
        if (at->kind == "error") {
            if (parts.size() < 2 || !contains(at->message, "conver")) break;
            misfits.push_back({at->line, 0, parts[0], parts[1], ""});
        } else if (!misfits.empty() && !parts.empty() && contains(at->message, "initializing argument")) {
            misfits.back().number = std::atoi(argument_number(at->message).c_str());
            misfits.back().function = parts[0];
        }
    }
    return misfits;
}

/// Return the remedy for a call with several arguments that do not fit; "" if there is no such call.
std::string remedy_for_misfits(const Diagnostic& error, const std::vector<Diagnostic>& all) {
    const std::vector<Misfit> misfits = misfits_from(error, all);
    const auto named = std::ranges::find_if(misfits, [](const Misfit& misfit) { return misfit.number > 0; });
    if (misfits.size() < 2 || named == misfits.end()) return "";
    if (contains(named->function, "warplab_cpu") || contains(named->function, "dim3::dim3(")) return "";
    const Misfit &first = misfits[0], &second = misfits[1];
    const std::string opening =
        fmt::format("The function is declared as  {}. ", without_internal_names(named->function));
    if (first.function == second.function && first.number < second.number &&
        are_swapped(first.from, first.to, second.from, second.to))
        return opening + swap_words(static_cast<std::size_t>(first.number), static_cast<std::size_t>(second.number));
    const auto needed = types_in(named->function);
    const auto is_argument = [&](const Misfit& misfit) {
        return misfit.line == error.line && (misfit.function.empty() || misfit.function == named->function) &&
               std::ranges::find(needed, misfit.to) != needed.end();
    };
    if (!is_argument(first) || !is_argument(second)) return "";
    return opening + "Several arguments have other types than the parameters: are they in the same order?";
}

/// Return the remedy for a value of one type where another is needed.
std::string remedy_for_conversion(const Diagnostic& error, const std::vector<Diagnostic>& notes) {
    const auto types = quoted_parts(error.message);
    if (types.size() < 2) return "";
    const std::string &from = types[0], &to = types[1];
    if (contains(from, "cudaStream_t") && !contains(to, "cudaStream_t"))
        return "A launch takes its stream as the fourth argument; the third is the bytes of dynamic shared memory: "
               "<<<blocks, threads, 0, stream>>>.";
    std::string context;
    bool is_argument = false;
    if (const Diagnostic* note = find_note(notes, "initializing argument")) {
        const auto parts = quoted_parts(note->message);
        if (!parts.empty() && contains(parts[0], "dim3::dim3("))
            context = "Give the blocks and the threads of a launch as numbers or as dim3. ";
        else if (!parts.empty() && !contains(parts[0], "warplab_cpu") && (is_argument = true))
            context = fmt::format("This is argument {} of  {}. ", argument_number(note->message),
                                  without_internal_names(parts[0]));
    }
    if (is_triple(from)) return context + triple_words;
    if (from == "void*" && is_pointer(to))
        return context + fmt::format("Convert it explicitly: static_cast<{}>(…).", to);
    if (from == "const " + to && to == "void*")
        return context +
               "The destination is const, so it cannot be written. Pass the destination first, then the source.";
    if (from == "const " + to && is_argument)
        return context +
               "What it points to is const, and the function may write to it: are the arguments in the order of "
               "the parameters? If they are, and the function only reads it, declare the parameter as " +
               from + ".";
    if (from == "const " + to)
        return context + fmt::format("It points to const data: declare the pointer as {}.", from);
    if (is_pointer(from) && is_pointer(to))
        return context + fmt::format(
                             "The pointers have different types: declare the array with elements of that type, as "
                             "for {}, or the other way round.",
                             to);
    if (is_pointer(from) && !is_pointer(to))
        return context +
               "A value is needed here, but this is a pointer: use an element, such as p[i], or *p for the first.";
    if (from.starts_with("std::vector<") && is_pointer(to))
        return context + "A std::vector is an object: its member data() returns the pointer to its first element.";
    if (!is_pointer(from) && is_pointer(to))
        return context +
               "A pointer is needed here, but this is a value: use the array's name, or write & before a variable.";
    return context + fmt::format("Declare the variable as {}, or use a value of type {}.", from, to);
}

/// Return "image" for the bracket at `column` of "image[r][c]"; "" if it is not clear.
std::string subscripted_name(const std::string& line, int column) {
    if (column < 1 || static_cast<std::size_t>(column) > line.size()) return "";
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    std::size_t end = static_cast<std::size_t>(column) - (line[static_cast<std::size_t>(column) - 1] == '[');
    while (end > 0 && line[end - 1] == ']') {
        int depth = 0;
        do {
            --end;
            depth += (line[end] == ']') - (line[end] == '[');
        } while (end > 0 && depth > 0);
    }
    std::size_t begin = end;
    while (begin > 0 && is_word(line[begin - 1])) --begin;
    return line.substr(begin, end - begin);
}

std::string remedy_for_subscript(const Diagnostic& error, const std::string& source) {
    if (contains(error.message, "[float]") || contains(error.message, "[double]"))
        return "An index is a whole number, and this one is a float or double: declare it as std::size_t, int or "
               "unsigned.";
    const auto types = quoted_parts(error.message);
    if (!types.empty() && types[0].ends_with("*]"))
        return "The index is a pointer, but must be a whole number: take one element of what it points to.";
    const std::string name = subscripted_name(source_line(source, error.line), error.column);
    if (name.empty()) return "There is one [ ] too many: only pointers and arrays can be indexed.";
    return fmt::format(
        "{0}[…] is already a value: a pointer has one index, not two. Element c of row r is {0}[r * columns + c], "
        "where columns is the number of elements from one row to the next.",
        name);
}

/// Return the last line before line `number` that contains code, or 0.
int line_before(const std::string& source, int number) {
    while (--number > 0) {
        const std::string line = source_line(source, number);
        const std::size_t first = line.find_first_not_of(" \t");
        if (first != std::string::npos && line.compare(first, 2, "//") != 0) break;
    }
    return number;
}

/// Return whether the line begins with a launch such as `ns::k<<<`.
bool begins_with_launch(const std::string& line) {
    const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':'; };
    const std::string before = line.substr(0, line.find("<<<"));
    return std::ranges::all_of(before.substr(std::min(before.find_first_not_of(" \t"), before.size())), is_name);
}

/// Return the header of the `for` that begins in a line, and the rest of the line after it; "" and "" if none begins
/// there.
std::pair<std::string, std::string> header_of_for(const std::string& line) {
    std::size_t open = line.find("for (");
    if (open == std::string::npos) open = line.find("for(");
    if (open == std::string::npos || (open > 0 && is_word_character(line[open - 1]))) return {};
    open = line.find('(', open);
    int depth = 0;
    for (std::size_t at = open; at < line.size(); ++at) {
        depth += (line[at] == '(') - (line[at] == ')');
        if (depth > 0) continue;
        const std::size_t body = std::min(line.find_first_not_of(" \t\r", at + 1), line.size());
        return {line.substr(open, at - open), line.substr(body)};
    }
    return {};
}

/// Return the remedy for a missing semicolon. The semicolon belongs at the end of the previous line only if the
/// reported token begins its line.
std::string remedy_for_semicolon(const Diagnostic& error, const std::string& source) {
    const std::string line = source_line(source, error.line);
    if (const std::string header = header_of_for(line).first;
        contains(header, ",") && std::ranges::count(header, ';') < 2 && !contains(header, ":"))
        return "Semicolons separate the three parts of a loop: for (…; …; …).";
    const std::size_t column = error.column > 0 ? static_cast<std::size_t>(error.column) - 1 : 0;
    const std::string remaining = line.substr(std::min(line.find_first_not_of(" \t", column), line.size()));
    if (remaining.empty() || remaining.starts_with("//"))
        return fmt::format("The semicolon at the end of line {} is missing.", error.line);
    const bool is_launch = contains(error.message, "before the launch");
    const bool begins_line = is_launch ? begins_with_launch(line)
                                       : line.find_first_not_of(" \t") >= column;  // even if the column is unknown
    const int before = line_before(source, error.line);
    if (begins_line && before > 0)
        return fmt::format("Probably, the semicolon at the end of line {} is missing.", before);
    return "Is an operator, a comma, a semicolon or a bracket missing just before this point?";
}

/// Return a sentence about the macro that contains the wrong name, if the error's line only uses this macro; "" if not.
std::string place_in_macro(const std::vector<Diagnostic>& notes, const Diagnostic& error) {
    const Diagnostic* note = find_note(notes, "definition of macro");
    const auto name = note ? quoted_parts(note->message) : std::vector<std::string>();
    if (name.empty() || note->file != error.file) return "";
    return fmt::format(" It is in the macro {}, on line {}.", name[0], note->line);
}

/// Return the remedy for an error at a use of a macro such as `#define BLOCK 256;`; "" if it is another error.
std::string remedy_for_macro(const Diagnostic& error, const std::vector<Diagnostic>& notes, const std::string& source) {
    if (!contains(error.message, "‘;’ token") && !contains(error.message, "before ‘]’") &&
        !contains(error.message, "before ‘)’"))
        return "";
    for (const Diagnostic& note : notes) {
        if (!contains(note.message, "in definition of macro") && !contains(note.message, "in the definition of macro"))
            continue;
        const auto name = quoted_parts(note.message);
        std::string line = source_line(source, note.line);
        line.erase(std::min(line.find("//"), line.size()));
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (note.file == error.file && line.starts_with("#") && line.ends_with(';') && !name.empty())
            return fmt::format(
                "Line {} defines {} with a semicolon at its end, so every use of {} has this semicolon, too: "
                "remove it.",
                note.line, name[0], name[0]);
    }
    return "";
}

bool declares(const std::string& header, const std::string& name) {
    const std::string first = header.substr(0, header.find(';'));
    const std::size_t at = first.find(" " + name);
    return at != std::string::npos && at > 1 && first.find_first_of("={(:", at) != std::string::npos &&
           !is_word_character(first[at + 1 + name.size()]);
}

/// Return the remedy for a variable of a loop that is used after the loop's only statement; "" if it is another error.
std::string remedy_for_ended_loop(const Diagnostic& error, const std::string& source) {
    constexpr int max_lines = 12;
    const auto name = quoted_parts(error.message);
    for (int number = error.line; !name.empty() && number > std::max(0, error.line - max_lines); --number) {
        const auto [header, rest] = header_of_for(source_line(source, number));
        if (!declares(header, name[0])) continue;
        if (rest.starts_with(';'))
            return fmt::format(
                "The ; after the ) of line {} is the whole body of that loop, so its variable {} does not exist after "
                "it: remove this ;.",
                number, name[0]);
        if (rest.starts_with('{')) return "";
        return fmt::format(
            "{0} belongs to the loop of line {1}, which has ended here: without {{ }}, the loop has only one "
            "statement. Enclose the whole body in {{ }}.",
            name[0], number);
    }
    return "";
}

/// Return the remedy for a call of a non-const member function on a const object.
std::string remedy_for_const_object(const std::vector<Diagnostic>& notes, const Diagnostic& error,
                                    const std::string& source) {
    const Diagnostic* note = find_note(notes, "in call to ");
    if (!note || note->file != error.file) return "A const object can only be passed where nothing changes it.";
    std::string line = source_line(source, note->line);
    const std::size_t close = line.rfind(')', line.find('{')), begin = line.find_first_not_of(" \t");
    const std::string declaration =
        close == std::string::npos || begin > close ? "" : ": " + line.substr(begin, close + 1 - begin) + " const";
    return fmt::format(
        "The object is const, so only its const member functions can be called. If the function of line {} changes no "
        "member, declare it const{}.",
        note->line, declaration);
}

/// Return the argument in the < > of a call such as "k<(n == 3)>(float*&)", without parentheses around it; "…" if there
/// are several.
std::string template_argument_in(const std::string& call) {
    const std::size_t open = call.find('<'), close = call.find(">(");
    if (open == std::string::npos || close == std::string::npos || close <= open) return "…";
    const std::string argument = call.substr(open + 1, close - open - 1);
    if (contains(argument, ",") || argument.size() > 40) return "…";
    const bool is_enclosed = argument.starts_with('(') && argument.find(')') + 1 == argument.size();
    return is_enclosed ? argument.substr(1, argument.size() - 2) : argument;
}

/// Return the remedy for a template's argument that is known only at run time; "" if it is another error.
std::string remedy_for_template_argument(const Diagnostic& error, const std::vector<Diagnostic>& all,
                                         const std::string& line) {
    const auto find_on_line = [&](auto... words) {
        return std::ranges::find_if(all, [&](const Diagnostic& other) {
            return other.line == error.line && other.file == error.file && (contains(other.message, words) || ...);
        });
    };
    const auto reason = find_on_line("is not a constant expression", "is not usable in a constant expression");
    const auto note = find_on_line("in template argument for type");
    if (reason == all.end() || note == all.end()) return "";
    const auto variable = quoted_parts(reason->message), call = quoted_parts(error.message),
               type = quoted_parts(note->message);
    if (variable.empty()) return "";
    const std::string opening = fmt::format(
        "A template's argument must be a constant, and {} is known only at run time. If its value is always the same, "
        "declare it constexpr.",
        variable[0]);
    if (!contains(error.message, "no matching function for call") || call.empty()) return opening;
    const std::string name = call[0].substr(0, call[0].find('<')), argument = template_argument_in(call[0]);
    const std::string from_name = line.substr(std::min(line.find(name + "<"), line.size()));
    const std::string launch = from_name.find("<<<") < from_name.find(">(") ? "<<<…>>>(…)" : "(…)";
    const std::string remedy = opening + " Otherwise, write a call or launch for each value, and choose with if";
    if (argument == "…") return remedy + ".";
    if (!type.empty() && type[0] == "bool")
        return remedy + fmt::format(": if ({0}) {1}<true>{2}; else {1}<false>{2};", argument, name, launch);
    return remedy + fmt::format(", as in  if ({0} == 8) {1}<8>{2};", argument, name, launch);
}

/// Return whether the text before a { begins the definition of a type, such as "template <int n> struct Tile ".
bool heads_type(std::string head) {
    head.erase(head.find_last_not_of(" \t\r\n") + 1);
    head.erase(0, std::min(head.find_first_not_of(" \t\r\n"), head.size()));
    if (head.starts_with("template")) head.erase(0, std::min(head.find('>'), head.size()));
    if (head.ends_with(')') || contains(head, "=")) return false;
    return contains(head, "struct ") || contains(head, "class ") || contains(head, "enum ") || contains(head, "union ");
}

/// Return the position of the { that belongs to the } at `close`; npos if there is none.
std::size_t opening_brace(const std::string& code, std::size_t close) {
    int depth = 1;
    for (std::size_t at = close; at-- > 0;)
        if ((depth += (code[at] == '}') - (code[at] == '{')) == 0) return at;
    return std::string::npos;
}

/// Return the remedy if the definition of a type without a semicolon at its end precedes the error, or begins in its
/// line; "" if not. The next declaration is then part of the type's.
std::string remedy_for_ended_type(const Diagnostic& error, const std::string& source) {
    const std::string code = without_comments(source);
    std::size_t at = 0;
    for (int number = 1; number < error.line; ++number) at = code.find('\n', at) + 1;
    if (contains(error.message, "new types may not be defined")) {
        at = code.find("\n}", at);
        if (at != std::string::npos) at += 2;
    }
    const std::size_t close = code.find_last_not_of(" \t\r\n", at - std::min<std::size_t>(at, 1));
    if (at > code.size() || close == std::string::npos || code[close] != '}') return "";
    const std::size_t open = opening_brace(code, close);
    if (open == std::string::npos || open == 0) return "";
    const std::size_t before = code.find_last_of(";{}", open - 1);
    if (!heads_type(code.substr(before + 1, open - before - 1))) return "";  // npos + 1 is 0
    return fmt::format("The semicolon after the }} in line {} is missing: the definition of a type ends with }};",
                       1 + std::count(code.begin(), code.begin() + static_cast<long>(close), '\n'));
}

/// The declaration of a const variable, and its line.
struct ConstDeclaration {
    std::string text;
    int line = 0;
};

/// Return a declaration of the variable in a line if it has the word const, and whether the line declares the variable.
std::pair<std::string, bool> const_in(const std::string& line, const std::string& name) {
    for (std::size_t at = line.rfind(name); at != std::string::npos && at > 0; at = line.rfind(name, at - 1)) {
        const std::size_t end = at + name.size(), before = line.find_last_of("(,;{}=+-/%<>[&|!?:.", at - 1);
        if (is_word_character(line[at - 1]) || (end < line.size() && is_word_character(line[end]))) continue;
        const std::size_t begin = line.find_first_not_of(" \t", before + 1);  // npos + 1 is 0
        const std::string type = line.substr(begin, at - begin);
        if (type.empty() || !is_word_character(type[0]) || type.starts_with("return ")) continue;
        if (contains(type, "const ") || contains(type, "const* ")) return {line.substr(begin, end - begin), true};
        if (is_word_character(type[type.find_last_not_of(' ')])) return {"", true};
    }
    return {"", false};
}

/// Return the last declaration of a variable up to a line if it has the word const; no text if it does not, or if it is
/// not found.
ConstDeclaration find_const(const std::string& name, const std::string& source, int up_to) {
    const std::string code = without_comments(source);
    std::vector<std::size_t> begins = {0};
    for (int number = 1; number < up_to; ++number) begins.push_back(code.find('\n', begins.back()) + 1);
    for (int number = up_to; number > 0; --number) {
        const std::size_t begin = begins[static_cast<std::size_t>(number) - 1];
        const auto [text, is_declared] = const_in(code.substr(begin, code.find('\n', begin) - begin), name);
        if (is_declared) return {text, number};
    }
    return {};
}

/// Return the remedy for a change of something that is const.
std::string remedy_for_read_only(const Diagnostic& error, const std::string& source) {
    const std::string question = "Did you mean the output, or one of your own variables?";
    const auto parts = quoted_parts(error.message);
    std::string name = parts.empty() || contains(error.message, "member ") ? "" : parts[0];
    name.erase(0, std::min(name.find_first_not_of("*( "), name.size()));
    name.erase(static_cast<std::size_t>(std::ranges::find_if_not(name, is_word_character) - name.begin()));
    const ConstDeclaration found = name.empty() ? ConstDeclaration{} : find_const(name, source, error.line);
    if (found.text.empty()) return "It is const: it can only be read. " + question;
    return fmt::format(
        "{0} is declared in line {1} as {2}: because of the const, it can only be read. {3} If {0} is to be written, "
        "omit this const.",
        name, found.line, found.text, question);
}

/// Return the remedy for a __shared__ variable that is too large.
std::string remedy_for_shared_size(const std::vector<Diagnostic>& notes, const std::string& line) {
    const Diagnostic* note = find_note(notes, "the comparison reduces to");
    const auto comparison = note ? quoted_parts(note->message) : std::vector<std::string>();
    if (comparison.empty()) return "";
    const std::string bytes = comparison[0].substr(std::min<std::size_t>(comparison[0].starts_with('('), 1));
    return fmt::format("This one has {} bytes.{}", bytes.substr(0, bytes.find(' ')),
                       contains(line, "[") ? " The number in [ ] counts elements, not bytes." : "");
}

constexpr auto needs_cpp20 =
    "The judge compiles C++17, as nvcc does by default. If this line needs C++20, write it in C++17.";

/// Return the header that a line includes with <…>, "" if it includes none.
std::string_view header_in(std::string_view line) {
    for (const std::string_view part : {"#", "include", "<"}) {
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        if (!line.starts_with(part)) return "";
        line.remove_prefix(part.size());
    }
    return line.substr(0, line.find('>'));
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

bool includes_cpp20(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        if (is_one_of(header_in(text.substr(0, end)),
                      {"barrier", "bit", "compare", "concepts", "coroutine", "format", "latch", "numbers", "ranges",
                       "semaphore", "source_location", "span", "stop_token"}))
            return true;
        text.remove_prefix(end);
    }
    return false;
}

bool has_word_of_cpp20(std::string_view line) {
    if (line.find("<=>") != std::string_view::npos) return true;
    for (std::size_t at = 0, end; at < line.size(); at = end + 1) {
        for (end = at; end < line.size() && is_word_character(line[end]);) ++end;
        if (is_one_of(line.substr(at, end - at), {"concept", "requires", "consteval", "constinit", "co_await",
                                                  "co_yield", "co_return", "jthread", "ssize"}))
            return true;
    }
    return false;
}

}  // namespace

std::string remedy_for(const Diagnostic& error, const std::vector<Diagnostic>& all, const std::string& source) {
    const std::string& message = error.message;
    const auto says = [&](auto... words) { return (contains(message, words) || ...); };
    const std::vector<Diagnostic> notes = notes_of(error, all);
    const std::string line = source_line(source, error.line);
    if (says("-std=c++20") || has_word_of_cpp20(line) || includes_cpp20(line)) return needs_cpp20;
    if (says("No such file or directory", "Permission denied", "cannot open source file"))
        return "A hand-in is one file. It can include lab.h, cuda_runtime.h and the headers of C and C++.";
    if (says("stray ‘\\", "extended character"))
        return "C++ does not have this character. Is it a typographic quote or dash, or is the file not saved as "
               "UTF-8?";
    if (const std::string of_macro = remedy_for_macro(error, notes, source); !of_macro.empty()) return of_macro;
    if (says("discards qualifiers")) return remedy_for_const_object(notes, error, source);
    if (says("at end of input")) return "A brace or a parenthesis is opened and never closed.";
    if (says("expected ‘;’", "or ‘;’ before", "expected a \";\"")) return remedy_for_semicolon(error, source);
    if (says("‘CUDA_CHECK’ was not declared"))
        return "CUDA_CHECK is in the lab's header: #include \"labs/<lab>/lab.h\".";
    if (says("was not declared in this scope", "is undefined"))
        if (const std::string of_loop = remedy_for_ended_loop(error, source); !of_loop.empty()) return of_loop;
    if (says("was not declared in this scope", "is undefined"))
        return "Is the name spelled as in its declaration, and is it declared above this line?" +
               place_in_macro(notes, error);
    if (says("conflicting declaration", "redeclaration of"))
        return "The name has two declarations: make them the same, or rename one.";
    if (says("expected initializer before ‘+=’", "expected initializer before ‘-=’",
             "expected initializer before ‘*=’"))
        return "With its type, this line declares a new variable. To change the existing one, omit the type.";
    if (says("expected initializer before", "new types may not be defined in a return type",
             "two or more data types in declaration"))
        if (const std::string of_type = remedy_for_ended_type(error, source); !of_type.empty()) return of_type;
    if (says("a __shared__ variable has at most")) return remedy_for_shared_size(notes, line);
    if (says("expected unqualified-id before ‘for’", "expected unqualified-id before ‘if’",
             "expected unqualified-id before ‘while’", "expected unqualified-id before ‘do’",
             "expected unqualified-id before ‘return’", "expected unqualified-id before ‘switch’",
             "expected declaration before ‘}’"))
        return "This line is outside every function: one of the lines above it has one } too many, or a { is missing "
               "there, so that the function ends too early.";
    if (says("‘else’ without a previous ‘if’"))
        return "The if before it has ended already: is there a ; directly after its condition, or are there several "
               "statements without { }?";
    if (says("expected unqualified-id before numeric constant"))
        return "A number, or a macro that stands for one, is where a new variable's name should be. Several values for "
               "one variable need parentheses, as in dim3 threads(32, 8).";
    if (says("is not captured"))
        return "A lambda can use a variable of the function around it only if it captures it: begin with [&], or with "
               "[=] for copies.";
    if (says("base operand of ‘->’")) return "This is an object, not a pointer: write a dot in place of ->.";
    if (says("no matching function for call", "is not a constant expression", "is not usable in a constant expression"))
        if (const std::string of_template = remedy_for_template_argument(error, all, line); !of_template.empty())
            return of_template;
    if (says("expected ‘(’ before"))
        return "Write a condition in parentheses: if (…), while (…), for (…; …; …). A call's arguments need them, too.";
    if (says("assignment of read-only", "increment of read-only", "decrement of read-only"))
        return remedy_for_read_only(error, source);
    if (says("in read-only object"))
        return "The object is const, or this is a const member function: its members can only be read.";
    if (says("void value not ignored", "invalid use of void"))
        return contains(source_line(source, error.line), "<<<")
                   ? "A launch has no value: write it as a separate statement, and CUDA_CHECK(cudaGetLastError()); "
                     "after it."
                   : "Kernels and void functions return nothing: they write their results through a pointer.";
    if (says("return-statement with a value, in function returning ‘void’"))
        return "A kernel returns nothing: it stores its result through a pointer. A __device__ function can return a "
               "value, of the type that stands before its name.";
    if (says("uninitialized ‘const ") && contains(line, "__constant__"))
        return "The host sets a __constant__ variable with cudaMemcpyToSymbol, so do not declare it const.";
    if (says("’ is not a member of ‘std’"))
        return "Is its header included, and is the name spelled correctly? Kernels can use almost nothing of std.";
    if (says("expected ‘:’ before")) return "The operator ? : needs two values: condition ? one : other.";
    if (says("is ambiguous")) return "The arguments have different types: cast one to the type of the other.";
    if (says("no match for ‘operator", "invalid operands of types")) return remedy_for_operator(error);
    if (says("for array subscript")) return remedy_for_subscript(error, source);
    if (says("invalid conversion", "cannot convert")) {
        const std::string of_call = remedy_for_misfits(error, all);
        return of_call.empty() ? remedy_for_conversion(error, notes) : of_call;
    }
    const std::string returned = line.substr(std::min(line.find("return "), line.size()));
    if (says("could not convert") && contains(returned, ",") && !contains(returned, "{"))
        return "return takes one value, and of values separated by commas only the last one counts. To return an "
               "object by its members, write braces: return {…, …};";
    if (says("too few arguments", "too many arguments", "no matching function for call",
             "is incompatible with parameter"))
        return remedy_for_call(error, notes, source);
    return includes_cpp20(source) ? needs_cpp20 : "";
}

}  // namespace warplab::compilation
