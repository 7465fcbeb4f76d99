// Spreads its threads, pages and memory policies over a machine's nodes, and notes where everything is. Then it waits
// for FILE, which names another file, and writes there what still is where it was. If it is captured and resumed in
// between, its notes come back with it.
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096, kHuge = 2 << 20;
constexpr unsigned kMost = 64;  // of nodes
using Numbers = std::vector<unsigned>;

Numbers numbers_of(const std::string& path) {
  Numbers numbers;
  std::ifstream file(path);
  for (std::string range; std::getline(file, range, ',');) {
    unsigned first = 0, last = 0;
    const int read = std::sscanf(range.c_str(), "%u-%u", &first, &last);
    for (unsigned n = first; read > 0 && n <= (read > 1 ? last : first); ++n) numbers.push_back(n);
  }
  return numbers;
}

const std::string kNodes = "/sys/devices/system/node";
Numbers cpus_of(unsigned node) { return numbers_of(kNodes + "/node" + std::to_string(node) + "/cpulist"); }

unsigned node_of(unsigned cpu) {
  for (const unsigned node : numbers_of(kNodes + "/online"))
    for (const unsigned other : cpus_of(node))
      if (other == cpu) return node;
  return kMost;
}

/// Returns the nodes of the pages; below 0: none.
std::vector<int> nodes_of(const char* memory, std::size_t bytes) {
  std::vector<void*> pages;
  for (std::size_t at = 0; at < bytes; at += kPage) pages.push_back(const_cast<char*>(memory) + at);
  std::vector<int> nodes(pages.size(), -1);
  syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0);
  return nodes;
}

struct Policy {
  int mode = 0;
  unsigned long nodes = 0;
  bool operator==(const Policy&) const = default;
};
Policy policy_at(const char* memory) {
  Policy policy;
  syscall(SYS_get_mempolicy, &policy.mode, &policy.nodes, kMost, memory, memory == nullptr ? 0 : MPOL_F_ADDR);
  return policy;
}

/// Memory, and its original placement.
struct Region {
  std::string name;
  char* memory = nullptr;
  std::size_t bytes = 0;
  std::vector<int> nodes;
  Policy policy;
};

char* map(std::size_t bytes, bool huge) {
  char* memory = static_cast<char*>(
      mmap(nullptr, bytes + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  memory += (kHuge - reinterpret_cast<std::size_t>(memory) % kHuge) % kHuge;
  madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return memory;
}

void touch(char* memory, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kPage) memory[at] = static_cast<char>(1 + at / kPage % 100);
}

bool has_content(const char* memory, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kPage)
    if (memory[at] != static_cast<char>(1 + at / kPage % 100)) return false;
  return true;
}

void bind(char* memory, std::size_t bytes, int mode, unsigned long nodes) {
  if (syscall(SYS_mbind, memory, bytes, mode, &nodes, kMost, 0) != 0) std::perror("mbind"), std::exit(1);
}

/// Returns memory that was placed on a node once and has no policy.
Region put_on(const std::string& name, unsigned node, std::size_t bytes, bool huge) {
  Region region{name, map(bytes, huge), bytes, {}, {}};
  bind(region.memory, bytes, MPOL_BIND, 1UL << node);
  touch(region.memory, bytes);
  bind(region.memory, bytes, MPOL_DEFAULT, 0);
  return region;
}

struct Worker {
  unsigned cpu = 0;
  Region own;
  cpu_set_t mask{};
  Policy policy;
  bool mask_kept = false, policy_kept = false;
  std::size_t local = 0;  // pages on the node where it runs
};

std::atomic<unsigned> ready{0};
std::atomic<bool> go{false};

void work(Worker& worker, int task_mode, unsigned long task_nodes) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(worker.cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
  constexpr std::size_t kBytes = 1 << 20;
  worker.own = {"thread", map(kBytes, false), kBytes, {}, {}};
  touch(worker.own.memory, kBytes);
  if (task_mode != 0) syscall(SYS_set_mempolicy, task_mode, &task_nodes, kMost);
  sched_getaffinity(0, sizeof worker.mask, &worker.mask);
  worker.policy = policy_at(nullptr);
  ++ready;
  while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // wait: it is captured meanwhile
  cpu_set_t now;
  sched_getaffinity(0, sizeof now, &now);
  worker.mask_kept = CPU_EQUAL(&now, &worker.mask);
  worker.policy_kept = policy_at(nullptr) == worker.policy;
  unsigned cpu = 0;
  while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &now)) ++cpu;
  const int home = static_cast<int>(node_of(cpu));
  if (!has_content(worker.own.memory, worker.own.bytes)) return;
  for (const int node : nodes_of(worker.own.memory, worker.own.bytes)) worker.local += node == home;
}

/// Returns how much of a mapping the kernel backs with huge pages, in KiB.
unsigned long huge_kib(const char* memory) {
  std::ifstream file("/proc/self/smaps");
  bool there = false;
  unsigned long sum = 0;
  for (std::string line; std::getline(file, line);) {
    unsigned long begin = 0, end = 0, kib = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
      there = begin <= reinterpret_cast<unsigned long>(memory) && reinterpret_cast<unsigned long>(memory) < end;
    else if (there && std::sscanf(line.c_str(), "AnonHugePages: %lu", &kib) == 1)
      sum += kib;
  }
  return sum;
}

/// Places pages on two nodes alternately.
Region mixed(unsigned one, unsigned other) {
  Region region{"mixed", map(kHuge, true), kHuge, {}, {}};
  syscall(SYS_madvise, region.memory, kHuge, MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < kHuge; at += kPage)
    bind(region.memory + at, kPage, MPOL_BIND, 1UL << (at / kPage % 2 == 0 ? one : other)),
        touch(region.memory + at, 1);
  bind(region.memory, kHuge, MPOL_DEFAULT, 0);
  touch(region.memory, kHuge);
  return region;
}

/// Makes memory with its own policy, the first half touched.
Region with_policy(const std::string& name, int mode, unsigned long nodes) {
  constexpr std::size_t kBytes = 1 << 20;
  Region region{name, map(2 * kBytes, false), kBytes, {}, {}};
  bind(region.memory, 2 * kBytes, mode, nodes);
  touch(region.memory, kBytes);
  return region;
}

void report(std::FILE* out, std::vector<Worker>& workers, std::vector<Region>& regions, const Policy& own) {
  std::size_t kept = 0, all = 0, masks = 0, policies = 0, local = 0, of_workers = 0;
  std::map<int, std::map<int, unsigned>> moved;
  bool content = true;
  const auto count = [&](const Region& region) {
    content = has_content(region.memory, region.bytes) && content;  // which also waits for pages that come later
    const auto now = nodes_of(region.memory, region.bytes);
    std::size_t same = 0;
    for (std::size_t i = 0; i < now.size(); ++i) same += now[i] == region.nodes[i], ++moved[region.nodes[i]][now[i]];
    kept += same;
    all += now.size();
    return same;
  };
  for (const Region& region : regions) {
    const auto same = count(region);
    const bool policy = policy_at(region.memory) == region.policy;
    policies += policy;
    std::fprintf(out, "region_%s %zu of %zu policy %s\n", region.name.c_str(), same, region.nodes.size(),
                 policy ? "kept" : "other");
  }
  for (Worker& worker : workers) {
    count(worker.own);
    masks += worker.mask_kept;
    policies += worker.policy_kept;
    local += worker.local;
    of_workers += worker.own.nodes.size();
  }
  policies += policy_at(nullptr) == own;
  for (const auto& [then, here] : moved)
    for (const auto& [node, pages] : here) std::fprintf(out, "pages_of_node %d on %d: %u\n", then, node, pages);
  std::fprintf(out, "pages_kept %zu of %zu\nmasks_kept %zu of %zu\npolicies_kept %zu of %zu\nlocal %zu of %zu\n", kept,
               all, masks, workers.size(), policies, workers.size() + regions.size() + 1, local, of_workers);
  // Memory touched from here on goes where the policies say.
  for (Region& region : regions)
    if (region.policy.mode != MPOL_DEFAULT) {
      touch(region.memory + region.bytes, region.bytes);
      std::size_t right = 0;
      const Policy policy = policy_at(region.memory);
      for (const int node : nodes_of(region.memory + region.bytes, region.bytes))
        right += node >= 0 && (policy.nodes >> node & 1) != 0;
      std::fprintf(out, "later_%s %zu of %zu\n", region.name.c_str(), right, region.bytes / kPage);
    }
  std::fprintf(out, "huge_kib %lu\ncontent %s\n", huge_kib(regions[0].memory), content ? "right" : "wrong");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return std::fprintf(stderr, "usage: spread FILE THREADS\n"), 2;
  const auto nodes = numbers_of(kNodes + "/online");
  const unsigned last = nodes.back(), other = nodes[nodes.size() / 2];
  const unsigned long all = nodes.size() == kMost ? ~0UL : (1UL << nodes.size()) - 1;
  std::vector<Region> regions;
  regions.push_back(put_on("huge", other, 4 * kHuge, true));
  regions.push_back(put_on("orphan", last, 4 << 20, false));
  regions.push_back(mixed(nodes.front(), other));
  regions.push_back(with_policy("bind", MPOL_BIND, 1UL << other));
  regions.push_back(with_policy("interleave", MPOL_INTERLEAVE, all));
  regions.push_back(with_policy("prefer", MPOL_PREFERRED, 1UL << last));
  regions.push_back(with_policy("many", MPOL_PREFERRED_MANY, 1UL << other));
  // The last node has no threads.
  Numbers cpus;
  for (const unsigned node : nodes)
    if (node != last || nodes.size() == 1)
      for (const unsigned cpu : cpus_of(node)) cpus.push_back(cpu);
  std::vector<Worker> workers(static_cast<std::size_t>(std::atoi(arguments[2])));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < workers.size(); ++t) {
    workers[t].cpu = cpus[t % cpus.size()];
    const int mode = t % 4 == 1 ? MPOL_INTERLEAVE : t % 4 == 2 ? MPOL_PREFERRED : 0;
    threads.emplace_back(work, std::ref(workers[t]), mode, mode == MPOL_PREFERRED ? 1UL << last : all);
  }
  while (ready < workers.size()) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // wait: a program's own
  const unsigned long preferred = 1UL << other;
  syscall(SYS_set_mempolicy, MPOL_PREFERRED, &preferred, kMost);
  const Policy own = policy_at(nullptr);
  for (Region& region : regions)
    region.nodes = nodes_of(region.memory, region.bytes), region.policy = policy_at(region.memory);
  for (Worker& worker : workers) worker.own.nodes = nodes_of(worker.own.memory, worker.own.bytes);
  std::printf("ready, huge_kib %lu\n", huge_kib(regions[0].memory));
  std::fflush(stdout);
  std::string path;
  while (!std::getline(std::ifstream(arguments[1]) >> std::ws, path))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // wait: it is captured meanwhile
  go = true;
  for (auto& thread : threads) thread.join();
  std::FILE* out = std::fopen(path.c_str(), "w");
  report(out, workers, regions, own);
  std::fclose(out);
  return 0;
}
