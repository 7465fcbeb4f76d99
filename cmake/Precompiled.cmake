# perdure_precompile(TARGET [TESTS|PROGRAM]): TARGET's C++ begins with headers that were compiled once: those that cost every unit most and
# never change. With TESTS, GoogleTest's too; with PROGRAM, CLI11's (for programs that have a command line: its constants cost the others time).
# Only with PERDURE_PRECOMPILE: a preset without it notices a standard header that is not included.
set(PERDURE_PRECOMPILED_HEADERS <algorithm> <chrono> <condition_variable> <functional> <map> <memory> <mutex> <optional> <set> <string>
  <thread> <variant> <vector> <nlohmann/json.hpp> <tl/expected.hpp>)

# One target of each kind compiles the headers; the others take them from there, and must have the same flags.
function(perdure_precompiled_target name)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp CONTENT "// Its headers are what counts.\n")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp)
  target_link_libraries(${name} PRIVATE nlohmann_json::nlohmann_json tl::expected perdure_warnings)
  target_precompile_headers(${name} PRIVATE ${PERDURE_PRECOMPILED_HEADERS} ${ARGN})
endfunction()

if(PERDURE_PRECOMPILE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # ccache asks for it
  endif()
  perdure_precompiled_target(perdure_precompiled)
  if(PERDURE_TESTS OR NOT PERDURE_TOGETHER)  # else there are too few programs
    perdure_precompiled_target(perdure_precompiled_program <CLI/CLI.hpp>)
    target_link_libraries(perdure_precompiled_program PRIVATE CLI11::CLI11)
    # Programs are compiled with -fPIE, libraries with -fPIC.
    set_target_properties(perdure_precompiled_program PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(perdure_precompiled_program PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
  endif()
  if(PERDURE_TESTS)
    perdure_precompiled_target(perdure_precompiled_tests <gmock/gmock.h> <gtest/gtest.h>)
    target_link_libraries(perdure_precompiled_tests PRIVATE GTest::gmock GTest::gtest)
    set_target_properties(perdure_precompiled_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(perdure_precompiled_tests PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIE} ${PERDURE_TEST_OPTIONS})
  endif()
endif()

function(perdure_precompile target)
  if(NOT PERDURE_PRECOMPILE)
    return()
  endif()
  if("TESTS" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM perdure_precompiled_tests)
  elseif("PROGRAM" IN_LIST ARGN)
    if(TARGET perdure_precompiled_program)
      target_precompile_headers(${target} REUSE_FROM perdure_precompiled_program)
    endif()
  else()
    target_precompile_headers(${target} REUSE_FROM perdure_precompiled)
  endif()
endfunction()
