#pragma once
// Tracks which chunks are being written to tiers, and measures the rate of each write. Knows no clock: times are
// seconds that never go back. Not thread-safe.
//
// A rank writes its slots in the order in which it got them, and asks for the next one ahead. So the write of a slot
// begins when it was granted, or when the write before it ended.
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace perdure::engine {

using ClientId = std::uint64_t;
using SlotKey = std::pair<std::uint32_t, std::uint64_t>;  ///< tier, slot

class WriteTimes {
 public:
  explicit WriteTimes(std::size_t tiers = 0) : tiers_(tiers) {}

  /// In the units of placement::DeviceModel: so many writers together reached this rate.
  struct Observation {
    unsigned writers = 0;  ///< on average while the chunk was written
    double bytes_per_s = 0;
  };

  void granted(double now_s, ClientId client, SlotKey slot);
  /// The write has ended. nullopt if the start of the write is unknown.
  std::optional<Observation> written(double now_s, ClientId client, SlotKey slot, std::uint64_t bytes);
  /// The slot will not be written any more.
  void dropped(double now_s, ClientId client, SlotKey slot);
  /// Counts the clients that write to the tier now, except `besides`.
  unsigned writers(std::uint32_t tier, ClientId besides = 0) const;

 private:
  struct Tier {
    unsigned writers = 0;
    double writer_seconds = 0;  // integral of `writers`
  };
  struct Client {
    std::deque<SlotKey> slots;  // the first is being written
    double began_s = 0, writer_seconds = 0;
  };
  void pass(double now_s);
  void begin(double now_s, Client& client);
  void remove(double now_s, ClientId id, SlotKey slot);

  std::vector<Tier> tiers_;
  std::map<ClientId, Client> clients_;
  double now_s_ = 0;
};

}  // namespace perdure::engine
