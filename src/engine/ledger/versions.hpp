#pragma once
// Keeps one record for each version that concerns this node, and remembers the last that it dropped before they were
// stored.
#include <map>

#include "engine/ledger/remembered.hpp"
#include "engine/ledger/version.hpp"

namespace perdure::engine {

class Versions {
 public:
  /// nullptr: there is no record of it.
  Version* find(const segment::VersionId& id);
  const Version* find(const segment::VersionId& id) const;
  /// Returns the record, which is made if there is none.
  Version& at(const segment::VersionId& id) { return all_[id]; }
  /// Applies the event. False if it cannot happen in the version's state, which then stays as it is.
  bool happens(const segment::VersionId& id, VersionEvent event);
  /// Forgets the version, except for granted slots and a flush that have not ended, and redundancy.
  void drop(const segment::VersionId& id);
  /// A part of it ended: slots that ranks wrote, or its own flush. Removes the record if nothing is left.
  void tidy(const segment::VersionId& id);

  /// The version was dropped before it reached the store, to make room. At most kLostRemembered are remembered.
  static constexpr std::size_t kLostRemembered = 256;
  void note_lost(const segment::VersionId& id) { lost_.note(id, {}); }
  bool lost(const segment::VersionId& id) const { return lost_.find(id) != nullptr; }

  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::map<segment::VersionId, Version> all_;
  struct Lost {};
  Remembered<Lost> lost_{kLostRemembered};
};

}  // namespace perdure::engine
