#pragma once
// A record is bytes under one entry of a capture, beside others: it says what a program needs besides its memory.
#include "capture/target.hpp"

namespace perdure::capture {

struct Record {
  std::int32_t id = 0;  ///< number of its entry; one of its own in the capture
  std::vector<std::byte> bytes;
  segment::Attributes attributes = {};
  segment::RegionEntry entry() const { return {id, 1, bytes.size(), segment::EntryKind::opaque, attributes}; }
};

class RecordSource : public Source {
 public:
  explicit RecordSource(Record record) : record_(std::move(record)) {}
  base::Result<Description> describe() override { return Description{{record_.entry()}, record_.bytes.size()}; }
  base::Status read(ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) override {
    return take(base::ConstByteSpan(record_.bytes).subspan(range.begin, range.length));
  }

 private:
  Record record_;
};

/// Takes one record, of any length up to `most_bytes`.
class RecordTarget : public Target {
 public:
  explicit RecordTarget(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
  /// PERDURE_MISMATCH: it is not one opaque entry. PERDURE_CORRUPT: it is longer.
  base::Result<std::vector<ChunkRange>> accept(const std::vector<segment::RegionEntry>& stored) override;
  base::Status write(ChunkRange range, base::ConstByteSpan bytes) override;
  /// After the restore.
  const Record& record() const { return record_; }

 private:
  std::uint64_t most_bytes_;
  Record record_;
};

}  // namespace perdure::capture
