#include "store/forks.hpp"

#include "base/sealed_json.hpp"
#include "store/name_records.hpp"

namespace perdure::store {
namespace {

constexpr std::size_t kMostForksBytes = 1 << 20;
constexpr std::size_t kMostForks = 4096;
constexpr std::uint64_t kForksFormat = 1;

base::Result<plan::Fork> decode_fork(const base::Json& json, const std::string& object) {
  const auto branch = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? plan::parse_branch(found->get<std::string>()) : std::nullopt;
  };
  const auto number = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_unsigned() ? std::optional(found->get<std::uint64_t>())
                                                              : std::nullopt;
  };
  const auto of = branch("branch"), parent = branch("parent");
  const auto version = number("version"), begun_ns = number("begun_ns");
  if (!json.is_object() || !of || !parent || !version || !begun_ns)
    return base::fail(PERDURE_CORRUPT, object, "an entry says no branch, parent, version and begun_ns");
  return plan::Fork{*of, *parent, *version, *begun_ns};
}

}  // namespace

std::string encode(const std::vector<plan::Fork>& forks) {
  base::Json list = base::Json::array();
  for (const plan::Fork& fork : forks)
    list.push_back({{"branch", plan::branch_text(fork.branch)},
                    {"parent", plan::branch_text(fork.parent)},
                    {"version", fork.version},
                    {"begun_ns", fork.begun_ns}});
  return base::seal({{"format", kForksFormat}, {"forks", list}});
}

base::Result<std::vector<plan::Fork>> decode_forks(const std::string& content, const std::string& object) {
  PERDURE_TRY(const base::Json json, base::unseal(content, object));
  const auto format = json.find("format");
  if (format == json.end() || !format->is_number_unsigned())
    return base::fail(PERDURE_CORRUPT, object, "it is no record of forks");
  if (format->get<std::uint64_t>() != kForksFormat)
    return base::fail(PERDURE_UNSUPPORTED, object,
                      "it was written by a newer Perdure (format " + std::to_string(format->get<std::uint64_t>()) +
                          ", this one reads " + std::to_string(kForksFormat) + ")");
  const auto list = json.find("forks");
  if (list == json.end() || !list->is_array() || list->size() > kMostForks)
    return base::fail(PERDURE_CORRUPT, object, "field 'forks' is missing, or too long");
  std::vector<plan::Fork> forks;
  for (const base::Json& one : *list) {
    PERDURE_TRY(const auto fork, decode_fork(one, object));
    forks.push_back(fork);
  }
  return forks;
}

base::Result<std::vector<plan::Fork>> read_forks(const os::Directory& directory) {
  const auto content = directory.read_file(kForksRecord, kMostForksBytes);
  if (!content && content.error().code == PERDURE_NOT_FOUND) return std::vector<plan::Fork>();
  if (!content) return base::fail(content.error());
  const std::string text(reinterpret_cast<const char*>(content->data()), content->size());
  return decode_forks(text, directory.path_of(kForksRecord));
}

base::Status check_number(const std::vector<plan::Fork>& forks, const std::string& object) {
  if (forks.size() <= kMostForks) return {};
  return base::fail(PERDURE_UNSUPPORTED, object,
                    "it would have more than " + std::to_string(kMostForks) + " branches that go on from others",
                    "remove those that were left: perdure prune --branches");
}

base::Status write_forks(const os::Directory& directory, const std::vector<plan::Fork>& forks) {
  PERDURE_CHECK(check_number(forks, directory.path()));
  PERDURE_TRY(const auto locked, lock_records(directory));
  return directory.write_file_atomically(kForksRecord, base::as_bytes(encode(forks)));
}

}  // namespace perdure::store
