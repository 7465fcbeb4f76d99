// Restore: every chunk is verified in the pass that copies it back. A chunk that fails is set aside and read from the
// next source; a version that fails is left for the next older one, by all ranks together (architecture, promises 1 and
// 2).
#include <algorithm>

#include "base/json.hpp"
#include "os/crash_point.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"
#include "session/session.hpp"

namespace perdure::session {
namespace {

constexpr std::uint64_t kBlock = 1 * base::MiB;
constexpr unsigned kMostLostEngines = 5;  // in one call
constexpr unsigned kMostRepairs = 2;      // of one version, in one call

std::vector<std::int32_t> all_ids(const region::RegionTable& table) {
  std::vector<std::int32_t> ids;
  for (const auto& [id, region] : table.regions()) ids.push_back(id);
  return ids;
}

bool wanted_at_all(const std::vector<region::Part>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.address != nullptr; });
}

// Calls read(offset, target) for every block of the parts; bytes that nobody wants go through `scratch`.
template <class Read>
base::Status for_each_block(const std::vector<region::Part>& parts, std::vector<std::byte>& scratch, Read read) {
  std::uint64_t offset = 0;
  for (const auto& part : parts) {
    const std::uint64_t step = part.address == nullptr ? kBlock : std::max<std::uint64_t>(part.length, 1);
    for (std::uint64_t done = 0; done < part.length; done += step) {
      const std::uint64_t bytes = std::min(step, part.length - done);
      if (part.address == nullptr) scratch.resize(kBlock);
      std::byte* target = part.address == nullptr ? scratch.data() : part.address + done;
      PERDURE_CHECK(read(offset + done, base::ByteSpan(target, bytes)));
    }
    offset += part.length;
  }
  return {};
}

// What was restored is a fact by now: that it cannot be noted is no reason to fail, and whoever looks for the note sees
// that there is none.
void record(const config::Config& config, const comm::Communicator& comm, const segment::VersionId& id) {
  const std::string directory = config.text("restore.record");
  if (directory.empty() || comm.rank() != 0 || !os::make_directories(directory)) return;
  (void)os::write_file_atomically(directory + "/" + id.name + "@" + std::to_string(id.version), {});
}

}  // namespace

base::Status Session::restore(const std::string& name, std::int64_t version,
                              const std::optional<std::vector<std::int32_t>>& ids) {
  const std::uint64_t begun = os::monotonic_ns();
  left_ns_ = 0;  // what is between checkpoints now is not only the application's own time
  base::Status ready = segment::check_name(name);
  if (ready && version < PERDURE_LATEST)
    ready = base::fail(PERDURE_INVALID_ARGUMENT, "version " + std::to_string(version), "versions are not negative");
  os::crash_point(os::CrashPoint::restore_begin);
  PERDURE_TRY([[maybe_unused]] const auto opened, begin({Operation::restore, name, version}, ready));
  const std::vector<std::int32_t> wanted = ids ? *ids : all_ids(regions_);
  std::set<segment::VersionId> excluded;
  std::map<segment::VersionId, unsigned> repairs;
  for (unsigned engines_lost = 0;;) {
    PERDURE_TRY(Selected selected, select(name, version, excluded));
    const base::Status fetched = fetch_missing(selected);
    auto source = fetched ? find_piece(selected) : base::Result<PieceSource>(base::fail(fetched.error()));
    base::Status outcome = source ? region::check_sizes(regions_, source->piece.regions, wanted)
                                  : base::Status(base::fail(source.error()));
    const bool wrong_use =
        !outcome && fetched &&
        (outcome.error().code == PERDURE_MISMATCH || (source && outcome.error().code == PERDURE_NOT_FOUND));
    std::uint64_t anybody_wrong = wrong_use ? 1 : 0;
    PERDURE_CHECK(comm_->allreduce(std::span(&anybody_wrong, 1), comm::Reduce::maximum));
    if (anybody_wrong != 0) {
      (void)channel_.call(ipc::Unpin{});
      return agree(*comm_, outcome);
    }
    os::crash_point(os::CrashPoint::restore_located);
    if (outcome) outcome = restore_from(*source, wanted);
    os::crash_point(os::CrashPoint::restore_before_agree);
    if (source && channel_.connected()) (void)channel_.tell(ipc::Restored{source->slot_bytes, source->store_bytes});
    if (channel_.connected()) (void)channel_.call(ipc::Unpin{});
    const base::Status agreed = agree(*comm_, outcome);
    if (agreed) {
      progress_.restored_version = static_cast<std::int64_t>(selected.id.version);
      progress_.restore_source =
          (source->used_tier ? 1 : 0) | (source->used_store ? 2 : 0) | (selected.fetched ? 4 : 0);
      PERDURE_CHECK(protect_again(selected));
      record(config_, *comm_, selected.id);  // nobody is told of a restore that fails here after all
      progress_.last_restore_s = static_cast<double>(os::monotonic_ns() - begun) * 1e-9;
      os::crash_point(os::CrashPoint::restore_done);
      return {};
    }
    // That an engine died says nothing about the version: what it held is still there for the next one.
    PERDURE_TRY(const bool engine_gone, any_engine_gone());
    if (engine_gone && ++engines_lost < kMostLostEngines) {
      PERDURE_CHECK(attach());
      continue;
    }
    // What is damaged is set aside by now: where other nodes keep something for it, it can be rebuilt.
    if (!engine_gone && !selected.sources.empty() && ++repairs[selected.id] <= kMostRepairs) continue;
    if (version >= 0 || engine_gone) return agreed;
    excluded.insert(selected.id);
  }
}

base::Status Session::restore_from(PieceSource& source, const std::vector<std::int32_t>& wanted) {
  const auto ranges = region::cut(source.piece.capture_bytes(), std::max<std::uint64_t>(source.piece.chunk_bytes, 1));
  if (ranges.size() != source.piece.chunks.size())
    return base::fail(PERDURE_CORRUPT, source.id.text(), "its chunks do not cover its regions");
  for (std::size_t chunk = 0; chunk < ranges.size(); ++chunk) {
    const auto parts = region::restore_parts(regions_, source.piece.regions, wanted, ranges[chunk]);
    if (!wanted_at_all(parts)) continue;
    PERDURE_CHECK(restore_chunk(source, chunk, parts));
    os::crash_point(os::CrashPoint::restore_chunk);
  }
  return {};
}

base::Status Session::restore_chunk(PieceSource& source, std::size_t chunk, const std::vector<region::Part>& parts) {
  base::Status outcome =
      base::fail(PERDURE_NOT_FOUND, source.id.text(), "no source has chunk " + std::to_string(chunk));
  if (!source.slots.empty() && !source.bad[chunk]) {
    outcome = read_from_slot(source, chunk, parts);
    if (outcome) {
      source.used_tier = true;
      source.slot_bytes += source.piece.chunks[chunk].length;
      return outcome;
    }
    source.bad[chunk] = true;
    if (channel_.connected())
      (void)channel_.call(ipc::Quarantine{source.id, rank(), static_cast<std::uint32_t>(chunk), outcome.error().cause});
  }
  if (!source.stored) return outcome;
  outcome = read_from_store(source, chunk, parts);
  if (outcome) {
    source.used_store = true;
    source.store_bytes += source.piece.chunks[chunk].length;
  } else if (outcome.error().code == PERDURE_CORRUPT) {
    (void)store_->quarantine(source.stored->ref, source.id, outcome.error());
  }
  return outcome;
}

base::Status Session::read_from_slot(const PieceSource& source, std::size_t chunk,
                                     const std::vector<region::Part>& parts) {
  base::Hasher hasher;
  std::vector<std::byte> scratch;
  const auto& slot = source.slots[chunk];
  // Maps the slot's pages in one call instead of one fault each.
  PERDURE_CHECK(slots_.prepare(slot, source.piece.chunks[chunk].length));
  PERDURE_CHECK(for_each_block(parts, scratch, [&](std::uint64_t offset, base::ByteSpan target) {
    return slots_.read(slot, offset, target, hasher);
  }));
  if (hasher.digest() == source.piece.chunks[chunk].hash) return {};
  return base::fail(PERDURE_CORRUPT, source.id.text(),
                    "rank " + std::to_string(rank()) + " chunk " + std::to_string(chunk) +
                        " does not match its hash in " + slot.path + " at offset " + std::to_string(slot.offset));
}

base::Status Session::read_from_store(PieceSource& source, std::size_t chunk, const std::vector<region::Part>& parts) {
  if (!source.bytes) {
    PERDURE_TRY(source.bytes, store_->open(source.stored->ref));
  }
  if (source.stored_piece.chunks.empty()) {
    PERDURE_TRY(const auto manifest, segment::read_manifest(*source.bytes));
    for (const auto& piece : manifest.pieces)
      if (piece.rank == rank()) source.stored_piece = piece;
  }
  const auto& stored = source.stored_piece.chunks;
  const auto& expected = source.piece.chunks[chunk];
  if (chunk >= stored.size() || stored[chunk].hash != expected.hash || stored[chunk].length != expected.length)
    return base::fail(PERDURE_CORRUPT, source.bytes->name(),
                      "it has another chunk " + std::to_string(chunk) + " of rank " + std::to_string(rank()));
  base::Hasher hasher;
  std::vector<std::byte> scratch;
  const std::uint64_t begin = stored[chunk].offset;
  auto read = [&](std::uint64_t offset, base::ByteSpan target) -> base::Status {
    for (std::uint64_t done = 0; done < target.size(); done += kBlock) {
      const auto block = target.subspan(done, std::min<std::uint64_t>(kBlock, target.size() - done));
      PERDURE_CHECK(source.bytes->read(begin + offset + done, block));
      hasher.update(block);
    }
    return {};
  };
  PERDURE_CHECK(for_each_block(parts, scratch, read));
  if (hasher.digest() == expected.hash) return {};
  return base::fail(PERDURE_CORRUPT, source.bytes->name(),
                    "rank " + std::to_string(rank()) + " chunk " + std::to_string(chunk) + " at offset " +
                        std::to_string(begin) + " does not match its hash");
}

}  // namespace perdure::session
