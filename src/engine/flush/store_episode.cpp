#include "engine/flush/store_episode.hpp"

#include <algorithm>

namespace perdure::engine {
namespace {

constexpr std::uint64_t kLateNs = 2'000'000'000;  // even a loaded machine makes no attempt so late

// While the store is being reached, a missing directory means that it is unmounted or vanished, and it can come back.
bool worth_retrying(const base::Error& error) { return error.retryable || error.code == PERDURE_NOT_FOUND; }

}  // namespace

StoreEpisode::Answer StoreEpisode::failed(const segment::VersionId& id, const base::Error& error, std::uint64_t now_ns,
                                          std::uint64_t took_ns) {
  if (failures_++ == 0) since_ns_ = now_ns;
  const std::uint64_t begun_ns = now_ns - std::min(took_ns, now_ns);
  if (due_ns_ != 0 && begun_ns > due_ns_ + kLateNs) since_ns_ += begun_ns - due_ns_;
  Answer answer;
  if (worth_retrying(error)) answer.retry_after_ns = plan::next_delay_ns(backoff_, failures_, now_ns - since_ns_);
  due_ns_ = answer.retry_after_ns ? std::max(due_ns_, now_ns + *answer.retry_after_ns) : 0;
  answer.report = report(id, error, answer.retry_after_ns.has_value());
  return answer;
}

std::optional<std::string> StoreEpisode::report(const segment::VersionId& id, const base::Error& error, bool retried) {
  const bool news = told_.insert(error.code).second;
  base::Error told = error;
  if (told.remedy.empty()) told.remedy = "check the store (option store.path) and the file system it is on";
  if (retried) {
    if (!news) return std::nullopt;
    return "flush of " + id.text() + " failed and is being retried; until then it stays on this node: " + told.text();
  }
  if (!news && told_given_up_) return std::nullopt;
  told_given_up_ = true;
  const std::string what =
      "flush of " + id.text() + " was given up; it stays on this node and is tried again after the next checkpoint";
  return news ? what + ": " + told.text() : what;
}

std::optional<std::string> StoreEpisode::stored(const segment::VersionId& id, const std::string& location) {
  std::optional<std::string> report;
  if (failures_ > 0) report = "store " + location + ": works again; " + id.text() + " is stored";
  *this = StoreEpisode(backoff_);
  return report;
}

}  // namespace perdure::engine
