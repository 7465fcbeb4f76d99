#include "workers.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "measurements.hpp"

namespace perdure::bench {
namespace {

using network::Bytes;
using network::Endpoint;

/// Sends its address to the parent (the length first), then serves until it is killed or the parent is gone.
[[noreturn]] void be_worker(const WorkerOptions& options, int out) {
  std::atomic<Endpoint*> self{nullptr};
  Measurer measurer(self, options.directory);
  auto endpoint = open_endpoint(
      options, {[&](network::PeerId, network::ConstByteSpan request) { return measurer.serve(request); }, {}});
  const Bytes address = endpoint ? (*endpoint)->address() : Bytes{};
  if (endpoint) self = endpoint->get();
  const auto length = static_cast<std::uint8_t>(std::min<std::size_t>(address.size(), 255));
  (void)!::write(out, &length, 1);
  (void)!::write(out, address.data(), length);
  const pid_t parent = ::getppid();
  while (::getppid() == parent) ::sleep(1);
  ::_exit(0);
}

}  // namespace

base::Result<std::unique_ptr<Endpoint>> open_endpoint(const WorkerOptions& options, network::Handlers handlers) {
  network::FabricOptions fabric;
  fabric.provider = options.provider;
  fabric.bind_address = options.bind_address;
  PERDURE_TRY(auto wire, network::make_fabric_wire(fabric));
  network::EndpointOptions settings;
  settings.job_key.fill(std::byte{7});
  settings.guard_interval_ns = options.guard_interval_ns;
  return Endpoint::open(std::move(wire), settings, std::move(handlers));
}

base::Result<Worker> Worker::start(const WorkerOptions& options) {
  int ends[2];
  if (::pipe(ends) != 0) return base::fail(base::errno_error(errno, "pipe", "worker"));
  Worker worker;
  worker.pid_ = ::fork();
  if (worker.pid_ < 0) return base::fail(base::errno_error(errno, "fork", "worker"));
  if (worker.pid_ == 0) be_worker(options, ends[1]);
  ::close(ends[1]);
  std::uint8_t length = 0;
  if (::read(ends[0], &length, 1) == 1) worker.address_.resize(length);
  const ssize_t got = ::read(ends[0], worker.address_.data(), worker.address_.size());
  ::close(ends[0]);
  if (length == 0 || got != length)
    return base::fail(PERDURE_UNAVAILABLE, "worker", "it could not open its endpoint",
                      "see that libfabric has the provider '" + options.provider + "' at " + options.bind_address);
  return worker;
}

Worker::Worker(Worker&& other) noexcept : pid_(std::exchange(other.pid_, -1)), address_(std::move(other.address_)) {}

Worker::~Worker() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace perdure::bench
