#pragma once
// CBOR (RFC 8949) through nlohmann-json, with the limits that hostile input needs.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::base {

using Json = nlohmann::json;  // complete with base/json.hpp

/// The most items (values, keys, arrays and maps, at any depth) that readers take in one encoding. Writers keep to it:
/// see check_cbor().
inline constexpr std::size_t kMaxCborItems = 16U << 20;

std::vector<std::byte> encode_cbor(const Json& value);

/// Whether decode_cbor() will take it: for writers, before anybody relies on what they wrote. PERDURE_INVALID_ARGUMENT
/// about `object`. Costs nothing unless the encoding has more bytes than readers take items.
Status check_cbor(ConstByteSpan data, const std::string& object);

/// Decodes exactly one CBOR item that fills `data`. Refuses nesting deeper than 16, more than kMaxCborItems items, and
/// trailing bytes, with PERDURE_CORRUPT about `object`. Never throws.
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
