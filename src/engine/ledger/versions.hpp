#pragma once
// All versions that this node has to do with, one record each, and the last of those that it gave up before they were
// stored.
#include <map>

#include "engine/ledger/remembered.hpp"
#include "engine/ledger/version.hpp"

namespace perdure::engine {

class Versions {
 public:
  /// nullptr: nobody has to do with it.
  Version* find(const segment::VersionId& id);
  const Version* find(const segment::VersionId& id) const;
  /// The record, which is made if there is none.
  Version& at(const segment::VersionId& id) { return all_[id]; }
  /// False when that cannot happen in the version's state, which then stays as it is.
  bool happens(const segment::VersionId& id, VersionEvent event);
  /// Nothing is known of it any more, but for slots that ranks were granted, and a flush, that have not ended, and
  /// redundancy.
  void drop(const segment::VersionId& id);
  /// Something of it ended: slots that ranks wrote, or a flush of its own.
  void tidy(const segment::VersionId& id);

  /// It was dropped before it reached the store, to make room. So many are remembered.
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
