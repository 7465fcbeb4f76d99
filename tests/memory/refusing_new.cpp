#include "refusing_new.hpp"

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

extern "C" {
extern const char __executable_start;
extern const char etext;
}

namespace perdure::test_support {

constexpr std::size_t kMostPlaces = 1U << 17, kMostDepth = 40;

struct Shared {
  RefusalPlan plan;
  std::atomic<std::int64_t> left = 0;
  std::atomic<std::uint64_t> places = 0;
  std::atomic<std::uint64_t> stack_depth = 0;
  std::array<char, 16> thread = {};
  std::array<std::uint64_t, kMostDepth> stack = {};
  std::array<std::atomic<std::uint64_t>, kMostPlaces> known = {};
};

namespace {

Shared* obeyed = nullptr;
thread_local int own = 0;            // number of live OwnMemory objects of this thread
thread_local std::uint64_t row = 0;  // number of allocations still to refuse
thread_local std::uint64_t granted_first = 0;

struct Stack {
  std::array<std::uint64_t, kMostDepth> addresses;
  std::size_t size = 0, most = 0, skipped = 0;
};

// Only counts the program's own functions, because libraries may be loaded and unloaded.
_Unwind_Reason_Code note(_Unwind_Context* context, void* into) {
  auto& stack = *static_cast<Stack*>(into);
  const auto address = static_cast<std::uint64_t>(_Unwind_GetIP(context));
  const auto begin = reinterpret_cast<std::uint64_t>(&__executable_start),
             end = reinterpret_cast<std::uint64_t>(&etext);
  if (address < begin || address >= end) return _URC_NO_REASON;
  if (stack.skipped++ < 3) return _URC_NO_REASON;  // operator new and its callees here
  stack.addresses[stack.size++] = address - begin;
  return stack.size < stack.most ? _URC_NO_REASON : _URC_END_OF_STACK;
}

std::uint64_t hash_of(const Stack& stack) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
  for (std::size_t i = 0; i < stack.size; ++i) {
    hash = (hash ^ stack.addresses[i]) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
  return std::max<std::uint64_t>(hash, 1);
}

enum class Place { known, new_one };

/// Looks the place up; with `add` it inserts a missing one.
Place look_up(Shared& shared, std::uint64_t hash, bool add) {
  for (std::size_t i = hash % kMostPlaces, looked = 0; looked < kMostPlaces; i = (i + 1) % kMostPlaces, ++looked) {
    std::uint64_t there = shared.known[i].load();
    if (there == hash) return Place::known;
    if (there != 0) continue;
    if (!add) return Place::new_one;
    if (shared.known[i].compare_exchange_strong(there, hash)) return Place::new_one;
    if (there == hash) return Place::known;
  }
  return Place::known;
}

[[gnu::noinline]] bool refused_here(Shared& shared) {
  Stack stack;
  stack.most = std::min<std::size_t>(shared.plan.depth, kMostDepth);
  _Unwind_Backtrace(note, &stack);
  const std::uint64_t hash = hash_of(stack);
  if (hash / 7 % shared.plan.each != shared.plan.chosen || look_up(shared, hash, false) == Place::known) return false;
  if (shared.left.fetch_sub(1) <= 0) {
    shared.left.fetch_add(1);
    return false;
  }
  if (look_up(shared, hash, true) == Place::known) {
    shared.left.fetch_add(1);
    return false;
  }
  ++shared.places;
  std::copy_n(stack.addresses.begin(), stack.size, shared.stack.begin());
  shared.stack_depth = stack.size;
  ::prctl(PR_GET_NAME, shared.thread.data());
  row = shared.plan.in_a_row - 1;
  return true;
}

[[gnu::noinline]] bool refused() {
  if (granted_first > 0 && --granted_first > 0) return false;
  if (own > 0) return false;
  if (row > 0) return row-- > 0;
  Shared* const shared = obeyed;
  if (shared == nullptr) return false;
  return shared->left.load(std::memory_order_relaxed) > 0 && refused_here(*shared);
}

Shared* mapped(const std::string& file, int flags) {
  const int fd = ::open(file.c_str(), flags | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0 || ((flags & O_CREAT) != 0 && ::ftruncate(fd, sizeof(Shared)) != 0)) std::abort();
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) std::abort();
  ::close(fd);
  return static_cast<Shared*>(memory);
}

}  // namespace

Refusals::Refusals(const std::string& file, const RefusalPlan& plan) : shared_(mapped(file, O_CREAT)) {
  new (shared_) Shared;
  shared_->plan = plan;
}

Refusals::~Refusals() { ::munmap(shared_, sizeof(Shared)); }

void Refusals::allow(int places) { shared_->left = places; }

bool Refusals::used() const { return shared_->left <= 0; }

std::uint64_t Refusals::places() const { return shared_->places; }

std::string Refusals::last() const {
  std::string text = "thread '" + std::string(shared_->thread.data()) + "', addresses";
  for (std::size_t i = 0; i < shared_->stack_depth; ++i) {
    std::array<char, 24> address{};
    std::snprintf(address.data(), address.size(), " 0x%llx", static_cast<unsigned long long>(shared_->stack[i]));
    text += address.data();
  }
  return text;
}

void obey_refusals(const std::string& file) {
  obeyed = mapped(file, 0);
  std::set_terminate([] {  // names the place, which a signal's number does not
    obeyed = nullptr;
    row = 0;
    std::array<void*, 64> frames{};
    ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), static_cast<int>(frames.size())), STDERR_FILENO);
    ::signal(SIGABRT, SIG_DFL);  // libraries of networks install handlers that end the process in order
    std::abort();
  });
}

OwnMemory::OwnMemory() { ++own; }
OwnMemory::~OwnMemory() { --own; }
RefusedHere::RefusedHere(std::uint64_t after, std::uint64_t count) {
  granted_first = after + 1;
  row = count;
}
RefusedHere::~RefusedHere() { granted_first = row = 0; }
bool RefusedHere::over() { return row == 0; }
PerduresMemory::PerduresMemory() : own_(std::exchange(own, 0)) {}
PerduresMemory::~PerduresMemory() {
  own = own_;
  row = 0;  // the next call is another try
}

}  // namespace perdure::test_support

// The array and non-throwing variants call these.
void* operator new(std::size_t bytes) {
  if (perdure::test_support::refused()) throw std::bad_alloc();
  void* memory = std::malloc(std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
