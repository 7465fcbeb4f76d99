#include "measurements.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <thread>

#include "base/json.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "workers.hpp"

namespace perdure::bench {
namespace {

using base::Json;
using base::Result;
using network::Bytes;
using network::ConstByteSpan;
using network::Endpoint;
using network::PeerId;

constexpr std::byte kEcho{'e'}, kSink{'s'}, kRun{'r'}, kMemory{'m'}, kFile{'f'};
constexpr std::uint64_t kUnderWay = 4;

Bytes with_head(std::byte head, ConstByteSpan rest) {
  Bytes bytes(1 + rest.size(), head);
  std::copy(rest.begin(), rest.end(), bytes.begin() + 1);
  return bytes;
}

double seconds_since(std::uint64_t begin) { return static_cast<double>(os::monotonic_ns() - begin) * 1e-9; }

/// Returns the time of each of `count` runs of `work`.
Result<std::vector<double>> time_each(std::uint64_t count, double share, const std::function<base::Status()>& work) {
  std::vector<double> times;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t begin = os::monotonic_ns();
    PERDURE_CHECK(work());
    times.push_back(seconds_since(begin) * share);
  }
  return times;
}

base::Status call(Endpoint& self, PeerId peer, const Bytes& request) {
  PERDURE_TRY(const Bytes reply, self.call(peer, request, kLimitNs));
  return {};
}

/// Keeps several requests in flight, as a sender of much data does.
Result<std::vector<double>> send(Endpoint& self, PeerId peer, const Task& task) {
  const Bytes request = with_head(kSink, Bytes(task.bytes));
  std::vector<std::thread> threads;
  std::atomic<bool> failed = false;
  const std::uint64_t begin = os::monotonic_ns();
  for (std::uint64_t t = 0; t < kUnderWay; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < task.repetitions; ++i)
        if (!call(self, peer, request)) failed = true;
    });
  for (auto& thread : threads) thread.join();
  if (failed) return base::fail(PERDURE_PEER_FAILED, "send", "a request was not answered");
  return std::vector<double>{seconds_since(begin) / static_cast<double>(kUnderWay * task.repetitions)};
}

}  // namespace

Bytes encode(const Task& task) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(task.peer.data());
  const Json json{{"kind", task.kind},
                  {"peer", Json::binary(std::vector<std::uint8_t>(first, first + task.peer.size()))},
                  {"bytes", task.bytes},
                  {"repetitions", task.repetitions}};
  return with_head(kRun, base::encode_cbor(json));
}

Result<std::vector<double>> decode_times(ConstByteSpan reply) {
  std::vector<double> times(reply.size() / sizeof(double));
  if (times.empty()) return base::fail(PERDURE_CORRUPT, "times", "there are none");
  std::memcpy(times.data(), reply.data(), times.size() * sizeof(double));
  return times;
}

Result<Bytes> Measurer::serve(ConstByteSpan request) {
  if (request.empty()) return Bytes{};
  const ConstByteSpan rest = request.subspan(1);
  if (request[0] == kEcho) return Bytes(request.begin(), request.end());
  if (request[0] == kRun) return run(rest);
  if (request[0] == kMemory || request[0] == kFile) {
    std::uint64_t bytes = 0;
    if (rest.size() == sizeof bytes) std::memcpy(&bytes, rest.data(), sizeof bytes);
    return name_memory(bytes, request[0] == kFile);
  }
  return Bytes{};
}

Result<Bytes> Measurer::run(ConstByteSpan bytes) {
  PERDURE_TRY(const Json json, base::decode_cbor(bytes, "task"));
  Task task;
  PERDURE_TRY(task.kind, base::get_text(json, "kind", "task"));
  PERDURE_TRY(task.bytes, base::get_u64(json, "bytes", "task"));
  PERDURE_TRY(task.repetitions, base::get_u64(json, "repetitions", "task"));
  for (const std::uint8_t byte : json["peer"].get_binary()) task.peer.push_back(std::byte{byte});
  Endpoint* self = self_;
  if (self == nullptr) return base::fail(PERDURE_UNAVAILABLE, "worker", "it is not ready", {}, true);
  PERDURE_TRY(const std::vector<double> times, measure(*self, task));
  const auto raw = std::as_bytes(std::span(times));
  return Bytes(raw.begin(), raw.end());
}

Result<std::vector<double>> Measurer::measure(Endpoint& self, const Task& task) {
  PERDURE_TRY(const PeerId peer, self.connect(task.peer, kLimitNs));
  if (task.kind == "send") return send(self, peer, task);
  if (task.kind == "read" || task.kind == "view") return read(self, peer, task);
  const Bytes request = with_head(kEcho, Bytes(task.bytes));
  return time_each(task.repetitions, 0.5, [&] { return call(self, peer, request); });
}

Result<std::vector<double>> Measurer::read(Endpoint& self, PeerId peer, const Task& task) {
  const auto wanted = std::as_bytes(std::span(&task.bytes, 1));
  PERDURE_TRY(const Bytes name, self.call(peer, with_head(task.kind == "view" ? kFile : kMemory, wanted), kLimitNs));
  PERDURE_TRY(const network::RemoteMemory memory, network::decode_remote_memory(name));
  Bytes target(task.bytes);
  return time_each(task.repetitions, 1, [&] { return self.read(peer, memory, 0, target, kLimitNs); });
}

Result<Bytes> Measurer::name_memory(std::uint64_t bytes, bool as_file) {
  const std::lock_guard lock(mutex_);
  auto& [memory, name] = memory_[{bytes, as_file}];
  if (memory != nullptr) return name;
  memory = std::make_unique<Bytes>(bytes, std::byte{1});
  std::optional<network::FileHint> hint;
  const std::string path = directory_ + "/" + std::to_string(os::process_id()) + "-" + std::to_string(bytes);
  if (as_file) {
    PERDURE_CHECK(os::write_file_atomically(path, *memory));
    hint = network::FileHint{path, 0};
  }
  PERDURE_TRY(const network::RemoteMemory exposed, self_.load()->expose(*memory, network::Access::read, hint));
  name = network::encode(exposed);
  return name;
}

}  // namespace perdure::bench
