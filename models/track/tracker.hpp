#pragma once
// Which elements a checkpoint needs, told from what loops read and write after it began, and how a restart gets back to
// that loop: Algorithms 1 and 2 of "Automatic checkpointing of structured-mesh codes" (OPS), by elements instead of
// data sets. Pure: who calls it runs loops, moves data and stores what it says. One thread.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "track/access.hpp"
#include "track/box_set.hpp"
#include "track/loop_sequence.hpp"

namespace perdure::track {

/// All that left the loops for the program, one behind the other.
struct Answers {
  std::vector<std::byte> bytes;
  std::vector<std::uint32_t> lengths;
  friend bool operator==(const Answers&, const Answers&) = default;
};

/// What a checkpoint holds besides the elements that the tracker said.
struct Place {
  std::uint64_t loop = 0;                         ///< the checkpoint is before the loop of this number
  std::vector<LoopSequence::Stretch> before;      ///< the loops up to it
  LoopId id = 0;                                  ///< and it
  Answers answers;                                ///< of the loops up to it
  std::vector<DataSet> sets;                      ///< that there were
  std::vector<BoxSet> written;                    ///< of each: what loops had written by then
  std::vector<BoxSet> saved;                      ///< of each: what the checkpoint has of that
  std::optional<std::vector<std::byte>> payload;  ///< of the last fast_forward(), from which loops and answers count
};

/// Elements of a data set that are to be copied before the loop runs.
struct Piece {
  SetId set = 0;
  Box box;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// What to do with a loop, in this order.
struct Decision {
  /// The program is not the one that wrote the checkpoint, or needs what that has not: nothing else counts.
  std::string refused;
  bool lacks = false;       ///< the latter: an older checkpoint may have it
  bool restore = false;     ///< fill all that the checkpoint has, and go on
  bool opens = false;       ///< a checkpoint begins here: place()
  std::vector<Piece> save;  ///< belongs to the checkpoint that is open
  std::size_t read = 0;     ///< so many of them, the first, the loop reads; of the others nobody knows
  bool closes = false;      ///< with that it is complete
  std::string spoils;       ///< no checkpoint can begin where the open one did, and why: it is given up
  bool run = true;          ///< else the loop is skipped
};

class Tracker {
 public:
  enum class Phase {
    initial,  ///< what loops write is written by every run, restarts too
    running,
    region,  ///< a checkpoint is open
    again,   ///< a restart that runs the initial phase
    replay,  ///< a restart on its way to the place: loops are skipped, answers come from the checkpoint
    refused,
  };
  /// With an initial phase, which ends with initial_phase_done().
  explicit Tracker(bool initial_phase = false) : phase_(initial_phase ? Phase::initial : Phase::running) {}
  Phase phase() const { return phase_; }

  /// Any time; nothing of it is written yet. Error: defect_of(), or there is one of that name.
  tl::expected<SetId, std::string> declare(DataSet set);
  const std::vector<DataSet>& sets() const { return sets_; }
  /// From here on what loops write counts.
  void initial_phase_done();
  /// Before any loop: the run goes on from there. What the data sets and loops are is compared on the way.
  void resume(Place place);

  /// Before each loop. What does not lie in its data set is refused. The reference is good until the next call.
  const Decision& loop(LoopId id, std::span<const Access> accesses);
  /// Whatever leaves the loops for the program: it is kept, or replaced by what was kept. False when the place has no
  /// such answer: the program is another one.
  bool answer(std::span<std::byte> value);
  /// The program can begin here with `payload` alone, which says where "here" is, such as its time step; what was
  /// before need not be replayed. In a restart: what the checkpoint has, once, and the program goes there.
  std::optional<std::vector<std::byte>> fast_forward(std::span<const std::byte> payload);

  /// A checkpoint begins before the next loop, or before the next one of `at`. Not while one is open.
  void begin_checkpoint(std::optional<LoopId> at = std::nullopt);
  bool wants_checkpoint() const { return wanted_; }
  /// With the next loop the checkpoint that is open, or opens there, takes all that is not decided, and closes.
  void end_region() { ends_ = true; }
  /// After Decision::opens; what is saved is whole after Decision::closes.
  const Place& place() const { return place_; }
  /// What loops have written of it since it was declared, or since the initial phase.
  const BoxSet& written(SetId set) const { return written_[set]; }
  /// Of that what the checkpoint that the run went on from did not have, and no loop has written since.
  const BoxSet& missing(SetId set) const { return missing_[set]; }
  std::uint64_t loops() const { return sequence_.size(); }

 private:
  void replay(LoopId id);
  void arrive(LoopId id);
  void open(LoopId id);
  bool is_within(std::span<const Access> accesses);
  bool is_there(std::span<const Access> accesses);
  void decide(std::span<const Access> accesses);
  void save(SetId set, const Box& box);
  bool refuse(std::string why);
  std::string difference_in_sets() const;

  Phase phase_;
  std::vector<DataSet> sets_;
  std::vector<BoxSet> written_;
  std::vector<BoxSet> undecided_;
  std::vector<BoxSet> missing_;  ///< since a restart: the checkpoint did not have it, and no loop has written it yet
  LoopSequence sequence_;
  Answers answers_;
  std::optional<std::vector<std::byte>> payload_;
  bool wanted_ = false, ends_ = false;
  std::optional<LoopId> at_;
  Place place_;  // that was opened last, or that a restart goes to
  LoopReplay expected_;
  Decision decision_;
};

}  // namespace perdure::track
