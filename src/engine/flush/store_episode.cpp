#include "engine/flush/store_episode.hpp"

namespace perdure::engine {
namespace {

// On the way to the store a missing directory is an unmounted or vanished store: it can come back.
bool worth_retrying(const base::Error& error) { return error.retryable || error.code == PERDURE_NOT_FOUND; }

}  // namespace

StoreEpisode::Answer StoreEpisode::failed(const segment::VersionId& id, const base::Error& error,
                                          std::uint64_t now_ns) {
  if (failures_++ == 0) since_ns_ = now_ns;
  Answer answer;
  if (worth_retrying(error)) answer.retry_after_ns = plan::next_delay_ns(backoff_, failures_, now_ns - since_ns_);
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
