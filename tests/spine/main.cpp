// Runs the tests of programs whose cases draw their mode by name.
#include <gtest/gtest.h>

#include "drawn_modes.hpp"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  perdure::test_support::list_drawn_cases_only();
  return RUN_ALL_TESTS();
}
