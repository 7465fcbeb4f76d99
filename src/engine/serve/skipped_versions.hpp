#pragma once
// Versions that are not brought to the store, because retention would remove them there: which, and what is said to
// whoever waits for one of them. The event loop's own; the ledger is held by who calls. (docs/adr/0050)
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/ledger/node_state.hpp"
#include "plan/skipping.hpp"

namespace perdure::engine {

class SkippedVersions {
 public:
  /// What is in the ledger now an earlier engine left there, for a launch of another program, maybe: that is not
  /// skipped.
  void leave_recovered(const NodeState& ledger);
  /// A newer version of this name was committed: those that need not come to the store are given up. Which.
  std::vector<segment::VersionId> skip(NodeState& ledger, const std::string& name);

  // ---- who waits for a version to be stored
  /// Until the client is answered, or gone, the version is not skipped.
  void awaited(ClientId client, const segment::VersionId& id) { awaited_.insert_or_assign(client, id); }
  void answered(ClientId client) { awaited_.erase(client); }

  struct Outcome {
    enum class State {
      unknown,  ///< it was not skipped, as far as is remembered
      coming,   ///< something newer of its branch is on its way to the store
      stored,   ///< something newer of its branch is there
      lost      ///< nothing newer of its branch is on its way any more
    } state = State::unknown;
    std::uint64_t newer = 0;           ///< stored: the newest
    std::optional<base::Error> error;  ///< lost: why, where that is known
  };
  /// Of a version of which nothing is held. Its attempt is known by the time when it began; 0: any, unless something
  /// newer is of another branch.
  Outcome outcome(const NodeState& ledger, const segment::VersionId& id) const;
  /// That something newer is there in its stead is to be said: true once.
  bool tell_once(const segment::VersionId& id);
  static constexpr std::size_t kMostRemembered = 1024;

 private:
  bool may_go(NodeState& ledger, const catalog::HeldVersion& held, const Version& version) const;
  const segment::VersionId* find(const segment::VersionId& id) const;

  std::uint64_t recovered_ = 0;  // the highest number in the order of commits that was recovered
  std::map<ClientId, segment::VersionId> awaited_;
  struct Told {
    bool yes = false;
  };
  Remembered<Told> skipped_{kMostRemembered};
};

}  // namespace perdure::engine
