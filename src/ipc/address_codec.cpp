#include "ipc/address_codec.hpp"

#include "base/json.hpp"

namespace perdure::ipc {

base::Json to_json(const WireAddress& a) {
  return {{"tier", a.tier},     {"slot", a.slot},         {"path", a.path},
          {"offset", a.offset}, {"capacity", a.capacity}, {"mapped", a.mapped}};
}

base::Result<WireAddress> address_from_json(const base::Json& json) {
  const std::string object = "slot address";
  WireAddress a;
  PERDURE_TRY(const std::uint64_t tier, base::get_u64(json, "tier", object));
  if (tier > 0xffff) return base::fail(PERDURE_CORRUPT, object, "field 'tier' is out of range");
  a.tier = static_cast<std::uint32_t>(tier);
  PERDURE_TRY(a.slot, base::get_u64(json, "slot", object));
  PERDURE_TRY(a.path, base::get_text(json, "path", object));
  PERDURE_TRY(a.offset, base::get_u64(json, "offset", object));
  PERDURE_TRY(a.capacity, base::get_u64(json, "capacity", object));
  PERDURE_TRY(a.mapped, base::get_bool(json, "mapped", object));
  return a;
}

}  // namespace perdure::ipc
