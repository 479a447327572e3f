#pragma once
#include <string>

namespace warplab {

/// One line on the terminal that says what is being done now; nothing where stderr is no terminal.
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
