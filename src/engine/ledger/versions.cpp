#include "engine/ledger/versions.hpp"

namespace perdure::engine {

Version* Versions::find(const segment::VersionId& id) {
  const auto it = all_.find(id);
  return it == all_.end() ? nullptr : &it->second;
}

const Version* Versions::find(const segment::VersionId& id) const {
  const auto it = all_.find(id);
  return it == all_.end() ? nullptr : &it->second;
}

bool Versions::happens(const segment::VersionId& id, VersionEvent event) {
  const Version* known = find(id);
  const auto after = next(known == nullptr ? VersionState() : static_cast<const VersionState&>(*known), event);
  if (after) static_cast<VersionState&>(all_[id]) = *after;
  return after.has_value();
}

// The members still in use move to a new record. So a member that is added later is reset without a change here.
void Versions::drop(const segment::VersionId& id) {
  auto ended = all_.extract(id);
  if (ended.empty()) return;
  Version& before = ended.mapped();
  Version left;
  static_cast<VersionState&>(left) = next(before, VersionEvent::drop).value_or(VersionState());
  left.granted = std::move(before.granted);
  left.flushed = std::move(before.flushed);
  left.stored_epochs = std::move(before.stored_epochs);
  if (left.over()) return;
  before = std::move(left);
  all_.insert(std::move(ended));  // allocates no memory
}

void Versions::tidy(const segment::VersionId& id) {
  if (const Version* known = find(id); known != nullptr && known->over()) all_.erase(id);
}

}  // namespace perdure::engine
