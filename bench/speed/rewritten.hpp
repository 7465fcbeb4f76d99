#pragma once
// Memory whose pages are rewritten, each time with content of their own, so that what any page held at a moment can be
// told later without a copy of it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace perdure::bench {

enum class Order : std::uint8_t { sequential, random };

/// Pages to rewrite, in this order: a run of neighbours that begins anywhere, or any pages; none twice.
std::vector<std::uint32_t> draw_pages(std::size_t among, double fraction, Order order, std::uint64_t seed);

class Rewritten {
 public:
  static constexpr std::size_t kPageBytes = 4096;

  /// Rounded up to whole pages; all of them are written once.
  explicit Rewritten(std::size_t bytes);

  std::span<std::byte> memory() { return {memory_.get(), pages() * kPageBytes}; }
  std::size_t pages() const { return generations_.size(); }
  /// How many times each page was written: what all of the memory holds.
  const std::vector<std::uint32_t>& generations() const { return generations_; }

  void rewrite(const std::vector<std::uint32_t>& pages);

  /// Where `memory` differs from what the pages held at `generations`; empty: nowhere.
  static std::string difference(std::span<const std::byte> memory, const std::vector<std::uint32_t>& generations);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  std::vector<std::uint32_t> generations_;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace perdure::bench
