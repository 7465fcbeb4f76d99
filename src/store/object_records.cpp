#include "store/object_records.hpp"

namespace perdure::store {
namespace {

using base::Result;
using base::Status;

constexpr std::uint64_t kMostOwnerBytes = 64 * 1024;

struct OwnerObject {
  std::optional<Owner> owner;
  std::string tag;  ///< empty: there is no object
};

Result<OwnerObject> owner_there(Objects& objects, const std::string& key) {
  PERDURE_TRY(auto whole, get_whole(objects, key, kMostOwnerBytes));
  if (!whole) return OwnerObject{};
  auto owner = decode_owner(whole->text, objects.properties().location + "/" + key);
  if (!owner && owner.error().code != PERDURE_CORRUPT) return base::fail(owner.error());
  return OwnerObject{owner ? std::optional(std::move(*owner)) : std::nullopt, std::move(whole->tag)};
}

}  // namespace

Result<std::optional<Owner>> read_owner(Objects& objects, const std::string& key) {
  PERDURE_TRY(const auto whole, get_whole(objects, key, kMostOwnerBytes));
  if (!whole) return std::nullopt;
  PERDURE_TRY(auto owner, decode_owner(whole->text, objects.properties().location + "/" + key));
  return std::optional(std::move(owner));
}

Status replace_owner(Objects& objects, const std::string& key, const std::optional<Owner>& expected, const Owner& next,
                     const std::string& changed) {
  const auto refused = [&](const std::optional<Owner>& there) {
    return base::fail(PERDURE_EXISTS, objects.properties().location + "/" + key,
                      changed + (there ? there->text() : std::string("it was forgotten")));
  };
  PERDURE_TRY(const auto there, owner_there(objects, key));
  if (there.owner != expected) return refused(there.owner);
  const auto put = objects.put(key, base::as_bytes(encode(next)),
                               there.tag.empty() ? PutCondition::absent() : PutCondition::tagged(there.tag));
  if (put) return {};
  if (put.error().code != PERDURE_EXISTS && put.error().code != PERDURE_NOT_FOUND) return base::fail(put.error());
  // A put whose answer was lost is tried again below, and meets itself.
  PERDURE_TRY(const auto now, owner_there(objects, key));
  if (now.owner == next) return {};
  return refused(now.owner);
}

}  // namespace perdure::store
