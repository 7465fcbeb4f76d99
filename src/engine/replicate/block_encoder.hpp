#pragma once
// Makes one redundancy block out of its sources, part by part: every source is read once, hashed on the way,
// and compared; the result is hashed while it is written to its slot. Where the hash of the result is known, it says as
// much as those of all sources: only if it is another one are they read again, to find out whose fault that is.
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
  std::shared_ptr<const void> mapping;  ///< that lives as long as this
};

/// How the bytes of a source are got at.
struct BlockReader {
  /// The block itself, where it is mapped here. May be empty: no.
  std::function<std::optional<BlockView>(const EncodingTask::Source&)> view;
  /// Bytes [offset, offset + target.size()) of it.
  std::function<base::Status(const EncodingTask::Source&, std::uint64_t offset, base::ByteSpan target)> read;
};

/// Parts of this size are in the cache from their hash to their sum.
inline constexpr std::size_t kEncodePartBytes = 128 * base::KiB;
/// What is not mapped here is read so much at a time: one answer of a network takes longer than such a part.
inline constexpr std::size_t kReadAheadBytes = 16 * kEncodePartBytes;

class BlockEncoder {
 public:
  BlockEncoder(BlockReader reader, tier::SlotIo& slots) : reader_(std::move(reader)), slots_(slots) {}

  /// Into `slot`, which has room for task.length bytes. PERDURE_CORRUPT when a source is not what it was said to be
  /// (then `bad` says which), or the result is not.
  base::Result<segment::ChunkEntry> encode(const EncodingTask& task, const tier::SlotAddress& slot,
                                           std::optional<redundancy::Block>* bad = nullptr);

 private:
  struct Input {
    const EncodingTask::Source* source = nullptr;
    std::optional<BlockView> view;
    std::vector<std::byte> buffer;   ///< of kReadAheadBytes at most
    std::uint64_t buffer_begin = 0;  ///< offset in the block
    std::size_t buffered = 0;
    bool hashed = true;  ///< else the hash of the result says the same
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
