#include "segment/file_source.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <vector>

#include "os/file.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::segment {
namespace {

class FileSource : public testing::Test {
 protected:
  FileSource() { std::ofstream(path_) << "0123456789"; }
  test_support::TemporaryDirectory directory_;
  const std::string path_ = directory_ / "file";
};

TEST_F(FileSource, ReadsAFileAtAnyOffset) {
  const auto source = open_file(path_);
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ((*source)->size(), 10U);
  EXPECT_EQ((*source)->name(), path_);
  std::array<std::byte, 3> read;
  ASSERT_TRUE((*source)->read(7, read));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(read.data()), read.size()), "789");
}

TEST_F(FileSource, ReadingBeyondItsEndIsAnError) {
  const auto source = open_file(path_);
  ASSERT_TRUE(source);
  std::array<std::byte, 3> read;
  EXPECT_FALSE((*source)->read(8, read));
}

TEST(FileWithHoles, SaysAtEveryOffsetHowFarItIsZero) {
  const test_support::TemporaryDirectory directory(test_support::TemporaryDirectory::Place::memory);
  constexpr std::uint64_t kSize = 1 << 20, kData = kSize / 2;
  const auto file = os::File::open(directory / "file", os::Open::create).value();
  ASSERT_TRUE(file.truncate(kSize));
  ASSERT_TRUE(file.write(kData, std::vector<std::byte>(4096, std::byte{1})));
  const auto source = open_file(directory / "file").value();
  EXPECT_EQ(source->zeros(0), kData);
  EXPECT_EQ(source->zeros(4096), kData - 4096);
  EXPECT_EQ(source->zeros(kData), 0U);
  EXPECT_EQ(source->zeros(kSize - 4096), 4096U) << "up to the end";
  EXPECT_EQ(source->zeros(kSize), 0U);
}

TEST_F(FileSource, WhatIsNoFileOfOursIsRefused) {
  EXPECT_EQ(open_file(directory_ / "other").error().code, PERDURE_NOT_FOUND);
  std::filesystem::create_symlink(path_, directory_ / "link");
  EXPECT_FALSE(open_file(directory_ / "link"));
}

}  // namespace
}  // namespace perdure::segment
