#include "redundancy/code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redundancy/reference_testing.hpp"

namespace perdure::redundancy {
namespace {

using reference::Bytes;
using reference::random_bytes;

std::vector<base::ConstByteSpan> views(const std::vector<Bytes>& items) { return {items.begin(), items.end()}; }
std::vector<base::ByteSpan> targets_of(std::vector<Bytes>& items) { return {items.begin(), items.end()}; }

/// A stripe with random content, encoded by the reference.
struct Stripe {
  unsigned k, m;
  std::vector<Bytes> items;

  Stripe(const std::vector<std::size_t>& lengths, unsigned parities, std::mt19937_64& random)
      : k(static_cast<unsigned>(lengths.size())), m(parities) {
    for (const std::size_t length : lengths) items.push_back(random_bytes(length, random));
    for (Bytes& parity : reference::encode(items, m)) items.push_back(std::move(parity));
  }
  std::vector<Bytes> data() const { return {items.begin(), items.begin() + k}; }
  std::vector<Bytes> parities() const { return {items.begin() + k, items.end()}; }
};

/// Expects all missing items to be rebuilt, or refused exactly if they are more than m. Missing items are empty.
void expect_decoded(const Code& code, const Stripe& stripe, std::uint64_t lost) {
  Items available;
  std::vector<Bytes> left = stripe.items, rebuilt;
  std::vector<unsigned> wanted;
  for (unsigned i = 0; i < stripe.k + stripe.m; ++i) {
    available[i] = (lost >> i & 1U) == 0;
    if (available[i]) continue;
    left[i].clear();
    wanted.push_back(i);
    rebuilt.emplace_back(stripe.items[i].size(), std::byte{0xee});
  }
  const auto status = code.decode(available, views(left), wanted, targets_of(rebuilt));
  ASSERT_EQ(status.has_value(), wanted.size() <= stripe.m) << std::hex << lost;
  if (!status) {
    ASSERT_EQ(status.error().code, PERDURE_NOT_FOUND);
    return;
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(rebuilt[i], stripe.items[wanted[i]]) << wanted[i];
  // One source after the other, as they arrive, must give the same.
  const Recovery recovery = code.recovery(available, wanted).value();
  for (Bytes& item : rebuilt) std::fill(item.begin(), item.end(), std::byte{});
  for (unsigned column = stripe.k; column-- > 0;)
    recovery.combination.add(column, left[recovery.sources[column]], targets_of(rebuilt));
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(rebuilt[i], stripe.items[wanted[i]]) << wanted[i];
}

std::vector<std::vector<std::size_t>> length_profiles(unsigned k) {
  std::vector<std::vector<std::size_t>> profiles;
  for (const std::size_t all : {0u, 1u, 31u, 32u, 33u, 4097u}) profiles.emplace_back(k, all);
  std::vector<std::size_t> ascending, mixed;
  for (unsigned i = 0; i < k; ++i) ascending.push_back(i * 33), mixed.push_back(i % 3 == 1 ? 0 : 4097 - 61 * i);
  profiles.push_back(ascending);
  profiles.push_back(mixed);
  std::reverse(ascending.begin(), ascending.end());
  profiles.push_back(ascending);
  return profiles;
}

void expect_encoded(const Code& code, const Stripe& stripe, std::size_t extra) {
  const std::size_t bytes = stripe.items.back().size() + extra;
  std::vector<Bytes> parities(stripe.m, Bytes(bytes, std::byte{0xee})), streamed(stripe.m, Bytes(bytes));
  ASSERT_TRUE(code.encode(views(stripe.data()), targets_of(parities)));
  for (unsigned i = stripe.k; i-- > 0;) ASSERT_TRUE(code.update(i, stripe.items[i], targets_of(streamed)));
  auto expected = stripe.parities();
  for (Bytes& parity : expected) parity.resize(bytes);
  ASSERT_EQ(parities, expected);
  ASSERT_EQ(streamed, expected) << "one contributor after the other";
}

class Coding : public testing::TestWithParam<std::string> {
 protected:
  static const Kernels* kernels() { return GetParam() == "plain" ? &plain_kernels() : isal_kernels().value(); }
};
std::vector<std::string> kernels_to_test() {
  if (isal_kernels()) return {"plain", "isal"};
  return {"plain"};
}
INSTANTIATE_TEST_SUITE_P(Kernels, Coding, testing::ValuesIn(kernels_to_test()),
                         [](const auto& name) { return name.param; });

TEST_P(Coding, EveryLossInGroupsOf2And3And4And8IsRebuiltOrRefused) {
  std::mt19937_64 random(4);
  for (const unsigned n : {2u, 3u, 4u, 8u})
    for (unsigned m = 1; m <= std::min(3u, n - 1); ++m) {
      const Code code = Code::make(n - m, m, kernels()).value();
      for (const auto& lengths : length_profiles(n - m)) {
        const Stripe stripe(lengths, m, random);
        expect_encoded(code, stripe, 0);
        expect_encoded(code, stripe, 5);
        for (std::uint64_t lost = 0; lost < 1u << n; ++lost) expect_decoded(code, stripe, lost);
      }
    }
}

TEST_P(Coding, RandomLossesIn10Plus4And56Plus8AreRebuiltOrRefused) {
  std::mt19937_64 random(5);
  for (const auto& [k, m] : {std::pair{10u, 4u}, {56u, 8u}, {63u, 1u}, {1u, 8u}}) {
    const Code code = Code::make(k, m, kernels()).value();
    for (int i = 0; i < 40; ++i) {
      std::vector<std::size_t> lengths;
      for (unsigned item = 0; item < k; ++item) lengths.push_back(random() % 3 == 0 ? random() % 300 : 300);
      const Stripe stripe(lengths, m, random);
      expect_encoded(code, stripe, i % 2);
      std::uint64_t lost = 0;
      for (unsigned losses = i % (m + 2); losses > 0; --losses) lost |= std::uint64_t{1} << random() % (k + m);
      expect_decoded(code, stripe, lost);
    }
  }
}

TEST(Code, EveryLossOfUpTo8Among56Plus8CanBeSolved) {
  std::mt19937_64 random(6);
  const Code code = Code::make(56, 8).value();
  for (int i = 0; i < 2000; ++i) {
    Items available = Items().set();
    while (available.count() > 56) available.reset(random() % 64);
    std::vector<unsigned> wanted;
    for (unsigned item = 0; item < 64; ++item)
      if (!available[item]) wanted.push_back(item);
    EXPECT_TRUE(code.recovery(available, wanted));
  }
}

TEST(Code, AnyPartOfAStripeIsCodedAsTheWholeIs) {
  std::mt19937_64 random(7);
  const Stripe stripe({5 * kBlockBytes + 77, 100, 3 * kBlockBytes, 0}, 2, random);
  const Code code = Code::make(4, 2).value();
  expect_encoded(code, stripe, 0);
  std::vector<Bytes> parities(2, Bytes(stripe.items[4].size()));
  for (std::size_t at = 0; at < parities[0].size(); at += 5000) {
    std::vector<base::ConstByteSpan> data;
    std::vector<base::ByteSpan> targets;
    for (unsigned i = 0; i < 4; ++i) {
      const base::ConstByteSpan item(stripe.items[i]);
      const std::size_t from = std::min(at, item.size());
      data.push_back(item.subspan(from, std::min<std::size_t>(5000, item.size() - from)));
    }
    for (Bytes& parity : parities)
      targets.push_back(base::ByteSpan(parity).subspan(at, std::min<std::size_t>(5000, parity.size() - at)));
    ASSERT_TRUE(code.encode(data, targets));
  }
  EXPECT_EQ(parities, stripe.parities());
}

TEST(Code, TheFirstParitiesOfALargerCodeAreThoseOfTheSmaller) {
  std::mt19937_64 random(8);
  const Stripe large({40, 41, 42}, 3, random);
  std::vector<Bytes> one(1, Bytes(42));
  ASSERT_TRUE(Code::make(3, 1)->encode(views(large.data()), targets_of(one)));
  EXPECT_EQ(one[0], large.items[3]) << "plain exclusive or";
}

TEST(Code, OneLossIsRebuiltByExclusiveOrWhileParity0IsThere) {
  const Code code = Code::make(8, 2).value();
  Items available = Items().set();
  available.reset(3);
  const std::vector<unsigned> wanted = {3};
  EXPECT_EQ(code.recovery(available, wanted)->sources, (std::vector<unsigned>{0, 1, 2, 4, 5, 6, 7, 8}));
  available.reset(8);
  EXPECT_EQ(code.recovery(available, wanted)->sources, (std::vector<unsigned>{0, 1, 2, 4, 5, 6, 7, 9}));
  available.reset(9);
  EXPECT_THAT(code.recovery(available, wanted).error().text(),
              testing::HasSubstr("1 data items are missing, and 0 parities are there"));
}

TEST(Code, AnAvailableItemThatIsWantedIsCopied) {
  std::mt19937_64 random(9);
  const Stripe stripe({10, 20}, 2, random);
  std::vector<Bytes> rebuilt = {Bytes(20), Bytes(20)};
  const std::vector<unsigned> wanted = {1, 2};
  ASSERT_TRUE(Code::make(2, 2)->decode(Items().set(), views(stripe.items), wanted, targets_of(rebuilt)));
  EXPECT_EQ(rebuilt[0], stripe.items[1]);
  EXPECT_EQ(rebuilt[1], stripe.items[2]);
}

TEST(Combination, OfOnesOnlyGivesItsSumToEveryTarget) {
  std::mt19937_64 random(9);
  const reference::Bytes a = reference::random_bytes(5000, random), b = reference::random_bytes(4000, random);
  reference::Bytes sum = a;
  for (std::size_t i = 0; i < b.size(); ++i) sum[i] ^= b[i];
  const Combination twice(2, 2, {1, 1, 1, 1}, plain_kernels());
  reference::Bytes first(a.size()), second(a.size());
  const std::vector<base::ConstByteSpan> sources = {a, b};
  const std::vector<base::ByteSpan> targets = {first, second};
  twice.apply(sources, targets);
  EXPECT_EQ(first, sum);
  EXPECT_EQ(second, sum);
}

TEST(Code, RefusesWhatIsNoCode) {
  for (const auto& [k, m] : {std::pair{0u, 1u}, {1u, 0u}, {1u, 9u}, {64u, 1u}, {57u, 8u}, {1000u, 8u}}) {
    const auto code = Code::make(k, m);
    ASSERT_FALSE(code);
    EXPECT_EQ(code.error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_FALSE(code.error().remedy.empty());
  }
}

TEST(Code, RefusesLengthsThatCannotBeThoseOfAStripe) {
  std::mt19937_64 random(10);
  Stripe stripe({10, 20, 15}, 2, random);
  const Code code = Code::make(3, 2).value();
  std::vector<Bytes> small(2, Bytes(19)), few(1, Bytes(20)), target(1, Bytes(10));
  EXPECT_EQ(code.encode(views(stripe.data()), targets_of(small)).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_FALSE(code.encode(views(stripe.data()), targets_of(few)));
  EXPECT_FALSE(code.encode(views(stripe.items), targets_of(small)));
  EXPECT_FALSE(code.update(1, stripe.items[1], targets_of(small)));
  EXPECT_FALSE(code.update(3, stripe.items[1], targets_of(stripe.items)));
  Items available = Items().set();
  available.reset(0);
  const std::vector<unsigned> wanted = {0}, none = {5};
  std::vector<Bytes> whole(2, Bytes(20));
  EXPECT_EQ(code.decode(available, views(stripe.items), wanted, targets_of(whole)).error().code,
            PERDURE_INVALID_ARGUMENT);
  whole.pop_back();
  EXPECT_EQ(code.decode(available, views(stripe.items), none, targets_of(whole)).error().code,
            PERDURE_INVALID_ARGUMENT);
  stripe.items[3].resize(19);  // a truncated parity
  EXPECT_EQ(code.decode(available, views(stripe.items), wanted, targets_of(target)).error().code, PERDURE_MISMATCH);
  stripe.items[3].resize(20);
  target[0].resize(21);
  EXPECT_EQ(code.decode(available, views(stripe.items), wanted, targets_of(target)).error().code, PERDURE_MISMATCH);
}

}  // namespace
}  // namespace perdure::redundancy
