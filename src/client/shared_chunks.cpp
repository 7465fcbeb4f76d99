#include "client/shared_chunks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "client/slot_reading.hpp"
#include "os/crash_point.hpp"

namespace perdure::client {
namespace {

// The least that each rank lends before the others take it; a greater amount keeps the number of rounds. Chunks are not
// cut, so it may be twice as much.
constexpr std::uint64_t kLentAtOnce = 4 * base::MiB;
constexpr std::uint64_t kRounds = 16;

plan::StoredChunk chunk_of(const ipc::GuestChunk& guest) { return {guest.rank, guest.chunk}; }

std::string chunk_name(const plan::StoredChunk& chunk) {
  return "rank " + std::to_string(chunk.rank) + " chunk " + std::to_string(chunk.chunk);
}

}  // namespace

base::Status SharedChunks::read(const std::vector<plan::ChunkReading>& readings, const Take& take) {
  Chunks from_nodes;
  std::vector<const plan::ChunkReading*> shared;
  PERDURE_CHECK(agree_after(job_.comm(), "restore", [&]() -> base::Status {
    for (const auto& reading : readings) {
      if (std::binary_search(reading.users.begin(), reading.users.end(), job_.rank())) mine_.insert(reading.chunk);
      const auto source = reader_.where().source_of(reading.chunk.rank);
      if (source == Whereabouts::Source::nodes) from_nodes.insert(reading.chunk);
      if (source == Whereabouts::Source::store && reading.users.size() > 1) shared.push_back(&reading);
    }
    return {};
  }));
  PERDURE_TRY(const bool any_from_nodes, on_any_rank(job_.comm(), !from_nodes.empty()));
  if (any_from_nodes) PERDURE_CHECK(read_from_nodes(std::move(from_nodes), take));
  PERDURE_TRY(const bool any_shared, on_any_rank(job_.comm(), !shared.empty()));
  if (any_shared) PERDURE_CHECK(read_shared(shared, take));
  return agree_after(job_.comm(), "restore", [&]() -> base::Status {
    while (!mine_.empty()) {
      const std::uint32_t rank = mine_.begin()->rank;
      PERDURE_CHECK(take_from_image(*mine_.begin(), take));
      if (mine_.empty() || mine_.begin()->rank != rank) reader_.let_go(rank);
    }
    return {};
  });
}

base::Status SharedChunks::take_from_image(const plan::StoredChunk& chunk, const Take& take) {
  PERDURE_CHECK(take(chunk, [&](const std::vector<capture::MemorySpan>& spans) {
    return reader_.read_chunk(chunk.rank, chunk.chunk, spans);
  }));
  os::crash_point(os::CrashPoint::restore_chunk);
  mine_.erase(chunk);
  return {};
}

base::Status SharedChunks::take_guest(const ipc::GuestChunk& guest, const Take& take) {
  const auto chunk = chunk_of(guest);
  PERDURE_CHECK(take(chunk, [&](const std::vector<capture::MemorySpan>& spans) {
    base::Status read = read_slot(job_.engine().slots(), slot_of(guest.slot), guest.length, guest.hash, spans,
                                  reader_.id().text(), chunk_name(chunk));
    // The chunk was verified when it was brought; the rank that brought it may have released it. That says nothing
    // about the version.
    if (!read && read.error().code == PERDURE_CORRUPT) {
      read.error().code = PERDURE_UNAVAILABLE;
      read.error().retryable = true;
    }
    return read;
  }));
  os::crash_point(os::CrashPoint::restore_chunk);
  mine_.erase(chunk);
  return {};
}

base::Result<std::vector<ipc::GuestChunk>> SharedChunks::guests() const {
  std::vector<ipc::GuestChunk> all;
  ipc::ListGuests question{reader_.id()};
  for (;;) {
    PERDURE_TRY(auto reply, job_.engine().channel().call(question));
    all.insert(all.end(), reply.guests.begin(), reply.guests.end());
    if (reply.all || reply.guests.empty()) return all;
    question.from = {all.back().rank, all.back().chunk + 1};
  }
}

void SharedChunks::release() {
  (void)base::caught("engine", [&]() -> base::Status {
    PERDURE_CHECK(job_.engine().channel().call(ipc::ReleaseGuests{reader_.id()}));
    return {};
  });
}

// [local] Brings chunks, at the leader. If other nodes no longer have them, reads them from the store, if all of the
// version is there.
base::Status SharedChunks::bring(const Chunks& wanted) {
  ipc::RecoverGuests request{reader_.id(), reader_.ranks(), {}, {}};
  std::vector<std::uint32_t> ranks;
  bool stored = true;
  for (const auto& chunk : wanted) {
    request.wanted.push_back({chunk.rank, static_cast<std::uint32_t>(chunk.chunk)});
    if (ranks.empty() || ranks.back() != chunk.rank) ranks.push_back(chunk.rank);
    stored = stored && reader_.where().segment_of(chunk.rank) != nullptr;
  }
  request.nodes = reader_.where().nodes_to_ask(ranks);
  const auto brought = job_.engine().channel().call(request);
  if (brought || !stored) return brought ? base::Status() : base::fail(brought.error());
  (void)job_.engine().channel().call(
      ipc::Note{reader_.id().text() + ": what other nodes have cannot be had from them: " + brought.error().text() +
                "; it is read from the store"});
  return {};
}

// Reads in as many rounds as the room requires. Chunks of which a round brought nothing are left to the store.
base::Status SharedChunks::read_from_nodes(Chunks wanted, const Take& take) {
  for (bool more = true; more;) {
    const bool brings = job_.leads() && !wanted.empty();
    const base::Status brought =
        agree(job_.comm(), brings ? base::caught("restore", [&] { return bring(wanted); }) : base::Status());
    if (!brought && brings) release();  // no rank has asked for them yet
    PERDURE_CHECK(brought);
    const std::size_t before = wanted.size();
    const base::Status taken = base::caught("restore", [&]() -> base::Status {
      if (wanted.empty()) return {};
      PERDURE_TRY(const auto here, guests());
      for (const auto& guest : here) {
        if (wanted.erase(chunk_of(guest)) == 0) continue;
        source_ |= kFromNodes;
        if (mine_.contains(chunk_of(guest))) PERDURE_CHECK(take_guest(guest, take));
      }
      return {};
    });
    const base::Status all = agree(job_.comm(), taken);
    if (brings) release();
    PERDURE_CHECK(all);
    PERDURE_TRY(more, on_any_rank(job_.comm(), !wanted.empty() && wanted.size() < before));
  }
  return {};
}

// Takes a chunk out of memory, where it was verified.
base::Status SharedChunks::take_from_memory(const plan::StoredChunk& chunk, base::ConstByteSpan bytes,
                                            const Take& take) {
  PERDURE_CHECK(take(chunk, [&](const std::vector<capture::MemorySpan>& spans) -> base::Status {
    std::uint64_t at = 0;
    for (const auto& span : spans) {
      if (span.address != nullptr) std::memcpy(span.address, bytes.data() + at, span.length);
      at += span.length;
    }
    return {};
  }));
  mine_.erase(chunk);
  return {};
}

// One rank reads the chunk into a slot for the others, straight if the slot is memory. Without a slot, each of them
// reads it.
base::Status SharedChunks::lend(const plan::ChunkReading& reading, const Take& take) {
  const auto& chunk = reading.chunk;
  const auto number = static_cast<std::uint32_t>(chunk.chunk);
  ipc::Channel& engine = job_.engine().channel();
  auto& slots = job_.engine().slots();
  const auto granted = engine.call(ipc::GrantGuest{reader_.id(), chunk.rank, number, reading.bytes});
  if (!granted && !engine.connected()) return base::fail(granted.error());
  const auto slot = granted ? slot_of(granted->slot) : tier::SlotAddress{};
  const bool has_room = granted && slots.prepare(slot, reading.bytes);
  base::ByteSpan place;
  if (has_room) place = slots.memory(slot, reading.bytes).value_or(base::ByteSpan());
  std::unique_ptr<std::byte[]> buffer;
  if (place.empty()) {
    buffer = std::make_unique_for_overwrite<std::byte[]>(reading.bytes);
    place = {buffer.get(), reading.bytes};
  }
  PERDURE_CHECK(reader_.read_chunk(chunk.rank, chunk.chunk, {{place.data(), place.size()}}));
  PERDURE_CHECK(take_from_memory(chunk, place, take));
  if (!has_room) return {};
  PERDURE_TRY(const auto* piece, reader_.locate(chunk.rank));
  const base::Hash128 hash = piece->chunks[chunk.chunk].hash;  // which read_chunk() compared
  base::Hasher hasher;
  if (buffer && (!slots.write(slot, 0, place, hasher) || hasher.digest() != hash)) return {};
  PERDURE_CHECK(engine.call(ipc::GuestWritten{reader_.id(), chunk.rank, number, reading.bytes, hash}));
  return {};
}

// Reads in rounds: chunks lent in one round make room for the next one, in slots that have memory and are in the
// caches. The rounds are few, because in each of them all ranks wait for the slowest.
base::Status SharedChunks::read_shared(const std::vector<const plan::ChunkReading*>& shared, const Take& take) {
  Rounds rounds;
  PERDURE_CHECK(agree_after(job_.comm(), "restore", [&]() -> base::Status {
    std::uint64_t bytes = 0;
    for (const auto* reading : shared) {
      if (reading->reader != job_.rank()) continue;
      rounds.left.push_back(reading);
      bytes += reading->bytes;
    }
    std::reverse(rounds.left.begin(), rounds.left.end());
    rounds.at_once = std::max(kLentAtOnce, bytes / kRounds);
    rounds.takes = !shared.empty();
    return {};
  }));
  for (bool over = false; !over;) {
    PERDURE_TRY(over, lend_round(rounds, take));
  }
  return {};
}

// Tells whether it was the last round, on all ranks.
base::Result<bool> SharedChunks::lend_round(Rounds& rounds, const Take& take) {
  const bool lends = !rounds.left.empty();
  const base::Status lent = agree_after(job_.comm(), "restore", [&]() -> base::Status {
    for (std::uint64_t bytes = 0; !rounds.left.empty();) {
      const auto* next = rounds.left.back();
      if (bytes > 0 && bytes + next->bytes > rounds.at_once) break;
      bytes += next->bytes;
      rounds.left.pop_back();
      PERDURE_CHECK(lend(*next, take));
    }
    return {};
  });
  if (!lent && lends) release();  // no rank has asked for them yet
  PERDURE_CHECK(lent);
  const base::Status taken = base::caught("restore", [&]() -> base::Status {
    if (!rounds.takes) return {};
    PERDURE_TRY(const auto here, guests());
    for (const auto& guest : here) {
      if (!mine_.contains(chunk_of(guest))) continue;
      source_ |= kFromStore;
      PERDURE_CHECK(take_guest(guest, take));
    }
    return {};
  });
  const auto over = agree_on(job_.comm(), taken, rounds.left.empty());
  if (lends) release();
  return over;
}

}  // namespace perdure::client
