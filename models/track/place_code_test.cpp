#include "track/place_code.hpp"

#include <gtest/gtest.h>

#include "support/sanitized.hpp"
#include "track/random_program_testing.hpp"

namespace perdure::track {
namespace {

bool same(const Place& a, const Place& b) {
  return a.loop == b.loop && a.before == b.before && a.id == b.id && a.answers == b.answers && a.sets == b.sets &&
         a.written == b.written && a.payload == b.payload;
}

Place place_of(std::uint64_t seed) {
  const RandomProgram program(seed, {seed % 2 == 0, seed % 3 == 0});
  const auto run = program.run({{5 + seed % 4}, 0, nullptr, {}, nullptr});
  return run.checkpoints.empty() ? Place{} : run.checkpoints[0].place;
}

TEST(PlaceCode, GivesEveryPlaceBack) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Place place = place_of(seed);
    const auto read = decode_place(encode_place(place));
    ASSERT_TRUE(read) << seed << ": " << read.error();
    EXPECT_TRUE(same(*read, place)) << seed;
  }
}

TEST(PlaceCode, RefusesEveryPlaceThatWasCutOrGoesOn) {
  const auto bytes = encode_place(place_of(6));
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(decode_place(std::span(bytes).first(length))) << length;
  auto longer = bytes;
  longer.push_back({});
  EXPECT_FALSE(decode_place(longer));
}

// What is read from changed bytes is one place, and resuming from it ends, whatever it says.
TEST(PlaceCode, OfChangedBytesIsAPlaceOrAnError) {
  std::mt19937_64 random(1);
  std::size_t refused = 0;
  for (std::uint64_t seed = 1; seed <= test_support::unless_sanitized(60U, 10U); ++seed) {
    const auto bytes = encode_place(place_of(seed));
    for (int round = 0; round < 100; ++round) {
      auto changed = bytes;
      for (std::uint64_t i = 0; i <= random() % 3; ++i) {
        const std::size_t at = random() % changed.size();
        changed[at] = random() % 2 == 0 ? static_cast<std::byte>(random()) : std::byte{0xff};
      }
      const auto read = decode_place(changed);
      refused += read ? 0 : 1;
      if (!read) continue;
      EXPECT_TRUE(same(*decode_place(encode_place(*read)), *read));
      Tracker tracker;
      for (const auto& set : read->sets) (void)tracker.declare(set);
      tracker.resume(*read);
      for (int loop = 0; loop < 30; ++loop) (void)tracker.loop(static_cast<LoopId>(loop % 3), {});
    }
  }
  EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace perdure::track
