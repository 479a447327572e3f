#include "grader/judge/compile/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "grader/common/nearest.h"
#include "grader/common/text.h"
#include "grader/judge/compile/hand_in.h"
#include "grader/model/cause.h"

namespace warplab::compilation {
namespace {

/// Return the first quoted part of a message of g++ or nvcc.
std::string first_quoted(const std::string& message) {
    const std::string open = "‘", close = "’";
    if (const std::size_t at = message.find(open); at != std::string::npos)
        return message.substr(at + open.size(), message.find(close, at) - at - open.size());
    const std::size_t at = message.find('"');
    return at == std::string::npos ? "" : message.substr(at + 1, message.find('"', at + 1) - at - 1);
}

/// Return "f" for "void f(int)", for "f(int)" and for "int f".
std::string declared_function(const std::string& declaration) {
    std::size_t end = declaration.find('(');
    if (end == std::string::npos) end = declaration.size();
    std::size_t begin = end;
    while (begin > 0 && declaration[begin - 1] == ' ') --begin, --end;
    while (begin > 0 && (is_word_character(declaration[begin - 1]) || declaration[begin - 1] == ':')) --begin;
    return declaration.substr(begin, end - begin);
}

std::string at_line(const std::string& source, const std::string& name) {
    const int line = line_of_call(source, name);
    return line > 0 ? fmt::format(" (line {})", line) : "";
}

/// Return the name by which the student's file calls a symbol: the CPU backend renames some functions (seen.h).
std::string name_in_file(const std::string& symbol) {
    constexpr std::string_view hook = "warplab_seen_";
    return symbol.starts_with(hook) ? symbol.substr(hook.size()) : symbol;
}

Failure reserved_name(const std::string& name, const std::string& place) {
    return {cause::reserved_symbol,
            fmt::format("The file defines {}{}, a name that belongs to CUDA or the grader.", name, place),
            "Give it another name."};
}

std::string printable(std::string name) {
    for (char& c : name)
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
    return name;
}

/// Return the names of the runtime's functions, without arguments: the backend's functions may have one argument more
/// than CUDA's, for the caller's line.
std::set<std::string> runtime_functions(const Contract& contract) {
    std::set<std::string> functions;
    for (const std::string& name : contract.reserved)
        if (name.starts_with("cuda")) functions.insert(Symbol{'T', name}.function());
    return functions;
}

std::optional<Failure> find_reserved(const std::vector<Symbol>& symbols, const Contract& contract,
                                     const std::string& source) {
    const std::set<std::string> of_runtime = runtime_functions(contract);
    for (const Symbol& symbol : symbols) {
        if (symbol.kind == 'i')
            return Failure{cause::compile_error,
                           fmt::format("{} is chosen while the program starts (an indirect function, ifunc).",
                                       printable(symbol.name)),
                           "Define it as an ordinary function."};
        if (!symbol.defined_strongly()) continue;
        if (symbol.name == "main")
            return Failure{cause::own_main,
                           fmt::format("The file defines main{}; the grader has a main that calls {}.",
                                       at_line(source, "main"), contract.function),
                           "Remove main. To experiment, keep it in another file."};
        if (contract.reserved.count(symbol.name) || of_runtime.count(symbol.function()))
            return reserved_name(name_in_file(symbol.name), at_line(source, name_in_file(symbol.function())));
    }
    return std::nullopt;
}

bool defines(const std::vector<Symbol>& symbols, const std::string& signature) {
    return std::ranges::any_of(symbols, [&](const Symbol& symbol) {
        return symbol.name == signature && (symbol.defined_strongly() || symbol.kind == 'W');
    });
}

bool is_defined(const Symbol& symbol) { return symbol.defined_strongly() || symbol.kind == 'W' || symbol.kind == 't'; }

/// Find a definition with the same name and different parameters.
const Symbol* find_overload(const std::vector<Symbol>& symbols, const std::string& signature) {
    const std::string function = signature.substr(0, signature.find('('));
    for (const Symbol& symbol : symbols)
        if (is_defined(symbol) && symbol.function() == function && symbol.name != signature) return &symbol;
    return nullptr;
}

std::vector<std::string> function_names(const std::vector<Symbol>& symbols) {
    std::vector<std::string> names;
    for (const Symbol& symbol : symbols)
        if (symbol.kind == 'T') names.push_back(symbol.function());
    return names;
}

Failure missing_function(const std::vector<Symbol>& symbols, const Contract& contract, const std::string& source) {
    Failure failure{cause::missing_function, fmt::format("The file does not define {}.", contract.function),
                    fmt::format("The grader calls: {}", contract.declaration)};
    for (const Symbol& symbol : symbols)
        if (is_defined(symbol) && symbol.function().ends_with("::" + contract.function)) {
            failure.message = fmt::format("The file defines {} inside a namespace{}, where the grader cannot call it.",
                                          contract.function, at_line(source, contract.function));
            failure.hint = "Move it out of the namespace.";
            return failure;
        }
    if (line_of_call(source, contract.function) > 0)
        failure.message += fmt::format(" The name is in line {}, but that line is not a compiled definition.",
                                       line_of_call(source, contract.function));
    else if (const std::string near = nearest(contract.function, function_names(symbols)); !near.empty())
        failure.message += fmt::format(" It defines {}{}: is that the function?", near, at_line(source, near));
    return failure;
}

/// Return whether a section is on the allow list, which has the sections that g++ and nvcc write for code, data,
/// debugging and unwinding. A linker interprets only names that begin with a dot. The list omits .preinit_array, in
/// which the runner reads its orders.
bool is_ordinary_section(std::string_view name) {
    if (!name.starts_with('.')) return true;
    static constexpr const char* beginnings[] = {
        ".text",           ".data",  ".rodata",   ".bss",         ".tdata",       ".tbss",    ".ldata",
        ".lrodata",        ".lbss",  ".nv",       ".init_array",  ".fini_array",  ".ctors",   ".dtors",
        ".rela.",          ".rel.",  ".eh_frame", ".gcc_except_", ".note.GNU-st", ".debug_",  ".comment",
        ".note.gnu.prope", ".group", ".symtab",   ".strtab",      ".sframe",      ".shstrtab"};
    return std::ranges::any_of(beginnings, [&](const char* beginning) { return name.starts_with(beginning); });
}

}  // namespace

int line_of_call(const std::string& source, const std::string& name, Occurrence occurrence) {
    const std::string text = without_comments(source);
    int line = 0, lines = 1;
    std::size_t counted = 0;
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        if (at > 0 && is_word_character(text[at - 1])) continue;
        const std::size_t next = text.find_first_not_of(" \t\n", at + name.size());
        if (next == std::string::npos || text[next] != '(') continue;
        lines += static_cast<int>(
            std::count(text.begin() + static_cast<long>(counted), text.begin() + static_cast<long>(at), '\n'));
        counted = at;
        line = lines;
        if (occurrence == Occurrence::first) break;
    }
    return line;
}

Failure wrong_signature(const Contract& contract, const std::string& signature) {
    return {cause::wrong_signature, fmt::format("{} is defined as  {}", contract.function, signature),
            fmt::format("It must be exactly:  {}", contract.declaration)};
}

std::optional<Failure> find_breach(const std::string& error, const std::string& line, int number,
                                   const Contract& contract) {
    const auto says = [&](const char* words) { return error.find(words) != std::string::npos; };
    if (!says("conflicting declaration") && !says("ambiguating new declaration") && !says("and later ‘static’") &&
        !says("different kind of entity") && !says("redefinition of") && !says("distinguished by return type") &&
        !says("incompatible with previous") && !says("incompatible with declaration") &&
        !says("has already been defined"))
        return std::nullopt;
    std::string declared = first_quoted(error), linkage;
    if (declared.find('(') == std::string::npos) declared = line.substr(0, line.find('{'));  // nvcc gives less detail
    const std::string function = declared_function(declared);
    if (function == contract.function) {
        if (says("‘C’ linkage")) linkage = "extern \"C\" ";
        if (says("and later ‘static’")) linkage = "static ";
        return wrong_signature(contract, fmt::format("{}{} (line {})", linkage, declared, number));
    }
    for (const std::string& name : contract.reserved)
        if (name.substr(0, name.find('(')) == function)
            return reserved_name(function, fmt::format(" (line {})", number));
    return std::nullopt;
}

std::optional<Failure> find_section_breach(std::string_view name) {
    if (is_ordinary_section(name)) return std::nullopt;
    return Failure{cause::compile_error,
                   fmt::format("The file puts data into the section \"{}\", which changes how the program is linked "
                               "or started.",
                               printable(std::string(name))),
                   "Remove the attribute or the asm statement that names this section."};
}

std::optional<Failure> find_breach(const std::vector<Symbol>& symbols, const Contract& contract,
                                   const std::string& source) {
    if (auto reserved = find_reserved(symbols, contract, source)) return reserved;
    if (!defines(symbols, contract.signature)) {
        const Symbol* overload = find_overload(symbols, contract.signature);
        if (!overload) return missing_function(symbols, contract, source);
        Failure failure = wrong_signature(contract, overload->name + at_line(source, contract.function));
        if (overload->name == contract.function) failure.message += ", with C linkage (extern \"C\")";
        return failure;
    }
    for (const std::string& optional : contract.optional)
        if (const Symbol* overload = find_overload(symbols, optional); overload && !defines(symbols, optional))
            return Failure{cause::wrong_signature,
                           fmt::format("{} is defined as  {}{}, which the grader would not call.", overload->function(),
                                       overload->name, at_line(source, overload->function())),
                           fmt::format("It must be  {}  (see lab.h).", optional)};
    return std::nullopt;
}

}  // namespace warplab::compilation
