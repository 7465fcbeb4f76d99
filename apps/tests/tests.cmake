# Tests whole runs of the applications under mpirun; one script, apps/tests/run_app, implements the scenarios.
function(app_test name)
  add_test(NAME ${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/run_app ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS apps
    ENVIRONMENT "PERDURE_TEST_MPIRUN=${MPIEXEC_EXECUTABLE}")
endfunction()

set(heat2d_programs $<TARGET_FILE:heat2d_c> $<TARGET_FILE:heat2d_cpp>)
if(PERDURE_FORTRAN)
  list(APPEND heat2d_programs $<TARGET_FILE:heat2d_f90>)
endif()
app_test(Apps.TheTwinsOfHeat2dGiveTheSameBits same_bits 3 heat2d.txt ${heat2d_programs})
app_test(Apps.NbodyGivesTheSameBitsWithAndWithoutPerdure with_and_without 4 nbody.txt $<TARGET_FILE:nbody>)
app_test(Apps.NbodyKilledAndStartedAgainGivesTheSameBits kill_and_restart 4 nbody.txt $<TARGET_FILE:nbody>)
app_test(Apps.NbodyKilledAndStartedAgainInDaemonModeGivesTheSameBits kill_and_restart 4 nbody.txt $<TARGET_FILE:nbody>)
set_property(TEST Apps.NbodyKilledAndStartedAgainInDaemonModeGivesTheSameBits APPEND PROPERTY ENVIRONMENT
  PERDURE_ENGINE_MODE=daemon PERDURE_ENGINE_DAEMON_PATH=$<TARGET_FILE:perdured>)
app_test(Apps.NbodyKilledBeforeItsFirstCheckpointStartsFromTheBeginning kill_early 2 nbody.txt $<TARGET_FILE:nbody>)
app_test(Apps.NbodyOnOneRankRuns with_and_without 1 nbody.txt $<TARGET_FILE:nbody>)
# Bodies without forces have no sums that would round differently.
app_test(Apps.NbodyWithoutForcesGoesOnWithAnyNumberOfRanks any_ranks 3 nbody_free.txt $<TARGET_FILE:nbody>)
app_test(Apps.NbodyGoesOnWithOtherNumbersOfRanks other_ranks 3 nbody.txt $<TARGET_FILE:nbody>)
app_test(Apps.Heat2dWithTrackedRegionsGivesTheSameBits same_bits 3 heat2d.txt ${heat2d_programs} $<TARGET_FILE:heat2d_track>)
app_test(Apps.Heat2dWithTrackedRegionsGoesOnOnAnyNumberOfRanks tracked 2 heat2d.txt $<TARGET_FILE:heat2d_track>)
app_test(Apps.BlastHasTheSameBitsOnAnyNumberOfRanks blast_bits 5 heat2d.txt $<TARGET_FILE:blast>)
app_test(Apps.BlastsRegionsDoWhatTheySay blast_checked 2 heat2d.txt $<TARGET_FILE:blast>)
# A dot replaces the semicolon, which would end an argument.
app_test(Apps.TrackedRanksHearOfOneThatDoesNotCome late 4 heat2d.txt "1" "ranks 0 and 2-3 have come. rank 1 has not" $<TARGET_FILE:late_rank>)
app_test(Apps.TrackedRanksHearOfThoseThatCameLater late_sleeper 4 heat2d.txt "3" "ranks 0-2 have come. rank 3 has not" $<TARGET_FILE:late_rank>)
app_test(Apps.TrackedRanksHearThatRankZeroDoesNotCome late 3 heat2d.txt "0 2" "rank 1 has come. ranks 0 and 2 have not" $<TARGET_FILE:late_rank>)
app_test(Apps.TrackedRanksHearOfManyWhoDoNotCome late 12 heat2d.txt "0 3 4 5 7" "ranks 1-2, 6 and 8-11 have come. ranks 0, 3-5 and 7 have not"
         $<TARGET_FILE:late_rank>)
app_test(Apps.ATwinGoesOnFromAnotherTwinsCheckpoint twin_takes_over 2 heat2d.txt ${heat2d_programs})
app_test(Apps.AWrongInputFileEndsTheJobWithAMessage wrong_input 2 heat2d.txt $<TARGET_FILE:heat2d_c>)
foreach(program IN ITEMS c cpp f90)
  if(TARGET heat2d_${program})
    app_test(Apps.Heat2d_${program}_GivesTheSameBitsWithAndWithoutPerdure with_and_without 2 heat2d.txt
             $<TARGET_FILE:heat2d_${program}>)
    app_test(Apps.Heat2d_${program}_KilledAndStartedAgainGivesTheSameBits kill_and_restart 3 heat2d.txt
             $<TARGET_FILE:heat2d_${program}>)
    app_test(Apps.Heat2d_${program}_GoesOnWithAnyNumberOfRanks any_ranks 3 heat2d.txt $<TARGET_FILE:heat2d_${program}>)
  endif()
endforeach()

# Tests the mini-applications on the mesh; apps/tests/run_clover implements the scenarios. The tiny decks have two cells
# in all directions but x, so five ranks are the maximum.
function(clover_test name scenario size deck)
  add_test(NAME Apps.Clover${size}_${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/run_clover ${scenario}
    $<TARGET_FILE:clover${size}> ${CMAKE_CURRENT_SOURCE_DIR}/${deck} ${ARGN})
  set_tests_properties(Apps.Clover${size}_${name} PROPERTIES TIMEOUT 300 LABELS apps
    ENVIRONMENT "PERDURE_TEST_MPIRUN=${MPIEXEC_EXECUTABLE}")
endfunction()
foreach(size IN ITEMS 2d 3d)
  clover_test(RefusesWrongDecks refuses ${size} tests/clover${size}.in)
  clover_test(ReadsAndWritesWhatItsLoopsSay keeps_to_what_it_says ${size} cloverleaf/decks/clover${size}_tiny.in 6)
  if(PERDURE_SANITIZE)  # several times as slow; the mesh's own tests run there
    continue()
  endif()
  clover_test(FindsTheKnownSolution solves ${size} cloverleaf/decks/clover${size}_tiny.in 1 5)
  clover_test(HasTheSameFieldsOnAnyNumberOfRanks same_fields ${size} tests/clover${size}.in 1 2 3 4)
  clover_test(HasTheSameSumsOnAnyNumberOfRanksIfAskedTo same_sums ${size} tests/clover${size}.in 1 3)
  clover_test(SaysItsSumsToAsManyDigitsAsAsked digits ${size} tests/clover${size}.in)
  clover_test(RefusesWhatItCannotDo refuses ${size} tests/clover${size}.in)
endforeach()
# Debian's Python finds Debian's python3-h5py; without that library the test says so and fails.
find_program(PERDURE_SYSTEM_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(PERDURE_SYSTEM_PYTHON NAMES python3 REQUIRED)
if(TARGET perdure_mesh_hdf5)
  clover_test(WritesItsFieldsAsHdf5 fields 2d tests/clover2d.in ${PERDURE_SYSTEM_PYTHON}
    ${CMAKE_CURRENT_SOURCE_DIR}/tests/check_fields.py 48x32 12x8)
else()
  clover_test(SaysThatItHasNoHdf5 no_fields 2d tests/clover2d.in)
endif()
perdure_test(test_cloverleaf SOURCES cloverleaf/deck_test.cpp cloverleaf/deck.cpp)
target_include_directories(test_cloverleaf PRIVATE cloverleaf)

# Tests programs on the mesh library; one script, apps/tests/run_mesh, implements the scenarios.
function(mesh_app_test name)
  add_test(NAME ${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/run_mesh ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS apps
    ENVIRONMENT "PERDURE_TEST_MPIRUN=${MPIEXEC_EXECUTABLE}")
endfunction()

set(tea_bm_1 $<TARGET_FILE:tealeaf> ${CMAKE_CURRENT_SOURCE_DIR}/tealeaf/decks/tea_bm_1.in)
mesh_app_test(Apps.TealeafsLoopsDoWhatTheySay tealeaf_checked ${tea_bm_1})
mesh_app_test(Apps.TealeafRefusesWrongDecksByLineAndKey tealeaf_wrong_deck ${tea_bm_1})
set(taylor_green $<TARGET_FILE:taylor_green>)
mesh_app_test(Apps.TaylorGreensLoopsDoWhatTheySay taylor_checked ${taylor_green})
if(NOT PERDURE_SANITIZE)  # several times as slow
  mesh_app_test(Apps.TealeafGivesThePublishedAnswerInThePublishedIterations tealeaf_benchmark ${tea_bm_1})
  mesh_app_test(Apps.TealeafSaysItsSumsToAsManyDigitsAsAsked tealeaf_digits ${tea_bm_1})
  mesh_app_test(Apps.TaylorGreenSaysItsMeansToAsManyDigitsAsAsked taylor_digits ${taylor_green})
  mesh_app_test(Apps.TealeafsSolversGiveTheSameAnswer tealeaf_solvers ${tea_bm_1})
  mesh_app_test(Apps.TealeafReproducesItsBitsOnAnyNumberOfRanksAndThreads tealeaf_reproducible ${tea_bm_1})
  mesh_app_test(Apps.TaylorGreenLosesTheEnergyThatFrictionTakes taylor_energy ${taylor_green})
  mesh_app_test(Apps.TaylorGreenConvergesWithTheFourthOrder taylor_order ${taylor_green})
  mesh_app_test(Apps.TaylorGreenHasTheEnergyAndEnstrophyOfASpectralReference taylor_spectral ${taylor_green}
    ${PERDURE_SYSTEM_PYTHON})
  mesh_app_test(Apps.TaylorGreenReproducesItsBitsOnAnyNumberOfRanksAndThreads taylor_reproducible ${taylor_green})
endif()

# Killed at random moments, they resume from the data that the mesh found necessary to save, on other numbers of ranks.
function(killed_test name seed lives)
  add_test(NAME Apps.${name}KilledAnywhereEndsAsItWouldHave COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/run_killed ${seed} ${lives} ${ARGN})
  set_tests_properties(Apps.${name}KilledAnywhereEndsAsItWouldHave PROPERTIES TIMEOUT 300 LABELS apps
    ENVIRONMENT "PERDURE_TEST_MPIRUN=${MPIEXEC_EXECUTABLE}")
endfunction()
killed_test(Clover2d 1 3 $<TARGET_FILE:clover2d> ${CMAKE_CURRENT_SOURCE_DIR}/tests/clover2d.in)
# Tests a program of another kind: tracked regions around loops over elements and nodes, with arrays that alternate.
killed_test(Blast 6 4:20 $<TARGET_FILE:blast> --rows 120 --columns 100 --steps 200)
if(NOT PERDURE_SANITIZE)
  killed_test(Clover3d 2 3 $<TARGET_FILE:clover3d> ${CMAKE_CURRENT_SOURCE_DIR}/tests/clover3d.in)
  killed_test(Tealeaf 3 3 $<TARGET_FILE:tealeaf> ${CMAKE_CURRENT_SOURCE_DIR}/tealeaf/decks/tea_bm_2.in)
  killed_test(TaylorGreen 4 3 $<TARGET_FILE:taylor_green> --cells 24 --steps 60 --every 1)
endif()

# Runs the README's demonstrations, as make does. They kill processes themselves.
if(NOT PERDURE_SANITIZE)
  foreach(demonstration demo demo-nodes demo-elastic demo-mesh)
    set(small)
    # It computes for two processor minutes: a campaign, which has no share, runs it whole.
    if(demonstration STREQUAL "demo-mesh" AND PERDURE_TEST_SHARE)
      set(small --small)
    endif()
    add_test(NAME Apps.${demonstration} COMMAND ${PROJECT_SOURCE_DIR}/tools/${demonstration} --build ${PROJECT_BINARY_DIR} ${small})
    set_tests_properties(Apps.${demonstration} PROPERTIES TIMEOUT 300 LABELS apps PASS_REGULAR_EXPRESSION "identical: yes")
  endforeach()
endif()
