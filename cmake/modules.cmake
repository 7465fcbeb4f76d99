# The modules, in the order of src/LAYERS.
perdure_module(base LIBRARIES nlohmann_json::nlohmann_json tl::expected)
# Hashing is optimised in every preset: without it the sanitizer suites spend their time here.
set_source_files_properties(src/base/hash.cpp PROPERTIES COMPILE_OPTIONS -O2)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")  # chosen at run time, see src/base/hash_kernels.hpp
  set_source_files_properties(src/base/hash_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-O2")
  set_source_files_properties(src/base/hash.cpp PROPERTIES COMPILE_DEFINITIONS PERDURE_HAVE_AVX2_KERNELS)
endif()
perdure_module(os DEPENDS base LIBRARIES Threads::Threads ${CMAKE_DL_LIBS} TEST_LIBRARIES perdure_test_support)
perdure_module(config DEPENDS base os TEST_LIBRARIES perdure_test_support)
perdure_module(comm DEPENDS base TEST_LIBRARIES perdure_test_support)
perdure_module(metrics DEPENDS base)
perdure_module(device DEPENDS base config)
perdure_module(segment DEPENDS base os TEST_LIBRARIES perdure_test_support)
perdure_module(region DEPENDS base segment)
perdure_module(tier DEPENDS base os segment TEST_LIBRARIES perdure_test_support)
perdure_module(store DEPENDS base os segment TEST_LIBRARIES perdure_test_support)
perdure_module(placement DEPENDS base)
target_link_libraries(perdure_placement PRIVATE Boost::headers)
perdure_module(plan DEPENDS base)
perdure_module(simulate DEPENDS base metrics device placement plan)
if(PERDURE_TESTS)  # they read the descriptions that are shipped
  foreach(test test_device test_simulate)
    target_compile_definitions(${test} PRIVATE PERDURE_DEVICES="${PROJECT_SOURCE_DIR}/share/devices")
  endforeach()
endif()
perdure_module(catalog DEPENDS base os segment TEST_LIBRARIES perdure_test_support LABELS engine)
perdure_module(ipc DEPENDS base os segment TEST_LIBRARIES perdure_test_support LABELS engine)
perdure_module(engine DEPENDS base os config metrics segment tier store placement plan catalog ipc TEST_LIBRARIES perdure_test_support LABELS engine)
perdure_module(session DEPENDS base os config comm metrics segment region tier store plan ipc engine TEST_LIBRARIES perdure_test_support LABELS engine)

perdure_module(capi DEPENDS base os comm session segment TEST_LIBRARIES perdure_test_support LABELS engine)

# The library that applications load. Everything inside is hidden but the perdure_* functions.
file(GLOB capi_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/capi/*.cpp)
list(FILTER capi_sources EXCLUDE REGEX "_test\\.cpp$")
add_library(perdure_shared SHARED ${capi_sources})
target_include_directories(perdure_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_link_libraries(perdure_shared PRIVATE perdure_session perdure_warnings)
target_link_options(perdure_shared PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/perdure.map)
set_target_properties(perdure_shared PROPERTIES OUTPUT_NAME perdure VERSION ${PROJECT_VERSION} SOVERSION 0
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/perdure.map)

if(PERDURE_MPI)
  add_library(perdure_mpi SHARED src/capi_mpi/open_mpi.cpp)
  target_link_libraries(perdure_mpi PUBLIC perdure_shared MPI::MPI_C PRIVATE MPI::MPI_CXX perdure_warnings)
  set_target_properties(perdure_mpi PROPERTIES OUTPUT_NAME perdure_mpi VERSION ${PROJECT_VERSION} SOVERSION 0)
endif()
