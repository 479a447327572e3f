#pragma once
// Fuzzes the reader of untrusted image files.

#include <string_view>

#include "grader/common/image.h"
#include "grader/model/manifest.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/scratch.h"

namespace warplab::fuzz {

inline constexpr std::size_t max_fuzzed_pixels = 100'000;

inline void try_image(std::string_view bytes) {
    const ScratchFile file("image", bytes);
    try {
        const Image image = read_image(file.path, max_fuzzed_pixels);
        require(image.width > 0 && image.height > 0, "an image has pixels");
        require(image.pixels() <= max_fuzzed_pixels, "an image is within the limit");
        require(image.channels == 1 || image.channels == 3, "an image has one or three channels");
        require(image.samples.size() == image.pixels() * static_cast<std::size_t>(image.channels),
                "an image is complete");
    } catch (const UsageError& refusal) {
        require(std::string_view(refusal.what()).starts_with(file.path.string()), "a refusal names the file");
    }
}

}  // namespace warplab::fuzz
