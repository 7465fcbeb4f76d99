#pragma once
// Shared mappings of files.
#include <cstdint>

#include "base/bytes.hpp"
#include "os/file.hpp"

namespace perdure::os {

/// A shared mapping; unmapped on destruction. The file may be closed meanwhile.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  /// Maps [offset, offset + bytes), offset a multiple of the page size; aligned to 2 MiB in memory when offset is.
  static base::Result<Mapping> map(const File& file, std::uint64_t offset, std::uint64_t bytes, bool writable);
  std::byte* data() const { return data_; }
  std::uint64_t size() const { return size_; }
  void advise_huge_pages() const;  ///< best effort
  /// Backs [offset, offset + bytes) with pages now. PERDURE_NO_SPACE instead of a later SIGBUS when there is no room.
  base::Status populate(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace perdure::os
