#pragma once
// What a rank knows of the versions that exist, so that none is written twice and newer attempts count as newer.
#include <map>
#include <optional>
#include <set>
#include <string>

#include "store/store.hpp"

namespace perdure::client {

class KnownVersions {
 public:
  /// The store was there when this job looked: if it is not there later, it has vanished, and is not one that nobody
  /// has written to yet.
  void saw_store() { store_seen_ = true; }
  bool store_seen() const { return store_seen_; }

  /// What engines hold, seen anew: forgets which versions were whole in tiers.
  void look_again() { whole_in_tiers_.clear(); }
  void saw_attempt(const segment::VersionId& id);
  void whole_in_tiers(const segment::VersionId& id) { whole_in_tiers_[id.name][id.version] = id.attempt.created_ns; }
  bool was_whole_in_tiers(const segment::VersionId& id) const;
  /// When these attempts began, by name.
  std::map<std::string, std::set<std::uint64_t>> whole_in_tiers() const;

  /// Once for every name: what the tiers and the store have of it; with `replace` the store's versions do not count.
  void observe(const std::string& name, store::Store& store, bool replace);
  /// PERDURE_EXISTS for one that was observed or written.
  base::Status check_free(const std::string& name, std::uint64_t version) const;
  /// The time of a new attempt at a version of this name; from now on the newest one known.
  std::uint64_t next_attempt(const std::string& name, std::uint64_t clock_ns);
  /// No attempt at this name is known that began later.
  bool is_newest(const std::string& name, std::uint64_t created_ns) const;
  void written(const segment::VersionId& id) { taken_[id.name][id.version] = id.attempt.created_ns; }
  /// The program goes on from this one: what was begun later is of a branch that it left on purpose, or because nothing
  /// newer could be restored, and its numbers are free, as all higher ones.
  void went_back(const segment::VersionId& id);
  void retired(const std::string& name, std::uint64_t version);

  /// The program's state is that of this attempt: who says its number means no earlier one, such as a node that was
  /// away may still hold. Of the last numbers only.
  void went_on_from(const segment::VersionId& id);
  /// When the attempt that is meant by the number began; 0: none in particular.
  std::uint64_t meant(const std::string& name, std::uint64_t version) const;
  /// That attempt, if it is the last of its name that the program went on from.
  std::optional<segment::VersionId> last(const std::string& name, std::uint64_t version) const;
  /// Of which this rank saw or wrote any attempt, or went on from one.
  std::set<std::string> names() const;
  /// A version of this name was written or restored in this launch.
  bool used(const std::string& name) const { return meant_.contains(name); }

 private:
  using Versions = std::map<std::uint64_t, std::uint64_t>;  // and when their newest attempts began
  static constexpr std::size_t kMostMeant = 64;
  struct Version {
    std::uint64_t number = 0, created_ns = 0;
  };
  static void drop_left_branches(Versions& versions);
  static bool is_left(const Version& from, std::uint64_t version, std::uint64_t created_ns);

  bool store_seen_ = false;
  std::map<std::string, Versions> taken_;                // versions that exist, by name
  std::map<std::string, Version> left_after_;            // what the program went on from, by name
  std::map<std::string, std::uint64_t> newest_attempt_;  // the latest time of any attempt that is known, by name
  std::map<std::string, Versions> meant_;                // by name
  std::map<std::string, segment::VersionId> last_;       // of these, by name
  std::map<std::string, Versions> whole_in_tiers_;       // when the engines were attached, by name
};

}  // namespace perdure::client
