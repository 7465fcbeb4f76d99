#pragma once
// Proves that an endpoint has the job key: keyed hashes (HMAC-SHA-512-256 of libsodium) over the step, the addressee,
// and both sides' fresh nonces. An overheard proof is worthless with the next nonce.
#include "network/message.hpp"

namespace perdure::network {

using JobKey = std::array<std::byte, 32>;

/// Both endpoints and their nonces (the responder's is zero while unknown).
struct Introduction {
  Address initiator;
  std::uint64_t responder = 0;  ///< its incarnation
  Nonce initiator_nonce{};
  Nonce responder_nonce{};
};

enum class Step : std::uint8_t { hello = 1, welcome, proof, ready, refuse, to_initiator, to_responder };

Mac prove(const JobKey& key, Step step, const Introduction& introduction);
/// Compares in constant time.
bool proves(const Mac& proof, const JobKey& key, Step step, const Introduction& introduction);
/// Returns the secret number that messages of this session carry in one direction; never 0.
std::uint64_t session_number(const JobKey& key, Step direction, const Introduction& introduction);
Nonce fresh_nonce();

}  // namespace perdure::network
