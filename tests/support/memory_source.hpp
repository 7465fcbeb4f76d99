#pragma once
// Presents a segment in memory as a source that counts the bytes read from it.
#include <algorithm>
#include <string>
#include <vector>

#include "segment/reader.hpp"

namespace perdure::test_support {

class MemorySource : public segment::ByteSource {
 public:
  explicit MemorySource(std::vector<std::byte> bytes, std::string name = "memory.pds")
      : bytes_(std::move(bytes)), name_(std::move(name)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  const std::string& name() const override { return name_; }
  base::Status read(std::uint64_t offset, base::ByteSpan target) const override {
    if (offset > bytes_.size() || target.size() > bytes_.size() - offset)
      return base::fail(PERDURE_IO, name_, "read beyond the end");
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), target.size(), target.begin());
    largest_read_ = std::max<std::uint64_t>(largest_read_, target.size());
    return {};
  }
  std::vector<std::byte>& bytes() { return bytes_; }
  std::uint64_t largest_read() const { return largest_read_; }

 private:
  std::vector<std::byte> bytes_;
  std::string name_;
  mutable std::uint64_t largest_read_ = 0;
};

}  // namespace perdure::test_support
