#include "engine/replicate/group_message.hpp"

#include <algorithm>

#include "base/field_codec.hpp"

namespace perdure::engine {
namespace {

constexpr unsigned kMostMembers = 64;
constexpr std::size_t kMostWhyBytes = 1000;

}  // namespace

std::string Announce::wrong() const {
  if (members < 1 || members > kMostMembers)
    return "field 'members' is " + std::to_string(members) + ", outside 1 to 64";
  return segment::wrong_with(pieces, ranks);
}

std::vector<std::byte> encode(const GroupMessage& message) {
  const auto* withdraw = std::get_if<Withdraw>(&message.body);
  if (withdraw == nullptr || withdraw->why.size() <= kMostWhyBytes) return base::encode_fields(message);
  return base::encode_fields(
      GroupMessage{message.id, message.position, Withdraw{withdraw->why.substr(0, kMostWhyBytes)}});
}

base::Result<GroupMessage> decode_group_message(base::ConstByteSpan bytes) {
  PERDURE_TRY(auto message, base::decode_fields<GroupMessage>(bytes, "group message"));
  if (auto* withdraw = std::get_if<Withdraw>(&message.body))
    withdraw->why.resize(std::min(withdraw->why.size(), kMostWhyBytes));
  return message;
}

}  // namespace perdure::engine
