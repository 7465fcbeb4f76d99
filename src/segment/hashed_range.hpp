#pragma once
// A part of a segment that is read once, in blocks, and hashed on the way.
#include "base/cbor_reader.hpp"
#include "base/hash.hpp"
#include "segment/segment.hpp"

namespace perdure::segment {

class HashedRange {
 public:
  /// `read` is used until the end of this object's life.
  HashedRange(const ReadAt& read, std::uint64_t offset, std::uint64_t bytes)
      : read_(read), begin_(offset), end_(offset + bytes) {}
  HashedRange(const HashedRange&) = delete;
  HashedRange& operator=(const HashedRange&) = delete;
  /// Reads on, from the beginning.
  base::CborReader::Next next() {
    return [this](base::ByteSpan target) { return read(target); };
  }
  /// Reads what is left, and hashes it all. `what` is it, in `object`.
  base::Result<base::Hash128> rest(const std::string& object, const std::string& what);

 private:
  base::Status read(base::ByteSpan target);

  const ReadAt& read_;
  std::uint64_t begin_, end_;
  base::Hasher hasher_;
};

}  // namespace perdure::segment
