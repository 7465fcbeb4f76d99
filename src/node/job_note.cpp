#include "node/job_note.hpp"

#include "base/sealed_json.hpp"
#include "os/file.hpp"

namespace perdure::node {
namespace {

constexpr std::uint64_t kMostBytes = 64 * 1024;
constexpr std::size_t kMostText = 4096;

}  // namespace

JobNote note_of(const config::Config& config, const std::string& node_label) {
  std::string store = config.text("store.path");
  if (auto absolute = os::absolute_path(store); absolute && store.find("://") == std::string::npos) store = *absolute;
  return {config.text("job"), std::move(store), node_label};
}

std::string encode(const JobNote& note) {
  const base::Json json = {{"format", 1}, {"job", note.job}, {"store", note.store}, {"node", note.node}};
  return base::seal(json);
}

base::Result<JobNote> decode_job_note(const std::string& content, const std::string& object) {
  const auto wrong = [&object](const std::string& cause) {
    return base::fail(PERDURE_CORRUPT, object, cause, "a restart of its job writes it anew");
  };
  const auto unsealed = base::unseal(content, object);
  if (!unsealed) return wrong(unsealed.error().cause);
  const base::Json& json = *unsealed;
  const auto format = json.find("format");
  if (format == json.end() || !format->is_number_unsigned()) return wrong("field 'format' is missing");
  if (const auto number = format->get<std::uint64_t>(); number != 1)
    return base::fail(PERDURE_UNSUPPORTED, object,
                      "it was written by a newer Perdure (format " + std::to_string(number) + ", this one reads 1)");
  const auto text = [&](const char* key) -> base::Result<std::string> {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string()) return wrong(std::string("field '") + key + "' is missing");
    auto value = found->get<std::string>();
    if (value.size() > kMostText) return wrong(std::string("field '") + key + "' is too long");
    return value;
  };
  JobNote note;
  PERDURE_TRY(note.job, text("job"));
  PERDURE_TRY(note.store, text("store"));
  PERDURE_TRY(note.node, text("node"));
  return note;
}

base::Status write_job_note(const std::string& directory, const JobNote& note) {
  if (const auto known = read_job_note(directory); known && *known == note) return {};
  return os::write_file_atomically(directory + kJobNote, base::as_bytes(encode(note)));
}

base::Result<JobNote> read_job_note(const std::string& directory) {
  const std::string path = directory + kJobNote;
  PERDURE_TRY(const auto bytes, os::read_file(path, kMostBytes));
  return decode_job_note({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace perdure::node
