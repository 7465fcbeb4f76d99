#pragma once
// Chunks of one rank, one after the other: while somebody works with one, the next is read and verified.
#include <array>
#include <optional>
#include <vector>

#include "client/rank_image.hpp"
#include "os/thread.hpp"

namespace perdure::client {

/// The image is nobody else's meanwhile. What was verified is a copy: a slot may get another chunk while its bytes are
/// used, when another client of the engine gives its version up.
class ReadAhead {
 public:
  explicit ReadAhead(RankImage& image) : image_(image) {}
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// To `spans` where there are any, which have to stay until take(). `aside`: by another thread; where the system
  /// refuses one, and otherwise, by take().
  void begin(std::size_t chunk, std::vector<capture::MemorySpan> spans, bool aside);
  /// The one that was begun and not taken.
  std::optional<std::size_t> chunk() const;
  /// When it is read: its bytes, which are good until the second begin() from now on; none where they went to spans.
  base::Result<base::ConstByteSpan> take();

 private:
  struct Reading {
    std::size_t chunk = 0;
    std::vector<capture::MemorySpan> spans;
    std::vector<std::byte> buffer;
    std::optional<base::Status> outcome;
  };
  void read(Reading& reading);

  RankImage& image_;
  std::array<Reading, 2> readings_;
  std::size_t last_ = 0;
  bool begun_ = false;
  os::Thread thread_;
};

}  // namespace perdure::client
