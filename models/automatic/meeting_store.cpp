#include "automatic/meeting_store.hpp"

#include "automatic/failure.hpp"

namespace perdure::automatic {
namespace {

// Ranks that meet for one purpose have one mark; ranks that only look for their first difference have another.
std::uint64_t mark_of(std::uint64_t loops, const std::string& doing) { return loops ^ track::loop_id(doing, ""); }

}  // namespace

MeetingStore::MeetingStore(std::unique_ptr<CheckpointStore> store, const Policy& policy)
    : store_(std::move(store)), name_(policy.name), calls_(policy.calls), seconds_(policy.patience_s) {}

std::string MeetingStore::place(const std::string& doing) const {
  const std::string last = history_.last();
  return last.empty() ? doing : doing + ", last at " + calls_ + " " + last;
}

bool MeetingStore::meet(const std::string& doing, bool here) {
  const Met met = store_->meet({mark_of(history_.mark(), doing), place(doing), seconds_}, here);
  if (!met.apart.empty()) tell_apart(doing, met.apart);
  history_.agreed();
  return met.any;
}

// All ranks search together for the first loop that differs. That loop is the place that the error names. [collective]
void MeetingStore::tell_apart(const std::string& doing, const std::string& text) {
  constexpr const char* kSearch = "search";
  std::size_t same = 0, differs = LoopHistory::kMost + 1;
  while (differs - same > 1) {
    const std::size_t middle = same + (differs - same) / 2;
    const Meeting at{mark_of(history_.mark_after(middle), kSearch), place(doing), seconds_};
    (store_->meet(at, false).apart.empty() ? same : differs) = middle;
  }
  std::string found = text;
  if (differs <= LoopHistory::kMost) {
    const std::string next = history_.behind(same);
    const Meeting at{mark_of(history_.mark_after(differs), kSearch),
                     next.empty() ? place(doing) + ", and no other" : calls_ + " " + next, seconds_};
    found = store_->meet(at, false).apart;
  }
  throw Failure(PERDURE_MISMATCH, "checkpoint '" + name_ + "': ranks do not run the same " + calls_ + "s: " + found);
}

std::optional<std::vector<std::byte>> MeetingStore::newest() {
  meet("the start", false);
  return store_->newest();
}

bool MeetingStore::restore(std::span<const SavedBox> boxes) {
  meet("a restore", false);
  return store_->restore(boxes);
}

tl::expected<void, std::string> MeetingStore::write(std::span<const std::byte> place, std::span<const SavedBox> boxes) {
  meet("a checkpoint", false);
  return store_->write(place, boxes);
}

tl::expected<void, std::string> MeetingStore::refuse(const std::string& why) {
  meet("a checkpoint", false);
  return store_->refuse(why);
}

void MeetingStore::retire_written() {
  meet("giving up a checkpoint", false);
  store_->retire_written();
}

void MeetingStore::retire_restored() {
  meet("giving up the checkpoint of the start", false);
  store_->retire_restored();
}

}  // namespace perdure::automatic
