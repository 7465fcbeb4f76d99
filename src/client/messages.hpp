#pragma once
// What a call that waits for long says meanwhile, what a checkpoint leaves behind and what a restore passes over, where
// the option `messages` wants that. Nothing else of the library prints.
#include <string>

#include "config/config.hpp"

namespace perdure::client {

class Messages {
 public:
  Messages() = default;  ///< nobody wants to hear anything
  explicit Messages(const config::Config& config) : wanted_(config.text("messages") == "stderr") {}
  /// One line. `text` begins with what it is about.
  void say(const std::string& text) const;

 private:
  bool wanted_ = false;
};

}  // namespace perdure::client
