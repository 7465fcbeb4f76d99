#pragma once
// Encodes and decodes CBOR (RFC 8949) with nlohmann-json, within limits that hostile input needs.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::base {

using Json = nlohmann::json;  // complete with base/json.hpp

/// Readers take at most so many items (values, keys, arrays and maps, at any depth) in one encoding. Writers respect
/// that limit: see check_cbor().
inline constexpr std::size_t kMaxCborItems = 16U << 20;

std::vector<std::byte> encode_cbor(const Json& value);

/// Fails with PERDURE_INVALID_ARGUMENT about `object` unless decode_cbor() will take `data`. Writers call it before
/// anybody relies on their output. It costs nothing unless the encoding has more bytes than readers take items.
Status check_cbor(ConstByteSpan data, const std::string& object);

/// Decodes exactly one CBOR item that fills `data`. Fails with PERDURE_CORRUPT about `object` for nesting deeper than
/// 16, for more than kMaxCborItems items, and for trailing bytes. Never throws.
Result<Json> decode_cbor(ConstByteSpan data, const std::string& object);

/// Give typed access to a decoded map, with errors instead of exceptions. `object` names the input in errors.
Result<std::uint64_t> get_u64(const Json& map, const char* key, const std::string& object);
Result<std::uint32_t> get_u32(const Json& map, const char* key, const std::string& object);
Result<std::string> get_text(const Json& map, const char* key, const std::string& object);
Result<bool> get_bool(const Json& map, const char* key, const std::string& object);
Result<const Json*> get_array(const Json& map, const char* key, const std::string& object);

/// Make a byte string, and return the bytes of one, of which it may have at most `most`; `where` names it in errors.
Json binary(ConstByteSpan bytes);
Result<std::vector<std::byte>> binary_of(const Json& value, std::size_t most, const std::string& where,
                                         const std::string& object);

}  // namespace perdure::base
