#pragma once
// Writes one segment of a posix store. Inside this module only.
#include <atomic>

#include "os/file.hpp"
#include "store/posix_layout.hpp"
#include "store/store.hpp"

namespace perdure::store {

class PosixSink : public SegmentSink {
 public:
  static base::Result<std::unique_ptr<SegmentSink>> begin(const PosixLayout& layout, const segment::Manifest& manifest,
                                                          std::uint64_t file_bytes);
  static base::Result<std::unique_ptr<SegmentSink>> resume(const PosixLayout& layout, const segment::Manifest& manifest,
                                                           std::uint64_t file_bytes);
  ~PosixSink() override;
  base::Status write(std::uint64_t offset, base::ConstByteSpan data) override;
  base::Status commit() override;
  base::Status read(std::uint64_t offset, base::ByteSpan target) override;
  void keep(bool kept) override { kept_ = kept; }

 private:
  PosixSink(const PosixLayout& layout, const segment::Manifest& manifest, std::uint64_t file_bytes);
  base::Status check_wanted() const;
  base::Status make_directories() const;
  base::Status create();
  base::Status create_file();
  base::Status reopen(const segment::Manifest& manifest);
  base::Status take_up();
  base::Status copy_published();
  base::Status check_range(std::uint64_t offset, std::uint64_t bytes) const;
  base::Status check_whole() const;
  base::Status publish();
  base::Status accept_published();
  void discard() const;

  const PosixLayout layout_;
  const segment::VersionId id_;
  const segment::FileName segment_;
  const std::uint64_t file_bytes_;
  std::string temporary_;
  std::string final_;
  os::File file_;  ///< closed once the segment was committed or given up
  std::atomic<bool> kept_ = false;
  bool published_ = false;
};

}  // namespace perdure::store
