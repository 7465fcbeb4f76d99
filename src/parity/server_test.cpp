// Tests the server and its clients over the wire in memory.
#include "parity/server.hpp"

#include <gmock/gmock.h>

#include "os/system.hpp"
#include "parity/parity_testing.hpp"

namespace perdure::parity {
namespace {

using network::error_text;
using ::testing::HasSubstr;

class ParityServer : public ParityTest {};

TEST_F(ParityServer, KeepsTheParitiesOfUnequalMembersAndRebuildsEveryBlock) {
  start();
  std::mt19937_64 random(11);
  for (unsigned round = 0; round < 6; ++round) {
    nodes_.clear();
    for (unsigned p = 0; p <= round % 5; ++p) {
      std::vector<std::size_t> lengths(random() % 4);
      for (std::size_t& length : lengths) length = random() % 3 == 0 ? random() % 5 * 4096 : random() % 20'000;
      add_node(lengths);
    }
    const std::string id = "round " + std::to_string(round);
    const Standing standing = encoded(id);
    ASSERT_EQ(standing.stage, Stage::done) << standing.why.text();
    EXPECT_EQ(standing.bytes_pulled, standing.bytes);
    const auto kept = client_->find(text_bytes(id));
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->note, text_bytes("note"));
    for (std::size_t s = 0; s < kept->parities.size(); ++s) {
      const Bytes parity = parity_of(nodes_, s);
      EXPECT_EQ(kept->parities[s], (ParityBlock{parity.size(), base::hash128(parity)}));
    }
    expect_all_rebuilt(id);
  }
}

TEST_F(ParityServer, AnOrderThatIsRepeatedIsCarriedOutOnce) {
  start();
  add_node({5000, 100}), add_node({7000});
  ASSERT_EQ(encoded("twice").stage, Stage::done);
  const std::uint64_t pulled = server_->inventory().bytes_pulled;
  EXPECT_EQ(encoded("twice").stage, Stage::done);
  EXPECT_EQ(server_->inventory().bytes_pulled, pulled);
  add_node({1});
  const auto other = client_->encode(order_of(nodes_, "twice"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, PERDURE_EXISTS);
  ASSERT_TRUE(client_->drop(text_bytes("twice")));
  EXPECT_EQ(encoded("twice").stage, Stage::done);
}

TEST_F(ParityServer, AFullPoolRefusesBeforeAnythingIsReadAndSaysWhatIsMissing) {
  start();
  add_node({300'000, 300'000});
  ASSERT_EQ(encoded("first").stage, Stage::done);
  const Inventory before = server_->inventory();
  const auto refused = client_->encode(order_of(nodes_, "second", ""));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_NO_SPACE);
  const std::uint64_t wanted = 2 * base::round_up(300'000, Pool::kGranule);
  EXPECT_THAT(refused.error().text(), HasSubstr(std::to_string(wanted - before.free_bytes) + " are missing"));
  EXPECT_EQ(server_->inventory().bytes_pulled, before.bytes_pulled);
  EXPECT_EQ(server_->inventory().free_bytes, before.free_bytes);
  EXPECT_EQ(client_->standing(text_bytes("second"))->stage, Stage::unknown);
  ASSERT_TRUE(client_->drop(text_bytes("first")));
  EXPECT_EQ(encoded("second").stage, Stage::done);
}

TEST_F(ParityServer, ABlockThatIsNotWhatItsHashSaysNeverGetsIntoAParity) {
  start();
  add_node({10'000}), add_node({6000, 9000});
  const std::uint64_t free = server_->inventory().free_bytes;
  nodes_[1]->content(1)[8191] ^= std::byte{1};
  const Standing failed = encoded("damaged");
  EXPECT_EQ(failed.stage, Stage::failed);
  EXPECT_EQ(failed.why.code, PERDURE_CORRUPT);
  EXPECT_THAT(failed.why.object, HasSubstr("block 1 of member 1 of 'damaged'"));
  EXPECT_EQ(server_->inventory().free_bytes, free);
  EXPECT_EQ(client_->find(text_bytes("damaged")).error().code, PERDURE_NOT_FOUND);
  nodes_[1]->content(1)[8191] ^= std::byte{1};
  EXPECT_EQ(encoded("damaged").stage, Stage::done) << "what failed may be ordered again";
  expect_all_rebuilt("damaged");
}

TEST_F(ParityServer, AMemberThatDiesFailsItsOrderAndGivesTheRoomBack) {
  ServerOptions options = sample_server();
  options.endpoint.guard_interval_ns = 20'000'000;
  options.endpoint.guard_limit_ns = 1'000'000'000;
  options.reads.connect_ns = 1'000'000'000;
  start(options);
  add_node({50'000}), add_node({50'000});
  ASSERT_EQ(encoded("before").stage, Stage::done);
  const std::uint64_t free = server_->inventory().free_bytes;
  fabric_->kill(nodes_[1]->wire_name());
  const Standing failed = encoded("after");
  EXPECT_EQ(failed.stage, Stage::failed);
  EXPECT_TRUE(failed.why.code == PERDURE_PEER_FAILED || failed.why.code == PERDURE_TIMEOUT) << failed.why.text();
  EXPECT_THAT(failed.why.object, HasSubstr("of member 1 of 'after'"));
  EXPECT_EQ(server_->inventory().free_bytes, free);
  Bytes target;
  const auto survivors = survivors_of(nodes_, 1, 0, nowhere);
  EXPECT_TRUE(rebuild("before", 1, 0, survivors, target)) << "what it had is there";
}

TEST_F(ParityServer, AMemberThatHangsHoldsUpItsOwnOrderOnly) {
  start();
  add_node({30'000});
  Node& slow = add_node({30'000});
  ASSERT_EQ(encoded("warm").stage, Stage::done);
  fabric_->slow_down(slow.wire_name(), kPatience);
  ASSERT_TRUE(client_->encode(order_of(nodes_, "hangs")));
  Nodes quick;
  quick.push_back(std::move(nodes_[0]));
  ASSERT_TRUE(client_->encode(order_of(quick, "goes on")));
  EXPECT_EQ(client_->wait(text_bytes("goes on"), kPatience)->stage, Stage::done);
  EXPECT_EQ(client_->standing(text_bytes("hangs"))->stage, Stage::under_way);
  EXPECT_EQ(client_->inventory()->under_way, 1u);
  ASSERT_TRUE(client_->drop(text_bytes("hangs")));
  EXPECT_EQ(client_->standing(text_bytes("hangs"))->stage, Stage::unknown);
  server_.reset();  // and its end does not wait for the member
}

TEST_F(ParityServer, AServerThatWasStartedAgainHasNothingAndSaysSo) {
  start();
  add_node({9000}), add_node({8000});
  ASSERT_EQ(encoded("gone").stage, Stage::done);
  server_.reset();
  start();
  // The guard, or the new connection from the same place, ends the old session; here a client asks anew.
  client_ = std::make_unique<Client>(*user_, server_->address(), patient());
  EXPECT_EQ(client_->standing(text_bytes("gone"))->stage, Stage::unknown);
  const auto kept = client_->find(text_bytes("gone"));
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(encoded("gone").stage, Stage::done);
}

TEST_F(ParityServer, ADeadServerIsAnErrorWithinTheLimits) {
  start();
  ASSERT_TRUE(client_->inventory());
  ClientOptions hasty{200'000'000, 200'000'000, 200'000'000};
  Client client(*user_, server_->address(), hasty);
  fabric_->kill(network::decode_address(server_->address())->wire);
  EXPECT_EQ(client.inventory().error().code, PERDURE_TIMEOUT);
  Client late(*user_, network::encode(network::Address{text_bytes("nobody"), 1}), hasty);
  const auto never = late.inventory();
  ASSERT_FALSE(never);
  EXPECT_THAT(never.error().text(), HasSubstr("parity server"));
}

TEST_F(ParityServer, AStrangerGetsNothingAndGarbageStopsNobody) {
  start();
  auto options = network::sample_options();
  options.job_key.fill(std::byte{43});
  auto stranger = network::open_endpoint(fabric_->make_wire(), options);
  EXPECT_EQ(stranger->connect(server_->address(), 300'000'000).error().code, PERDURE_TIMEOUT);
  const auto peer = user_->connect(server_->address(), kPatience);
  ASSERT_TRUE(peer);
  std::mt19937_64 random(3);
  Bytes frame = encode(AskStanding{text_bytes("x")});
  for (int i = 0; i < 200; ++i) {
    Bytes garbage = i % 2 == 0 ? sample_bytes(random(), random() % 100) : frame;
    if (i % 2 == 1) garbage.resize(random() % frame.size());
    EXPECT_EQ(user_->call(*peer, garbage, kPatience).error().code, PERDURE_CORRUPT);
  }
  frame[4] = std::byte{9};
  EXPECT_EQ(user_->call(*peer, frame, kPatience).error().code, PERDURE_UNSUPPORTED);
  EXPECT_EQ(client_->inventory()->refused, 201u);
  add_node({100});
  EXPECT_EQ(encoded("still there").stage, Stage::done);
}

TEST_F(ParityServer, OrdersThatMakeNoSenseAreRefused) {
  start();
  Node& node = add_node({1000});
  const auto refusal = [&](const auto& change) {
    Order order = order_of(nodes_, "order");
    change(order);
    const auto outcome = client_->encode(order);
    return outcome ? PERDURE_OK : outcome.error().code;
  };
  EXPECT_EQ(refusal([](Order& o) { o.id.clear(); }), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(refusal([](Order& o) { o.members.clear(); }), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(refusal([](Order& o) { o.members[0].address.clear(); }), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(refusal([](Order& o) { o.members[0].blocks[0].offset = 2; }), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(refusal([](Order& o) { o.members[0].blocks[0].bytes = ~std::uint64_t{0}; }), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(refusal([](Order& o) {
              o.members[0].blocks[0].memory.wire = {1, 0, ~std::uint64_t{0}};
              o.members[0].blocks[0].bytes = ~std::uint64_t{0};
            }),
            PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(refusal([](Order& o) { o.note.resize(kMaxNote + 1); }), PERDURE_CORRUPT) << "it is no frame";
  EXPECT_EQ(refusal([](Order& o) { o.note.resize(2U << 20U); }), PERDURE_NO_SPACE) << "notes take room, too";
  EXPECT_EQ(client_->inventory()->orders, 0u);
  // Nobody has this address: the order is accepted, and fails.
  Order lost = order_of(nodes_, "lost");
  lost.members[0].address = text_bytes("no address");
  ASSERT_TRUE(client_->encode(lost));
  EXPECT_EQ(client_->wait(text_bytes("lost"), kPatience)->stage, Stage::failed);
  EXPECT_EQ(node.blocks().size(), 1u);
}

TEST_F(ParityServer, RebuildingRefusesWhatCannotBeAndNamesWhatIsDamaged) {
  start();
  add_node({5000, 9000}), add_node({8000}), add_node({100, 3000});
  ASSERT_EQ(encoded("v").stage, Stage::done);
  Bytes target;
  auto survivors = survivors_of(nodes_, 0, 0, nowhere);
  const auto code_of = [&](unsigned lost, std::size_t stripe, const std::vector<Survivor>& some) {
    const auto done = rebuild("v", lost, stripe, some, target);
    return done ? PERDURE_OK : done.error().code;
  };
  EXPECT_EQ(code_of(0, 0, {survivors[0]}), PERDURE_INVALID_ARGUMENT) << "two are missing";
  EXPECT_EQ(code_of(0, 0, {survivors[0], survivors[1], survivors[1]}), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(0, 1, survivors), PERDURE_INVALID_ARGUMENT) << "those of another stripe";
  EXPECT_EQ(client_->find(text_bytes("w")).error().code, PERDURE_NOT_FOUND);
  const Kept other{text_bytes("w"), {}, {}};
  EXPECT_EQ(client_->rebuild(other, {0, 0, {}}, survivors, target).error().code, PERDURE_NOT_FOUND);
  Kept kept = *client_->find(text_bytes("v"));
  EXPECT_EQ(client_->rebuild(kept, {0, 7, {}}, survivors, target).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(client_->rebuild(kept, {1, 1, {}}, survivors, target).error().code, PERDURE_NOT_FOUND);
  target.resize(4999);
  EXPECT_EQ(client_->rebuild(kept, {0, 0, {}}, survivors, target).error().code, PERDURE_INVALID_ARGUMENT);

  nodes_[2]->content(0)[99] ^= std::byte{4};
  const auto remote = rebuild("v", 0, 0, survivors, target);
  ASSERT_FALSE(remote);
  EXPECT_EQ(remote.error().code, PERDURE_CORRUPT);
  EXPECT_THAT(remote.error().object, HasSubstr("member 2"));
  const auto here = rebuild("v", 0, 0, survivors_of(nodes_, 0, 0, [](unsigned) { return true; }), target);
  ASSERT_FALSE(here);
  EXPECT_EQ(here.error().code, PERDURE_CORRUPT);
  EXPECT_THAT(here.error().object, HasSubstr("member 2"));
  nodes_[2]->content(0)[99] ^= std::byte{4};
  EXPECT_EQ(code_of(0, 0, survivors), PERDURE_OK);
  EXPECT_EQ(client_->inventory()->under_way, 0u) << "rebuilds leave nothing behind";
  target.resize(5000);
  EXPECT_EQ(client_->rebuild(kept, {0, 0, {1, 2}}, survivors, target).error().code, PERDURE_CORRUPT)
      << "never given out as what it is not";
}

TEST_F(ParityServer, ListsWhatItHasByPrefixInPages) {
  start();
  add_node({1});
  std::vector<Bytes> ids;
  Order order = order_of(nodes_, "", "");
  for (const char* id : {"a", "b/1", "b/2", "c"}) {
    order.id = text_bytes(id);
    ASSERT_TRUE(client_->encode(order));
    ASSERT_EQ(client_->wait(order.id, kPatience)->stage, Stage::done);
  }
  ASSERT_TRUE(client_->allocate(text_bytes("b/memory"), 10));
  const auto some = client_->list(text_bytes("b/"));
  ASSERT_TRUE(some);
  EXPECT_THAT(*some, ::testing::ElementsAre(Listed{text_bytes("b/1"), false, Stage::done, 1},
                                            Listed{text_bytes("b/2"), false, Stage::done, 1},
                                            Listed{text_bytes("b/memory"), true, Stage::done, 10}));
  EXPECT_EQ(client_->list({})->size(), 5u);
  const Inventory inventory = *client_->inventory();
  EXPECT_EQ(inventory.orders, 4u);
  EXPECT_EQ(inventory.memories, 1u);
}

TEST_F(ParityServer, GivesTheSameOverANetworkThatLosesDoublesDamagesAndReorders) {
  fabric_ = network::MemoryFabric::make(5, {0.05, 0.05, 0.02, 0.1});
  start();
  add_node({5000, 9000}), add_node({8000}), add_node({100, 3000});
  ASSERT_EQ(encoded("v").stage, Stage::done);
  expect_all_rebuilt("v");
}

TEST_F(ParityServer, ManyClientsOrderAndDropAtOnce) {
  start();
  add_node({5000, 9000}), add_node({8000});
  std::atomic<unsigned> good{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 5; ++i) {
        const std::string id = std::to_string(t) + "/" + std::to_string(i);
        if (!client_->encode(order_of(nodes_, id))) continue;
        if (i % 2 == 0) good += client_->wait(text_bytes(id), kPatience)->stage == Stage::done;
        good += client_->drop(text_bytes(id)).has_value();
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 4u * (3 + 5));
  server_.reset();
}

TEST_F(ParityServer, SeveralServersShareTheIdsAndADeadOneIsAnErrorForItsOwn) {
  start();
  auto second = *Server::start(fabric_->make_wire(), sample_server());
  const auto clients_with = [&](const ClientOptions& options) {
    std::vector<std::unique_ptr<Client>> clients;
    clients.push_back(std::make_unique<Client>(*user_, server_->address(), patient()));
    clients.push_back(std::make_unique<Client>(*user_, second->address(), options));
    return clients;
  };
  const Servers servers(clients_with(patient()));
  add_node({1000}), add_node({2000});
  std::set<Client*> used;
  for (int i = 0; i < 12; ++i) {
    const Order order = order_of(nodes_, "id " + std::to_string(i));
    Client& client = servers.of(order.id);
    ASSERT_TRUE(client.encode(order));
    ASSERT_EQ(client.wait(order.id, kPatience)->stage, Stage::done);
    used.insert(&client);
  }
  EXPECT_EQ(used.size(), 2u);
  EXPECT_EQ(servers.list(text_bytes("id"))->size(), 12u);
  EXPECT_LT(servers.at(0).list(text_bytes("id"))->size(), 12u);
  fabric_->kill(network::decode_address(second->address())->wire);
  const Servers after(clients_with({300'000'000, 300'000'000, 300'000'000}));
  EXPECT_EQ(after.list(text_bytes("id")).error().code, PERDURE_TIMEOUT);
  EXPECT_EQ(after.at(1).standing(text_bytes("x")).error().code, PERDURE_TIMEOUT);
  unsigned there = 0;
  for (int i = 0; i < 12; ++i) {
    const Bytes id = text_bytes("id " + std::to_string(i));
    if (&after.of(id) == &after.at(0)) there += after.of(id).find(id).has_value();
  }
  EXPECT_EQ(there, after.at(0).list({})->size());
}

// Otherwise each further request would wait as long as the first.
TEST_F(ParityServer, ThatDoesNotAnswerIsNotAskedAgainForAWhileUnlessItIsStartedAgain) {
  start();
  const auto other = *Server::start(fabric_->make_wire(), sample_server());
  const auto endpoint = network::open_endpoint(fabric_->make_wire(), network::sample_options());
  constexpr std::int64_t kHour = 3'600'000'000'000;
  ClientOptions options = patient();
  options.connect_ns = 5'000'000'000;
  options.pause_ns = kHour;
  Bytes address = server_->address();
  Client client(
      *endpoint, [&]() -> base::Result<Bytes> { return address; }, options);
  const auto code_of_find = [&] {
    const auto found = client.find(text_bytes("nothing"));
    return found ? PERDURE_OK : found.error().code;
  };
  fabric_->cut_off(network::decode_address(address)->wire);
  EXPECT_EQ(code_of_find(), PERDURE_TIMEOUT);
  fabric_->heal();
  EXPECT_EQ(code_of_find(), PERDURE_TIMEOUT) << "it was asked";
  address = other->address();
  EXPECT_EQ(code_of_find(), PERDURE_NOT_FOUND) << "the other one was not asked";
}

TEST_F(ParityServer, ThatDidNotAnswerIsAskedAgainAfterAWhile) {
  start();
  const auto endpoint = network::open_endpoint(fabric_->make_wire(), network::sample_options());
  constexpr std::int64_t kHour = 3'600'000'000'000;
  ClientOptions options = patient();
  options.connect_ns = 5'000'000'000;
  options.pause_ns = kHour;
  Client client(*endpoint, server_->address(), options);
  fabric_->cut_off(network::decode_address(server_->address())->wire);
  EXPECT_EQ(client.find(text_bytes("nothing")).error().code, PERDURE_TIMEOUT);
  fabric_->heal();
  os::shift_monotonic_clock(2 * kHour);
  EXPECT_EQ(client.find(text_bytes("nothing")).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(client.find(text_bytes("nothing")).error().code, PERDURE_NOT_FOUND) << "it has answered";
  os::shift_monotonic_clock(-2 * kHour);
}

}  // namespace
}  // namespace perdure::parity
