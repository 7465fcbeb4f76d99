#pragma once
// CBOR (RFC 8949) through nlohmann-json, with the limits that hostile input needs.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::base {

using Json = nlohmann::json;  // complete with base/json.hpp

std::vector<std::byte> encode_cbor(const Json& value);

/// Decodes exactly one CBOR item that fills `data`. Refuses nesting deeper than 16, more than 4 Mi items, and trailing
/// bytes, with PERDURE_CORRUPT about `object`. Never throws.
Result<Json> decode_cbor(ConstByteSpan data, const std::string& object);

/// Typed access to a decoded map, with errors instead of exceptions. `object` names what is being read.
Result<std::uint64_t> get_u64(const Json& map, const char* key, const std::string& object);
Result<std::uint32_t> get_u32(const Json& map, const char* key, const std::string& object);
Result<std::string> get_text(const Json& map, const char* key, const std::string& object);
Result<bool> get_bool(const Json& map, const char* key, const std::string& object);
Result<const Json*> get_array(const Json& map, const char* key, const std::string& object);

/// A byte string, and what is in one of at most `most` bytes; `where` names it in what is read.
Json binary(ConstByteSpan bytes);
Result<std::vector<std::byte>> binary_of(const Json& value, std::size_t most, const std::string& where,
                                         const std::string& object);

}  // namespace perdure::base
