#pragma once
// Makes one redundancy block from its sources, part by part: each source is read once, hashed on the way, and compared.
// The result is hashed while it is written to its slot. If the result's hash is known in advance, it proves as much as
// the hashes of all sources. Only if it differs are they read again, to find the faulty source.
#include <functional>
#include <memory>
#include <optional>

#include "engine/replicate/encoding.hpp"
#include "redundancy/combination.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {

/// A block of another node that is mapped here; its bytes may change.
struct BlockView {
  base::ConstByteSpan bytes;
  std::shared_ptr<const void> mapping;  ///< as long as this lives, so does the mapping
};

/// The ways to read the bytes of a source.
struct BlockReader {
  /// Returns the block itself if it is mapped here, else nullopt. May be empty: no block is mapped.
  std::function<std::optional<BlockView>(const EncodingTask::Source&)> view;
  /// Reads the source's bytes [offset, offset + target.size()).
  std::function<base::Status(const EncodingTask::Source&, std::uint64_t offset, base::ByteSpan target)> read;
};

/// Parts of this size stay in the cache from their hash to their sum.
inline constexpr std::size_t kEncodePartBytes = 128 * base::KiB;
/// Sources that are not mapped here are read this much at a time, since one network answer takes longer than such a
/// part.
inline constexpr std::size_t kReadAheadBytes = 16 * kEncodePartBytes;

class BlockEncoder {
 public:
  BlockEncoder(BlockReader reader, tier::SlotIo& slots) : reader_(std::move(reader)), slots_(slots) {}

  /// Writes the block into `slot`, which has room for task.length bytes. Fails with PERDURE_CORRUPT if a source does
  /// not match its hash (then `bad` names it), or the result does not.
  base::Result<segment::ChunkEntry> encode(const EncodingTask& task, const tier::SlotAddress& slot,
                                           std::optional<redundancy::Block>* bad = nullptr);

 private:
  struct Input {
    const EncodingTask::Source* source = nullptr;
    std::optional<BlockView> view;
    std::vector<std::byte> buffer;   ///< at most kReadAheadBytes
    std::uint64_t buffer_begin = 0;  ///< offset in the block
    std::size_t buffered = 0;
    bool hashed = true;  ///< otherwise the hash of the result proves the same
    base::Hasher hasher;
  };
  struct Output {
    tier::SlotAddress slot;
    std::uint64_t length = 0;
    std::vector<std::byte> sum;
    base::Hasher hasher;
  };
  std::vector<Input> open(const EncodingTask& task, bool copy) const;
  base::Result<base::ConstByteSpan> next_part(Input& input, std::uint64_t offset, std::size_t bytes) const;
  static base::Status check(const std::vector<Input>& inputs, const base::Hash128& result,
                            std::optional<redundancy::Block>* bad);
  base::Status find_culprit(const EncodingTask& task, std::optional<redundancy::Block>* bad) const;
  static base::Status check_result(const EncodingTask& task, const base::Hash128& hash);
  base::Status combine(const std::optional<redundancy::Combination>& sum, std::vector<Input>& inputs,
                       std::uint64_t offset, Output& out) const;

  BlockReader reader_;
  tier::SlotIo& slots_;
};

}  // namespace perdure::engine
