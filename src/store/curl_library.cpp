#include "store/curl_library.hpp"

#include <dlfcn.h>

#include <string>

namespace perdure::store {
namespace {

constexpr const char* kCurlNames[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
constexpr const char* kCurlRemedy = "install libcurl 7.88 or newer (Debian: libcurl4)";

base::Result<CurlLibrary> load_curl() {
  void* library = nullptr;
  for (const char* name : kCurlNames)
    if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return base::fail(PERDURE_UNAVAILABLE, kCurlNames[0], "the library cannot be loaded", kCurlRemedy);
  CurlLibrary functions;
  const char* missing = nullptr;
  const auto look_up = [&](const char* name) {
    void* address = ::dlsym(library, name);
    if (address == nullptr) missing = name;
    return address;
  };
#define PERDURE_CURL_LOAD(name) functions.name = reinterpret_cast<decltype(functions.name)>(look_up(#name));
  PERDURE_CURL_FUNCTIONS(PERDURE_CURL_LOAD)
#undef PERDURE_CURL_LOAD
  if (missing != nullptr)
    return base::fail(PERDURE_UNAVAILABLE, kCurlNames[0], std::string("the library lacks ") + missing, kCurlRemedy);
  if (functions.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return base::fail(PERDURE_UNAVAILABLE, kCurlNames[0], "the library does not start", kCurlRemedy);
  return functions;
}

}  // namespace

base::Result<const CurlLibrary*> curl_library() {
  static const base::Result<CurlLibrary> loaded = load_curl();
  if (!loaded) return base::fail(loaded.error());
  return &*loaded;
}

}  // namespace perdure::store
