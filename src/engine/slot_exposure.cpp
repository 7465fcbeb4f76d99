#include "engine/slot_exposure.hpp"

#include "os/file.hpp"

namespace perdure::engine {

base::Result<BlockPlace> SlotExposure::place(const tier::SlotAddress& slot) {
  std::lock_guard guard(mutex_);
  const std::pair key{slot.path, slot.offset};
  if (const auto known = slots_.find(key); known != slots_.end()) return BlockPlace{known->second.name, 0};
  PERDURE_TRY(const auto file, os::File::open(slot.path, os::Open::read));
  PERDURE_TRY(auto mapping, os::Mapping::map(file, slot.offset, slot.capacity, false));
  PERDURE_TRY(const auto memory, endpoint_.expose(base::ByteSpan(mapping.data(), slot.capacity), network::Access::read,
                                                  network::FileHint{slot.path, slot.offset}));
  Exposed exposed{std::move(mapping), network::encode(memory)};
  BlockPlace place{exposed.name, 0};
  slots_.emplace(key, std::move(exposed));
  return place;
}

// Slots are never unmapped before the endpoint goes.
std::optional<BlockView> SlotExposure::view(const BlockPlace& place, std::uint64_t bytes) {
  std::lock_guard guard(mutex_);
  for (const auto& [key, exposed] : slots_) {
    if (exposed.name != place.memory) continue;
    if (place.offset > exposed.mapping.size() || bytes > exposed.mapping.size() - place.offset) return std::nullopt;
    return BlockView{base::ConstByteSpan(exposed.mapping.data() + place.offset, bytes), nullptr};
  }
  return std::nullopt;
}

}  // namespace perdure::engine
