// Tests that places survive encoding and decoding, and that other bytes are refused.
#include "track/place_codec.hpp"

#include <gtest/gtest.h>

#include <random>

#include "track/random_program_testing.hpp"

namespace perdure::track {
namespace {

bool equal(const Place& a, const Place& b) {
  return a.loop == b.loop && a.before == b.before && a.id == b.id && a.answers == b.answers && a.sets == b.sets &&
         a.written == b.written && a.saved == b.saved && a.payload == b.payload;
}

Place any_place(std::uint64_t seed) {
  const RandomProgram program(seed, {false, seed % 2 == 0});
  const auto run = program.run({{seed % 5}, 2, nullptr, {}, nullptr});
  return run.checkpoints.empty() ? Place{} : run.checkpoints[0].place;
}

TEST(PlaceBytes, ComeBackAsTheyWere) {
  std::size_t payloads = 0, answers = 0, scalars = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Place place = any_place(seed);
    payloads += place.payload ? 1 : 0;
    answers += place.answers.lengths.size();
    for (const DataSet& set : place.sets) scalars += set.box.dimensions == 0 ? 1 : 0;
    const auto again = decode_place(encode(place));
    ASSERT_TRUE(again) << again.error();
    EXPECT_TRUE(equal(*again, place)) << seed;
  }
  EXPECT_GT(payloads, 10U);
  EXPECT_GT(answers, 10U);
  EXPECT_GT(scalars, 10U);
}

TEST(PlaceBytes, ThatAreDamagedAreRefusedOrSaySomethingElse) {
  std::mt19937_64 random(3);
  std::size_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    auto bytes = encode(any_place(seed));
    for (int i = 0; i < 40; ++i) {
      auto other = bytes;
      if (i % 4 == 0)
        other.resize(random() % other.size());
      else
        other[random() % other.size()] = std::byte(random());
      if (const auto place = decode_place(other); !place)
        refused += place.error().find("place of the checkpoint") != std::string::npos ? 1 : 0;
      else
        (void)encode(*place);
    }
  }
  EXPECT_GT(refused, 1000U);
}

TEST(PlaceBytes, WhoseBoxesLieOutsideAreRefused) {
  Place place = any_place(4);
  ASSERT_FALSE(place.sets.empty());
  DataSet& set = place.sets[0];
  set.box = {1, {0}, {4}};
  place.written[0] = place.saved[0] = {};
  place.written[0].add({1, {0}, {4}});
  EXPECT_TRUE(decode_place(encode(place)));
  for (const Box& outside : {Box{1, {0}, {5}}, Box{1, {-1}, {2}}, Box{1, {2}, {2}}, Box{2, {0, 0}, {1, 1}},
                             Box{1, {0}, {std::numeric_limits<std::int64_t>::max()}}}) {
    Place bad = place;
    bad.saved[0] = {};
    bad.saved[0].add(outside);
    EXPECT_EQ(decode_place(encode(bad)).has_value(), outside.empty()) << outside.text();
  }
}

}  // namespace
}  // namespace perdure::track
