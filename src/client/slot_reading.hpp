#pragma once
// A whole chunk, read block by block to where it belongs and hashed on the way.
#include <vector>

#include "base/hash.hpp"
#include "capture/target.hpp"
#include "tier/slot_io.hpp"

namespace perdure::client {

/// Calls read(offset, target) for every block of the spans; bytes that nobody wants go through `scratch`.
template <class Read>
base::Status for_each_block(const std::vector<capture::MemorySpan>& spans, std::vector<std::byte>& scratch, Read read) {
  constexpr std::uint64_t kBlock = 1 * base::MiB;
  std::uint64_t offset = 0;
  for (const auto& span : spans) {
    const std::uint64_t step = span.address == nullptr ? kBlock : std::max<std::uint64_t>(span.length, 1);
    for (std::uint64_t done = 0; done < span.length; done += step) {
      const std::uint64_t bytes = std::min(step, span.length - done);
      if (span.address == nullptr) scratch.resize(kBlock);
      std::byte* target = span.address == nullptr ? scratch.data() : span.address + done;
      PERDURE_CHECK(read(offset + done, base::ByteSpan(target, bytes)));
    }
    offset += span.length;
  }
  return {};
}

/// The `length` bytes of a slot to `spans`, which together are as long. PERDURE_CORRUPT about `object` when they do not
/// have this hash; `what` names them.
base::Status read_slot(tier::SlotIo& io, const tier::SlotAddress& slot, std::uint64_t length, const base::Hash128& hash,
                       const std::vector<capture::MemorySpan>& spans, const std::string& object,
                       const std::string& what);

}  // namespace perdure::client
