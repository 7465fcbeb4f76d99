#pragma once
// Abstracts the ranks that compute a mesh together: MPI, a single process, or the threads of a test.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace perdure::mesh {

/// The other ranks as one of them sees them. Every call but the first two is collective. Errors throw
/// std::runtime_error.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  struct Message {
    int peer = 0;
    std::span<std::byte> bytes;  ///< to send from, or to receive into; both ends know its size
  };
  /// Sends and receives. Returns when its own messages have arrived and the others' are on their way. Messages between
  /// two ranks arrive in the order in which they were sent.
  virtual void exchange(std::span<const Message> receives, std::span<const Message> sends) = 0;

  enum class Combine { sum, least, most };
  /// Combines each of the values over all ranks; all ranks get the same bits.
  virtual void combine(std::span<double> values, Combine how) = 0;
  virtual void combine(std::span<std::int64_t> sums) = 0;
};

/// Returns the ranks of a single process.
std::unique_ptr<Ranks> one_rank();

}  // namespace perdure::mesh
