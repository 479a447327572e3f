#include "grader/judge/starter.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "grader/judge/compile/hand_in.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;

std::string code_of(const Source& source) {
    std::string text = compilation::without_comments(source.text());
    std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
    return text;
}

/// Return a file whose name begins with the stage's number, as 01.cu and 01_slug.cu.txt do; empty if there is none.
std::string find_other_file(const fs::path& source) {
    const std::string number = source.filename().string().substr(0, 2);
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(source.parent_path(), error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(number) && name != source.filename() && entry.is_regular_file(error)) return name;
    }
    return "";
}

}  // namespace

std::optional<Failure> find_starter(const Lab& lab, const Stage& stage, const Source& source) {
    const fs::path starter = lab.root / "starter" / lab.name / (stage.id + ".cu");
    if (!fs::is_regular_file(starter)) return std::nullopt;
    if (code_of(source) != code_of(starter)) return std::nullopt;
    const std::string other_file = find_other_file(source.file());
    return Failure{
        cause::starter, "This file is still the starter: its code has not been changed.",
        fmt::format("Did you edit {} and save it?{}", source.file().string(),
                    other_file.empty()
                        ? ""
                        : fmt::format(" {} is in the same folder, but that file is not checked.", other_file))};
}

}  // namespace warplab
