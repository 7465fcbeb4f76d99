#include "segment/hashed_range.hpp"

#include <algorithm>

namespace perdure::segment {
namespace {

constexpr std::size_t kHashedAtOnce = 64 * base::KiB;

// No manifest has so many zero bytes in a row: its strings are shorter, and numbers are in arrays with nonzero heads.
bool blank(base::ConstByteSpan block) {
  return block.size() >= 2 * base::CborReader::kMostString &&
         std::all_of(block.begin(), block.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

base::Status HashedRange::read(base::ByteSpan target) {
  PERDURE_CHECK(read_(begin_, target));
  begin_ += target.size();
  hasher_.update(target);
  return {};
}

base::Result<base::Hash128> HashedRange::rest(const std::string& object, const std::string& what) {
  std::vector<std::byte> block(std::min<std::uint64_t>(kHashedAtOnce, end_ - begin_));
  while (begin_ < end_) {
    const auto part = base::ByteSpan(block).first(std::min<std::uint64_t>(block.size(), end_ - begin_));
    const std::uint64_t at = begin_;
    PERDURE_CHECK(read(part));
    // So a file of holes does not cost the size that it claims.
    if (blank(part))
      return base::fail(PERDURE_CORRUPT, object,
                        what + " damaged: from offset " + std::to_string(at) + " on it is zero");
  }
  return hasher_.digest();
}

}  // namespace perdure::segment
