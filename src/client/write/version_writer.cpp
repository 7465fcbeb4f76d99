#include "client/write/version_writer.hpp"

#include <algorithm>
#include <utility>

#include "client/slot_reading.hpp"
#include "os/crash_point.hpp"
#include "segment/entry_codec.hpp"

namespace perdure::client {
namespace {

std::uint64_t timeout_ns(const config::Config& config) {
  const double seconds = config.real("checkpoint.timeout");
  return seconds <= 0 ? 0 : static_cast<std::uint64_t>(seconds * 1e9);
}

}  // namespace

base::Status VersionWriter::begin(const segment::VersionId& id) {
  NodeEngine& engine = job_.engine();
  PERDURE_TRY(const auto described, source_.describe());
  for (const auto& entry : described.entries) PERDURE_CHECK(segment::check_attributes(entry));
  const bool has_parts =
      std::any_of(described.entries.begin(), described.entries.end(),
                  [](const segment::RegionEntry& entry) { return entry.kind == segment::EntryKind::array; });
  manner_ = source_.manner();
  const std::uint64_t chunk_bytes = engine.chunk_bytes_of(described.bytes, has_parts, manner_.most_chunk_bytes);
  ranges_ = capture::Source::cut(described, chunk_bytes);
  piece_ = {job_.rank(), chunk_bytes, described.entries, {}};
  grant_ = {id, 0, timeout_ns(job_.config()), {}, {}, !waits_};
  begin_ = {id, job_.ranks(), piece_, job_.my_segments()};
  for (const auto& range : ranges_) begin_.piece.chunks.push_back({0, range.length, {}, 0});
  small_ = ranges_.size() == 1 && ranges_[0].length <= ipc::kMostInMessage && !engine.paced();
  // Begins first of all: the others may have to wait for slots until every rank has said what it will write.
  if (!small_) PERDURE_CHECK(engine.channel().tell(begin_));
  PERDURE_CHECK(source_.goes_to(id));
  PERDURE_CHECK(reserve(described.bytes, has_parts));
  return small_ ? base::Status() : ask_for_slot(0);
}

// Lets another thread back and map the slots that the engine is told of from now on. For a source that is not captured
// again, that work would take processors from the threads that fill the slots as files.
base::Status VersionWriter::reserve(std::uint64_t bytes, bool has_parts) {
  if (manner_.once) return {};
  job_.engine().expect(bytes, has_parts, manner_.most_chunk_bytes);
  return job_.engine().announce();
}

base::Status VersionWriter::ask_for_slot(std::size_t chunk) {
  outstanding_ = {};
  if (chunk >= ranges_.size()) return {};
  grant_.bytes = ranges_[chunk].length;
  PERDURE_TRY(outstanding_, job_.engine().channel().post(grant_));
  return {};
}

// Asks for the next slot before the current chunk is copied, so that the engine's answer costs no time. An emulated
// tier writes from the grant on. There it is asked for afterwards, so that no rank writes two chunks at once.
base::Status VersionWriter::put(std::size_t chunk) {
  tier::SlotAddress slot;
  if (small_) {
    PERDURE_TRY(const auto placed, put_in_message());
    if (!placed) return {};
    slot = slot_of(*placed);
  } else {
    PERDURE_TRY(const auto reply, job_.engine().channel().await(std::exchange(outstanding_, {})));
    slot = slot_of(reply.slot);
  }
  os::crash_point(os::CrashPoint::checkpoint_slot_granted);
  if (!job_.engine().paced()) PERDURE_CHECK(ask_for_slot(chunk + 1));
  PERDURE_TRY(const auto entry, put_somewhere(std::move(slot), ranges_[chunk]));
  piece_.chunks.push_back(entry);
  os::crash_point(os::CrashPoint::checkpoint_chunk_written);
  PERDURE_CHECK(tell_written(chunk, entry));
  return outstanding_ ? base::Status() : ask_for_slot(chunk + 1);
}

// Puts all information about it, including its bytes, in one message. Empty: the piece is staged.
base::Result<std::optional<ipc::SlotAddress>> VersionWriter::put_in_message() {
  ipc::SmallCapture message{begin_, {}, job_.nodes().launch, grant_.timeout_ns, grant_.at_once};
  message.bytes.reserve(ranges_[0].length);
  PERDURE_CHECK(source_.read(ranges_[0], [&](base::ConstByteSpan bytes) -> base::Status {
    message.bytes.insert(message.bytes.end(), bytes.begin(), bytes.end());
    os::crash_point(os::CrashPoint::checkpoint_chunk_half);
    return {};
  }));
  PERDURE_CHECK(check_all_came(message.bytes.size(), ranges_[0]));
  message.begin.piece.chunks[0].hash = base::hash128(message.bytes);
  PERDURE_TRY(auto placed, job_.engine().channel().call(message));
  if (!placed.slot) staged_ = placed.staged;
  if (staged_) os::crash_point(os::CrashPoint::checkpoint_chunk_written);
  return std::move(placed.slot);
}

base::Status VersionWriter::tell_written(std::size_t index, const segment::ChunkEntry& chunk) {
  NodeEngine& engine = job_.engine();
  const ipc::Written written{grant_.id,    job_.rank(), static_cast<std::uint32_t>(index), chunk.place, chunk.offset,
                             chunk.length, chunk.hash};
  if (!engine.paced()) return engine.channel().tell(written);
  PERDURE_CHECK(engine.channel().call(ipc::AwaitWritten{written}));
  return {};
}

base::Result<segment::ChunkEntry> VersionWriter::put_somewhere(tier::SlotAddress slot, capture::ChunkRange range) {
  auto chunk = copy(slot, range);
  if (chunk) return chunk;
  PERDURE_CHECK(give_back(slot));
  return put_elsewhere(slot.tier, chunk.error(), range);
}

// A slot may be unwritable (a full memory file system, a failing disk). That is no reason to give up while another tier
// takes the chunk. A rank that waits for another slot keeps none that is not written. So nobody, not even this rank,
// waits for a slot that never comes back. Therefore the slot that was asked for ahead goes, too.
base::Result<segment::ChunkEntry> VersionWriter::put_elsewhere(std::uint32_t tier, const base::Error& why,
                                                               capture::ChunkRange range) {
  ipc::Channel& channel = job_.engine().channel();
  base::Result<segment::ChunkEntry> chunk = base::fail(why);
  for (;;) {
    if (std::find(grant_.avoid.begin(), grant_.avoid.end(), tier) == grant_.avoid.end()) grant_.avoid.push_back(tier);
    grant_.why = chunk.error().text();
    grant_.bytes = range.length;
    if (outstanding_) {
      const auto ahead = channel.await(std::exchange(outstanding_, {}));
      if (ahead) PERDURE_CHECK(give_back(slot_of(ahead->slot)));
    }
    auto reply = channel.call(grant_);
    if (!reply) return base::fail(reply.error());
    const tier::SlotAddress slot = slot_of(reply->slot);
    chunk = copy(slot, range);
    if (chunk) return chunk;
    PERDURE_CHECK(give_back(slot));
    tier = slot.tier;
  }
}

base::Status VersionWriter::put_all() {
  const bool side_by_side = manner_.threads > 1 && ranges_.size() > 1 && !job_.engine().paced();
  for (std::size_t chunk = 0; chunk < ranges_.size(); ++chunk)
    PERDURE_CHECK(side_by_side ? begin_put(chunk) : put(chunk));
  return finish_all();
}

// A rank that waits for a slot first tells the engine of every written chunk: one of these may be the slot to come
// back. An engine that has slots answers within a fraction of this.
constexpr int kAnswerMs = 20;

base::Status VersionWriter::begin_put(std::size_t chunk) {
  NodeEngine& engine = job_.engine();
  if (copying_.size() == manner_.threads) PERDURE_CHECK(finish_first());
  if (!outstanding_) PERDURE_CHECK(ask_for_slot(chunk));  // it was given back, because another one could not be written
  while (!copying_.empty() && !engine.channel().has_come(outstanding_, kAnswerMs)) PERDURE_CHECK(finish_first());
  if (!outstanding_) PERDURE_CHECK(ask_for_slot(chunk));
  PERDURE_TRY(const auto reply, engine.channel().await(std::exchange(outstanding_, {})));
  os::crash_point(os::CrashPoint::checkpoint_slot_granted);
  PERDURE_CHECK(ask_for_slot(chunk + 1));
  Copying& copying = copying_.emplace_back();
  copying.chunk = chunk;
  copying.slot = slot_of(reply.slot);
  auto begun = os::Thread::start(
      "copy chunks", [this, &copying] { copying.entry = copy(copying.slot, ranges_[copying.chunk]); },
      [&copying](const base::Error& why) {
        copying.entry = base::fail(why);
        return false;
      });
  if (begun)
    copying.thread = std::move(*begun);
  else
    copying.entry = copy(copying.slot, ranges_[chunk]);
  return {};
}

// Tells the engine about a copy that is over.
base::Status VersionWriter::settle(Copying& one) {
  one.thread.join();
  if (std::exchange(one.settled, true)) return {};
  if (!*one.entry) return give_back(one.slot);
  os::crash_point(os::CrashPoint::checkpoint_chunk_written);
  return tell_written(one.chunk, **one.entry);
}

base::Status VersionWriter::finish_first() {
  PERDURE_CHECK(settle(copying_.front()));
  const auto range = ranges_[copying_.front().chunk];
  const std::size_t chunk = copying_.front().chunk;
  const std::uint32_t tier = copying_.front().slot.tier;
  auto entry = std::move(*copying_.front().entry);
  copying_.pop_front();
  if (!entry) {
    for (Copying& other : copying_) PERDURE_CHECK(settle(other));
    entry = put_elsewhere(tier, entry.error(), range);
    PERDURE_CHECK(entry);
    PERDURE_CHECK(tell_written(chunk, *entry));
  }
  piece_.chunks.push_back(*entry);
  return {};
}

base::Status VersionWriter::finish_all() {
  while (!copying_.empty()) PERDURE_CHECK(finish_first());
  return {};
}

base::Status VersionWriter::give_back(const tier::SlotAddress& slot) {
  return job_.engine().channel().tell(ipc::GiveBack{grant_.id, slot.tier, slot.slot});
}

base::Status VersionWriter::check_all_came(std::uint64_t bytes, capture::ChunkRange range) const {
  if (bytes == range.length) return {};
  return base::fail(PERDURE_INTERNAL, grant_.id.text(),
                    "its source gave " + std::to_string(bytes) + " bytes of " + std::to_string(range.length));
}

base::Result<segment::ChunkEntry> VersionWriter::copy(const tier::SlotAddress& slot, capture::ChunkRange range) {
  tier::SlotIo& io = job_.engine().slots();
  const bool as_file = manner_.once && slot.fresh;
  if (!as_file) PERDURE_CHECK(io.prepare(slot, range.length));
  base::Hasher hasher;
  PERDURE_TRY(auto fill, as_file ? io.fill_file(slot, range.length, hasher) : io.fill(slot, range.length, hasher));
  const auto take = [&](base::ConstByteSpan bytes) -> base::Status {
    PERDURE_CHECK(fill.append(bytes));
    os::crash_point(os::CrashPoint::checkpoint_chunk_half);
    return {};
  };
  PERDURE_CHECK(source_.read(range, take));
  PERDURE_CHECK(fill.finish());
  PERDURE_CHECK(check_all_came(fill.appended(), range));
  return segment::ChunkEntry{slot.slot, range.length, hasher.digest(), slot.tier};
}

base::Status VersionWriter::stage(bool ahead) {
  os::crash_point(os::CrashPoint::checkpoint_before_stage);
  if (staged_) return {};
  ipc::Stage stage{grant_.id, job_.ranks(), std::move(piece_), job_.nodes().launch, {}};
  if (ahead && job_.nodes().labels.size() == 1) stage.when_whole = job_.my_segments();
  PERDURE_TRY(staged_, job_.engine().channel().call(stage));
  return {};
}

// If that message gets lost, settle() finds out the same: the piece is in the engine's catalog.
base::Status VersionWriter::commit(bool wanted) {
  os::crash_point(os::CrashPoint::checkpoint_before_commit);
  auto posted = job_.engine().post_commit({grant_.id, job_.my_segments(), false, wanted});
  return posted || posted.error().code == PERDURE_UNAVAILABLE ? base::Status() : posted;
}

bool VersionWriter::abort() {
  copying_.clear();
  NodeEngine& engine = job_.engine();
  bool aborted = true;
  if (engine.connected()) {
    const auto answer = engine.channel().call(ipc::Abort{grant_.id});
    aborted = answer || answer.error().code != PERDURE_BUSY;
  }
  // A slot was asked for ahead: the engine has answered by now, with a slot that it took back or with a refusal.
  if (outstanding_ && engine.connected()) (void)engine.channel().await(std::exchange(outstanding_, {}));
  return aborted;
}

}  // namespace perdure::client
