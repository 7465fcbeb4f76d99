#pragma once
// Keeps objects in memory: what store::Objects promises, without any server. Processes do not share them; stores of one
// process do, by the bucket.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/guarded.hpp"
#include "os/system.hpp"
#include "store/objects.hpp"

namespace perdure::test_support {

class MemoryBucket {
 public:
  struct Object {
    std::vector<std::byte> bytes;
    std::string tag;
    std::uint64_t put_ns = 0;
  };
  struct Parts {
    std::string key;
    std::map<std::uint32_t, std::vector<std::byte>> parts;
    std::uint64_t begun_ns = 0;
  };
  struct State {
    std::map<std::string, Object> objects;
    std::map<std::string, Parts> uploads;  // by id
    std::uint64_t next = 1;                // tag and id
  };
  base::Guarded<State>& state() { return state_; }
  /// As if somebody had removed the store.
  void clear() {
    const auto state = state_.lock();
    state->objects.clear();
    state->uploads.clear();
  }

 private:
  base::Guarded<State> state_;
};

/// The bucket of this name, which lives as long as somebody has it.
inline std::shared_ptr<MemoryBucket> memory_bucket(const std::string& name) {
  static base::Guarded<std::map<std::string, std::weak_ptr<MemoryBucket>>> all;
  const auto buckets = all.lock();
  auto& known = (*buckets)[name];
  auto bucket = known.lock();
  if (!bucket) known = bucket = std::make_shared<MemoryBucket>();
  return bucket;
}

class MemoryObjects final : public store::Objects {
 public:
  explicit MemoryObjects(std::shared_ptr<MemoryBucket> bucket)
      : Objects({"memory", "memory://bucket", true, 16 * 1024, 4096, 10'000}), bucket_(std::move(bucket)) {}

  base::Status get(const std::string& key, std::uint64_t offset, base::ByteSpan target,
                   const std::string& tag) override {
    const auto state = bucket_->state().lock();
    const auto found = state->objects.find(key);
    if (found == state->objects.end() || (!tag.empty() && found->second.tag != tag)) return missing(key);
    const auto& bytes = found->second.bytes;
    if (offset > bytes.size() || target.size() > bytes.size() - offset)
      return base::fail(PERDURE_INVALID_ARGUMENT, key, "the range is outside the object");
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), target.size(), target.begin());
    return {};
  }
  base::Result<std::string> put(const std::string& key, base::ConstByteSpan bytes,
                                const store::PutCondition& condition) override {
    const auto state = bucket_->state().lock();
    return put(*state, key, {bytes.begin(), bytes.end()}, condition);
  }
  base::Result<std::unique_ptr<store::Upload>> begin(const std::string& key) override {
    const auto state = bucket_->state().lock();
    const std::string id = std::to_string(state->next++);
    state->uploads[id] = {key, {}, os::wall_clock_ns()};
    return std::make_unique<InParts>(*this, id);
  }
  base::Result<std::vector<store::ObjectInfo>> list(const std::string& prefix, store::Depth depth) override {
    const auto state = bucket_->state().lock();
    std::vector<store::ObjectInfo> found;
    for (auto at = state->objects.lower_bound(prefix); at != state->objects.end(); ++at) {
      if (!at->first.starts_with(prefix)) break;
      const std::size_t slash = at->first.find('/', prefix.size());
      if (depth == store::Depth::one && slash != std::string::npos) {
        const std::string folder = at->first.substr(0, slash + 1);
        if (found.empty() || found.back().key != folder) found.push_back({folder, 0, {}, 0});
      } else {
        found.push_back(info(at->first, at->second));
      }
    }
    return found;
  }
  base::Status remove(const std::string& key) override {
    const auto state = bucket_->state().lock();
    state->objects.erase(key);
    return {};
  }
  base::Result<store::ObjectInfo> stat(const std::string& key) override {
    const auto state = bucket_->state().lock();
    const auto found = state->objects.find(key);
    if (found == state->objects.end()) return base::fail(missing(key).error());
    return info(found->first, found->second);
  }
  base::Result<std::vector<store::OpenUpload>> uploads(const std::string& prefix) override {
    const auto state = bucket_->state().lock();
    std::vector<store::OpenUpload> found;
    for (const auto& [id, parts] : state->uploads)
      if (parts.key.starts_with(prefix)) found.push_back({parts.key, id, os::wall_clock_ns() - parts.begun_ns});
    return found;
  }
  base::Status abort(const store::OpenUpload& upload) override {
    const auto state = bucket_->state().lock();
    state->uploads.erase(upload.id);
    return {};
  }

 private:
  class InParts final : public store::Upload {
   public:
    InParts(MemoryObjects& objects, std::string id) : objects_(objects), id_(std::move(id)) {}
    ~InParts() override { (void)objects_.abort({{}, id_, 0}); }
    base::Status put(std::uint32_t number, base::ConstByteSpan bytes) override {
      const auto state = objects_.bucket_->state().lock();
      const auto found = state->uploads.find(id_);
      if (found == state->uploads.end()) return missing("upload " + id_);
      found->second.parts[number] = {bytes.begin(), bytes.end()};
      return {};
    }
    base::Result<std::string> complete(std::uint32_t parts, const store::PutCondition& condition) override {
      const auto state = objects_.bucket_->state().lock();
      const auto found = state->uploads.find(id_);
      if (found == state->uploads.end()) return base::fail(missing("upload " + id_).error());
      std::vector<std::byte> whole;
      for (std::uint32_t number = 0; number < parts; ++number) {
        const auto part = found->second.parts.find(number);
        const bool fits = part != found->second.parts.end() &&
                          (number + 1 == parts || part->second.size() >= objects_.properties().least_part_bytes);
        if (!fits) return base::fail(PERDURE_INVALID_ARGUMENT, id_, "part " + std::to_string(number) + " is wrong");
        whole.insert(whole.end(), part->second.begin(), part->second.end());
      }
      auto tag = objects_.put(*state, found->second.key, std::move(whole), condition);
      if (tag) state->uploads.erase(found);
      return tag;
    }

   private:
    MemoryObjects& objects_;
    const std::string id_;
  };

  static base::Status missing(const std::string& what) {
    return base::fail(PERDURE_NOT_FOUND, what, "there is none in memory");
  }
  static store::ObjectInfo info(const std::string& key, const MemoryBucket::Object& object) {
    return {key, object.bytes.size(), object.tag, os::wall_clock_ns() - object.put_ns};
  }
  static base::Result<std::string> put(MemoryBucket::State& state, const std::string& key, std::vector<std::byte> bytes,
                                       const store::PutCondition& condition) {
    const auto found = state.objects.find(key);
    const bool there = found != state.objects.end();
    const bool holds =
        condition.is == store::PutCondition::Object::any ||
        (condition.is == store::PutCondition::Object::absent && !there) ||
        (condition.is == store::PutCondition::Object::tagged && there && found->second.tag == condition.tag);
    if (!holds) return base::fail(PERDURE_EXISTS, key, "the condition of the put does not hold");
    MemoryBucket::Object& object = state.objects[key];
    object = {std::move(bytes), std::to_string(state.next++), os::wall_clock_ns()};
    return object.tag;
  }

  const std::shared_ptr<MemoryBucket> bucket_;
};

}  // namespace perdure::test_support
