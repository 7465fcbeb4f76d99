// Tests parts of Perdure of which each allocation can be refused alone.
#include <gtest/gtest.h>

#include <future>
#include <set>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "comm/communicator.hpp"
#include "engine/ledger/capture_testing.hpp"
#include "engine/replicate/scripted_group_testing.hpp"
#include "engine/serve/connections.hpp"
#include "network/network_testing.hpp"
#include "os/socket.hpp"
#include "refusing_new.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure;
using test_support::RefusedHere;

/// Calls `work` until it no longer throws: refuses its first allocation, then its second, and so on.
template <class Work>
int refusals_until_done(Work work) {
  for (int refused = 0;; ++refused) {
    const RefusedHere here(static_cast<std::uint64_t>(refused));
    try {
      work();
      return refused;
    } catch (const std::bad_alloc&) {
    }
  }
}

TEST(RefusedResult, ACopyThrowsAndNothingEnds) {  // the copy of tl::expected would end the process
  const std::string text = "a text that is too long to be kept without memory";
  const base::Status failed = base::fail(PERDURE_MISMATCH, text, text, text), fine;
  const base::Result<std::string> value = text;
  const base::Result<std::string> without = base::fail(PERDURE_CORRUPT, text, text);
  const auto is_copied = [](const auto& from, auto into) {
    return refusals_until_done([&] { [[maybe_unused]] const auto made = from; }) + refusals_until_done([&] {
             auto old = std::move(into);
             into = from;
           });
  };
  EXPECT_EQ(is_copied(failed, base::Status()), 6);
  EXPECT_EQ(is_copied(failed, base::Status(base::fail(PERDURE_IO, {}, {}))), 6);
  EXPECT_EQ(is_copied(value, base::Result<std::string>()), 2);
  EXPECT_EQ(is_copied(value, base::Result<std::string>(base::fail(PERDURE_IO, {}, {}))), 2);
  EXPECT_EQ(is_copied(without, base::Result<std::string>()), 4);
  EXPECT_EQ(is_copied(fine, base::Status(base::fail(PERDURE_IO, {}, {}))), 0);

  const auto copied = failed;
  EXPECT_EQ(copied.error().text(), failed.error().text());
  base::Result<std::string> assigned = without;
  assigned = value;
  EXPECT_EQ(*assigned, text);
  {
    const RefusedHere here(0);
    EXPECT_THROW(assigned = without, std::bad_alloc);
  }
  EXPECT_EQ(*assigned, text) << "a copy that is refused changes nothing";
  const auto& itself = assigned;
  assigned = itself;
  EXPECT_EQ(*assigned, text);
}

TEST(RefusedResult, WhoCatchesIsThrownNothingAlthoughNoMemoryCanBeHadAnyMore) {
  const segment::VersionId id{"a name that is too long to be kept without memory", 7, {}};
  const auto caught = [](const auto& object, const auto& work) {
    const RefusedHere here(0, 1000);
    return base::caught(object, [&]() -> base::Status {
      work();
      return {};
    });
  };
  const auto wants_memory = [] { (void)std::make_unique<int>(); };
  const base::Status refused = caught(id, wants_memory);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_NO_SPACE);
  EXPECT_EQ(refused.error().cause, "out of memory");
  EXPECT_EQ(caught("a text that is too long to be kept without memory", wants_memory).error().code, PERDURE_NO_SPACE);
  EXPECT_EQ(caught("short", wants_memory).error().text(), "short: out of memory (no-space)");
  EXPECT_EQ(caught(id, [] { throw 1; }).error().code, PERDURE_INTERNAL);
  const base::Status told = base::caught(id, []() -> base::Status { throw std::bad_alloc(); });
  EXPECT_EQ(told.error().object, id.text());
}

TEST(RefusedCommunicator, OneThatFailsIsSaidToHaveFailed) {  // otherwise its group would count as one that works
  perdure_communicator broken{};
  broken.size = 2;
  broken.barrier = [](void*) { return 1; };
  broken.allreduce = [](void*, std::uint64_t*, std::size_t, int) { return 1; };
  broken.allgather = [](void*, const void*, std::size_t, void*) { return 1; };
  broken.broadcast = [](void*, void*, std::size_t, int) { return 1; };
  const auto group = comm::make_from_c(broken).value();
  const RefusedHere here(0, 1000);
  const base::Status met = group->barrier();
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, PERDURE_PEER_FAILED);
}

class RefusedCapture : public engine::CaptureFixture {
 protected:
  static segment::VersionId long_id(std::uint64_t version) {
    return id(version, "a_name_that_is_too_long_to_be_kept_without_memory");
  }
};

TEST_F(RefusedCapture, ARankThatEndsTakesItAlongHoweverOftenMemoryIsRefused) {
  open({2}, early());
  const auto version = long_id(1);
  announce(1, version, 1, 2);
  announce(2, version, 1, 2);
  write(1, version, 0);
  EXPECT_GT(refusals_until_done([&] { core->client_gone(2); }), 0);
  std::size_t seen = 0;
  EXPECT_EQ(core->captures.news(version, seen).state, engine::CaptureNews::State::over);
  EXPECT_GT(refusals_until_done([&] { core->client_gone(1); }), 0);
  EXPECT_EQ(core->captures.find(version), nullptr) << "or its flush waits for ever, and the engine with it";
  EXPECT_EQ(used(0), 0U);
}

// The running flush ends later, and must then find the version.
TEST_F(RefusedCapture, ItsOwnFlushIsKnownUntilItEnds) {
  open({2}, early(engine::DuringCapture::always));
  const auto version = long_id(1);
  announce(1, version, 1);
  write(1, version, 0);
  ASSERT_EQ(core->captures.next_write_through(), version);
  refusals_until_done([&] { core->client_gone(1); });
  EXPECT_TRUE(core->captures.write_through(version));
  core->captures.write_through_over(version, std::nullopt);
  EXPECT_FALSE(core->captures.write_through(version));
}

TEST_F(RefusedCapture, ASlotIsGrantedOrFree) {
  open({1});
  std::uint64_t refused = 0;
  for (bool granted = false; !granted; ++refused) {
    announce(1, long_id(refused + 1), 1);
    try {
      const RefusedHere here(refused);
      granted = grant(1, long_id(refused + 1)).kind == engine::GrantOutcome::Kind::granted && !RefusedHere::over();
    } catch (const std::bad_alloc&) {
    }
    core->client_gone(1);
    ASSERT_EQ(used(0), 0U) << refused;
    ASSERT_EQ(core->captures.find(long_id(refused + 1)), nullptr);
  }
  EXPECT_GT(refused, 3U);
}

TEST(RefusedJson, AValueGoesWithoutMemory) {
  for (int i = 0; i < 3; ++i) {
    auto value = std::make_unique<base::Json>(base::Json::parse(R"({"a": [1, [2, {"b": [3]}]], "c": {"d": [[]]}})"));
    const RefusedHere here(0, 1000);
    value.reset();  // otherwise this process ends
  }
}

TEST(RefusedJson, CborThatNoMemoryCanBeHadForIsNotCalledDamaged) {
  const auto bytes = base::encode_cbor(base::Json::parse(R"({"a": [1, [2, {"b": [3]}]], "c": "a text that is long"})"));
  for (std::uint64_t refused = 0;; ++refused) {
    base::Result<base::Json> value;
    {
      const RefusedHere here(refused);
      value = base::decode_cbor(bytes, "test");
      if (!RefusedHere::over()) break;
    }
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().code, PERDURE_NO_SPACE) << value.error().text();
  }
}

TEST(RefusedConnections, WhoIsLostIsNamedOnceAlthoughMemoryIsRefusedWhileTheyAreDropped) {
  constexpr std::size_t kClients = 20;
  const test_support::TemporaryDirectory directory;
  const std::string path = directory / "socket";
  auto listener = os::listen_at(path);
  ASSERT_TRUE(listener);
  engine::Reports reports;
  engine::Connections connections(std::move(*listener), reports, [](engine::ClientId, const ipc::Frame&) {});
  ASSERT_TRUE(connections.started());
  {
    std::vector<os::Fd> clients;
    for (std::size_t i = 0; i < kClients; ++i) clients.push_back(os::connect_to(path).value());
    while (connections.count() < kClients) ASSERT_TRUE(connections.wait(std::nullopt));
  }
  std::vector<engine::ClientId> dropped;
  while (dropped.size() < kClients) {
    ASSERT_TRUE(connections.wait(1'000'000'000));
    const std::size_t before = dropped.size(), held = connections.count();
    const int refused = refusals_until_done([&] { connections.drop_lost(dropped); });
    EXPECT_EQ(dropped.size() - before, held - connections.count()) << "refused " << refused << " times";
  }
  EXPECT_EQ(connections.count(), 0U);
  EXPECT_EQ(std::set<engine::ClientId>(dropped.begin(), dropped.end()).size(), kClients);
}

TEST(RefusedNetwork, WhoeverDisconnectsFailsEveryCallWhateverMemoryIsRefused) {
  for (const std::uint64_t in_a_row : {1U, 1000U})
    for (std::uint64_t refused = 0, over = 0; over == 0; ++refused) {
      engine::Gate gate;
      const auto fabric = network::MemoryFabric::make();
      const auto server = network::open_endpoint(fabric->make_wire(), network::sample_options(),
                                                 {[&gate](network::PeerId, base::ConstByteSpan) {
                                                    gate.wait();
                                                    return base::Result<network::Bytes>();
                                                  },
                                                  {}});
      const auto client = network::open_endpoint(fabric->make_wire(), network::sample_options());
      const network::PeerId peer = network::connected(*client, *server);
      auto called = std::async(
          std::launch::async, [&] { return client->call(peer, network::text_bytes("a request"), network::kPatience); });
      ASSERT_TRUE(test_support::eventually("the request is being answered", [&] { return gate.waiting() > 0; }));
      {
        const RefusedHere here(refused, in_a_row);
        client->disconnect(peer);  // otherwise this process ends
        over = RefusedHere::over() ? 0 : 1;
      }
      const auto answer = called.get();
      gate.open();
      ASSERT_FALSE(answer);
      EXPECT_EQ(answer.error().code, PERDURE_CLOSED) << answer.error().text();
      EXPECT_EQ(client->statistics().peers, 0U);
    }
}

class RefusedGroup : public engine::ScriptedGroup {};

TEST_F(RefusedGroup, WhoeverLeavesHasLeftWhateverMemoryIsRefused) {
  for (std::uint64_t refused = 0, over = 0; over == 0; ++refused) {
    for (const auto& node : nodes_) node->end();
    nodes_.clear();
    make({"xor", 3, 1, 0}, 1);
    stop_keeps(1, 0);  // so that nothing ends earlier
    engine::Replicator& leaving = nodes_[0]->replicator();
    constexpr std::uint64_t kChunks = 40;
    commit(first_, kChunks);
    protect(first_);
    // In the middle of its work: it must also give back the blocks that it keeps for other nodes.
    ASSERT_TRUE(test_support::eventually("node 0 keeps blocks of others", [&] { return nodes_[0]->used() > kChunks; }));
    ASSERT_TRUE(leaving.state(first_).under_way);
    {
      const RefusedHere here(refused);
      leaving.leave();  // otherwise this process ends
      over = RefusedHere::over() ? 0 : 1;
    }
    EXPECT_EQ(leaving.under_way(), 0U) << refused;
    EXPECT_FALSE(leaving.state(first_).under_way);
    EXPECT_FALSE(leaving.state(first_).reached);
    const auto node = nodes_[0]->lock();
    EXPECT_EQ(node->flushes.next(), first_) << "it would never come to the store: " << refused;
  }
}

// The version's own commit was refused with an error; its group must continue to work.
TEST_F(RefusedGroup, AVersionIsProtectedAfterOneWhoseCommitGotNoMemory) {
  for (std::uint64_t refused = 0, over = 0; over == 0; ++refused) {
    for (const auto& node : nodes_) node->end();
    nodes_.clear();
    make({"xor", 3, 1, 0}, 1);
    commit(first_, 1);
    engine::Replicator& one = nodes_[0]->replicator();
    try {
      const RefusedHere here(refused);
      one.committed(first_);
      over = RefusedHere::over() ? 0 : 1;
    } catch (const std::bad_alloc&) {
    }
    EXPECT_LE(one.under_way(), 1U) << refused;  // otherwise this process ends
    commit(second_, 1);
    protect(second_);
    ASSERT_TRUE(test_support::eventually("the second version reaches its level", [&] {
      return one.state(second_).reached;
    })) << refused;
  }
}

}  // namespace
