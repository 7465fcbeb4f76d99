#pragma once
// Makes registered memory the source of a capture and the target of a restore. Bytes are copied once, between the
// application's memory and the slot.
#include <optional>

#include "capture/matching.hpp"
#include "capture/target.hpp"

namespace perdure::capture {

/// All regions of a table, which must not change while it is read.
class MemorySource : public Source {
 public:
  explicit MemorySource(const RegionTable& table) : table_(table), memory_(captured_memory(table)) {}
  base::Result<Description> describe() override { return Description{table_.entries(), table_.bytes()}; }
  base::Status read(ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) override;
  const CapturedMemory& memory() const { return memory_; }

 private:
  const RegionTable& table_;
  CapturedMemory memory_;
  std::vector<std::byte> gathered_;  // small runs of boxes, until they are worth a call
};

/// Regions of a table, or all if none are named. It leaves out arrays whose boxes in this rank's capture are not
/// exactly the wanted ones.
class MemoryTarget : public Target {
 public:
  MemoryTarget(const RegionTable& table, const std::optional<std::vector<std::int32_t>>& ids);
  /// Fails with PERDURE_MISMATCH (matching.hpp) and all differences between stored and wanted regions. The error has no
  /// object: only the caller knows the version.
  base::Result<std::vector<ChunkRange>> accept(const std::vector<segment::RegionEntry>& stored) override;
  /// Empty if the spans would be many and small.
  std::vector<MemorySpan> memory(ChunkRange range) override {
    return memory_.scattered() ? std::vector<MemorySpan>() : memory_.spans(range);
  }
  base::Status write(ChunkRange range, base::ConstByteSpan bytes) override;
  const Wanted& wanted() const { return wanted_; }
  /// After accept(): by stored entry the region that it fills, or kNoRegion.
  const std::vector<std::int32_t>& direct() const { return direct_; }
  /// Arrays that accept() left out, ascending: they are gathered from other ranks' captures.
  const std::vector<std::int32_t>& elsewhere() const { return elsewhere_; }
  /// Wanted regions that accept() found absent, which is allowed; ascending.
  const std::vector<std::int32_t>& absent() const { return absent_; }
  /// No capture belongs to this rank: all arrays are gathered, and memory of single ranks is absent.
  void take_all_elsewhere();

 private:
  const RegionTable& table_;
  Wanted wanted_;
  std::vector<std::int32_t> elsewhere_, direct_, absent_;
  CapturedMemory memory_;  // of accepted regions
};

}  // namespace perdure::capture
