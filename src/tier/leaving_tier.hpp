#pragma once
// A leaving tier is one that the configuration does not name any more, and that still holds an earlier launch's data.
// It is read, flushed and emptied like any other, and takes nothing new.
#include <memory>

#include "tier/tier.hpp"

namespace perdure::tier {

std::unique_ptr<Tier> leave(std::unique_ptr<Tier> tier);

}  // namespace perdure::tier
