# Compiles the mutated modules file by file, so that a mutant that the compiler rejects costs only one file. The other
# modules and the tests are one unit each. Mutants must not cause warnings.
function(perdure_compile_mutated_separately)
  foreach(module ${PERDURE_MUTATED})
    set_target_properties(perdure_${module} PROPERTIES UNITY_BUILD OFF)
    target_compile_options(perdure_${module} PRIVATE -w)
  endforeach()
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL perdure_compile_mutated_separately)
