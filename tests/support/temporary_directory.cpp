#include "support/temporary_directory.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace perdure::test_support {

TemporaryDirectory::TemporaryDirectory(Place place) {
  const bool memory = place == Place::memory && access("/dev/shm", W_OK) == 0;
  const char* chosen =
      std::getenv("PERDURE_TEST_DIRECTORY");  // set by tools/mutants, which removes leftovers of killed tests
  const std::string parent = chosen != nullptr ? chosen : memory ? "/dev/shm" : "/tmp";
  std::string pattern = parent + "/perdure-test-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed: " + pattern);
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace perdure::test_support
