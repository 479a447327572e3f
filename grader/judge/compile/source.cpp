#include "grader/judge/compile/source.h"

#include <fcntl.h>

#include <system_error>
#include <utility>

#include "grader/common/descriptor.h"
#include "grader/common/hash.h"
#include "grader/common/read_file.h"

namespace warplab {
namespace fs = std::filesystem;

Source::Source(fs::path file) : file_(std::move(file)) {
    const fs::path parent = file_.has_parent_path() ? file_.parent_path() : fs::path(".");
    const Descriptor folder(open(parent.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const fs::path opened =
        folder ? fs::path("/proc/self/fd/" + std::to_string(folder.get())) / file_.filename() : file_;
    auto bytes = try_read_file(opened, max_bytes, O_NOFOLLOW);
    if (!bytes) {
        bytes = try_read_file(opened, max_bytes);
        std::error_code error;
        is_link_ = bytes || fs::is_symlink(file_, error);
    }
    std::error_code error;
    is_in_a_link_ = !folder && (bytes || fs::is_symlink(parent, error));
    bytes_ = std::make_shared<const std::optional<std::string>>(std::move(bytes));
}

std::string Source::hash() const { return bytes() ? sha256(*bytes()) : ""; }

}  // namespace warplab
