#pragma once
// Engines in processes of their own, that measure against each other when told to. What is measured is one function per
// kind (measurements.hpp); another transport (MPI) would come with other workers.
#include <sys/types.h>

#include <memory>
#include <string>

#include "network/endpoint.hpp"

namespace perdure::bench {

inline constexpr std::uint64_t kLimitNs = 120'000'000'000;

struct WorkerOptions {
  std::string provider = "tcp";
  std::string bind_address = "127.0.0.1";
  std::uint64_t guard_interval_ns = 0;
  std::string directory;  ///< for files that are memory, too
};

/// A forked process with one endpoint. Ends with this object.
class Worker {
 public:
  static base::Result<Worker> start(const WorkerOptions& options);
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&&) = delete;
  ~Worker();
  const network::Bytes& address() const { return address_; }

 private:
  Worker() = default;
  pid_t pid_ = -1;
  network::Bytes address_;
};

base::Result<std::unique_ptr<network::Endpoint>> open_endpoint(const WorkerOptions& options,
                                                               network::Handlers handlers);

}  // namespace perdure::bench
