#pragma once
// The background as a pipeline: versions are committed, reach levels, and go from step to step. The engine's own steps
// work by threads of their own and are told; each step that was added has a thread here.
#include <condition_variable>
#include <functional>
#include <set>

#include "engine/ledger/ledger.hpp"
#include "engine/pipeline/passages.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

/// What people see of a step.
struct StepStatus {
  enum class State { off, waiting, running, failed };
  State state = State::waiting;
  std::uint64_t waiting = 0;   ///< versions
  std::uint64_t done = 0;      ///< versions, since the engine began
  std::uint64_t left_out = 0;  ///< versions, because too many waited
  std::string reason = {};     ///< failed: why
};
const char* state_name(StepStatus::State state);

/// One of the engine's own steps. Called without a lock, by any thread; must not wait.
class OwnStep {
 public:
  virtual ~OwnStep() = default;
  /// A version has come to this step: committed, for one that gives a level; else as far as the step needs.
  virtual void take(const StepVersion& version) = 0;
  /// A version's part of this node is in the store.
  virtual void stored(const segment::VersionId&) {}
  virtual StepStatus status() const = 0;
};

class Pipeline {
 public:
  struct Part {
    StepRow row;
    OwnStep* own = nullptr;            ///< outlives the pipeline
    std::unique_ptr<Step> added = {};  ///< where it is not one of the engine's own
    bool off = false;                  ///< of the engine's own: there is nothing that it could do
  };
  struct Shown {
    const StepRow& row;
    StepStatus status;
  };

  /// `changed`: an added step is done with a version.
  Pipeline(Ledger& ledger, Reports& reports, std::vector<Part> parts, std::function<void()> changed);
  ~Pipeline() { stop(); }

  /// What an earlier engine of this job left in the ledger. To be called before anything is flushed.
  void resume();
  /// With the ledger held, in which it was committed right now, before anybody can have flushed it.
  void admit(const NodeState& state, const segment::VersionId& id, bool recovered);
  /// With the ledger held, in which the last segment of this node was noted as stored right now, before anybody can
  /// have dropped the version. stored() follows.
  void note_stored(const segment::VersionId& id);
  /// Then without.
  void committed(const segment::VersionId& id, bool recovered);
  /// A flush of it succeeded. Steps that need level store take it if that was all of it.
  void stored(const segment::VersionId& id);
  /// Versions may have reached level node, or be gone.
  void look();
  /// No added step has anything to do.
  bool idle() const;
  std::vector<Shown> show() const;
  const base::Status& started() const { return started_; }  ///< the threads of added steps
  void stop();  ///< the steps under way are told; returns when their threads have ended

 private:
  static constexpr std::size_t kMostWaiting = 64;
  /// Of an added step.
  struct Outcomes {
    std::uint64_t done = 0;
    std::string reason;              // of the last version, if that failed
    std::set<base::ErrorCode> told;  // since a version succeeded
    std::uint64_t left_out_told = 0;
  };
  struct State {
    State(std::vector<Passages::Place> places, std::size_t steps)
        : passages(std::move(places), kMostWaiting), outcomes(steps) {}
    Passages passages;
    std::vector<Outcomes> outcomes;  // by step
    unsigned telling = 0;            // threads that tell the engine's own steps of what passed
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
  mutable base::Guarded<State> state_;  // taken after the ledger; only reports are made with it held
  std::condition_variable wake_;
  std::atomic<bool> stopping_ = false;  // what steps are told; set with the state held
  base::Status started_;
  os::Threads threads_;
};

}  // namespace perdure::engine
