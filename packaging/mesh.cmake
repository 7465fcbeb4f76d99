# The mesh library as programs outside use it: what our own targets link as five archives is one, and its headers are below
# perdure/mesh, so that a program may have folders called mesh and track of its own.
set(headers mesh/arguments mesh/checked_loop mesh/data mesh/division mesh/exact_sum mesh/ghosts mesh/mesh mesh/neighbours mesh/par_loop
  mesh/protection mesh/ranks mesh/reduction mesh/stencil mesh/transfer automatic/protected_run track/access track/box)

# perdure_mesh_archive(NAME OBJECTS target... LINKS target...)
function(perdure_mesh_archive name)
  cmake_parse_arguments(ARG "" "" "OBJECTS;LINKS" ${ARGN})
  set(objects)
  foreach(target IN LISTS ARG_OBJECTS)
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  add_library(perdure_installed_${name} STATIC EXCLUDE_FROM_ALL ${objects})
  set_target_properties(perdure_installed_${name} PROPERTIES OUTPUT_NAME perdure_${name} LINKER_LANGUAGE CXX EXPORT_NAME ${name}
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/installed)
  target_link_libraries(perdure_installed_${name} INTERFACE ${ARG_LINKS})
  add_dependencies(installable perdure_installed_${name})
endfunction()

set(openmp)
set(openmp_options)  # of compilers and linkers alike, for pkg-config
if(OpenMP_CXX_FOUND AND NOT PERDURE_SANITIZE)
  set(openmp OpenMP::OpenMP_CXX)
  set(openmp_options " ${OpenMP_CXX_FLAGS}")
endif()
perdure_mesh_archive(mesh OBJECTS perdure_mesh perdure_automatic perdure_track perdure_base LINKS perdure_shared ${openmp})
target_compile_features(perdure_installed_mesh INTERFACE cxx_std_20)
target_compile_options(perdure_installed_mesh INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
set(mesh_libraries perdure_installed_mesh)
if(TARGET perdure_mesh_hdf5)
  perdure_mesh_archive(mesh_hdf5 OBJECTS perdure_mesh_hdf5 LINKS perdure_installed_mesh ${PERDURE_HDF5_LIBRARY})
  list(APPEND mesh_libraries perdure_installed_mesh_hdf5)
  list(APPEND headers mesh/hdf5)
endif()
install(TARGETS ${mesh_libraries} EXPORT perdureMeshTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT perdureMeshTargets NAMESPACE perdure:: DESTINATION ${cmake_folder})
if(TARGET perdure_mesh_mpi)
  perdure_mesh_archive(mesh_mpi OBJECTS perdure_mesh_mpi LINKS perdure_installed_mesh perdure_mpi MPI::MPI_CXX)
  list(APPEND headers mesh/mpi_ranks)
  install(TARGETS perdure_installed_mesh_mpi EXPORT perdureMeshMpiTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT perdureMeshMpiTargets NAMESPACE perdure:: DESTINATION ${cmake_folder})
endif()

install(CODE "
  set(headers ${headers})
  set(models \"${PROJECT_SOURCE_DIR}/models\")
  set(copies \"${CMAKE_CURRENT_BINARY_DIR}/mesh_headers\")
  set(folder \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/perdure/mesh\")
  include(\"${CMAKE_CURRENT_SOURCE_DIR}/mesh_headers.cmake\")")
