// Runs the groups of replicator_test over the network: over the wire that tests can break, and over libfabric.
#include "engine/peers/endpoint_link.hpp"

#include <future>
#include <thread>

#include "engine/peers/peer_request.hpp"
#include "engine/replicate/group_testing.hpp"
#include "network/memory_wire.hpp"
#include "network/network_testing.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::engine {
namespace {

enum class Over { quiet_memory, bad_memory, fabric };

struct LinkCase {
  Over over;
  bool local;  ///< peers read slots through their files
};

class Links : public GroupFixtureBase {
 protected:
  void TearDown() override {
    for (auto& node : nodes_) node->end();
    networks_.clear();
  }
  std::unique_ptr<network::Wire> wire() {
    return over_.over == Over::fabric ? network::open_fabric_wire() : fabric_->make_wire();
  }
  void open(const LinkCase& over, unsigned nodes) {
    over_ = over;
    network::Faults faults;
    if (over.over == Over::bad_memory) faults = {.lose = 0.05, .duplicate = 0.05, .corrupt = 0.02, .reorder = 0.1};
    fabric_ = network::MemoryFabric::make(1, faults);
    auto options = network::sample_options();
    options.local = over.local;
    for (unsigned p = 0; p < nodes; ++p) {
      network::Handlers handlers;
      handlers.serve = [this, p](network::PeerId, base::ConstByteSpan request) -> base::Result<network::Bytes> {
        PERDURE_TRY(const auto message, decode_peer_request(request));
        PERDURE_CHECK(nodes_[p]->replicator().receive(std::get<ToReplicator>(message).message));
        return network::Bytes();
      };
      if (p % 2 == 0) handlers.is_brief = is_brief;
      auto& mine = networks_.emplace_back(std::make_shared<PeerNetwork>());
      mine->endpoint = network::open_endpoint(wire(), options, std::move(handlers));
      mine->slots = std::make_unique<SlotExposure>(*mine->endpoint);
      addresses_.push_back(mine->endpoint->address());
    }
  }
  std::shared_ptr<GroupLink> link(unsigned position) override {
    return std::make_shared<EndpointLink>(networks_[position], addresses_);
  }

  LinkCase over_{};
  std::shared_ptr<network::MemoryFabric> fabric_;
  std::vector<std::shared_ptr<PeerNetwork>> networks_;
  std::vector<network::Bytes> addresses_;
};

class LinkedGroup : public Links, public testing::WithParamInterface<LinkCase> {};
using LinkToNobody = Links;

TEST_P(LinkedGroup, VersionsReachTheLevelWithTheRightContentElsewhere) {
  open(GetParam(), 3);
  make({"xor", 3, 1, 0}, 1, 64, "memory");
  for (const auto& id : {first_, second_}) {
    checkpoint(id);
    ASSERT_TRUE(wait_reached(id));
    expect_protected(id, 7);
  }
  if (!GetParam().local) return;
  std::uint64_t views = 0;
  for (auto& mine : networks_) views += mine->endpoint->statistics().views;
  EXPECT_GT(views, 0U) << "nothing went through the mapped files";
}

std::string link_case_name(const testing::TestParamInfo<LinkCase>& tested) {
  const char* names[] = {"quiet", "bad", "fabric"};
  return std::string(names[static_cast<int>(tested.param.over)]) + (tested.param.local ? "_local" : "");
}

INSTANTIATE_TEST_SUITE_P(Wires, LinkedGroup,
                         testing::Values(LinkCase{Over::quiet_memory, true}, LinkCase{Over::quiet_memory, false},
                                         LinkCase{Over::bad_memory, false}, LinkCase{Over::fabric, true},
                                         LinkCase{Over::fabric, false}),
                         link_case_name);

// Other nodes cannot map a slot of a tier that moves bytes by its own access. They see a copy, made anew each time.
TEST_F(LinkToNobody, ASlotWithAWayOfItsOwnIsSeenAsACopyOfWhatItHoldsNow) {
  open({Over::quiet_memory, true}, 2);
  test_support::TemporaryDirectory directory;
  const auto tier = tier::make_tier("file", {0, directory / "slots", 64 * base::KiB, 64 * base::MiB}).value();
  tier::SlotAddress slot = tier->address(tier->acquire(1000).value());
  slot.access = "file";
  const auto link = std::make_shared<EndpointLink>(networks_[1], addresses_);
  link->introduce();
  tier::SlotIo io;
  std::vector<BlockPlace> places;
  for (const auto content : {std::byte{1}, std::byte{2}}) {
    base::Hasher hasher;
    ASSERT_TRUE(io.write(slot, 0, std::vector<std::byte>(1000, content), hasher));
    auto place = networks_[0]->slots->place(slot);
    ASSERT_TRUE(place) << place.error().text();
    EXPECT_FALSE(network::decode_remote_memory(place->memory)->file) << "its file is not to be read past it";
    const auto here = networks_[0]->slots->view(*place, 1000);
    ASSERT_TRUE(here);
    EXPECT_EQ(here->bytes[999], content);
    std::vector<std::byte> there(1000);
    ASSERT_TRUE(link->read(0, *place, 0, there));
    EXPECT_EQ(there[999], content);
    places.push_back(*place);
  }
  EXPECT_EQ(places[0], places[1]) << "exposed once";
}

TEST_F(LinkToNobody, WhoIsConnectedIsSentToWithoutWaitingAndNobodyElse) {
  open({Over::quiet_memory, true}, 2);
  make({"buddy", 2, 1, 0}, 1, 64, "memory");
  const auto link = std::make_shared<EndpointLink>(networks_[0], addresses_);
  std::promise<base::Status> told;
  const auto tell = [&](base::Status outcome) { told.set_value(std::move(outcome)); };
  const std::vector<std::byte> no_message(3);
  EXPECT_FALSE(link->begin_send(1, no_message, tell)) << "not connected";
  EXPECT_FALSE(link->begin_send(2, no_message, tell)) << "there is none";
  (void)link->send(1, no_message);
  ASSERT_TRUE(link->begin_send(1, no_message, tell));
  const auto outcome = told.get_future().get();
  ASSERT_FALSE(outcome) << "what is no message is refused";
  link->close();
  EXPECT_FALSE(link->begin_send(1, no_message, tell));
}

// A message to a peer that ended just before must not delay this engine's own end.
TEST_F(LinkToNobody, WhoLeavesWaitsForNoConnection) {
  open({Over::quiet_memory, true}, 2);
  EndpointLinkOptions options;
  options.timeout_ns = 3'600'000'000'000;
  const auto link = std::make_shared<EndpointLink>(networks_[0], addresses_, options);
  networks_[1].reset();
  base::Status told;
  std::thread teller([&] { told = link->send(1, {}); });
  ASSERT_TRUE(test_support::quiescent());
  link->close();
  teller.join();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, PERDURE_CLOSED);
}

}  // namespace
}  // namespace perdure::engine
