#pragma once
// Tells of a dead engine's directory whose it is, which versions it holds, and which of them the store lacks.
#include <optional>

#include "base/hash.hpp"
#include "node/directories.hpp"
#include "node/holdings.hpp"
#include "node/job_note.hpp"

namespace perdure::node {

struct Left {
  EngineDirectory directory;
  std::optional<JobNote> job;         ///< nothing: an older Perdure left it, or its note is damaged
  std::vector<Holding> holdings;      ///< ascending by version
  std::optional<base::Error> damage;  ///< of its catalog: it may hold more than is seen
  base::Hash128 catalog;              ///< of its bytes, as they were looked at
  bool holds(const std::string& name) const;
  bool needs_store() const;  ///< it holds something, or may
};

/// Reads the note and the catalog, and changes nothing. What an engine that lives writes meanwhile may be missing.
Left look_at(EngineDirectory directory);
/// The hash of the catalog's bytes in an engine's directory; that of nothing where there is none.
base::Result<base::Hash128> hash_of_catalog(const std::string& directory);

/// By name; of a name that is not there, and of an error, nobody knows what the store has.
using Facts = std::map<std::string, base::Result<StoreFacts>>;

struct Judgement {
  std::vector<Holding> lacking;  ///< the store does not make up for them, as far as anybody knows
  std::string unknown;           ///< why nobody knows; empty: the store was asked
  bool all_stored() const { return lacking.empty() && unknown.empty(); }
};
/// Pure.
Judgement judge(const Left& left, const Facts& facts);

/// "job 'a' with store /x", or why that is not known.
std::string whose(const Left& left);
/// "run version 2 (12.0 MiB), run version 3 (12.0 MiB) and 5 more".
std::string enumerated(const std::vector<Holding>& holdings);
/// "job 'a' with store /x: run version 2 (12.0 MiB)": what is only there.
std::string lacking_text(const Left& left, const Judgement& judgement);

}  // namespace perdure::node
