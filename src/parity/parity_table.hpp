#pragma once
// Keeps a parity server's content by id. Thread-safe; it reads no blocks.
#include <functional>
#include <map>
#include <mutex>
#include <variant>

#include "parity/record.hpp"

namespace perdure::parity {

class ParityTable {
 public:
  static constexpr std::size_t kMaxRecords = 1U << 16U;
  static constexpr std::size_t kMaxPage = 4096;

  explicit ParityTable(std::shared_ptr<Pool> pool) : pool_(std::move(pool)) {}

  struct Accepted {
    RecordPointer record;
    bool fresh = false;  ///< the caller has to encode it
  };
  /// Takes the room for the whole order, or none: see Client::encode.
  base::Result<Accepted> accept(const Order& order);
  void begin(const RecordPointer& record);
  /// Records success or failure; a failed order returns its room.
  void finish(const RecordPointer& record, const base::Status& outcome);

  Standing standing(ConstByteSpan id) const;
  base::Result<RecordPointer> done(ConstByteSpan id) const;
  base::Result<Kept> kept(ConstByteSpan id) const;

  using Expose = std::function<base::Result<network::RemoteMemory>(ByteSpan)>;
  base::Result<AreaPointer> allocate(ConstByteSpan id, std::uint64_t bytes, const Expose& expose);
  base::Result<AreaPointer> area(ConstByteSpan id) const;

  /// Forgets the entry. The caller withdraws the returned memory.
  AreaPointer drop(ConstByteSpan id);
  void give_up_all();  ///< orders in flight end soon
  std::vector<Listed> list(ConstByteSpan prefix, ConstByteSpan after) const;
  /// Returns counts and bytes of the table's content.
  Inventory inventory() const;

 private:
  using Entry = std::variant<RecordPointer, AreaPointer>;
  base::Status take_room(Record& record, const Order& order);
  tl::unexpected<base::Error> no_room_for(ConstByteSpan id, std::uint64_t wanted) const;
  Standing standing_of(const Record& record) const;
  /// Returns the existing memory of this name, or none. Locked by the caller.
  base::Result<AreaPointer> existing_area(ConstByteSpan id, std::uint64_t bytes) const;

  const std::shared_ptr<Pool> pool_;
  mutable std::mutex mutex_;
  std::map<Bytes, Entry> entries_;
};

}  // namespace perdure::parity
