#pragma once
// Who writes the versions of one name in a store: one launch of one job at a time. A record that is compared and set;
// who may take it over is decided elsewhere (plan/lease.hpp).
#include <cstdint>
#include <optional>
#include <string>

#include "os/directory.hpp"

namespace perdure::store {

struct Owner {
  std::string job;             ///< option `job`: what lasts over restarts
  std::string study;           ///< option `case`: what the versions were computed from; empty: not said
  std::string launch;          ///< the same for restarts that one `perdure run` makes, else drawn at random
  std::string host;            ///< tells kernels and their process numbers apart (os::process_space())
  std::int32_t process = 0;    ///< rank 0
  std::uint64_t started = 0;   ///< of that process (os::process_started())
  std::string user;            ///< for people
  std::uint64_t since_ns = 0;  ///< wall clock of that host
  std::uint64_t lease_ns = 0;  ///< it renews the record several times in each
  std::uint64_t beat = 0;      ///< one more at each renewal
  bool ended = false;          ///< it closed in order: the name is free for its job
  friend bool operator==(const Owner&, const Owner&) = default;
  /// "job 'default' of alice, process 4711 on host n12, since 2026-11-23 18:17:06 UTC"
  std::string text() const;
};

/// The record as the content of a file, and back. PERDURE_CORRUPT names `object`.
std::string encode(const Owner& owner);
base::Result<Owner> decode_owner(const std::string& content, const std::string& object);

/// For stores that have a directory for each name: the record is the file `.owner` in it. None where that is not there.
base::Result<std::optional<Owner>> read_owner(const os::Directory& directory);
/// See Store::set_owner. A record that is damaged equals none. Compared and written under a lock; where files cannot be
/// locked, somebody who does so in the same millisecond is missed.
base::Status replace_owner(const os::Directory& directory, const std::optional<Owner>& expected, const Owner& next);
/// Nobody owns the name any more, or runs it. Repeatable.
base::Status remove_owner(const os::Directory& directory);

/// The same of who runs what was brought back of the name: the file `.runner`.
base::Result<std::optional<Owner>> read_runner(const os::Directory& directory);
base::Status replace_runner(const os::Directory& directory, const std::optional<Owner>& expected, const Owner& next);

}  // namespace perdure::store
