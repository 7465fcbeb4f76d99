#include "store/object_source.hpp"

#include <algorithm>

#include "store/version_upload.hpp"

namespace perdure::store {
namespace {

class ObjectSource final : public segment::ByteSource {
 public:
  ObjectSource(std::shared_ptr<Objects> objects, ObjectInfo there)
      : objects_(std::move(objects)),
        there_(std::move(there)),
        name_(objects_->properties().location + "/" + there_.key) {}
  std::uint64_t size() const override { return there_.bytes; }
  const std::string& name() const override { return name_; }
  std::string identity() const override { return there_.tag; }
  base::Status read(std::uint64_t offset, base::ByteSpan target) const override {
    if (offset > there_.bytes || target.size() > there_.bytes - offset)
      return base::fail(PERDURE_CORRUPT, name_,
                        "it ends at byte " + std::to_string(there_.bytes) + ", before byte " +
                            std::to_string(offset + target.size()));
    return objects_->get(there_.key, offset, target, there_.tag);
  }

 private:
  const std::shared_ptr<Objects> objects_;
  const ObjectInfo there_;
  const std::string name_;
};

}  // namespace

base::Result<std::unique_ptr<segment::ByteSource>> open_object(std::shared_ptr<Objects> objects,
                                                               const std::string& key) {
  PERDURE_TRY(auto there, objects->stat(key));
  if (there.bytes == 0)
    return base::fail(PERDURE_NOT_FOUND, objects->properties().location + "/" + key, "it was set aside");
  return std::make_unique<ObjectSource>(std::move(objects), std::move(there));
}

base::Status copy_object(Objects& objects, const ObjectInfo& there, const std::string& to) {
  PERDURE_TRY(const auto upload, objects.begin(to));
  const std::uint64_t part = part_bytes(there.bytes, objects.properties());
  std::vector<std::byte> buffer(std::min(part, there.bytes));
  std::uint32_t parts = 0;
  for (std::uint64_t done = 0; done < there.bytes; done += part) {
    const auto block = base::ByteSpan(buffer).first(std::min<std::uint64_t>(part, there.bytes - done));
    PERDURE_CHECK(objects.get(there.key, done, block, there.tag));
    PERDURE_CHECK(upload->put(parts++, block));
  }
  const auto completed = upload->complete(parts, PutCondition::absent());
  if (completed) return {};
  // A completion whose answer was lost is tried again, and meets itself: nobody else has this key.
  const bool met = completed.error().code == PERDURE_EXISTS || completed.error().code == PERDURE_NOT_FOUND;
  const auto copied = met ? objects.stat(to) : base::Result<ObjectInfo>(base::fail(completed.error()));
  return copied && copied->bytes == there.bytes ? base::Status() : base::Status(base::fail(completed.error()));
}

}  // namespace perdure::store
