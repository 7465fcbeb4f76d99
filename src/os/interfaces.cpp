#include "os/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

namespace perdure::os {
namespace {

std::optional<std::string> numeric(const sockaddr* address) {
  if (address == nullptr || (address->sa_family != AF_INET && address->sa_family != AF_INET6)) return std::nullopt;
  const bool six = address->sa_family == AF_INET6;
  if (six && IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr)) return std::nullopt;
  char text[NI_MAXHOST];
  const socklen_t bytes = six ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (::getnameinfo(address, bytes, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return std::nullopt;
  return text;
}

}  // namespace

std::vector<Interface> interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, ::freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next)
    if (const auto text = numeric(at->ifa_addr); text && (at->ifa_flags & IFF_UP) != 0)
      found.push_back({at->ifa_name, *text});
  std::stable_partition(found.begin(), found.end(),
                        [](const Interface& one) { return one.address.find(':') == std::string::npos; });
  return found;
}

std::optional<std::string> address_of_interface(const std::string& name) {
  for (const Interface& one : interfaces())
    if (one.name == name) return one.address;
  return std::nullopt;
}

}  // namespace perdure::os
