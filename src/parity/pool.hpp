#pragma once
// Allocates the memory of a parity server. It is never unmapped while the server lives: a client that still reads a
// returned piece reads other content, but valid memory.
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "base/bytes.hpp"
#include "os/memory_map.hpp"

namespace perdure::parity {

/// Thread-safe. Pieces are contiguous, multiples of kGranule, and placed best-fit.
class Pool : public std::enable_shared_from_this<Pool> {
 public:
  static constexpr std::uint64_t kGranule = 4096;

  /// Part of the pool; its destructor returns it.
  class Piece {
   public:
    Piece() = default;
    Piece(Piece&& other) noexcept { *this = std::move(other); }
    Piece& operator=(Piece&& other) noexcept;
    ~Piece();
    base::ByteSpan span() const;
    std::uint64_t bytes() const { return bytes_; }

   private:
    friend class Pool;
    std::shared_ptr<Pool> pool_;
    std::uint64_t offset_ = 0;
    std::uint64_t bytes_ = 0;  // as asked for
  };

  struct Room {
    std::uint64_t bytes = 0, free = 0, largest = 0;
  };

  /// `backed` allocates pages from the start, so that a starting server has its memory. PERDURE_NO_SPACE.
  static base::Result<std::shared_ptr<Pool>> make(std::uint64_t bytes, const std::string& name, bool backed);
  /// Returns a piece with arbitrary content; one of 0 bytes takes no room. PERDURE_NO_SPACE.
  base::Result<Piece> take(std::uint64_t bytes);
  Room room() const;

 private:
  Pool(os::Mapping mapping, std::string name);
  void give_back(std::uint64_t offset, std::uint64_t bytes);
  void add_free(std::uint64_t offset, std::uint64_t bytes);  // locked by the caller
  void remove_free(std::map<std::uint64_t, std::uint64_t>::iterator at);

  const os::Mapping mapping_;
  const std::string name_;
  mutable std::mutex mutex_;
  std::uint64_t free_bytes_ = 0;
  std::map<std::uint64_t, std::uint64_t> free_;                   // bytes by offset
  std::set<std::pair<std::uint64_t, std::uint64_t>> free_sizes_;  // bytes and offset
};

}  // namespace perdure::parity
