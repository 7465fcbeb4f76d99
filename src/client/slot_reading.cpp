#include "client/slot_reading.hpp"

namespace perdure::client {

base::Status read_slot(tier::SlotIo& io, const tier::SlotAddress& slot, std::uint64_t length, const base::Hash128& hash,
                       const std::vector<capture::MemorySpan>& spans, const std::string& object,
                       const std::string& what) {
  base::Hasher hasher;
  PERDURE_CHECK(io.prepare_to_read(slot, length));
  PERDURE_CHECK(io.scatter(slot, spans, hasher));
  if (hasher.digest() == hash) return {};
  return base::fail(PERDURE_CORRUPT, object,
                    what + " does not match its hash in " + slot.path + " at offset " + std::to_string(slot.offset));
}

}  // namespace perdure::client
