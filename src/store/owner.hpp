#pragma once
// The owner writes the versions of one name in a store: one launch of one job at a time. Its record is compared and
// set; plan/lease.hpp decides who may take it over.
#include <cstdint>
#include <optional>
#include <string>

#include "os/directory.hpp"

namespace perdure::store {

struct Owner {
  std::string job;             ///< option `job`: the identity that lasts over restarts
  std::string study;           ///< option `case`: the input of the versions; empty: not given
  std::string launch;          ///< the same for restarts that one `perdure run` makes; otherwise drawn at random
  std::string host;            ///< tells kernels and their process numbers apart (os::process_space())
  std::int32_t process = 0;    ///< rank 0
  std::uint64_t started = 0;   ///< start of that process (os::process_started())
  std::string user;            ///< for people
  std::uint64_t since_ns = 0;  ///< wall clock of that host
  std::uint64_t lease_ns = 0;  ///< it renews the record several times in each
  std::uint64_t beat = 0;      ///< one more at each renewal
  bool ended = false;          ///< it closed in order: the name is free for its job
  friend bool operator==(const Owner&, const Owner&) = default;
  /// Writes "job 'default' of alice, process 4711 on host n12, since 2026-11-23 18:17:06 UTC".
  std::string text() const;
};

/// Encode the record as the content of a file, and decode it. PERDURE_CORRUPT names `object`.
std::string encode(const Owner& owner);
base::Result<Owner> decode_owner(const std::string& content, const std::string& object);

/// For stores that have a directory for each name: the record is the file `.owner` in it. Empty if that is not there.
base::Result<std::optional<Owner>> read_owner(const os::Directory& directory);
/// See Store::set_owner. A damaged record equals none. Compares and writes under a lock. If files cannot be locked,
/// another writer in the same millisecond goes unnoticed.
base::Status replace_owner(const os::Directory& directory, const std::optional<Owner>& expected, const Owner& next);
/// Removes the owner of the name, and its runner. Repeatable.
base::Status remove_owner(const os::Directory& directory);

/// The same for the runner of the name's image: the file `.runner`.
base::Result<std::optional<Owner>> read_runner(const os::Directory& directory);
base::Status replace_runner(const os::Directory& directory, const std::optional<Owner>& expected, const Owner& next);

}  // namespace perdure::store
