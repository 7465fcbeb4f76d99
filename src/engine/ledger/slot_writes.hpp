#pragma once
// Manages slots from their grant until their piece is staged.
#include <optional>

#include "engine/ledger/captures.hpp"

namespace perdure::engine {

class SlotWrites {
 public:
  SlotWrites(NodeTables& node, Captures& captures) : node_(node), captures_(captures) {}

  /// The slot was granted for the request. `fresh`: the write also has to allocate memory.
  void take(ClientId client, const ipc::Grant& request, SlotKey slot, bool fresh);
  /// The client has written the slot. nullopt while the emulated device of its tier still writes the chunk: call it
  /// again.
  std::optional<base::Status> written(ClientId client, const ipc::Written& written);
  /// The client gives slots back. Those that it did not reserve, or has written already, are ignored.
  void give_back(ClientId client, const ipc::GiveBack& back);
  /// The slot is staged or given back, so no rank writes it any more.
  void settle(SlotKey slot);
  /// Releases all slots that the client was granted and has not staged; only of one version if it is given.
  void release(ClientId client, const segment::VersionId* id);
  bool emulated() const;  ///< some tier is
  /// Returns after how many seconds to call written() again for this write to an emulated tier; 0: call it now.
  double ask_again_in_s(const ipc::Written& written) const;

 private:
  void learn(const Slots::Granted& granted, std::uint32_t tier, const std::optional<WriteTimes::Observation>& observed);

  NodeTables& node_;
  Captures& captures_;
};

}  // namespace perdure::engine
