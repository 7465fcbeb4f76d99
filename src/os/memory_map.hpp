#pragma once
// Maps files into shared memory, and allocates anonymous memory.
#include <cstdint>
#include <string>

#include "base/bytes.hpp"
#include "os/file.hpp"

namespace perdure::os {

/// A shared mapping, or anonymous memory, which its destructor unmaps. The file may be closed earlier.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  /// Maps [offset, offset + bytes) of the file; `offset` is a multiple of the page size. It is aligned to 2 MiB in
  /// memory if `offset` is. PERDURE_CORRUPT if the file is shorter.
  static base::Result<Mapping> map(const File& file, std::uint64_t offset, std::uint64_t bytes, bool writable);
  /// Allocates zeroed memory, aligned to 2 MiB, that no other process sees. `name` is for messages.
  static base::Result<Mapping> anonymous(std::uint64_t bytes, const std::string& name);
  std::byte* data() const { return data_; }
  std::uint64_t size() const { return size_; }
  void advise_huge_pages() const;  ///< best effort
  enum class Access { read, write };
  /// Backs [offset, offset + bytes) of a writable mapping with pages now. Without room it fails with PERDURE_NO_SPACE,
  /// where a later access would raise SIGBUS. Populating for reads takes a third of the time, but each later write then
  /// faults.
  base::Status populate(std::uint64_t offset, std::uint64_t bytes, Access access = Access::write) const;

 private:
  base::Status populate_through_file(std::uint64_t first, std::uint64_t length) const;

  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t offset_ = 0;
  std::string path_;  ///< for messages
  Fd file_;           ///< open only on kernels that cannot populate a mapping
};

}  // namespace perdure::os
