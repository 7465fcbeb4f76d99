#pragma once
// Reads how much file system quotas leave to this user.
#include <cstdint>
#include <optional>
#include <string>

namespace perdure::os {

/// The tighter quota of the user and of its group.
struct Quota {
  static constexpr std::uint64_t kUnlimited = UINT64_MAX;
  std::uint64_t limit_bytes = kUnlimited, used_bytes = 0;
  std::uint64_t limit_files = kUnlimited, used_files = 0;
  std::uint64_t left_bytes() const { return left(limit_bytes, used_bytes); }
  std::uint64_t left_files() const { return left(limit_files, used_files); }

 private:
  static std::uint64_t left(std::uint64_t limit, std::uint64_t used) {
    return limit == kUnlimited ? kUnlimited : limit > used ? limit - used : 0;
  }
};

/// Returns the tighter one, for bytes and for files separately.
Quota less_of(const Quota& one, const Quota& other);

/// Returns the quota on the file system of the directory `path`. Nothing: no quotas, or the kernel cannot say (NFS,
/// Lustre).
std::optional<Quota> quota(const std::string& path);

}  // namespace perdure::os
