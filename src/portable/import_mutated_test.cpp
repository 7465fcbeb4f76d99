// An import of a damaged HDF5 file ends, and reports the defect, whatever the library does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "os/limited_child.hpp"
#include "portable/exported_testing.hpp"
#include "portable/import_version.hpp"
#include "support/sanitized.hpp"

namespace perdure::portable {
namespace {

using test_support::TemporaryDirectory;

class DamagedFile : public ::testing::Test {
 protected:
  void SetUp() override {
    AnyExport any(4, 3);
    auto content = any.open();
    ASSERT_TRUE(export_all(content, choose(content, {}).value(), directory_ / "good.h5"));
    std::ifstream file(directory_ / "good.h5", std::ios::binary);
    good_.assign(std::istreambuf_iterator<char>(file), {});
  }
  /// Imports the file with one byte changed.
  void import_changed(std::size_t at) {
    constexpr unsigned kFlips[] = {0x80, 0xff, 0x01};
    std::string bad = good_;
    bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ kFlips[tried_++ % 3]);
    const std::string path = directory_ / "bad.h5", name = "of-" + std::to_string(tried_);
    std::ofstream(path, std::ios::binary) << bad;
    constexpr ReadLimits kLimits{base::GiB, 1};
    const auto imported = import_hdf5(
        path, into_.store(), name, 1, [](std::uint64_t) {}, kLimits);
    if (imported) return;
    const base::Error& error = imported.error();
    SCOPED_TRACE("byte " + std::to_string(at) + ": " + error.text());
    EXPECT_NE(error.code, PERDURE_INTERNAL);
    EXPECT_FALSE(error.cause.empty());
    EXPECT_TRUE(error.object.starts_with(path) || error.object.starts_with(name));
    EXPECT_FALSE(into_.open(name));
    if (error.cause.find("the process that read it with HDF5 failed: it ") != 0) return;
    EXPECT_NE(error.remedy.find("h5dump"), std::string::npos);
    ++ended_;
  }

  TemporaryDirectory directory_{TemporaryDirectory::Place::memory};
  reader::WrittenStore into_;
  std::string good_;
  std::size_t tried_ = 0, ended_ = 0;
};

// These bytes are the lengths of texts that go with data sets: HDF5 1.10 believes them.
TEST_F(DamagedFile, WhoseTextsHaveOtherLengthsNeitherCrashesAnImportNorKeepsIt) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  const std::size_t texts = good_.find("GCOL");
  ASSERT_NE(texts, std::string::npos);
  for (std::size_t at = texts; at < std::min(texts + 2048, good_.size()); at += 11) import_changed(at);
  EXPECT_GT(ended_, 0U) << "of " << tried_ << ": this version of HDF5 refuses all, and others are needed";
}

TEST_F(DamagedFile, OfAnyPlaceNeitherCrashesAnImportNorKeepsIt) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  for (std::size_t at = 0; at < good_.size(); at += 199) import_changed(at);
  EXPECT_GT(tried_, 100U);
}

// With a sanitizer, addresses have no limit.
TEST(ReaderOfAFile, GetsNoMoreMemoryThanItMay) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  auto child = os::LimitedChild::start({256 * base::MiB, 10}, [](os::LimitedChild::Output& output) {
    void* little = std::malloc(64 * base::MiB);
    void* much = std::malloc(512 * base::MiB);
    const std::byte answers[] = {std::byte{little != nullptr}, std::byte{much != nullptr}};
    output.say(answers);
  });
  ASSERT_TRUE(child) << child.error().text();
  std::byte answers[2] = {};
  ASSERT_TRUE(child->hear(answers));
  EXPECT_EQ(answers[0], std::byte{1});
  EXPECT_EQ(answers[1], std::byte{0});
}

}  // namespace
}  // namespace perdure::portable
