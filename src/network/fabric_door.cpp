#include "network/fabric_door.hpp"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace perdure::network {
namespace {

constexpr std::uint64_t kWatch_ns = 1'000'000'000;  // while a caller has not spoken
constexpr std::uint64_t kLook_ns = 10'000'000'000;  // otherwise: for unnoticed callers
constexpr int kClosed = 7;                          // TCP_CLOSE, which netinet/tcp.h has

struct End {
  std::uint16_t port = 0;
  in6_addr address{};  // IPv4: its first four bytes
  bool any() const {
    const in6_addr none{};
    return std::memcmp(&address, &none, sizeof none) == 0;
  }
};

/// Returns nothing if it is no address of TCP.
std::optional<End> end_of(const sockaddr_storage& at) {
  End end;
  if (at.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(at);
    end.port = four.sin_port;
    std::memcpy(&end.address, &four.sin_addr, sizeof four.sin_addr);
    return end;
  }
  if (at.ss_family != AF_INET6) return std::nullopt;
  const auto& six = reinterpret_cast<const sockaddr_in6&>(at);
  end.port = six.sin6_port;
  end.address = six.sin6_addr;
  return end;
}

std::optional<End> local_end(int fd) {
  sockaddr_storage at{};
  socklen_t bytes = sizeof at;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &bytes) != 0) return std::nullopt;
  return end_of(at);
}

bool listens(int fd) {
  int yes = 0;
  socklen_t bytes = sizeof yes;
  return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &bytes) == 0 && yes != 0;
}

/// Returns nothing if it is no connection of TCP.
std::optional<Caller> caller_at(int fd) {
  tcp_info info{};
  socklen_t bytes = sizeof info;
  constexpr std::size_t kNeeded = offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0 || bytes < kNeeded) return std::nullopt;
  if (info.tcpi_state == kClosed) return std::nullopt;  // by us; the provider has not seen it yet
  return Caller{info.tcpi_bytes_received, std::uint64_t{info.tcpi_last_data_recv} * 1'000'000};
}

}  // namespace

base::Result<FabricDoor> FabricDoor::open(base::ConstByteSpan address) {
  FabricDoor door;
  if (address.size() > sizeof door.address_) return door;
  std::memcpy(&door.address_, address.data(), address.size());
  if (!end_of(door.address_)) return door;
  auto list_of_open = os::OpenDescriptors::open();
  if (!list_of_open && list_of_open.error().code == PERDURE_NOT_FOUND) return door;  // without /proc
  PERDURE_TRY(door.open_, std::move(list_of_open));
  PERDURE_TRY(const auto open, door.open_->list());
  for (const int fd : open)
    if (door.has_address(fd) && listens(fd)) door.listener_ = fd;
  if (door.listener_ < 0) return door;
  door.nothing_ = os::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!door.nothing_) return base::fail(base::errno_error(errno, "open", "/dev/null"));
  door.hold_ = os::Fd(::fcntl(door.nothing_.get(), F_DUPFD_CLOEXEC, 0));
  if (!door.hold_) return base::fail(base::errno_error(errno, "dup", "network"));
  return door;
}

bool FabricDoor::has_address(int fd) const {
  const auto own = end_of(address_), end = local_end(fd);
  return end && end->port == own->port && (own->any() || std::memcmp(&end->address, &own->address, 16) == 0);
}

// The provider accepts one connection per progress. All are examined when half of the free places may be taken, so that
// a crowd costs one examination per many callers.
void FabricDoor::guard(bool arrived, std::size_t known, std::uint64_t now_ns) {
  if (listener_ < 0) return;
  if (arrived) ++arrived_;
  const bool crowded = 2 * arrived_ > free_places_;
  if (!crowded && now_ns < looked_ns_ + (watching_ || arrived_ > 0 ? kWatch_ns : kLook_ns)) return;
  looked_ns_ = now_ns;
  arrived_ = 0;
  look(known);
}

void FabricDoor::look(std::size_t known) {
  const auto open = open_->list();
  if (!open) return;
  std::vector<int> descriptors;
  std::vector<Caller> callers;
  for (const int fd : *open) {
    if (!has_address(fd) || fd == listener_) continue;
    const auto caller = caller_at(fd);
    if (!caller) continue;
    descriptors.push_back(fd);
    callers.push_back(*caller);
  }
  const Descriptors all{os::descriptor_limit().now, open->size()};
  const std::size_t places = places_for_strangers(all, callers.size(), known);
  const auto leaving = callers_to_close(callers, known, places);
  for (const std::size_t i : leaving) close(descriptors[i]);
  const std::size_t left = callers.size() - leaving.size();
  free_places_ = places - std::min(places, left > known ? left - known : 0);
  const auto silent = [](const Caller& caller) { return !caller.has_spoken(); };
  watching_ = std::any_of(callers.begin(), callers.end(), silent);
}

// The provider may close this number just now, and another thread open a file under it. So this breaks off the
// duplicate, once it proves to be a connection of the provider. connect() to no address ends a connection at once, for
// both ends. The provider sees that as any broken connection, and closes it.
void FabricDoor::close(int fd) {
  if (::dup3(fd, hold_.get(), O_CLOEXEC) < 0) return;
  sockaddr nowhere{};
  nowhere.sa_family = AF_UNSPEC;
  if (has_address(hold_.get()) && !listens(hold_.get())) (void)::connect(hold_.get(), &nowhere, sizeof nowhere);
  (void)::dup3(nothing_.get(), hold_.get(), O_CLOEXEC);
}

}  // namespace perdure::network
