#include "process/lazy_pages.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "process/page_faults.hpp"
#include "process/remote_memory.hpp"
#include "process/stops.hpp"

namespace perdure::process {
namespace {

// The lock is held for one such part, and threads that drop memory wait as long.
constexpr std::uint64_t kGivenAtOnce = 256 * base::KiB;
constexpr int kSoonMs = 1;

}  // namespace

LazyPages::LazyPages(pid_t process, os::Fd pidfd, Guard& guard)
    : process_(process), pidfd_(std::move(pidfd)), stop_(::eventfd(0, EFD_CLOEXEC)), guard_(guard) {}

base::Result<std::unique_ptr<LazyPages>> LazyPages::begin(pid_t process, os::Fd faults,
                                                          const std::vector<PageRun>& maps,
                                                          const std::vector<PageRun>& missing, Guard& guard) {
  os::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!pidfd) return base::fail(base::errno_error(errno, "pidfd_open", process_text(process)));
  std::unique_ptr<LazyPages> lazy(new LazyPages(process, std::move(pidfd), guard));
  if (!lazy->stop_) return base::fail(base::errno_error(errno, "eventfd", process_text(process)));
  for (const PageRun& map : maps)
    if (const int error = follow_missing(faults.get(), map.begin, map.end()); error != 0)
      return base::fail(base::errno_error(error, "follow memory of", process_text(process)));
  PERDURE_CHECK(guard.keep(process, lazy->pidfd_.get(), faults.get()));
  {
    const auto state = lazy->state_.lock();
    state->spaces.push_back({std::move(faults), MissingPages(missing), {}, false});
  }
  LazyPages* self = lazy.get();
  PERDURE_TRY(lazy->thread_, os::Thread::start(
                                 "lazy pages",
                                 [self] {
                                   if (const auto served = self->serve(); !served) self->fail(served.error());
                                 },
                                 [self](const base::Error& why) {
                                   self->fail(why);
                                   return false;
                                 }));
  return lazy;
}

void LazyPages::fail(const base::Error& why) {
  const auto state = state_.lock();
  state->failed = base::fail(why);
}

void LazyPages::stop() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

// All waiting threads must be gone before any descriptor is closed.
LazyPages::~LazyPages() {
  stop();
  if (over_) return;
  end_unserved(process_, pidfd_.get(), served());
  siginfo_t how{};
  while (released_ && ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &how, WEXITED | __WALL) < 0 &&
         errno == EINTR) {
  }
  (void)guard_.forget();
}

base::Status LazyPages::end() {
  stop();
  {
    const auto state = state_.lock();
    PERDURE_CHECK(state->failed);
    for (const Space& space : state->spaces)
      if (!space.gone && !space.missing.empty())
        return base::fail(PERDURE_INTERNAL, process_text(process_), "pages of it have not come");
  }
  os::crash_point(os::CrashPoint::lazy_complete);
  PERDURE_CHECK(guard_.forget());
  over_ = true;
  {
    const auto state = state_.lock();
    state->spaces.clear();
  }
  os::crash_point(os::CrashPoint::lazy_over);
  return {};
}

bool LazyPages::has_ended() {
  const auto state = state_.lock();
  return std::all_of(state->spaces.begin(), state->spaces.end(), [](const Space& space) { return space.gone; });
}

std::vector<int> LazyPages::served() {
  std::vector<int> all;
  const auto state = state_.lock();
  for (const Space& space : state->spaces) all.push_back(space.faults.get());
  return all;
}

base::Status LazyPages::serve() {
  for (bool soon = false;;) {
    std::vector<pollfd> all = {{stop_.get(), POLLIN, 0}};
    for (const int faults : served()) all.push_back({faults, POLLIN, 0});
    if (::poll(all.data(), all.size(), soon ? kSoonMs : -1) < 0 && errno != EINTR)
      return base::fail(base::errno_error(errno, "poll", process_text(process_)));
    if ((all[0].revents & POLLIN) != 0) return {};
    soon = false;
    const auto state = state_.lock();
    for (std::size_t space = 0; space + 1 < all.size(); ++space) {
      if ((all[space + 1].revents & POLLIN) != 0) PERDURE_CHECK(take_events(*state, space));
      for (const auto page : std::exchange(state->spaces[space].zeros, {}))
        PERDURE_CHECK(zero(state->spaces[space], page));
      soon = soon || !state->spaces[space].zeros.empty();
    }
  }
}

// A thread that drops memory continues when its event is read. No page is put meanwhile, because the lock is held.
base::Status LazyPages::take_events(State& state, std::size_t space) {
  PERDURE_TRY(auto events, guard_.take_events(space));
  std::size_t made = 0;
  for (const uffd_msg& event : events.all)
    if (event.event == UFFD_EVENT_FORK)  // the child lacks the same pages
      state.spaces.push_back({std::move(events.made[made++]), state.spaces[space].missing, {}, false});
    else
      take_event(state, state.spaces[space], event);
  return {};
}

void LazyPages::take_event(State& state, Space& space, const uffd_msg& event) {
  if (event.event == UFFD_EVENT_PAGEFAULT) {
    const std::uint64_t page = event.arg.pagefault.address / kPageBytes * kPageBytes;
    if (const auto origin = space.missing.origin_of(page))
      state.waited_for.push_back(*origin);
    else
      space.zeros.push_back(page);
  }
  if (event.event == UFFD_EVENT_REMAP)
    space.missing.move(event.arg.remap.from, event.arg.remap.to, event.arg.remap.len);
  if (event.event == UFFD_EVENT_REMOVE || event.event == UFFD_EVENT_UNMAP)
    space.missing.drop(event.arg.remove.start, event.arg.remove.end);
}

// The page was never written, or was dropped.
base::Status LazyPages::zero(Space& space, std::uint64_t page) {
  if (space.missing.origin_of(page)) return {};  // another page was moved there since
  PERDURE_TRY(const auto given, give_zeros(space.faults.get(), page));
  if (!given) space.gone = true;
  if (given == Given::not_now) space.zeros.push_back(page);
  if (given == Given::there || given == Given::no_memory) wake(space.faults.get(), page);
  return {};
}

std::optional<std::uint64_t> LazyPages::wanted() {
  const auto state = state_.lock();
  while (!state->waited_for.empty()) {
    const std::uint64_t origin = state->waited_for.front();
    for (const Space& space : state->spaces)
      if (!space.gone && !space.missing.of(origin, kPageBytes).empty()) return origin;
    state->waited_for.pop_front();
  }
  return std::nullopt;
}

base::Result<LazyPages::Step> LazyPages::put_part(Space& space, MissingPages::Part part, const std::byte* bytes) const {
  for (std::uint64_t most = part.bytes; part.bytes > 0;) {
    most = std::min(most, part.bytes);
    PERDURE_TRY(const auto given, give_pages(space.faults.get(), part.address, {bytes, most}));
    space.gone = !given;
    if (!given) return Step::done;
    if (given->given == Given::not_now) return Step::again;
    if (given->given == Given::no_memory && most > kPageBytes) {
      most = most / 2 / kPageBytes * kPageBytes;  // the range may span two mappings; the kernel fills one at a time
      continue;
    }
    if (given->given == Given::there && !released_)
      PERDURE_CHECK(write_memory(process_, part.address, {bytes, kPageBytes}));
    else if (given->given == Given::there)
      wake(space.faults.get(), part.address);
    const bool gave = given->given == Given::all || given->given == Given::some;
    const std::uint64_t done = gave ? given->bytes : kPageBytes;
    space.missing.drop(part.address, part.address + done);
    part.address += done;
    part.bytes -= done;
    bytes += done;
    most = part.bytes;
  }
  return Step::done;
}

base::Result<LazyPages::Step> LazyPages::put_now(State& state, std::uint64_t origin, base::ConstByteSpan bytes) const {
  PERDURE_CHECK(state.failed);
  for (Space& space : state.spaces) {
    if (space.gone) continue;
    for (const auto& part : space.missing.of(origin, bytes.size())) {
      PERDURE_TRY(const auto step, put_part(space, part, bytes.data() + (part.origin - origin)));
      if (step == Step::again) return step;
    }
  }
  return Step::done;
}

base::Status LazyPages::put(std::uint64_t origin, base::ConstByteSpan bytes) {
  while (!bytes.empty()) {
    const auto some = bytes.first(std::min<std::size_t>(kGivenAtOnce, bytes.size()));
    Step step = Step::done;
    {
      const auto state = state_.lock();
      PERDURE_TRY(step, put_now(*state, origin, some));
    }
    if (has_ended()) return base::fail(PERDURE_NOT_FOUND, process_text(process_), "it has ended");
    if (step == Step::again) {
      os::sleep_ns(20'000);  // until the event is read
      continue;
    }
    origin += some.size();
    bytes = bytes.subspan(some.size());
  }
  return {};
}

}  // namespace perdure::process
