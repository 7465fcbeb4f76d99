#include "processes.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <utility>

#include "os/file.hpp"
#include "os/memory_map.hpp"
#include "parity/combine.hpp"
#include "parity/frames.hpp"
#include "parity/server.hpp"
#include "redundancy/stripes.hpp"
#include "ring.hpp"

namespace perdure::bench {
namespace {

using network::Bytes;
using network::ConstByteSpan;
using network::Endpoint;

constexpr std::byte kDescribe{'d'}, kCpu{'c'}, kXor{'x'}, kRing{'r'};

network::EndpointOptions endpoint_options(bool local) {
  network::EndpointOptions options;
  options.job_key.fill(std::byte{7});
  options.guard_interval_ns = 0;
  options.local = local;
  return options;
}

/// Sends the address (its length first), then lives until it is killed or the parent is gone.
[[noreturn]] void live(const Bytes& address, int out) {
  const auto length = static_cast<std::uint8_t>(std::min<std::size_t>(address.size(), 255));
  (void)!::write(out, &length, 1);
  (void)!::write(out, address.data(), length);
  const pid_t parent = ::getppid();
  while (::getppid() == parent) ::sleep(1);
  ::_exit(0);
}

class NodeProcess {
 public:
  NodeProcess(const ProcessOptions& options, unsigned number) : options_(options), number_(number) {}

  base::Status start() {
    const std::string path = options_.directory + "/" + std::to_string(number_);
    PERDURE_TRY(const os::File file, os::File::open(path, os::Open::create_new));
    PERDURE_CHECK(file.truncate(options_.bytes));
    PERDURE_TRY(mapping_, os::Mapping::map(file, 0, options_.bytes, true));
    std::mt19937_64 random(number_);
    for (std::uint64_t at = 0; at + 8 <= options_.bytes; at += 8) {
      const std::uint64_t word = random();
      std::memcpy(mapping_.data() + at, &word, sizeof word);
    }
    PERDURE_TRY(endpoint_,
                open_endpoint(options_, {[this](network::PeerId, ConstByteSpan r) { return serve(r); }, {}}));
    const base::ByteSpan all(mapping_.data(), options_.bytes);
    PERDURE_TRY(const auto memory, endpoint_->expose(all, network::Access::read, network::FileHint{path, 0}));
    member_.address = endpoint_->address();
    for (std::uint64_t at = 0; at < options_.bytes; at += options_.chunk) {
      const std::uint64_t bytes = std::min(options_.chunk, options_.bytes - at);
      member_.blocks.push_back({memory, at, bytes, base::hash128(all.subspan(at, bytes))});
    }
    parities_.resize(options_.bytes);  // touched now, because an engine's slots are recycled, too
    reader_ = std::make_unique<parity::Reader>(*endpoint_, parity::ReadLimits{});
    ready_ = true;
    return {};
  }
  Bytes address() const { return member_.address; }

 private:
  base::Result<Bytes> serve(ConstByteSpan request) {
    if (request.empty() || !ready_) return base::fail(PERDURE_UNAVAILABLE, "node", "it is not ready", {}, true);
    if (request[0] == kDescribe) return parity::encode(parity::Order{Bytes(1), {}, {member_}});
    if (request[0] == kCpu) return used();
    if (request[0] == kRing) return go_around(request);
    if (request[0] == kRingMessage) {
      ring_.receive(request);
      return Bytes{};
    }
    return encode_own_parities(request);
  }

  static base::Result<Bytes> used() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    const double sum = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    const auto raw = std::as_bytes(std::span(&sum, 1));
    return Bytes(raw.begin(), raw.end());
  }

  base::Result<Bytes> go_around(ConstByteSpan request) {
    if (request.size() < 3) return base::fail(PERDURE_CORRUPT, "node", "no ring");
    PERDURE_TRY(const network::PeerId right, endpoint_->connect(request.subspan(2), kLimitNs));
    const auto members = std::to_integer<unsigned>(request[1]);
    PERDURE_CHECK(ring_.run(*endpoint_, right, members, {mapping_.data(), options_.bytes}, parities_));
    return Bytes{};
  }

  /// Encodes the stripes whose parities are kept here, with the code that the server uses.
  base::Result<Bytes> encode_own_parities(ConstByteSpan request) {
    if (request.size() < 2) return base::fail(PERDURE_CORRUPT, "node", "no group");
    PERDURE_TRY(const parity::Request decoded, parity::decode_request(request.subspan(2)));
    const auto& group = std::get<parity::Order>(decoded);
    const auto position = std::to_integer<unsigned>(request[1]);
    const redundancy::Stripes stripes(static_cast<unsigned>(group.members.size()), 1);
    std::vector<std::uint64_t> counts;
    for (const parity::Member& member : group.members) counts.push_back(member.blocks.size());
    const std::uint64_t own = stripes.parities_at(position, stripes.count(counts));
    parity::Progress progress;
    std::uint64_t kept = 0;
    for (std::uint64_t i = 0; i < own; ++i) {
      const std::uint64_t stripe = stripes.parity_at(position, i).stripe;
      std::uint64_t longest = 0;
      std::vector<parity::Source> sources;
      for (unsigned index = 0; index < stripes.k(); ++index) {
        const redundancy::Block block = stripes.block({stripe, index});
        const parity::Member& member = group.members[block.position];
        if (block.number >= member.blocks.size()) continue;
        sources.push_back({"block", &member.address, &member.blocks[block.number]});
        longest = std::max(longest, member.blocks[block.number].bytes);
      }
      if (kept + longest > parities_.size()) kept = 0;  // two members keep as much as they have
      PERDURE_TRY([[maybe_unused]] const auto hash,
                  parity::combine(*reader_, sources, base::ByteSpan(parities_).subspan(kept, longest),
                                  parity::Start::empty, progress));
      kept += longest;
    }
    return Bytes(1);
  }

  const ProcessOptions options_;
  const unsigned number_;
  os::Mapping mapping_;
  Bytes parities_;
  parity::Member member_;
  Ring ring_;
  std::atomic<bool> ready_{false};
  std::unique_ptr<parity::Reader> reader_;
  std::unique_ptr<Endpoint> endpoint_;
};

[[noreturn]] void be_node(const ProcessOptions& options, unsigned number, int out) {
  NodeProcess node(options, number);
  const auto started = node.start();
  live(started ? node.address() : Bytes{}, out);
}

[[noreturn]] void be_server(const ProcessOptions& options, unsigned, int out) {
  parity::ServerOptions settings;
  settings.endpoint = endpoint_options(options.local);
  settings.endpoint.service_threads = 8;
  settings.pool_bytes = options.pool_bytes;
  settings.lanes = options.lanes;
  auto wire = network::make_fabric_wire({options.provider, options.bind_address});
  if (!wire) live({}, out);
  const auto server = parity::Server::start(std::move(*wire), settings);
  live(server ? (*server)->address() : Bytes{}, out);
}

}  // namespace

base::Result<std::unique_ptr<Endpoint>> open_endpoint(const ProcessOptions& options, network::Handlers handlers) {
  PERDURE_TRY(auto wire, network::make_fabric_wire({options.provider, options.bind_address}));
  return Endpoint::open(std::move(wire), endpoint_options(options.local), std::move(handlers));
}

base::Result<Process> Process::start(void (*be)(const ProcessOptions&, unsigned, int), const ProcessOptions& options,
                                     unsigned number) {
  int ends[2];
  if (::pipe(ends) != 0) return base::fail(base::errno_error(errno, "pipe", "process"));
  Process process;
  process.pid_ = ::fork();
  if (process.pid_ < 0) return base::fail(base::errno_error(errno, "fork", "process"));
  if (process.pid_ == 0) be(options, number, ends[1]);
  ::close(ends[1]);
  std::uint8_t length = 0;
  if (::read(ends[0], &length, 1) == 1) process.address_.resize(length);
  const ssize_t got = ::read(ends[0], process.address_.data(), process.address_.size());
  ::close(ends[0]);
  if (length == 0 || got != length)
    return base::fail(PERDURE_UNAVAILABLE, "process", "it could not start",
                      "see that libfabric has the provider '" + options.provider + "' at " + options.bind_address +
                          ", and that there is memory");
  return process;
}

base::Result<Process> Process::start_node(const ProcessOptions& options, unsigned number) {
  return start([](const ProcessOptions& o, unsigned n, int out) { be_node(o, n, out); }, options, number);
}

base::Result<Process> Process::start_server(const ProcessOptions& options) {
  return start([](const ProcessOptions& o, unsigned n, int out) { be_server(o, n, out); }, options, 0);
}

Process::Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)), address_(std::move(other.address_)) {}

Process::~Process() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

base::Result<parity::Member> describe(Endpoint& self, network::PeerId node) {
  PERDURE_TRY(const Bytes reply, self.call(node, Bytes(1, kDescribe), kLimitNs));
  PERDURE_TRY(parity::Request request, parity::decode_request(reply));
  return std::move(std::get<parity::Order>(request).members.at(0));
}

base::Result<double> cpu_seconds(Endpoint& self, network::PeerId node) {
  PERDURE_TRY(const Bytes reply, self.call(node, Bytes(1, kCpu), kLimitNs));
  double seconds = 0;
  if (reply.size() != sizeof seconds) return base::fail(PERDURE_CORRUPT, "node", "it told no time");
  std::memcpy(&seconds, reply.data(), sizeof seconds);
  return seconds;
}

base::Status go_around(Endpoint& self, network::PeerId node, const parity::Order& group, unsigned position) {
  const std::size_t members = group.members.size();
  Bytes request{kRing, static_cast<std::byte>(members)};
  const Bytes& right = group.members[(position + 1) % members].address;
  request.insert(request.end(), right.begin(), right.end());
  PERDURE_TRY(const Bytes reply, self.call(node, request, kLimitNs));
  return {};
}

base::Status compute_parities(Endpoint& self, network::PeerId node, const parity::Order& group, unsigned position) {
  Bytes request{kXor, static_cast<std::byte>(position)};
  const Bytes order = parity::encode(group);
  request.insert(request.end(), order.begin(), order.end());
  PERDURE_TRY(const Bytes reply, self.call(node, request, kLimitNs));
  return {};
}

}  // namespace perdure::bench
