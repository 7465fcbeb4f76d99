#include "base/sealed_json.hpp"

#include <array>
#include <cstdio>

#include "base/hash.hpp"

namespace perdure::base {
namespace {

constexpr const char* kCheck = "check";

std::string text_of(const Json& record) { return record.dump(2, ' ', true, Json::error_handler_t::replace) + "\n"; }

std::string check_of(const Json& record) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%016llx",
                static_cast<unsigned long long>(hash64(as_bytes(text_of(record)))));
  return text.data();
}

}  // namespace

std::string seal(const Json& record) {
  Json sealed = Json::parse(text_of(record));  // with the replaced bytes, which the check covers
  sealed[kCheck] = check_of(sealed);
  return text_of(sealed);
}

Result<Json> unseal(const std::string& content, const std::string& object) {
  Json record = Json::parse(content, nullptr, false);
  if (!record.is_object()) return fail(PERDURE_CORRUPT, object, "it is no record of Perdure");
  const auto check = record.find(kCheck);
  if (check == record.end()) return record;
  const Json said = *check;
  record.erase(check);
  if (said != check_of(record)) return fail(PERDURE_CORRUPT, object, "it is damaged: its check value is another one");
  return record;
}

}  // namespace perdure::base
