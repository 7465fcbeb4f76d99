#pragma once
// Builds parts that replies of several families contain.
#include "engine/ledger/ledger.hpp"
#include "ipc/message.hpp"

namespace perdure::engine {

inline base::Result<ipc::Done> done(const base::Status& status) {
  if (!status) return base::fail(status.error());
  return ipc::Done{};
}

inline base::Error no_network(const std::string& object) {
  return {PERDURE_UNSUPPORTED, object, "this engine has no network", "set redundancy.scheme", false};
}

inline base::Error timed_out(const std::string& object, const std::string& what) {
  return {PERDURE_TIMEOUT, object, what, "give it more time, or see the reports of the engine", true};
}

}  // namespace perdure::engine
