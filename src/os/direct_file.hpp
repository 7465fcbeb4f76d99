#pragma once
// Reads and writes files past the page cache (O_DIRECT). Writes make no copy and leave nothing to write at the sync.
// Reads do not evict other users' pages.
#include <cstdint>

#include "os/file.hpp"

namespace perdure::os {

/// A second descriptor of an open file. Thread-safe: all positions are explicit. Hooks see its calls as "open",
/// "pwrite" and "pread" with O_DIRECT among their flags.
class DirectFile {
 public:
  /// Memory, offset and length must be multiples of it. File systems that take O_DIRECT on disks with blocks of up to 4
  /// KiB ask for no more.
  static constexpr std::uint64_t kAlignment = 4096;

  DirectFile() = default;  ///< cannot read or write
  enum class For { writing, reading };
  /// Returns an empty one if the file system refuses O_DIRECT or is memory itself.
  static DirectFile beside(const File& file, For use = For::writing);
  explicit operator bool() const { return static_cast<bool>(fd_); }
  /// Returns how many bytes of `data`, from its beginning, can be written at `offset` with O_DIRECT; 0 unless both are
  /// aligned.
  static std::uint64_t aligned_part(std::uint64_t offset, base::ConstByteSpan data);
  /// Writes all of `data`, which must be aligned. Returns false if the file system refuses or something failed; part of
  /// the data may be written then. In that case the caller writes all of it by File::write, which reports the error if
  /// there is one besides O_DIRECT. Readers see the data at once; it is durable after File::sync_data.
  bool write(std::uint64_t offset, base::ConstByteSpan data) const;
  /// Reads from `offset` into `target`, both and its length aligned, and returns how many bytes it read. It reads less
  /// if the file ends, the file system refuses, or something failed: File::read tells which.
  std::size_t read(std::uint64_t offset, base::ByteSpan target) const;

 private:
  Fd fd_;
  std::string path_;
};

}  // namespace perdure::os
