#include "parity/pool.hpp"

#include <cstring>
#include <utility>

namespace perdure::parity {

Pool::Piece& Pool::Piece::operator=(Piece&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(offset_, other.offset_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Pool::Piece::~Piece() {
  if (pool_) pool_->give_back(offset_, base::round_up(bytes_, kGranule));
}

base::ByteSpan Pool::Piece::span() const {
  return pool_ ? base::ByteSpan(pool_->mapping_.data() + offset_, bytes_) : base::ByteSpan();
}

Pool::Pool(os::Mapping mapping, std::string name) : mapping_(std::move(mapping)), name_(std::move(name)) {
  add_free(0, mapping_.size());
}

base::Result<std::shared_ptr<Pool>> Pool::make(std::uint64_t bytes, const std::string& name, bool backed) {
  if (bytes < kGranule || bytes > (std::uint64_t{1} << 59U))
    return base::fail(PERDURE_INVALID_ARGUMENT, name, base::format_bytes(bytes) + " are no size for it");
  PERDURE_TRY(auto mapping, os::Mapping::anonymous(base::round_up(bytes, kGranule), name));
  mapping.advise_huge_pages();
  if (backed) {
    const auto populated = mapping.populate(0, mapping.size());
    if (!populated && populated.error().code == PERDURE_NO_SPACE) return base::fail(populated.error());
    if (!populated) std::memset(mapping.data(), 0, mapping.size());  // a kernel that cannot populate
  }
  return std::shared_ptr<Pool>(new Pool(std::move(mapping), name));
}

base::Result<Pool::Piece> Pool::take(std::uint64_t bytes) {
  Piece piece;
  if (bytes == 0) return piece;
  const std::lock_guard lock(mutex_);
  const auto fit =
      bytes > mapping_.size() ? free_sizes_.end() : free_sizes_.lower_bound({base::round_up(bytes, kGranule), 0});
  if (fit == free_sizes_.end())
    return base::fail(PERDURE_NO_SPACE, name_, "there is no room for " + std::to_string(bytes) + " bytes in one piece",
                      {}, true);
  const std::uint64_t wanted = base::round_up(bytes, kGranule);
  const auto [have, offset] = *fit;
  remove_free(free_.find(offset));
  if (have > wanted) add_free(offset + wanted, have - wanted);
  piece.pool_ = shared_from_this();
  piece.offset_ = offset;
  piece.bytes_ = bytes;
  return piece;
}

Pool::Room Pool::room() const {
  const std::lock_guard lock(mutex_);
  return {mapping_.size(), free_bytes_, free_sizes_.empty() ? 0 : free_sizes_.rbegin()->first};
}

void Pool::give_back(std::uint64_t offset, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  auto after = free_.lower_bound(offset);
  if (after != free_.end() && after->first == offset + bytes) {
    bytes += after->second;
    const auto joined = after++;
    remove_free(joined);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      remove_free(before);
    }
  }
  add_free(offset, bytes);
}

void Pool::add_free(std::uint64_t offset, std::uint64_t bytes) {
  free_.emplace(offset, bytes);
  free_sizes_.emplace(bytes, offset);
  free_bytes_ += bytes;
}

void Pool::remove_free(std::map<std::uint64_t, std::uint64_t>::iterator at) {
  free_sizes_.erase({at->second, at->first});
  free_bytes_ -= at->second;
  free_.erase(at);
}

}  // namespace perdure::parity
