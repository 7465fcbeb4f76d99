#pragma once
// What Perdure needs of a group of ranks. Members: solo (here), callers' own and MPI (through perdure_communicator).
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
  /// Equal sizes on all ranks; `all.size() == size() * mine.size()`.
  virtual base::Status allgather(base::ConstByteSpan mine, base::ByteSpan all) = 0;
  virtual base::Status broadcast(base::ByteSpan data, int root) = 0;
};

std::unique_ptr<Communicator> make_solo();
/// PERDURE_INVALID_ARGUMENT when a function is missing or rank and size make no sense.
base::Result<std::unique_ptr<Communicator>> make_from_c(const perdure_communicator& c);

/// Of the ranks that speak to all, such as the leaders of nodes: how many there are, and which one this is.
struct Speaker {
  std::size_t of = 0;
  std::optional<std::size_t> number = {};  ///< nothing: it only listens
};
/// Called with what each speaker says, in their order, but for those that say nothing.
using Told = std::function<base::Status(std::size_t speaker, base::ConstByteSpan bytes)>;
/// So much of what is told goes in one collective, and is held at a time by a rank that keeps nothing of it.
inline constexpr std::size_t kSliceBytes = 1U << 20;
/// Byte strings of any length, of each speaker to every rank. It costs the strings and 8 bytes for each speaker,
/// however many ranks listen. An error of `told` ends what this rank takes, not what all do; what it throws ends both.
base::Status tell_all(Communicator& comm, const Speaker& speaker, base::ConstByteSpan mine, const Told& told);
/// The same where all ranks know the lengths: `lengths[*speaker.number] == mine.size()`. One collective for each slice.
base::Status tell_all(Communicator& comm, const Speaker& speaker, base::ConstByteSpan mine,
                      const std::vector<std::uint64_t>& lengths, const Told& told);
/// Root's bytes on every rank.
base::Result<std::vector<std::byte>> broadcast_bytes(Communicator& comm, base::ConstByteSpan data, int root);

}  // namespace perdure::comm
