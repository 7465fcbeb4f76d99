#include "segment/file_source.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

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

TEST_F(FileSource, WhatIsNoFileOfOursIsRefused) {
  EXPECT_EQ(open_file(directory_ / "other").error().code, PERDURE_NOT_FOUND);
  std::filesystem::create_symlink(path_, directory_ / "link");
  EXPECT_FALSE(open_file(directory_ / "link"));
}

}  // namespace
}  // namespace perdure::segment
