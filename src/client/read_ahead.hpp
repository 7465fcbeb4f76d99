#pragma once
// Reads chunks of one rank ahead, one after the other: while the caller works with one, the next is read and verified.
#include <array>
#include <optional>
#include <vector>

#include "client/rank_image.hpp"
#include "os/thread.hpp"

namespace perdure::client {

/// Has the image to itself meanwhile. A verified chunk is a copy. Its slot may get another chunk while the bytes are
/// used, when another client of the engine gives its version up.
class ReadAhead {
 public:
  explicit ReadAhead(RankImage& image) : image_(image) {}
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Begins to read a chunk to `spans`, if there are any; they have to stay until take(). `aside`: another thread
  /// reads. If not, or if the system refuses a thread, take() reads.
  void begin(std::size_t chunk, std::vector<capture::MemorySpan> spans, bool aside);
  /// The chunk that was begun and not taken.
  std::optional<std::size_t> chunk() const;
  /// Waits for that chunk and gives its bytes, valid until the second begin() from now on; none if they went to spans.
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
