// Section 3: the frame adds the code that the listing of a class with private members leaves out.
#include <array>
#include <iostream>
#include <perdure/perdure.hpp>
#include <vector>

// THE PAGE'S LINES

int main() {
  auto handle = perdure::open("store.path=members-store").value();
  Domain domain{};
  if (auto done = domain.protect(handle); !done.ok()) return std::cerr << done.error().text << '\n', 1;
  handle.checkpoint("members", 1).value();
  handle.unprotect(5).value();              // step_ ...
  return handle.unprotect(6).ok() ? 1 : 0;  // ... is the last of the six
}
