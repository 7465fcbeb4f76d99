// Tests that every message in the table round-trips, and that malformed ones have no effect.
#include "ipc/messages.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/sample_requests.hpp"

namespace perdure::ipc {
namespace {

using test_support::sample_message;
using Strings = std::vector<std::vector<std::byte>>;

const segment::VersionId kId{"nbody", 7, {1000, 0xfedcba9876543210ULL}};

template <class M>
base::Result<M> again(const M& message) {
  return decode_request<M>(base::encode_fields(message));
}

template <class M>
void expect_refused(const M& message, const std::string& words) {
  const auto refused = again(message);
  ASSERT_FALSE(refused) << words;
  EXPECT_EQ(refused.error().code, PERDURE_CORRUPT);
  EXPECT_NE(refused.error().text().find(words), std::string::npos) << refused.error().text();
}

TEST(Messages, NamesAndNumbersAreUnique) {
  std::set<std::string> names;
  std::set<std::uint8_t> operations;
  AllMessages::for_each([&]<class M>(std::type_identity<M>) {
    EXPECT_TRUE(names.insert(M::kName).second) << M::kName;
    EXPECT_TRUE(operations.insert(kOperation<M>).second) << M::kName;
  });
  EXPECT_EQ(operations.size(), AllMessages::kCount);
  EXPECT_EQ(*operations.rbegin() + 1u, AllMessages::kCount);
}

TEST(Messages, EveryMessageIsToldOrHasAReply) {
  AllMessages::for_each([]<class M>(std::type_identity<M>) { static_assert(OneWay<M> != Answered<M>); });
}

TEST(Messages, EveryRequestComesBackAsItWas) {
  AllMessages::for_each([]<class M>(std::type_identity<M>) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const M message = sample_message<M>(seed);
      const auto decoded = again(message);
      ASSERT_TRUE(decoded) << M::kName << ": " << decoded.error().text();
      EXPECT_EQ(base::encode_fields(*decoded), base::encode_fields(message)) << M::kName;
    }
  });
}

TEST(Messages, EveryRequestThatEndsEarlyOrGoesOnIsRefused) {
  AllMessages::for_each([]<class M>(std::type_identity<M>) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      auto bytes = base::encode_fields(sample_message<M>(seed));
      for (std::size_t length = 0; length < bytes.size(); ++length)
        ASSERT_FALSE(decode_request<M>(base::ConstByteSpan(bytes).first(length))) << M::kName << " of " << length;
      bytes.emplace_back();
      EXPECT_FALSE(decode_request<M>(bytes)) << M::kName;
    }
  });
}

TEST(Messages, EveryReplyComesBackAsItWasAndNoPartOfIt) {
  AllMessages::for_each([]<class M>(std::type_identity<M>) {
    if constexpr (Answered<M>) {
      using Reply = typename M::Reply;
      for (std::uint64_t seed = 0; seed < 15; ++seed) {
        const auto reply = test_support::AnyValue(seed).make<base::Result<Reply>>();
        const auto bytes = base::encode_fields(reply);
        const auto decoded = base::decode_fields<base::Result<Reply>>(bytes, "reply");
        ASSERT_TRUE(decoded) << M::kName << ": " << decoded.error().text();
        EXPECT_EQ(base::encode_fields(*decoded), bytes) << M::kName;
        for (std::size_t length = 0; length < bytes.size(); ++length)
          ASSERT_FALSE(base::decode_fields<base::Result<Reply>>(base::ConstByteSpan(bytes).first(length), "reply"));
      }
    }
  });
}

TEST(Messages, HeadsCarrySequenceAndOperation) {
  const auto frame = encode_request(77, Locate{kId, 3});
  Decoder decoder;
  decoder.feed(frame);
  const auto whole = decoder.next().value();
  ASSERT_TRUE(whole);
  base::ConstByteSpan payload = whole->payload;
  const auto head = take_head(payload);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->sequence, 77u);
  EXPECT_EQ(head->operation, kOperation<Locate>);
  EXPECT_EQ(decode_request<Locate>(payload)->rank, 3u);
  for (std::size_t length = 0; length < 9; ++length) {
    base::ConstByteSpan part = whole->payload.first(length);
    EXPECT_FALSE(take_head(part));
  }
}

TEST(Messages, OfAnotherProtocolsHelloNothingButTheProtocolIsRead) {
  Hello hello{99, "print", 3, true, false};
  auto bytes = base::encode_fields(hello);
  bytes.resize(bytes.size() + 5);  // additional fields of that protocol
  const auto other = decode_request<Hello>(bytes);
  ASSERT_TRUE(other) << other.error().text();
  EXPECT_EQ(other->protocol, 99u);
  EXPECT_EQ(other->fingerprint, "");
  EXPECT_FALSE(decode_request<Hello>(base::ConstByteSpan(bytes).first(7)));
}

TEST(Messages, WhatDoesNotFitTogetherIsRefused) {
  const auto piece = test_support::sample_piece(kId, 3, 9000, 4096);
  EXPECT_TRUE(again(Stage{kId, 4, piece}));
  expect_refused(Stage{kId, 3, piece}, "'piece': its rank is not below");
  expect_refused(Begin{kId, 3, piece, {}}, "'piece': its rank is not below");
  Stage stage{kId, 4, piece};
  stage.piece.chunks.erase(stage.piece.chunks.begin());
  expect_refused(stage, "'chunks'");
  expect_refused(Commit{kId, {{0, 2, {0, 1}}, {2, 2, {}}}}, "'index'");
  expect_refused(Begin{kId, 4, piece, {{2, 2, {}}}}, "'index'");
  expect_refused(Grant{{"nbody", 1ULL << 63, {}}, 5, 0, {}, {}}, "'version'");
  const auto located = base::encode_fields(base::Result<Located>(Located{piece, {}, {}}));
  EXPECT_FALSE(base::decode_fields<base::Result<Located>>(located, "reply")) << "a slot for each chunk";
}

TEST(Messages, ANameThatCouldLeaveTheStoreIsRefused) {
  for (const char* name : {"", "../x", "a/b", ".hidden"}) {
    expect_refused(Retire{name, 1}, "'name'");
    expect_refused(Grant{{name, 1, {}}, 5, 0, {}, {}}, "'name'");
  }
}

TEST(Messages, ATierThatCannotBeIsRefused) {
  const auto decode = [](const SlotAddress& slot) {
    return base::decode_fields<SlotAddress>(base::encode_fields(slot), "slot");
  };
  EXPECT_TRUE(decode({0xffff, 5, "/dev/shm/arena", 1, 2, true, false}));
  EXPECT_FALSE(decode({0x10000, 5, "/dev/shm/arena", 1, 2, true, false}));
}

TEST(Messages, APositionIsOneOfAtMost64Addresses) {
  Join join{1, 0, 63, Strings(64)};
  EXPECT_TRUE(again(join));
  join.position = 64;
  expect_refused(join, "'position'");
  join.addresses.resize(65);
  expect_refused(join, "'position'");
  expect_refused(Join{1, 0, 0, {}}, "'position'");
}

TEST(Messages, EveryNodeOfAGroupHasAName) {
  Join join{1, 0, 0, Strings(2), {}, {"host", std::string(1024, 'h')}};
  const auto parsed = again(join);
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(parsed->nodes, join.nodes);
  join.nodes[1] += "h";
  expect_refused(join, "'nodes' holds something that is no name");
  join.nodes.pop_back();
  expect_refused(join, "'nodes' does not name as many");
}

TEST(Messages, ByteStringsAreNoLongerThanTheyMayBe) {
  Join join{1, 0, 0, {std::vector<std::byte>(4096)}};
  const auto longest = again(join);
  ASSERT_TRUE(longest);
  EXPECT_EQ(longest->addresses, join.addresses);
  join.addresses[0].emplace_back();
  expect_refused(join, "'addresses': an address");
  EXPECT_TRUE(again(OpenNetwork{std::vector<std::byte>(64)}));
  expect_refused(OpenNetwork{std::vector<std::byte>(65)}, "'job_key'");
}

TEST(Messages, WantedRanksAreOfTheVersion) {
  EXPECT_TRUE(again(Recover{kId, 4, {0, 3}, {}}));
  expect_refused(Recover{kId, 4, {0, 4}, {}}, "'wanted'");
}

TEST(Messages, WhatIsWantedOfPiecesAscendsAndIsOfTheVersion) {
  EXPECT_TRUE(again(RecoverGuests{kId, 4, {}, {}}));
  EXPECT_TRUE(again(RecoverGuests{kId, 4, {{0, 3}, {3, 0}, {3, 1}}, {}}));
  expect_refused(RecoverGuests{kId, 4, {{3, 1}, {3, 1}}, {}}, "does not ascend");
  expect_refused(RecoverGuests{kId, 4, {{3, 1}, {3, 0}}, {}}, "does not ascend");
  expect_refused(RecoverGuests{kId, 4, {{1, 0}, {0, 0}}, {}}, "does not ascend");
  expect_refused(RecoverGuests{kId, 4, {{0, 0}, {4, 0}}, {}}, "not below 'ranks'");
  expect_refused(RecoverGuests{kId, 0, {{0, 0}}, {}}, "not below 'ranks'");
  EXPECT_TRUE(again(DescribePieces{kId, 4, {0, 3}, {}}));
  EXPECT_TRUE(again(DescribePieces{kId, 0, {}, {}}));
  expect_refused(DescribePieces{kId, 4, {1, 1}, {}}, "does not ascend");
  expect_refused(DescribePieces{kId, 4, {2, 1}, {}}, "does not ascend");
  expect_refused(DescribePieces{kId, 4, {4}, {}}, "not below 'ranks'");
}

TEST(Messages, AGuestHasBytesAndNoMoreThanItsSlot) {
  EXPECT_TRUE(again(GrantGuest{kId, 3, 0, 1}));
  expect_refused(GrantGuest{kId, 3, 0, 0}, "'bytes'");
  EXPECT_TRUE(again(GuestWritten{kId, 3, 0, 1, {}}));
  expect_refused(GuestWritten{kId, 3, 0, 0, {}}, "'length'");
  const auto decode = [](const GuestChunk& guest) {
    return base::decode_fields<GuestChunk>(base::encode_fields(guest), "guest");
  };
  GuestChunk guest{1, 2, {0, 5, "/dev/shm/arena", 0, 4096, true, false, {}}, 4096, {}};
  EXPECT_TRUE(decode(guest));
  ++guest.length;
  EXPECT_FALSE(decode(guest));
  PieceDescription piece{1, 4096, 1, {{0, 1, 5}}};
  EXPECT_TRUE(base::decode_fields<PieceDescription>(base::encode_fields(piece), "piece"));
  piece.chunk_bytes = 0;
  EXPECT_FALSE(base::decode_fields<PieceDescription>(base::encode_fields(piece), "piece"));
}

TEST(Messages, AListIsCutToWhatAReplyTakes) {
  const std::vector<std::string> list = {"1", "22", "333"};  // each with a count of four bytes
  EXPECT_EQ(fitting(list, 4), 0U);
  EXPECT_EQ(fitting(list, 5), 1U);
  EXPECT_EQ(fitting(list, 10), 1U);
  EXPECT_EQ(fitting(list, 11), 2U);
  EXPECT_EQ(fitting(list, 18), 3U);
  EXPECT_EQ(fitting(list), 3U);
  EXPECT_EQ(fitting(std::vector<std::string>()), 0U);
  GuestList found;
  GuestChunk guest;
  guest.slot.path.assign(4000, 'x');
  found.guests.assign(kMaxFrame / 4000 + 1, guest);
  found.guests.resize(fitting(found.guests));
  EXPECT_GT(found.guests.size(), kMaxFrame / 4200);
  std::vector<std::byte> out;
  append_reply(out, 7, base::Result<GuestList>(found));
  EXPECT_GT(out.size(), kMaxFrame - (128U << 10)) << "it was sent, not its error";
}

// The client would take it for noise, and the engine for dead.
TEST(Messages, AReplyThatIsTooLongBecomesItsReason) {
  Located located;
  located.piece.chunk_bytes = 1;
  located.piece.regions = {{0, 1, 1}};
  located.piece.chunks = {{0, 1, {}, 0}};
  located.slots.emplace_back();
  located.slots[0].path.assign(kMaxFrame, 'x');
  std::vector<std::byte> out(3);
  append_reply(out, 7, base::Result<Located>(located));
  EXPECT_LT(out.size(), 1000U);
  Decoder decoder;
  decoder.feed(base::ConstByteSpan(out).subspan(3));
  base::ConstByteSpan payload = decoder.next().value()->payload;
  EXPECT_EQ(take_sequence(payload).value(), 7U);
  const auto reply = decode_reply<Located>(payload);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, PERDURE_NO_SPACE);
  EXPECT_NE(reply.error().text().find(std::to_string(kMaxFrame) + " can be taken"), std::string::npos);
}

TEST(Messages, APositionOfASummaryIsOneOfItsMembers) {
  RedundancySummary summary{kId, 4, 99, 1, "xor", 1, 2, {{{0, 2}}, {{1, 2}, {2, 3}}, {{3, 1}}}, {5}};
  const auto decode = [](const RedundancySummary& it) {
    return base::decode_fields<RedundancySummary>(base::encode_fields(it), "summary");
  };
  ASSERT_TRUE(decode(summary));
  EXPECT_EQ(decode(summary)->members, summary.members);
  summary.position = 3;
  EXPECT_FALSE(decode(summary));
  summary.scheme = "parity-server";
  EXPECT_TRUE(decode(summary)) << "the server's";
  summary.position = 4;
  EXPECT_FALSE(decode(summary));
}

}  // namespace
}  // namespace perdure::ipc
