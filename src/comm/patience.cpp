#include "comm/patience.hpp"

#include <utility>

namespace perdure::comm {
namespace {

thread_local double patience_s = 0;
thread_local std::string ended_by;

constexpr std::size_t kMostRuns = 8;  // in one text

}  // namespace

std::string ranks_text(std::size_t ranks, const std::function<bool(std::size_t)>& is_one) {
  std::string runs[kMostRuns];
  std::size_t found = 0, told = 0, runs_told = 0;
  for (std::size_t first = 0; first < ranks; ++first) {
    if (!is_one(first)) continue;
    std::size_t last = first;
    while (last + 1 < ranks && is_one(last + 1)) ++last;
    found += last - first + 1;
    if (runs_told < kMostRuns) {
      runs[runs_told++] = std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
      told = found;
    }
    first = last;
  }
  if (found == 0) return "no rank";
  std::string text = found == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < runs_told; ++i) {
    const bool ends = i + 1 == runs_told && told == found;
    text += (i == 0 ? "" : ends ? " and " : ", ") + runs[i];
  }
  return told == found ? text : text + " and " + std::to_string(found - told) + " more";
}

std::string came_text(std::size_t ranks, const std::function<bool(std::size_t)>& has_come) {
  std::size_t came = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) came += has_come(rank) ? 1 : 0;
  return ranks_text(ranks, has_come) + (came == 1 ? " has come; " : " have come; ") +
         ranks_text(ranks, [&](std::size_t rank) { return !has_come(rank); }) +
         (ranks - came == 1 ? " has not" : " have not");
}

Patience::Patience(double seconds) : seconds_(seconds > 0 ? seconds : 0), before_(std::exchange(patience_s, seconds_)) {
  ended_by.clear();
}

Patience::~Patience() { patience_s = before_; }

double Patience::seconds() { return patience_s; }

void Patience::end(const char* who) { ended_by = who == nullptr || *who == '\0' ? "some ranks have not come" : who; }

std::string Patience::take_end() { return std::exchange(ended_by, {}); }

}  // namespace perdure::comm
