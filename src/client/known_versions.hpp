#pragma once
// A rank keeps here the versions that it knows to exist, so that none is written twice and newer attempts count as
// newer.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/lineage.hpp"
#include "store/store.hpp"

namespace perdure::client {

/// Forks of a name that this launch made and the store has not recorded yet, at rank 0.
struct UnrecordedForks {
  std::vector<plan::Fork> forks = {};
  std::uint64_t tried_ns =
      0;                  ///< last try to record them, by the monotonic clock; 0: none since the last one was added
  bool hopeless = false;  ///< the store takes none: it is not tried again until one is added
  static constexpr std::uint64_t kAgain_ns = 5'000'000'000;
  void add(const plan::Fork& fork) {
    forks.push_back(fork);
    tried_ns = 0;
    hopeless = false;
  }
  bool due(std::uint64_t now_ns) const { return !forks.empty() && !hopeless && now_ns - tried_ns >= kAgain_ns; }
};

class KnownVersions {
 public:
  /// Notes that the store was there. If it is not there later, it has vanished, and is not one that nobody has written
  /// to yet.
  void saw_store() { store_seen_ = true; }
  bool store_seen() const { return store_seen_; }

  /// Forgets which versions were complete in tiers, as the engines' holdings are looked at again.
  void look_again() { whole_in_tiers_.clear(); }
  void saw_attempt(const segment::VersionId& id);
  void whole_in_tiers(const segment::VersionId& id);
  bool was_whole_in_tiers(const segment::VersionId& id) const;
  /// Gives the times when these attempts began, by name.
  std::map<std::string, std::set<std::uint64_t>> whole_in_tiers() const;
  /// Notes that all ranks had agreed on it once, whatever is left of it.
  void was_complete(const segment::VersionId& id);
  /// Gives the newest such attempt of each branch of a name, among those that engines held and this launch wrote.
  std::vector<segment::VersionId> complete(const std::string& name) const;

  /// Gives all known versions of it, older ones, too: those that engines held completely and those that this launch
  /// wrote.
  std::vector<plan::LineVersion> seen(const std::string& name) const;

  /// Notes the versions that the tiers and the store have on this line of a name. Called once for every name, until the
  /// program goes back. With `replace` the store's versions do not count.
  void observe(const std::string& name, store::Store& store, bool replace, const plan::Line& line);
  /// PERDURE_EXISTS for a version that was observed or written.
  base::Status check_free(const std::string& name, std::uint64_t version) const;
  /// Gives the time of a new attempt at a version of this name, which is from now on the newest one known.
  std::uint64_t next_attempt(const std::string& name, std::uint64_t clock_ns);
  /// Tells whether no known attempt at this name began later.
  bool is_newest(const std::string& name, std::uint64_t created_ns) const;
  void written(const segment::VersionId& id);
  /// Notes that the program goes on from this attempt. Its branch, and the taken numbers there, are to be decided anew.
  void went_back(const segment::VersionId& id);
  void retired(const std::string& name, std::uint64_t version, const plan::Line& line);

  /// The branch that was decided on; nothing: none since the program began, or went back.
  std::optional<plan::Branch> written_branch(const std::string& name) const;
  void writes_on(const std::string& name, plan::Branch branch) { branches_[name] = branch; }
  /// Unrecorded forks stay until they are recorded, wherever the program goes back to.
  UnrecordedForks& unrecorded(const std::string& name) { return unrecorded_[name]; }

  /// Notes that the program's state is that of this attempt. Its number then means no earlier attempt, such as a node
  /// that was away may still hold. Only the last numbers are kept.
  void went_on_from(const segment::VersionId& id);
  /// Gives the time when the attempt that the number means began; 0: none in particular.
  std::uint64_t meant(const std::string& name, std::uint64_t version) const;
  /// Gives that attempt, if it is the last of its name that the program went on from.
  std::optional<segment::VersionId> last(const std::string& name, std::uint64_t version) const;
  /// Gives the last attempt, whatever its number is. Empty: no version of this name was written or restored in this
  /// launch.
  std::optional<segment::VersionId> last(const std::string& name) const;
  /// Gives the names of which this rank saw or wrote any attempt, or went on from one.
  std::set<std::string> names() const;

 private:
  using Versions = std::map<std::uint64_t, std::uint64_t>;  // numbers, and when their newest attempts began
  using Attempts = std::set<segment::VersionId>;
  static constexpr std::size_t kMostMeant = 64;
  static void drop_left_branches(Versions& versions);
  static void drop_oldest(Versions& versions, std::uint64_t kept);

  bool store_seen_ = false;
  std::map<std::string, Versions> taken_;                // versions that exist, by name
  std::map<std::string, plan::Branch> branches_;         // the branch that it writes now, by name
  std::map<std::string, UnrecordedForks> unrecorded_;    // by name
  std::map<std::string, std::uint64_t> newest_attempt_;  // the latest time of any attempt that is known, by name
  std::map<std::string, Versions> meant_;                // by name
  std::map<std::string, segment::VersionId> last_;       // the last of these, by name
  std::map<std::string, Attempts> whole_in_tiers_;       // times of attempts when the engines were attached, by name
  template <class T>
  using OfBranches = std::map<std::string, std::map<plan::Branch, T>>;  // by name
  OfBranches<segment::VersionId> complete_;                             // the newest complete attempt of each branch
  OfBranches<Versions> written_;                                        // versions written in this launch
};

}  // namespace perdure::client
