#pragma once
// Loads libcurl when a program first needs it, so that applications load no library for stores that they do not use.
// Inside this module only.
#define CURL_DISABLE_TYPECHECK  // its macros would hide the functions' names
#include <curl/curl.h>

#include "base/result.hpp"

namespace perdure::store {

// The functions that we use.
#define PERDURE_CURL_FUNCTIONS(X) \
  X(curl_global_init)             \
  X(curl_easy_init)               \
  X(curl_easy_reset)              \
  X(curl_easy_setopt)             \
  X(curl_easy_perform)            \
  X(curl_easy_getinfo)            \
  X(curl_easy_cleanup)            \
  X(curl_easy_strerror)           \
  X(curl_slist_append)            \
  X(curl_slist_free_all)          \
  X(curl_getdate)

struct CurlLibrary {
#define PERDURE_CURL_MEMBER(name) decltype(&::name) name = nullptr;
  PERDURE_CURL_FUNCTIONS(PERDURE_CURL_MEMBER)
#undef PERDURE_CURL_MEMBER
};

/// Gives the library, which stays loaded. Fails with PERDURE_UNAVAILABLE if it is not installed.
base::Result<const CurlLibrary*> curl_library();

}  // namespace perdure::store
