#pragma once
// Past the memory that the system keeps of files (O_DIRECT): written without a copy, with nothing left for the sync to
// write; read without pushing out of that memory what others have there.
#include <cstdint>

#include "os/file.hpp"

namespace perdure::os {

/// A second way into a file that is open. Thread-safe: all positions are explicit. Hooks see its calls as "open",
/// "pwrite" and "pread" with O_DIRECT among their flags.
class DirectFile {
 public:
  /// What memory, offset and length must be multiples of: no file system that takes O_DIRECT on disks with blocks of up
  /// to 4 KiB asks for more.
  static constexpr std::uint64_t kAlignment = 4096;

  DirectFile() = default;  ///< no way
  enum class For { writing, reading };
  /// None where the file system refuses, or is memory itself.
  static DirectFile beside(const File& file, For use = For::writing);
  explicit operator bool() const { return static_cast<bool>(fd_); }
  /// Bytes of `data`, from its beginning, that can be written at `offset` like this; 0 unless both are aligned.
  static std::uint64_t aligned_part(std::uint64_t offset, base::ConstByteSpan data);
  /// All of it, aligned. False: the file system refuses, or something failed; some of it may be written, and all has to
  /// be written by File::write, which tells why where that is not only a matter of O_DIRECT. What is written is in the
  /// file for all who read it, and durable after File::sync_data.
  bool write(std::uint64_t offset, base::ConstByteSpan data) const;
  /// How many bytes of `target`, from its beginning, have what the file has from `offset` on; all three aligned. Fewer
  /// than all where the file ends, the file system refuses, or something failed: File::read tells which.
  std::size_t read(std::uint64_t offset, base::ByteSpan target) const;

 private:
  Fd fd_;
  std::string path_;
};

}  // namespace perdure::os
