#pragma once
// A tier whose transfers take as long as an emulated device says; the real tier behind it still holds every byte. The
// bytes are moved by others (SlotIo), so that the time is waited for by those who know when a transfer begins: the
// engine, from a grant until it answers that the chunk is written, and the flusher, before it reads a chunk.
#include "device/emulator.hpp"
#include "tier/tier.hpp"

namespace perdure::tier {

/// `capacity_bytes`: room for so many bytes of chunks; 0: the real tier's.
std::unique_ptr<Tier> emulate(std::unique_ptr<Tier> real, std::shared_ptr<device::Emulator> device,
                              std::uint64_t capacity_bytes);

}  // namespace perdure::tier
