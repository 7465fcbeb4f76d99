#include "engine/ledger/expected_chunks.hpp"

#include <gtest/gtest.h>

#include <random>

namespace perdure::engine {
namespace {

segment::VersionId version_of(std::uint64_t version) { return {"app", version, {version, 1}}; }

TEST(ExpectedChunksOfRanks, AreWithoutASlotUntilTheyGotOneForThisVersion) {
  ExpectedChunks expected;
  expected.reserved(1, {10, 20});
  expected.reserved(2, {5});
  EXPECT_EQ(expected.without_slot(version_of(1)), 3u);
  EXPECT_EQ(expected.bytes(), 35u);
  expected.granted(1, version_of(1));
  EXPECT_EQ(expected.without_slot(version_of(1)), 2u);
  EXPECT_EQ(expected.without_slot(version_of(2)), 3u);
  expected.granted(1, version_of(2));
  EXPECT_EQ(expected.without_slot(version_of(1)), 3u) << "client 1 has begun with another one";
  expected.client_gone(1);
  EXPECT_EQ(expected.without_slot(version_of(2)), 1u);
  EXPECT_EQ(expected.bytes(), 5u);
}

TEST(ExpectedChunksOfRanks, AreNeverFewerThanNone) {
  ExpectedChunks expected;
  expected.granted(1, version_of(1));
  expected.granted(1, version_of(1));
  EXPECT_EQ(expected.without_slot(version_of(1)), 0u) << "nothing was reserved";
  expected.reserved(1, {10});
  EXPECT_EQ(expected.without_slot(version_of(1)), 0u) << "two were granted, and one was reserved";
  expected.client_gone(7);
}

// A reference that counts everything anew each time.
struct PlainCount {
  struct Client {
    std::vector<std::uint64_t> sizes;
    std::uint64_t version = 0, granted = 0;
  };
  std::map<ClientId, Client> clients;
  std::uint64_t without_slot(std::uint64_t version) const {
    std::uint64_t count = 0;
    for (const auto& [id, client] : clients) {
      const std::uint64_t granted = client.version == version ? client.granted : 0;
      count += client.sizes.size() - std::min<std::uint64_t>(client.sizes.size(), granted);
    }
    return count;
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [id, client] : clients)
      for (const auto size : client.sizes) sum += size;
    return sum;
  }
};

TEST(ExpectedChunksOfRanks, AreWhatCountingThemEveryTimeGives) {
  std::mt19937_64 random(7);
  ExpectedChunks expected;
  PlainCount plain;
  for (int i = 0; i < 5000; ++i) {
    const ClientId client = random() % 6;
    const std::uint64_t what = random() % 10, version = 1 + random() % 3;
    if (what == 0) {
      expected.client_gone(client);
      plain.clients.erase(client);
    } else if (what < 3) {
      const std::vector<std::uint64_t> sizes(random() % 5, 1 + random() % 100);
      expected.reserved(client, sizes);
      plain.clients[client].sizes = sizes;
    } else {
      expected.granted(client, version_of(version));
      auto& counted = plain.clients[client];
      counted.granted = counted.version == version ? counted.granted + 1 : 1;
      counted.version = version;
    }
    for (const std::uint64_t v : {1U, 2U, 3U}) ASSERT_EQ(expected.without_slot(version_of(v)), plain.without_slot(v));
    ASSERT_EQ(expected.bytes(), plain.bytes());
  }
}

}  // namespace
}  // namespace perdure::engine
