#include "network/proof.hpp"

#include <sodium.h>

#include <cstring>

#include "network/byte_reader.hpp"
#include "os/system.hpp"

namespace perdure::network {
namespace {

static_assert(crypto_auth_BYTES == sizeof(Mac) && crypto_auth_KEYBYTES == sizeof(JobKey));

/// Every part has a fixed length or states its own, so that no two introductions have the same bytes.
Bytes what_is_proved(Step step, const Introduction& introduction) {
  ByteWriter out;
  out.raw(base::as_bytes("perdure network 1"));
  out.number(static_cast<std::uint8_t>(step));
  out.sized(encode(introduction.initiator));
  out.number(introduction.responder);
  out.raw(introduction.initiator_nonce);
  out.raw(introduction.responder_nonce);
  return std::move(out.bytes());
}

const unsigned char* raw(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }

}  // namespace

Mac prove(const JobKey& key, Step step, const Introduction& introduction) {
  const Bytes text = what_is_proved(step, introduction);
  Mac mac{};
  crypto_auth(reinterpret_cast<unsigned char*>(mac.data()), raw(text.data()), text.size(), raw(key.data()));
  return mac;
}

bool proves(const Mac& proof, const JobKey& key, Step step, const Introduction& introduction) {
  const Bytes text = what_is_proved(step, introduction);
  return crypto_auth_verify(raw(proof.data()), raw(text.data()), text.size(), raw(key.data())) == 0;
}

std::uint64_t session_number(const JobKey& key, Step direction, const Introduction& introduction) {
  const Mac mac = prove(key, direction, introduction);
  std::uint64_t number = 0;
  std::memcpy(&number, mac.data(), sizeof number);
  return number == 0 ? 1 : number;
}

Nonce fresh_nonce() {
  Nonce nonce;
  const std::uint64_t halves[2] = {os::random_u64(), os::random_u64()};
  std::memcpy(nonce.data(), halves, sizeof halves);
  return nonce;
}

}  // namespace perdure::network
