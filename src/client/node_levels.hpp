#pragma once
// Keeps which attempts are at level `node` on all nodes. Every group brings versions there at its own pace, and may
// skip one if it is late. The result is the intersection over all groups. All ranks hear the same, so all have the same
// list of attempts, and a set of them is one word. Pure. (docs/adr/0026)
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace perdure::client {

/// News about one name for the engines.
struct NodeLevelNews {
  std::uint64_t attempt_ns = 0;     ///< older attempts are superseded; 0: none is
  std::vector<std::uint64_t> keep;  ///< except these
  friend bool operator==(const NodeLevelNews&, const NodeLevelNews&) = default;
};

class NodeLevels {
 public:
  /// Forgets everything: new groups have no attempts yet.
  void clear() { names_.clear(); }
  /// Notes that the application goes on from this attempt: it begins now, or was restored.
  void current(const std::string& name, std::uint64_t attempt_ns);

  /// Gives the bits of the list's attempts that are among these. list_hash() tells the list from others, which give
  /// their bits other meanings.
  std::uint64_t bits(const std::string& name, const std::vector<std::uint64_t>& attempts_ns) const;
  std::uint32_t list_hash(const std::string& name) const;
  /// Notes that the engines of all nodes promise the attempts of these bits.
  std::optional<NodeLevelNews> promised(const std::string& name, std::uint64_t bits);
  /// Notes that they promise this attempt, whatever else.
  std::optional<NodeLevelNews> promised_one(const std::string& name, std::uint64_t attempt_ns);

  /// Tells whether all of them keep it until they are told of one that supersedes it.
  bool everywhere(const std::string& name, std::uint64_t attempt_ns) const;

 private:
  struct OfName {
    std::vector<std::uint64_t>
        list;  // attempts in the order in which the application went through them: the last is the current one
    std::set<std::uint64_t> everywhere;  // attempts that all nodes promise
    std::uint64_t newest = 0;            // the last of these in the list: all before it are superseded
    std::uint64_t wanted = 0;            // no group may skip it, so that there is always one that all will have
    NodeLevelNews told;
    std::ptrdiff_t place(std::uint64_t attempt_ns) const;  // index in the list; -1: not there
    void trim();
    void choose_wanted();
    void supersede(std::uint64_t by_ns);
    NodeLevelNews news() const;
    std::optional<NodeLevelNews> untold();
  };
  std::map<std::string, OfName> names_;
};

}  // namespace perdure::client
