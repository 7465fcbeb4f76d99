#pragma once
// For tests only: gives a node more redundancy for others than fits into one message.
#include "catalog/catalog.hpp"
#include "os/system.hpp"

namespace perdure::engine {

/// Writes, in the directory of an engine that has ended, redundancy of another job with many ranks far apart.
inline base::Status keep_much(const std::string& directory, const std::string& name, std::uint64_t chunk_bytes) {
  catalog::RedundancySet kept{{{name, 2, {os::wall_clock_ns(), 1}}, 1}, 1U << 22, 0, "xor", 1, 1, {}, {}, false};
  kept.members.resize(2);
  for (std::uint32_t i = 0; i < 12'000; ++i) {
    auto& piece = kept.members[i % 2].emplace_back(segment::Piece{i * 200 + i * i % 100, chunk_bytes, {}, {}});
    if (i % 100 == 0) piece = {piece.rank, chunk_bytes, {{0, 1, chunk_bytes}}, {{0, chunk_bytes, {}, 0}}};
  }
  PERDURE_TRY(auto log, catalog::Catalog::open(directory));
  return log.append(catalog::RedundancyRecord{kept});
}

}  // namespace perdure::engine
