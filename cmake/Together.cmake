# Modules that are compiled as one unit (PERDURE_TOGETHER): what they have in common, above all headers and what is made of templates, is paid
# once. Each line is a unit, named by its first module; all links go to lines above. Without it each module is a target of its own, so that a
# change builds and links little. A module that is optimised where others are not is compiled alone.
set(PERDURE_TOGETHER_LINES
  "os config comm metrics placement device"
  "array segment capture tier store plan affinity"
  "calibration catalog node network parity ipc"
  "engine/ledger engine/pipeline engine/flush engine/upkeep"
  "engine/replicate engine/recover engine/peers"
  "engine/serve engine/host")

# Virtual time and nothing else: a sanitizer without optimisation would spend most of its suite there.
set(PERDURE_VIRTUAL_TIME placement metrics device array simulate)
set(PERDURE_VIRTUAL_TIME_TESTS placement array simulate)

# perdure_together(OUT NAME LINKS): the target that compiles the module NAME together with others, or nothing. LINKS, the name of a list of
# targets, loses those others.
function(perdure_together out name links)
  set(${out} "" PARENT_SCOPE)
  if(NOT PERDURE_TOGETHER)
    return()
  endif()
  foreach(line ${PERDURE_TOGETHER_LINES})
    separate_arguments(modules UNIX_COMMAND "${line}")
    if(PERDURE_SANITIZE)
      list(REMOVE_ITEM modules ${PERDURE_VIRTUAL_TIME})
    endif()
    if(name IN_LIST modules)
      list(TRANSFORM modules REPLACE "/" "_")
      list(TRANSFORM modules PREPEND perdure_)
      set(left ${${links}})
      list(REMOVE_ITEM left ${modules})
      set(${links} ${left} PARENT_SCOPE)
      list(GET modules 0 first)
      set(unit ${first}_together)
      if(NOT TARGET ${unit})
        add_library(${unit} STATIC)
        target_include_directories(${unit} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
        target_link_libraries(${unit} PRIVATE perdure_warnings)
        perdure_precompile(${unit})
      endif()
      set(${out} ${unit} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# perdure_cut(TARGET FILES): a target that would be one large unit, cut into units of so many files, so that both processors have work to
# the end. Not with tests: there is enough other work, and names that would collide are found whatever the cut.
function(perdure_cut target files)
  if(NOT PERDURE_TESTS AND TARGET ${target})
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()
