#pragma once
// How a lost chunk can be had out of what all nodes lend: where it still is, from its copy, or out of its stripe. Pure;
// what turns out to be damaged is left out from then on. (docs/adr/0014)
#include <memory>
#include <mutex>
#include <set>

#include "engine/loan.hpp"
#include "redundancy/restoration.hpp"

namespace perdure::engine {

struct ReconstructionTask {
  EncodingTask task;
  std::shared_ptr<const redundancy::Code> code;  ///< nullptr: one source, as it is
  bool rebuilt = false;                          ///< not simply fetched from where it still is
};

class Reconstruction {
 public:
  explicit Reconstruction(const std::vector<Loan>& loans);
  ~Reconstruction();
  /// With lengths and hashes; PERDURE_NOT_FOUND when nobody knows it.
  base::Result<segment::Piece> piece(std::uint32_t rank) const;
  /// PERDURE_CORRUPT, with the reason, when it cannot be had any more.
  base::Result<ReconstructionTask> task(std::uint32_t rank, std::uint32_t chunk) const;
  /// This source is damaged.
  void damaged(const EncodingTask::Source& source);
  /// This holder cannot be read any more.
  void gone(unsigned holder);

 private:
  class Group;
  std::optional<EncodingTask::Source> in_place(std::uint32_t rank, std::uint32_t chunk, unsigned item) const;
  bool usable(unsigned holder, const BlockPlace& place) const;
  void make_groups();
  void changed();

  const std::vector<Loan>& loans_;
  std::multimap<std::uint32_t, std::pair<unsigned, const Loan::Piece*>> pieces_;  // by rank: holder, piece
  std::set<std::pair<unsigned, BlockPlace>> damaged_;
  std::set<unsigned> gone_;
  std::vector<std::unique_ptr<Group>> groups_;
};

}  // namespace perdure::engine
