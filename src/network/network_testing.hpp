#pragma once
// Opens endpoints with short pauses for tests, on either wire.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "network/endpoint.hpp"
#include "network/memory_wire.hpp"

namespace perdure::network {

inline constexpr std::uint64_t kPatience = 60'000'000'000;  // far beyond the needs of a loaded machine

inline EndpointOptions sample_options() {
  EndpointOptions options;
  options.job_key.fill(std::byte{42});
  options.retry_ns = 20'000'000;
  options.max_retry_ns = 200'000'000;
  options.guard_interval_ns = 0;
  return options;
}

inline Bytes sample_bytes(std::uint64_t seed, std::size_t size) {
  std::mt19937_64 random(seed);
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

inline Bytes text_bytes(std::string_view text) {
  const auto bytes = base::as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

/// Answers with the reversed request.
inline base::Result<Bytes> reverse(PeerId, ConstByteSpan request) { return Bytes(request.rbegin(), request.rend()); }

inline std::unique_ptr<Endpoint> open_endpoint(std::unique_ptr<Wire> wire, const EndpointOptions& options,
                                               Handlers handlers = {reverse, {}}) {
  auto endpoint = Endpoint::open(std::move(wire), options, std::move(handlers));
  EXPECT_TRUE(endpoint) << (endpoint ? "" : endpoint.error().text());
  return endpoint ? std::move(*endpoint) : nullptr;
}

inline std::unique_ptr<Wire> open_fabric_wire() {
  // Uses an eighth of the provider's buffers. Making all takes longer than most tests, many times so under sanitizers.
  [[maybe_unused]] static const int once = ::setenv("FI_OFI_RXM_MSG_RX_SIZE", "16", 0);
  FabricOptions options;
  options.bind_address = "127.0.0.1";
  auto wire = make_fabric_wire(options);
  EXPECT_TRUE(wire) << (wire ? "" : wire.error().text());
  return wire ? std::move(*wire) : nullptr;
}

inline PeerId connected(Endpoint& from, const Endpoint& to) {
  const auto peer = from.connect(to.address(), kPatience);
  EXPECT_TRUE(peer) << (peer ? "" : peer.error().text());
  return peer ? *peer : 0;
}

template <class T>
std::string error_text(const base::Result<T>& result) {
  return result ? "" : result.error().text();
}

}  // namespace perdure::network
