// Runs perdured with memory refusals, by the plan in PERDURE_TEST_REFUSALS.
#include <cstdlib>

#include "refusing_new.hpp"

int perdured_main(int argc, char** argv);

int main(int argc, char** argv) {
  if (const char* file = std::getenv("PERDURE_TEST_REFUSALS")) perdure::test_support::obey_refusals(file);
  return perdured_main(argc, argv);
}
