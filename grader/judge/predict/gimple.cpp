#include "grader/judge/predict/gimple.h"

#include <algorithm>
#include <charconv>

#include "grader/judge/predict/effort.h"

namespace warplab::predict {
namespace {

constexpr std::size_t max_location_bytes = 8192;  // longer than any path

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

void skip_blanks(std::string_view& text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

std::string_view trim(std::string_view text) {
    skip_blanks(text);
    while (!text.empty() && (text.back() == ' ' || text.back() == ';')) text.remove_suffix(1);
    return text;
}

int number_in(std::string_view text) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

struct Location {
    std::string_view file;
    int line = 0;
};

/// Remove "[file:line:column] " from the beginning of the text, if it is there.
Location take_location(std::string_view& text) {
    skip_blanks(text);
    if (!text.starts_with('[')) return {};
    count_effort();
    const std::size_t end = text.substr(0, max_location_bytes).find(']');  // a string may have a million [
    if (end == std::string_view::npos) return {};
    const std::string_view inside = text.substr(1, end - 1);
    const std::size_t column = inside.rfind(':'), line = column == std::string_view::npos || column == 0
                                                             ? std::string_view::npos
                                                             : inside.rfind(':', column - 1);
    if (line == std::string_view::npos || inside.find_first_of("0123456789", line) != line + 1) return {};
    text.remove_prefix(end + 1);
    skip_blanks(text);
    return {inside.substr(0, line), number_in(inside.substr(line + 1))};
}

std::string without_locations(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        std::string_view rest = text;
        if (text.front() == '[' && take_location(rest).line > 0) {
            text = rest;
            continue;
        }
        plain += text.front();
        text.remove_prefix(1);
    }
    return plain;
}

/// Split the text at the commas that are outside of all brackets.
std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    std::string part;
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
        if ((c == ')' || c == ']' || c == '}' || c == '>') && !(c == '>' && i > 0 && text[i - 1] == '-')) --depth;
        if (c != ',' || depth > 0) {
            part += c;
            continue;
        }
        parts.emplace_back(trim(without_locations(part)));
        part.clear();
    }
    parts.emplace_back(trim(without_locations(part)));
    return parts;
}

/// Return the text between the first "<" and the last ">".
std::string_view inside_angles(std::string_view text) {
    const std::size_t begin = text.find('<'), end = text.rfind('>');
    return begin == std::string_view::npos || end == std::string_view::npos || end <= begin
               ? std::string_view()
               : text.substr(begin + 1, end - begin - 1);
}

bool is_backend_header(std::string_view file) {
    // A hand-in can lie in a folder with the name of theirs, but does not end like a header.
    if (!file.ends_with(".h") && !file.ends_with(".inc")) return false;
    // arithmetic.h and math… represent instructions of the GPU; the other headers of warplab_cpu belong to the backend.
    return file.find("warplab_cpu/") != std::string_view::npos && file.find("arithmetic.h") == std::string_view::npos &&
           file.find("warplab_cpu/math") == std::string_view::npos;
}

void drop_empty(std::vector<std::string>& operands) {
    while (!operands.empty() && (operands.back() == "NULL" || operands.back().empty())) operands.pop_back();
}

Statement read_phi(std::string_view text) {
    Statement phi;
    phi.kind = Statement::Kind::phi;
    std::vector<std::string> parts = split(inside_angles(text));
    phi.result = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::size_t open = parts[i].rfind('(');
        if (open == std::string::npos) continue;
        phi.from.push_back(number_in(std::string_view(parts[i]).substr(open + 1)));
        phi.operands.push_back(parts[i].substr(0, open));
    }
    return phi;
}

/// Read a statement. `line` is the last line of the student's file that was read, and is updated.
Statement read_statement(std::string_view text, int& line) {
    Statement statement;
    const Location location = take_location(text);
    if (location.line > 0 && !location.file.ends_with(".h")) line = location.line;
    statement.line = line;
    statement.by_header = is_backend_header(location.file);
    const bool calls = text.starts_with("gimple_call"), assigns = text.starts_with("gimple_assign");
    const bool compares = text.starts_with("gimple_cond");
    if (!calls && !assigns && !compares) return statement;
    std::vector<std::string> parts = split(inside_angles(text));
    if (parts.size() < 2) return statement;
    statement.kind = calls ? Statement::Kind::call : assigns ? Statement::Kind::assign : Statement::Kind::condition;
    statement.operation = parts[0];
    std::size_t first = 1;
    if (!compares) statement.result = parts[1] == "NULL" ? "" : parts[1], first = 2;
    statement.operands.assign(parts.begin() + static_cast<std::ptrdiff_t>(std::min(first, parts.size())), parts.end());
    drop_empty(statement.operands);
    return statement;
}

/// Read a declaration such as "  const float * _20;".
void read_declaration(std::string_view text, Function& function) {
    text = trim(text);
    const std::size_t blank = text.rfind(' ');
    if (blank == std::string_view::npos) return;
    std::string_view name = text.substr(blank + 1);
    std::string type(trim(text.substr(0, blank)));
    while (take(name, "*") || take(name, "&")) type += " *";
    if (const std::size_t bracket = name.find('['); bracket != std::string_view::npos) {
        name = name.substr(0, bracket);
        if (!text.starts_with("static ")) function.arrays.emplace(name);
    }
    function.types.emplace(name, type);
}

}  // namespace

std::string_view Function::type_of(const std::string& name) const {
    if (const auto iterator = types.find(name); iterator != types.end()) return iterator->second;
    std::string base = name.substr(0, name.find('('));  // "x_6(D)"
    if (const auto iterator = types.find(base); iterator != types.end()) return iterator->second;
    const std::size_t score = base.rfind('_');
    if (score == std::string::npos) return {};
    const auto iterator = types.find(base.substr(0, score));
    return iterator == types.end() ? std::string_view() : std::string_view(iterator->second);
}

std::vector<Function> read_gimple(std::string_view text) {
    std::vector<Function> functions;
    int students_line = 0;
    while (!text.empty()) {
        count_effort();
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.starts_with(";; Function ")) {
            const std::size_t name_end = line.rfind(", funcdef_no="), open = line.rfind('(', name_end);
            functions.emplace_back();
            students_line = 0;
            if (name_end != std::string_view::npos && open != std::string_view::npos)
                functions.back().symbol = line.substr(open + 1, name_end - open - 1);
            continue;
        }
        if (functions.empty()) continue;
        Function& function = functions.back();
        skip_blanks(line);
        if (take(line, "<bb ")) {
            function.blocks.push_back({number_in(line), {}});
        } else if (function.blocks.empty()) {
            if (line.ends_with(';') && line.find('(') == std::string_view::npos) read_declaration(line, function);
        } else if (take(line, "# ")) {
            function.blocks.back().statements.push_back(read_phi(line));
        } else if (take(line, "goto <bb ")) {
            function.blocks.back().successors.push_back(number_in(line));
        } else if (!line.empty() && !line.starts_with("gimple_debug")) {
            if (line.find("gimple_return") != std::string_view::npos) function.blocks.back().returns = true;
            Statement statement = read_statement(line, students_line);
            if (statement.kind != Statement::Kind::other)
                function.blocks.back().statements.push_back(std::move(statement));
        }
    }
    return functions;
}

}  // namespace warplab::predict
