#pragma once
// Makes checkpoints of a program that the program does not have to write. The reads and writes that its loops declare
// determine which elements are needed, and where. A restart skips loops up to that place. (Automatic checkpointing of
// structured-mesh codes, Algorithms 1 and 2 and section 5.)
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "automatic/checkpoint_store.hpp"
#include "automatic/follower.hpp"
#include "automatic/meeting_store.hpp"
#include "automatic/place_choice.hpp"
#include "automatic/protected_run.hpp"
#include "automatic/signals.hpp"
#include "track/report.hpp"
#include "track/tracker.hpp"

namespace perdure::automatic {

class Protection final : public Follower, public ProtectedRun {
 public:
  using Tell = std::function<void(const std::string&)>;
  /// Resumes from the newest checkpoint of the policy's name, if there is one. Call it after the initialisation that
  /// every run repeats. `tell` receives errors of checkpoints while the run continues; the rank that `reports` writes
  /// the policy's report. Throws std::runtime_error. [collective]
  Protection(std::vector<StoredSet> sets, std::unique_ptr<CheckpointStore> store, Policy policy, Tell tell,
             bool reports);

  bool loop(track::LoopId id, std::string_view name, std::span<const track::Access> accesses, bool between) override;
  bool knows_answer() const override { return tracker_.phase() == track::Tracker::Phase::replay; }
  void answer(std::span<std::byte> values) override;
  bool wants_checkpoint() override;
  /// Ranks whose clocks lag must not ask for another one right afterwards.
  void checkpoint_is_wanted() override {
    wanted_ = true;
    wanted_at_ = Clock::now();
  }

  /// Notes that the set lies elsewhere from here on, with its content. For a swap of two sets, the loop must declare
  /// that it reads and writes both.
  void moved(track::SetId set, std::vector<Part> owned);
  std::optional<std::vector<std::byte>> fast_forward(std::span<const std::byte> payload) override;
  void ended() const override;
  void trigger() override { wanted_ = true; }
  /// Returns whether `here` is true on any rank, of ranks that have run the same loops so far. [collective]
  bool meet(const std::string& doing, bool here) { return store_.meet(doing, here); }
  bool is_late() const { return choice_.is_late(); }  ///< a request for a checkpoint has waited for long
  bool restarted() const override { return restarted_; }
  std::uint64_t goes_on_at() const override { return goes_on_at_; }
  const std::vector<StoredSet>& sets() const { return sets_; }
  const std::vector<Taken>& taken() const override { return taken_; }
  /// Returns the size of a checkpoint at each loop, as learnt so far.
  track::Report report() const;

 private:
  using Clock = std::chrono::steady_clock;
  void declare();
  void resume();
  bool resume_from(const std::vector<std::byte>& bytes);
  void check_spoilt(const track::Place& place) const;
  void arrive();
  std::vector<SavedBox> boxes_of(const std::vector<track::BoxSet>& saved) const;
  void learn(track::LoopId id, std::string_view name, std::span<const track::Access> accesses, bool between);
  void tell_report() const;
  [[noreturn]] void refused(const track::Decision& decision, std::string_view loop);
  void opens(std::string_view name);
  void put_aside(const track::Piece& piece, bool read);
  std::vector<SavedBox> boxes_aside(const std::vector<track::BoxSet>& saved);
  void closes();
  void give_up(const std::string& why);
  void end_if_asked();
  bool has_all() const;
  void write(const track::Place& place, std::span<const SavedBox> boxes);
  std::uint64_t state_bytes() const;
  std::string checkpoint() const { return "checkpoint '" + policy_.name + "'"; }

  std::vector<StoredSet> sets_;
  MeetingStore store_;
  Policy policy_;
  Tell tell_;
  bool reports_;
  track::Tracker tracker_{true};
  PlaceChoice choice_;
  bool restarted_ = false, wanted_ = false;
  bool stale_ = false;     // sets moved since the restart filled them
  bool answered_ = false;  // before the first fast_forward()
  bool forwarded_ = false;
  std::vector<track::BoxSet> spoilt_;  // elements that damaged checkpoints filled
  std::uint64_t goes_on_at_ = 0;
  std::uint64_t ran_ = 0;  // loops, without skipped ones
  Clock::time_point wanted_at_ = Clock::now();
  std::vector<Taken> taken_;
  std::optional<Signals> signals_;

  /// The checkpoint that is open.
  struct Open {
    Taken now;
    std::uint64_t loops = 0;
    Clock::duration blocking{};
    std::vector<track::BoxSet> foreseen;  // elements that were written at once
    bool surprised = false, failed = false;
    bool lost = false;  // this rank had no memory to put something aside
    struct Aside {
      track::SetId set;
      Box box, own;
      std::size_t offset;
    };
    std::vector<Aside> aside;
    std::vector<std::byte> memory;
  };
  Open open_;
};

}  // namespace perdure::automatic
