#pragma once
// Formats texts of errors for the C functions.
#include <algorithm>
#include <cstring>
#include <string>

#include "base/result.hpp"

namespace perdure::capi {

inline base::Status refuse(const char* what, const char* why) {
  return base::fail(PERDURE_INVALID_ARGUMENT, what, why);
}

/// If there is no memory for a text, returns one that needs none.
inline std::string text_of(const base::Error& error) noexcept {
  try {
    return error.text();
  } catch (...) {
    return "out of memory";  // short enough
  }
}

inline void copy_text(const std::string& text, char* target, std::size_t bytes) {
  if (target == nullptr || bytes == 0) return;
  const std::size_t length = std::min(text.size(), bytes - 1);
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}

}  // namespace perdure::capi
