#include "engine/slot_exposure.hpp"

#include <algorithm>
#include <utility>

#include "os/file.hpp"

namespace perdure::engine {

// A slot of the file tier is as long as what was written there, and grows when it is used for more.
base::Result<BlockPlace> SlotExposure::place(const tier::SlotAddress& slot) {
  std::lock_guard guard(mutex_);
  const auto known = slots_.find({slot.path, slot.offset});
  if (known != slots_.end() && known->second.mapping.size() >= slot.capacity) return BlockPlace{known->second.name, 0};
  PERDURE_TRY(const auto file, os::File::open(slot.path, os::Open::read));
  PERDURE_TRY(const std::uint64_t end, file.size());
  const std::uint64_t bytes = std::min(slot.capacity, end - std::min(end, slot.offset));
  if (known != slots_.end() && known->second.mapping.size() >= bytes) return BlockPlace{known->second.name, 0};
  PERDURE_TRY(auto mapping, os::Mapping::map(file, slot.offset, bytes, false));
  PERDURE_TRY(const auto memory, endpoint_.expose(base::ByteSpan(mapping.data(), bytes), network::Access::read,
                                                  network::FileHint{slot.path, slot.offset}));
  Exposed exposed{std::move(mapping), network::encode(memory)};
  BlockPlace place{exposed.name, 0};
  if (known != slots_.end())
    outgrown_.push_back(std::exchange(known->second, std::move(exposed)));
  else
    slots_.emplace(std::pair{slot.path, slot.offset}, std::move(exposed));
  return place;
}

// Slots are never unmapped before the endpoint goes.
std::optional<BlockView> SlotExposure::view(const BlockPlace& place, std::uint64_t bytes) {
  std::lock_guard guard(mutex_);
  const auto shown = [&](const Exposed& exposed) -> std::optional<BlockView> {
    if (place.offset > exposed.mapping.size() || bytes > exposed.mapping.size() - place.offset) return std::nullopt;
    return BlockView{base::ConstByteSpan(exposed.mapping.data() + place.offset, bytes), nullptr};
  };
  for (const auto& [key, exposed] : slots_)
    if (exposed.name == place.memory) return shown(exposed);
  for (const auto& exposed : outgrown_)
    if (exposed.name == place.memory) return shown(exposed);
  return std::nullopt;
}

}  // namespace perdure::engine
