# libsodium as its archive: what applications load must not ask for one more shared library (docs/dependencies.md).
find_path(PERDURE_SODIUM_INCLUDE sodium.h REQUIRED)
find_library(PERDURE_SODIUM_ARCHIVE libsodium.a REQUIRED)
add_library(perdure_sodium STATIC IMPORTED)
set_target_properties(perdure_sodium PROPERTIES IMPORTED_LOCATION ${PERDURE_SODIUM_ARCHIVE}
  INTERFACE_INCLUDE_DIRECTORIES ${PERDURE_SODIUM_INCLUDE})
add_library(perdure::sodium ALIAS perdure_sodium)

# libcurl: headers only. The library is loaded when a store needs it (src/store/curl_library.cpp).
find_path(PERDURE_CURL_INCLUDE curl/curl.h REQUIRED)

# libfabric: headers only. The library is loaded at run time (src/network/fabric_library.cpp).
find_path(PERDURE_FABRIC_INCLUDE rdma/fabric.h REQUIRED)
