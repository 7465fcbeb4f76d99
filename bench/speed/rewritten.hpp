#pragma once
// Holds memory whose pages are rewritten, each time with new content. So the content of any page at an earlier time can
// be checked without a copy.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace perdure::bench {

enum class Order : std::uint8_t { sequential, random };

/// Draws pages to rewrite, in this order: a run of neighbours that begins anywhere, or any pages; none twice.
std::vector<std::uint32_t> draw_pages(std::size_t among, double fraction, Order order, std::uint64_t seed);

class Rewritten {
 public:
  static constexpr std::size_t kPageBytes = 4096;

  /// Rounds up to whole pages, and writes all of them once.
  explicit Rewritten(std::size_t bytes);

  std::span<std::byte> memory() { return {memory_.get(), pages() * kPageBytes}; }
  std::size_t pages() const { return generations_.size(); }
  /// How often each page was written, which determines all content.
  const std::vector<std::uint32_t>& generations() const { return generations_; }

  void rewrite(const std::vector<std::uint32_t>& pages);

  /// Describes where `memory` differs from the content at `generations`; empty if nowhere.
  static std::string difference(std::span<const std::byte> memory, const std::vector<std::uint32_t>& generations);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  std::vector<std::uint32_t> generations_;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace perdure::bench
