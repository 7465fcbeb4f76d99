#pragma once
// What a rank knows of the versions that exist, so that none is written twice and newer attempts count as newer.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/lineage.hpp"
#include "store/store.hpp"

namespace perdure::client {

/// Forks of a name that this launch made and the store does not say yet, at rank 0.
struct UnrecordedForks {
  std::vector<plan::Fork> forks = {};
  std::uint64_t tried_ns = 0;  ///< to record them, by the monotonic clock; 0: not yet since the last one was added
  bool hopeless = false;       ///< the store takes none: it is not tried again until one is added
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
  /// The store was there when this job looked: if it is not there later, it has vanished, and is not one that nobody
  /// has written to yet.
  void saw_store() { store_seen_ = true; }
  bool store_seen() const { return store_seen_; }

  /// What engines hold, seen anew: forgets which versions were whole in tiers.
  void look_again() { whole_in_tiers_.clear(); }
  void saw_attempt(const segment::VersionId& id);
  void whole_in_tiers(const segment::VersionId& id);
  bool was_whole_in_tiers(const segment::VersionId& id) const;
  /// When these attempts began, by name.
  std::map<std::string, std::set<std::uint64_t>> whole_in_tiers() const;
  /// All ranks had agreed on it once, whatever is left of it.
  void was_complete(const segment::VersionId& id);
  /// Of what engines held and this launch wrote of a name, the newest such attempt of each branch.
  std::vector<segment::VersionId> complete(const std::string& name) const;

  /// All that is known of it, older ones, too: what engines held whole and what this launch wrote.
  std::vector<plan::LineVersion> seen(const std::string& name) const;

  /// Once for every name, until the program goes back: what the tiers and the store have of this line of it; with
  /// `replace` the store's versions do not count.
  void observe(const std::string& name, store::Store& store, bool replace, const plan::Line& line);
  /// PERDURE_EXISTS for one that was observed or written.
  base::Status check_free(const std::string& name, std::uint64_t version) const;
  /// The time of a new attempt at a version of this name; from now on the newest one known.
  std::uint64_t next_attempt(const std::string& name, std::uint64_t clock_ns);
  /// No attempt at this name is known that began later.
  bool is_newest(const std::string& name, std::uint64_t created_ns) const;
  void written(const segment::VersionId& id);
  /// The program goes on from this one: on which branch it writes is to be decided anew, and what is taken there.
  void went_back(const segment::VersionId& id);
  void retired(const std::string& name, std::uint64_t version, const plan::Line& line);

  /// The branch that was decided on; nothing: none since the program began, or went back.
  std::optional<plan::Branch> written_branch(const std::string& name) const;
  void writes_on(const std::string& name, plan::Branch branch) { branches_[name] = branch; }
  /// They stay until they are recorded, wherever the program goes back to.
  UnrecordedForks& unrecorded(const std::string& name) { return unrecorded_[name]; }

  /// The program's state is that of this attempt: who says its number means no earlier one, such as a node that was
  /// away may still hold. Of the last numbers only.
  void went_on_from(const segment::VersionId& id);
  /// When the attempt that is meant by the number began; 0: none in particular.
  std::uint64_t meant(const std::string& name, std::uint64_t version) const;
  /// That attempt, if it is the last of its name that the program went on from.
  std::optional<segment::VersionId> last(const std::string& name, std::uint64_t version) const;
  /// Whatever its number is. Nothing: of this name no version was written or restored in this launch.
  std::optional<segment::VersionId> last(const std::string& name) const;
  /// Of which this rank saw or wrote any attempt, or went on from one.
  std::set<std::string> names() const;

 private:
  using Versions = std::map<std::uint64_t, std::uint64_t>;  // and when their newest attempts began
  using Attempts = std::set<segment::VersionId>;
  static constexpr std::size_t kMostMeant = 64;
  static void drop_left_branches(Versions& versions);
  static void drop_oldest(Versions& versions, std::uint64_t kept);

  bool store_seen_ = false;
  std::map<std::string, Versions> taken_;                // versions that exist, by name
  std::map<std::string, plan::Branch> branches_;         // that it writes now, by name
  std::map<std::string, UnrecordedForks> unrecorded_;    // by name
  std::map<std::string, std::uint64_t> newest_attempt_;  // the latest time of any attempt that is known, by name
  std::map<std::string, Versions> meant_;                // by name
  std::map<std::string, segment::VersionId> last_;       // of these, by name
  std::map<std::string, Attempts> whole_in_tiers_;       // when the engines were attached, by name
  template <class T>
  using OfBranches = std::map<std::string, std::map<plan::Branch, T>>;  // by name
  OfBranches<segment::VersionId> complete_;                             // the newest
  OfBranches<Versions> written_;                                        // in this launch
};

}  // namespace perdure::client
