// This table lists the stores. A new one is a source file, and here its declaration and its row.
#include <algorithm>
#include <array>

#include "store/store.hpp"

namespace perdure::store {

MakeStore make_posix_store;
MakeStore make_s3_store;

namespace {

struct Entry {
  const char* scheme;
  const char* locations;  ///< for people
  MakeStore* make;
  const char* credentials = "";  ///< credentials_family()
};
constexpr auto kStores = std::to_array<Entry>({
    {"file", "a path, or file://PATH", make_posix_store},
    {"s3", "s3://BUCKET/PREFIX", make_s3_store, "AWS_"},
});

}  // namespace

std::string_view credentials_family(std::string_view location) {
  const auto* entry = std::find_if(kStores.begin(), kStores.end(), [&](const Entry& row) {
    return location.starts_with(std::string(row.scheme) + "://");
  });
  return entry == kStores.end() ? std::string_view() : entry->credentials;
}

base::Result<std::unique_ptr<Store>> make_store(const std::string& location, const StoreOptions& options, Whose whose) {
  constexpr std::string_view kBehind = "://";
  const std::size_t end = location.find(kBehind);
  const std::string scheme = end == std::string::npos ? "file" : location.substr(0, end);
  const std::string place = end == std::string::npos ? location : location.substr(end + kBehind.size());
  if (place.empty())
    return base::fail(PERDURE_INVALID_ARGUMENT, "store", "its location is empty", "set store.path to a directory");
  if (location.find('\0') != std::string::npos)
    return base::fail(PERDURE_INVALID_ARGUMENT, "store", "its location contains a zero byte");
  const auto* entry =
      std::find_if(kStores.begin(), kStores.end(), [&](const Entry& row) { return scheme == row.scheme; });
  if (entry != kStores.end()) return entry->make(place, options, whose);
  std::string known;
  for (const Entry& row : kStores) known += (known.empty() ? "" : "; ") + std::string(row.locations);
  return base::fail(PERDURE_INVALID_ARGUMENT, location, "unknown kind of store '" + scheme + "'", "known are " + known);
}

}  // namespace perdure::store
