#pragma once
// Writes a segment as one object, in parts. Inside this module only.
#include <atomic>
#include <map>

#include "base/guarded.hpp"
#include "store/objects.hpp"
#include "store/store.hpp"

namespace perdure::store {

/// The bytes of a range that are there, as intervals. Pure.
class Coverage {
 public:
  void add(std::uint64_t begin, std::uint64_t end);
  /// Whether all of [0, end) is there.
  bool reaches(std::uint64_t end) const;

 private:
  std::map<std::uint64_t, std::uint64_t> intervals_;  // begin to end, apart from each other
};

/// How many bytes each part of an object of `bytes` bytes has, but the last. Pure.
std::uint64_t part_bytes(std::uint64_t bytes, const ObjectsProperties& properties);

class VersionUpload final : public SegmentSink {
 public:
  static base::Result<std::unique_ptr<SegmentSink>> begin(std::shared_ptr<Objects> objects,
                                                          const segment::Manifest& manifest, std::uint64_t file_bytes);
  base::Status write(std::uint64_t offset, base::ConstByteSpan data) override;
  base::Status commit() override;
  base::Status read(std::uint64_t offset, base::ByteSpan target) override;
  void keep(bool) override {}

 private:
  struct Part {
    std::vector<std::byte> bytes;  // empty: not begun, or sent
    Coverage there;
    enum class Is { filling, full, sending, sent } is = Is::filling;
  };
  struct State {
    std::vector<Part> parts;
    bool ended = false;
  };

  VersionUpload(std::shared_ptr<Objects> objects, const segment::Manifest& manifest, std::uint64_t file_bytes);
  std::uint64_t begin_of(std::uint32_t part) const { return part * part_bytes_; }
  std::uint64_t size_of(std::uint32_t part) const;
  bool stays(std::uint32_t part) const;
  void expect(const segment::Manifest& laid);
  void skip(std::uint64_t begin, std::uint64_t end);
  bool put_into(std::uint32_t part, std::uint64_t offset, base::ConstByteSpan data);
  base::Status send(std::uint32_t part);
  base::Status send_rest();
  base::Status publish();
  base::Status replace(const ObjectInfo& there);

  const std::shared_ptr<Objects> objects_;
  const segment::VersionId id_;
  const std::string key_;
  const std::string name_;  ///< for messages
  const std::uint64_t file_bytes_, part_bytes_;
  std::uint64_t tail_ = 0;  ///< where the chunks end
  std::unique_ptr<Upload> upload_;
  base::Guarded<State> state_;
};

}  // namespace perdure::store
