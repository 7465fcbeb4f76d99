// This release restores a checkpoint of the last one that knew only segments of format 1.
#include <gtest/gtest.h>

#include <array>

#include "client/session.hpp"
#include "os/file.hpp"
#include "segment/file_source.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::client {
namespace {

TEST(Archive, OfAnOlderReleaseIsRestored) {
  const test_support::TemporaryDirectory directory;
  const std::string kept = std::string(PERDURE_TEST_DATA) + "/archive-v1.pds";
  const auto bytes = os::read_file(kept, 1 << 20);
  ASSERT_TRUE(bytes);
  const auto source = segment::open_file(kept);
  ASSERT_TRUE(source) << source.error().text();
  const auto manifest = segment::read_manifest(**source);
  ASSERT_TRUE(manifest) << manifest.error().text();
  const std::string store = directory / "store/archive/3";
  ASSERT_TRUE(os::make_directories(store));
  ASSERT_TRUE(os::write_file_atomically(store + "/" + segment::file_name(0, 1, manifest->id.attempt), *bytes));

  const std::string at = directory.path();
  auto session =
      Session::open(comm::make_solo(), ("store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
                                        "/file;tier.memory.max_bytes=64MiB;tier.file.max_bytes=64MiB")
                                           .c_str());
  ASSERT_TRUE(session) << session.error().text();
  std::array<double, 1000> numbers{};
  std::array<std::uint32_t, 3000> words{};
  ASSERT_TRUE((*session)->protect({1, reinterpret_cast<std::byte*>(numbers.data()), 8, numbers.size()}));
  ASSERT_TRUE((*session)->protect({5, reinterpret_cast<std::byte*>(words.data()), 4, words.size()}));
  const auto restored = (*session)->restore("archive", PERDURE_LATEST, {});
  ASSERT_TRUE(restored) << restored.error().text();
  for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], static_cast<double>(i) * 0.5 - 7) << i;
  for (std::size_t i = 0; i < words.size(); ++i) ASSERT_EQ(words[i], static_cast<std::uint32_t>(i) * 2654435761U) << i;
  EXPECT_TRUE((*session)->close());
}

}  // namespace
}  // namespace perdure::client
