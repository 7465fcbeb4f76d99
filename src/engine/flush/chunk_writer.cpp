#include "engine/flush/chunk_writer.hpp"

#include <algorithm>

#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "plan/backoff.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kBlock = 4 * base::MiB;

}  // namespace

ChunkWriter::ChunkWriter(const segment::VersionId& id, FlushSource& source, tier::SlotIo& slots, OpenSegments& segments,
                         const std::atomic<bool>& failed)
    : id_(id), source_(source), slots_(slots), segments_(segments), failed_(failed) {}

WriteOutcome ChunkWriter::write(const FlushItem& item, std::vector<std::byte>& buffer, ChunkFlight& flight,
                                const Reads& reads) {
  if (flight.gone) return {base::fail(PERDURE_PEER_FAILED, id_.text(), "it was given up"), false, true};
  if (item.source.place == catalog::kInTemporarySegment) return again(item, buffer);
  return from_slot(item, buffer, flight, reads);
}

WriteOutcome ChunkWriter::from_slot(const FlushItem& item, std::vector<std::byte>& buffer, ChunkFlight& flight,
                                    const Reads& reads) {
  base::Hasher hasher;
  const base::Status copied = copy(item, buffer, hasher, flight, reads);
  os::crash_point(os::CrashPoint::flush_chunk);
  if (!copied) return {copied};
  const auto& slot = flight.slot;
  return verified(item, hasher, "its slot in " + slot.path + " at offset " + std::to_string(slot.offset));
}

base::Status ChunkWriter::copy(const FlushItem& item, std::vector<std::byte>& buffer, base::Hasher& hasher,
                               ChunkFlight& flight, const Reads& reads) {
  const tier::SlotAddress& slot = flight.slot;
  const std::uint64_t length = item.source.length;
  const auto turn_to = [&](bool reading) {
    reads(reading);
    source_.reads(flight, reading, failed_);
  };
  if (flight.device != nullptr) flight.device->transfer(length);
  PERDURE_TRY(const base::ConstByteSpan view, slots_.view(slot, length));
  for (std::uint64_t done = 0; done < length; done += kBlock) {
    PERDURE_CHECK(check_cancelled());
    const std::uint64_t begun = os::monotonic_ns();
    const std::uint64_t bytes = std::min(kBlock, length - done);
    if (!slot.mapped && done > 0) turn_to(true);
    base::ConstByteSpan block = slot.mapped ? view.subspan(done, bytes) : base::ConstByteSpan{};
    if (slot.mapped) {
      hasher.update(block);
    } else {
      buffer.resize(kBlock);
      PERDURE_CHECK(slots_.read(slot, done, base::ByteSpan(buffer).first(bytes), hasher));
      block = base::ConstByteSpan(buffer).first(bytes);
    }
    if (!slot.mapped || done == 0) turn_to(false);
    PERDURE_CHECK(segments_.sink(item).write(item.target + done, block));
    source_.pace(begun, bytes);
  }
  return {};
}

// The chunk's slot was reused, so only an earlier attempt's bytes in the segment are left. They are verified and
// written again: after a failed sync they may be only in the kernel's memory, marked as written.
WriteOutcome ChunkWriter::again(const FlushItem& item, std::vector<std::byte>& buffer) {
  if (item.source.offset != item.target)
    return {base::fail(PERDURE_INTERNAL, id_.text(), "the temporary segment was laid out differently")};
  base::Hasher hasher;
  auto& sink = segments_.sink(item);
  buffer.resize(kBlock);
  for (std::uint64_t done = 0; done < item.source.length; done += kBlock) {
    if (auto status = check_cancelled(); !status) return {status};
    const std::uint64_t begun = os::monotonic_ns();
    const auto block = base::ByteSpan(buffer).first(std::min(kBlock, item.source.length - done));
    if (auto status = sink.read(item.target + done, block); !status) return {status};
    hasher.update(block);
    if (auto status = sink.write(item.target + done, block); !status) return {status};
    source_.pace(begun, block.size());
  }
  return verified(item, hasher, "the temporary segment at offset " + std::to_string(item.target));
}

WriteOutcome ChunkWriter::verified(const FlushItem& item, const base::Hasher& hasher, const std::string& where) const {
  if (hasher.digest() == item.source.hash) return {};
  return {
      base::fail(PERDURE_CORRUPT, id_.text(),
                 "rank " + std::to_string(item.rank) + " chunk " + std::to_string(item.chunk) + " changed in " + where,
                 "check this node's memory or disk"),
      true};
}

base::Status ChunkWriter::check_cancelled() const {
  if (!source_.cancelled()) return {};
  return base::fail(PERDURE_UNAVAILABLE, "flush", "the engine is stopping", "", true);
}

}  // namespace perdure::engine
