// Tests which peers an engine of the job serves: an unauthenticated peer gets nothing. A peer that sends malformed
// messages is reported and then dropped, while the others are served.
#include "engine/peers/node_group.hpp"

#include <gmock/gmock.h>

#include "engine/ledger/node_state_testing.hpp"
#include "engine/peers/peer_request.hpp"
#include "engine/replicate/group_message.hpp"
#include "network/network_testing.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"

namespace perdure::engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class NodeGroupOnNetwork : public NodeStateFixture {
 protected:
  NodeGroupOnNetwork() {
    open({8});
    options.scheme = "xor";
    options.fabric.bind_address = "127.0.0.1";
    group = std::make_unique<NodeGroup>(*ledger, reports, options, [] {});
    address = *group->open_network(std::vector<std::byte>(key.begin(), key.end()));
  }
  std::unique_ptr<network::Endpoint> engine(std::byte secret) {
    auto theirs = network::sample_options();
    theirs.job_key.fill(secret);
    return network::open_endpoint(network::open_fabric_wire(), theirs);
  }
  base::Result<network::Bytes> say(network::Endpoint& from, network::PeerId to, const network::Bytes& message) {
    return from.call(to, message, network::kPatience);
  }
  /// Returns the first report of the network about `who`.
  std::string awaited_report(const std::string& who) {
    std::string found;
    EXPECT_TRUE(test_support::eventually("the network reports something about " + who, [&] {
      for (auto report = reports.take(); report; report = reports.take())
        if (report->starts_with("network: " + who)) return found = *report, true;
      return false;
    }));
    return found;
  }
  /// Sends a message that this node understands: it answers that it is in no launch yet.
  void expect_served(network::Endpoint& from) {
    const auto peer = from.connect(address, network::kPatience);
    ASSERT_TRUE(peer) << peer.error().text();
    const auto message = encode(GroupMessage{{id(1), 7}, 1, Keeps{}});
    const auto answer = say(from, *peer, encode(PeerRequest(ToReplicator{message})));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, PERDURE_BUSY);
  }

  NodeGroupOptions options;
  network::JobKey key = network::sample_options().job_key;
  std::unique_ptr<NodeGroup> group;
  network::Bytes address;
};

TEST_F(NodeGroupOnNetwork, AStrangerGetsNothingAndStopsNobody) {
  auto friendly = engine(key[0]), stranger = engine(std::byte{43});
  expect_served(*friendly);
  const auto peer = stranger->connect(address, 300'000'000);
  ASSERT_FALSE(peer);
  EXPECT_EQ(peer.error().code, PERDURE_TIMEOUT);
  EXPECT_EQ(stranger->statistics().messages_received, 0U) << "not even an answer";
  expect_served(*friendly);
}

TEST_F(NodeGroupOnNetwork, OfAPeerThatIsLostItSaysWhichNodeThatIsWhetherItIsBadAndWhatToDo) {
  auto member = engine(key[0]), other = engine(key[0]);
  ASSERT_TRUE(group->join({7, 0, 0, {address, member->address()}, {0}, {"here", "host#3"}}));
  const std::string name = network::decode_address(member->address())->text();
  const std::string others_name = network::decode_address(other->address())->text();
  expect_served(*other);
  ASSERT_TRUE(member->connect(address, network::kPatience));
  member.reset();
  const std::string said = awaited_report("node host#3");
  EXPECT_THAT(said, HasSubstr("node host#3 (" + name + ") was lost: "));
  EXPECT_THAT(said, testing::AllOf(HasSubstr("this is normal when its program was ended"), HasSubstr("level node"),
                                   HasSubstr("see whether that node works")));
  other.reset();
  EXPECT_THAT(awaited_report(others_name), AllOf(HasSubstr(" was lost: "), HasSubstr("none of this node's group")));
}

TEST_F(NodeGroupOnNetwork, APeerThatRecoversIsToldWhatIsHereWhichStaysUntilItIsGone) {
  ASSERT_TRUE(checkpoint(1));
  store(1);
  const auto pinned = [&] {
    const auto state = ledger->lock();
    return !state->held.evictable(*state->find(id(1)));
  };
  for (const bool ends : {true, false}) {
    auto asker = engine(key[0]);
    const auto peer = asker->connect(address, network::kPatience);
    ASSERT_TRUE(peer) << peer.error().text();
    const ExportQuestion question{ends ? 5U : 6U, id(1), {0}, {}, 0};
    ExportAnswer answer;
    while (!answer.ready) {
      const auto said = say(*asker, *peer, encode(PeerRequest(question)));
      ASSERT_TRUE(said) << said.error().text();
      answer = *decode_export_answer(*said);
    }
    const auto exported = decode_exported_pieces(answer.part);
    ASSERT_TRUE(exported) << exported.error().text();
    EXPECT_EQ(exported->address, address);
    ASSERT_EQ(exported->pieces.size(), 1U);
    ASSERT_TRUE(exported->pieces[0].places[0]);
    std::vector<std::byte> bytes(kChunk);
    const auto memory = network::decode_remote_memory(exported->pieces[0].places[0]->memory);
    ASSERT_TRUE(asker->read(*peer, *memory, 0, bytes, network::kPatience));
    EXPECT_EQ(base::hash128(bytes), exported->pieces[0].piece.chunks[0].hash);
    EXPECT_TRUE(pinned());
    if (ends) {
      ASSERT_TRUE(say(*asker, *peer, encode(PeerRequest(ExportEnd{5}))));
      EXPECT_FALSE(pinned());
    }
    asker.reset();
    EXPECT_TRUE(test_support::eventually("what was exported is pinned no more", [&] { return !pinned(); }));
  }
}

/// An engine of the same job that has no content yet.
struct OtherNode {
  explicit OtherNode(const NodeGroupOptions& options) {
    std::vector<std::unique_ptr<tier::Tier>> tiers;
    tiers.push_back(*tier::make_tier("file", {0, directory / "tier", kChunk, 4 * kChunk}));
    ledger = std::make_unique<Ledger>(catalog::Catalog::open(directory.path()).value(), std::move(tiers), reports,
                                      NodeStateOptions{});
    {
      const auto state = ledger->lock();
      EXPECT_TRUE(state->recover());
    }
    group = std::make_unique<NodeGroup>(*ledger, reports, options, [this] { ++changes; });
  }
  template <class Request>
  base::Result<typename Request::Reply> recover(const Request& request) {
    std::optional<base::Result<typename Request::Reply>> outcome;
    const bool over = test_support::eventually("the recovery is over", [&] {
      outcome = group->recover(1, request);
      return outcome.has_value();
    });
    if (over) return std::move(*outcome);
    return base::fail(PERDURE_TIMEOUT, "recovery", "it does not end");
  }
  test_support::TemporaryDirectory directory;
  Reports reports;
  std::unique_ptr<Ledger> ledger;
  std::atomic<int> changes = 0;
  std::unique_ptr<NodeGroup> group;
};

TEST_F(NodeGroupOnNetwork, AnEngineThatRecoversAsksTheOthersAndGoesOnWithoutThoseThatDoNotAnswer) {
  ASSERT_TRUE(checkpoint(1));
  store(1);
  OtherNode other(options);
  const auto own = other.group->open_network(std::vector<std::byte>(key.begin(), key.end()));
  ASSERT_TRUE(own) << own.error().text();
  auto silent = engine(key[0]);  // answers no requests
  const ipc::Recover request{
      id(1),
      1,
      {0},
      {{"host#0", address, {0}, {}}, {"host#1", *own, {0}, {0}}, {"host#2", silent->address(), {0}, {}}}};
  const auto recovered = other.recover(request);
  ASSERT_TRUE(recovered) << recovered.error().text();
  ASSERT_EQ(recovered->ranks.size(), 1U);
  EXPECT_EQ(recovered->ranks.front().bytes_moved, kChunk);
  {
    const auto state = other.ledger->lock();
    ASSERT_NE(state->find(id(1)), nullptr);
    EXPECT_TRUE(state->find(id(1))->restorable(0));
  }
  const auto said = other.reports.take();
  ASSERT_TRUE(said);
  EXPECT_THAT(*said, AllOf(HasSubstr("app version 1"), HasSubstr("node host#2"), HasSubstr("it counts as lost")));
  const auto state = ledger->lock();
  EXPECT_TRUE(state->held.evictable(*state->find(id(1)))) << "the recovery is over";
}

TEST_F(NodeGroupOnNetwork, AClientThatDiesWhileItsEngineRecoversLeavesNothingPinned) {
  ASSERT_TRUE(checkpoint(1));
  store(1);
  OtherNode other(options);
  ASSERT_TRUE(other.group->open_network(std::vector<std::byte>(key.begin(), key.end())));
  auto silent = engine(key[0]);  // so that the recovery takes its time
  {
    const auto state = other.ledger->lock();
    const auto slot = state->room.take_for_redundancy(id(1), kChunk);
    ASSERT_TRUE(slot);
    segment::Piece piece{1, kChunk, {{0, 1, kChunk}}, {{slot->slot, kChunk, content_hash(), slot->tier}}};
    ASSERT_TRUE(state->held.adopt(id(1), 2, piece));
  }
  const ipc::Recover request{id(1), 2, {0}, {{"host#2", silent->address(), {0}, {}}}};
  ASSERT_FALSE(other.group->recover(1, request)) << "it is under way";
  const auto pinned = [&] {
    const auto state = other.ledger->lock();
    return !state->tracked().find(id(1))->pinned_by.empty();
  };
  EXPECT_TRUE(pinned());
  {
    const auto state = other.ledger->lock();
    state->client_gone(1);
  }
  other.group->client_gone(1);
  EXPECT_FALSE(pinned());
  const int before = other.changes;
  silent.reset();  // its pending requests fail now
  ASSERT_TRUE(test_support::eventually("the recovery is over", [&] { return other.changes > before; }));
  EXPECT_FALSE(pinned()) << "nor is it pinned later";
}

TEST_F(NodeGroupOnNetwork, AClientThatDiesWhileItsGuestsAreBroughtHasNone) {
  ASSERT_TRUE(checkpoint(1));
  OtherNode other(options);
  ASSERT_TRUE(other.group->open_network(std::vector<std::byte>(key.begin(), key.end())));
  auto silent = engine(key[0]);  // so that the recovery takes its time
  const ipc::RecoverGuests request{
      id(1), 1, {{0, 0}}, {{"host#0", address, {0}, {}}, {"host#2", silent->address(), {0}, {}}}};
  ASSERT_FALSE(other.group->recover(1, request)) << "it is under way";
  ASSERT_FALSE(other.group->recover(1, ipc::Recover{id(2), 1, {0}, {{"host#2", silent->address(), {0}, {}}}}))
      << "another kind, beside it";
  {
    const auto state = other.ledger->lock();
    state->client_gone(1);
  }
  other.group->client_gone(1);
  silent.reset();       // its pending requests fail now
  other.group->stop();  // waits for both
  const auto state = other.ledger->lock();
  const auto usage = state->tiers()[0]->usage();
  EXPECT_EQ(usage.slots, usage.free_slots);
  EXPECT_TRUE(state->guests.filled(id(1)).empty());
}

TEST_F(NodeGroupOnNetwork, GuestsAreBroughtFromAnotherEngineAndPiecesAreDescribed) {
  ASSERT_TRUE(checkpoint(1));
  OtherNode other(options);
  ASSERT_TRUE(other.group->open_network(std::vector<std::byte>(key.begin(), key.end())));
  const auto brought = other.recover(ipc::RecoverGuests{id(1), 1, {{0, 0}}, {{"host#0", address, {0}, {}}}});
  ASSERT_TRUE(brought) << brought.error().text();
  EXPECT_TRUE(brought->all);
  ASSERT_EQ(brought->guests.size(), 1U);
  EXPECT_EQ(brought->guests[0].hash, content_hash());
  const auto described = other.recover(ipc::DescribePieces{id(1), 1, {0}, {{"host#0", address, {0}, {}}}});
  ASSERT_TRUE(described) << described.error().text();
  ASSERT_EQ(described->pieces.size(), 1U);
  EXPECT_EQ(described->pieces[0].chunks, 1U);
  EXPECT_EQ(described->pieces[0].chunk_bytes, kChunk);
  const auto state = other.ledger->lock();
  EXPECT_EQ(state->find(id(1)), nullptr) << "nothing is held";
}

TEST_F(NodeGroupOnNetwork, WhatThisNodeHasStaysWhileGuestsAreMadeOfItAndUntilTheClientIsDone) {
  ASSERT_TRUE(checkpoint(1));
  store(1);
  const auto evictable = [&] {
    const auto state = ledger->lock();
    return state->held.evictable(*state->find(id(1)));
  };
  const ipc::RecoverGuests request{id(1), 1, {{0, 0}}, {{"host#0", address, {0}, {}}}};  // the engine itself
  ASSERT_TRUE(evictable());
  std::optional<base::Result<ipc::RecoveredGuests>> recovered = group->recover(3, request);
  ASSERT_TRUE(test_support::eventually("the guests are made", [&] {
    if (recovered) return true;
    EXPECT_FALSE(evictable());
    recovered = group->recover(3, request);
    return recovered.has_value();
  }));
  ASSERT_TRUE(*recovered) << recovered->error().text();
  EXPECT_EQ((*recovered)->guests.size(), 1U);
  EXPECT_FALSE(evictable());
  {
    const auto state = ledger->lock();
    state->held.unpin(3);
  }
  EXPECT_TRUE(evictable());
}

TEST_F(NodeGroupOnNetwork, AnotherLaunchReleasesWhatWasExportedThoughARecoveryKeepsTheNetwork) {
  ASSERT_TRUE(checkpoint(1));
  store(1);
  const auto pinned = [&] {
    const auto state = ledger->lock();
    return !state->held.evictable(*state->find(id(1)));
  };
  auto asker = engine(key[0]), silent = engine(key[0]);
  const auto peer = asker->connect(address, network::kPatience);
  ASSERT_TRUE(peer) << peer.error().text();
  ASSERT_TRUE(say(*asker, *peer, encode(PeerRequest(ExportQuestion{5, id(1), {0}, {}, 0}))));
  ASSERT_TRUE(pinned());
  ASSERT_FALSE(group->recover(1, ipc::Recover{id(2), 1, {0}, {{"host#2", silent->address(), {0}, {}}}}))
      << "it is under way";
  ASSERT_TRUE(group->open_network(std::vector<std::byte>(key.size(), std::byte{77})));
  EXPECT_FALSE(pinned());
  silent.reset();
}

TEST_F(NodeGroupOnNetwork, WhatNobodyHasIsNotRecoveredAndNobodyKeepsAnythingForIt) {
  ASSERT_TRUE(checkpoint(1));
  store(1);
  OtherNode other(options);
  ASSERT_TRUE(other.group->open_network(std::vector<std::byte>(key.begin(), key.end())));
  const auto refused = other.recover(ipc::Recover{id(1), 2, {1}, {{"host#0", address, {0, 1}, {1}}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(other.recover(ipc::Recover{id(1), 2, {1}, {{"host#0", {}, {1}, {1}}}}).error().code,
            PERDURE_INVALID_ARGUMENT);
  const auto state = ledger->lock();
  EXPECT_TRUE(state->held.evictable(*state->find(id(1))));
}

TEST_F(NodeGroupOnNetwork, APeerThatSendsGarbageIsNamedAndThenDroppedAndTheOthersAreServed) {
  auto friendly = engine(key[0]), mad = engine(key[0]);
  const auto peer = mad->connect(address, network::kPatience);
  ASSERT_TRUE(peer);
  const std::string name = network::decode_address(mad->address())->text();
  const auto first = say(*mad, *peer, network::text_bytes("garbage"));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, PERDURE_CORRUPT) << "it is told why";
  auto said = taken_reports();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said[0], testing::AllOf(HasSubstr(name), HasSubstr("cannot be read")));
  expect_served(*friendly);
  const auto second = say(*mad, *peer, network::sample_bytes(1, 5000));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, PERDURE_PEER_FAILED);
  said = taken_reports();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said[0], testing::AllOf(HasSubstr(name), HasSubstr("it was disconnected")));
  expect_served(*friendly);
  expect_served(*mad);  // as another peer, which has done nothing yet
}

}  // namespace
}  // namespace perdure::engine
