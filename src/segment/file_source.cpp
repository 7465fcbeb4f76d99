#include "segment/file_source.hpp"

#include <algorithm>

#include "os/file.hpp"

namespace perdure::segment {
namespace {

class FileSource : public ByteSource {
 public:
  FileSource(os::File file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
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

 private:
  os::File file_;
  std::uint64_t size_;
};

}  // namespace

std::string file_identity(const os::FileIdentity& identity) {
  return std::to_string(identity.device) + ":" + std::to_string(identity.inode);
}

base::Result<std::unique_ptr<ByteSource>> open_file(const std::string& path, Cached cached) {
  PERDURE_TRY(os::File file, os::File::open(path, os::Open::read));
  return open_file(std::move(file), cached);
}

base::Result<std::unique_ptr<ByteSource>> open_file(os::File file, Cached cached) {
  if (cached == Cached::no) file.drop_cached();
  PERDURE_TRY(const std::uint64_t size, file.size());
  return std::make_unique<FileSource>(std::move(file), size);
}

}  // namespace perdure::segment
