#pragma once
// Connects the positions of a group over the network (docs/adr/0014, 0015).
#include <atomic>

#include "engine/peers/slot_exposure.hpp"
#include "engine/recover/piece_exporter.hpp"
#include "engine/recover/piece_network.hpp"
#include "engine/replicate/group_link.hpp"

namespace perdure::engine {

struct EndpointLinkOptions {
  std::uint64_t timeout_ns = 10'000'000'000;  ///< for a message, and for reading one part of a block
  bool over_wire = false;                     ///< also for slots mapped here: for schemes that send on what they read
};

/// The engine's end of the network. Links hold it as long as they are in use.
struct PeerNetwork {
  network::JobKey key{};
  std::unique_ptr<network::Endpoint> endpoint;
  std::atomic<network::Endpoint*> served = nullptr;  ///< the same, for its handlers; nullptr until it is open
  std::unique_ptr<SlotExposure> slots;
  std::unique_ptr<PieceExporter> exporter;  ///< for peers that recover
  /// When the endpoint goes, nothing is in flight any more, and then the mappings may go.
  ~PeerNetwork() {
    if (exporter) exporter->stop();
    endpoint.reset();
  }
};

class EndpointLink final : public PieceLink {
 public:
  /// `addresses` by position; the node's own entry is not used.
  EndpointLink(std::shared_ptr<PeerNetwork> network, std::vector<network::Bytes> addresses,
               EndpointLinkOptions options = {});
  /// Connects to the positions from `first` on in the background, all at once. A connection takes some round trips, for
  /// which its first user would wait otherwise.
  void introduce(unsigned first = 0) const;
  void close() noexcept override;
  base::Status send(unsigned position, base::ConstByteSpan message) override;
  bool begin_send(unsigned position, base::ConstByteSpan message, std::function<void(base::Status)> told) override;
  base::Result<BlockPlace> place(const tier::SlotAddress& slot) override { return network_->slots->place(slot); }
  std::optional<BlockView> view(unsigned position, const BlockPlace& place, std::uint64_t bytes) override;
  base::Status read(unsigned position, const BlockPlace& place, std::uint64_t offset, base::ByteSpan target) override;
  base::Result<ExportAnswer> ask(unsigned position, const ExportQuestion& question) override;
  void tell(unsigned position, const ExportEnd& end) override;

 private:
  base::Result<network::PeerId> peer(unsigned position);

  std::shared_ptr<PeerNetwork> network_;
  std::atomic<bool> closed_ = false;
  std::vector<network::Bytes> addresses_;
  EndpointLinkOptions options_;
  std::mutex mutex_;
  std::set<network::PeerId> known_;  ///< peers that were connected; guarded
};

/// The network of recoveries.
class EndpointNetwork final : public PieceNetwork {
 public:
  explicit EndpointNetwork(std::shared_ptr<PeerNetwork> network) : network_(std::move(network)) {}
  Address address() const override { return network_->endpoint->address(); }
  base::Result<BlockPlace> place(const tier::SlotAddress& slot) override { return network_->slots->place(slot); }
  std::optional<BlockView> view(const BlockPlace& place, std::uint64_t bytes) override {
    return network_->slots->view(place, bytes);
  }
  std::unique_ptr<PieceLink> connect(std::vector<Address> nodes) override;

 private:
  std::shared_ptr<PeerNetwork> network_;
};

}  // namespace perdure::engine
