#include "automatic/loop_history.hpp"

namespace perdure::automatic {
namespace {

// Every bit of the result depends on every bit of both, and on their order.
std::uint64_t with_next(std::uint64_t mark, track::LoopId id) {
  std::uint64_t value = mark * 0x9e3779b97f4a7c15ULL + id + 0x632be59bd9b4e019ULL;
  value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ value >> 27U) * 0x94d049bb133111ebULL;
  return value ^ value >> 31U;
}

}  // namespace

void LoopHistory::loop(track::LoopId id, std::string_view name) {
  mark_ = with_next(mark_, id);
  ++loops_;
  last_.assign(name);
  if (known_ == kMost) return;
  if (known_ == first_.size()) first_.emplace_back();
  if (known_ == 0) agreed_at_ = loops_ - 1;
  first_[known_].mark = mark_;
  first_[known_++].name.assign(name);
}

std::uint64_t LoopHistory::mark_after(std::size_t loops) const {
  return loops == 0 || loops > known_ ? mark_ : first_[loops - 1].mark;
}

std::string LoopHistory::text(std::string_view name, std::uint64_t number) const {
  return "'" + std::string(name) + "' (number " + std::to_string(number) + ")";
}

std::string LoopHistory::behind(std::size_t loops) const {
  return loops < known_ ? text(first_[loops].name, agreed_at_ + loops + 1) : std::string();
}

std::string LoopHistory::last() const { return loops_ == 0 ? std::string() : text(last_, loops_); }

}  // namespace perdure::automatic
