#pragma once
// Those who compute a mesh together: the seam to MPI, to one process alone, and to the threads of a test.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace perdure::mesh {

/// One of them sees the others. Every call but the first two is collective. What goes wrong throws std::runtime_error.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  struct Message {
    int peer = 0;
    std::span<std::byte> bytes;  ///< to be sent, or where what comes belongs; both ends know its size
  };
  /// Sends and receives; returns when all of its own are there, and the others' on their way. Between two ranks
  /// messages come in the order in which they were sent.
  virtual void exchange(std::span<const Message> receives, std::span<const Message> sends) = 0;

  enum class Combine { sum, least, most };
  /// Each of the values combined over all ranks, the same bits on all of them.
  virtual void combine(std::span<double> values, Combine how) = 0;
  virtual void combine(std::span<std::int64_t> sums) = 0;
};

/// A process by itself.
std::unique_ptr<Ranks> one_rank();

}  // namespace perdure::mesh
