# Modules that are compiled as one unit, where nothing but programs is built (PERDURE_TOGETHER): what they have in common, above all headers
# and what is made of templates, is paid once. Each line is a unit, named by its first module; all links go to lines above. With tests each
# module is a target of its own, so that a change builds and links little.
set(PERDURE_TOGETHER_LINES
  "os config comm metrics placement device"
  "array segment capture tier store plan affinity"
  "calibration catalog network parity ipc"
  "engine/ledger engine/pipeline engine/flush engine/upkeep"
  "engine/replicate engine/recover engine/peers"
  "engine/serve engine/host")

# perdure_together(OUT NAME LAYERS): the target that compiles the module NAME together with others, or nothing. LAYERS, the name of a list,
# loses those others.
function(perdure_together out name layers)
  set(${out} "" PARENT_SCOPE)
  if(NOT PERDURE_TOGETHER)
    return()
  endif()
  foreach(line ${PERDURE_TOGETHER_LINES})
    separate_arguments(modules UNIX_COMMAND "${line}")
    if(name IN_LIST modules)
      list(TRANSFORM modules REPLACE "/" "_")
      list(TRANSFORM modules PREPEND perdure_)
      set(left ${${layers}})
      list(REMOVE_ITEM left ${modules})
      set(${layers} ${left} PARENT_SCOPE)
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
# the end. Not with clang, which is quick: there a target stays whole, and names that would collide are found whatever the cut.
function(perdure_cut target files)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND TARGET ${target})
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()
