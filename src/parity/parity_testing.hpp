#pragma once
// Sets up a parity server, members with blocks, and a client, on one wire, for tests.
#include <cstring>
#include <numeric>

#include "network/network_testing.hpp"
#include "parity/client.hpp"
#include "parity/record.hpp"
#include "parity/server.hpp"

namespace perdure::parity {

using network::kPatience;
using network::sample_bytes;
using network::text_bytes;

inline ServerOptions sample_server() {
  ServerOptions options;
  options.endpoint = network::sample_options();
  options.endpoint.service_threads = 4;
  options.pool_bytes = 1 << 20;
  options.backed = false;
  options.orders_at_once = 3;
  options.rebuilds_at_once = 2;
  options.reads.piece_bytes = 4096;
  options.reads.connect_ns = kPatience;
  options.reads.stall_ns = kPatience;
  return options;
}

inline ClientOptions patient() { return {kPatience, kPatience, kPatience}; }

/// A node: an endpoint that exposes its blocks, which lie in one memory, one after the other.
class Node {
 public:
  Node(std::unique_ptr<network::Wire> wire, const std::vector<std::size_t>& lengths, std::uint64_t seed,
       const network::EndpointOptions& options = network::sample_options())
      : memory_(sample_bytes(seed, std::accumulate(lengths.begin(), lengths.end(), std::size_t{1}))),
        endpoint_(network::open_endpoint(std::move(wire), options)) {
    const auto exposed = endpoint_->expose(memory_, network::Access::read);
    EXPECT_TRUE(exposed);
    std::uint64_t offset = 0;
    for (const std::size_t length : lengths) {
      blocks_.push_back({*exposed, offset, length, {}});
      offset += length;
      blocks_.back().hash = base::hash128(content(blocks_.size() - 1));
    }
  }
  Member member() const { return {endpoint_->address(), blocks_}; }
  ByteSpan content(std::size_t block) { return ByteSpan(memory_).subspan(blocks_[block].offset, blocks_[block].bytes); }
  const std::vector<Block>& blocks() const { return blocks_; }
  network::Endpoint& endpoint() { return *endpoint_; }
  Bytes wire_name() const { return network::decode_address(endpoint_->address())->wire; }

 private:
  Bytes memory_;
  std::vector<Block> blocks_;
  std::unique_ptr<network::Endpoint> endpoint_;
};
using Nodes = std::vector<std::unique_ptr<Node>>;

inline Order order_of(const Nodes& nodes, std::string_view id, std::string_view note = "note") {
  Order order{text_bytes(id), text_bytes(note), {}};
  for (const auto& node : nodes) order.members.push_back(node->member());
  return order;
}

inline Bytes parity_of(const Nodes& nodes, std::size_t stripe) {
  Bytes parity;
  for (const auto& node : nodes) {
    if (stripe >= node->blocks().size()) continue;
    const ConstByteSpan block = node->content(stripe);
    parity.resize(std::max(parity.size(), block.size()));
    for (std::size_t i = 0; i < block.size(); ++i) parity[i] ^= block[i];
  }
  return parity;
}

/// Returns all blocks of a stripe but that of `lost`; those of nodes for which `here` is true are in the caller's
/// memory.
template <class Here>
std::vector<Survivor> survivors_of(const Nodes& nodes, unsigned lost, std::size_t stripe, Here here) {
  std::vector<Survivor> survivors;
  for (unsigned p = 0; p < nodes.size(); ++p) {
    Node& node = *nodes[p];
    if (p == lost || stripe >= node.blocks().size() || node.blocks()[stripe].bytes == 0) continue;
    Survivor survivor{p, {}, {}, node.blocks()[stripe]};
    if (here(p)) survivor.here = node.content(stripe);
    if (!here(p)) survivor.address = node.endpoint().address();
    survivors.push_back(survivor);
  }
  return survivors;
}
inline bool nowhere(unsigned) { return false; }

/// A server in this process, and a client.
class ParityTest : public ::testing::Test {
 protected:
  void start(const ServerOptions& options = sample_server()) {
    auto server = Server::start(fabric_->make_wire(), options);
    ASSERT_TRUE(server) << network::error_text(server);
    server_ = std::move(*server);
    if (!user_) user_ = network::open_endpoint(fabric_->make_wire(), options.endpoint);
    if (!client_)
      client_ = std::make_unique<Client>(
          *user_, [this]() -> base::Result<Bytes> { return server_->address(); }, patient());
  }
  Node& add_node(const std::vector<std::size_t>& lengths) {
    nodes_.push_back(std::make_unique<Node>(fabric_->make_wire(), lengths, nodes_.size() + 1));
    return *nodes_.back();
  }
  /// Orders, and waits for the outcome.
  Standing encoded(std::string_view id) {
    const auto ordered = client_->encode(order_of(nodes_, id));
    EXPECT_TRUE(ordered) << network::error_text(ordered);
    const auto standing = client_->wait(text_bytes(id), kPatience);
    EXPECT_TRUE(standing) << network::error_text(standing);
    return standing ? *standing : Standing{};
  }
  base::Status rebuild(std::string_view id, unsigned lost, std::size_t stripe, std::span<const Survivor> survivors,
                       Bytes& target) {
    PERDURE_TRY(const Kept kept, client_->find(text_bytes(id)));
    const Block& block = nodes_[lost]->blocks()[stripe];
    target.assign(block.bytes, std::byte{0});
    return client_->rebuild(kept, {lost, stripe, block.hash}, survivors, target);
  }
  /// Rebuilds every block from the others.
  void expect_all_rebuilt(std::string_view id) {
    for (unsigned lost = 0; lost < nodes_.size(); ++lost)
      for (std::size_t stripe = 0; stripe < nodes_[lost]->blocks().size(); ++stripe) {
        Bytes target;
        const auto survivors = survivors_of(nodes_, lost, stripe, [&](unsigned p) { return (p + stripe) % 3 == 0; });
        if (nodes_[lost]->blocks()[stripe].bytes == 0) continue;
        const auto done = rebuild(id, lost, stripe, survivors, target);
        ASSERT_TRUE(done) << network::error_text(done);
        const ByteSpan content = nodes_[lost]->content(stripe);
        ASSERT_TRUE(std::equal(content.begin(), content.end(), target.begin(), target.end()));
      }
  }

  std::shared_ptr<network::MemoryFabric> fabric_ = network::MemoryFabric::make();
  Nodes nodes_;
  std::unique_ptr<network::Endpoint> user_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> client_;
};

}  // namespace perdure::parity
