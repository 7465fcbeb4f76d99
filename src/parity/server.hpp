#pragma once
// Implements the parity server. The program perdure-parityd runs it, and tests and benchmarks run it in their own
// process (docs/adr/0016-the-parity-server.md).
//
// Threads: the endpoint's answer. `orders_at_once` threads each carry out one order, with their own lanes and reads, so
// a member that does not answer delays its own order only. `rebuilds_at_once` threads do likewise.
#include "network/endpoint.hpp"
#include "network/service_pool.hpp"
#include "parity/frames.hpp"
#include "parity/parity_table.hpp"
#include "parity/rebuilds.hpp"

namespace perdure::parity {

struct ServerOptions {
  network::EndpointOptions endpoint;  ///< with the key; the windows of all its clients and members
  std::uint64_t pool_bytes = 1U << 30;
  bool backed = true;            ///< the pool has its pages from the start
  unsigned orders_at_once = 16;  ///< more wait for their turn
  unsigned rebuilds_at_once = 4;
  unsigned lanes = 2;  ///< stripes of one order at once
  ReadLimits reads;
};

class Server {
 public:
  static base::Result<std::unique_ptr<Server>> start(std::unique_ptr<network::Wire> wire, const ServerOptions& options);
  /// Ends work in flight, and waits only for connections that are being made.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Bytes address() const { return endpoint_->address(); }
  Inventory inventory() const;

 private:
  Server(const ServerOptions& options, std::shared_ptr<Pool> pool, std::shared_ptr<Pool> scratch);
  /// Limits the requests that read from their caller, so that the endpoint's threads still answer others.
  class PullTurn;
  base::Result<Bytes> serve(network::PeerId peer, ConstByteSpan frame);
  void on_lost(network::PeerId peer);

  base::Result<Bytes> answer(network::PeerId peer, Order& order);
  base::Result<Bytes> answer(network::PeerId peer, const AskStanding& ask);
  base::Result<Bytes> answer(network::PeerId peer, const AskKept& ask);
  base::Result<Bytes> answer(network::PeerId peer, const Drop& drop);
  base::Result<Bytes> answer(network::PeerId peer, const OpenMemory& open);
  base::Result<Bytes> answer(network::PeerId peer, const AskInventory& ask);
  base::Result<Bytes> answer(network::PeerId peer, const AskList& ask);
  base::Result<Bytes> answer(network::PeerId peer, Rebuild& rebuild);
  base::Result<Bytes> answer(network::PeerId peer, const AskRebuilt& ask);
  base::Result<Bytes> answer(network::PeerId peer, const EndRebuild& end);
  base::Result<Bytes> answer(network::PeerId peer, const Allocate& allocate);
  base::Result<Bytes> answer(network::PeerId peer, const Put& put);
  base::Result<Bytes> answer(network::PeerId peer, const Pull& pull);

  const ServerOptions options_;
  const std::shared_ptr<Pool> pool_;
  std::unique_ptr<network::Endpoint> endpoint_;
  std::atomic<network::Endpoint*> ready_{nullptr};  // the endpoint for handlers, which run before and while it ends
  std::unique_ptr<Reader> reader_;                  // exists when ready_ is set
  ParityTable table_of_parities_;
  Rebuilds rebuilds_;
  std::atomic<std::uint64_t> pulled_{0}, refused_{0};
  std::mutex pull_mutex_;
  std::map<network::PeerId, unsigned> pulls_;  // by caller
  unsigned pull_count_ = 0;
  network::ServicePool encoders_, rebuilders_;
};

}  // namespace perdure::parity
