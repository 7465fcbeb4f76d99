// Rebuilds a lost block. The server combines the parity and remote survivors, the client the local survivors.
#include "parity/client.hpp"
#include "parity/frames.hpp"
#include "parity/record.hpp"
#include "parity/waiting.hpp"
#include "redundancy/kernels.hpp"

namespace perdure::parity {
namespace {

std::string place_of(unsigned position, const Kept& kept, const Missing& missing) {
  return "block of member " + std::to_string(position) + " in stripe " + std::to_string(missing.stripe) + " of " +
         id_text(kept.id);
}

base::Status check_here(const Kept& kept, const Missing& missing, std::span<const Survivor> survivors) {
  for (const Survivor& survivor : survivors)
    if (survivor.address.empty() && base::hash128(survivor.here) != survivor.block.hash)
      return base::fail(PERDURE_CORRUPT, place_of(survivor.position, kept, missing),
                        "its content is not what its hash says");
  return {};
}

}  // namespace

base::Status Client::rebuild(const Kept& kept, const Missing& missing, std::span<const Survivor> survivors,
                             ByteSpan target) {
  PERDURE_CHECK(check_here(kept, missing, survivors));
  PERDURE_CHECK(combine_remote(kept, missing, survivors, target));
  for (const Survivor& survivor : survivors)
    if (survivor.address.empty())
      redundancy::exclusive_or_into(target.data(), survivor.here.data(), std::min(target.size(), survivor.here.size()));
  if (base::hash128(target) == missing.hash) return {};
  return base::fail(PERDURE_CORRUPT, place_of(missing.position, kept, missing),
                    "what was rebuilt is not what its hash says");
}

base::Status Client::combine_remote(const Kept& kept, const Missing& missing, std::span<const Survivor> survivors,
                                    ByteSpan target) {
  Rebuild request{kept.id, missing.stripe, static_cast<std::uint16_t>(missing.position), target.size(), {}};
  for (const Survivor& survivor : survivors) {
    const bool here = survivor.address.empty();
    request.survivors.push_back({static_cast<std::uint16_t>(survivor.position), survivor.block.hash,
                                 here ? survivor.here.size() : survivor.block.bytes, survivor.address,
                                 survivor.block.memory, survivor.block.offset});
  }
  const Bytes frame = parity::encode(request);
  Pauses turns(options_.stall_ns);
  for (;;) {
    PERDURE_TRY(const Bytes reply, ask(frame));
    PERDURE_TRY(const std::uint64_t ticket, decode_ticket(reply));
    const base::Status fetched = fetch_rebuilt(ticket, target);
    // A dead server needs no end of the ticket; a live one ends tickets with their owners' sessions.
    [[maybe_unused]] const auto ended = ask(parity::encode(EndRebuild{ticket}));
    if (fetched || fetched.error().code != PERDURE_BUSY || !turns.pause()) return fetched;
  }
}

base::Status Client::fetch_rebuilt(std::uint64_t ticket, ByteSpan target) {
  Pauses pauses(options_.stall_ns);
  for (std::uint64_t pulled = 0;;) {
    PERDURE_TRY(const Bytes reply, ask(parity::encode(AskRebuilt{ticket})));
    PERDURE_TRY(const Rebuilt now, decode_rebuilt(reply));
    if (now.stage == Stage::failed) return base::fail(now.why);
    if (now.stage == Stage::unknown)
      return base::fail(PERDURE_UNAVAILABLE, "parity server", "the session with it was lost while it rebuilt",
                        "try again", true);
    if (now.stage == Stage::done) {
      PERDURE_TRY(const network::PeerId server, peer());
      return endpoint_.read(server, now.memory, 0, target, options_.request_ns);
    }
    if (now.bytes_pulled != pulled) pauses.progress();
    pulled = now.bytes_pulled;
    if (!pauses.pause()) return base::fail(PERDURE_TIMEOUT, "parity server", "it rebuilds without progress", {}, true);
  }
}

}  // namespace perdure::parity
