#include "automatic/guarded_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>

namespace perdure::automatic {
namespace {

// The signal handler may neither lock nor allocate, so all its data is static. A thread may enter the handler after the
// guard was removed, so pieces stay until the next ones replace them.
struct Guarded {
  std::atomic<std::uintptr_t> begin{0}, end{0}, touched{0};
};
constexpr std::size_t kMostPieces = 1024;
Guarded guarded[kMostPieces];
std::atomic<std::size_t> pieces_now{0};
std::atomic<bool> guarding{false};
std::atomic<std::uintptr_t> unknown{0};
std::atomic<int> unknown_times{0};
struct sigaction handler_before = {};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

bool open_up(std::uintptr_t begin, std::uintptr_t end) {
  return ::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) == 0;
}

bool is_ours(std::uintptr_t at) {
  const std::size_t count = pieces_now.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    Guarded& one = guarded[i];
    const std::uintptr_t begin = one.begin, end = one.end;  // read once: the next pieces may replace them
    if (at < begin || at >= end) continue;
    std::uintptr_t none = 0;
    one.touched.compare_exchange_strong(none, at);
    return open_up(begin, end);
  }
  return false;
}

// A fault at pieces that were replaced meanwhile does not recur; a fault of the program itself does.
bool comes_first(std::uintptr_t at) {
  constexpr int kMostTimes = 64;
  return unknown.exchange(at) != at && ++unknown_times < kMostTimes;
}

void hand_on(int signal, siginfo_t* info, void* context) {
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) return handler_before.sa_sigaction(signal, info, context);
  if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN)
    return handler_before.sa_handler(signal);
  ::sigaction(signal, &handler_before, nullptr);  // the same instruction faults again and ends the process
}

extern "C" void perdure_automatic_on_touch(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const bool ours = info->si_code == SEGV_ACCERR && (is_ours(at) || comes_first(at));
  errno = error;
  if (!ours) hand_on(signal, info, context);
}

void take_signal() {
  struct sigaction mine = {};
  mine.sa_sigaction = perdure_automatic_on_touch;
  mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&mine.sa_mask);
  ::sigaction(SIGSEGV, &mine, &handler_before);
}

// Skips this if the program has installed its own handler meanwhile.
void give_signal_back() {
  struct sigaction now = {};
  ::sigaction(SIGSEGV, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == perdure_automatic_on_touch)
    ::sigaction(SIGSEGV, &handler_before, nullptr);
}

// Returns private readable and writable memory except stacks, in the order of addresses.
std::vector<Bytes> ordinary_memory() {
  std::vector<Bytes> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%llx-%llx %4s", &begin, &end, rights) != 3) continue;
    if (std::string(rights) == "rw-p" && line.find("[stack") == std::string::npos)
      found.push_back({static_cast<std::uintptr_t>(begin), static_cast<std::uintptr_t>(end)});
  }
  return found;
}

// Splits pieces so that each part lies in one mapping; adjacent mappings may differ.
std::vector<Bytes> within(std::span<const Bytes> pieces, std::span<const Bytes> maps) {
  std::vector<Bytes> parts;
  for (const Bytes& piece : pieces)
    for (const Bytes& map : maps)
      if (const Bytes part{std::max(piece.begin, map.begin), std::min(piece.end, map.end)}; part.begin < part.end)
        parts.push_back(part);
  return parts;
}

}  // namespace

std::vector<Bytes> difference(std::vector<Bytes> all, std::vector<Bytes> without) {
  const auto by_begin = [](const Bytes& a, const Bytes& b) { return a.begin < b.begin; };
  std::sort(all.begin(), all.end(), by_begin);
  std::sort(without.begin(), without.end(), by_begin);
  std::vector<Bytes> rest;
  std::uintptr_t done = 0;  // memory before it is in the result, or excluded
  for (const Bytes& one : all) {
    done = std::max(done, one.begin);
    for (const Bytes& other : without) {
      if (other.end <= done || other.begin >= one.end) continue;
      if (other.begin > done) rest.push_back({done, other.begin});
      done = std::max(done, other.end);
    }
    if (done < one.end) rest.push_back({done, one.end});
    done = std::max(done, one.end);
  }
  return rest;
}

std::vector<Bytes> whole_pages(std::span<const Bytes> pieces, std::uintptr_t page_bytes) {
  std::vector<Bytes> pages;
  for (const Bytes& piece : pieces) {
    const Bytes page{(piece.begin + page_bytes - 1) / page_bytes * page_bytes, piece.end / page_bytes * page_bytes};
    if (page.begin < page.end) pages.push_back(page);
  }
  return pages;
}

void GuardedPages::guard(std::span<const Bytes> pieces) {
  (void)release();
  if (guarding.exchange(true)) return;
  guards_ = true;
  const auto pages = whole_pages(pieces, static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)));
  const auto parts = within(pages, ordinary_memory());
  pieces_now = 0;
  unknown = 0;
  unknown_times = 0;
  take_signal();
  std::size_t count = 0;
  for (const Bytes& part : parts) {
    if (count == kMostPieces) break;
    Guarded& one = guarded[count];
    one.touched = 0;
    one.begin = part.begin;
    one.end = part.end;
    pieces_now.store(++count, std::memory_order_release);  // before any thread can touch a page
    if (::mprotect(reinterpret_cast<void*>(part.begin), part.end - part.begin, PROT_NONE) == 0) continue;
    (void)open_up(part.begin, part.end);  // such as huge pages
    pieces_now.store(--count, std::memory_order_release);
  }
}

std::vector<std::uintptr_t> GuardedPages::release() {
  std::vector<std::uintptr_t> touched;
  if (!guards_) return touched;
  guards_ = false;
  const std::size_t count = pieces_now;
  for (std::size_t i = 0; i < count; ++i) {
    (void)open_up(guarded[i].begin, guarded[i].end);
    if (guarded[i].touched != 0) touched.push_back(guarded[i].touched);
  }
  give_signal_back();
  guarding = false;
  return touched;
}

}  // namespace perdure::automatic
