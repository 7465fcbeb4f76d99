#pragma once
// Decides which versions are not brought to the store because retention would remove them there, and how waits for them
// are answered. Only the event loop uses it; callers hold the ledger (docs/adr/0050).
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/ledger/node_state.hpp"
#include "plan/skipping.hpp"

namespace perdure::engine {

class SkippedVersions {
 public:
  /// Exempts the versions that are in the ledger now. An earlier engine left them, perhaps for a launch of another
  /// program.
  void leave_recovered(const NodeState& ledger);
  /// A newer version of this name was committed. Drops the versions that need not be stored, and returns them.
  std::vector<segment::VersionId> skip(NodeState& ledger, const std::string& name);

  // ---- clients that wait for a version to be stored
  /// The version is not skipped until the client is answered, or gone.
  void awaited(ClientId client, const segment::VersionId& id) { awaited_.insert_or_assign(client, id); }
  void answered(ClientId client) { awaited_.erase(client); }

  struct Outcome {
    enum class State {
      unknown,  ///< it was not skipped, as far as is remembered
      coming,   ///< a newer one of its branch is on its way to the store
      stored,   ///< a newer one of its branch is in the store
      lost      ///< no newer one of its branch is on its way any more
    } state = State::unknown;
    std::uint64_t newer = 0;           ///< stored: the newest
    std::optional<base::Error> error;  ///< lost: the cause, if it is known
  };
  /// Returns the outcome of a version of which nothing is held. The start of its attempt identifies the attempt. 0: any
  /// attempt, unless a newer version belongs to another branch.
  Outcome outcome(const NodeState& ledger, const segment::VersionId& id) const;
  /// True once: then report that a newer version is stored instead.
  bool tell_once(const segment::VersionId& id);
  static constexpr std::size_t kMostRemembered = 1024;

 private:
  bool may_go(NodeState& ledger, const catalog::HeldVersion& held, const Version& version) const;
  const segment::VersionId* find(const segment::VersionId& id) const;

  std::uint64_t recovered_ = 0;  // the highest commit order of a recovered version
  std::map<ClientId, segment::VersionId> awaited_;
  struct Told {
    bool yes = false;
  };
  Remembered<Told> skipped_{kMostRemembered};
};

}  // namespace perdure::engine
