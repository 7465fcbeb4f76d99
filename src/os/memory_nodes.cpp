#include "os/memory_nodes.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "os/affinity.hpp"
#include "os/thread.hpp"

#ifndef MADV_POPULATE_WRITE  // missing in headers of the C library before 2.34
#define MADV_POPULATE_WRITE 23
#endif

namespace perdure::os {
namespace {

constexpr std::size_t kNodeWords = 1024 / (8 * sizeof(unsigned long));  // kernels have at most so many nodes
constexpr std::size_t kPagesOfACall = 512;

/// Sets the policy of the calling thread for the rest of its life.
bool prefer_memory_of(std::uint32_t node) {
  constexpr std::size_t kWordBits = 8 * sizeof(unsigned long);
  std::array<unsigned long, kNodeWords> words{};
  if (node >= kNodeWords * kWordBits) return false;
  words[node / kWordBits] |= 1UL << (node % kWordBits);
  // The kernel reads one bit less than the count says.
  return ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, words.data(), kNodeWords * kWordBits + 1) == 0;
}

/// Returns the whole pages that contain `memory`. Other content of the first and last page stays.
base::MemorySpan whole_pages(base::MemorySpan memory) {
  const std::uint64_t page = page_size();
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.address), end = begin + memory.length;
  const std::uint64_t before = begin % page, length = before + memory.length;
  return {memory.address - before, end == begin ? 0 : (length + page - 1) / page * page};
}

}  // namespace

std::uint64_t page_size() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

bool has_several_nodes() {
  static const bool several = read_cpus("/sys/devices/system/node/online").count() > 1;
  return several;
}

void find_nodes(std::span<void* const> addresses, std::span<int> nodes) {
  std::fill(nodes.begin(), nodes.end(), -1);
  const std::size_t count = std::min(addresses.size(), nodes.size());
  // Without target nodes the call only asks.
  if (count > 0 && ::syscall(SYS_move_pages, 0, count, addresses.data(), nullptr, nodes.data(), 0) != 0)
    std::fill(nodes.begin(), nodes.end(), -1);
}

bool has_memory_policy() {
  int mode = MPOL_DEFAULT;
  return ::syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0) == 0 && mode != MPOL_DEFAULT;
}

bool touch_on_nodes(std::span<const NodeMemory> memory) {
  std::atomic<bool> all{true};
  Threads threads;
  for (const auto& part : memory) {
    const auto touch = [&part, &all] {
      use_cpus(part.cpus);
      if (!prefer_memory_of(part.node)) {
        all = false;
        return;
      }
      for (const auto& span : part.memory) {
        const auto pages = whole_pages(span);
        if (pages.length > 0 && ::madvise(pages.address, pages.length, MADV_POPULATE_WRITE) != 0) all = false;
      }
    };
    const auto failed = [&all](const base::Error&) {
      all = false;
      return false;
    };
    if (!threads.start("touch memory", touch, failed)) all = false;
  }
  threads.join();
  return all;
}

void move_to_node(std::uint32_t node, base::MemorySpan memory) {
  const auto pages = whole_pages(memory);
  std::array<void*, kPagesOfACall> addresses;
  std::array<int, kPagesOfACall> targets, outcomes;
  targets.fill(static_cast<int>(node));
  for (std::uint64_t at = 0; at < pages.length;) {
    std::size_t count = 0;
    for (; count < kPagesOfACall && at < pages.length; at += page_size()) addresses[count++] = pages.address + at;
    (void)::syscall(SYS_move_pages, 0, count, addresses.data(), targets.data(), outcomes.data(), MPOL_MF_MOVE);
  }
}

}  // namespace perdure::os
