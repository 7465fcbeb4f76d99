#include "network/address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "network/byte_reader.hpp"

namespace perdure::network {
namespace {

constexpr std::uint32_t kAddressMagic = 0x41445250;  // "PRDA"
constexpr std::uint8_t kAddressFormat = 1;

std::string hexadecimal(ConstByteSpan bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

/// Shows the socket address by which most providers name ends.
std::string wire_text(ConstByteSpan wire) {
  char text[INET6_ADDRSTRLEN] = {};
  if (wire.size() == sizeof(sockaddr_in)) {
    sockaddr_in ip{};
    std::memcpy(&ip, wire.data(), sizeof ip);
    if (ip.sin_family == AF_INET && ::inet_ntop(AF_INET, &ip.sin_addr, text, sizeof text) != nullptr)
      return std::string(text) + ":" + std::to_string(ntohs(ip.sin_port));
  }
  if (wire.size() == sizeof(sockaddr_in6)) {
    sockaddr_in6 ip{};
    std::memcpy(&ip, wire.data(), sizeof ip);
    if (ip.sin6_family == AF_INET6 && ::inet_ntop(AF_INET6, &ip.sin6_addr, text, sizeof text) != nullptr)
      return "[" + std::string(text) + "]:" + std::to_string(ntohs(ip.sin6_port));
  }
  return hexadecimal(wire);
}

}  // namespace

std::string Address::text() const {
  return "engine " + wire_text(wire) + "/" + hexadecimal(std::as_bytes(std::span(&incarnation, 1))).substr(0, 8);
}

Bytes encode(const Address& address) {
  ByteWriter out;
  out.number(kAddressMagic);
  out.number(kAddressFormat);
  out.number(address.incarnation);
  out.sized(address.wire);
  return std::move(out.bytes());
}

base::Result<Address> decode_address(ConstByteSpan bytes) {
  ByteReader in(bytes);
  Address address;
  const bool magic = in.number<std::uint32_t>() == kAddressMagic;
  const bool format = in.number<std::uint8_t>() == kAddressFormat;
  address.incarnation = in.number<std::uint64_t>();
  const ConstByteSpan wire = in.sized(kMaxWireAddress);
  address.wire.assign(wire.begin(), wire.end());
  if (!magic || !in.at_end() || wire.empty())
    return base::fail(PERDURE_CORRUPT, "engine address", "it is not what an engine gave as its address");
  if (!format)
    return base::fail(PERDURE_UNSUPPORTED, "engine address", "it is of another version of Perdure",
                      "use the same version on all nodes");
  return address;
}

}  // namespace perdure::network
