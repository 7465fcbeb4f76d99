// Tests redundancy blocks, and blocks rebuilt from them: their bytes, and the sources that must be refused.
#include "engine/replicate/block_encoder.hpp"

#include <gmock/gmock.h>

#include <random>

#include "redundancy/code.hpp"
#include "redundancy/decoding.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::engine {
namespace {

using Bytes = std::vector<std::byte>;

constexpr unsigned kData = 3, kParities = 2;

Bytes random_bytes(std::uint64_t seed, std::size_t size) {
  std::mt19937_64 random(seed);
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// A stripe of three data items of different lengths, the last of which may be empty. A map stands in for the network.
class OneStripe : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    const std::size_t lengths[] = {kReadAheadBytes + kEncodePartBytes + 17, kEncodePartBytes, 0};
    for (unsigned item = 0; item < kData; ++item) items_[item] = random_bytes(item, lengths[item]);
    tier::TierOptions options{0, directory_ / "tier", 4 * base::MiB, 0};
    tier_ = tier::make_tier("file", options).value();
  }
  tier::SlotAddress slot() { return tier_->address(tier_->acquire(4 * base::MiB).value()); }
  EncodingTask::Source source(unsigned item) {
    return {{item, 7}, 1, items_[item].size(), base::hash128(items_[item]), {{}, item}};
  }
  /// Returns the task that makes `wanted` from known items, as the code says; a known block is copied.
  EncodingTask task_for(unsigned wanted, const std::vector<unsigned>& known) {
    EncodingTask task{{7, 0}, wanted < kData ? items_[wanted].size() : items_[0].size(), {}, {}};
    redundancy::Items available;
    for (const unsigned item : known) available.set(item);
    const auto plan = redundancy::plan_decoding(kData, kParities, available, std::span(&wanted, 1)).value();
    for (unsigned c = 0; c < plan.sources.size(); ++c) {
      if (items_[plan.sources[c]].empty() || plan.coefficients.at(0, c) == 0) continue;
      task.sources.push_back(source(plan.sources[c]));
      task.sources.back().factor = plan.coefficients.at(0, c);
    }
    return task;
  }
  BlockEncoder encoder() {
    BlockReader reader;
    reader.read = [this](const EncodingTask::Source& from, std::uint64_t offset,
                         base::ByteSpan target) -> base::Status {
      const auto& bytes = items_.at(static_cast<unsigned>(from.place.offset));
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), target.size(), target.begin());
      return {};
    };
    if (GetParam())
      reader.view = [this](const EncodingTask::Source& from) -> std::optional<BlockView> {
        return BlockView{items_.at(static_cast<unsigned>(from.place.offset)), nullptr};
      };
    return {std::move(reader), slots_};
  }
  Bytes content(const tier::SlotAddress& at, std::size_t bytes) {
    Bytes data(bytes);
    base::Hasher hasher;
    EXPECT_TRUE(slots_.read(at, 0, data, hasher));
    return data;
  }
  /// Returns the block that encode() makes, which has to be in the slot with its hash.
  base::Result<Bytes> made(const EncodingTask& task) {
    const auto at = slot();
    PERDURE_TRY(const auto chunk, encoder().encode(task, at, &bad_));
    EXPECT_EQ(chunk.length, task.length);
    EXPECT_EQ(chunk.offset, at.slot);
    const Bytes bytes = content(at, chunk.length);
    EXPECT_EQ(base::hash128(bytes), chunk.hash);
    return bytes;
  }
  void encode_all() {
    for (unsigned j = 0; j < kParities; ++j) items_[kData + j] = made(task_for(kData + j, {0, 1, 2})).value();
  }

  test_support::TemporaryDirectory directory_;
  std::map<unsigned, Bytes> items_;
  tier::SlotIo slots_;
  std::unique_ptr<tier::Tier> tier_;
  redundancy::Code code_ = redundancy::Code::make(kData, kParities).value();
  std::optional<redundancy::Block> bad_;
};

TEST_P(OneStripe, ParitiesAreThoseOfTheCode) {
  encode_all();
  Bytes first(items_[0].size()), second(items_[0].size());
  const base::ConstByteSpan data[] = {items_[0], items_[1], items_[2]};
  const base::ByteSpan parities[] = {first, second};
  ASSERT_TRUE(code_.encode(data, parities));
  EXPECT_EQ(items_[kData], first);
  EXPECT_EQ(items_[kData + 1], second);
}

TEST_P(OneStripe, ACopyIsTheBlock) {
  EncodingTask task{{7, 1}, items_[1].size(), {source(1)}, {}};
  EXPECT_EQ(made(task).value(), items_[1]);
  task.length += 9;  // missing bytes count as zeros
  Bytes longer = items_[1];
  longer.resize(task.length);
  EXPECT_EQ(made(task).value(), longer);
}

TEST_P(OneStripe, WhatWasLostComesBackOutOfAnyEnough) {
  encode_all();
  for (unsigned lost = 0; lost < 2; ++lost)
    for (const auto& known : std::vector<std::vector<unsigned>>{{1 - lost, 2, 3}, {1 - lost, 2, 4}, {2, 3, 4}}) {
      EncodingTask task = task_for(lost, known);
      task.hash = base::hash128(items_[lost]);
      EXPECT_EQ(made(task).value(), items_[lost]);
    }
}

TEST_P(OneStripe, ASourceThatIsNotWhatItWasSaidToBeIsNamed) {
  encode_all();
  for (const unsigned damaged : {1U, 3U}) {
    EncodingTask task = task_for(0, {1, 2, 3});
    items_[damaged].back() ^= std::byte{1};  // in the longer parity, beyond the part that is needed
    const auto refused = made(task);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_CORRUPT);
    ASSERT_TRUE(bad_);
    EXPECT_EQ(bad_->position, damaged);
    items_[damaged].back() ^= std::byte{1};
  }
}

TEST_P(OneStripe, OfWhatIsRebuiltTheFaultySourceIsFoundWhenTheResultIsWrong) {
  encode_all();
  const base::Hash128 lost = base::hash128(items_[0]);
  for (const unsigned damaged : {1U, 3U}) {
    EncodingTask task = task_for(0, {1, 2, 3});
    task.hash = lost;
    items_[damaged].front() ^= std::byte{1};
    const auto refused = made(task);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_CORRUPT);
    ASSERT_TRUE(bad_);
    EXPECT_EQ(bad_->position, damaged);
    items_[damaged].front() ^= std::byte{1};
    EXPECT_EQ(made(task).value(), items_[0]);
  }
}

TEST_P(OneStripe, ACopyThatIsNotTheBlockIsNamed) {
  EncodingTask task{{7, 1}, items_[1].size(), {source(1)}, {}};
  task.hash = base::hash128(items_[1]);
  items_[1].back() ^= std::byte{1};
  ASSERT_FALSE(made(task));
  ASSERT_TRUE(bad_);
  EXPECT_EQ(bad_->position, 1U);
}

TEST_P(OneStripe, WhatComesOutWrongIsRefused) {
  encode_all();
  EncodingTask task = task_for(0, {1, 2, 3});
  task.hash = base::hash128(items_[1]);
  const auto refused = made(task);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_CORRUPT);
  EXPECT_FALSE(bad_);
  EXPECT_FALSE(made(EncodingTask{{7, 0}, 10, {}, {}})) << "out of nothing";
}

INSTANTIATE_TEST_SUITE_P(ReadOrSeen, OneStripe, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "seen" : "read"; });

}  // namespace
}  // namespace perdure::engine
