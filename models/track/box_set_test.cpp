#include "track/box_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace perdure::track {
namespace {

using Point = std::array<std::int64_t, 2>;

Box plane(std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right) {
  return {2, {top, left}, {bottom, right}};
}

template <class Use>
void each_point(const Box& box, Use use) {
  for (std::int64_t y = box.begin[0]; y < box.end[0]; ++y)
    for (std::int64_t x = box.begin[1]; x < box.end[1]; ++x) use(Point{y, x});
}

TEST(BoxSet, HasTheElementsOfASetOfPoints) {
  std::mt19937_64 random(1);
  const auto any = [&] {
    const auto at = [&] { return static_cast<std::int64_t>(random() % 9) - 3; };
    const auto top = at(), left = at();
    return plane(top, top + static_cast<std::int64_t>(random() % 5), left,
                 left + static_cast<std::int64_t>(random() % 5));
  };
  for (int round = 0; round < 200; ++round) {
    BoxSet set;
    std::set<Point> points;
    for (int step = 0; step < 30; ++step) {
      const Box box = any();
      std::size_t shared = 0, all = 0;
      each_point(box, [&](const Point& point) { ++all, shared += points.count(point); });
      ASSERT_EQ(set.covers(box), shared == all);
      ASSERT_EQ(set.meets(box), shared > 0);
      switch (random() % 3) {
        case 0:
          set.add(box);
          each_point(box, [&](const Point& point) { points.insert(point); });
          break;
        case 1:
          set.remove(box);
          each_point(box, [&](const Point& point) { points.erase(point); });
          break;
        default: {
          std::size_t taken = 0;
          set.extract(box, [&](const Box& part) {
            each_point(part, [&](const Point& point) { taken += points.erase(point); });
          });
          ASSERT_EQ(taken, shared);
        }
      }
      std::set<Point> now;
      std::uint64_t count = 0;
      for (const Box& one : set.boxes()) each_point(one, [&](const Point& point) { ++count, now.insert(point); });
      ASSERT_EQ(now, points);
      ASSERT_EQ(count, points.size()) << "boxes overlap";
      ASSERT_EQ(set.elements(), points.size());
    }
  }
}

TEST(BoxSet, JoinsWhatIsTogetherABox) {
  BoxSet set;
  for (std::int64_t y = 0; y < 10; ++y)
    for (std::int64_t x = 0; x < 10; x += 2) set.add(plane(y, y + 1, x, x + 2));
  EXPECT_EQ(set.boxes().size(), 1U);
  BoxSet other;
  other.add(plane(0, 10, 5, 10));
  EXPECT_FALSE(set == other);
  other.add(plane(0, 10, 0, 5));
  EXPECT_TRUE(set == other);
}

TEST(BoxSet, OfAScalarIsThereOrNot) {
  BoxSet set;
  const Box scalar;
  EXPECT_FALSE(set.covers(scalar));
  set.add(scalar);
  EXPECT_TRUE(set.covers(scalar));
  EXPECT_EQ(set.elements(), 1U);
  set.remove(scalar);
  EXPECT_TRUE(set.empty());
}

TEST(Box, SaysWhereItIs) {
  EXPECT_EQ(plane(-2, 5, 0, 3).text(), "[-2:5, 0:3]");
  EXPECT_TRUE(intersection(plane(0, 2, 0, 2), plane(2, 3, 0, 2)).empty());
}

}  // namespace
}  // namespace perdure::track
