// Captures a program while a store or the node's memory is really full. The capture fails, and the program continues.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>

#include "cli/processes_testing.hpp"

namespace perdure::cli {
namespace {

/// Mounts a file system of this size while the object lives.
class SmallFileSystem {
 public:
  SmallFileSystem(const std::string& path, const std::string& size) : path_(path) {
    std::filesystem::create_directories(path);
    error_ = ::mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID, ("size=" + size).c_str()) == 0 ? 0 : errno;
  }
  ~SmallFileSystem() {
    if (error_ == 0) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallFileSystem(const SmallFileSystem&) = delete;
  SmallFileSystem& operator=(const SmallFileSystem&) = delete;
  int error() const { return error_; }
  int grow(const std::string& size) {
    return ::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT | MS_NOSUID, ("size=" + size).c_str());
  }

 private:
  std::string path_;
  int error_ = 0;
};

class FullCapture : public testing::TestWithParam<const char*> {
 protected:
  void expect_that_it_fails_and_goes_on(SmallFileSystem& small) {
    Patient patient(place_);
    const std::string before = view_of(patient.process());
    std::vector<std::string> arguments = {"capture", patient.number(), "--set", "flush.give_up_after=0.2"};
    if (*GetParam() != '\0') arguments.emplace_back(GetParam());
    const Ran full = Perdure(place_, arguments).wait();
    EXPECT_EQ(full.status, kCannot) << full.out;
    EXPECT_THAT(full.err, testing::HasSubstr("pace")) << "no space";
    Orphans::wait_for_others({patient.process()});
    EXPECT_EQ(view_of(patient.process()), before);
    patient.works();
    ASSERT_EQ(small.grow("200m"), 0);
    const Ran good = Perdure(place_, {"capture", patient.number(), "--json"}).wait();
    ASSERT_EQ(good.status, kGood) << good.err;
    EXPECT_EQ(patient.end(), Patient::kStatus);
    EXPECT_EQ(resumed(place_, {"patient@" + good.json()["version"].dump()}).status, Patient::kStatus);
  }
  Orphans orphans_;
  ProcessPlace place_;
};

TEST_P(FullCapture, IntoAStoreWithoutSpaceFailsAndTheProgramGoesOn) {
  SmallFileSystem small(place_.store, "100k");
  if (small.error() != 0) GTEST_SKIP() << "no file system can be mounted here: " << std::strerror(small.error());
  expect_that_it_fails_and_goes_on(small);
}

// No tier of the node has room for the pages.
TEST_P(FullCapture, OntoANodeWithoutSpaceFailsAndTheProgramGoesOn) {
  place_.node = place_.directory / "small/node";
  SmallFileSystem small(place_.directory / "small", "100k");
  if (small.error() != 0) GTEST_SKIP() << "no file system can be mounted here: " << std::strerror(small.error());
  expect_that_it_fails_and_goes_on(small);
}

INSTANTIATE_TEST_SUITE_P(Ways, FullCapture, testing::Values("", "--stop", "--pre-copy"), [](const auto& one) {
  const std::string name = one.param;
  return name.empty() ? std::string("Running") : name == "--stop" ? std::string("Stopped") : std::string("PreCopied");
});

}  // namespace
}  // namespace perdure::cli
