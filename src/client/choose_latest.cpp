#include "client/choose_latest.hpp"

#include "client/array_restore.hpp"

namespace perdure::client {
namespace {

// Data that fails verification is read again by another rank. It is then set aside, or proves good.
constexpr unsigned kMostReadings = 3;

bool says_absent(base::ErrorCode code) {
  return code == PERDURE_NOT_FOUND || code == PERDURE_INCOMPLETE || code == PERDURE_CORRUPT;
}

/// [collective] Names a region of the chosen version that is memory of one rank; empty: there is none. Empty: its
/// segments have to be looked at again.
base::Result<std::optional<std::string>> memory_of_one_rank(Job& job, VersionReader& reader,
                                                            const capture::RegionTable& regions) {
  ArrayRestore arrays(job, reader, regions, {});
  const base::Status described = arrays.describe();
  reader.release();
  if (described) return std::optional(arrays.local());
  PERDURE_TRY(const bool again, reader.read_again());
  if (again) return std::optional<std::string>();
  return base::fail(described.error());
}

}  // namespace

bool nothing_protected(const VersionReader& reader) { return !reader.regions().arrays && !reader.regions().local; }

base::Status choose_latest(Job& job, VersionReader& reader, const Opening& opening, const base::Status& ready,
                           const capture::RegionTable& regions) {
  std::optional<base::Error> others;
  for (unsigned readings = 0;;) {
    const base::Status chosen = reader.choose(opening, ready);
    if (!chosen && others && says_absent(chosen.error().code)) return base::fail(*others);
    if (!chosen || !reader.of_other_ranks() || !nothing_protected(reader)) return chosen;
    PERDURE_TRY(const auto local, memory_of_one_rank(job, reader, regions));
    if (!local && ++readings < kMostReadings) continue;
    if (!local)
      return base::fail(PERDURE_UNAVAILABLE, reader.id().text(), "what it has could not be read", "try again", true);
    if (local->empty()) return {};
    const auto why = written_by_others(opening.name, reader.ranks(), job.ranks(), *local);
    if (!others) others = why;
    PERDURE_CHECK(reader.exclude(why));
  }
}

}  // namespace perdure::client
