#pragma once
// Tells which job a dead engine's directory belongs to, which versions it holds, and which of them the store lacks.
#include <optional>

#include "base/hash.hpp"
#include "node/directories.hpp"
#include "node/holdings.hpp"
#include "node/job_note.hpp"

namespace perdure::node {

struct Left {
  EngineDirectory directory;
  std::optional<JobNote> job;         ///< nullopt: an older Perdure left it, or its note is damaged
  std::vector<Holding> holdings;      ///< ascending by version
  std::optional<base::Error> damage;  ///< of its catalog: it may hold more than `holdings`
  base::Hash128 catalog;              ///< hash of its catalog's bytes at the time of the look
  bool holds(const std::string& name) const;
  bool needs_store() const;  ///< it holds something, or may
};

/// Reads the note and the catalog, and changes nothing. Writes of a live engine during the look may be missing.
Left look_at(EngineDirectory directory);
/// Returns the hash of the catalog's bytes in an engine's directory; that of no bytes if there is none.
base::Result<base::Hash128> hash_of_catalog(const std::string& directory);

/// By name. A missing name or an error means that the store's content is unknown.
using Facts = std::map<std::string, base::Result<StoreFacts>>;

struct Judgement {
  std::vector<Holding> lacking;  ///< the store does not make up for them, as far as is known
  std::string unknown;           ///< why the store's content is unknown; empty: the store was asked
  bool all_stored() const { return lacking.empty() && unknown.empty(); }
};
/// Pure.
Judgement judge(const Left& left, const Facts& facts);

/// Returns "job 'a' with store /x", or why that is unknown.
std::string whose(const Left& left);
/// Returns "run version 2 (12.0 MiB), run version 3 (12.0 MiB) and 5 more".
std::string enumerated(const std::vector<Holding>& holdings);
/// Returns "job 'a' with store /x: run version 2 (12.0 MiB)": the versions that are only there.
std::string lacking_text(const Left& left, const Judgement& judgement);

}  // namespace perdure::node
