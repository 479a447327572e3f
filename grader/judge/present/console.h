#pragma once
#include <string>

namespace warplab {

/// Print to stdout immediately.
void print(const std::string& text);

/// One line on the terminal that shows the current activity; no-op if stderr is not a terminal.
class Console {
  public:
    Console();
    ~Console() { clear(); }
    void show(const std::string& doing);
    void clear();

  private:
    bool terminal_;
    bool shown_ = false;
};

}  // namespace warplab
