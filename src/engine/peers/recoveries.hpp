#pragma once
// Runs recoveries that clients of this node asked for, each on its own thread. A client has at most one of a kind under
// way. Thread-safe.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "engine/recover/recoverer.hpp"
#include "ipc/messages.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

class Recoveries {
 public:
  /// `changed` is called when a recovery is over.
  explicit Recoveries(std::function<void()> changed) : changed_(std::move(changed)) {}
  ~Recoveries() { stop(); }
  Recoveries(const Recoveries&) = delete;
  Recoveries& operator=(const Recoveries&) = delete;

  /// Starts the recovery at the first call, with the Result of RecoveryContext that begin() returns. If no thread can
  /// be had, not_begun() undoes what begin() did. nullopt while the recovery runs.
  template <class Request, class Begin, class NotBegun>
  std::optional<base::Result<typename Request::Reply>> answer(ClientId client, const Request& request,
                                                              const Begin& begin, const NotBegun& not_begun) {
    using Outcome = base::Result<typename Request::Reply>;
    const Key key{client, ipc::kOperation<Request>};
    if (auto over = take_over(key)) {
      if (*over == nullptr) return std::nullopt;
      return std::move(*static_cast<Recovery<Request>&>(**over).result);
    }
    auto context = begin();
    if (!context) return Outcome(base::fail(context.error()));
    auto recovery = std::make_unique<Recovery<Request>>(std::move(*context));
    Recovery<Request>* r = recovery.get();
    const auto over = [this, r](Outcome outcome) {
      r->result = std::move(outcome);
      is_over(*r);
    };
    const auto begun = start(
        key, std::move(recovery), [r, client, request, over] { over(r->recoverer.answer(client, request)); },
        [over](const base::Error& why) { over(base::fail(why)); });
    if (begun) return std::nullopt;
    not_begun();
    return Outcome(base::fail(begun.error()));
  }
  /// Nobody waits for the client's recoveries any more. Does not wait for them.
  void client_gone(ClientId client);
  /// Ends all recoveries, whatever they wait for.
  void stop();

 private:
  using Key = std::pair<ClientId, std::uint8_t>;
  struct Started {
    explicit Started(RecoveryContext context) : recoverer(std::move(context)) {}
    virtual ~Started() = default;
    Recoverer recoverer;
    bool over = false;       ///< guarded by the mutex, like `abandoned`
    bool abandoned = false;  ///< its client is gone
    os::Thread thread;
  };
  template <class Request>
  struct Recovery final : Started {
    using Started::Started;
    std::optional<base::Result<typename Request::Reply>> result;  ///< used by its thread alone until it is over
  };
  std::optional<std::unique_ptr<Started>> take_over(const Key& key);
  void is_over(Started& recovery);
  base::Status start(const Key& key, std::unique_ptr<Started> recovery, std::function<void()> body,
                     std::function<void(const base::Error&)> failed);

  std::function<void()> changed_;
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<Started>> all_;
};

}  // namespace perdure::engine
