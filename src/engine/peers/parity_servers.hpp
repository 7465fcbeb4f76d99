#pragma once
// Reaches the parity servers that redundancy.parity_servers names, over this engine's network. Their entries for a job
// are named by job, checkpoint, attempt, epoch and group (docs/adr/0016).
#include <memory>
#include <string>

#include "engine/peers/endpoint_link.hpp"
#include "engine/replicate/parity_store.hpp"
#include "parity/client.hpp"

namespace perdure::engine {

/// Returns the key that the servers' files have in common, which is that of the job's network.
base::Result<std::vector<std::byte>> parity_server_key(const std::vector<std::string>& paths);

class ParityServers final : public ParityStore {
 public:
  /// Fails with PERDURE_MISMATCH if the network has another key than the servers.
  static base::Result<std::shared_ptr<ParityServers>> open(std::shared_ptr<PeerNetwork> network,
                                                           const std::vector<std::string>& paths, std::string job);
  base::Result<bool> order(const Group& group, const std::vector<std::vector<std::byte>>& addresses,
                           const std::vector<std::vector<EncodingTask::Source>>& blocks) override;
  std::optional<std::vector<Parity>> find(const Group& group) override;
  base::Status rebuild(const Group& group, const Lost& lost, const std::vector<Survivor>& survivors,
                       base::ByteSpan target) override;
  void drop(const Group& group) override;
  void drop(const segment::VersionId& id) override;
  void drop_older(const std::string& name, std::uint64_t attempt_ns, const std::set<std::uint64_t>& keep) override;

 private:
  ParityServers(std::shared_ptr<PeerNetwork> network, parity::Servers servers, std::string job)
      : network_(std::move(network)), servers_(std::move(servers)), job_(std::move(job)) {}
  network::Bytes id_of(const Group& group) const;
  network::Bytes prefix(const std::string& name) const;
  void drop_if(const network::Bytes& prefix, const std::function<bool(const network::Bytes&)>& which);

  std::shared_ptr<PeerNetwork> network_;
  parity::Servers servers_;
  std::string job_;
};

}  // namespace perdure::engine
