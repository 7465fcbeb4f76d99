#pragma once
// Runs engines in their own processes, which measure against each other on request. Each kind of measurement is one
// function (measurements.hpp). Another transport (MPI) would need other workers.
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
  std::string directory;  ///< for memory in files, too
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
