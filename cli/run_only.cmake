# This file builds the program `perdure` with the verb `run` alone; other verbs say that they are missing. It compiles
# the needed files of src/inspect and src/reader directly. `run_only` is the target.
set(run check_protection check_protection_place check_protection_report command_line configuration help_format help_topics main manual node_arguments overview registry run
  run_summary usage absent_verb)
set(inspect check_protection_compare check_protection_region check_protection_remover check_protection_start check_protection_verdict
  checkpoints node_versions store_place table unstored words)
list(TRANSFORM run REPLACE "(.+)" "\\1.cpp")
list(TRANSFORM inspect REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/src/inspect/\\1.cpp")

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/registry.cpp)
file(STRINGS registry.cpp rows REGEX "^ +{\"[a-z]+\", .*enrol_[a-z]+},$")
set(absent "#include \"cli/absent_verb.hpp\"\n\nnamespace perdure::cli {\n")
foreach(row ${rows})
  string(REGEX REPLACE ".*(enrol_[a-z]+)},$" "\\1" enrol "${row}")
  if(NOT enrol STREQUAL "enrol_run")
    string(APPEND absent "Action ${enrol}(CLI::App& app) { return absent_verb(app); }\n")
  endif()
endforeach()
file(CONFIGURE OUTPUT absent_verbs.cpp CONTENT "${absent}}  // namespace perdure::cli\n" @ONLY)

set(reader ${PROJECT_SOURCE_DIR}/src/reader/branches.cpp ${PROJECT_SOURCE_DIR}/src/reader/inventory.cpp)
add_executable(${run_only} ${run} ${inspect} ${reader} ${CMAKE_CURRENT_BINARY_DIR}/absent_verbs.cpp)
target_include_directories(${run_only} PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(${run_only} PRIVATE perdure_launch perdure_config perdure_store perdure_ipc perdure_catalog perdure_node fmt::fmt CLI11::CLI11 perdure_warnings)
