#pragma once
// The log file behind State. Record = magic, length, hash, CBOR (docs/format/catalog.md).
#include <functional>
#include <string>
#include <vector>

#include "catalog/state.hpp"
#include "catalog/tier_numbers.hpp"
#include "os/file.hpp"

namespace perdure::catalog {

/// What replay found besides good records.
struct ReplayReport {
  std::uint64_t records = 0;
  std::uint64_t skipped_bytes = 0;  ///< in the middle: damaged records, stepped over
  std::uint64_t torn_bytes = 0;     ///< at the end: an append that a death cut short; removed
  std::vector<base::Error> damage;
};

/// A rewrite of the log as a snapshot, which takes its time: the catalog is asked at its beginning and at its end only.
class Compaction {
 public:
  /// Writes the snapshot beside the log, and syncs it. Touches nothing of the catalog: records may be appended
  /// meanwhile.
  base::Status write();
  /// After finish_compaction(): the new log's name survives the machine.
  base::Status sync_name();

 private:
  friend class Catalog;
  std::string directory_;
  State state_;  // when it began
  TierNumbers numbers_;
  std::uint64_t taken_ = 0;  // up to here the old log is in `state_`
  os::File file_;
  std::uint64_t end_ = 0;
  std::uint64_t reserved_ = 0;
};

/// Appends and replays. One thread at a time. A record is in effect when append() returned: it survives the death of
/// every process (the kernel has it); sync() makes it survive the machine.
class Catalog {
 public:
  /// Opens or creates `<directory>/catalog` and replays it.
  /// Compaction is worth while for logs longer than `compact_above_bytes`.
  static base::Result<Catalog> open(const std::string& directory, std::uint64_t compact_above_bytes = 4 * base::MiB);
  /// Places are positions once number() said which; before, and in the log, they are numbers.
  const State& state() const { return state_; }
  /// Before anything else is appended: what became of the tiers, and which of them is where in this launch.
  base::Status number(const TierNumbering& numbering);
  const ReplayReport& replay_report() const { return report_; }
  /// Writes the record, then applies it. Room on the file system is reserved ahead: what adds to the content is refused
  /// (PERDURE_NO_SPACE) when none would be left in which all of it can be given up again. After a failed write nothing
  /// is applied and the torn bytes are overwritten by the next append. A record that replay would skip is refused.
  base::Status append(const Record& record);
  base::Status sync();
  /// The log has grown far beyond a snapshot, and no compaction is under way.
  bool worth_compacting() const;
  /// Copies the state. One at a time; to be ended with finish_compaction().
  Compaction begin_compaction();
  /// After its write(), which ended like this: appends the records that came meanwhile to the new log and puts it in
  /// place of the old one, at once for every reader. After an error the old log stays.
  base::Status finish_compaction(Compaction& compaction, const base::Status& written);
  /// All three steps.
  base::Status compact();

 private:
  base::Status check_readable(base::ConstByteSpan record) const;
  base::Status replay();
  base::Status mend_magic(std::uint64_t size);
  base::Status take_over(Compaction& compaction);
  base::Status reserve(std::uint64_t more_bytes);
  std::string directory_;
  os::File file_;
  std::uint64_t end_ = 0;
  std::uint64_t reserved_ = 0;  // up to here the file system has room for the log
  std::uint64_t compact_above_ = 0;
  std::uint64_t compacted_ = 0;  // size of the last snapshot
  bool compacting_ = false;
  std::uint64_t synced_ = 0;  // up to here sync() promised that the log survives the machine
  bool named_ = true;         // and so does its name
  State state_;
  TierNumbers numbers_;
  ReplayReport report_;
};

/// Whether a log of so many bytes takes one more record; `adds`: it says that there is something new. What gives
/// something up, or notes that it is stored, is still taken when the log is nearly full.
bool fits_in_log(std::uint64_t log_bytes, std::uint64_t record_bytes, bool adds);
/// Whether a log of so many bytes is to be compacted, whose last snapshot had so many.
bool far_beyond(std::uint64_t snapshot_bytes, std::uint64_t log_bytes);

std::vector<std::byte> encode_record(const Record& record);
/// Replays the bytes of a whole log file. `good_end`: where the next record goes.
State replay_bytes(base::ConstByteSpan log, const std::string& object, ReplayReport& report, std::uint64_t& good_end);

}  // namespace perdure::catalog
