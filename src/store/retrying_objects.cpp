#include "store/retrying_objects.hpp"

#include <algorithm>

#include "os/system.hpp"
#include "store/forwarding_objects.hpp"

namespace perdure::store {
namespace {

class Retries {
 public:
  Retries(const RetryPolicy& policy, std::function<void(std::uint64_t)> pause)
      : policy_(policy), pause_(std::move(pause)) {}

  template <class Call>
  auto operator()(const Call& call) const {
    auto result = call();
    for (std::uint32_t tried = 1; !result && result.error().retryable && tried < policy_.most_tries; ++tried) {
      pause_(pause_ns(policy_, tried, os::random_u64()));
      result = call();
    }
    return result;
  }

 private:
  const RetryPolicy policy_;
  const std::function<void(std::uint64_t)> pause_;
};

class RetryingUpload final : public Upload {
 public:
  RetryingUpload(std::unique_ptr<Upload> real, const Retries& retries) : real_(std::move(real)), retries_(retries) {}
  base::Status put(std::uint32_t number, base::ConstByteSpan bytes) override {
    return retries_([&] { return real_->put(number, bytes); });
  }
  base::Result<std::string> complete(std::uint32_t parts, const PutCondition& condition) override {
    return retries_([&] { return real_->complete(parts, condition); });
  }

 private:
  const std::unique_ptr<Upload> real_;
  const Retries retries_;
};

class RetryingObjects final : public ForwardingObjects {
 public:
  RetryingObjects(std::shared_ptr<Objects> real, const RetryPolicy& policy, std::function<void(std::uint64_t)> pause)
      : ForwardingObjects(std::move(real)), retries_(policy, std::move(pause)) {}
  base::Status get(const std::string& key, std::uint64_t offset, base::ByteSpan target,
                   const std::string& tag) override {
    return retries_([&] { return real().get(key, offset, target, tag); });
  }
  base::Result<std::string> put(const std::string& key, base::ConstByteSpan bytes,
                                const PutCondition& condition) override {
    return retries_([&] { return real().put(key, bytes, condition); });
  }
  base::Result<std::unique_ptr<Upload>> begin(const std::string& key) override {
    PERDURE_TRY(auto upload, retries_([&] { return real().begin(key); }));
    return std::make_unique<RetryingUpload>(std::move(upload), retries_);
  }
  base::Result<std::vector<ObjectInfo>> list(const std::string& prefix, Depth depth) override {
    return retries_([&] { return real().list(prefix, depth); });
  }
  base::Status remove(const std::string& key) override {
    return retries_([&] { return real().remove(key); });
  }
  base::Result<ObjectInfo> stat(const std::string& key) override {
    return retries_([&] { return real().stat(key); });
  }
  base::Result<std::vector<OpenUpload>> uploads(const std::string& prefix) override {
    return retries_([&] { return real().uploads(prefix); });
  }
  base::Status abort(const OpenUpload& upload) override {
    return retries_([&] { return real().abort(upload); });
  }

 private:
  const Retries retries_;
};

}  // namespace

std::uint64_t pause_ns(const RetryPolicy& policy, std::uint32_t tried, std::uint64_t random) {
  std::uint64_t most = policy.first_pause_ns;
  for (std::uint32_t i = 1; i < tried && most < policy.most_pause_ns; ++i) most *= 2;
  return random % (std::min(most, policy.most_pause_ns) + 1);
}

std::shared_ptr<Objects> retrying(std::shared_ptr<Objects> real, const RetryPolicy& policy,
                                  std::function<void(std::uint64_t)> pause) {
  return std::make_shared<RetryingObjects>(std::move(real), policy, std::move(pause));
}

}  // namespace perdure::store
