// The same groups as in protector_test over the network: the wire that tests can break, and libfabric.
#include "engine/endpoint_link.hpp"

#include <thread>

#include "engine/group_fixture.hpp"
#include "network/memory_wire.hpp"
#include "network/sample_network.hpp"

namespace perdure::engine {
namespace {

enum class Over { quiet_memory, bad_memory, fabric };

struct LinkCase {
  Over over;
  bool local;  ///< slots are seen through their files
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
        PERDURE_CHECK(nodes_[p]->protector().hear(request));
        return network::Bytes();
      };
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

// It may be told to a peer that ended just before: that must not hold up this engine's own end.
TEST_F(LinkToNobody, WhoLeavesWaitsForNoConnection) {
  open({Over::quiet_memory, true}, 2);
  EndpointLinkOptions options;
  options.timeout_ns = 3'600'000'000'000;
  const auto link = std::make_shared<EndpointLink>(networks_[0], addresses_, options);
  networks_[1].reset();
  base::Status told;
  std::thread teller([&] { told = link->tell(1, {}); });
  os::sleep_ns(20'000'000);
  link->close();
  teller.join();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, PERDURE_CLOSED);
}

}  // namespace
}  // namespace perdure::engine
