#pragma once
// Chooses the newest version if no rank has protected anything yet: then the stored regions decide. (ADR 0036)
#include "capture/region.hpp"
#include "client/version_reader.hpp"

namespace perdure::client {

/// Tells whether no rank has protected any region.
bool nothing_protected(const VersionReader& reader);

/// [collective] Chooses as reader.choose(). If nothing is protected, a version of another number of ranks is chosen
/// only if all of it is parts of arrays. It is passed over if some of it is memory of one rank. PERDURE_MISMATCH, the
/// same on all ranks: no other version is left.
base::Status choose_latest(Job& job, VersionReader& reader, const Opening& opening, const base::Status& ready,
                           const capture::RegionTable& regions);

}  // namespace perdure::client
