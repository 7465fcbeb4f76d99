#pragma once
// Checks, before each call of a store, that all ranks have run the same loops. Ranks wait for each other no longer than
// the policy says. So an error names a loop that only some ranks run, and no rank waits for ever. It costs one exchange
// for each call of the store, and none for a loop.
#include <memory>
#include <string>

#include "automatic/checkpoint_store.hpp"
#include "automatic/loop_history.hpp"
#include "automatic/protected_run.hpp"

namespace perdure::automatic {

/// All calls but loop() are [collective]. They throw Failure: PERDURE_MISMATCH if ranks have run different loops,
/// PERDURE_TIMEOUT if some ranks do not come.
class MeetingStore {
 public:
  MeetingStore(std::unique_ptr<CheckpointStore> store, const Policy& policy);
  /// Records the next loop of the program.
  void loop(track::LoopId id, std::string_view name) { history_.loop(id, name); }
  /// Returns whether `here` is true on any rank. `doing` names the purpose of the meeting, such as "a tick".
  bool meet(const std::string& doing, bool here);

  // The calls of CheckpointStore.
  std::optional<std::vector<std::byte>> newest();
  bool restore(std::span<const SavedBox> boxes);
  tl::expected<void, std::string> write(std::span<const std::byte> place, std::span<const SavedBox> boxes);
  tl::expected<void, std::string> refuse(const std::string& why);
  void retire_written();
  void retire_restored();
  tl::expected<void, std::string> finish() { return store_->finish(); }  ///< call it directly after meet()

 private:
  std::string place(const std::string& doing) const;
  [[noreturn]] void tell_apart(const std::string& doing, const std::string& text);

  std::unique_ptr<CheckpointStore> store_;
  std::string name_, calls_;
  double seconds_;
  LoopHistory history_;
};

}  // namespace perdure::automatic
