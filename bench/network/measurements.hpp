#pragma once
// Measures between two workers, and answers requests while other workers measure.
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/cbor.hpp"
#include "network/endpoint.hpp"

namespace perdure::bench {

/// Kinds of measurements:
/// - pingpong: half of a call whose answer has as many bytes
/// - send: several requests in flight, with empty answers
/// - read: one-sided, over the wire
/// - view: one-sided, from the memory of a peer on this host
struct Task {
  std::string kind;
  network::Bytes peer;  ///< address
  std::uint64_t bytes = 0;
  std::uint64_t repetitions = 1;
};

network::Bytes encode(const Task& task);
/// Returns seconds per repetition.
base::Result<std::vector<double>> decode_times(network::ConstByteSpan reply);

class Measurer {
 public:
  Measurer(const std::atomic<network::Endpoint*>& self, std::string directory)
      : self_(self), directory_(std::move(directory)) {}
  base::Result<network::Bytes> serve(network::ConstByteSpan request);

 private:
  base::Result<network::Bytes> run(network::ConstByteSpan task);
  base::Result<std::vector<double>> measure(network::Endpoint& self, const Task& task);
  base::Result<std::vector<double>> read(network::Endpoint& self, network::PeerId peer, const Task& task);
  base::Result<network::Bytes> name_memory(std::uint64_t bytes, bool as_file);

  const std::atomic<network::Endpoint*>& self_;
  const std::string directory_;
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, bool>, std::pair<std::unique_ptr<network::Bytes>, network::Bytes>> memory_;
};

}  // namespace perdure::bench
