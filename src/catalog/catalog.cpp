// The log is often in a tmpfs together with the slots whose release it has to record first, so its room is reserved
// ahead. Compaction is the only rewrite. Its steps:
// 1. Write the snapshot to catalog.new.
// 2. Sync it.
// 3. Append the records that came meanwhile.
// 4. Rename it over catalog.
// 5. Sync the directory.
// A death before step 4 leaves the old log, after it the new one; both have the same content.
#include "catalog/catalog.hpp"

#include <algorithm>
#include <cstring>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "catalog/record_encoder.hpp"
#include "os/crash_point.hpp"

namespace perdure::catalog {
namespace {

constexpr char kFileMagic[8] = {'P', 'D', 'C', 'A', 'T', 'L', 'G', '1'};
constexpr std::uint32_t kRecordMagic = 0x52434450;  // "PDCR"
constexpr std::uint64_t kMaxRecord = 64 * base::MiB;
constexpr std::uint64_t kMaxLog = 1 * base::GiB;

// Room for the records that release one version or redundancy set. Tested with the longest names.
constexpr std::uint64_t kRoomOfEach = 4 * base::KiB;
constexpr std::uint64_t kRoomOfSegment = 512;
constexpr std::uint64_t kRoomOfAll = 64 * base::KiB;
constexpr std::uint64_t kReservedAtOnce = 256 * base::KiB;

struct RecordHeader {
  std::uint32_t magic;
  std::uint32_t length;
  std::uint64_t hash;
};

// Reads the header at `at` if a whole, undamaged record begins there.
bool record_at(base::ConstByteSpan log, std::uint64_t at, RecordHeader& header) {
  if (log.size() - at < sizeof header) return false;
  std::memcpy(&header, log.data() + at, sizeof header);
  if (header.magic != kRecordMagic || header.length > kMaxRecord) return false;
  if (log.size() - at - sizeof header < header.length) return false;
  return base::hash64(log.subspan(at + sizeof header, header.length)) == header.hash;
}

// Returns where the next undamaged record begins at or after `at`; log.size() if there is none.
std::uint64_t next_record(base::ConstByteSpan log, std::uint64_t at) {
  RecordHeader header{};
  for (; at + sizeof header <= log.size(); ++at)
    if (record_at(log, at, header)) return at;
  return log.size();
}

std::uint64_t room_to_give_up(const State& state) {
  std::uint64_t segments = 0;
  for (const auto& [id, held] : state.versions) segments += held.segments.size();
  return kRoomOfAll + (state.versions.size() + state.redundancy_sets.size() + 1) * kRoomOfEach +
         segments * kRoomOfSegment;
}

std::vector<std::byte> encode_log(const State& state, const TierNumbers& numbers) {
  std::vector<std::byte> log(sizeof kFileMagic);
  std::memcpy(log.data(), kFileMagic, sizeof kFileMagic);
  for (const Record& record : state.snapshot()) {
    const auto bytes = encode_record(numbers.numbered(record));
    log.insert(log.end(), bytes.begin(), bytes.end());
  }
  return log;
}

}  // namespace

std::vector<std::byte> encode_record(const Record& record) {
  const auto payload = encode_payload(record);
  const RecordHeader header{kRecordMagic, static_cast<std::uint32_t>(payload.size()), base::hash64(payload)};
  std::vector<std::byte> bytes(sizeof header + payload.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, payload.data(), payload.size());
  return bytes;
}

// Checks the reader's limits before writing: a record that replay skips would be acknowledged, and lost at the next
// start.
base::Status Catalog::check_readable(base::ConstByteSpan record) const {
  const auto payload = record.subspan(sizeof(RecordHeader));
  if (payload.size() > kMaxRecord)
    return base::fail(PERDURE_INVALID_ARGUMENT, file_.path(),
                      "a record of " + base::format_bytes(payload.size()) + " would describe too much; it may have " +
                          base::format_bytes(kMaxRecord),
                      "put small regions together, raise chunk_bytes, or make redundancy groups smaller");
  return base::check_cbor(payload, file_.path() + ": a record");
}

State replay_bytes(base::ConstByteSpan log, const std::string& object, ReplayReport& report, std::uint64_t& good_end) {
  State state;
  good_end = sizeof kFileMagic;
  std::uint64_t at = sizeof kFileMagic;
  while (at < log.size()) {
    RecordHeader header{};
    if (!record_at(log, at, header)) {
      const std::uint64_t next = next_record(log, at + 1);
      if (next == log.size()) break;
      report.skipped_bytes += next - at;
      report.damage.push_back({PERDURE_CORRUPT, object, "damaged record at offset " + std::to_string(at), "", false});
      at = next;
      continue;
    }
    auto json = base::decode_cbor(log.subspan(at + sizeof header, header.length), object);
    auto record = json ? record_from_json(*json, object) : base::Result<Record>(base::fail(json.error()));
    if (record) {
      state.apply(*record);
      ++report.records;
    } else {
      report.damage.push_back(record.error());
    }
    at += sizeof header + header.length;
    good_end = at;
  }
  report.torn_bytes = log.size() > good_end ? log.size() - good_end : 0;
  return state;
}

base::Result<Catalog> Catalog::open(const std::string& directory, std::uint64_t compact_above_bytes) {
  Catalog catalog;
  catalog.directory_ = directory;
  catalog.compact_above_ = compact_above_bytes;
  PERDURE_CHECK(os::remove_file(directory + "/catalog.new"));
  PERDURE_TRY(catalog.file_, os::File::open(directory + "/catalog", os::Open::create));
  PERDURE_CHECK(catalog.replay());
  (void)catalog.reserve(0);  // existing content can be released even so, while the file system has room
  return catalog;
}

base::Status Catalog::replay() {
  PERDURE_TRY(const std::uint64_t size, file_.size());
  if (size > kMaxLog) return base::fail(PERDURE_CORRUPT, file_.path(), "larger than any catalog can be", "remove it");
  std::vector<std::byte> log(size);
  PERDURE_CHECK(file_.read(0, log));
  const bool ours = size >= sizeof kFileMagic && std::memcmp(log.data(), kFileMagic, sizeof kFileMagic) == 0;
  state_ = replay_bytes(log, file_.path(), report_, end_);
  if (!ours) return mend_magic(size);
  if (report_.torn_bytes > 0) PERDURE_CHECK(file_.truncate(end_));
  return {};
}

// Records prove themselves: a damaged magic in front of good ones costs nothing. Without any good record the file
// starts anew.
base::Status Catalog::mend_magic(std::uint64_t size) {
  const bool anew = report_.records == 0;
  if (anew) report_ = {};
  if (size != 0)
    report_.damage.push_back({PERDURE_CORRUPT, file_.path(),
                              anew ? "not a catalog; it was begun anew" : "its magic was damaged; it was mended", "",
                              false});
  PERDURE_CHECK(file_.truncate(anew ? 0 : end_));
  PERDURE_CHECK(file_.write(0, std::as_bytes(std::span(kFileMagic))));
  if (anew) end_ = sizeof kFileMagic;
  return os::sync_directory(directory_);  // a new file's name must be as durable as the content that sync() promises
}

base::Status Catalog::append(const Record& record) {
  if (auto cause = wrong(record); !cause.empty())
    return base::fail(PERDURE_INTERNAL, file_.path(), "a record that no replay would take: " + std::move(cause),
                      "report it: it is a defect of Perdure");
  const auto bytes = numbers_.same() ? encode_record(record) : encode_record(numbers_.numbered(record));
  PERDURE_CHECK(check_readable(bytes));
  const bool adds = std::holds_alternative<StageRecord>(record) || std::holds_alternative<RedundancyRecord>(record);
  if (!fits_in_log(end_, bytes.size(), adds))
    return base::fail(PERDURE_NO_SPACE, file_.path(),
                      "it would have more than the " + base::format_bytes(kMaxLog) + " that a catalog may have",
                      "keep fewer versions on the node, or use larger chunks");
  const base::Status room =
      adds || std::holds_alternative<CommitRecord>(record) ? reserve(bytes.size()) : base::Status();
  if (adds) PERDURE_CHECK(room);  // agreed records are written wherever they fit
  PERDURE_CHECK(file_.write(end_, bytes));
  end_ += bytes.size();
  state_.apply(record);
  return {};
}

// Reserves more than asked for if there is more, so that not each record reserves.
base::Status Catalog::reserve(std::uint64_t more_bytes) {
  const std::uint64_t wanted = end_ + more_bytes + room_to_give_up(state_);
  if (wanted <= reserved_) return {};
  std::uint64_t up_to = wanted + kReservedAtOnce;
  auto reserved = file_.reserve(end_, up_to - end_);
  if (!reserved) {
    up_to = wanted;
    reserved = file_.reserve(end_, up_to - end_);
  }
  PERDURE_CHECK(reserved);
  reserved_ = up_to;
  return {};
}

base::Status Catalog::number(const TierNumbering& numbering) {
  for (const TierRecord& record : numbering.records) PERDURE_CHECK(append(record));
  numbers_ = TierNumbers(numbering.numbers);
  state_ = numbers_.placed(std::move(state_));
  return {};
}

base::Status Catalog::sync() {
  PERDURE_CHECK(file_.sync_data());
  if (!named_) PERDURE_CHECK(os::sync_directory(directory_));
  named_ = true;
  synced_ = end_;
  return {};
}

bool fits_in_log(std::uint64_t log_bytes, std::uint64_t record_bytes, bool adds) {
  return log_bytes + record_bytes <= kMaxLog - (adds ? kMaxRecord : 0);
}

// A large log is compacted before it is full: halfway from its last snapshot to the limit for new content.
bool far_beyond(std::uint64_t snapshot_bytes, std::uint64_t log_bytes) {
  constexpr std::uint64_t kFull = kMaxLog - kMaxRecord;
  const std::uint64_t halfway = snapshot_bytes < kFull ? snapshot_bytes + (kFull - snapshot_bytes) / 2 : kMaxLog;
  return log_bytes >= std::min(4 * snapshot_bytes, halfway);
}

bool Catalog::worth_compacting() const {
  return !compacting_ && end_ >= compact_above_ && far_beyond(compacted_, end_);
}

Compaction Catalog::begin_compaction() {
  compacting_ = true;
  Compaction compaction;
  compaction.directory_ = directory_;
  compaction.state_ = state_;
  compaction.numbers_ = numbers_;
  compaction.taken_ = end_;
  return compaction;
}

base::Status Compaction::write() {
  const auto log = encode_log(state_, numbers_);
  if (log.size() > kMaxLog)
    return base::fail(PERDURE_NO_SPACE, directory_ + "/catalog",
                      "its snapshot would be longer than a catalog may be; the log stays as it is");
  const std::string fresh = directory_ + "/catalog.new";
  PERDURE_CHECK(os::remove_file(fresh));
  PERDURE_TRY(file_, os::File::open(fresh, os::Open::create_new));
  PERDURE_CHECK(file_.write(0, log));
  end_ = log.size();
  reserved_ = end_ + room_to_give_up(state_) + kReservedAtOnce;
  PERDURE_CHECK(file_.reserve(end_, reserved_ - end_));
  PERDURE_CHECK(file_.sync());
  os::crash_point(os::CrashPoint::catalog_compact_written);
  return {};
}

base::Status Compaction::sync_name() { return os::sync_directory(directory_); }

base::Status Catalog::finish_compaction(Compaction& compaction, const base::Status& written) {
  compacting_ = false;
  return written ? take_over(compaction) : written;
}

base::Status Catalog::take_over(Compaction& compaction) {
  if (compaction.end_ + (end_ - compaction.taken_) > kMaxLog)
    return base::fail(PERDURE_NO_SPACE, file_.path(),
                      "its snapshot and what came meanwhile would be too long; it stays");
  std::vector<std::byte> meanwhile(end_ - compaction.taken_);
  if (!meanwhile.empty()) {
    PERDURE_CHECK(file_.read(compaction.taken_, meanwhile));
    PERDURE_CHECK(compaction.file_.write(compaction.end_, meanwhile));
    // Nobody waits for this unless sync() was called beside a compaction.
    if (synced_ > compaction.taken_) PERDURE_CHECK(compaction.file_.sync_data());
  }
  const std::string path = directory_ + "/catalog";
  PERDURE_CHECK(os::rename_path(path + ".new", path));
  // From here on this is the log, even after an error: an append to the old file would be lost with it.
  file_ = std::move(compaction.file_);
  compacted_ = compaction.end_;
  reserved_ = compaction.reserved_;
  end_ = compaction.end_ + meanwhile.size();
  synced_ = compaction.end_;
  named_ = false;
  os::crash_point(os::CrashPoint::catalog_compact_renamed);
  if (auto named = os::File::open(path, os::Open::read_write))
    file_ = std::move(*named);  // the same file, for messages
  return {};
}

base::Status Catalog::compact() {
  Compaction compaction = begin_compaction();
  PERDURE_CHECK(finish_compaction(compaction, compaction.write()));
  PERDURE_CHECK(compaction.sync_name());
  named_ = true;
  return {};
}

}  // namespace perdure::catalog
