#pragma once
// What can be seen of the owner of a name by who wants it: whether its process is there, and whether it renews its
// record. What follows from that is decided by plan/lease.hpp.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "store/owner.hpp"

namespace perdure::store {

class OwnerWatch {
 public:
  /// `host`: where the watcher runs, as in Owner::host.
  explicit OwnerWatch(std::string host) : host_(std::move(host)) {}
  struct Seen {
    bool same_machine = false;   ///< its process can be looked for here
    bool process_lives = false;  ///< where it can be looked for
    bool renewed = false;        ///< while it was watched
    std::uint64_t watched_ns = 0;
  };
  /// `there` is the record as it is now. Of an owner that was not there at the last look the watch begins now.
  Seen look(const Owner& there);
  /// The record is damaged, so nobody knows whose it is. An owner that lives writes it again within a lease.
  Seen look_damaged();
  /// The record is damaged, as of the last look.
  bool damaged() const { return damaged_; }
  /// Who is watched, as it was when that began.
  const std::optional<Owner>& watched() const { return owner_; }

 private:
  std::string host_;
  std::optional<Owner> owner_;
  bool damaged_ = false;
  std::uint64_t since_ns_ = 0;
};

}  // namespace perdure::store
