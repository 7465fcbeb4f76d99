#pragma once
// Tracks which version is at which step of the pipeline. Plain state, not thread-safe.
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "engine/pipeline/step.hpp"

namespace perdure::engine {

/// Versions in the pipeline, from the commit until the last step. They go from step to step in order. They pass a step
/// that gives a level when they have reached that level, and an added step when it is done with them. A version that
/// waits for an added step holds up no other version.
class Passages {
 public:
  struct Place {
    Level needs = Level::process;
    std::optional<Level> gives = {};
    bool added = false;  ///< takes one version at a time: see next()
    bool off = false;    ///< the step is disabled, and versions pass it
  };
  /// Tells one of the engine's own steps of a version.
  struct Notification {
    std::size_t step = 0;
    StepVersion version;
  };
  using Notifications = std::vector<Notification>;

  /// At most `most_waiting` versions wait for an added step. If there are more, the oldest passes it.
  Passages(std::vector<Place> places, std::size_t most_waiting);

  /// The version was committed now. No effect if it is known.
  void enter(const StepVersion& version);
  /// An earlier engine committed the version. Added steps that take versions of its level had it then, or never will.
  void resume(const StepVersion& version);
  /// The version has reached this level. It stays at its step. If the level is store, gone() no longer concerns it.
  void note(const segment::VersionId& id, Level level);
  /// The version advances as far as it can. An unknown one was through already, so only the engine's own steps are told
  /// again.
  Notifications reached(const segment::VersionId& id, Level level);
  /// Returns an added step's next version, which is running from now on.
  std::optional<StepVersion> next(std::size_t step);
  /// The step is done with that version.
  Notifications done(std::size_t step, const segment::VersionId& id);
  /// Returns the versions that wait for a level, with the level that each has.
  std::vector<StepVersion> on_their_way() const;
  bool knows(const segment::VersionId& id) const;
  /// The version will not reach the level it waits for.
  void gone(const segment::VersionId& id);

  std::size_t waiting(std::size_t step) const;
  bool running(std::size_t step) const;
  std::uint64_t left_out(std::size_t step) const { return left_out_[step]; }
  /// True if no added step has anything to do.
  bool idle() const;

 private:
  struct Passage {
    StepVersion version;
    std::size_t at = 0;
    bool running = false;   ///< an added step works on it
    bool own_only = false;  ///< added steps are not told
  };
  Passage* find(const segment::VersionId& id);
  bool waits_for(const Passage& passage, std::size_t step) const;
  bool passes(Passage& passage, Notifications& told) const;
  Notifications proceed();
  bool leave_one_out(std::size_t step);

  std::vector<Place> places_;
  std::size_t most_waiting_;
  std::list<Passage> passages_;  // in order of arrival
  std::vector<std::uint64_t> left_out_;
};

}  // namespace perdure::engine
