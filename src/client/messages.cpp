#include "client/messages.hpp"

#include <cstdio>

#include "base/printable.hpp"

namespace perdure::client {

// Writes with one call, so that lines of several processes are not mixed.
void Messages::say(const std::string& text) const {
  if (!wanted_) return;
  const std::string line = "perdure: " + base::printable(text) + "\n";
  (void)std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace perdure::client
