// Checks the duties of an endpoint over every wire. A new wire is enrolled with one line at the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "base/guarded.hpp"
#include "network/network_testing.hpp"
#include "os/file.hpp"
#include "os/memory_map.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::network {
namespace {

class NetworkConformance : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Wire> wire() {
    if (std::string(GetParam()) == "memory") return fabric_->make_wire();
    return open_fabric_wire();
  }
  std::unique_ptr<Endpoint> open(Handlers handlers = {reverse, {}}) { return open_endpoint(wire(), options, handlers); }
  /// Delays all answers until `leave`.
  static Handlers answers_after(std::promise<void>& leave) {
    return {[left = leave.get_future().share()](PeerId, ConstByteSpan) -> base::Result<Bytes> {
              left.wait();
              return Bytes{};
            },
            {}};
  }
  std::shared_ptr<MemoryFabric> fabric_ = MemoryFabric::make();
  EndpointOptions options = sample_options();
};

TEST_P(NetworkConformance, AnswersARequest) {
  auto server = open(), client = open();
  const PeerId peer = connected(*client, *server);
  for (const std::size_t size : {0, 1, 100, 5000, 300'000}) {
    const Bytes request = sample_bytes(size, size);
    const auto reply = client->call(peer, request, kPatience);
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(*reply, Bytes(request.rbegin(), request.rend())) << size;
  }
}

TEST_P(NetworkConformance, TheServerCanCallBackOverTheSameSession) {
  auto a = open(), b = open();
  const PeerId from_a = connected(*a, *b);
  ASSERT_TRUE(a->call(from_a, text_bytes("ab"), kPatience));  // now b believes a, too
  const PeerId from_b = connected(*b, *a);
  const auto reply = b->call(from_b, text_bytes("xyz"), kPatience);
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(*reply, text_bytes("zyx"));
  EXPECT_EQ(a->statistics().peers, 1u);
  EXPECT_EQ(b->statistics().peers, 1u);
}

TEST_P(NetworkConformance, TwoThatConnectToEachOtherAtTheSameTimeShareOneSession) {
  for (int round = 0; round < 3; ++round) {
    auto a = open(), b = open();
    auto other = std::async(std::launch::async, [&] { return b->connect(a->address(), kPatience); });
    const PeerId from_a = connected(*a, *b);
    const auto from_b = other.get();
    ASSERT_TRUE(from_b) << from_b.error().text();
    EXPECT_TRUE(a->call(from_a, text_bytes("1"), kPatience));
    EXPECT_TRUE(b->call(*from_b, text_bytes("2"), kPatience));
    EXPECT_EQ(a->statistics().peers, 1u);
  }
}

TEST_P(NetworkConformance, AnIntroductionConnectsInTheBackground) {
  auto a = open(), b = open(), c = open();
  ASSERT_TRUE(a->introduce(b->address(), kPatience));
  ASSERT_TRUE(a->introduce(c->address(), kPatience));
  ASSERT_TRUE(a->introduce(a->address(), kPatience)) << "itself: nothing to do";
  ASSERT_TRUE(test_support::eventually("all are connected", [&] {
    return a->statistics().peers >= 2 && b->statistics().peers >= 1 && c->statistics().peers >= 1;
  }));
  ASSERT_TRUE(a->introduce(b->address(), kPatience));
  EXPECT_TRUE(a->call(connected(*a, *b), text_bytes("1"), kPatience));
  EXPECT_TRUE(c->call(connected(*c, *a), text_bytes("2"), kPatience));
  EXPECT_EQ(a->statistics().peers, 2u);
  EXPECT_FALSE(a->introduce(text_bytes("no address"), kPatience));
}

TEST_P(NetworkConformance, WhoWaitsForAConnectionWaitsOnWhenAnIntroductionIsGivenUp) {
  options.retry_ns = options.max_retry_ns = 1'000'000;
  auto a = open(), b = open();
  ASSERT_TRUE(a->introduce(b->address(), 1));
  EXPECT_TRUE(a->call(connected(*a, *b), text_bytes("1"), kPatience));
}

TEST_P(NetworkConformance, AnErrorOfTheHandlerReachesTheCaller) {
  auto server = open({[](PeerId, ConstByteSpan) -> base::Result<Bytes> {
                        return base::fail(PERDURE_NOT_FOUND, "version 7", "it is not here", "ask another", true);
                      },
                      {}});
  auto client = open();
  const auto reply = client->call(connected(*client, *server), {}, kPatience);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(reply.error().text(), "version 7: it is not here (not-found); ask another");
  EXPECT_TRUE(reply.error().retryable);
}

TEST_P(NetworkConformance, ManyCallersAtOnceGetTheirOwnAnswers) {
  auto server = open(), client = open();
  const PeerId peer = connected(*client, *server);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 30; ++i) {
        const Bytes request = sample_bytes(t * 1000 + i, 10 + 977 * i);
        const auto reply = client->call(peer, request, kPatience);
        if (reply && *reply == Bytes(request.rbegin(), request.rend())) ++right;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 180);
}

TEST_P(NetworkConformance, WhatIsTooLongIsRefusedBeforeItIsSent) {
  options.max_message_bytes = 1000;
  auto server = open({[](PeerId, ConstByteSpan) -> base::Result<Bytes> { return Bytes(2000); }, {}});
  auto client = open();
  const PeerId peer = connected(*client, *server);
  const auto request = client->call(peer, Bytes(1001), kPatience);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().code, PERDURE_INVALID_ARGUMENT);
  const auto reply = client->call(peer, Bytes(1000), kPatience);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().object, "reply");
}

TEST_P(NetworkConformance, ReadsAndWritesTheMemoryOfAPeer) {
  auto server = open(), client = open();
  const PeerId peer = connected(*client, *server);
  Bytes memory = sample_bytes(1, 3'000'000);
  const Bytes before = memory;
  const auto name = server->expose(memory, Access::read_and_write);
  ASSERT_TRUE(name) << name.error().text();
  const auto told = decode_remote_memory(encode(*name));
  ASSERT_TRUE(told);
  Bytes copy(2'000'001);
  const auto read = client->read(peer, *told, 999'000, copy, kPatience);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(std::equal(copy.begin(), copy.end(), before.begin() + 999'000));
  const Bytes fresh = sample_bytes(2, 1'100'000);
  const auto written = client->write(peer, *told, 17, fresh, kPatience);
  ASSERT_TRUE(written) << written.error().text();
  Bytes back(fresh.size());
  ASSERT_TRUE(client->read(peer, *told, 17, back, kPatience));
  EXPECT_EQ(back, fresh);
  server->withdraw(*name);
}

TEST_P(NetworkConformance, ReadsManyPiecesAtOnce) {
  auto server = open(), client = open();
  const PeerId peer = connected(*client, *server);
  Bytes memory = sample_bytes(3, 100'000), copy(100'000);
  const auto name = server->expose(memory, Access::read);
  ASSERT_TRUE(name);
  std::vector<ReadPiece> pieces;
  for (std::size_t at = 0; at < copy.size(); at += 1000)
    pieces.push_back({*name, copy.size() - 1000 - at, ByteSpan(copy).subspan(copy.size() - 1000 - at, 1000)});
  const auto read = client->read_many(peer, pieces, kPatience);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(copy, memory);
  server->withdraw(*name);
}

TEST_P(NetworkConformance, RefusesRangesAndRightsThatThePeerDidNotGive) {
  auto server = open(), client = open();
  const PeerId peer = connected(*client, *server);
  Bytes memory(1000), copy(1000);
  const auto name = server->expose(memory, Access::read);
  ASSERT_TRUE(name);
  EXPECT_FALSE(client->read(peer, *name, 1, copy, kPatience));
  EXPECT_FALSE(client->read(peer, *name, ~std::uint64_t{0}, copy, kPatience));
  EXPECT_FALSE(client->write(peer, *name, 0, copy, kPatience));
  RemoteMemory lie = *name;
  lie.access = Access::read_and_write;
  EXPECT_FALSE(client->write(peer, lie, 0, copy, kPatience));
  lie = *name;
  lie.wire.key ^= 0x5555;
  EXPECT_FALSE(client->read(peer, lie, 0, copy, kPatience));
  const auto read = client->read(peer, *name, 0, copy, kPatience);
  ASSERT_TRUE(read) << error_text(read) << ": the session survives what was refused";
  server->withdraw(*name);
  EXPECT_FALSE(client->read(peer, *name, 0, copy, kPatience));
  const auto reply = client->call(peer, text_bytes("ab"), kPatience);
  EXPECT_TRUE(reply) << error_text(reply);
}

TEST_P(NetworkConformance, SeesMemoryOfTheSameHostThroughItsFile) {
  const test_support::TemporaryDirectory directory;
  const auto file = os::File::open(directory / "slots", os::Open::create_new);
  ASSERT_TRUE(file);
  const Bytes content = sample_bytes(4, 50'000);
  ASSERT_TRUE(file->write(0, content));
  auto mapping = os::Mapping::map(*file, 0, content.size(), true);
  ASSERT_TRUE(mapping);
  auto server = open(), client = open();
  const PeerId peer = connected(*client, *server);
  const auto name = server->expose({mapping->data() + 100, 40'000}, Access::read, FileHint{directory / "slots", 100});
  ASSERT_TRUE(name) << name.error().text();
  const auto told = decode_remote_memory(encode(*name));
  ASSERT_TRUE(told);
  const auto view = client->view(peer, *told);
  ASSERT_TRUE(view);
  EXPECT_TRUE(std::equal(view->bytes().begin(), view->bytes().end(), content.begin() + 100));
  Bytes copy(1000);
  ASSERT_TRUE(client->read(peer, *told, 500, copy, kPatience));
  EXPECT_TRUE(std::equal(copy.begin(), copy.end(), content.begin() + 600));
  EXPECT_EQ(client->statistics(peer)->bytes_read_locally, 1000u);
  EXPECT_EQ(client->statistics(peer)->bytes_read, 0u);
  client->disconnect(peer);
  EXPECT_EQ(client->statistics().views, 0u);
  EXPECT_EQ(view->bytes()[0], content[100]) << "a view that somebody holds stays";
  server->withdraw(*name);
}

TEST_P(NetworkConformance, AnotherFileOfTheSameNameIsNotTheMemory) {
  const test_support::TemporaryDirectory directory;
  ASSERT_TRUE(os::write_file_atomically(directory / "slots", Bytes(5000)));
  Bytes memory = sample_bytes(5, 5000), copy(5000);
  auto server = open(), client = open();
  const PeerId peer = connected(*client, *server);
  EXPECT_FALSE(server->expose(memory, Access::read, FileHint{directory / "slots", 1})) << "it is too short";
  const auto name = server->expose(memory, Access::read, FileHint{directory / "slots", 0});
  ASSERT_TRUE(name);
  ASSERT_TRUE(os::write_file_atomically(directory / "slots", Bytes(5000)));
  EXPECT_FALSE(client->view(peer, *name));
  ASSERT_TRUE(client->read(peer, *name, 0, copy, kPatience));
  EXPECT_EQ(copy, memory);
  server->withdraw(*name);
}

TEST_P(NetworkConformance, ClosingEndsCallsThatAreUnderWay) {
  std::promise<void> entered;
  std::promise<void> leave;
  auto server = open({[&](PeerId, ConstByteSpan) -> base::Result<Bytes> {
                        entered.set_value();
                        leave.get_future().wait();
                        return Bytes{};
                      },
                      {}});
  auto client = open();
  const PeerId peer = connected(*client, *server);
  auto call = std::async(std::launch::async, [&, raw = client.get()] { return raw->call(peer, {}, kPatience); });
  entered.get_future().wait();
  client.reset();
  const auto outcome = call.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, PERDURE_CLOSED);
  leave.set_value();
}

/// Records the outcomes of calls without a waiting caller.
class Told {
 public:
  auto then() {
    return [this](base::Result<Bytes> outcome) {
      const auto told = told_.lock();
      told->threads.push_back(std::this_thread::get_id());
      told->outcomes.push_back(std::move(outcome));
      changed_.notify_all();
    };
  }
  std::vector<base::Result<Bytes>> wait(std::size_t count) {
    auto told = told_.lock();
    told.wait_for(changed_, std::chrono::nanoseconds(kPatience), [&] { return told->outcomes.size() >= count; });
    return told->outcomes;
  }
  bool by_this_thread() {
    const auto told = told_.lock();
    return std::count(told->threads.begin(), told->threads.end(), std::this_thread::get_id()) > 0;
  }

 private:
  struct State {
    std::vector<base::Result<Bytes>> outcomes;
    std::vector<std::thread::id> threads;
  };
  base::Guarded<State> told_;
  std::condition_variable changed_;
};

TEST_P(NetworkConformance, WhoDoesNotWaitForAnAnswerIsToldIt) {
  auto server = open();
  Told told;
  auto client = open();
  const PeerId peer = connected(*client, *server);
  for (const std::size_t size : {1, 300'000})
    ASSERT_TRUE(client->begin_call(peer, sample_bytes(size, size), kPatience, told.then()));
  const auto outcomes = told.wait(2);
  ASSERT_EQ(outcomes.size(), 2U);
  for (const auto& outcome : outcomes) {
    ASSERT_TRUE(outcome) << outcome.error().text();
    const Bytes request = sample_bytes(outcome->size(), outcome->size());
    EXPECT_EQ(*outcome, Bytes(request.rbegin(), request.rend()));
  }
  EXPECT_FALSE(told.by_this_thread());
}

TEST_P(NetworkConformance, WhoDoesNotWaitIsToldOnceThatThereIsNoAnswerInTime) {
  std::promise<void> leave;
  auto server = open(answers_after(leave));
  Told told;
  auto client = open();
  const PeerId peer = connected(*client, *server);
  ASSERT_TRUE(client->begin_call(peer, {}, 1'000'000, told.then()));
  const auto first = told.wait(1);
  ASSERT_EQ(first.size(), 1U);
  ASSERT_FALSE(first[0]);
  EXPECT_EQ(first[0].error().code, PERDURE_TIMEOUT);
  leave.set_value();
  ASSERT_TRUE(client->call(peer, {}, kPatience)) << "behind the answer that came too late";
  EXPECT_EQ(told.wait(1).size(), 1U);
}

TEST_P(NetworkConformance, WhoDoesNotWaitIsToldByAnotherThreadThatThePeerWasLost) {
  std::promise<void> leave;
  auto server = open(answers_after(leave));
  Told told;
  auto client = open();
  const PeerId peer = connected(*client, *server);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client->begin_call(peer, {}, kPatience, told.then()));
  client->disconnect(peer);
  const auto outcomes = told.wait(3);
  ASSERT_EQ(outcomes.size(), 3U);
  for (const auto& outcome : outcomes) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, PERDURE_CLOSED);
  }
  EXPECT_FALSE(told.by_this_thread()) << "it may have what is needed there";
  EXPECT_FALSE(client->begin_call(peer, {}, kPatience, told.then()));
  leave.set_value();
}

TEST_P(NetworkConformance, MoreCallsThanMayBeUnderWayAreRefusedInsteadOfWaitedFor) {
  options.window_calls = 2;
  std::promise<void> leave;
  auto server = open(answers_after(leave));
  Told told;
  auto client = open();
  const PeerId peer = connected(*client, *server);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(client->begin_call(peer, {}, kPatience, told.then()));
  const auto refused = client->begin_call(peer, {}, kPatience, told.then());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_BUSY);
  leave.set_value();
  EXPECT_EQ(told.wait(2).size(), 2U);
}

TEST_P(NetworkConformance, ABriefRequestIsServedWhileAllServiceThreadsAreBusy) {
  options.service_threads = 1;
  std::promise<void> leave;
  Handlers handlers{[&, left = leave.get_future().share()](PeerId, ConstByteSpan request) -> base::Result<Bytes> {
                      if (request.size() != 1) left.wait();
                      return Bytes(request.begin(), request.end());
                    },
                    {}};
  handlers.is_brief = [](ConstByteSpan request) { return request.size() == 1; };
  auto server = open(handlers);
  Told told;
  auto client = open();
  const PeerId peer = connected(*client, *server);
  ASSERT_TRUE(client->begin_call(peer, text_bytes("long"), kPatience, told.then()));
  const auto brief = client->call(peer, text_bytes("b"), kPatience / 6);
  leave.set_value();
  ASSERT_TRUE(brief) << brief.error().text();
  EXPECT_EQ(*brief, text_bytes("b"));
  EXPECT_EQ(told.wait(1).size(), 1U);
}

TEST_P(NetworkConformance, APeerThatEndsIsLostAtOnceAndNamed) {
  std::promise<std::string> lost;
  auto server = open();
  auto client = open({reverse, [&](PeerId, const base::Error& error) { lost.set_value(error.text()); }});
  const PeerId peer = connected(*client, *server);
  const std::string name = *client->name_of(peer);
  ASSERT_TRUE(client->call(peer, text_bytes("a"), kPatience));
  server.reset();
  if (std::string(GetParam()) == "memory") {  // elsewhere its last words may be lost with it
    EXPECT_NE(lost.get_future().get().find(name), std::string::npos);
  }
  const auto late = client->call(peer, text_bytes("a"), 1'000'000);
  EXPECT_FALSE(late);
}

TEST_P(NetworkConformance, AnAddressOfAnEngineThatIsGoneTimesOut) {
  auto client = open();
  Bytes address;
  {
    auto server = open();
    address = server->address();
  }
  const auto peer = client->connect(address, 100'000'000);
  ASSERT_FALSE(peer);
  EXPECT_EQ(peer.error().code, PERDURE_TIMEOUT);
  EXPECT_FALSE(client->connect(client->address(), kPatience));
  EXPECT_FALSE(client->connect(text_bytes("garbage"), kPatience));
}

INSTANTIATE_TEST_SUITE_P(Wires, NetworkConformance, ::testing::Values("memory", "fabric"),
                         [](const auto& about) { return std::string(about.param); });

}  // namespace
}  // namespace perdure::network
