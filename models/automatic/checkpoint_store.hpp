#pragma once
// Abstracts the store of a program's checkpoints: Perdure, or the memory of a test.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "automatic/stored_set.hpp"

namespace perdure::automatic {

/// A box of a data set that all ranks share, with the places in memory of this rank's parts.
struct SavedBox {
  const StoredSet* set = nullptr;
  std::size_t number = 0;  ///< among the boxes of the checkpoint, from 0 on
  Box box;
  std::vector<Part> parts;  ///< disjoint, not empty; none if this rank has no part of it
};

/// A place of the program at which all ranks should be together.
struct Meeting {
  std::uint64_t mark = 0;  ///< the same on all ranks at this place
  std::string place;       ///< for messages
  double seconds = 0;      ///< how long ranks wait for each other; 0: without limit
};
struct Met {
  bool any = false;   ///< `here` was true on some rank
  std::string apart;  ///< not empty: ranks are at several places, which this text names
};

/// All calls are [collective].
class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;
  /// Returns what the newest checkpoint holds besides its boxes, or nothing at a first start. Throws std::runtime_error
  /// if there was a checkpoint that is no longer available.
  virtual std::optional<std::vector<std::byte>> newest() = 0;
  /// Fills this rank's memory from that checkpoint, whatever ranks wrote it. Returns false if it is damaged; newest()
  /// is then another one.
  virtual bool restore(std::span<const SavedBox> boxes) = 0;
  /// Error: why the write failed; the run goes on.
  virtual tl::expected<void, std::string> write(std::span<const std::byte> place, std::span<const SavedBox> boxes) = 0;
  /// Takes the place of write() on ranks that cannot write. Always an error, also on the ranks that call write().
  virtual tl::expected<void, std::string> refuse(const std::string& why) = 0;
  /// Retires the checkpoint written last, because it lacks data: newest() no longer returns it.
  virtual void retire_written() = 0;
  /// Retires the restored checkpoint, because it lacks data, and those written since.
  virtual void retire_restored() = 0;
  /// Returns whether `here` is true on any rank. Throws Failure if some ranks do not come.
  virtual Met meet(const Meeting& at, bool here) = 0;
  /// Call it before the process ends. Returns when the last checkpoint is safe from that and from the loss of its node;
  /// the store is unusable afterwards. Error: why the checkpoint is not safe.
  virtual tl::expected<void, std::string> finish() = 0;
};

}  // namespace perdure::automatic
