#include "grader/judge/present/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace warplab {

void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

Console::Console() : terminal_(isatty(STDERR_FILENO) && std::getenv("TERM") != nullptr) {}

void Console::show(const std::string& doing) {
    if (!terminal_) return;
    winsize size{};
    const std::size_t width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col - 1u : 79u;
    fmt::print(stderr, "\r\033[K{}", doing.substr(0, width));
    std::fflush(stderr);
    shown_ = true;
}

void Console::clear() {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
}

}  // namespace warplab
