#pragma once
// What Perdure needs of a group of ranks. Members: solo (here), callers' own and MPI (through perdure_communicator).
#include <cstdint>
#include <memory>
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

/// Gathers one byte string of any length from every rank (lengths first, then padded data).
base::Result<std::vector<std::vector<std::byte>>> allgather_bytes(Communicator& comm, base::ConstByteSpan mine);
/// The same in one collective, where all ranks know the lengths of all: `lengths[rank()] == mine.size()`. Where few
/// ranks have much and most have nothing, nothing is padded: it costs what there is to be told, however many ranks
/// there are.
base::Result<std::vector<std::vector<std::byte>>> allgather_known(Communicator& comm, base::ConstByteSpan mine,
                                                                  const std::vector<std::uint64_t>& lengths);
/// Root's bytes on every rank.
base::Result<std::vector<std::byte>> broadcast_bytes(Communicator& comm, base::ConstByteSpan data, int root);

}  // namespace perdure::comm
