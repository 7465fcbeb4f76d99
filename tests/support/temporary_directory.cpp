#include "support/temporary_directory.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace perdure::test_support {

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = "/tmp/perdure-test-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed in /tmp");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace perdure::test_support
