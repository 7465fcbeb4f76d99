# This file builds programs of other kinds for captures. A program whose compiler or library is missing is not built,
# and its test is skipped.
set(programs ${PROJECT_BINARY_DIR}/tests/programs)
function(perdure_captured_program name source)
  add_executable(${name} process/programs/${source})
  target_compile_options(${name} PRIVATE -O1 -fno-sanitize=all)
  target_link_options(${name} PRIVATE -fno-sanitize=all)
  target_link_libraries(${name} PRIVATE perdure_warnings Threads::Threads ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${programs})
  add_dependencies(process_programs ${name})
endfunction()

add_custom_target(process_programs)
perdure_captured_program(unusual unusual.cpp ${CMAKE_DL_LIBS})
add_library(unusual_part MODULE process/programs/unusual_part.cpp)
target_compile_options(unusual_part PRIVATE -O1 -fno-sanitize=all)
target_link_options(unusual_part PRIVATE -fno-sanitize=all -Wl,--as-needed)  # so that these are loaded with it each
                                                                             # time
set_target_properties(unusual_part PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${programs})
add_dependencies(process_programs unusual_part)

# Static programs, position-independent or not; the libraries for this are not everywhere.
include(CheckCXXSourceCompiles)
foreach(kind static static-pie)
  string(REPLACE - _ suffix ${kind})
  set(CMAKE_REQUIRED_FLAGS "-fno-sanitize=all")
  set(CMAKE_REQUIRED_LINK_OPTIONS -${kind})
  check_cxx_source_compiles("#include <thread>\nint main() { std::thread([] {}).join(); }" PERDURE_LINKS_${suffix})
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  unset(CMAKE_REQUIRED_FLAGS)
  if(PERDURE_LINKS_${suffix})
    perdure_captured_program(awkward_${suffix} awkward.cpp)
    target_link_options(awkward_${suffix} PRIVATE -${kind})
  endif()
endforeach()
perdure_captured_program(awkward_fixed awkward.cpp)
target_compile_options(awkward_fixed PRIVATE -fno-pie)
target_link_options(awkward_fixed PRIVATE -no-pie)
if(TARGET awkward_static_pie)
  target_compile_options(awkward_static_pie PRIVATE -fPIE)
endif()

find_package(OpenMP QUIET COMPONENTS CXX)
if(OpenMP_CXX_FOUND)
  perdure_captured_program(teams teams.cpp OpenMP::OpenMP_CXX)
endif()
find_program(PERDURE_GFORTRAN gfortran DOC "Compiles a program of Fortran that tests capture")
if(PERDURE_GFORTRAN)
  add_custom_command(OUTPUT ${programs}/waves DEPENDS process/programs/waves.f90
    COMMAND ${PERDURE_GFORTRAN} -O1 -J ${CMAKE_CURRENT_BINARY_DIR} -o ${programs}/waves ${CMAKE_CURRENT_SOURCE_DIR}/process/programs/waves.f90)
  add_custom_target(waves DEPENDS ${programs}/waves)
  add_dependencies(process_programs waves)
endif()

add_custom_target(campaign_process_programs DEPENDS awkward process_programs kernels perdure_cli)  # of
                                                                                                   # tools/campaign-process
