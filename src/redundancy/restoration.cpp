#include "redundancy/restoration.hpp"

namespace perdure::redundancy {

bool GroupState::has_data(Block block) const {
  return !lost[block.position] && !damaged.contains({Item::Kind::data, block.position, block.number});
}

bool GroupState::has_kept(unsigned position, std::uint64_t number) const {
  return !lost[position] && !damaged.contains({Item::Kind::kept, position, number});
}

bool restorable(const Restoration& restoration) {
  return restoration.how == Restoration::How::in_place || restoration.how == Restoration::How::copy ||
         restoration.how == Restoration::How::decode;
}

std::string restoration_text(const Restoration& r) {
  const std::string position = "position " + std::to_string(r.position);
  const std::string stripe = "stripe " + std::to_string(r.stripe) + ", which lacks " + std::to_string(r.missing) +
                             (r.missing == 1 ? " item" : " items") + " and may lack " + std::to_string(r.parities);
  switch (r.how) {
    case Restoration::How::in_place:
      return "is in place at " + position;
    case Restoration::How::copy:
      return "is copied from " + position;
    case Restoration::How::decode:
      return "is decoded from " + stripe;
    case Restoration::How::only_there:
      return "is gone, and was only at " + position;
    case Restoration::How::copy_gone:
      return "is gone, and so is its copy at " + position;
    case Restoration::How::stripe_gone:
      return "is gone with " + stripe;
  }
  return "is in an unknown state";
}

}  // namespace perdure::redundancy
