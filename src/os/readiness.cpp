#include "os/readiness.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <array>
#include <cerrno>

#include "os/system_call.hpp"

namespace perdure::os {
namespace {

constexpr int kMostEvents = 256;

base::Status control(const Fd& of, int operation, const Fd& fd, std::uint64_t number, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = number;
  if (::epoll_ctl(of.get(), operation, fd.get(), &event) < 0) return call_failed("epoll_ctl", "");
  return {};
}

}  // namespace

Readiness::Readiness() : fd_(::epoll_create1(EPOLL_CLOEXEC)), error_(fd_ ? 0 : errno) {}

base::Status Readiness::is_there() const {
  if (fd_) return {};
  return base::fail(base::errno_error(error_, "epoll_create1", ""));
}

base::Status Readiness::add(const Fd& fd, std::uint64_t number) {
  PERDURE_CHECK(is_there());
  return control(fd_, EPOLL_CTL_ADD, fd, number, EPOLLIN);
}

void Readiness::change(const Fd& fd, std::uint64_t number, Interest interest) {
  (void)control(fd_, EPOLL_CTL_MOD, fd, number, interest == Interest::read ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

void Readiness::remove(const Fd& fd) { (void)control(fd_, EPOLL_CTL_DEL, fd, 0, 0); }

// epoll_wait() itself has a resolution of milliseconds.
base::Result<std::vector<Readiness::Event>> Readiness::wait(std::optional<std::uint64_t> timeout_ns) const {
  PERDURE_CHECK(is_there());
  pollfd any{fd_.get(), POLLIN, 0};
  const std::uint64_t ns = timeout_ns.value_or(0);
  const timespec timeout{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  std::vector<Event> ready;
  if (::ppoll(&any, 1, timeout_ns ? &timeout : nullptr, nullptr) < 0 && errno != EINTR) return call_failed("ppoll", "");
  std::array<epoll_event, kMostEvents> events;
  const int count = ::epoll_wait(fd_.get(), events.data(), kMostEvents, 0);
  if (count < 0 && errno != EINTR) return call_failed("epoll_wait", "");
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    ready.push_back(
        {event.data.u64, (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0, (event.events & EPOLLOUT) != 0});
  }
  return ready;
}

}  // namespace perdure::os
