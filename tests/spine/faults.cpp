#include "faults.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "scenario.hpp"
#include "support/eventually.hpp"

namespace perdure::test_support {

void Faults::set(const std::string& rules) const {
  const std::string fresh = path_ + ".new";
  std::ofstream(fresh) << rules << '\n';
  std::rename(fresh.c_str(), path_.c_str());
}

void Faults::install() const { ::setenv("PERDURE_TEST_FAULTS", ("@" + path_).c_str(), 1); }

Protected::Protected(const Rank& rank, const std::string& options, std::size_t words)
    : rank_(rank.rank), handle_(rank.open(options)), words_(state_at(rank.rank, 0, words)) {
  perdure_protect(handle_, 1, &step_, sizeof step_, 1);
  perdure_protect(handle_, 2, words_.data(), sizeof(std::uint64_t), words_.size());
}

perdure_status Protected::checkpoint(std::int64_t step) {
  step_ = static_cast<std::uint64_t>(step);
  const auto state = state_at(rank_, step_, words_.size());
  std::copy(state.begin(), state.end(), words_.begin());
  const perdure_status called = perdure_checkpoint(handle_, "app", step);
  if (called != PERDURE_OK) return called;
  std::fill(words_.begin(), words_.end(), ~std::uint64_t{0});
  return perdure_wait(handle_, "app", step, PERDURE_LEVEL_PROCESS, PERDURE_FOREVER);
}

bool Protected::restores(std::int64_t version, std::uint64_t step) {
  std::fill(words_.begin(), words_.end(), 0);
  step_ = ~0ULL;
  return perdure_restore(handle_, "app", version) == PERDURE_OK && step_ == step &&
         words_ == state_at(rank_, step, words_.size());
}

std::vector<std::string> Protected::reports(const std::string& awaited) {
  std::vector<std::string> all;
  (void)eventually("a report says: " + awaited, [&] {
    char text[2048];
    while (perdure_next_report(handle_, text, sizeof text) == PERDURE_OK) all.emplace_back(text);
    return awaited.empty() || count_containing(all, awaited) > 0;
  });
  return all;
}

perdure_progress Protected::progress() {
  perdure_progress progress{};
  perdure_get_progress(handle_, &progress);
  return progress;
}

std::size_t count_containing(const std::vector<std::string>& texts, const std::string& part) {
  return static_cast<std::size_t>(std::count_if(
      texts.begin(), texts.end(), [&](const std::string& text) { return text.find(part) != std::string::npos; }));
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts) all += "\n  " + text;
  return all;
}

}  // namespace perdure::test_support
