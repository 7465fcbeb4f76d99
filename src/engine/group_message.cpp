#include "engine/group_message.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "catalog/protection_codec.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::engine {
namespace {

using base::Json;

const std::string kObject = "group message";
constexpr std::size_t kMostPositions = 64, kMostPlaceBytes = 4096, kMostWhyBytes = 1000;

tl::unexpected<base::Error> refused(std::string cause) {
  return base::fail(PERDURE_CORRUPT, kObject, std::move(cause));
}

Json blocks_to_json(const std::vector<OfferedBlock>& blocks) {
  Json list = Json::array();
  for (const auto& block : blocks)
    list.push_back(Json::array(
        {block.number, base::binary(block.hash.bytes()), base::binary(block.place.memory), block.place.offset}));
  return list;
}

struct Writer {
  Json& json;
  void operator()(const Announce& announce) const {
    json["say"] = "announce";
    json["scheme"] = announce.scheme;
    json["members"] = announce.members;
    json["parities"] = announce.parities;
    json["group"] = announce.group;
    json["ranks"] = announce.ranks;
    Json pieces = Json::array();
    for (const auto& piece : announce.pieces) pieces.push_back(segment::to_json(piece));
    json["pieces"] = std::move(pieces);
    json["blocks"] = blocks_to_json(announce.blocks);
  }
  void operator()(const Offer& offer) const {
    json["say"] = "offer";
    json["blocks"] = blocks_to_json(offer.blocks);
  }
  void operator()(const Keeps&) const { json["say"] = "keeps"; }
  void operator()(const Stored&) const { json["say"] = "stored"; }
  void operator()(const GivesUp& gives_up) const {
    json["say"] = "gives up";
    json["why"] = gives_up.why.substr(0, kMostWhyBytes);
  }
};

base::Result<OfferedBlock> block_from_json(const Json& json) {
  if (!json.is_array() || json.size() != 4 || !json[0].is_number_unsigned() || !json[3].is_number_unsigned())
    return refused("field 'blocks': a block is not [number, hash, memory, offset]");
  OfferedBlock block;
  block.number = json[0].get<std::uint64_t>();
  PERDURE_TRY(const auto hash, base::binary_of(json[1], 16, "field 'blocks': a hash", kObject));
  if (hash.size() != 16) return refused("field 'blocks': a hash does not have 16 bytes");
  std::array<std::byte, 16> digest{};
  std::copy(hash.begin(), hash.end(), digest.begin());
  block.hash = base::Hash128::from_bytes(digest);
  PERDURE_TRY(block.place.memory, base::binary_of(json[2], kMostPlaceBytes, "field 'blocks': a memory", kObject));
  block.place.offset = json[3].get<std::uint64_t>();
  return block;
}

base::Result<std::vector<OfferedBlock>> blocks_from_json(const Json& json) {
  std::vector<OfferedBlock> blocks;
  PERDURE_TRY(const Json* list, base::get_array(json, "blocks", kObject));
  for (const Json& item : *list) {
    PERDURE_TRY(auto block, block_from_json(item));
    blocks.push_back(std::move(block));
  }
  return blocks;
}

base::Result<Announce> announce_from_json(const Json& json) {
  Announce announce;
  PERDURE_TRY(announce.scheme, base::get_text(json, "scheme", kObject));
  PERDURE_TRY(announce.members, base::get_u32(json, "members", kObject));
  PERDURE_TRY(announce.parities, base::get_u32(json, "parities", kObject));
  PERDURE_TRY(announce.group, base::get_u32(json, "group", kObject));
  PERDURE_TRY(announce.ranks, base::get_u32(json, "ranks", kObject));
  PERDURE_TRY(announce.pieces, segment::pieces_from_json(json, announce.ranks, kObject));
  PERDURE_TRY(announce.blocks, blocks_from_json(json));
  if (announce.members < 1 || announce.members > kMostPositions)
    return refused("field 'members' is " + std::to_string(announce.members) + ", outside 1 to 64");
  return announce;
}

}  // namespace

std::vector<std::byte> encode(const GroupMessage& message) {
  Json json = {{"protection", catalog::to_json(message.id)}, {"position", message.position}};
  std::visit(Writer{json}, message.body);
  return base::encode_cbor(json);
}

base::Result<GroupMessage> decode_group_message(base::ConstByteSpan bytes) {
  PERDURE_TRY(const Json json, base::decode_cbor(bytes, kObject));
  GroupMessage message;
  PERDURE_TRY(message.id, catalog::protection_id_from_json(json, kObject));
  PERDURE_TRY(message.position, base::get_u32(json, "position", kObject));
  if (message.position > kMostPositions) return refused("field 'position' is beyond 64");
  PERDURE_TRY(const std::string say, base::get_text(json, "say", kObject));
  if (say == "announce") {
    PERDURE_TRY(message.body, announce_from_json(json));
  } else if (say == "offer") {
    Offer offer;
    PERDURE_TRY(offer.blocks, blocks_from_json(json));
    message.body = std::move(offer);
  } else if (say == "keeps") {
    message.body = Keeps{};
  } else if (say == "stored") {
    message.body = Stored{};
  } else if (say == "gives up") {
    GivesUp gives_up;
    PERDURE_TRY(gives_up.why, base::get_text(json, "why", kObject));
    gives_up.why.resize(std::min(gives_up.why.size(), kMostWhyBytes));
    message.body = std::move(gives_up);
  } else {
    return refused("field 'say' is '" + say + "', which nobody says");
  }
  return message;
}

}  // namespace perdure::engine
