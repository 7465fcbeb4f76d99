#pragma once
// Rebuilds lost blocks for clients: each in memory of its own, which the client then reads. The memory stays until the
// client releases it or is gone.
#include <map>
#include <mutex>

#include "parity/frames.hpp"
#include "parity/record.hpp"

namespace perdure::parity {

/// One rebuild. Rebuilds guards `stage`, `why` and `exposed`.
struct RebuildJob {
  std::uint64_t ticket = 0;
  network::PeerId owner = 0;
  Rebuild request;
  RecordPointer record;
  Progress progress;
  Stage stage = Stage::ordered;
  base::Error why;
  Pool::Piece memory;
  std::optional<network::RemoteMemory> exposed;
};
using RebuildPointer = std::shared_ptr<RebuildJob>;

class Rebuilds {
 public:
  static constexpr std::size_t kMaxWaiting = 1024;

  /// `scratch` is as large as the pool, so that any stripe fits; its pages are allocated on demand.
  explicit Rebuilds(std::shared_ptr<Pool> scratch) : scratch_(std::move(scratch)) {}

  /// Prepares run(). Refuses invalid requests: see Client::rebuild.
  base::Result<RebuildPointer> add(network::PeerId owner, Rebuild request, RecordPointer record);
  /// Blocks; called on a thread of its own.
  void run(network::Endpoint& endpoint, Reader& reader, const RebuildPointer& job);
  /// Shows a ticket to its owner only; `unknown` if there is none.
  Rebuilt standing(network::PeerId owner, std::uint64_t ticket) const;
  void end(network::Endpoint& endpoint, network::PeerId owner, std::uint64_t ticket);
  void end_all_of(network::Endpoint& endpoint, network::PeerId owner);
  void give_up_all();
  std::size_t size() const;

 private:
  base::Status put_together(Reader& reader, RebuildJob& job);

  const std::shared_ptr<Pool> scratch_;
  mutable std::mutex mutex_;
  std::uint64_t next_ticket_ = 1;
  std::map<std::uint64_t, RebuildPointer> jobs_;
};

}  // namespace perdure::parity
