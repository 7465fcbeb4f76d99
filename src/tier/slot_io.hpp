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

/// A slot that is filled from its beginning on, in pieces of any size: as quick as one write, however small they are.
/// One thread.
class SlotFill {
 public:
  /// `bytes`: how many will come; `hasher` gets them, too.
  SlotFill(std::shared_ptr<SlotAccess> access, std::uint64_t bytes, base::Hasher& hasher);
  base::Status append(base::ConstByteSpan data);
  /// Nothing is to be read before.
  base::Status finish();
  std::uint64_t appended() const { return appended_; }

 private:
  base::Status write(base::ConstByteSpan data);

  std::shared_ptr<SlotAccess> access_;
  std::uint64_t bytes_, appended_ = 0, written_ = 0;
  base::Hasher& hasher_;
  bool is_memory_;
  std::optional<base::StreamedCopy> copy_;  // of so much that it passes the caches by
  std::vector<std::byte> gathered_;         // of a slot that is no memory
};

/// Keeps the access to slots between uses: to all that are memory, and to the kMostFiles others that were used last.
/// So the descriptors that it keeps do not grow with the slots. Thread-safe; a slot is used by one thread at a time.
class SlotIo {
 public:
  static constexpr std::size_t kMostFiles = 16;
  /// Writes `data` at `offset` of the slot. `hasher` gets the same bytes.
  base::Status write(const SlotAddress& slot, std::uint64_t offset, base::ConstByteSpan data, base::Hasher& hasher);
  /// The way to write up to `bytes` bytes from its beginning on, piece by piece.
  base::Result<SlotFill> fill(const SlotAddress& slot, std::uint64_t bytes, base::Hasher& hasher);
  /// The same without mapping a slot that is memory: what is written gets its memory then, which is neither cleared
  /// nor mapped before. For a slot that is fresh.
  base::Result<SlotFill> fill_file(const SlotAddress& slot, std::uint64_t bytes, base::Hasher& hasher);
  /// Reads the slot from its beginning on, one span after the other; `hasher` gets all that they cover.
  base::Status scatter(const SlotAddress& slot, std::span<const base::MemorySpan> spans, base::Hasher& hasher);
  /// Reads bytes [offset, offset + target.size()) of the slot into `target`. `hasher` gets what was read.
  base::Status read(const SlotAddress& slot, std::uint64_t offset, base::ByteSpan target, base::Hasher& hasher);
  /// How many bytes, from the slot's beginning, can be read.
  base::Result<std::uint64_t> size(const SlotAddress& slot);
  /// Direct view of a slot that is memory; empty for any other.
  base::Result<base::ConstByteSpan> view(const SlotAddress& slot, std::uint64_t bytes);
  /// The same of the first `bytes` bytes for who writes: what is put there is written.
  base::Result<base::ByteSpan> memory(const SlotAddress& slot, std::uint64_t bytes);
  /// Takes what the first `bytes` bytes need from the system now; of memory, backs and maps it. Remembers what it did,
  /// but for a slot that is fresh. PERDURE_NO_SPACE when there is no room. May be called for a slot that another thread
  /// prepares.
  base::Status prepare(const SlotAddress& slot, std::uint64_t bytes);
  /// The same in parts, of bytes [begin, end) and of a slot that is not fresh: ahead of who is granted it.
  base::Status prepare_part(const SlotAddress& slot, std::uint64_t begin, std::uint64_t end);
  /// Maps the first `bytes` bytes of a slot that is memory in one call, for who reads them.
  base::Status prepare_to_read(const SlotAddress& slot, std::uint64_t bytes);
  /// Forgets all files and mappings.
  void clear();

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // path and offset
  base::Result<std::shared_ptr<SlotAccess>> open(const SlotAddress& slot);
  void close_files(std::size_t most);
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<SlotAccess>> open_;
  std::vector<Key> files_;  // of open_, those that need a descriptor; the one used last comes last
};

}  // namespace perdure::tier
