#pragma once
// Runs the background work as a pipeline: versions are committed, reach levels, and go from step to step. The engine's
// own steps have their own threads and are notified. Each added step has a thread here.
#include <condition_variable>
#include <functional>
#include <set>

#include "engine/ledger/ledger.hpp"
#include "engine/pipeline/passages.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

/// The state of a step as people see it.
struct StepStatus {
  enum class State { off, waiting, running, failed };
  State state = State::waiting;
  std::uint64_t waiting = 0;   ///< versions
  std::uint64_t done = 0;      ///< versions, since the engine began
  std::uint64_t left_out = 0;  ///< versions that passed the step because too many waited
  std::string reason = {};     ///< if failed, the cause
};
const char* state_name(StepStatus::State state);

/// One of the engine's own steps. Any thread calls it, without a lock. It must not wait.
class OwnStep {
 public:
  virtual ~OwnStep() = default;
  /// A version has come to this step. For a step that gives a level it was committed; for others it has reached the
  /// level that the step needs.
  virtual void take(const StepVersion& version) = 0;
  /// This node's part of a version is in the store.
  virtual void stored(const segment::VersionId&) {}
  virtual StepStatus status() const = 0;
};

class Pipeline {
 public:
  struct Part {
    StepRow row;
    OwnStep* own = nullptr;            ///< outlives the pipeline
    std::unique_ptr<Step> added = {};  ///< nullptr for one of the engine's own
    bool off = false;                  ///< one of the engine's own that has nothing it could do
  };
  struct Shown {
    const StepRow& row;
    StepStatus status;
  };

  /// `changed` is called when an added step is done with a version.
  Pipeline(Ledger& ledger, Reports& reports, std::vector<Part> parts, std::function<void()> changed);
  ~Pipeline() { stop(); }

  /// Takes up what an earlier engine of this job left in the ledger. Call it before anything is flushed.
  void resume();
  /// Call it with the ledger still held after the commit, before anybody can have flushed the version.
  void admit(const NodeState& state, const segment::VersionId& id, bool recovered);
  /// Call it with the ledger still held after this node's last segment was noted as stored, before anybody can have
  /// dropped the version. A call of stored() follows.
  void note_stored(const segment::VersionId& id);
  /// Call it after admit(), without the ledger.
  void committed(const segment::VersionId& id, bool recovered);
  /// A flush of the version succeeded. Steps that need level store take it if all of it is stored.
  void stored(const segment::VersionId& id);
  /// Versions may have reached level node, or be gone.
  void look();
  /// True if no added step has anything to do.
  bool idle() const;
  std::vector<Shown> show() const;
  const base::Status& started() const { return started_; }  ///< the threads of added steps
  void stop();  ///< tells running steps to stop; returns when their threads have ended

 private:
  static constexpr std::size_t kMostWaiting = 64;
  /// The outcomes of an added step.
  struct Outcomes {
    std::uint64_t done = 0;
    std::string reason;              // of the last version, if it failed
    std::set<base::ErrorCode> told;  // reported since a version succeeded
    std::uint64_t left_out_told = 0;
  };
  struct State {
    State(std::vector<Passages::Place> places, std::size_t steps)
        : passages(std::move(places), kMostWaiting), outcomes(steps) {}
    Passages passages;
    std::vector<Outcomes> outcomes;  // by step
    unsigned telling = 0;            // threads that are notifying the engine's own steps
  };
  static std::vector<Passages::Place> places_of(const std::vector<Part>& parts);
  template <class Change>
  void pass(Change change);
  void run(std::size_t step);
  void ended(std::size_t step, const segment::VersionId& id, const base::Status& status);
  void report_left_out();

  Ledger& ledger_;
  Reports& reports_;
  const std::vector<Part> parts_;
  std::function<void()> changed_;
  mutable base::Guarded<State> state_;  // taken after the ledger; with it held only reports are made
  std::condition_variable wake_;
  std::atomic<bool> stopping_ = false;  // passed to steps; set with the state held
  base::Status started_;
  os::Threads threads_;
};

}  // namespace perdure::engine
