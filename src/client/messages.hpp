#pragma once
// Prints messages if the option `messages` asks for them: about long waits, versions that a checkpoint leaves behind,
// and versions that a restore passes over. The library prints nothing else.
#include <string>

#include "config/config.hpp"

namespace perdure::client {

class Messages {
 public:
  Messages() = default;  ///< prints nothing
  explicit Messages(const config::Config& config) : wanted_(config.text("messages") == "stderr") {}
  /// Prints one line. `text` begins with its subject.
  void say(const std::string& text) const;

 private:
  bool wanted_ = false;
};

}  // namespace perdure::client
