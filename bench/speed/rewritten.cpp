#include "rewritten.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <random>

namespace perdure::bench {
namespace {

constexpr std::size_t kWords = Rewritten::kPageBytes / sizeof(std::uint64_t);
constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;
constexpr std::size_t kAligned = 2U << 20;  // so that the system can use huge pages, as for large arrays

std::uint64_t first_word(std::size_t page, std::uint32_t generation) {
  return (static_cast<std::uint64_t>(page) << 32 | generation) * 0xbf58476d1ce4e5b9ULL + 1;
}

// Writes as fast as memory allows, because the writing is timed.
void write_page(std::byte* to, std::uint64_t word) {
  auto* words = reinterpret_cast<std::uint64_t*>(to);
  for (std::size_t i = 0; i < kWords; ++i) words[i] = word + i * kStep;
}

}  // namespace

std::vector<std::uint32_t> draw_pages(std::size_t among, double fraction, Order order, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto count =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::llround(static_cast<double>(among) * fraction)), 1, among);
  std::vector<std::uint32_t> pages(order == Order::random ? among : count);
  if (order == Order::sequential) {
    const std::size_t begin = std::uniform_int_distribution<std::size_t>(0, among - count)(random);
    std::iota(pages.begin(), pages.end(), static_cast<std::uint32_t>(begin));
    return pages;
  }
  std::iota(pages.begin(), pages.end(), 0U);
  std::shuffle(pages.begin(), pages.end(), random);
  pages.resize(count);
  return pages;
}

void Rewritten::Free::operator()(std::byte* memory) const { std::free(memory); }

Rewritten::Rewritten(std::size_t bytes) : generations_((bytes + kPageBytes - 1) / kPageBytes, 0) {
  const std::size_t all = (pages() * kPageBytes + kAligned - 1) / kAligned * kAligned;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAligned, all)));
  if (!memory_) throw std::bad_alloc();
  std::vector<std::uint32_t> every(pages());
  std::iota(every.begin(), every.end(), 0U);
  rewrite(every);
}

void Rewritten::rewrite(const std::vector<std::uint32_t>& pages) {
  for (const std::uint32_t page : pages)
    write_page(memory_.get() + page * kPageBytes, first_word(page, ++generations_[page]));
}

std::string Rewritten::difference(std::span<const std::byte> memory, const std::vector<std::uint32_t>& generations) {
  for (std::size_t page = 0; page < generations.size(); ++page) {
    const std::uint64_t word = first_word(page, generations[page]);
    for (std::size_t i = 0; i < kWords; ++i) {
      std::uint64_t found = 0;
      std::memcpy(&found, memory.data() + page * kPageBytes + i * sizeof found, sizeof found);
      if (found != word + i * kStep)
        return "page " + std::to_string(page) + " differs from its content at the call from byte " +
               std::to_string(i * sizeof found) + " on";
    }
  }
  return "";
}

}  // namespace perdure::bench
