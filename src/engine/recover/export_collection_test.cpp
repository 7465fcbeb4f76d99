// Tests how an engine that recovers asks the others: part by part, patiently, but not for ever. Answers are checked,
// silent nodes are reported, and all nodes are told the end.
#include "engine/recover/export_collection.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <mutex>

#include "base/field_codec.hpp"
#include "engine/recover/exported_pieces_testing.hpp"
#include "support/sanitized.hpp"

namespace perdure::engine {
namespace {

using Bytes = std::vector<std::byte>;

/// Nodes whose answers a test scripts.
class ScriptedNodes final : public PieceLink {
 public:
  using Answer = std::function<base::Result<ExportAnswer>(const ExportQuestion&)>;
  explicit ScriptedNodes(std::vector<Answer> nodes) : nodes_(std::move(nodes)) {}
  void close() noexcept override {}
  base::Status send(unsigned, base::ConstByteSpan) override { return {}; }
  base::Result<BlockPlace> place(const tier::SlotAddress&) override { return BlockPlace{}; }
  std::optional<BlockView> view(unsigned, const BlockPlace&, std::uint64_t) override { return std::nullopt; }
  base::Status read(unsigned, const BlockPlace&, std::uint64_t, base::ByteSpan) override { return {}; }
  base::Result<ExportAnswer> ask(unsigned position, const ExportQuestion& question) override {
    {
      std::lock_guard guard(mutex_);
      asked.push_back({position, question});
    }
    return nodes_.at(position)(question);
  }
  void tell(unsigned position, const ExportEnd& end) override {
    ended.push_back({position, end.recovery});
    if (!end.suspects.empty()) suspects[position] = end.suspects;
  }

  std::vector<std::pair<unsigned, ExportQuestion>> asked;
  std::vector<std::pair<unsigned, std::uint64_t>> ended;
  std::map<unsigned, std::vector<BlockPlace>> suspects;

 private:
  std::mutex mutex_;
  std::vector<Answer> nodes_;
};

const segment::VersionId kVersion{"app", 1, {1, 1}};

ExportedPieces of_node(std::uint8_t number) {
  auto all = ExportedGroup({"xor", 3, 1}, 1).exports({});
  all[number].address = {std::byte{number}};
  return all[number];
}
Bytes part_of(const Bytes& all, std::uint64_t begin, std::uint64_t length) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(length, all.size() - begin))};
}
/// Answers `times` times that it is not ready, then with these bytes, in parts.
ScriptedNodes::Answer answers(Bytes bytes, int times = 0, std::uint64_t length = 100) {
  auto left = std::make_shared<int>(times);
  return [bytes, left, length](const ExportQuestion& question) -> base::Result<ExportAnswer> {
    if ((*left)-- > 0) return ExportAnswer{};
    return ExportAnswer{true, bytes.size(), part_of(bytes, question.offset, length)};
  };
}

class Asking : public testing::Test {
 protected:
  static constexpr std::uint64_t kFarBeyond_ns = 60'000'000'000;  // far more than a busy machine needs
  base::Result<ExportedPieces> ask(ScriptedNodes::Answer answer, std::uint64_t give_up_ns = kFarBeyond_ns) {
    ScriptedNodes nodes({std::move(answer)});
    CollectionLimits limits;
    limits.first_pause_ns = limits.longest_pause_ns = 1'000;
    limits.give_up_ns = give_up_ns;
    limits.most_bytes = 1 << 20;
    return ask_for_pieces(nodes, 0, {1, kVersion, {0}, {0}, 0}, stopping_, limits);
  }
  std::atomic<bool> stopping_ = false;
};

TEST_F(Asking, PartsBecomeTheWhole) {
  const auto exported = of_node(1);
  const auto got = ask(answers(encode(exported), 3, 17));
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(encode(*got), encode(exported));
}

// The export of a node of 128 GiB in a group of eight: 64 ranks with 256 chunks each, and the parities of xor.
TEST(ExportsAtSize, OfANodeOf128GiBGoInPartsThatFitAMessage) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  constexpr std::uint32_t kRanks = 64, kChunks = 256, kMembers = 8;
  constexpr std::size_t kPart = 4U << 20, kMostOfAMessage = 16U << 20;  // piece_exporter.hpp, network/endpoint.hpp
  const BlockPlace place{Bytes(150), 1 << 20};
  ExportedPieces all{Bytes(100), {}, {}};
  catalog::RedundancySet set{{kVersion, 7}, kRanks * kMembers, 0, "xor", 1, 0, {}, {}, true};
  for (std::uint32_t position = 0; position < kMembers; ++position) {
    auto& members = set.members.emplace_back();
    for (std::uint32_t i = 0; i < kRanks; ++i)
      members.push_back({position * kRanks + i,
                         8 << 20,
                         {{0, 1, std::uint64_t{kChunks} * 8 << 20}},
                         std::vector<segment::ChunkEntry>(kChunks, {0, 8 << 20, {1, 2}, 0})});
  }
  for (const auto& piece : set.members[0])
    all.pieces.push_back({piece, std::vector<std::optional<BlockPlace>>(kChunks, place)});
  ExportedPieces::Part part{set, {}};
  for (std::uint64_t stripe = 0; stripe < kRanks * kChunks / (kMembers - 1); ++stripe) {
    part.redundancy_set.kept[{stripe, 0}] = {stripe, 8 << 20, {1, 2}, 0};
    part.places[{stripe, 0}] = place;
  }
  all.parts.push_back(std::move(part));
  const Bytes bytes = encode(all);
  unsigned messages = 0;
  const auto in_parts = answers(bytes, 0, kPart);
  ScriptedNodes nodes({[&](const ExportQuestion& question) -> base::Result<ExportAnswer> {
    ++messages;
    EXPECT_LT(base::encode_fields(question).size(), 4096U);
    auto answer = in_parts(question);
    EXPECT_LT(base::encode_fields(*answer).size(), kMostOfAMessage);
    return answer;
  }});
  std::vector<std::uint32_t> pieces, lost;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) pieces.push_back(rank), lost.push_back(rank + kRanks);
  const std::atomic<bool> stopping = false;
  const auto got = ask_for_pieces(nodes, 0, {1, kVersion, pieces, lost, 0}, stopping);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_TRUE(encode(*got) == bytes);
  std::printf("what one node of 128 GiB exports is described by %zu bytes, in %u messages\n", bytes.size(), messages);
  EXPECT_LT(bytes.size(), 16U << 20);
}

TEST_F(Asking, ANodeThatIsNeverReadyIsGivenUp) {
  const auto got = ask(answers({}, 1 << 30), 20'000'000);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, PERDURE_TIMEOUT);
  EXPECT_TRUE(got.error().retryable);
}

TEST_F(Asking, AnEngineThatEndsDoesNotWait) {
  stopping_ = true;
  EXPECT_EQ(ask(answers({}, 1 << 30)).error().code, PERDURE_CLOSED);
}

TEST_F(Asking, AfterALostConnectionOrATimeOutItBeginsAnewButNotForEver) {
  const auto bytes = encode(of_node(1));
  for (const auto& [losses, code] : std::map<int, base::ErrorCode>{
           {2, PERDURE_PEER_FAILED}, {1, PERDURE_TIMEOUT}, {3, PERDURE_PEER_FAILED}, {4, PERDURE_TIMEOUT}}) {
    int call = 0;
    const auto got = ask([&, most = losses, why = code](const ExportQuestion& question) -> base::Result<ExportAnswer> {
      if (question.offset > 0 && call++ < most) return base::fail(why, "peer", "it was cut off", {}, true);
      return ExportAnswer{true, bytes.size(), part_of(bytes, question.offset, bytes.size() / 2)};
    });
    EXPECT_EQ(got.has_value(), losses <= 2);
    if (!got) {
      EXPECT_EQ(got.error().code, code);
    }
  }
}

TEST_F(Asking, ARefusalIsFinal) {
  int calls = 0;
  const auto got = ask([&](const ExportQuestion&) -> base::Result<ExportAnswer> {
    ++calls;
    return base::fail(PERDURE_BUSY, "peer", "too many", {}, true);
  });
  EXPECT_EQ(got.error().code, PERDURE_BUSY);
  EXPECT_EQ(calls, 1);
}

TEST_F(Asking, WhatCannotBeIsRefused) {
  const auto bytes = encode(of_node(1));
  const auto says = [](std::uint64_t length, Bytes part) {
    return [=](const ExportQuestion&) -> base::Result<ExportAnswer> { return ExportAnswer{true, length, part}; };
  };
  const auto refused = ask(says(1ULL << 40, bytes)).error();
  EXPECT_EQ(refused.code, PERDURE_NO_SPACE) << "more than anybody has";
  EXPECT_NE(refused.text().find("its description has 1.0 TiB, more than the 1.0 MiB"), std::string::npos)
      << refused.text();
  EXPECT_NE(refused.remedy.find("raise chunk_bytes"), std::string::npos);
  EXPECT_EQ(ask(says(bytes.size() + 1, {})).error().code, PERDURE_CORRUPT) << "nothing, for ever";
  EXPECT_EQ(ask(says(bytes.size() - 1, bytes)).error().code, PERDURE_CORRUPT) << "more than was said";
  EXPECT_EQ(ask(says(10, Bytes(10))).error().code, PERDURE_CORRUPT) << "no exported pieces";
  EXPECT_EQ(ask(says(0, {})).error().code, PERDURE_CORRUPT);
}

class CollectingOfThree : public testing::Test {
 protected:
  std::vector<ipc::NodeToAsk> nodes_ = {
      {"a", {std::byte{0}}, {0, 1}, {2}}, {"b", {std::byte{1}}, {3}, {}}, {"c", {std::byte{2}}, {}, {2}}};
  std::atomic<bool> stopping_ = false;
  std::map<unsigned, base::ErrorCode> failed_;
  std::function<void(unsigned, const base::Error&)> note_ = [this](unsigned position, const base::Error& why) {
    failed_[position] = why.code;
  };
};

TEST_F(CollectingOfThree, EachIsAskedForItsOwnAndHearsTheEndOnce) {
  ScriptedNodes nodes({answers(encode(of_node(0)), 2), answers(encode(of_node(1))), answers(encode(of_node(2)), 5)});
  {
    ExportCollection collection(nodes, kVersion, nodes_);
    const auto all = collection.collect(1, 3, stopping_, note_);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(encode(all[0]), encode(of_node(0)));
    EXPECT_TRUE(all[1].pieces.empty()) << "this node itself is not asked";
    EXPECT_EQ(encode(all[2]), encode(of_node(2)));
    EXPECT_TRUE(nodes.ended.empty()) << "what they export is still read";
    collection.suspect(2, {BlockPlace{{std::byte{3}}, 5}});
  }
  EXPECT_TRUE(failed_.empty());
  ASSERT_EQ(nodes.ended.size(), 2U);
  EXPECT_EQ(nodes.ended[0].first + nodes.ended[1].first, 2U);
  EXPECT_EQ(nodes.suspects, (std::map<unsigned, std::vector<BlockPlace>>{{2, {BlockPlace{{std::byte{3}}, 5}}}}));
  for (const auto& [position, question] : nodes.asked) {
    EXPECT_NE(position, 1U);
    EXPECT_EQ(question.recovery, nodes.ended[0].second);
    EXPECT_EQ(question.id, kVersion);
    EXPECT_EQ(question.pieces, nodes_[position].pieces);
    EXPECT_EQ(question.redundancy, nodes_[position].redundancy);
  }
}

TEST_F(CollectingOfThree, WhoDoesNotAnswerOrSpeaksForAnotherIsNamedAndHearsTheEnd) {
  const auto silent = [](const ExportQuestion&) -> base::Result<ExportAnswer> {
    return base::fail(PERDURE_TIMEOUT, "peer", "it did not answer in time", {}, true);
  };
  ScriptedNodes nodes({silent, answers(encode(of_node(0))), answers(encode(of_node(2)))});
  {
    ExportCollection collection(nodes, kVersion, nodes_);
    const auto all = collection.collect({}, 1, stopping_, note_);
    EXPECT_TRUE(all[0].pieces.empty() && all[0].parts.empty());
    EXPECT_EQ(all[0].address, nodes_[0].address) << "it is taken for no parity server";
    EXPECT_TRUE(all[1].pieces.empty() && all[1].parts.empty());
    EXPECT_FALSE(all[2].pieces.empty() && all[2].parts.empty());
  }
  EXPECT_EQ(failed_, (std::map<unsigned, base::ErrorCode>{{0, PERDURE_TIMEOUT}, {1, PERDURE_CORRUPT}}));
  EXPECT_EQ(nodes.ended.size(), 3U);
}

}  // namespace
}  // namespace perdure::engine
