#include "reader/examine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reader/written_testing.hpp"

namespace perdure::reader {
namespace {

array::ElementType type_from(const char* text) { return array::ElementType::parse(text, "test").value(); }

template <class T>
base::ConstByteSpan bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

array::Box grid_of(std::uint64_t rows, std::uint64_t columns) {
  array::Box box;
  box.dimensions = 2;
  box.end = {rows, columns};
  return box;
}

TEST(StatisticsOfNumbers, CountWhatIsNoNumberAndLeaveItOut) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  Statistics some(type_from("f8"));
  some.add(bytes_of<double>({nan, 3, -1}));
  some.add(bytes_of<double>({nan}));
  some.add(bytes_of<double>({1}));
  const auto one = some.members().at(0);
  EXPECT_EQ(one.values, 5U);
  EXPECT_EQ(one.nans, 2U);
  EXPECT_EQ(one.least, Number(-1.0));
  EXPECT_EQ(one.most, Number(3.0));
  EXPECT_EQ(one.mean, Number(1.0));
  Statistics all(type_from("f8"));
  all.add(bytes_of<double>({infinity, infinity}));
  EXPECT_EQ(all.members()[0].least, Number(infinity));
  Statistics none(type_from("f4"));
  none.add(bytes_of<float>({std::nanf("")}));
  EXPECT_FALSE(none.members()[0].least || none.members()[0].most || none.members()[0].mean);
}

TEST(StatisticsOfNumbers, KeepEveryBitOfIntegers) {
  Statistics some(type_from("i8"));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = -most - 1;
  some.add(bytes_of<std::int64_t>({most, most - 1, least, least + 1}));
  EXPECT_EQ(some.members()[0].least, Number(least));
  EXPECT_EQ(some.members()[0].most, Number(most));
  EXPECT_EQ(some.members()[0].mean, Number(-0.5));
  Statistics naturals(type_from("u8"));
  naturals.add(bytes_of<std::uint64_t>({~0ULL, 7}));
  EXPECT_EQ(naturals.members()[0].most, Number(~std::uint64_t{0}));
}

TEST(StatisticsOfNumbers, AreOfEachMemberThatIsNotBytes) {
  struct Particle {
    float position[3];
    std::uint8_t room[4];
    double charge[2];  // complex
  };
  Statistics some(type_from("{position:3f4,v4,charge:c16}"));
  const std::vector<Particle> particles = {{{1, 2, 3}, {255, 255, 255, 255}, {5, -7}},
                                           {{-4, 5, 6}, {1, 1, 1, 1}, {6, 8}}};
  some.add(std::as_bytes(std::span(particles)));
  const auto members = some.members();
  ASSERT_EQ(members.size(), 3U);
  EXPECT_EQ(members[0].name, "position");
  EXPECT_EQ(members[0].values, 6U);
  EXPECT_EQ(members[0].least, Number(-4.0));
  EXPECT_EQ(members[0].most, Number(6.0));
  EXPECT_EQ(members[1].name, "charge.real");
  EXPECT_EQ(members[2].name, "charge.imaginary");
  EXPECT_EQ(members[2].least, Number(-7.0));
}

TEST(Differences, SayHowManyAndWhereWhateverTheOrder) {
  for (const bool backwards : {false, true}) {
    Comparison comparison(type_from("f8"));
    std::vector<double> a(12, 1), b(12, 1);
    b[5] = 1.5, b[7] = 4, b[8] = -2;
    for (const std::size_t row : backwards ? std::vector<std::size_t>{2, 1, 0} : std::vector<std::size_t>{0, 1, 2}) {
      array::Box box = grid_of(3, 4);
      box.begin[0] = row, box.end[0] = row + 1;
      comparison.add(box, bytes_of(a).subspan(row * 32, 32), bytes_of(b).subspan(row * 32, 32));
    }
    const Difference& found = comparison.result();
    EXPECT_EQ(found.elements, 12U);
    EXPECT_EQ(found.differing, 3U);
    EXPECT_EQ(found.first, (array::Index{1, 1}));
    EXPECT_EQ(found.largest, 3.0);
    EXPECT_EQ(found.largest_at, (array::Index{1, 3})) << "the first of two that are equal";
    EXPECT_EQ(found.nans, 0U);
  }
}

template <class T>
Difference of_one(const char* type, T a, T b) {
  Comparison comparison(type_from(type));
  comparison.add(grid_of(1, 1), std::as_bytes(std::span(&a, 1)), std::as_bytes(std::span(&b, 1)));
  return comparison.result();
}

TEST(Differences, OfNumbersAreExact) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(of_one<std::int64_t>("i8", most, most - 1).largest, 1.0);
  EXPECT_EQ(of_one<std::int64_t>("i8", most, -most - 1).largest, 18446744073709551615.0);
  EXPECT_EQ(of_one<std::int8_t>("i1", -128, 127).largest, 255.0);
  EXPECT_EQ(of_one<std::uint8_t>("b1", 1, 0).largest, 1.0);
  EXPECT_EQ(of_one<double>("f8", 0.0, -0.0).differing, 1U);
  EXPECT_EQ(of_one<double>("f8", 0.0, -0.0).largest, 0.0);
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(of_one<double>("f8", nan, nan).differing, 0U);
  EXPECT_EQ(of_one<double>("f8", nan, 1).nans, 1U);
  EXPECT_FALSE(of_one<double>("f8", nan, 1).largest);
  EXPECT_EQ(of_one<double>("f8", infinity, 1).largest, infinity);
  using Complex = std::array<float, 2>;
  EXPECT_EQ(of_one<Complex>("c8", {1, 2}, {4, -2}).largest, 5.0);
}

TEST(Differences, OfBytesAreCountedAndRoomBetweenMembersIsNone) {
  using Bytes = std::array<std::uint8_t, 4>;
  const auto bytes = of_one<Bytes>("v4", {1, 2, 3, 4}, {1, 2, 3, 5});
  EXPECT_EQ(bytes.differing, 1U);
  EXPECT_FALSE(bytes.largest);
  EXPECT_EQ(of_one<Bytes>("{a:u2,v2}", {1, 2, 3, 4}, {1, 2, 4, 5}).differing, 0U);
  const auto second = of_one<Bytes>("{a:u2,b:2u1}", {1, 2, 3, 4}, {1, 2, 3, 9});
  EXPECT_EQ(second.differing, 1U);
  EXPECT_EQ(second.largest, 5.0);
  EXPECT_EQ(second.largest_in, "b");
}

TEST(Differences, OfVersionsThatWereDividedInOtherWaysAreThoseOfTheirElements) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    array::AnyBoxes any(seed);
    WrittenStore written;
    segment::ArrayEntry array{{"x", "", ""}, type_from("i4"), segment::ArrayKind::global, any.array(6), {}};
    const array::Box changed = any.part(array.whole);
    const bool change = any.chance();
    for (const std::uint64_t version : {1, 2}) {
      std::vector<WrittenRank> ranks(1 + any.below(8));
      const auto division = any.division(array.whole, ranks.size());
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        array.boxes.clear();
        std::vector<std::byte> bytes;
        for (const auto& box : division[r]) {
          if (box.empty()) continue;
          array.boxes.push_back(box);
          array::each_element(box, [&](const array::Index& at) {
            const bool here = change && version == 2 && array::intersection(changed, [&] {
                                array::Box one = array.whole;
                                for (unsigned d = 0; d < one.dimensions; ++d)
                                  one.begin[d] = at[d], one.end[d] = at[d] + 1;
                                return one;
                              }());
            const std::int32_t value = here ? 5 : 3;
            const auto* begin = reinterpret_cast<const std::byte*>(&value);
            bytes.insert(bytes.end(), begin, begin + 4);
          });
        }
        ranks[r].add(segment::entry_of(4, array).value(), bytes);
        ranks[r].cut(1 + any.below(100));
      }
      written.write({"v", version, {version, 1}}, ranks, 1);
    }
    auto a = written.open("v", 1).value(), b = written.open("v", 2).value();
    std::uint64_t told = 0;
    const auto found = difference(a, *a.array(4), b, *b.array(4), [&](std::uint64_t bytes) { told += bytes; });
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->elements, array.whole.elements());
    EXPECT_EQ(told, array.whole.elements() * 4);
    EXPECT_EQ(found->differing, change ? changed.elements() : 0);
    if (change) {
      EXPECT_EQ(found->first, changed.begin);
      EXPECT_EQ(found->largest, 2.0);
      EXPECT_EQ(found->largest_at, changed.begin);
    }
    const auto members = statistics(b, b.regions()[0], nullptr);
    ASSERT_TRUE(members);
    EXPECT_EQ(members->at(0).values, array.whole.elements());
    EXPECT_EQ(members->at(0).most, Number(std::int64_t{change ? 5 : 3}));
  }
}

TEST(Differences, OfRegionsThatAreNotAlikeAreRefused) {
  WrittenStore written;
  std::vector<std::string> types = {"f8", "i8", "f8"};
  for (const std::uint64_t version : {1, 2, 3}) {
    std::vector<WrittenRank> ranks(1);
    const array::Box whole = grid_of(4, version == 3 ? 5 : 4);
    ranks[0].add(4, segment::ArrayEntry{{}, type_from(types[version - 1].c_str()), {}, whole, {whole}});
    ranks[0].add(segment::RegionEntry{5, 2, version}, std::vector<std::byte>(2 * version));
    ranks[0].cut(100);
    written.write({"v", version, {version, 1}}, ranks, 1);
  }
  auto a = written.open("v", 1).value(), b = written.open("v", 2).value(), c = written.open("v", 3).value();
  EXPECT_EQ(difference(a, *a.array(4), b, *b.array(4), nullptr).error().text(),
            "region 4: type f8 in v version 1, i8 in v version 2 (mismatch)");
  EXPECT_EQ(difference(a, *a.array(4), c, *c.array(4), nullptr).error().code, PERDURE_MISMATCH);
  const auto bytes = array::ElementType::of_bytes(2);
  EXPECT_EQ(difference(a, *a.local(0, 5), b, *b.local(0, 5), bytes, nullptr).error().code, PERDURE_MISMATCH);
  EXPECT_EQ(difference(a, *a.local(0, 5), a, *a.local(0, 5), bytes, nullptr)->differing, 0U);
}

}  // namespace
}  // namespace perdure::reader
