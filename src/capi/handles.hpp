#pragma once
// The handles of this process. A perdure_t* is a number in this table, not an address, so that a call with a closed
// handle is an error and not a crash (docs/adr/0001).
#include <memory>
#include <mutex>
#include <string>

#include "client/session.hpp"

namespace perdure::capi {

struct Handle {
  std::int32_t process = 0;  ///< that opened it; never changes, so that it may be read without the mutex
  std::mutex mutex;
  std::unique_ptr<client::Session> session;
  std::string error_text;
  bool error_retryable = false;
};

perdure_t* add_handle(std::shared_ptr<Handle> handle);
std::shared_ptr<Handle> find_handle(perdure_t* handle);
/// Takes the handle out of the table; nothing when it is not there.
std::shared_ptr<Handle> take_handle(perdure_t* handle);

}  // namespace perdure::capi
