#pragma once
// Names this release as a text.
#include "perdure/perdure.h"

#define PERDURE_STRING_(x) #x
#define PERDURE_STRING(x) PERDURE_STRING_(x)

namespace perdure::base {
/// "0.1.0"
inline constexpr const char* kVersion = PERDURE_STRING(PERDURE_VERSION_MAJOR) "." PERDURE_STRING(
    PERDURE_VERSION_MINOR) "." PERDURE_STRING(PERDURE_VERSION_PATCH);
}  // namespace perdure::base
