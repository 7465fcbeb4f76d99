#pragma once
// Which version is at which step of the pipeline. Plain state, not thread-safe.
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "engine/pipeline/step.hpp"

namespace perdure::engine {

/// Versions that are not through, from the commit until the last step. They go from step to step in order: past one
/// that gives a level when they have reached it, past one that was added when that is done with them. A version that
/// waits for an added step keeps no other version from any step.
class Passages {
 public:
  struct Place {
    Level needs = Level::process;
    std::optional<Level> gives = {};
    bool added = false;  ///< takes one version at a time: see next()
    bool off = false;    ///< is not there: versions go past
  };
  /// One of the engine's own steps is to be told of a version.
  struct Notification {
    std::size_t step = 0;
    StepVersion version;
  };
  using Notifications = std::vector<Notification>;

  /// `most_waiting` versions at most wait for an added step; then the oldest goes past it.
  Passages(std::vector<Place> places, std::size_t most_waiting);

  /// It was committed now. Nothing when it is known.
  void enter(const StepVersion& version);
  /// An earlier engine committed it: added steps that take versions of its level have had it, or never will.
  void resume(const StepVersion& version);
  /// It has reached this level. It stays where it is, and gone() does not concern it, if that is level store.
  void note(const segment::VersionId& id, Level level);
  /// It goes as far as it can. One that is not known was through already: only the engine's own steps are told again.
  Notifications reached(const segment::VersionId& id, Level level);
  /// An added step's next version, under way from now on.
  std::optional<StepVersion> next(std::size_t step);
  /// That version is done there.
  Notifications done(std::size_t step, const segment::VersionId& id);
  /// Versions that wait for a level, and what they have of it.
  std::vector<StepVersion> on_their_way() const;
  bool knows(const segment::VersionId& id) const;
  /// It will not reach the level it waits for.
  void gone(const segment::VersionId& id);

  std::size_t waiting(std::size_t step) const;
  bool running(std::size_t step) const;
  std::uint64_t left_out(std::size_t step) const { return left_out_[step]; }
  /// No added step has anything to do.
  bool idle() const;

 private:
  struct Passage {
    StepVersion version;
    std::size_t at = 0;
    bool running = false;   ///< there
    bool own_only = false;  ///< added steps are not told
  };
  Passage* find(const segment::VersionId& id);
  bool waits_for(const Passage& passage, std::size_t step) const;
  bool passes(Passage& passage, Notifications& told) const;
  Notifications proceed();
  bool leave_one_out(std::size_t step);

  std::vector<Place> places_;
  std::size_t most_waiting_;
  std::list<Passage> passages_;  // in the order in which they came
  std::vector<std::uint64_t> left_out_;
};

}  // namespace perdure::engine
