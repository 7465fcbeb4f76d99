#include "segment/file_source.hpp"

#include "os/file.hpp"

namespace perdure::segment {
namespace {

class FileSource : public ByteSource {
 public:
  FileSource(os::File file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return file_.path(); }
  base::Status read(std::uint64_t offset, base::ByteSpan target) const override { return file_.read(offset, target); }

 private:
  os::File file_;
  std::uint64_t size_;
};

}  // namespace

base::Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  PERDURE_TRY(os::File file, os::File::open(path, os::Open::read));
  PERDURE_TRY(const std::uint64_t size, file.size());
  return std::make_unique<FileSource>(std::move(file), size);
}

}  // namespace perdure::segment
