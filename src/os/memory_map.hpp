#pragma once
// Shared mappings of files, and memory of its own.
#include <cstdint>
#include <string>

#include "base/bytes.hpp"
#include "os/file.hpp"

namespace perdure::os {

/// A shared mapping, or anonymous memory; unmapped on destruction. The file may be closed meanwhile.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  /// Maps [offset, offset + bytes), offset a multiple of the page size; aligned to 2 MiB in memory when offset is.
  /// PERDURE_CORRUPT when the file is shorter.
  static base::Result<Mapping> map(const File& file, std::uint64_t offset, std::uint64_t bytes, bool writable);
  /// Zeroed memory, aligned to 2 MiB, that no other process sees. `name` is for messages.
  static base::Result<Mapping> anonymous(std::uint64_t bytes, const std::string& name);
  std::byte* data() const { return data_; }
  std::uint64_t size() const { return size_; }
  void advise_huge_pages() const;  ///< best effort
  enum class Access { read, write };
  /// Backs [offset, offset + bytes) with pages now; for a writable mapping. PERDURE_NO_SPACE instead of a later SIGBUS
  /// when there is no room. Pages that are only read are mapped in a third of the time; who writes to them then has a
  /// fault for each.
  base::Status populate(std::uint64_t offset, std::uint64_t bytes, Access access = Access::write) const;

 private:
  base::Status populate_through_file(std::uint64_t first, std::uint64_t length) const;

  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t offset_ = 0;
  std::string path_;  ///< for messages
  Fd file_;           ///< open only on a kernel that cannot populate a mapping
};

}  // namespace perdure::os
