#include "capi/goodbye.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "capi/texts.hpp"
#include "client/engine_host.hpp"
#include "os/system.hpp"

namespace perdure::capi {
namespace {

// Another thread may be in a call. One that waits for dead ranks never releases the handle.
constexpr std::chrono::seconds kPatience{3};

std::atomic<std::int32_t> opener{0};  // the process that opened a handle last
std::atomic<bool> waited_in_vain{false};

// Never destroyed: the end of a session calls its communicator.
void abandon(std::unique_ptr<client::Session> session) {
  static std::mutex mutex;
  static auto* abandoned = new std::vector<std::unique_ptr<client::Session>>;
  std::lock_guard guard(mutex);
  abandoned->push_back(std::move(session));
}

// Returns false if a running call has it.
bool end_handle(Handle& handle) {
  const HandleLock holding(handle, kPatience);
  if (!holding.held()) return false;
  if (!handle.session) return true;
  // The caller's own group may have been destroyed with the variables of main().
  const auto closing = handle.group == Group::own ? client::Closing::early : client::Closing::alone;
  (void)close_early(handle, closing, "the end of the program");
  return true;
}

// fork() may have copied locks that nobody releases any more: a child that opened nothing takes none. A handle that
// cannot be closed for lack of memory stays as if the process was killed.
void end_handles() noexcept {
  if (opener != os::process_id()) return;
  base::attempt([] {
    bool in_use = false;
    for (const auto& handle : all_handles())
      if (handle->process == os::process_id()) base::attempt([&] { in_use = !end_handle(*handle) || in_use; });
    waited_in_vain = in_use;
    if (in_use) client::drain_hosted_engines();
  });
}

}  // namespace

base::Status close_early(Handle& handle, client::Closing closing, const std::string& why) {
  const base::Status outcome = handle.session->close(closing, why);
  if (closing == client::Closing::alone)
    abandon(std::move(handle.session));
  else
    handle.session.reset();
  handle.closed_early = outcome ? PERDURE_CLOSED : outcome.error().code;
  handle.error_text = "handle: " + why + " closed it" + (outcome ? "" : ": " + text_of(outcome.error()));
  handle.error_retryable = !outcome && outcome.error().retryable;
  return outcome;
}

// Registers with atexit(): objects constructed before the first handle, such as the program's globals, are destroyed
// later.
void close_at_process_end() {
  opener = os::process_id();
  [[maybe_unused]] static const int registered = std::atexit(end_handles);
}

bool has_waited_in_vain() { return waited_in_vain; }

}  // namespace perdure::capi
