#pragma once
// Moves bytes in and out of slots, hashing in the same pass. Used by ranks (capture, restore) and engines (flush).
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/hash.hpp"
#include "os/file.hpp"
#include "os/memory_map.hpp"
#include "tier/tier.hpp"

namespace perdure::tier {

/// Keeps files open and mappings in place between uses. Thread-safe; a slot is used by one thread at a time.
class SlotIo {
 public:
  /// Writes `data` at `offset` of the slot. `hasher` gets the same bytes.
  base::Status write(const SlotAddress& slot, std::uint64_t offset, base::ConstByteSpan data, base::Hasher& hasher);
  /// Reads bytes [offset, offset + target.size()) of the slot into `target`. `hasher` gets what was read.
  base::Status read(const SlotAddress& slot, std::uint64_t offset, base::ByteSpan target, base::Hasher& hasher);
  /// Direct view of a mapped slot; empty for a slot that is not memory.
  base::Result<base::ConstByteSpan> view(const SlotAddress& slot, std::uint64_t bytes);
  /// Backs the first `bytes` bytes with memory and maps them now (mapped slots; nothing to do for others). Remembers
  /// what it did, but for a slot that is fresh. PERDURE_NO_SPACE when there is no room. May be called for a slot that
  /// another thread prepares.
  base::Status prepare(const SlotAddress& slot, std::uint64_t bytes);
  /// Forgets all files and mappings.
  void clear();

 private:
  struct Open {
    os::File file;
    os::Mapping mapping;
    std::mutex preparing;
    std::uint64_t populated = 0;
  };
  base::Result<std::shared_ptr<Open>> open(const SlotAddress& slot);
  std::mutex mutex_;
  std::map<std::pair<std::string, std::uint64_t>, std::shared_ptr<Open>> open_;
};

}  // namespace perdure::tier
