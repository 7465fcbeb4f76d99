#pragma once
// Checkpoints of a mesh that nobody had to write: which elements are needed, and where, follows from what loops say
// they read and write; a restart skips loops up to there. (Automatic checkpointing of structured-mesh codes, Algorithms
// 1 and 2 and section 5.)
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mesh/checkpoint_store.hpp"
#include "mesh/follower.hpp"
#include "mesh/mesh.hpp"
#include "perdure/perdure.hpp"
#include "track/places.hpp"
#include "track/report.hpp"
#include "track/tracker.hpp"

namespace perdure::mesh {

struct Policy {
  std::string name = "mesh";      ///< of the checkpoints
  double every_s = 0;             ///< a checkpoint so long after the one before; 0: not by time
  std::uint64_t every_loops = 0;  ///< or after so many loops; 0: not by loops
  std::string before;             ///< only before loops of this name; "": where it is smallest
  std::vector<std::string> only;  ///< data sets that are saved as a whole, and no others; empty: what is needed
  std::uint64_t learns = 2048;    ///< so many loops of the run say where a checkpoint is smallest
  std::uint64_t decides = 20000;  ///< of what so many loops behind a place do not touch all is saved
  std::string report;             ///< a file that says where a checkpoint is smallest, for `perdure track`; "": none
  bool foresees = true;           ///< saves at the place what loops behind it will need, as learnt, and watches them
};

/// What a checkpoint was.
struct Taken {
  std::string before;             ///< the loop
  std::uint64_t loop = 0;         ///< its number
  std::uint64_t bytes = 0;        ///< of all ranks
  std::uint64_t state_bytes = 0;  ///< all data sets with their halos, of all ranks
  double blocking_s = 0;          ///< this rank did not compute
  bool foreseen = false;          ///< it was written at once; else what loops read was put aside until all was known
};

class Protection final : public Follower {
 public:
  using Tell = std::function<void(const std::string&)>;
  /// `tell` gets what goes wrong with checkpoints while the run goes on.
  Protection(Mesh& mesh, std::unique_ptr<CheckpointStore> store, Policy policy, Tell tell);

  bool loop(track::LoopId id, std::string_view name, std::span<const track::Access> accesses, bool between) override;
  bool knows_answer() const override { return tracker_.phase() == track::Tracker::Phase::replay; }
  void answer(std::span<std::byte> values) override;
  bool wants_checkpoint() override;
  void checkpoint_is_wanted() override { wanted_ = true; }

  /// See Tracker::fast_forward().
  std::optional<std::vector<std::byte>> fast_forward(std::span<const std::byte> payload);
  /// Before a program takes anything out of its data sets at its end. Throws where it has not come to the place that it
  /// was to go on from: it is a shorter program, or other input, and what its data sets have is not what it computed.
  void ended() const;
  /// At the next place, whatever the policy says. All ranks say so.
  void trigger() { wanted_ = true; }
  bool restarted() const { return restarted_; }
  std::uint64_t goes_on_at() const { return goes_on_at_; }  ///< the loop that a restart goes to
  const std::vector<Taken>& taken() const { return taken_; }
  /// Of each loop what a checkpoint there would save, as learnt so far.
  track::Report report() const;

 private:
  using Clock = std::chrono::steady_clock;
  void resume();
  bool resume_from(const std::vector<std::byte>& bytes);
  std::vector<SavedBox> boxes_of(const std::vector<track::BoxSet>& saved) const;
  SavedBox saved_box(const Dataset& set, std::size_t number, const Box& box) const;
  track::LoopId place_of(track::LoopId id);
  void learn(track::LoopId place, std::string_view name, std::span<const track::Access> accesses, bool between);
  void tell_report() const;
  std::vector<track::BoxSet> written() const;
  bool is_possible(const track::Candidate& one) const;
  void learn_anew();
  void choose();
  const std::optional<std::vector<track::BoxSet>>& needed(const std::vector<track::BoxSet>& written);
  bool is_place(std::string_view name, bool between) const;
  [[noreturn]] void refused(const track::Decision& decision, std::string_view loop);
  void opens(std::string_view name);
  void put_aside(const track::Piece& piece, bool read);
  std::vector<SavedBox> boxes_aside(const std::vector<track::BoxSet>& saved);
  void closes();
  void give_up(const std::string& why);
  bool has_all() const;
  void write(const track::Place& place, std::span<const SavedBox> boxes);

  Mesh& mesh_;
  std::unique_ptr<CheckpointStore> store_;
  Policy policy_;
  Tell tell_;
  track::Tracker tracker_{true};
  bool restarted_ = false, wanted_ = false;
  std::uint64_t goes_on_at_ = 0;
  std::uint64_t ran_ = 0;  // loops, those that were skipped left out
  Clock::time_point wanted_at_ = Clock::now();

  // Where a checkpoint is smallest. A loop may be called several times in a row, as one that copies a field is: each
  // of these is a place of its own.
  track::LoopId last_ = 0;
  std::uint64_t in_a_row_ = 0;
  track::LoopId here_ = 0;
  track::Places learnt_;
  std::map<track::LoopId, std::string> names_;
  std::set<track::LoopId> never_;  // places between a loop and its answer
  bool none_ = false;              // of the loops comes again often enough
  bool believed_ = false;          // what was learnt, so that it may be foreseen
  std::optional<track::LoopId> chosen_;
  std::optional<std::vector<track::BoxSet>> needed_;  // there, of each data set, of which this had been written
  std::optional<std::vector<track::BoxSet>> needed_of_;
  std::uint64_t waits_ = 0;  // loops since a checkpoint is wanted

  // The one that is open.
  Taken now_;
  std::uint64_t region_loops_ = 0;
  Clock::duration blocking_{};
  std::vector<track::BoxSet> foreseen_;  // what was written of it at once
  bool surprised_ = false, failed_ = false;
  struct Aside {
    track::SetId set;
    Box box, own;
    std::size_t offset;
  };
  std::vector<Aside> aside_;
  std::vector<std::byte> memory_;
  std::vector<Taken> taken_;
};

/// From here on the mesh makes checkpoints by itself: after all that every run does first, before its time steps. Where
/// there is a checkpoint of `policy.name` the run goes on from there: loops up to it are skipped. The handle is the
/// mesh's alone, and outlives it. [collective] Throws std::runtime_error.
Protection& protect(Mesh& mesh, perdure::Handle& handle, const Policy& policy = {});

}  // namespace perdure::mesh
