#pragma once
// Puts several sources, such as memory and records, into one capture, and restores each to its own target.
#include <functional>

#include "capture/target.hpp"

namespace perdure::capture {

/// The entries of its parts in their order, and so their bytes.
class CompositeSource : public Source {
 public:
  /// `parts` have to stay.
  explicit CompositeSource(std::vector<Source*> parts) : parts_(std::move(parts)) {}
  /// Does as all parts like. The chunks are as long as the part with the shortest ones likes.
  Manner manner() const override;
  /// PERDURE_INVALID_ARGUMENT: two parts have an entry of the same number.
  base::Result<Description> describe() override;
  base::Status goes_to(const segment::VersionId& id) override;
  base::Status read(ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) override;

 private:
  std::vector<Source*> parts_;
  std::vector<std::uint64_t> ends_;  // of the parts' bytes, after describe()
};

/// Each stored entry belongs to the first part that takes it. A part sees its own entries and bytes only.
class CompositeTarget : public Target {
 public:
  struct Part {
    Target* target = nullptr;  ///< has to stay
    std::function<bool(const segment::RegionEntry& entry)> takes;
  };
  explicit CompositeTarget(std::vector<Part> parts) : parts_(std::move(parts)) {}
  void comes_from(const segment::VersionId& id) override;
  /// PERDURE_MISMATCH: no part takes some entry.
  base::Result<std::vector<ChunkRange>> accept(const std::vector<segment::RegionEntry>& stored) override;
  std::vector<MemorySpan> memory(ChunkRange range) override;
  std::optional<std::uint64_t> wanted() override;
  bool is_read_ahead() const override;
  base::Status write(ChunkRange range, base::ConstByteSpan bytes) override;

 private:
  /// The bytes of one entry.
  struct Stretch {
    ChunkRange range;
    std::size_t part = 0;
    std::uint64_t in_part = 0;  ///< begin among the bytes of its part
  };
  template <class Use>
  base::Status each(ChunkRange range, Use use) const;

  std::vector<Part> parts_;
  std::vector<Stretch> stretches_;  // of the accepted version, ascending
};

}  // namespace perdure::capture
