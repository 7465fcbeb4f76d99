#include "engine/ledger/ledger.hpp"

namespace perdure::engine {

base::Status compact_catalog(Ledger& ledger) {
  std::optional<catalog::Compaction> compaction;
  {
    const auto state = ledger.lock();
    if (!state->catalog().worth_compacting()) return {};
    compaction = state->catalog().begin_compaction();
  }
  const base::Status written = compaction->write();
  {
    const auto state = ledger.lock();
    PERDURE_CHECK(state->catalog().finish_compaction(*compaction, written));
  }
  return compaction->sync_name();
}

}  // namespace perdure::engine
