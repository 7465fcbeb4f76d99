#pragma once
// Which attempts are at level `node` on all nodes. Every group brings versions there at its own pace, and may skip one
// that it is too late for: what all groups have is the intersection of what each has. All ranks hear the same, so that
// all have the same list of attempts, and a set of them is one word. Pure. (docs/adr/0026)
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace perdure::client {

/// What the engines are to be told of one name.
struct NodeLevelNews {
  std::uint64_t attempt_ns = 0;     ///< what is older than this one is superseded; 0: nothing is
  std::vector<std::uint64_t> keep;  ///< but these
  friend bool operator==(const NodeLevelNews&, const NodeLevelNews&) = default;
};

class NodeLevels {
 public:
  /// In new groups nothing is known.
  void clear() { names_.clear(); }
  /// The application goes on from this attempt: it begins now, or was restored.
  void current(const std::string& name, std::uint64_t attempt_ns);

  /// Those of the list that are among these; and what tells the list from others, which give their bits other meanings.
  std::uint64_t bits(const std::string& name, const std::vector<std::uint64_t>& attempts_ns) const;
  std::uint32_t list_hash(const std::string& name) const;
  /// The engines of all nodes promise those of these bits.
  std::optional<NodeLevelNews> promised(const std::string& name, std::uint64_t bits);
  /// They promise this attempt, whatever else.
  std::optional<NodeLevelNews> promised_one(const std::string& name, std::uint64_t attempt_ns);

  /// All of them keep it until they are told of one that supersedes it.
  bool everywhere(const std::string& name, std::uint64_t attempt_ns) const;

 private:
  struct OfName {
    std::vector<std::uint64_t> list;     // of attempts, as the application went through them: the last is the current
    std::set<std::uint64_t> everywhere;  // what is promised on all nodes
    std::uint64_t newest = 0;            // of these, by the list: all before it are superseded
    std::uint64_t wanted = 0;            // none may skip it, so that there is always one that all will have
    NodeLevelNews told;
    std::ptrdiff_t place(std::uint64_t attempt_ns) const;  // in the list; -1: not there
    void trim();
    void choose_wanted();
    void supersede(std::uint64_t by_ns);
    NodeLevelNews news() const;
    std::optional<NodeLevelNews> untold();
  };
  std::map<std::string, OfName> names_;
};

}  // namespace perdure::client
