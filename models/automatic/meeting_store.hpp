#pragma once
// A store whose calls ranks come to together: before each they find out whether they have run the same loops, and wait
// for each other no longer than the policy says. So a loop that some ranks alone run is named, and nobody waits for
// ever. It costs one exchange for each call of the store, and none for a loop.
#include <memory>
#include <string>

#include "automatic/checkpoint_store.hpp"
#include "automatic/loop_history.hpp"
#include "automatic/protected_run.hpp"

namespace perdure::automatic {

/// All calls but loop() are [collective]. They throw Failure: PERDURE_MISMATCH where ranks have run other loops,
/// PERDURE_TIMEOUT where some do not come.
class MeetingStore {
 public:
  MeetingStore(std::unique_ptr<CheckpointStore> store, const Policy& policy);
  /// The next loop that the program comes to.
  void loop(track::LoopId id, std::string_view name) { history_.loop(id, name); }
  /// Whether `here` is so on any rank. `doing`: what ranks come together for, such as "a tick".
  bool meet(const std::string& doing, bool here);

  // As those of CheckpointStore.
  std::optional<std::vector<std::byte>> newest();
  bool restore(std::span<const SavedBox> boxes);
  tl::expected<void, std::string> write(std::span<const std::byte> place, std::span<const SavedBox> boxes);
  tl::expected<void, std::string> refuse(const std::string& why);
  void retire_written();
  void retire_restored();
  tl::expected<void, std::string> finish() { return store_->finish(); }  ///< right behind meet()

 private:
  std::string place(const std::string& doing) const;
  [[noreturn]] void tell_apart(const std::string& doing, const std::string& text);

  std::unique_ptr<CheckpointStore> store_;
  std::string name_, calls_;
  double seconds_;
  LoopHistory history_;
};

}  // namespace perdure::automatic
