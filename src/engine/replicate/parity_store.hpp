#pragma once
// An engine uses its job's parity servers through this interface: they keep the parities of scheme parity-server.
// Thread-safe.
#include <optional>
#include <set>
#include <vector>

#include "engine/replicate/encoding.hpp"

namespace perdure::engine {

class ParityStore {
 public:
  virtual ~ParityStore() = default;
  struct Group {
    catalog::RedundancyId id;
    std::uint32_t number = 0;
  };
  /// Orders the parities of these blocks, by position and number, from the engines at `addresses`. May be repeated.
  /// True: they are there; false: ask again. Failures with PERDURE_NO_SPACE, PERDURE_PEER_FAILED and PERDURE_TIMEOUT
  /// are final.
  virtual base::Result<bool> order(const Group& group, const std::vector<std::vector<std::byte>>& addresses,
                                   const std::vector<std::vector<EncodingTask::Source>>& blocks) = 0;
  struct Parity {
    std::uint64_t bytes = 0;
    base::Hash128 hash;
  };
  /// Returns the parities by stripe; nullopt if the server has none, or does not answer.
  virtual std::optional<std::vector<Parity>> find(const Group& group) = 0;
  struct Lost {
    unsigned position = 0;
    std::uint64_t stripe = 0;
    base::Hash128 hash;
  };
  struct Survivor {
    EncodingTask::Source source;     ///< item: its position
    std::vector<std::byte> address;  ///< of its engine; empty: the block is here
    base::ConstByteSpan here;
  };
  /// The server reads the others' blocks, and returns the lost one.
  virtual base::Status rebuild(const Group& group, const Lost& lost, const std::vector<Survivor>& survivors,
                               base::ByteSpan target) = 0;
  /// Drops this group's parities. Best effort, like all that follow.
  virtual void drop(const Group& group) = 0;
  /// Drops all parities of this version, of any group and epoch; or of all older ones of its name except some.
  virtual void drop(const segment::VersionId& id) = 0;
  virtual void drop_older(const std::string& name, std::uint64_t attempt_ns, const std::set<std::uint64_t>& keep) = 0;
};

}  // namespace perdure::engine
