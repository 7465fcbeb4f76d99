#include "store/owner.hpp"

#include <array>
#include <ctime>

#include "base/cbor.hpp"
#include "base/sealed_json.hpp"
#include "store/name_records.hpp"

namespace perdure::store {
namespace {

constexpr std::size_t kMostBytes = 64 * 1024;
constexpr std::size_t kMostText = 4096;
constexpr std::uint64_t kMostLease_ns = 3'600'000'000'000;  // a hostile record must not make others wait for ever

std::string utc(std::uint64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

}  // namespace

std::string Owner::text() const {
  return "job '" + job + "' of " + user + ", process " + std::to_string(process) + " on host " +
         host.substr(0, host.find('/')) + ", since " + utc(since_ns);
}

std::string encode(const Owner& owner) {
  const base::Json json = {{"format", 1},
                           {"job", owner.job},
                           {"case", owner.study},
                           {"launch", owner.launch},
                           {"host", owner.host},
                           {"process", static_cast<std::uint64_t>(owner.process)},
                           {"started", owner.started},
                           {"user", owner.user},
                           {"since_ns", owner.since_ns},
                           {"lease_ns", owner.lease_ns},
                           {"beat", owner.beat},
                           {"ended", owner.ended}};
  return base::seal(json);
}

base::Result<Owner> decode_owner(const std::string& content, const std::string& object) {
  const auto wrong = [&object](const std::string& cause) {
    return base::fail(PERDURE_CORRUPT, object, cause,
                      "if no job writes this checkpoint any more, remove the file: it holds nothing else");
  };
  const auto json = base::unseal(content, object);
  if (!json) return wrong(json.error().cause);
  const auto text = [&](const char* key) -> base::Result<std::string> {
    const auto found = json->find(key);
    if (found == json->end() || !found->is_string()) return wrong(std::string("field '") + key + "' is missing");
    auto value = found->get<std::string>();
    if (value.size() > kMostText) return wrong(std::string("field '") + key + "' is too long");
    return value;
  };
  const auto number = [&](const char* key, std::uint64_t most) -> base::Result<std::uint64_t> {
    const auto found = json->find(key);
    if (found == json->end() || !found->is_number_unsigned() || found->get<std::uint64_t>() > most)
      return wrong(std::string("field '") + key + "' is missing or out of range");
    return found->get<std::uint64_t>();
  };
  constexpr std::uint64_t kAny = ~std::uint64_t{0};
  PERDURE_TRY(const auto format, number("format", kAny));
  if (format != 1)
    return base::fail(PERDURE_UNSUPPORTED, object,
                      "it was written by a newer Perdure (format " + std::to_string(format) + ", this one reads 1)");
  Owner owner;
  PERDURE_TRY(owner.job, text("job"));
  PERDURE_TRY(owner.study, text("case"));
  PERDURE_TRY(owner.launch, text("launch"));
  PERDURE_TRY(owner.host, text("host"));
  PERDURE_TRY(const auto process, number("process", 0x7fffffff));
  owner.process = static_cast<std::int32_t>(process);
  PERDURE_TRY(owner.started, number("started", kAny));
  PERDURE_TRY(owner.user, text("user"));
  PERDURE_TRY(owner.since_ns, number("since_ns", kAny));
  PERDURE_TRY(owner.lease_ns, number("lease_ns", kMostLease_ns));
  PERDURE_TRY(owner.beat, number("beat", kAny));
  const auto ended = json->find("ended");
  if (ended == json->end() || !ended->is_boolean()) return wrong("field 'ended' is missing");
  owner.ended = ended->get<bool>();
  return owner;
}

namespace {

// Opens it anew each time: that makes network file systems ask their server.
base::Result<std::optional<Owner>> read_record(const os::Directory& directory, const char* record) {
  auto content = directory.read_file(record, kMostBytes);
  if (!content && content.error().code == PERDURE_NOT_FOUND) return std::nullopt;
  if (!content) return base::fail(content.error());
  const std::string text(reinterpret_cast<const char*>(content->data()), content->size());
  PERDURE_TRY(auto owner, decode_owner(text, directory.path_of(record)));
  return std::optional(std::move(owner));
}

base::Status replace_record(const os::Directory& directory, const char* record, const std::optional<Owner>& expected,
                            const Owner& next, const char* changed) {
  PERDURE_TRY(const auto locked, lock_records(directory));
  auto there = read_record(directory, record);
  if (!there && there.error().code == PERDURE_CORRUPT) there = std::nullopt;  // nobody can claim it
  if (!there) return base::fail(there.error());
  if (*there != expected)
    return base::fail(PERDURE_EXISTS, directory.path(),
                      changed + (*there ? (*there)->text() : std::string("it was forgotten")));
  return directory.write_file_atomically(record, base::as_bytes(encode(next)));
}

}  // namespace

base::Result<std::optional<Owner>> read_owner(const os::Directory& directory) {
  return read_record(directory, kOwnerRecord);
}

base::Status replace_owner(const os::Directory& directory, const std::optional<Owner>& expected, const Owner& next) {
  return replace_record(directory, kOwnerRecord, expected, next,
                        "another launch has become the owner of this checkpoint: ");
}

base::Status remove_owner(const os::Directory& directory) {
  PERDURE_CHECK(directory.remove_file(kRunnerRecord));
  return directory.remove_file(kOwnerRecord);
}

base::Result<std::optional<Owner>> read_runner(const os::Directory& directory) {
  return read_record(directory, kRunnerRecord);
}

base::Status replace_runner(const os::Directory& directory, const std::optional<Owner>& expected, const Owner& next) {
  return replace_record(directory, kRunnerRecord, expected, next, "somebody else runs this checkpoint by now: ");
}

}  // namespace perdure::store
