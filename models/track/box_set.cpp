#include "track/box_set.hpp"

namespace perdure::track {
namespace {

/// Calls `take(Box)` for each part of `box` outside of `cut`: at most twice as many as there are dimensions.
template <class Take>
void each_outside(const Box& box, const Box& cut, Take&& take) {
  const Box inner = intersection(box, cut);
  if (inner.empty()) return take(box);
  Box rest = box;  // shrinks to `inner`, one dimension after the other
  for (unsigned d = 0; d < box.dimensions; ++d) {
    Box side = rest;
    side.end[d] = inner.begin[d];
    if (side.begin[d] < side.end[d]) take(side);
    side = rest;
    side.begin[d] = inner.end[d];
    if (side.begin[d] < side.end[d]) take(side);
    rest.begin[d] = inner.begin[d];
    rest.end[d] = inner.end[d];
  }
}

// Joins into `a` two boxes that differ in one dimension only and touch there.
bool joined(Box& a, const Box& b) {
  int differs = -1;
  for (unsigned d = 0; d < a.dimensions; ++d) {
    if (a.begin[d] == b.begin[d] && a.end[d] == b.end[d]) continue;
    if (differs >= 0) return false;
    differs = static_cast<int>(d);
  }
  if (differs < 0) return true;
  const auto d = static_cast<std::size_t>(differs);
  if (a.end[d] != b.begin[d] && b.end[d] != a.begin[d]) return false;
  a.begin[d] = std::min(a.begin[d], b.begin[d]);
  a.end[d] = std::max(a.end[d], b.end[d]);
  return true;
}

}  // namespace

bool Box::empty() const {
  for (unsigned d = 0; d < dimensions; ++d)
    if (begin[d] >= end[d]) return true;
  return false;
}

std::uint64_t Box::elements() const {
  if (empty()) return 0;
  std::uint64_t product = 1;
  for (unsigned d = 0; d < dimensions; ++d) product *= static_cast<std::uint64_t>(end[d] - begin[d]);
  return product;
}

bool Box::contains(const Box& other) const {
  if (other.empty()) return true;
  for (unsigned d = 0; d < dimensions; ++d)
    if (other.begin[d] < begin[d] || other.end[d] > end[d]) return false;
  return true;
}

std::string Box::text() const {
  std::string text = "[";
  for (unsigned d = 0; d < dimensions; ++d)
    text += (d == 0 ? "" : ", ") + std::to_string(begin[d]) + ":" + std::to_string(end[d]);
  return text + "]";
}

Box intersection(const Box& a, const Box& b) {
  Box both;
  both.dimensions = a.dimensions;
  for (unsigned d = 0; d < a.dimensions; ++d) {
    both.begin[d] = std::max(a.begin[d], b.begin[d]);
    both.end[d] = std::max(both.begin[d], std::min(a.end[d], b.end[d]));
  }
  return both;
}

std::uint64_t BoxSet::elements() const {
  std::uint64_t sum = 0;
  for (const Box& box : boxes_) sum += box.elements();
  return sum;
}

bool BoxSet::meets(const Box& box) const {
  return std::any_of(boxes_.begin(), boxes_.end(), [&](const Box& one) { return !intersection(one, box).empty(); });
}

// The boxes are disjoint, so their shares of `box` add up.
bool BoxSet::covers(const Box& box) const {
  std::uint64_t covered = 0;
  for (const Box& one : boxes_) covered += intersection(one, box).elements();
  return covered == box.elements();
}

void BoxSet::add(const Box& box) {
  if (box.empty() || covers(box)) return;
  remove(box);
  boxes_.push_back(box);
  join();
}

void BoxSet::remove(const Box& box) {
  if (!meets(box)) return;
  parts_.clear();
  for (const Box& one : boxes_) each_outside(one, box, [&](const Box& part) { parts_.push_back(part); });
  boxes_.swap(parts_);
}

void BoxSet::join() {
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < boxes_.size(); ++i)
      for (std::size_t k = i + 1; k < boxes_.size();) {
        if (!joined(boxes_[i], boxes_[k])) {
          ++k;
          continue;
        }
        boxes_[k] = boxes_.back();
        boxes_.pop_back();
        again = true;
      }
  }
}

bool operator==(const BoxSet& a, const BoxSet& b) {
  return a.elements() == b.elements() &&
         std::all_of(b.boxes_.begin(), b.boxes_.end(), [&](const Box& box) { return a.covers(box); });
}

}  // namespace perdure::track
