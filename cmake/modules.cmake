# The modules, in the order of src/LAYERS, which says what each links.
perdure_module(base LIBRARIES nlohmann_json::nlohmann_json tl::expected)
# Hashing is optimised in every preset: without it the sanitizer suites spend their time here.
set_source_files_properties(src/base/hash.cpp PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")  # chosen at run time, see src/base/hash_kernels.hpp
  set_source_files_properties(src/base/hash_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-O2" SKIP_PRECOMPILE_HEADERS ON)
  set_source_files_properties(src/base/hash.cpp PROPERTIES COMPILE_DEFINITIONS PERDURE_HAVE_AVX2_KERNELS)
endif()
perdure_module(os LIBRARIES Threads::Threads ${CMAKE_DL_LIBS} TEST_LIBRARIES perdure_test_support SHARES address thread)
perdure_module(placement OWN_LIBRARIES Boost::headers)
# Computing parities is optimised in every preset, as hashing is; so are its tests, which try every loss.
perdure_module(redundancy OPTIMISED OPTIMISED_TESTS LIBRARIES ${CMAKE_DL_LIBS} OWN_INCLUDES ${PERDURE_ISAL_INCLUDE})
perdure_module(config TEST_LIBRARIES perdure_test_support)
perdure_module(comm TEST_LIBRARIES perdure_test_support)
perdure_module(metrics)
perdure_module(device LIBRARIES Threads::Threads)
perdure_module(array)
perdure_module(plan)
perdure_module(segment TEST_LIBRARIES perdure_test_support)
perdure_module(capture)
perdure_module(tier TEST_LIBRARIES perdure_test_support)
perdure_module(store LIBRARIES ${CMAKE_DL_LIBS} OWN_LIBRARIES perdure::sodium Boost::headers OWN_INCLUDES ${PERDURE_CURL_INCLUDE}
  TEST_LIBRARIES perdure_test_support)
if(TARGET test_store)  # tools/bootstrap installs the server
  target_compile_definitions(test_store PRIVATE PERDURE_MOTO_SERVER="${PROJECT_SOURCE_DIR}/build/moto/bin/moto_server")
endif()
perdure_module(calibration TEST_LIBRARIES perdure_test_support)
perdure_module(plot LIBRARIES PNG::PNG)
perdure_module(affinity TEST_LIBRARIES perdure_test_support)
perdure_module(reader TEST_LIBRARIES perdure_test_support)
# HDF5 keeps what it has of files that it could not close, until the process ends.
perdure_module(portable OWN_PROCESS TEST_LIBRARIES perdure_test_support LIBRARIES ${CMAKE_DL_LIBS})
# Headers only: the library is loaded at run time (src/portable/hdf5_library.cpp). Without them `export` says so.
target_compile_definitions(perdure_portable PRIVATE $<$<BOOL:${PERDURE_HDF5_INCLUDE}>:PERDURE_HAVE_HDF5>)
if(PERDURE_HDF5_INCLUDE)
  target_include_directories(perdure_portable SYSTEM PRIVATE ${PERDURE_HDF5_INCLUDE})
else()
  file(GLOB with_hdf5 src/portable/hdf5_*.cpp)
  set_source_files_properties(${with_hdf5} PROPERTIES HEADER_FILE_ONLY ON)
endif()
perdure_module(simulate TEST_LIBRARIES perdure_test_support SHARES plain)
if(PERDURE_TESTS)  # they read the descriptions that are shipped
  foreach(test test_device test_calibration test_simulate)
    target_compile_definitions(${test} PRIVATE PERDURE_DEVICES="${PROJECT_SOURCE_DIR}/share/devices")
  endforeach()
endif()
perdure_module(catalog TEST_LIBRARIES perdure_test_support SHARES address thread)
perdure_module(node TEST_LIBRARIES perdure_test_support)
perdure_module(network OWN_LIBRARIES perdure::sodium OWN_INCLUDES ${PERDURE_FABRIC_INCLUDE} TEST_LIBRARIES perdure_test_support
  SHARES address thread)
perdure_module(parity TEST_LIBRARIES perdure_test_support SHARES address thread)
perdure_module(ipc TEST_LIBRARIES perdure_test_support SHARES address thread)
perdure_family(engine PARTS ledger pipeline flush upkeep replicate recover peers serve host TEST_LIBRARIES perdure_test_support SHARES address thread)
perdure_module(client TEST_LIBRARIES perdure_test_support SHARES address thread)
perdure_cut(perdure_client 24)

perdure_module(launch LIBRARIES fmt::fmt)
perdure_module(inspect LIBRARIES fmt::fmt TEST_LIBRARIES perdure_test_support)

perdure_module(capi TEST_LIBRARIES perdure_test_support)
if(PERDURE_TESTS)  # a C compiler has to take the header, too
  add_library(perdure_reader_in_c OBJECT src/capi/reader_testing.c)
  target_include_directories(perdure_reader_in_c PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(perdure_reader_in_c PRIVATE perdure_warnings)
  target_link_libraries(test_capi PRIVATE perdure_reader_in_c)
endif()

# The library that applications load. Everything inside is hidden but the perdure_* functions.
file(GLOB capi_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/capi/*.cpp)
list(FILTER capi_sources EXCLUDE REGEX "_test\\.cpp$")
set(portable perdure_portable)
if(PERDURE_RUN_ONLY)  # without what reads stores, and writes them for other programs
  list(FILTER capi_sources EXCLUDE REGEX "/reader\\.cpp$")
  set(portable)
endif()
add_library(perdure_shared SHARED ${capi_sources})
perdure_precompile(perdure_shared)
target_include_directories(perdure_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_link_libraries(perdure_shared PRIVATE perdure_client ${portable} perdure_warnings)
target_link_options(perdure_shared PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/perdure.map)
# DEFINE_SYMBOL: a definition of its own would refuse the precompiled headers.
set_target_properties(perdure_shared PROPERTIES DEFINE_SYMBOL "" OUTPUT_NAME perdure VERSION ${PROJECT_VERSION} SOVERSION ${PERDURE_SOVERSION}
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/perdure.map)

if(PERDURE_MPI)
  add_library(perdure_mpi SHARED src/capi_mpi/open_mpi.cpp src/capi_mpi/open_handles.cpp src/capi_mpi/roll_call.cpp)
  target_include_directories(perdure_mpi PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(perdure_mpi PUBLIC perdure_shared MPI::MPI_C PRIVATE MPI::MPI_CXX perdure_warnings)
  set_target_properties(perdure_mpi PROPERTIES OUTPUT_NAME perdure_mpi VERSION ${PROJECT_VERSION} SOVERSION ${PERDURE_SOVERSION})
  if(PERDURE_TESTS)
    perdure_test(test_capi_mpi SOURCES src/capi_mpi/waited_time_test.cpp LIBRARIES perdure_base)
  endif()
endif()
