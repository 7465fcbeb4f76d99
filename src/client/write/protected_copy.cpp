#include "client/write/protected_copy.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "os/crash_point.hpp"
#include "os/own_memory.hpp"
#include "os/system.hpp"

namespace perdure::client {
namespace {

using capture::BlockEvent;
using capture::BlockRun;
using capture::BlockState;
using Allowed = os::WriteProtection::Answer;

constexpr std::uint64_t kSoonNs = 20'000;
enum : std::size_t { kCompleting, kServing };  // threads that copy
// The size of one release. Threads that need the list of mappings wait meanwhile, and each release interrupts the
// processors on which the program runs.
constexpr std::uint64_t kReleasedBytes = 2 << 20;

std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs_of(const std::vector<os::AddressRange>& memory) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (const auto& one : memory) pairs.emplace_back(one.begin, one.end);
  return pairs;
}

void copy_now(const capture::CopyPart& part) {
  std::memcpy(part.to, reinterpret_cast<const std::byte*>(part.begin), part.bytes());
}

// Sandboxes forbid it. Then memory that the program unmaps meanwhile would end it.
base::Status can_copy() {
  const std::byte from{1};
  std::byte to{0};
  const int error = os::copy_own_memory(reinterpret_cast<std::uint64_t>(&from), &to, 1);
  if (error == 0) return {};
  return base::fail(PERDURE_UNSUPPORTED, "process_vm_readv", base::errno_error(error, "", "").cause);
}

base::Status can_protect() {
  const std::uint64_t pinned = os::pinned_bytes();
  const std::string device = pinned == 0 ? os::silent_device() : "";
  if (!device.empty())
    return base::fail(PERDURE_UNSUPPORTED, device,
                      "it is open, and may write to memory that is registered with it, which nothing says");
  if (pinned == 0) return can_copy();
  return base::fail(
      PERDURE_UNSUPPORTED, "memory of the program",
      base::format_bytes(pinned) + " of it are registered with devices, whose writes nothing can hold up");
}

}  // namespace

ProtectedCopy::ProtectedCopy(os::WriteProtection protection, std::vector<capture::CopyPart> ranges,
                             std::uint64_t block_bytes)
    : protection_(std::move(protection)),
      ranges_(std::move(ranges)),
      blocks_(ranges_, block_bytes),
      mine_(ranges_.size()),
      state_(State{blocks_}),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  for (std::size_t range = 0; range <= ranges_.size(); ++range) first_.push_back(blocks_.first_of(range));
}

base::Result<std::unique_ptr<ProtectedCopy>> ProtectedCopy::begin(const std::vector<capture::CopyPart>& parts,
                                                                  os::WriteReach least_reach,
                                                                  const CopyLimits& limits) {
  const auto is_long = [&](const capture::CopyPart& part) { return part.bytes() >= limits.least_bytes; };
  if (std::none_of(parts.begin(), parts.end(), is_long)) return nullptr;  // the list of all memory costs more
  std::vector<os::AddressRange> within;
  for (const auto& part : parts)
    if (is_long(part)) within.push_back({part.begin, part.end});
  PERDURE_TRY(const auto memory, os::private_memory(within));
  capture::CopyChoiceLimits choice_limits;
  choice_limits.page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  choice_limits.least_bytes = limits.least_bytes;
  auto choice = capture::choose_copy(parts, pairs_of(memory), choice_limits);
  if (choice.later.empty()) return nullptr;
  PERDURE_CHECK(can_protect());
  PERDURE_TRY(auto protection, os::WriteProtection::open());
  if (protection.reach() < least_reach)
    return base::fail(PERDURE_UNSUPPORTED, "userfaultfd",
                      "writes of the kernel would fail (capture.mode=cow allows it)");
  std::unique_ptr<ProtectedCopy> copy(
      new ProtectedCopy(std::move(protection), std::move(choice.later), limits.block_bytes));
  PERDURE_CHECK(copy->start());
  copy->protect_all();
  std::uint64_t at_once = 0;
  for (const auto& part : choice.now) {
    copy_now(part);
    at_once += part.bytes();
  }
  const auto state = copy->state_.lock();
  state->counts.copied_at_once += at_once;
  return copy;
}

// Starts the thread before anything is protected: a write that waits is answered.
base::Status ProtectedCopy::start() {
  if (!stop_) return base::fail(base::errno_error(errno, "eventfd", "copy on write"));
  answering_.cpus = os::own_cpus();
  PERDURE_TRY(thread_, os::Thread::start(
                           "copy on write", [this] { serve(); }, [](const base::Error&) { return true; }));
  return {};
}

// Protects each range by itself, though neighbours in one call would be a little quicker. The page between two of them
// may have memory that is in no region, and writes to that must not wait.
void ProtectedCopy::protect_all() {
  for (std::size_t range = 0; range < ranges_.size(); ++range) {
    mine_[range] = protection_.protect(ranges_[range].begin, ranges_[range].end).has_value();
    if (!mine_[range]) copy_at_once(range);
  }
}

// Another handle protects it, or there can be no more mappings.
void ProtectedCopy::copy_at_once(std::size_t range) {
  copy_now(ranges_[range]);
  const auto state = state_.lock();
  state->counts.copied_at_once += ranges_[range].bytes();
  for (std::size_t block = first_[range]; block < first_[range + 1]; ++block) {
    for (const auto event : {BlockEvent::take, BlockEvent::finish, BlockEvent::open})
      (void)state->plan.happens(block, event);
  }
}

// Gives the blocks to copy now; nothing: the wanted block is there.
std::optional<BlockRun> ProtectedCopy::take(std::size_t wanted) {
  auto state = state_.lock();
  const auto is_copying = [&] {
    const BlockState now = state->plan.state(wanted);
    return now == BlockState::copying || now == BlockState::awaited;
  };
  state.wait(changed_, [&] { return state->gone || !is_copying(); });
  if (state->gone || state->plan.state(wanted) != BlockState::untouched) return std::nullopt;
  return state->plan.take(wanted);
}

base::Status ProtectedCopy::complete(std::size_t wanted) {
  // Allocates nothing while blocks are taken: a thread that holds the allocator's lock may be waiting for one.
  for (;;) {
    base::attempt([this] { make_way(); });
    const auto run = take(wanted);
    if (!run) break;
    const auto part = blocks_.part(*run);
    const int error = bounced_.copy(kCompleting, part.begin, part.to, part.bytes());
    os::crash_point(os::CrashPoint::checkpoint_chunk_half);
    while (finish(*run, error) == Answer::later) os::sleep_ns(kSoonNs);
  }
  if (!gone()) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, "protected regions",
                    "memory was unmapped, moved or dropped while it was captured",
                    "unprotect a region before its memory is given back");
}

// Moves the answering thread to another processor. A waiting writer has left its processor to that thread. But the
// system may make that thread wait for this one's whole time slice. Checked again and again, because this thread is not
// pinned.
void ProtectedCopy::make_way() {
  const int here = ::sched_getcpu(), thread = answering_.thread;
  if (here < 0 || thread == 0 || std::exchange(answering_.not_on, here) == here) return;
  const os::CpuSet others = answering_.cpus - os::CpuSet{static_cast<unsigned>(here)};
  if (!others.empty()) os::set_cpus_of_thread(thread, others);
}

bool ProtectedCopy::gone() {
  const auto state = state_.lock();
  return state->gone;
}

// Holds the lock from the look at the blocks' states until it is known that nobody drops memory. So the copy has the
// content at the call. A thread that drops memory has it dropped only when its event is read, with the lock held. Or it
// keeps the kernel from allowing writes until then. The kernel reports that even when it is asked to allow none.
ProtectedCopy::Answer ProtectedCopy::finish(const BlockRun& run, int error) {
  const auto part = blocks_.part(run);
  const auto state = state_.lock();
  if (abandon(*state, run)) return Answer::yes;
  // With a smaller reach, writes by the kernel fail instead of waiting: the memory is opened as soon as possible.
  const bool open = protection_.reach() != os::WriteReach::all || state->plan.any(run, BlockState::awaited);
  if (open) return settle(*state, run, error, protection_.allow(part.begin, part.end), true);
  const bool changes = protection_.changes();
  return settle(*state, run, error, changes ? Allowed::not_now : Allowed::done, false);
}

// Runs in the thread that answers. No event is read meanwhile, because no other thread reads them. So it needs no lock
// while it allows writes, which takes its time.
ProtectedCopy::Answer ProtectedCopy::finish_awaited(const BlockRun& run, int error) {
  {
    const auto state = state_.lock();
    if (abandon(*state, run)) return Answer::yes;
  }
  const auto part = blocks_.part(run);
  const auto allowed = protection_.allow(part.begin, part.end);
  const auto state = state_.lock();
  return settle(*state, run, error, allowed, true);
}

// Leaves dropped blocks alone: another handle may protect the memory that is there now.
bool ProtectedCopy::abandon(State& state, const BlockRun& run) {
  if (!state.plan.any(run, BlockState::lost)) return false;
  for (std::size_t block = run.first; block < run.first + run.count; ++block) {
    const auto part = blocks_.block(block);
    if (state.plan.state(block) == BlockState::lost)
      protection_.wake(part.begin, part.end);  // its event covered only a part of it
    else
      lose(state, part.begin, part.end);
  }
  return true;
}

ProtectedCopy::Answer ProtectedCopy::settle(State& state, const BlockRun& run, int error, Allowed allowed, bool open) {
  if (allowed == Allowed::not_now) return Answer::later;
  if (error == 0 && allowed == Allowed::done) {
    state.plan.happens(run, BlockEvent::finish);
    if (open) state.plan.happens(run, BlockEvent::open);
  } else {
    const auto part = blocks_.part(run);
    lose(state, part.begin, part.end);
  }
  changed_.notify_all();
  return Answer::yes;
}

// Threads that wait there go on, into whatever memory is there now.
void ProtectedCopy::lose(State& state, std::uint64_t begin, std::uint64_t end) {
  if (state.plan.lose(begin, end)) state.gone = true;
  if (protection_.allow(begin, end) != os::WriteProtection::Answer::done) protection_.wake(begin, end);
  changed_.notify_all();
}

// The thread that answers allocates nothing, and takes no lock under which any thread allocates. A thread that holds
// the allocator's lock may be waiting for an answer.
void ProtectedCopy::serve() {
  answering_.thread = os::thread_number();
  bounced_.prepare();
  bool stopped = false;
  while (!stopped || protection_.changes()) {
    std::array<pollfd, 2> both = {{{protection_.fd(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
    (void)::poll(both.data(), both.size(), stopped ? 1 : -1);
    stopped = (both[1].revents & POLLIN) != 0;
    take_events();
    while (waiting_.count > 0) serve_write(waiting_.writes[--waiting_.count]);
  }
}

void ProtectedCopy::take_events() {
  std::array<os::WriteEvent, os::WriteProtection::kMostEvents> events;
  const auto state = state_.lock();
  const std::size_t count = protection_.read(events);
  for (std::size_t i = 0; i < count; ++i) {
    const os::WriteEvent& event = events[i];
    if (event.what == os::WriteEvent::What::write) {
      if (waiting_.count < waiting_.writes.size())
        waiting_.writes[waiting_.count++] = event;
      else
        protection_.wake(event.begin, event.end);  // the writer asks again
      continue;
    }
    lose(*state, event.begin, event.end);
    if (event.moved_to != 0) (void)protection_.release(event.moved_to, event.moved_to + (event.end - event.begin));
  }
}

ProtectedCopy::Awaited ProtectedCopy::look_up(const os::WriteEvent& write) {
  const auto state = state_.lock();
  const auto at = state->plan.at(write.begin);
  if (!at) return {};
  Awaited found{state->plan.state(*at), {}};
  if (found.state == BlockState::untouched) {
    found.run = state->plan.take_faulted(*at);
    state->counts.waited_for += found.run.count;
    ++state->counts.waits;
  } else if (found.state == BlockState::copied) {
    found.run = state->plan.take_copied(*at);
  } else if (state->plan.happens(*at, BlockEvent::await)) {
    found.state = BlockState::awaited;
  }
  return found;
}

void ProtectedCopy::serve_write(const os::WriteEvent& write) {
  const Awaited found = look_up(write);
  if (found.state == BlockState::awaited) return;  // the thread that copies it answers
  if (found.state != BlockState::untouched) return open(write, found.run);
  const auto part = blocks_.part(found.run);
  const int error = bounced_.copy(kServing, part.begin, part.to, part.bytes());
  while (finish_awaited(found.run, error) == Answer::later) take_events();
}

// Opens the copied blocks around the write, or only the page if it is in none. Runs without the lock, as above. If
// their protection has ended although no event says that they were dropped, the time since which they could be written
// is unknown.
void ProtectedCopy::open(const os::WriteEvent& write, const BlockRun& run) {
  const auto part = run.count > 0 ? blocks_.part(run) : capture::CopyPart{write.begin, write.end};
  const auto allowed = protection_.allow(part.begin, part.end);
  if (allowed != Allowed::done) protection_.wake(write.begin, write.end);  // the writer asks again if it has to
  if (run.count == 0 || allowed == Allowed::not_now) return;
  const auto state = state_.lock();
  state->plan.happens(run, BlockEvent::open);
  if (allowed == Allowed::gone) state->gone = true;
}

CopyCounts ProtectedCopy::counts() {
  const auto state = state_.lock();
  CopyCounts counts = state->counts;
  counts.blocks = state->plan.size();
  return counts;
}

// Leaves dropped memory to close(), which ends only this descriptor's protection. Holds the lock: no event is read
// meanwhile.
void ProtectedCopy::release(const BlockRun& run) {
  const auto state = state_.lock();
  const auto is_ours = [&](const BlockRun& blocks) {
    return !state->plan.any(blocks, BlockState::dropped) && !state->plan.any(blocks, BlockState::lost);
  };
  const auto release_part = [&](const BlockRun& blocks) {
    const auto part = blocks_.part(blocks);
    return is_ours(blocks) && protection_.release(part.begin, part.end);
  };
  if (release_part(run)) return;
  for (std::size_t block = run.first; block < run.first + run.count; ++block) (void)release_part({block, 1});
}

// Kernels before 6.17 let one descriptor end another one's protection: so only our ranges are ended. The descriptor is
// closed last: threads that drop memory wait for their event to be read. That also releases memory that was moved and
// grew.
void ProtectedCopy::end() {
  if (std::exchange(over_, true)) return;
  for (std::size_t range = 0; range < ranges_.size(); ++range) {
    if (!mine_[range]) continue;
    for (std::size_t block = first_[range]; block < first_[range + 1];) {
      const BlockRun run = blocks_.until_multiple(block, kReleasedBytes);
      release(run);
      block += run.count;
    }
  }
  const std::uint64_t one = 1;
  if (thread_.joinable()) (void)!::write(stop_.get(), &one, sizeof one);
  thread_.join();
  protection_.close();
}

}  // namespace perdure::client
