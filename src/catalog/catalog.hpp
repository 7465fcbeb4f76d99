#pragma once
// Keeps the log file behind State. Record = magic, length, hash, CBOR (docs/format/catalog.md).
#include <functional>
#include <string>
#include <vector>

#include "catalog/state.hpp"
#include "catalog/tier_numbers.hpp"
#include "os/file.hpp"

namespace perdure::catalog {

/// The findings of a replay besides good records.
struct ReplayReport {
  std::uint64_t records = 0;
  std::uint64_t skipped_bytes = 0;  ///< in the middle: skipped damaged records
  std::uint64_t torn_bytes = 0;     ///< at the end: an append that a death cut short; removed
  std::vector<base::Error> damage;
};

/// A slow rewrite of the log as a snapshot. It uses the catalog at its beginning and at its end only.
class Compaction {
 public:
  /// Writes the snapshot beside the log, and syncs it. It leaves the catalog alone, so records may be appended
  /// meanwhile.
  base::Status write();
  /// Makes the new log's name survive the machine; called after finish_compaction().
  base::Status sync_name();

 private:
  friend class Catalog;
  std::string directory_;
  State state_;  // at its beginning
  TierNumbers numbers_;
  std::uint64_t taken_ = 0;  // `state_` has the old log up to here
  os::File file_;
  std::uint64_t end_ = 0;
  std::uint64_t reserved_ = 0;
};

/// Appends and replays records. One thread at a time. A record is in effect when append() returns: it survives the
/// death of every process (the kernel has it). sync() makes it survive the machine.
class Catalog {
 public:
  /// Opens or creates `<directory>/catalog` and replays it. Compaction pays for logs longer than `compact_above_bytes`.
  static base::Result<Catalog> open(const std::string& directory, std::uint64_t compact_above_bytes = 4 * base::MiB);
  /// Places are positions after number(). Before that, and in the log, they are tier numbers.
  const State& state() const { return state_; }
  /// Called before the first append: records the fate of tiers, and their positions in this launch.
  base::Status number(const TierNumbering& numbering);
  const ReplayReport& replay_report() const { return report_; }
  /// Writes the record, then applies it. Room on the file system is reserved ahead. A record that adds content is
  /// refused (PERDURE_NO_SPACE) unless enough room is left to release all content again. After a failed write nothing
  /// is applied, and the next append overwrites the torn bytes. A record that replay would skip is refused.
  base::Status append(const Record& record);
  base::Status sync();
  /// Whether the log has grown far beyond a snapshot, and no compaction is in progress.
  bool worth_compacting() const;
  /// Copies the state. One compaction at a time; finish_compaction() has to end it.
  Compaction begin_compaction();
  /// Called after write(), with its result: appends the records that came meanwhile to the new log, and atomically
  /// replaces the old one. After an error the old log stays.
  base::Status finish_compaction(Compaction& compaction, const base::Status& written);
  /// Does all three steps.
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
  std::uint64_t reserved_ = 0;  // the file system has room for the log up to here
  std::uint64_t compact_above_ = 0;
  std::uint64_t compacted_ = 0;  // size of the last snapshot
  bool compacting_ = false;
  std::uint64_t synced_ = 0;  // sync() promised that the log survives the machine up to here
  bool named_ = true;         // and that its name does
  State state_;
  TierNumbers numbers_;
  ReplayReport report_;
};

/// Whether a log of so many bytes takes one more record; `adds` says that it adds content. Records that release
/// content, or record it as stored, are still taken when the log is nearly full.
bool fits_in_log(std::uint64_t log_bytes, std::uint64_t record_bytes, bool adds);
/// Whether to compact a log of so many bytes whose last snapshot had so many.
bool far_beyond(std::uint64_t snapshot_bytes, std::uint64_t log_bytes);

std::vector<std::byte> encode_record(const Record& record);
/// Replays the bytes of a whole log file. Sets `good_end` to the place of the next record.
State replay_bytes(base::ConstByteSpan log, const std::string& object, ReplayReport& report, std::uint64_t& good_end);

}  // namespace perdure::catalog
