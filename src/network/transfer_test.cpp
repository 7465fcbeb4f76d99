// Tests fragments, calls and served requests without wire, thread or time.
#include "network/transfer.hpp"

#include <gtest/gtest.h>

#include <random>

#include "network/network_testing.hpp"
#include "network/reply_codec.hpp"
#include "network/served.hpp"

namespace perdure::network {
namespace {

TEST(Transfer, ArrivesInAnyOrderAndTwice) {
  const Bytes message = sample_bytes(1, 20'000);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    Outgoing out(message, 300);
    std::optional<Incoming> in;
    for (int rounds = 0; !out.complete() && rounds < 10'000; ++rounds) {
      auto list = out.take_new();
      const auto again = out.unacknowledged();
      EXPECT_LE(again.size(), kFragmentWindow);
      list.insert(list.end(), again.begin(), again.end());
      std::shuffle(list.begin(), list.end(), random);
      for (const std::uint32_t index : list) {
        if (random() % 3 == 0) continue;
        const Fragment fragment = out.fragment({0, 1}, false, index);
        if (!in) in = *Incoming::make(fragment, message.size());
        EXPECT_NE(in->add(fragment), Incoming::Added::contradicts);
      }
      if (!in || random() % 3 == 0) continue;
      const Ack ack = in->state({0, 1}, false);
      out.acknowledge(ack.first_missing, ack.later);
    }
    ASSERT_TRUE(out.complete());
    ASSERT_TRUE(in->complete());
    EXPECT_EQ(in->take(), message);
  }
}

TEST(Transfer, AnAckOfWhatWasNeverSentIsNotBelieved) {
  Outgoing out(Bytes(100'000), 300);
  out.take_new();
  out.acknowledge(~std::uint32_t{0}, ~std::uint64_t{0});
  EXPECT_FALSE(out.complete());
  EXPECT_EQ(out.take_new().size(), kFragmentWindow);
}

TEST(Transfer, FragmentsThatContradictTheFirstAreRefused) {
  const Bytes payload(300);
  const Fragment first{{0, 1}, false, 1000, 300, 0, payload};
  auto in = *Incoming::make(first, 1000);
  EXPECT_FALSE(Incoming::make(first, 999));
  Fragment other = first;
  other.total = 1001;
  EXPECT_EQ(in.add(other), Incoming::Added::contradicts);
  other = first;
  other.index = 4;
  EXPECT_EQ(in.add(other), Incoming::Added::contradicts);
}

CallLimits tiny() {
  CallLimits limits;
  limits.calls = 2;
  limits.bytes = 10'000;
  limits.fragment_bytes = 300;
  limits.max_message_bytes = 5'000;
  limits.retry_ns = 10;
  limits.max_retry_ns = 40;
  return limits;
}

TEST(ServedTable, GivesARequestOutOnceAndAnswersRepetitions) {
  ServedTable served(tiny());
  Outbox out;
  const Bytes payload(5);
  const Fragment request{{1, 1}, false, 5, 300, 0, payload};
  EXPECT_TRUE(served.on_request(request, out));
  EXPECT_TRUE(out.empty()) << "the reply will acknowledge it";
  EXPECT_FALSE(served.on_request(request, out));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Ack>(out[0])) << "it is being carried out";
  out.clear();
  served.answer({1, 1}, encode_reply(Bytes(7)), out);
  EXPECT_EQ(out.size(), 1u);
  out.clear();
  EXPECT_FALSE(served.on_request(request, out));
  EXPECT_EQ(out.size(), 1u) << "the same reply again";
}

TEST(ServedTable, RefusesWhatIsBeyondTheLimits) {
  ServedTable served(tiny());
  Outbox out;
  const Bytes payload(300);
  EXPECT_FALSE(served.on_request({{2, 1}, false, 600, 300, 0, payload}, out)) << "a slot too many";
  EXPECT_FALSE(served.on_request({{0, 0}, false, 600, 300, 0, payload}, out)) << "no sequence";
  EXPECT_FALSE(served.on_request({{0, 1}, false, 5'001, 300, 0, payload}, out)) << "too long";
  EXPECT_TRUE(served.on_request({{0, 1}, false, 300, 300, 0, payload}, out));
  EXPECT_FALSE(served.on_request({{0, 2}, false, 300, 300, 0, payload}, out)) << "the slot is busy";
  EXPECT_EQ(served.refused(), 4u);
  EXPECT_TRUE(out.empty());
}

TEST(CallTable, PausesGrowAndASlotIsKeptForAnAbandonedCall) {
  CallTable calls(tiny());
  Outbox out;
  const auto call = calls.begin(Bytes(5), 100, out);
  std::uint64_t repeated = 0;
  EXPECT_EQ(calls.tick(105, out, repeated), 110u);
  EXPECT_EQ(calls.tick(110, out, repeated), 130u);
  EXPECT_EQ(calls.tick(130, out, repeated), 170u);
  EXPECT_EQ(calls.tick(170, out, repeated), 210u);
  EXPECT_EQ(repeated, 3u);
  calls.leave(call);
  (void)calls.begin(Bytes(5), 100, out);
  EXPECT_FALSE(calls.has_room(5));
  const Bytes reply = encode_reply(Bytes{});
  calls.on_reply({call->id, true, static_cast<std::uint32_t>(reply.size()), 300, 0, reply}, 200, out);
  EXPECT_TRUE(calls.has_room(5));
}

TEST(Reply, SomethingElseIsNotBelieved) {
  EXPECT_EQ(decode_reply({}).error().code, PERDURE_CORRUPT);
  EXPECT_EQ(decode_reply({std::byte{2}}).error().code, PERDURE_CORRUPT);
  Bytes error = encode_reply(base::fail(PERDURE_BUSY, "a", "b", "c"));
  error.pop_back();
  EXPECT_EQ(decode_reply(error).error().code, PERDURE_CORRUPT);
}

}  // namespace
}  // namespace perdure::network
