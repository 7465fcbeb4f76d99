#include "engine/flush/chunk_writer.hpp"

#include <algorithm>

#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "plan/backoff.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kBlock = 4 * base::MiB;

}  // namespace

ChunkWriter::ChunkWriter(const FlushJob& job, tier::SlotIo& slots, OpenSegments& segments)
    : job_(job), slots_(slots), segments_(segments) {}

WriteOutcome ChunkWriter::write(const FlushItem& item, std::vector<std::byte>& buffer, Admission& admission) {
  return item.source.place == catalog::kInTemporarySegment ? again(item, buffer) : from_slot(item, buffer, admission);
}

WriteOutcome ChunkWriter::from_slot(const FlushItem& item, std::vector<std::byte>& buffer, Admission& admission) {
  const FlushedChunk chunk{
      {item.rank, item.chunk}, {item.source.place, item.source.offset}, item.target, item.source.length};
  std::optional<metrics::FlushRate::Started> started = metrics::FlushRate::Started{};
  if (job_.chunk_begins) started = job_.chunk_begins(chunk);
  if (!started) return {base::fail(PERDURE_PEER_FAILED, job_.version.id.text(), "it was given up"), false, true};
  base::Hasher hasher;
  WriteOutcome outcome{copy(item, buffer, hasher, [&](bool reading) { admission.reads(chunk, *started, reading); })};
  os::crash_point(os::CrashPoint::flush_chunk);
  if (outcome.status) {
    const auto slot = job_.address(item.source);
    outcome = verified(item, hasher, "its slot in " + slot.path + " at offset " + std::to_string(slot.offset));
  }
  if (job_.chunk_ended) job_.chunk_ended(chunk, *started, outcome.status.has_value());
  return outcome;
}

base::Status ChunkWriter::copy(const FlushItem& item, std::vector<std::byte>& buffer, base::Hasher& hasher,
                               const std::function<void(bool reading)>& reads) {
  const tier::SlotAddress slot = job_.address(item.source);
  const std::uint64_t length = item.source.length;
  if (auto* device = job_.device ? job_.device(slot.tier) : nullptr) device->transfer(length);
  PERDURE_TRY(const base::ConstByteSpan view, slots_.view(slot, length));
  for (std::uint64_t done = 0; done < length; done += kBlock) {
    PERDURE_CHECK(check_cancelled());
    const std::uint64_t begun = os::monotonic_ns();
    const std::uint64_t bytes = std::min(kBlock, length - done);
    if (!slot.mapped && done > 0) reads(true);
    base::ConstByteSpan block = slot.mapped ? view.subspan(done, bytes) : base::ConstByteSpan{};
    if (slot.mapped) {
      hasher.update(block);
    } else {
      buffer.resize(kBlock);
      PERDURE_CHECK(slots_.read(slot, done, base::ByteSpan(buffer).first(bytes), hasher));
      block = base::ConstByteSpan(buffer).first(bytes);
    }
    if (!slot.mapped || done == 0) reads(false);
    PERDURE_CHECK(segments_.sink(item).write(item.target + done, block));
    if (job_.pace) job_.pace(begun, bytes);
  }
  return {};
}

// Its slot was used again: what an earlier attempt wrote is all there is. It is verified, and written once more,
// because a sync that failed may have left it in the kernel's memory only, and marked as written.
WriteOutcome ChunkWriter::again(const FlushItem& item, std::vector<std::byte>& buffer) {
  if (item.source.offset != item.target)
    return {base::fail(PERDURE_INTERNAL, job_.version.id.text(), "the temporary segment was laid out differently")};
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
    if (job_.pace) job_.pace(begun, block.size());
  }
  return verified(item, hasher, "the temporary segment at offset " + std::to_string(item.target));
}

WriteOutcome ChunkWriter::verified(const FlushItem& item, const base::Hasher& hasher, const std::string& where) const {
  if (hasher.digest() == item.source.hash) return {};
  return {
      base::fail(PERDURE_CORRUPT, job_.version.id.text(),
                 "rank " + std::to_string(item.rank) + " chunk " + std::to_string(item.chunk) + " changed in " + where,
                 "check this node's memory or disk"),
      true};
}

base::Status ChunkWriter::check_cancelled() const {
  if (job_.cancelled == nullptr || !*job_.cancelled) return {};
  return base::fail(PERDURE_UNAVAILABLE, "flush", "the engine is stopping", "", true);
}

}  // namespace perdure::engine
