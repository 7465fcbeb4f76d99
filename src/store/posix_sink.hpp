#pragma once
// Writes one segment of a posix store. Use it inside this module only.
#include <atomic>

#include "os/direct_file.hpp"
#include "store/posix_place.hpp"
#include "store/store.hpp"

namespace perdure::store {

/// Says whether aligned data is written past the page cache, if the file system can.
enum class DirectIo { no, where_possible };

class PosixSink : public SegmentSink {
 public:
  static base::Result<std::unique_ptr<SegmentSink>> begin(const PosixPlace& place, const segment::Manifest& manifest,
                                                          std::uint64_t file_bytes, DirectIo direct);
  static base::Result<std::unique_ptr<SegmentSink>> resume(const PosixPlace& place, const segment::Manifest& manifest,
                                                           std::uint64_t file_bytes, DirectIo direct);
  ~PosixSink() override;
  base::Status write(std::uint64_t offset, base::ConstByteSpan data) override;
  base::Status commit() override;
  base::Status read(std::uint64_t offset, base::ByteSpan target) override;
  void keep(bool kept) override { kept_ = kept; }

 private:
  PosixSink(const PosixPlace& place, const segment::Manifest& manifest, std::uint64_t file_bytes);
  base::Status check_wanted() const;
  base::Status create();
  base::Status create_file(const os::Directory& version);
  base::Status reopen(const segment::Manifest& manifest);
  base::Status take_up(const os::Directory& version);
  base::Status copy_published(const os::Directory& version);
  void open_direct(DirectIo direct);
  bool write_direct(std::uint64_t offset, base::ConstByteSpan data);
  base::Status write_cached(std::uint64_t offset, base::ConstByteSpan data) const;
  base::Status check_range(std::uint64_t offset, std::uint64_t bytes) const;
  base::Status check_whole() const;
  base::Status publish();
  base::Status accept_published(const os::Directory& version);
  void discard() const;

  const PosixPlace place_;
  const segment::VersionId id_;
  const segment::FileName segment_;
  const std::uint64_t file_bytes_;
  const std::string final_name_;
  std::string temporary_;                ///< its name, beside the final one
  const std::string final_;              ///< the path, for messages
  os::File file_;                        ///< closed once the segment was committed or given up
  os::DirectFile direct_;                ///< closed once the segment was committed or abandoned
  std::atomic<bool> is_direct_ = false;  ///< until the file system refuses
  std::atomic<bool> kept_ = false;
  bool published_ = false;
  std::vector<segment::Borrowed> borrowed_;  ///< segments borrowed from other versions
};

}  // namespace perdure::store
