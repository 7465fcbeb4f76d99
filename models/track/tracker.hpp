#pragma once
// Derives which elements a checkpoint needs from what loops read and write after it began, and leads a restart back to
// that loop. It implements Algorithms 1 and 2 of "Automatic checkpointing of structured-mesh codes" (OPS), by elements
// instead of data sets. Pure: the caller runs loops, moves data and stores places. Not thread-safe.
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

/// All values that the loops returned to the program, concatenated.
struct Answers {
  std::vector<std::byte> bytes;
  std::vector<std::uint32_t> lengths;
  friend bool operator==(const Answers&, const Answers&) = default;
};

/// Holds everything in a checkpoint except the saved elements.
struct Place {
  std::uint64_t loop = 0;                         ///< the checkpoint is before the loop of this number
  std::vector<LoopSequence::Stretch> before;      ///< the loops up to it
  LoopId id = 0;                                  ///< the id of that loop
  Answers answers;                                ///< of the loops up to it
  std::vector<DataSet> sets;                      ///< all declared sets
  std::vector<BoxSet> written;                    ///< for each set: the boxes that loops had written by then
  std::vector<BoxSet> saved;                      ///< for each set: the written boxes that the checkpoint holds
  std::optional<std::vector<std::byte>> payload;  ///< of the last fast_forward(); loops and answers count from there
};

/// Elements of a data set that are to be copied before the loop runs.
struct Piece {
  SetId set = 0;
  Box box;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// Tells the caller what to do with a loop; the members apply in this order.
struct Decision {
  /// Not empty: the program differs from the one that wrote the checkpoint, or needs elements that it lacks. The other
  /// members then do not matter.
  std::string refused;
  bool lacks = false;       ///< needed elements are missing: an older checkpoint may have them
  bool restore = false;     ///< fill in all elements that the checkpoint has, and go on
  bool opens = false;       ///< a checkpoint begins here: place()
  std::vector<Piece> save;  ///< the elements that belong to the open checkpoint
  std::size_t read = 0;     ///< the first `read` of `save` are read by this loop; later needs of the others are unknown
  bool closes = false;      ///< these elements complete the checkpoint
  std::string spoils;       ///< why the open checkpoint cannot begin at its place; give it up
  bool run = true;          ///< false: skip the loop
};

class Tracker {
 public:
  enum class Phase {
    initial,  ///< every run repeats what these loops write, also a restart
    running,
    region,  ///< a checkpoint is open
    again,   ///< a restart that runs the initial phase
    replay,  ///< a restart before its place: it skips loops and takes answers from the checkpoint
    refused,
  };
  /// An initial phase, if there is one, ends with initial_phase_done().
  explicit Tracker(bool initial_phase = false) : phase_(initial_phase ? Phase::initial : Phase::running) {}
  Phase phase() const { return phase_; }

  /// May be called at any time; the new set counts as unwritten. Error: defect_of(), or a set of that name exists.
  tl::expected<SetId, std::string> declare(DataSet set);
  const std::vector<DataSet>& sets() const { return sets_; }
  /// From here on the tracker records what loops write.
  void initial_phase_done();
  /// Call it before any loop: the run continues from that place. The tracker compares data sets and loops on the way.
  void resume(Place place);

  /// Call it before each loop. Refuses accesses outside of a data set. The reference is valid until the next call.
  const Decision& loop(LoopId id, std::span<const Access> accesses);
  /// Call it for each value that loops return to the program: records the value, or replaces it by the recorded one.
  /// Returns false if the place has no such answer, because the program is a different one.
  bool answer(std::span<std::byte> value);
  /// Declares that the program can start from here with only `payload`, which names this point, such as its time step.
  /// Earlier loops then need no replay. In a restart, returns the checkpoint's payload once, and the program jumps
  /// there.
  std::optional<std::vector<std::byte>> fast_forward(std::span<const std::byte> payload);

  /// Begins a checkpoint before the next loop, or before the next occurrence of `at`. Must not be called while one is
  /// open.
  void begin_checkpoint(std::optional<LoopId> at = std::nullopt);
  bool wants_checkpoint() const { return wanted_; }
  /// At the next loop the checkpoint that is open, or opens there, saves all undecided elements and closes.
  void end_region() { ends_ = true; }
  /// Valid after Decision::opens; its saved boxes are complete after Decision::closes.
  const Place& place() const { return place_; }
  /// Returns what loops wrote of the set since its declaration, or since the initial phase.
  const BoxSet& written(SetId set) const { return written_[set]; }
  /// Returns which of these elements the resumed checkpoint lacks and no loop has written since.
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
  std::vector<BoxSet> missing_;  ///< since a restart: not in the checkpoint, and not written by a loop yet
  LoopSequence sequence_;
  Answers answers_;
  std::optional<std::vector<std::byte>> payload_;
  bool wanted_ = false, ends_ = false;
  std::optional<LoopId> at_;
  Place place_;  // opened last, or the target of a restart
  LoopReplay expected_;
  Decision decision_;
};

}  // namespace perdure::track
