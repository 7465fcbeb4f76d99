#pragma once
// Makes manifests of formats 1 and 2 as JSON, which tests change before they encode it.
#include "base/json.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::segment {

inline base::Json to_json(const Manifest& manifest) {
  base::Json json = to_json(manifest.id);
  json["ranks"] = manifest.ranks;
  json["segment"] = base::Json::array({manifest.segment_index, manifest.segment_count});
  json["writer"] = manifest.writer;
  json["pieces"] = base::Json::array();
  for (const Piece& piece : manifest.pieces) json["pieces"].push_back(to_json(piece));
  return json;
}

}  // namespace perdure::segment
