#include "parity/server_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "network/network_testing.hpp"
#include "os/file.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::parity {
namespace {

ServerFile sample_file(std::byte key) {
  ServerFile file{network::encode(network::Address{network::text_bytes("wire"), 7}), {}};
  file.key.fill(key);
  return file;
}

class ServerFileOnDisk : public ::testing::Test {
 protected:
  test_support::TemporaryDirectory directory_;
};

TEST_F(ServerFileOnDisk, IsReadAsItWasWrittenAndIsTheUsersAlone) {
  const std::string path = directory_ / "parity-server";
  ASSERT_TRUE(write_server_file(path, sample_file(std::byte{0xa5})));
  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  EXPECT_EQ(read_server_file(path).value(), sample_file(std::byte{0xa5}));
  EXPECT_EQ(read_server_file(path + "x").error().code, PERDURE_NOT_FOUND);
}

TEST_F(ServerFileOnDisk, AKeyThatOthersCanReadIsNone) {
  const std::string path = directory_ / "parity-server";
  ASSERT_TRUE(write_server_file(path, sample_file(std::byte{1})));
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  EXPECT_EQ(read_server_file(path).error().code, PERDURE_PERMISSION);
}

TEST_F(ServerFileOnDisk, ServersOfOneJobHaveOneKey) {
  const std::string a = directory_ / "a", b = directory_ / "b", c = directory_ / "c";
  ASSERT_TRUE(write_server_file(a, sample_file(std::byte{1})));
  ASSERT_TRUE(write_server_file(b, sample_file(std::byte{1})));
  ASSERT_TRUE(write_server_file(c, sample_file(std::byte{2})));
  EXPECT_EQ(read_server_files({a, b})->size(), 2u);
  EXPECT_EQ(read_server_files({a, b, c}).error().code, PERDURE_MISMATCH);
  EXPECT_EQ(read_server_files({})->size(), 0u);
}

TEST(CorruptServerFile, IsRefusedWhateverIsWrongWithIt) {
  const std::string good = to_text(sample_file(std::byte{0xa5}));
  ASSERT_TRUE(parse_server_file(good, "f"));
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes)
    EXPECT_FALSE(parse_server_file(good.substr(0, bytes), "f")) << bytes;
  EXPECT_EQ(parse_server_file(good + "x", "f").error().code, PERDURE_CORRUPT);
  std::string capital = good, short_key = good;
  capital.replace(capital.find("key a5"), 6, "key A5");
  EXPECT_EQ(parse_server_file(capital, "f").error().code, PERDURE_CORRUPT);
  short_key.erase(short_key.find("key ") + 4, 2);
  EXPECT_EQ(parse_server_file(short_key, "f").error().code, PERDURE_CORRUPT);
  std::string newer = good;
  newer.replace(newer.find(" 1\n"), 3, " 2\n");
  EXPECT_EQ(parse_server_file(newer, "f").error().code, PERDURE_UNSUPPORTED);
}

}  // namespace
}  // namespace perdure::parity
