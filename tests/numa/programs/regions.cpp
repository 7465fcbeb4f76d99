// Checkpoints regions that are spread over a machine's nodes, and threads that are bound. `write` places and captures
// them. `read` restores them in a new process and reports what is where it was.
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "perdure/perdure.h"

namespace {

constexpr std::size_t kPage = 4096;
constexpr unsigned kMost = 64;  // of nodes
constexpr int kThreads = 4;

std::vector<int> online(const std::string& kind) {
  std::vector<int> numbers;
  std::ifstream file("/sys/devices/system/" + kind + "/online");
  for (std::string range; std::getline(file, range, ',');) {
    int first = 0, last = 0;
    const int read = std::sscanf(range.c_str(), "%d-%d", &first, &last);
    for (int n = first; read > 0 && n <= (read > 1 ? last : first); ++n) numbers.push_back(n);
  }
  return numbers;
}

struct Region {
  const char* name;
  std::size_t pages;
  std::size_t offset;  // of its first byte in its first page
  std::function<int(std::size_t)> node;
  char* memory = nullptr;
  char* data() const { return memory + offset; }
  std::size_t bytes() const { return pages * kPage - offset; }
};

char content(std::size_t i) { return static_cast<char>(1 + i * 31 / kPage % 100 + i % 7); }

void use_memory_of(int node) {
  const unsigned long mask = node < 0 ? 0 : 1UL << node;
  syscall(SYS_set_mempolicy, node < 0 ? MPOL_DEFAULT : MPOL_BIND, node < 0 ? nullptr : &mask, kMost);
}

void map(Region& region) {
  region.memory = static_cast<char*>(
      mmap(nullptr, region.pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(region.memory, region.pages * kPage, MADV_NOHUGEPAGE);
}

std::size_t on_their_node(const Region& region) {
  std::vector<void*> pages;
  for (std::size_t p = 0; p < region.pages; ++p) pages.push_back(region.memory + p * kPage);
  std::vector<int> nodes(pages.size(), -1);
  syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0);
  std::size_t right = 0;
  for (std::size_t p = 0; p < region.pages; ++p) right += nodes[p] == region.node(p);
  return right;
}

bool is_whole(const Region& region) {
  for (std::size_t i = 0; i < region.bytes(); ++i)
    if (region.data()[i] != content(i)) return false;
  return true;
}

void check(perdure_status status, perdure_t* handle, const char* what) {
  if (status == PERDURE_OK) return;
  std::printf("failed: %s: %s\n", what, perdure_error_text(handle));
  std::exit(1);
}

cpu_set_t one(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  return set;
}

/// Starts threads that register themselves; on `bound`, each is bound to a processor of its own. Makes `call` while
/// they run.
int masks_after(perdure_t* handle, bool bound, const std::function<void()>& call) {
  const auto cpus = online("cpu");
  std::barrier step(kThreads + 1);
  std::vector<std::thread> threads;
  std::vector<char> right(kThreads);
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const cpu_set_t wanted = one(cpus[static_cast<std::size_t>(kThreads - 1 - t) % cpus.size()]);
      if (bound) sched_setaffinity(0, sizeof wanted, &wanted);
      check(perdure_protect_thread(handle, t), handle, "protect_thread");
      step.arrive_and_wait();
      step.arrive_and_wait();
      cpu_set_t now;
      sched_getaffinity(0, sizeof now, &now);
      right[static_cast<std::size_t>(t)] = CPU_EQUAL(&now, &wanted) ? 1 : 0;
    });
  step.arrive_and_wait();
  call();
  step.arrive_and_wait();
  for (auto& thread : threads) thread.join();
  int count = 0;
  for (const char each : right) count += each;
  return count;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what != "write" && what != "read" && what != "read-touched")
    return std::fprintf(stderr, "usage: regions write|read|read-touched\n"), 2;
  const auto nodes = online("node");
  const int first = nodes.front(), last = nodes.back(), middle = nodes[nodes.size() / 2];
  std::vector<Region> regions{
      {"near", 1024, 0, [=](std::size_t) { return first; }},
      {"far", 2048, 0, [=](std::size_t) { return last; }},
      {"parts", 1024, 100, [=](std::size_t page) { return page < 300   ? middle
                                                          : page < 700 ? last
                                                                       : first; }},
      {"turns", 2048, 0, [=](std::size_t page) { return nodes[page % nodes.size()]; }}};
  perdure_t* handle = nullptr;
  char message[512] = "";
  if (perdure_open(nullptr, &handle, message, sizeof message) != PERDURE_OK)
    return std::printf("failed: open: %s\n", message), 1;
  for (std::size_t r = 0; r < regions.size(); ++r) {
    Region& region = regions[r];
    map(region);
    for (std::size_t p = 0; p < region.pages && what == "write"; ++p) {
      use_memory_of(region.node(p));
      region.memory[p * kPage + kPage - 1] = 0;
    }
    use_memory_of(what == "read-touched" ? first : -1);
    for (std::size_t p = 0; p < region.pages && what == "read-touched"; ++p) region.memory[p * kPage] = 0;
    use_memory_of(-1);
    for (std::size_t i = 0; i < region.bytes() && what == "write"; ++i) region.data()[i] = content(i);
    check(perdure_protect(handle, static_cast<int>(r), region.data(), 1, region.bytes()), handle, "protect");
  }
  const int masks = masks_after(handle, what == "write", [&] {
    check(
        what == "write" ? perdure_checkpoint(handle, "regions", 1) : perdure_restore(handle, "regions", PERDURE_LATEST),
        handle, what.c_str());
  });
  std::size_t right = 0, all = 0;
  bool whole = true;
  for (const Region& region : regions) {
    const std::size_t here = on_their_node(region);
    std::printf("of_%s %zu of %zu\n", region.name, here, region.pages);
    right += here;
    all += region.pages;
    whole = whole && is_whole(region);
  }
  std::printf("pages_kept %zu of %zu\nmasks_kept %d of %d\ncontent %s\n", right, all, masks, kThreads,
              whole ? "right" : "wrong");
  check(perdure_close(&handle), nullptr, "close");
  return 0;
}
