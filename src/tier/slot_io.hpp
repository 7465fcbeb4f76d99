#pragma once
// Moves bytes in and out of slots, hashing in the same pass. Used by ranks (capture, restore) and engines (flush).
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "tier/tier.hpp"

namespace perdure::tier {

/// Fills a slot from its beginning on, in pieces of any size. It is as fast as one write, however small they are. Used
/// by one thread.
class SlotFill {
 public:
  /// `bytes`: how many will come. `hasher` gets them, too.
  SlotFill(std::shared_ptr<SlotAccess> access, std::uint64_t bytes, base::Hasher& hasher);
  base::Status append(base::ConstByteSpan data);
  /// The slot must not be read before.
  base::Status finish();
  std::uint64_t appended() const { return appended_; }

 private:
  base::Status write(base::ConstByteSpan data);

  std::shared_ptr<SlotAccess> access_;
  std::uint64_t bytes_, appended_ = 0, written_ = 0;
  base::Hasher& hasher_;
  bool is_memory_;
  std::optional<base::StreamedCopy> copy_;  // if the slot is so large that the copy bypasses the caches
  std::vector<std::byte> gathered_;         // for a slot that is not memory
};

/// Keeps open slots between uses: all that are memory, and the kMostFiles others that were used last. So the number of
/// descriptors does not grow with the slots. Thread-safe; a slot is used by one thread at a time.
class SlotIo {
 public:
  static constexpr std::size_t kMostFiles = 16;
  /// Writes `data` at `offset` of the slot. `hasher` gets the same bytes.
  base::Status write(const SlotAddress& slot, std::uint64_t offset, base::ConstByteSpan data, base::Hasher& hasher);
  /// Begins to fill the slot with up to `bytes` bytes, piece by piece.
  base::Result<SlotFill> fill(const SlotAddress& slot, std::uint64_t bytes, base::Hasher& hasher);
  /// Like fill(), but does not map a slot that is memory. The write then allocates its memory, which is neither cleared
  /// nor mapped before. For a slot that is fresh.
  base::Result<SlotFill> fill_file(const SlotAddress& slot, std::uint64_t bytes, base::Hasher& hasher);
  /// Reads the slot from its beginning on into one span after the other. `hasher` gets all that they cover.
  base::Status scatter(const SlotAddress& slot, std::span<const base::MemorySpan> spans, base::Hasher& hasher);
  /// Reads bytes [offset, offset + target.size()) of the slot into `target`. `hasher` gets the bytes read.
  base::Status read(const SlotAddress& slot, std::uint64_t offset, base::ByteSpan target, base::Hasher& hasher);
  /// Returns how many bytes can be read, from the slot's beginning on.
  base::Result<std::uint64_t> size(const SlotAddress& slot);
  /// Returns a direct view of a slot that is memory; empty for any other.
  base::Result<base::ConstByteSpan> view(const SlotAddress& slot, std::uint64_t bytes);
  /// Returns the first `bytes` bytes of a slot that is memory, for writers: bytes put there are written.
  base::Result<base::ByteSpan> memory(const SlotAddress& slot, std::uint64_t bytes);
  /// Takes from the system now what the first `bytes` bytes need; for memory, backs and maps it. Remembers this, except
  /// for a slot that is fresh. Fails with PERDURE_NO_SPACE if there is no room. May be called for a slot that another
  /// thread prepares.
  base::Status prepare(const SlotAddress& slot, std::uint64_t bytes);
  /// Prepares bytes [begin, end) of a slot that is not fresh, before it is granted.
  base::Status prepare_part(const SlotAddress& slot, std::uint64_t begin, std::uint64_t end);
  /// Maps the first `bytes` bytes of a slot that is memory in one call, for readers.
  base::Status prepare_to_read(const SlotAddress& slot, std::uint64_t bytes);
  /// Closes all files and mappings.
  void clear();

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // path and offset
  base::Result<std::shared_ptr<SlotAccess>> open(const SlotAddress& slot);
  void close_files(std::size_t most);
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<SlotAccess>> open_;
  std::vector<Key> files_;  // the entries of open_ that need a descriptor; the one used last stands at the end
};

}  // namespace perdure::tier
