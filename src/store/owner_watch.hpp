#pragma once
// A launch that wants a name watches its owner here: whether its process is there, and whether it renews its record.
// plan/lease.hpp draws the conclusions.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "store/owner.hpp"

namespace perdure::store {

class OwnerWatch {
 public:
  /// `host`: the host of the watcher, as in Owner::host.
  explicit OwnerWatch(std::string host) : host_(std::move(host)) {}
  struct Seen {
    bool same_machine = false;   ///< its process can be looked for here
    bool process_lives = false;  ///< its process is there, if it can be looked for
    bool renewed = false;        ///< it was renewed while it was watched
    std::uint64_t watched_ns = 0;
  };
  /// Looks. `there` is the record as it is now. If it is another owner than at the last look, the watch begins anew.
  Seen look(const Owner& there);
  /// Looks at a damaged record, whose owner is unknown. A living owner writes it again within a lease.
  Seen look_damaged();
  /// Tells whether the record was damaged at the last look.
  bool damaged() const { return damaged_; }
  /// The watched owner, as it was when the watch began.
  const std::optional<Owner>& watched() const { return owner_; }

 private:
  std::string host_;
  std::optional<Owner> owner_;
  bool damaged_ = false;
  std::uint64_t since_ns_ = 0;
};

}  // namespace perdure::store
