// A program to be captured: its threads have touched this much memory, and keep writing to a small part of it. On
// SIGTERM it verifies all of its memory, and prints the result.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kWords = 512;  // of a page

volatile sig_atomic_t ends = 0;
void end(int) { ends = 1; }

struct Memory {
  std::uint64_t* words = nullptr;
  std::size_t pages = 0, hot = 0;  // each (pages / hot)-th page is written again and again
  bool is_hot(std::size_t page) const { return hot > 0 && page % (pages / hot) == 0; }
};

std::uint64_t value(std::size_t page, std::size_t word, std::uint64_t round) {
  std::uint64_t x = (page * kWords + word + 1) * 0x9e3779b97f4a7c15 + round;
  x ^= x >> 29;
  return x * 0xbf58476d1ce4e5b9;
}

void fill(const Memory& memory, std::size_t page, std::uint64_t round) {
  for (std::size_t word = 0; word < kWords; ++word) memory.words[page * kWords + word] = value(page, word, round);
}

bool right(const Memory& memory, std::size_t page, std::uint64_t round) {
  for (std::size_t word = 0; word < kWords; ++word)
    if (memory.words[page * kWords + word] != value(page, word, round)) return false;
  return true;
}

// Touches the pages of one thread, and writes the hot ones until the end. Returns how many are wrong at the end.
std::size_t live(const Memory& memory, std::size_t begin, std::size_t last, std::atomic<int>& touched) {
  for (std::size_t page = begin; page < last; ++page) fill(memory, page, 0);
  ++touched;
  std::uint64_t round = 0;
  while (ends == 0) {
    ++round;
    for (std::size_t page = begin; page < last; ++page)
      if (memory.is_hot(page)) fill(memory, page, round);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::size_t wrong = 0;
  for (std::size_t page = begin; page < last; ++page) wrong += !right(memory, page, memory.is_hot(page) ? round : 0);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t mib = 1024;
  std::size_t threads = 2;
  double hot = 0.01;
  CLI::App app("Memory that is captured");
  app.add_option("--mib", mib, "how much is touched")->check(CLI::Range(1, 1 << 20));
  app.add_option("--threads", threads, "that touch it")->check(CLI::Range(1, 1024));
  app.add_option("--written", hot, "share of its pages that is written again and again")->check(CLI::Range(0.0, 1.0));
  CLI11_PARSE(app, argc, argv);
  ::signal(SIGTERM, end);
  Memory memory;
  memory.pages = mib << 8;
  memory.hot = static_cast<std::size_t>(static_cast<double>(memory.pages) * hot);
  memory.words = static_cast<std::uint64_t*>(std::aligned_alloc(4096, memory.pages * 4096));
  if (memory.words == nullptr) return 2;
  std::atomic<int> touched{0};
  std::vector<std::size_t> wrong(threads);
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < threads; ++i)
    all.emplace_back(
        [&, i] { wrong[i] = live(memory, memory.pages * i / threads, memory.pages * (i + 1) / threads, touched); });
  while (touched < static_cast<int>(threads)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::printf("touched\n");
  std::fflush(stdout);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < threads; ++i) {
    all[i].join();
    sum += wrong[i];
  }
  std::printf("wrong %zu\n", sum);
  return sum == 0 ? 0 : 1;
}
