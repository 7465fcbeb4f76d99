#pragma once
// What messages.cpp and redundancy_messages.cpp share: fields, and the tables that they are found by. Nobody else's.
#include <limits>
#include <span>

#include "base/json.hpp"
#include "ipc/messages.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::ipc {

inline const std::string kObject = "message";

inline base::Result<segment::VersionId> get_id(const base::Json& json) {
  if (!json.is_object() || !json.contains("id")) return base::fail(PERDURE_CORRUPT, kObject, "field 'id' is missing");
  return segment::version_id_from_json(json["id"], kObject);
}

template <class T>
base::Result<std::vector<T>> get_numbers(const base::Json& json, const char* key) {
  PERDURE_TRY(const base::Json* list, base::get_array(json, key, kObject));
  std::vector<T> numbers;
  for (const base::Json& item : *list) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > std::numeric_limits<T>::max())
      return base::fail(PERDURE_CORRUPT, kObject, std::string("field '") + key + "' holds something that is no number");
    numbers.push_back(item.get<T>());
  }
  return numbers;
}

struct Parser {
  const char* op;
  base::Result<Request> (*parse)(const base::Json&);
};

template <class T>
base::Result<Request> parse_id_only(const base::Json& json) {
  PERDURE_TRY(auto id, get_id(json));
  return Request{T{std::move(id)}};
}

/// WaitStored or WaitProtected.
template <class Wait>
base::Result<Request> parse_wait(const base::Json& json) {
  Wait r;
  PERDURE_TRY(r.id, get_id(json));
  PERDURE_TRY(r.timeout_ns, base::get_u64(json, "timeout_ns", kObject));
  return Request{r};
}

// ---- of redundancy_messages.cpp
struct RedundancyEncoder {
  base::Json operator()(const WaitProtected& r) const;
  base::Json operator()(const OpenNetwork& r) const;
  base::Json operator()(const Join& r) const;
  base::Json operator()(const Lend& r) const;
  base::Json operator()(const Recover& r) const;
  base::Json operator()(const Protect& r) const;
  base::Json operator()(const NewestProtected& r) const;
  base::Json operator()(const Superseded& r) const;
  base::Json operator()(const AllStored& r) const;
};
std::span<const Parser> redundancy_parsers();

}  // namespace perdure::ipc
