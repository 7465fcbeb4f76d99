#pragma once
// An emulated tier has transfers that take as long as an emulated device says; the real tier behind it still holds
// every byte. SlotIo moves the bytes, so callers that know when a transfer begins wait for its time. These are the
// engine, from a grant until it reports that the chunk is written, and the flusher, before it reads a chunk.
#include "device/emulator.hpp"
#include "tier/tier.hpp"

namespace perdure::tier {

/// `capacity_bytes`: room for chunks, in bytes; 0: the real tier's.
std::unique_ptr<Tier> emulate(std::unique_ptr<Tier> real, std::shared_ptr<device::Emulator> device,
                              std::uint64_t capacity_bytes);

}  // namespace perdure::tier
