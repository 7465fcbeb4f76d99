#pragma once
// Hands each call to other objects: the base of those that add something to some calls.
#include "store/objects.hpp"

namespace perdure::store {

class ForwardingObjects : public Objects {
 public:
  explicit ForwardingObjects(std::shared_ptr<Objects> real) : Objects(real->properties()), real_(std::move(real)) {}
  base::Status get(const std::string& key, std::uint64_t offset, base::ByteSpan target,
                   const std::string& tag) override {
    return real_->get(key, offset, target, tag);
  }
  base::Result<std::string> put(const std::string& key, base::ConstByteSpan bytes,
                                const PutCondition& condition) override {
    return real_->put(key, bytes, condition);
  }
  base::Result<std::unique_ptr<Upload>> begin(const std::string& key) override { return real_->begin(key); }
  base::Result<std::vector<ObjectInfo>> list(const std::string& prefix, Depth depth) override {
    return real_->list(prefix, depth);
  }
  base::Status remove(const std::string& key) override { return real_->remove(key); }
  base::Result<ObjectInfo> stat(const std::string& key) override { return real_->stat(key); }
  base::Result<std::vector<OpenUpload>> uploads(const std::string& prefix) override { return real_->uploads(prefix); }
  base::Status abort(const OpenUpload& upload) override { return real_->abort(upload); }

 protected:
  Objects& real() const { return *real_; }

 private:
  const std::shared_ptr<Objects> real_;
};

}  // namespace perdure::store
