#pragma once
// Defines the group of ranks that Perdure needs. Members: solo (here), callers' own and MPI (through
// perdure_communicator).
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::comm {

enum class Reduce { minimum, maximum, sum };

/// All calls but rank() and size() are collective, block until every rank called, and run on the calling thread. A
/// failure means that the group is broken: PERDURE_PEER_FAILED.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual base::Status barrier() = 0;
  virtual base::Status allreduce(std::span<std::uint64_t> values, Reduce operation) = 0;
  /// Sizes are equal on all ranks; `all.size() == size() * mine.size()`.
  virtual base::Status allgather(base::ConstByteSpan mine, base::ByteSpan all) = 0;
  virtual base::Status broadcast(base::ByteSpan data, int root) = 0;
};

std::unique_ptr<Communicator> make_solo();
/// Fails with PERDURE_INVALID_ARGUMENT if a function is missing or rank and size are inconsistent.
base::Result<std::unique_ptr<Communicator>> make_from_c(const perdure_communicator& c);

/// The ranks that speak to all, such as the leaders of nodes: how many there are, and which one this is.
struct Speaker {
  std::size_t of = 0;
  std::optional<std::size_t> number = {};  ///< nothing: it only listens
};
/// Called with the string of each speaker, in their order, without empty ones.
using Told = std::function<base::Status(std::size_t speaker, base::ConstByteSpan bytes)>;
/// One collective transfers so much, and a rank that keeps nothing holds so much at a time.
inline constexpr std::size_t kSliceBytes = 1U << 20;
/// Sends the byte string of each speaker, of any length, to every rank. It costs the strings and 8 bytes for each
/// speaker, however many ranks listen. An error of `told` ends this rank's delivery, and the collective goes on. An
/// exception of `told` ends both.
base::Status tell_all(Communicator& comm, const Speaker& speaker, base::ConstByteSpan mine, const Told& told);
/// Does the same if all ranks know the lengths: `lengths[*speaker.number] == mine.size()`. One collective for each
/// slice.
base::Status tell_all(Communicator& comm, const Speaker& speaker, base::ConstByteSpan mine,
                      const std::vector<std::uint64_t>& lengths, const Told& told);
/// Returns root's bytes on every rank.
base::Result<std::vector<std::byte>> broadcast_bytes(Communicator& comm, base::ConstByteSpan data, int root);

}  // namespace perdure::comm
