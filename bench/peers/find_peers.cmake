# perdure_find_peer(NAME HEADER LIBRARY) finds an installed system for the comparison. It looks below the CMake or
# environment variable <NAME>_ROOT, in the pkg-config file if there is one, and in CMake's own places. Sets
# PERDURE_<NAME>_INCLUDE, PERDURE_<NAME>_LIBRARY and PERDURE_<NAME>_FOUND, and prints the result in one line.
find_package(PkgConfig QUIET)

function(perdure_find_peer name header library)
  string(TOUPPER ${name} upper)
  set(hints ${${name}_ROOT} ${${upper}_ROOT} $ENV{${name}_ROOT} $ENV{${upper}_ROOT})
  string(TOLOWER ${name} lower)
  if(PkgConfig_FOUND)
    pkg_check_modules(PERDURE_PC_${upper} QUIET ${lower})
  endif()
  find_path(PERDURE_${upper}_INCLUDE ${header} HINTS ${hints} ${PERDURE_PC_${upper}_INCLUDEDIR} PATH_SUFFIXES include
    DOC "Where ${name}'s header is, for bench/peers")
  find_library(PERDURE_${upper}_LIBRARY ${library} HINTS ${hints} ${PERDURE_PC_${upper}_LIBDIR} PATH_SUFFIXES lib lib64
    DOC "${name}'s library, for bench/peers")
  set(fake)
  if(PERDURE_${upper}_INCLUDE)  # an installed fake is rejected, because its results must not be reported
    file(STRINGS ${PERDURE_${upper}_INCLUDE}/${header} fake REGEX "A FAKE of ${name}")
  endif()
  if(PERDURE_${upper}_INCLUDE AND PERDURE_${upper}_LIBRARY AND NOT fake)
    set(PERDURE_${upper}_FOUND TRUE PARENT_SCOPE)
    message(STATUS "bench/peers: ${name} in ${PERDURE_${upper}_LIBRARY}")
  else()
    set(PERDURE_${upper}_FOUND FALSE PARENT_SCOPE)
    message(STATUS "bench/peers: ${name} not found, its column is left out; -D${upper}_ROOT=... says where it is")
  endif()
endfunction()
