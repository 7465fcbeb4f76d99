#pragma once
// Slots between their grant and the stage of the piece that they belong to.
#include <optional>

#include "engine/ledger/captures.hpp"

namespace perdure::engine {

class SlotWrites {
 public:
  SlotWrites(NodeTables& node, Captures& captures) : node_(node), captures_(captures) {}

  /// The slot was granted for the request. `fresh`: the write also has to get memory.
  void take(ClientId client, const ipc::Grant& request, SlotKey slot, bool fresh);
  /// Nothing while the emulated device of its tier is still writing the chunk: ask again.
  std::optional<base::Status> written(ClientId client, const ipc::Written& written);
  /// Ignores slots that this client did not reserve, or has written already.
  void give_back(ClientId client, const ipc::GiveBack& back);
  /// Staged or given back: no rank writes it any more.
  void settle(SlotKey slot);
  /// All slots that the client was granted and has not staged; of one version if it is given.
  void release(ClientId client, const segment::VersionId* id);
  bool emulated() const;  ///< some tier is
  /// In so many seconds at the latest this write to an emulated tier may be over; 0: ask written() now.
  double ask_again_in_s(const ipc::Written& written) const;

 private:
  void learn(const Slots::Granted& granted, std::uint32_t tier, const std::optional<WriteTimes::Observation>& observed);

  NodeTables& node_;
  Captures& captures_;
};

}  // namespace perdure::engine
