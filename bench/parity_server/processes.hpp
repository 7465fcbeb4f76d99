#pragma once
// Starts the measured processes: nodes with data, which can also compute distributed parities among themselves, and a
// parity server. Each is forked and has an endpoint.
#include <sys/types.h>

#include <memory>
#include <string>

#include "network/endpoint.hpp"
#include "parity/order.hpp"

namespace perdure::bench {

inline constexpr std::uint64_t kLimitNs = 120'000'000'000;

struct ProcessOptions {
  std::string provider = "tcp";
  std::string bind_address = "127.0.0.1";
  bool local = true;             ///< read from peers on this host through their files
  std::string directory;         ///< for the nodes' memory as files
  std::uint64_t bytes = 0;       ///< of a node
  std::uint64_t chunk = 0;       ///< bytes of one block
  std::uint64_t pool_bytes = 0;  ///< of the server
  unsigned lanes = 2;
};

/// A forked process; ends with this object.
class Process {
 public:
  static base::Result<Process> start_node(const ProcessOptions& options, unsigned number);
  static base::Result<Process> start_server(const ProcessOptions& options);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();
  const network::Bytes& address() const { return address_; }

 private:
  static base::Result<Process> start(void (*be)(const ProcessOptions&, unsigned, int), const ProcessOptions& options,
                                     unsigned number);
  Process() = default;
  pid_t pid_ = -1;
  network::Bytes address_;
};

base::Result<std::unique_ptr<network::Endpoint>> open_endpoint(const ProcessOptions& options,
                                                               network::Handlers handlers);

// Requests to a node.

/// Returns its address and blocks.
base::Result<parity::Member> describe(network::Endpoint& self, network::PeerId node);
/// Returns the processor time of all its threads so far, in seconds.
base::Result<double> cpu_seconds(network::Endpoint& self, network::PeerId node);
/// Computes the parities of distributed xor that are kept at `position` of `group`.
base::Status compute_parities(network::Endpoint& self, network::PeerId node, const parity::Order& group,
                              unsigned position);
/// Computes the same data's parities by messages around the ring of the group (ring.hpp).
base::Status go_around(network::Endpoint& self, network::PeerId node, const parity::Order& group, unsigned position);

}  // namespace perdure::bench
