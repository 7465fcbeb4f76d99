#pragma once
// Which version is the newest where no rank has protected anything yet: what is stored decides then. (ADR 0036)
#include "capture/region.hpp"
#include "client/version_reader.hpp"

namespace perdure::client {

/// No rank says anything of its regions.
bool nothing_protected(const VersionReader& reader);

/// [collective] As reader.choose(). Where nothing is protected, a version of another number of ranks is chosen if all
/// of it is parts of arrays, and passed over if some of it is memory of one rank. PERDURE_MISMATCH, the same on all
/// ranks: no other one is left.
base::Status choose_latest(Job& job, VersionReader& reader, const Opening& opening, const base::Status& ready,
                           const capture::RegionTable& regions);

}  // namespace perdure::client
