#include "ipc/version_messages.hpp"

#include "redundancy/registry.hpp"

namespace perdure::ipc {

std::string RedundancySummary::wrong() const {
  return position < redundancy::positions(scheme, members.size()) ? "" : "field 'position' is not one of 'members'";
}

}  // namespace perdure::ipc
