// Of programs whose cases run in the mode that their name draws.
#include <gtest/gtest.h>

#include "drawn_modes.hpp"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  perdure::test_support::list_drawn_cases_only();
  return RUN_ALL_TESTS();
}
