#include "automatic/region_check.hpp"

#include "base/hash.hpp"
#include "track/box_set.hpp"

namespace perdure::automatic {

RegionCheck::Hash RegionCheck::hash_of(const StoredSet& set, const Box& box) {
  base::Hasher hasher;
  for (const Part& owned : set.owned) {
    const Part part = part_within(owned, box);
    if (part.box.empty()) continue;
    packed_.resize(part.box.elements() * set.data.element_bytes);
    pack(part, set.data.element_bytes, set.x_first, packed_.data());
    hasher.update(packed_);
  }
  const base::Hash128 hash = hasher.digest();
  return {hash.low, hash.high};
}

void RegionCheck::begin(track::LoopId id, const std::vector<StoredSet>& sets, std::span<const track::Access> accesses) {
  constexpr int kShare = 10;
  seen_.clear();
  const auto now = Clock::now();
  if (!known_.insert(id).second && took_ * kShare > now - began_) return;
  ++looked_at_;
  for (track::SetId number = 0; number < sets.size(); ++number) {
    track::BoxSet rest;
    for (const Part& owned : sets[number].owned) rest.add(owned.box);
    for (const track::Access& access : accesses)
      if (access.set == number && access.does_write()) rest.remove(access.written);
    for (const Box& box : rest.boxes()) seen_.push_back({number, box, hash_of(sets[number], box)});
  }
  took_ += Clock::now() - now;
}

std::optional<std::string> RegionCheck::end(const std::vector<StoredSet>& sets) {
  const auto now = Clock::now();
  std::optional<std::string> wrote;
  for (const Seen& seen : seen_)
    if (!wrote && hash_of(sets[seen.set], seen.box) != seen.hash)
      wrote = seen.box.text() + " of data '" + sets[seen.set].data.name + "'";
  seen_.clear();
  took_ += Clock::now() - now;
  return wrote;
}

}  // namespace perdure::automatic
