#pragma once
// Defines the exception for errors of automatic checkpoints, which callers report as a status.
#include <stdexcept>
#include <string>

#include "perdure/perdure.h"

namespace perdure::automatic {

struct Failure : std::runtime_error {
  Failure(perdure_status why, const std::string& text) : std::runtime_error(text), status(why) {}
  perdure_status status;
};

}  // namespace perdure::automatic
