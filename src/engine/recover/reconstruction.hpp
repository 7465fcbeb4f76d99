#pragma once
// Finds sources for each lost chunk in what all nodes export: the chunk itself, or a sum of blocks that others have.
// Pure. A source that turns out to be damaged is not used again (docs/adr/0014).
#include <memory>
#include <mutex>
#include <set>

#include "engine/recover/exported_pieces.hpp"
#include "redundancy/restoration.hpp"

namespace perdure::engine {

struct ReconstructionTask {
  EncodingTask task;
  bool rebuilt = false;          ///< not simply fetched from a node that still has it
  redundancy::Block block = {};  ///< rebuilt: which one of its group
};

class Reconstruction {
 public:
  explicit Reconstruction(const std::vector<ExportedPieces>& exported);
  ~Reconstruction();
  /// Returns the piece with lengths and hashes. Fails with PERDURE_NOT_FOUND if no exporter has them.
  base::Result<segment::Piece> piece(std::uint32_t rank) const;
  /// Fails with PERDURE_CORRUPT, with the reason, if the chunk cannot be recovered any more.
  base::Result<ReconstructionTask> task(std::uint32_t rank, std::uint32_t chunk) const;
  /// Notes that this source is damaged.
  void damaged(const EncodingTask::Source& source);
  /// Notes that this holder cannot be read any more.
  void gone(unsigned holder);

 private:
  class Group;
  std::optional<EncodingTask::Source> in_place(std::uint32_t rank, std::uint32_t chunk,
                                               redundancy::Symbol factor) const;
  bool usable(unsigned holder, const BlockPlace& place) const;
  void make_groups();
  void changed();

  const std::vector<ExportedPieces>& exported_;
  std::multimap<std::uint32_t, std::pair<unsigned, const ExportedPieces::Piece*>> pieces_;  // by rank: holder, piece
  std::set<std::pair<unsigned, BlockPlace>> damaged_;
  std::set<unsigned> gone_;
  std::vector<std::unique_ptr<Group>> groups_;
};

}  // namespace perdure::engine
