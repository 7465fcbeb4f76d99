#pragma once
// Makes a directory of the test's own, and removes it at its end.
#include <string>

namespace perdure::test_support {

class TemporaryDirectory {
 public:
  enum class Place { disk, memory };
  /// /tmp/perdure-test-XXXXXX; with `memory` in /dev/shm if it exists, for tests that make thousands of syncs.
  explicit TemporaryDirectory(Place place = Place::disk);
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace perdure::test_support
