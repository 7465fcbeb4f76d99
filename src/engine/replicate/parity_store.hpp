#pragma once
// What the engine needs of the parity servers of its job: the scheme parity-server has its parities there. Thread-safe.
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
  /// Orders the parities of these blocks, by position and number, of the engines at `addresses`. May be repeated. True:
  /// they are there; false: ask again. PERDURE_NO_SPACE, PERDURE_PEER_FAILED and PERDURE_TIMEOUT are final.
  virtual base::Result<bool> order(const Group& group, const std::vector<std::vector<std::byte>>& addresses,
                                   const std::vector<std::vector<EncodingTask::Source>>& blocks) = 0;
  struct Parity {
    std::uint64_t bytes = 0;
    base::Hash128 hash;
  };
  /// By stripe; nothing when the server has none, or does not answer.
  virtual std::optional<std::vector<Parity>> find(const Group& group) = 0;
  struct Lost {
    unsigned position = 0;
    std::uint64_t stripe = 0;
    base::Hash128 hash;
  };
  struct Survivor {
    EncodingTask::Source source;     ///< item: its position
    std::vector<std::byte> address;  ///< of its engine; empty: it is here
    base::ConstByteSpan here;
  };
  /// The server reads the others' blocks, and hands out what is lost.
  virtual base::Status rebuild(const Group& group, const Lost& lost, const std::vector<Survivor>& survivors,
                               base::ByteSpan target) = 0;
  /// What this group has there. Best effort, as all that follows.
  virtual void drop(const Group& group) = 0;
  /// All of this version, whatever group and epoch, or of all older ones of its name but some.
  virtual void drop(const segment::VersionId& id) = 0;
  virtual void drop_older(const std::string& name, std::uint64_t attempt_ns, const std::set<std::uint64_t>& keep) = 0;
};

}  // namespace perdure::engine
