#pragma once
// Reads a part of a segment once, in blocks, and hashes it on the way.
#include "base/cbor_reader.hpp"
#include "base/hash.hpp"
#include "segment/segment.hpp"

namespace perdure::segment {

class HashedRange {
 public:
  /// `read` must live until the end of this object's life.
  HashedRange(const ReadAt& read, std::uint64_t offset, std::uint64_t bytes)
      : read_(read), begin_(offset), end_(offset + bytes) {}
  HashedRange(const HashedRange&) = delete;
  HashedRange& operator=(const HashedRange&) = delete;
  /// Returns a reader of the next bytes, from the beginning.
  base::CborReader::Next next() {
    return [this](base::ByteSpan target) { return read(target); };
  }
  /// Reads the rest, and returns the hash of all. `what` names the part, in `object`.
  base::Result<base::Hash128> rest(const std::string& object, const std::string& what);

 private:
  base::Status read(base::ByteSpan target);

  const ReadAt& read_;
  std::uint64_t begin_, end_;
  base::Hasher hasher_;
};

}  // namespace perdure::segment
