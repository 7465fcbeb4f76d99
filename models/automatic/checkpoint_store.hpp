#pragma once
// Where checkpoints of a program go and come from: the seam to Perdure, and to the memory of a test.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "automatic/stored_set.hpp"

namespace perdure::automatic {

/// A box of a data set, which all ranks have together, and where this rank's parts of it are in memory.
struct SavedBox {
  const StoredSet* set = nullptr;
  std::size_t number = 0;  ///< among the boxes of the checkpoint, from 0 on
  Box box;
  std::vector<Part> parts;  ///< disjoint, not empty; none where this rank has nothing of it
};

/// A place of the program at which ranks should be together.
struct Meeting {
  std::uint64_t mark = 0;  ///< the same on all ranks that are there
  std::string place;       ///< for people
  double seconds = 0;      ///< that ranks wait for each other; 0: as long as it takes
};
struct Met {
  bool any = false;   ///< it was so on some rank
  std::string apart;  ///< not empty: ranks are at several places, and these are they
};

/// All calls are [collective].
class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;
  /// What the newest checkpoint has besides its boxes; nothing at a first start. Throws std::runtime_error where there
  /// was something that is not to be had any more.
  virtual std::optional<std::vector<std::byte>> newest() = 0;
  /// Fills this rank's memory from that checkpoint, whatever ranks wrote it. False: it turned out to be damaged, and
  /// newest() is another one.
  virtual bool restore(std::span<const SavedBox> boxes) = 0;
  /// Error: why there is no checkpoint; the run goes on.
  virtual tl::expected<void, std::string> write(std::span<const std::byte> place, std::span<const SavedBox> boxes) = 0;
  /// In place of write(), on the ranks that cannot; on those that call it this is an error, too. Always an error.
  virtual tl::expected<void, std::string> refuse(const std::string& why) = 0;
  /// The one written last lacks something: it is no newest() any more.
  virtual void retire_written() = 0;
  /// The one that was restored does, and so do those that were written since.
  virtual void retire_restored() = 0;
  /// Whether it is so on any rank. Throws Failure where some ranks do not come.
  virtual Met meet(const Meeting& at, bool here) = 0;
  /// The process is about to end: returns when what was written last is safe from that and from the loss of its node,
  /// and is of no use afterwards. Error: why it is not.
  virtual tl::expected<void, std::string> finish() = 0;
};

}  // namespace perdure::automatic
