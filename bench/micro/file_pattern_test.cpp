#include "file_pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/file.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::micro {
namespace {

const std::vector<char> kData{'a', 'b', 'c', 'd', 'e', 'f', 'g'};

std::uint64_t size_of_file(const std::string& path) {
  const auto file = os::File::open(path, os::Open::read);
  return file ? file->size().value_or(0) : 0;
}

class FilePattern : public testing::Test {
 protected:
  test_support::TemporaryDirectory directory_;
  Target target_{.path = directory_ / "file", .offset = 0};
};

TEST_F(FilePattern, WritesInBlocksAndVerifies) {
  for (const std::uint64_t block : {1, 3, 7, 100}) {
    const WriteOptions options{.mode = FileMode::existing, .block_bytes = block, .sync = true};
    ASSERT_TRUE(write_once(target_, options, kData));
    EXPECT_TRUE(verify(target_, kData));
    EXPECT_EQ(size_of_file(target_.path), kData.size());
  }
}

TEST_F(FilePattern, ExistingFilesAreTruncatedAndInPlaceOnesAreNot) {
  const std::vector<char> more(100, 'x');
  ASSERT_TRUE(write_once(target_, {.mode = FileMode::fresh}, more));
  ASSERT_TRUE(write_once(target_, {.mode = FileMode::in_place}, kData));
  EXPECT_EQ(size_of_file(target_.path), more.size());
  ASSERT_TRUE(write_once(target_, {.mode = FileMode::existing}, kData));
  EXPECT_EQ(size_of_file(target_.path), kData.size());
}

TEST_F(FilePattern, NewAndDeletedMeanThatNothingIsThere) {
  ASSERT_TRUE(write_once(target_, {.mode = FileMode::fresh}, kData));
  for (const FileMode mode : {FileMode::fresh, FileMode::deleted}) {
    const auto again = write_once(target_, {.mode = mode}, kData);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, PERDURE_EXISTS);
  }
}

TEST_F(FilePattern, ARegionLeavesThoseBesideItAlone) {
  Target second = target_;
  second.offset = 4096;
  ASSERT_TRUE(write_once(target_, {.mode = FileMode::in_place}, kData));
  ASSERT_TRUE(write_once(second, {.mode = FileMode::in_place}, {'z'}));
  EXPECT_TRUE(verify(target_, kData));
  EXPECT_TRUE(verify(second, {'z'}));
}

TEST_F(FilePattern, FindsAFlippedByteAndNamesTheFile) {
  ASSERT_TRUE(write_once(target_, {.mode = FileMode::fresh}, kData));
  std::vector<char> other = kData;
  other[3] = 'D';
  const auto verified = verify(target_, other);
  ASSERT_FALSE(verified);
  EXPECT_THAT(verified.error().text(), testing::HasSubstr(target_.path));
}

TEST(FileModes, HaveNamesAndRefuseOthers) {
  for (const char* name : {"new", "existing", "in-place", "deleted"}) EXPECT_STREQ(name_of(*file_mode(name)), name);
  EXPECT_FALSE(file_mode("old"));
}

}  // namespace
}  // namespace perdure::micro
