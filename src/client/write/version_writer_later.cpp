// Chunks whose slots are filled while the program goes on are written here. (docs/copy-on-write.md)
#include <utility>

#include "client/slot_reading.hpp"
#include "client/write/version_writer.hpp"
#include "os/crash_point.hpp"

namespace perdure::client {
namespace {

// A rank that waits longer for a slot holds none that is not written.
constexpr int kSlotAnswerMs = 20;

}  // namespace

base::Status VersionWriter::note(std::size_t chunk, const segment::ChunkEntry& entry) {
  piece_.chunks[chunk] = entry;
  os::crash_point(os::CrashPoint::checkpoint_chunk_written);
  return tell_written(chunk, entry);
}

base::Status VersionWriter::take_slots(std::vector<SlotToFill>& later) {
  piece_.chunks.resize(ranges_.size());
  ipc::Channel& channel = job_.engine().channel();
  tier::SlotIo& io = job_.engine().slots();
  for (std::size_t chunk = 0; chunk < ranges_.size(); ++chunk) {
    if (!outstanding_) PERDURE_CHECK(ask_for_slot(chunk));
    if (!later.empty() && !channel.has_come(outstanding_, kSlotAnswerMs)) {
      PERDURE_CHECK(put_now(later));
      later.clear();
    }
    if (!outstanding_)
      PERDURE_CHECK(ask_for_slot(chunk));  // it was given back, because another one could not be written
    PERDURE_TRY(const auto reply, channel.await(std::exchange(outstanding_, {})));
    const tier::SlotAddress slot = slot_of(reply.slot);
    os::crash_point(os::CrashPoint::checkpoint_slot_granted);
    const bool prepared = !job_.engine().paced() && io.prepare(slot, ranges_[chunk].length);
    const auto memory = prepared ? io.memory(slot, ranges_[chunk].length) : base::ByteSpan();
    if (memory && !memory->empty()) {
      later.push_back({chunk, slot, *memory});
    } else if (const auto entry = copy(slot, ranges_[chunk])) {
      PERDURE_CHECK(note(chunk, *entry));
    } else {  // it waits for a slot elsewhere
      later.push_back({chunk, slot, {}});
      PERDURE_CHECK(put_now(std::exchange(later, {})));
    }
    if (!outstanding_) PERDURE_CHECK(ask_for_slot(chunk + 1));
  }
  return {};
}

// Writes those that it can first: a slot elsewhere may be one of these, written and flushed.
base::Status VersionWriter::put_now(const std::vector<SlotToFill>& chunks) {
  std::vector<std::pair<const SlotToFill*, base::Error>> elsewhere;
  for (const SlotToFill& one : chunks) {
    const auto entry = copy(one.slot, ranges_[one.chunk]);
    if (entry) {
      PERDURE_CHECK(note(one.chunk, *entry));
      continue;
    }
    PERDURE_CHECK(give_back(one.slot));
    elsewhere.emplace_back(&one, entry.error());
  }
  for (const auto& [one, why] : elsewhere) {
    PERDURE_TRY(const auto entry, put_elsewhere(one->slot.tier, why, ranges_[one->chunk]));
    PERDURE_CHECK(note(one->chunk, entry));
  }
  return {};
}

base::Status VersionWriter::filled(const SlotToFill& chunk, const base::Hash128& hash) {
  return note(chunk.chunk, {chunk.slot.slot, ranges_[chunk.chunk].length, hash, chunk.slot.tier});
}

}  // namespace perdure::client
