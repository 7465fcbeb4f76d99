#include "engine/peers/slot_exposure.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "os/file.hpp"

namespace perdure::engine {

base::Result<BlockPlace> SlotExposure::place(const tier::SlotAddress& slot) {
  std::lock_guard guard(mutex_);
  const auto known = slots_.find({slot.path, slot.offset});
  const std::uint64_t shown = known == slots_.end() ? 0 : known->second.mapping.size();
  if (!slot.access.empty()) {
    PERDURE_TRY(auto copy, copy_of(slot));
    if (known == slots_.end() || copy.size() > shown) return expose(slot, std::move(copy), std::nullopt);
    std::memcpy(known->second.mapping.data(), copy.data(), copy.size());
    return BlockPlace{known->second.name, 0};
  }
  if (known != slots_.end() && shown >= slot.capacity) return BlockPlace{known->second.name, 0};
  PERDURE_TRY(const auto file, os::File::open(slot.path, os::Open::read));
  PERDURE_TRY(const std::uint64_t end, file.size());
  const std::uint64_t bytes = std::min(slot.capacity, end - std::min(end, slot.offset));
  if (known != slots_.end() && shown >= bytes) return BlockPlace{known->second.name, 0};
  PERDURE_TRY(auto mapping, os::Mapping::map(file, slot.offset, bytes, false));
  return expose(slot, std::move(mapping), network::FileHint{slot.path, slot.offset});
}

base::Result<os::Mapping> SlotExposure::copy_of(const tier::SlotAddress& slot) {
  PERDURE_TRY(const std::uint64_t end, io_.size(slot));
  const std::uint64_t bytes = std::min(slot.capacity, end);
  PERDURE_TRY(auto copy, os::Mapping::anonymous(bytes, slot.path));
  base::Hasher hasher;
  PERDURE_CHECK(io_.read(slot, 0, base::ByteSpan(copy.data(), bytes), hasher));
  return copy;
}

// A slot of the file tier is as long as the data written there, and grows when it is used for more.
base::Result<BlockPlace> SlotExposure::expose(const tier::SlotAddress& slot, os::Mapping mapping,
                                              std::optional<network::FileHint> hint) {
  PERDURE_TRY(const auto memory,
              endpoint_.expose(base::ByteSpan(mapping.data(), mapping.size()), network::Access::read, std::move(hint)));
  Exposed exposed{std::move(mapping), network::encode(memory)};
  BlockPlace place{exposed.name, 0};
  const auto known = slots_.find({slot.path, slot.offset});
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
