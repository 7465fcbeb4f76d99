#include "store/retrying_objects.hpp"

#include "os/system.hpp"
#include "store/forwarding_objects.hpp"

namespace perdure::store {
namespace {

class Retries {
 public:
  Retries(const plan::Backoff& backoff, std::function<void(std::uint64_t)> pause)
      : backoff_(backoff), pause_(std::move(pause)) {}

  template <class Call>
  auto operator()(const Call& call) const {
    const std::uint64_t begun_ns = os::monotonic_ns();
    auto result = call();
    for (unsigned failures = 1; !result && result.error().retryable; ++failures) {
      const auto most_ns = plan::next_delay_ns(backoff_, failures, os::monotonic_ns() - begun_ns);
      if (!most_ns) break;
      pause_(os::random_u64() % (*most_ns + 1));
      result = call();
    }
    return result;
  }

 private:
  const plan::Backoff backoff_;
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
  RetryingObjects(std::shared_ptr<Objects> real, const plan::Backoff& backoff, std::function<void(std::uint64_t)> pause)
      : ForwardingObjects(std::move(real)), retries_(backoff, std::move(pause)) {}
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

std::shared_ptr<Objects> retrying(std::shared_ptr<Objects> real, const plan::Backoff& backoff,
                                  std::function<void(std::uint64_t)> pause) {
  return std::make_shared<RetryingObjects>(std::move(real), backoff, std::move(pause));
}

}  // namespace perdure::store
