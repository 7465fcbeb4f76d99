#include "segment/file_source.hpp"

#include <algorithm>
#include <mutex>

#include "os/file.hpp"
#include "segment/direct_stream.hpp"
#include "segment/read_past_cache.hpp"

namespace perdure::segment {
namespace {

class FileSource : public ByteSource {
 public:
  FileSource(os::File file, std::uint64_t size, DirectReads direct)
      : file_(std::move(file)), size_(size), past_cache_(direct == DirectReads::where_possible) {}
  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return file_.path(); }
  std::string identity() const override {
    const auto found = file_.identity();
    return found ? file_identity(*found) : std::string();
  }
  std::uint64_t zeros(std::uint64_t offset) const override {
    return std::min(file_.next_data(offset), size_) - std::min(offset, size_);
  }
  base::Status read(std::uint64_t offset, base::ByteSpan target) const override { return file_.read(offset, target); }
  std::unique_ptr<ByteStream> stream(std::uint64_t offset, std::uint64_t bytes) const override {
    auto direct = past_cache(offset, bytes) ? DirectStream::begin(file_, direct_, past_cache_, offset, bytes) : nullptr;
    return direct ? std::move(direct) : ByteSource::stream(offset, bytes);
  }

 private:
  bool past_cache(std::uint64_t offset, std::uint64_t bytes) const {
    if (!past_cache_ || offset > size_ || bytes > size_ - offset || bytes < kLeastPastCache) return false;
    if (!is_read_past_cache(bytes, os::cached_bytes(file_, offset, bytes))) return false;
    const std::lock_guard lock(mutex_);
    if (!direct_) direct_ = os::DirectFile::beside(file_, os::DirectFile::For::reading);
    if (!direct_) past_cache_ = false;  // refused
    return past_cache_;
  }

  os::File file_;
  std::uint64_t size_;
  mutable std::mutex mutex_;
  mutable os::DirectFile direct_;  ///< opened when first needed
  mutable std::atomic<bool> past_cache_;
};

}  // namespace

std::string file_identity(const os::FileIdentity& identity) {
  return std::to_string(identity.device) + ":" + std::to_string(identity.inode);
}

base::Result<std::unique_ptr<ByteSource>> open_file(const std::string& path, Cached cached) {
  PERDURE_TRY(os::File file, os::File::open(path, os::Open::read));
  return open_file(std::move(file), cached);
}

base::Result<std::unique_ptr<ByteSource>> open_file(os::File file, Cached cached, DirectReads direct) {
  if (cached == Cached::no) file.drop_cached();
  PERDURE_TRY(const std::uint64_t size, file.size());
  return std::make_unique<FileSource>(std::move(file), size, direct);
}

}  // namespace perdure::segment
