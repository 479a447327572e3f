#include "grader/judge/predict/hook_calls.h"

#include <elf.h>

#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "grader/judge/predict/effort.h"

namespace warplab::predict {
namespace {

constexpr std::string_view functions_of_runtime[] = {
    "note_barrier", "note_fence",   "note_block_fence", "block_vote",     "warp_barrier",
    "warp_ballot",  "warp_shuffle", "warp_match_any",   "warp_match_all", "warp_reduce"};

/// Reads structures from a file that may be damaged.
class Bytes {
  public:
    explicit Bytes(std::string_view all) : all_(all) {}
    template <class T>
    bool read(std::uint64_t at, T& value) const {
        if (at > all_.size() || all_.size() - at < sizeof value) return false;
        std::memcpy(&value, all_.data() + at, sizeof value);
        return true;
    }
    std::string_view part(std::uint64_t at, std::uint64_t bytes) const {
        return at > all_.size() || bytes > all_.size() - at ? std::string_view() : all_.substr(at, bytes);
    }
    std::string_view text(std::uint64_t at, std::uint64_t end) const {
        const std::string_view rest = at < end ? part(at, end - at) : std::string_view();
        return rest.substr(0, rest.find('\0'));
    }

  private:
    std::string_view all_;
};

struct Symbol {
    std::string_view name;
    std::uint64_t address, bytes;
};

struct Executable {
    std::vector<Symbol> functions;
    std::vector<Elf64_Phdr> segments;
    unsigned machine = EM_NONE;

    /// Return the bytes at an address of the program.
    std::string_view code(const Bytes& file, std::uint64_t address, std::uint64_t bytes) const {
        for (const Elf64_Phdr& segment : segments)
            if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
                address - segment.p_vaddr < segment.p_filesz && bytes <= segment.p_filesz - (address - segment.p_vaddr))
                return file.part(segment.p_offset + (address - segment.p_vaddr), bytes);
        return {};
    }
};

void read_symbols(const Bytes& file, const Elf64_Shdr& table, const Elf64_Shdr& names, Executable& executable) {
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        if (!file.read(table.sh_offset + at, symbol)) return;
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
        const std::string_view name = file.text(names.sh_offset + symbol.st_name, names.sh_offset + names.sh_size);
        executable.functions.push_back({name, symbol.st_value, symbol.st_size});
    }
}

Executable read_executable(const Bytes& file) {
    Executable executable;
    Elf64_Ehdr header;
    if (!file.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return executable;
    executable.machine = header.e_machine;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        if (file.read(header.e_phoff + i * std::uint64_t{sizeof segment}, segment))
            executable.segments.push_back(segment);
    }
    const auto section = [&](std::uint64_t number, Elf64_Shdr& found) {
        return number < header.e_shnum && file.read(header.e_shoff + number * sizeof found, found);
    };
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr table, names;
        if (section(i, table) && table.sh_type == SHT_SYMTAB && section(table.sh_link, names))
            read_symbols(file, table, names, executable);
    }
    return executable;
}

/// A call in machine code: its return address and its target, relative to the beginning of the code.
struct Call {
    std::uint64_t after;
    std::int64_t target;
};

std::vector<Call> calls_in(std::string_view code, unsigned machine) {
    std::vector<Call> calls;
    if (machine == EM_X86_64) {
        for (std::size_t at = 0; at + 5 <= code.size(); ++at) {
            if (static_cast<unsigned char>(code[at]) != 0xE8) continue;
            std::int32_t distance;
            std::memcpy(&distance, code.data() + at + 1, sizeof distance);
            calls.push_back({at + 5, static_cast<std::int64_t>(at) + 5 + distance});
        }
    } else if (machine == EM_AARCH64) {
        for (std::size_t at = 0; at + 4 <= code.size(); at += 4) {
            std::uint32_t word;
            std::memcpy(&word, code.data() + at, sizeof word);
            if (word >> 26 != 0x25) continue;  // BL
            const std::int64_t distance = static_cast<std::int32_t>(word << 6) >> 4;
            calls.push_back({at + 4, static_cast<std::int64_t>(at) + distance});
        }
    }
    return calls;
}

}  // namespace

std::string hook_name(std::string_view symbol) {
    if (symbol.starts_with("__builtin_")) symbol.remove_prefix(10);
    const bool accesses = symbol.starts_with("__tsan_") && symbol.find("func_") == std::string_view::npos &&
                          symbol.find("vptr") == std::string_view::npos && symbol != "__tsan_init";
    if (accesses || symbol == "__sanitizer_cov_trace_pc" || symbol.starts_with("warplab_seen_mem"))
        return std::string(symbol);
    // g++'s intermediate code contains the declared names; only the object file has those of warplab_cpu/seen.h.
    if (symbol == "memcpy" || symbol == "memmove" || symbol == "memset" || symbol == "memcmp")
        return "warplab_seen_" + std::string(symbol);
    // A mangled name contains the length of each part: _ZN11warplab_cpu12note_barrier…E.
    if (symbol.starts_with("_ZN11warplab_cpu")) {
        symbol.remove_prefix(16);
        while (!symbol.empty() && symbol.front() >= '0' && symbol.front() <= '9') symbol.remove_prefix(1);
        symbol = symbol.substr(0, symbol.find('E'));
    }
    for (const std::string_view name : functions_of_runtime)
        if (symbol == name) return std::string(name);
    return "";
}

std::map<std::string, std::vector<HookCall>> find_hook_calls(std::string_view bytes,
                                                             const std::vector<Function>& functions) {
    std::unordered_set<std::string_view> wanted;
    for (const Function& function : functions) wanted.insert(function.symbol);
    const Bytes file(bytes);
    const Executable executable = read_executable(file);
    std::unordered_map<std::uint64_t, std::string> hooks;
    for (const Symbol& function : executable.functions)
        if (std::string name = hook_name(function.name); !name.empty())
            hooks.emplace(function.address, std::move(name));
    std::map<std::string, std::vector<HookCall>> by_function;
    for (const Symbol& function : executable.functions) {
        count_effort();
        if (!wanted.contains(function.name)) continue;
        std::vector<HookCall> calls;
        for (const Call& call : calls_in(executable.code(file, function.address, function.bytes), executable.machine))
            if (const auto hook = hooks.find(function.address + static_cast<std::uint64_t>(call.target));
                hook != hooks.end())
                calls.push_back({static_cast<std::uint32_t>(function.address + call.after), hook->second});
        if (calls.empty()) continue;  // such as the grader's own copy of a function of the C++ library
        by_function.emplace(function.name, std::move(calls));
        wanted.erase(function.name);
    }
    return by_function;
}

}  // namespace warplab::predict
