// Transfers memory: ours for peers, and peers' for us.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "network/endpoint_core.hpp"
#include "os/system.hpp"

namespace perdure::network {
namespace {

constexpr unsigned kMaxTries = 4;  // of a transfer whose connection broke while the peer is alive

base::Status check_range(const RemoteMemory& memory, std::uint64_t offset, std::uint64_t bytes) {
  if (offset <= memory.wire.bytes && bytes <= memory.wire.bytes - offset) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, "remote memory",
                    "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) + " of " +
                        std::to_string(memory.wire.bytes) + " were asked for");
}

}  // namespace

base::Result<RemoteMemory> EndpointCore::expose(ByteSpan memory, Access access, const std::optional<FileHint>& file) {
  RemoteMemory name;
  name.access = access;
  if (file) {
    PERDURE_TRY(name.file, describe_file(*file, memory.size()));
  }
  PERDURE_TRY(name.wire, wire_->expose(memory, access));
  return name;
}

void EndpointCore::withdraw(const RemoteMemory& memory) {
  wire_->withdraw(memory.wire);
  if (!memory.file) return;
  for (const PeerPointer& peer : peers()) send(*peer, Withdrawn{memory.wire.key});
}

std::optional<View> EndpointCore::view(PeerId id, const RemoteMemory& memory) {
  if (!options_.local || !find(id)) return {};
  return views_.find(id, memory);
}

void EndpointCore::split(Part whole, std::deque<Part>& parts) const {
  for (std::size_t done = 0; done < whole.bytes; done += options_.transfer_bytes) {
    Part part = whole;
    part.offset += done;
    part.bytes = std::min(options_.transfer_bytes, whole.bytes - done);
    if (!whole.target.empty()) part.target = whole.target.subspan(done, part.bytes);
    if (!whole.source.empty()) part.source = whole.source.subspan(done, part.bytes);
    parts.push_back(part);
  }
}

base::Status EndpointCore::read_many(PeerId id, std::span<const ReadPiece> pieces, std::uint64_t timeout_ns) {
  const Visit visit(visits_);
  PERDURE_TRY(const PeerPointer peer, find(id));
  std::deque<Part> parts;
  for (const ReadPiece& piece : pieces) {
    PERDURE_CHECK(check_range(piece.memory, piece.offset, piece.target.size()));
    if (piece.target.empty()) continue;
    if (const auto local = view(id, piece.memory)) {
      std::memcpy(piece.target.data(), local->bytes().data() + piece.offset, piece.target.size());
      peer->counters.bytes_read_locally += piece.target.size();
    } else {
      split({&piece.memory.wire, piece.offset, piece.target, {}, piece.target.size()}, parts);
    }
  }
  return run(peer, std::move(parts), false, timeout_ns);
}

base::Status EndpointCore::write(PeerId id, const RemoteMemory& memory, std::uint64_t offset, ConstByteSpan source,
                                 std::uint64_t timeout_ns) {
  const Visit visit(visits_);
  PERDURE_TRY(const PeerPointer peer, find(id));
  PERDURE_CHECK(check_range(memory, offset, source.size()));
  if (memory.access == Access::read)
    return base::fail(PERDURE_PERMISSION, peer->name, "it lets this memory only be read");
  std::deque<Part> parts;
  split({&memory.wire, offset, {}, source, source.size()}, parts);
  return run(peer, std::move(parts), true, timeout_ns);
}

base::Status EndpointCore::run(const PeerPointer& peer, std::deque<Part> parts, bool write, std::uint64_t timeout_ns) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
  std::deque<Flight> flights;
  std::unique_lock lock(peer->mutex);
  while (!parts.empty() || !flights.empty()) {
    if (peer->lost) return base::fail(*peer->lost);
    if (!parts.empty() && peer->transfers < options_.window_transfers) {
      const Part part = parts.front();
      parts.pop_front();
      ++peer->transfers;
      lock.unlock();
      auto launched = launch(peer, part, write, flights);
      lock.lock();
      if (launched) continue;
      --peer->transfers;
      return peer->lost ? base::fail(*peer->lost) : launched;  // lost meanwhile: the wire knows no reason
    }
    if (!flights.empty() && flights.front().transfer->done) {
      Flight flight = std::move(flights.front());
      flights.pop_front();
      lock.unlock();
      PERDURE_CHECK(land(peer, std::move(flight), write, parts));
      lock.lock();
      continue;
    }
    // A transfer in flight when we leave lands in a buffer that nobody reads, and keeps its place in the window.
    if (peer->room.wait_until(lock, deadline) == std::cv_status::timeout)
      return base::fail(PERDURE_TIMEOUT, peer->name, "its memory was not transferred in time",
                        "allow more time, or see what that engine does", true);
  }
  return {};
}

base::Status EndpointCore::launch(const PeerPointer& peer, Part part, bool write, std::deque<Flight>& flights) {
  PERDURE_TRY(auto buffer, take_buffer());
  if (write) std::memcpy(buffer->span().data(), part.source.data(), part.bytes);
  auto transfer = std::make_shared<Transfer>(Transfer{peer, buffer, false, {}});
  const std::uint64_t token = transfers_.add(transfer);
  auto begun =
      wire_->begin({peer->session.wire, *part.memory, part.offset, std::move(buffer), part.bytes, token, write});
  if (!begun) {
    (void)transfers_.take(token);
    return begun;
  }
  flights.push_back({std::move(transfer), part});
  return {};
}

base::Status EndpointCore::land(const PeerPointer& peer, Flight flight, bool write, std::deque<Part>& parts) {
  Part part = flight.part;
  const base::Status& status = flight.transfer->status;
  if (!status && status.error().retryable && ++part.tries < kMaxTries) {
    os::sleep_ns((options_.retry_ns / 8) << part.tries);  // a connection needs time to come back
    parts.push_front(part);
    return {};
  }
  if (!status) {
    base::Error error = status.error();
    error.object = peer->name;
    // Some providers (tcp) refuse by closing the connection, which looks the same here.
    if (error.retryable) error.cause += ", or the peer does not expose this memory any more";
    return base::fail(std::move(error));
  }
  if (!write) std::memcpy(part.target.data(), flight.transfer->buffer->span().data(), part.bytes);
  (write ? peer->counters.bytes_written : peer->counters.bytes_read) += part.bytes;
  transfers_.give_buffer(std::move(flight.transfer->buffer));
  return {};
}

base::Result<WireBufferPointer> EndpointCore::take_buffer() {
  if (auto buffer = transfers_.take_buffer()) return buffer;
  return wire_->make_buffer(options_.transfer_bytes);
}

}  // namespace perdure::network
