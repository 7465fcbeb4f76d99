#include "os/memory_nodes.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <thread>

#include "os/affinity.hpp"

namespace perdure::os {
namespace {

constexpr std::size_t kPages = 16;

/// Maps pages that nobody has touched.
class Untouched {
 public:
  Untouched()
      : bytes_(kPages * page_size()),
        memory_(static_cast<std::byte*>(
            ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    ::madvise(memory_, bytes_, MADV_NOHUGEPAGE);
  }
  ~Untouched() { ::munmap(memory_, bytes_); }
  Untouched(const Untouched&) = delete;
  Untouched& operator=(const Untouched&) = delete;
  std::byte* page(std::size_t number) const { return memory_ + number * page_size(); }
  std::vector<int> nodes() const {
    std::vector<void*> addresses;
    for (std::size_t i = 0; i < kPages; ++i) addresses.push_back(page(i));
    std::vector<int> nodes(kPages);
    find_nodes(addresses, nodes);
    return nodes;
  }

 private:
  std::size_t bytes_;
  std::byte* memory_;
};

/// Returns a node from which this thread has memory.
int some_node() {
  const int value = 1;
  const void* const address = &value;
  int node = -1;
  find_nodes(std::span(const_cast<void* const*>(&address), 1), std::span(&node, 1));
  return node;
}

TEST(MemoryNodes, SayWherePagesAreAndThatThereIsNone) {
  if (some_node() < 0) GTEST_SKIP() << "the kernel does not say where pages are";
  const Untouched memory;
  *memory.page(3) = std::byte{1};
  const auto nodes = memory.nodes();
  EXPECT_GE(nodes[3], 0);
  EXPECT_LT(nodes[2], 0);
  EXPECT_LT(nodes[4], 0);
}

TEST(MemoryNodes, GetThePagesThatAreMissingAndNoContentChanges) {
  const int node = some_node();
  if (node < 0) GTEST_SKIP() << "the kernel does not say where pages are";
  const Untouched memory;
  *memory.page(3) = std::byte{7};
  const CpuSet before = own_cpus();
  // The ranges begin within a page, and end before the last byte of one.
  const std::vector<NodeMemory> parts{
      {static_cast<std::uint32_t>(node), before, {{memory.page(2) + 100, 3 * page_size()}, {memory.page(9), 1}}}};
  if (!touch_on_nodes(parts)) GTEST_SKIP() << "the kernel has no MADV_POPULATE_WRITE (before 5.14)";
  const auto nodes = memory.nodes();
  for (const std::size_t page : {2, 3, 4, 5, 9}) EXPECT_EQ(nodes[page], node) << page;
  for (const std::size_t page : {0, 1, 6, 8, 10}) EXPECT_LT(nodes[page], 0) << page;
  EXPECT_EQ(*memory.page(3), std::byte{7});
  EXPECT_EQ(*memory.page(2), std::byte{0});
  EXPECT_EQ(own_cpus(), before) << "the caller is where it was";
  EXPECT_FALSE(has_memory_policy());
  move_to_node(static_cast<std::uint32_t>(node), {memory.page(0), kPages * page_size()});
  EXPECT_EQ(memory.nodes(), nodes) << "all are there already";
}

TEST(MemoryNodes, ThatCannotHaveMemoryAreSaid) {
  const Untouched memory;
  const std::vector<NodeMemory> nowhere{{1023, {}, {{memory.page(0), 1}}}};
  EXPECT_FALSE(touch_on_nodes(nowhere));
  const std::vector<NodeMemory> beyond{{100'000, {}, {{memory.page(0), 1}}}};
  EXPECT_FALSE(touch_on_nodes(beyond));
}

TEST(MemoryNodes, OfOtherThreadsProcessorsAreReadAndSet) {
  const CpuSet all = own_cpus();
  int number = 0;
  std::atomic<int> step{0};
  CpuSet seen;
  std::thread other([&] {
    number = thread_number();
    step = 1;
    step.notify_all();
    step.wait(1);
    seen = own_cpus();
  });
  step.wait(0);
  EXPECT_EQ(cpus_of_thread(number), all);
  unsigned last = 0;
  for (unsigned cpu = 0; cpu < all.words().size() * 64; ++cpu)
    if (all.contains(cpu)) last = cpu;
  set_cpus_of_thread(number, {last});
  step = 2;
  step.notify_all();
  other.join();
  EXPECT_EQ(seen, CpuSet{last});
  EXPECT_EQ(own_cpus(), all);
  EXPECT_TRUE(cpus_of_thread(1).empty()) << "of another process";
}

}  // namespace
}  // namespace perdure::os
