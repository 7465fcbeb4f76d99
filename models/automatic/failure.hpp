#pragma once
// What goes wrong with checkpoints by themselves, for who has to say it as a status.
#include <stdexcept>
#include <string>

#include "perdure/perdure.h"

namespace perdure::automatic {

struct Failure : std::runtime_error {
  Failure(perdure_status why, const std::string& text) : std::runtime_error(text), status(why) {}
  perdure_status status;
};

}  // namespace perdure::automatic
