#pragma once
// The log file behind State. Record = magic, length, hash, CBOR (docs/format/catalog.md).
#include <functional>
#include <string>
#include <vector>

#include "catalog/state.hpp"
#include "os/file.hpp"

namespace perdure::catalog {

/// What replay found besides good records.
struct ReplayReport {
  std::uint64_t records = 0;
  std::uint64_t skipped_bytes = 0;  ///< in the middle: damaged records, stepped over
  std::uint64_t torn_bytes = 0;     ///< at the end: an append that a death cut short; removed
  std::vector<base::Error> damage;
};

/// Appends and replays. One thread at a time. A record is in effect when append() returned: it survives the death of
/// every process (the kernel has it); sync() makes it survive the machine.
class Catalog {
 public:
  /// Opens or creates `<directory>/catalog` and replays it.
  /// Compaction is worth while for logs longer than `compact_above_bytes`.
  static base::Result<Catalog> open(const std::string& directory, std::uint64_t compact_above_bytes = 4 * base::MiB);
  const State& state() const { return state_; }
  const ReplayReport& replay_report() const { return report_; }
  /// Writes the record, then applies it. After a failed write nothing is applied and the torn bytes are overwritten by
  /// the next append.
  base::Status append(const Record& record);
  base::Status sync();
  /// Rewrites the log as a snapshot when it has grown far beyond one; atomic.
  base::Status compact_if_worthwhile();
  base::Status compact();

 private:
  base::Status replay();
  base::Status mend_magic(std::uint64_t size);
  std::string directory_;
  os::File file_;
  std::uint64_t end_ = 0;
  std::uint64_t compact_above_ = 0;
  std::uint64_t compacted_ = 0;  // size of the last snapshot
  State state_;
  ReplayReport report_;
};

std::vector<std::byte> encode_record(const Record& record);
/// Replays the bytes of a whole log file. `good_end`: where the next record goes.
State replay_bytes(base::ConstByteSpan log, const std::string& object, ReplayReport& report, std::uint64_t& good_end);

}  // namespace perdure::catalog
