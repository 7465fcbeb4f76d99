// Implements log://DIRECTORY, the store that the acceptance test of the layout adds. Each segment is a file under its
// own name. A line at the end of a log, written under a lock, publishes it. The store renames no file, and an
// unpublished segment cannot be resumed. The lines, of which later ones win:
//   + VERSION CREATED NONCE INDEX COUNT FILE NAME    a segment is published
//   - VERSION CREATED NONCE NAME                     all segments of the attempt are removed
//   = TIME 0 0 NAME                                attempts at versions of the name up to that time are removed
//   ! VERSION CREATED NONCE INDEX COUNT FILE NAME    a segment was quarantined
// Each ends with a semicolon.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

#include "os/file.hpp"
#include "os/system.hpp"
#include "segment/file_source.hpp"
#include "segment/manifest_codec.hpp"
#include "store/incarnation.hpp"
#include "store/owner.hpp"
#include "store/published.hpp"
#include "store/store.hpp"

namespace perdure::store {
namespace {

using base::Result;
using base::Status;

constexpr std::uint64_t kMostLog = 64 * base::MiB;

/// The identity of a segment: name, version, attempt, count, index.
using SegmentKey = std::tuple<std::string, std::uint64_t, segment::Attempt, std::uint32_t, std::uint32_t>;
struct Published {
  std::string file;
  bool aside = false;
};
using Published_segments = std::map<SegmentKey, Published>;

class LogDirectory {
 public:
  explicit LogDirectory(std::string root) : root_(std::move(root)) {}
  const std::string& root() const { return root_; }
  std::string data() const { return root_ + "/data"; }
  std::string path(const std::string& file) const { return data() + "/" + file; }

  Status prepare() const {
    PERDURE_CHECK(os::make_directories(data()));
    PERDURE_TRY(const auto log, os::File::open(root_ + "/log", os::Open::create));
    return os::sync_directory(root_);
  }
  Status check() const {
    PERDURE_TRY(const bool there, os::exists(root_ + "/log"));
    if (there) return {};
    return base::fail(PERDURE_NOT_FOUND, root_, "the store is not there", "check store.path");
  }
  /// Takes the exclusive right to add lines; the file holds it while it is open.
  Result<os::File> lock() const {
    for (;;) {
      auto log = os::File::open(root_ + "/log", os::Open::read_write);
      if (!log && log.error().code == PERDURE_NOT_FOUND) log.error().retryable = true;
      if (!log) return log;
      const auto locked = log->try_lock();
      if (locked) return log;
      if (locked.error().code != PERDURE_BUSY) return base::fail(locked.error());
      os::sleep_ns(200'000);  // wait: another process has the log for a moment
    }
  }
  static Status append(const os::File& log, const std::string& line) {
    PERDURE_TRY(const std::uint64_t end, log.size());
    char last = '\n';
    if (end > 0) PERDURE_CHECK(log.read(end - 1, std::as_writable_bytes(std::span(&last, 1))));
    PERDURE_CHECK(log.write(end, base::as_bytes((last == '\n' ? "" : "\n") + line + " ;\n")));
    return log.sync_data();
  }
  // A line without its final semicolon is the unfinished write of a process that died.
  Result<Published_segments> read(std::map<std::string, std::uint64_t>* forgotten = nullptr) const {
    PERDURE_CHECK(check());
    PERDURE_TRY(const auto bytes, os::read_file(root_ + "/log", kMostLog));
    std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    Published_segments all;
    for (std::string line; std::getline(text, line);) {
      std::istringstream words(line);
      char kind = 0;
      std::uint64_t version = 0;
      segment::Attempt attempt;
      std::uint32_t index = 0, count = 0;
      std::string file, name, end;
      words >> kind >> version >> attempt.created_ns >> attempt.nonce;
      if (kind == '=') {
        if (!(words >> name >> end) || end != ";") continue;
        if (forgotten != nullptr) (*forgotten)[name] = std::max((*forgotten)[name], version);
        std::erase_if(all, [&](const auto& entry) {
          return !entry.second.aside && std::get<0>(entry.first) == name &&
                 std::get<2>(entry.first).created_ns <= version;
        });
      } else if (kind == '-') {
        if (!(words >> name >> end) || end != ";") continue;
        std::erase_if(all, [&](const auto& entry) {
          return std::get<0>(entry.first) == name && std::get<1>(entry.first) == version &&
                 std::get<2>(entry.first) == attempt;
        });
      } else if (words >> index >> count >> file >> name >> end && end == ";") {
        all[{name, version, attempt, count, index}] = {file, kind == '!'};
      }
    }
    return all;
  }

 private:
  std::string root_;
};

std::string line_of(char kind, const segment::VersionId& id, std::uint32_t index, std::uint32_t count,
                    const std::string& file) {
  std::ostringstream line;
  line << kind << ' ' << id.version << ' ' << id.attempt.created_ns << ' ' << id.attempt.nonce << ' ';
  if (kind != '-') line << index << ' ' << count << ' ' << file << ' ';
  line << id.name;
  return line.str();
}

/// Returns RANDOM~VERSION~SEGMENT~NAME: no two sinks write the same file, and the name of a leftover tells its purpose.
std::string data_file(const segment::VersionId& id, std::uint32_t index, std::uint32_t count) {
  return std::to_string(os::random_u64()) + "~" + std::to_string(id.version) + "~" +
         segment::file_name(index, count, id.attempt) + "~" + id.name;
}
struct Leftover {
  segment::VersionId id;
  std::uint32_t index = 0, count = 0;
};
std::optional<Leftover> parse_data_file(const std::string& file) {
  std::vector<std::string> parts;
  std::istringstream text(file);
  for (std::string part; std::getline(text, part, '~');) parts.push_back(part);
  if (parts.size() != 4) return std::nullopt;
  const auto name = segment::parse_file_name(parts[2]);
  if (!name) return std::nullopt;
  return Leftover{{parts[3], std::strtoull(parts[1].c_str(), nullptr, 10), name->attempt}, name->index, name->count};
}

class LogSink final : public SegmentSink {
 public:
  LogSink(const LogDirectory& directory, const segment::Manifest& manifest, std::string file, os::File data,
          std::uint64_t bytes)
      : directory_(directory),
        id_(manifest.id),
        index_(manifest.segment_index),
        count_(manifest.segment_count),
        file_(std::move(file)),
        data_(std::move(data)),
        bytes_(bytes) {}
  ~LogSink() override {
    if (data_) (void)os::remove_file(directory_.path(file_));
  }
  Status write(std::uint64_t offset, base::ConstByteSpan data) override {
    if (!data_) return base::fail(PERDURE_CLOSED, file_, "the segment was published");
    if (offset > bytes_ || data.size() > bytes_ - offset)
      return base::fail(PERDURE_INVALID_ARGUMENT, file_, "beyond the segment's end");
    return data_.write(offset, data);
  }
  // 1. Sync the data and its name. 2. Under the lock, check that it was not cleaned away. 3. Add the line, which
  //    publishes the segment. An existing line is never replaced; its segment must then have the same content.
  Status commit() override {
    if (!data_) return base::fail(PERDURE_CLOSED, file_, "the segment was published");
    PERDURE_CHECK(data_.sync());
    PERDURE_CHECK(os::sync_directory(directory_.data()));
    PERDURE_TRY(const auto log, directory_.lock());
    PERDURE_TRY(const bool there, os::exists(directory_.path(file_)));
    if (!there) return base::fail(PERDURE_NOT_FOUND, file_, "it was cleaned away meanwhile", "write it again", true);
    PERDURE_TRY(const auto before, directory_.read());
    const auto old = before.find({id_.name, id_.version, id_.attempt, count_, index_});
    if (old != before.end() && !old->second.aside) {
      PERDURE_TRY(const auto published, segment::open_file(directory_.path(old->second.file), segment::Cached::no));
      PERDURE_TRY(const auto mine, segment::open_file(directory_.path(file_)));
      PERDURE_CHECK(check_published(*published, *mine));
      PERDURE_CHECK(os::remove_file(directory_.path(file_)));
    } else {
      PERDURE_CHECK(LogDirectory::append(log, line_of('+', id_, index_, count_, file_)));
    }
    data_ = os::File();
    return {};
  }
  Status read(std::uint64_t, base::ByteSpan) override {
    return base::fail(PERDURE_UNSUPPORTED, file_, "this store cannot go on with a segment");
  }
  void keep(bool) override {}

 private:
  const LogDirectory directory_;
  const segment::VersionId id_;
  const std::uint32_t index_, count_;
  const std::string file_;
  os::File data_;
  const std::uint64_t bytes_;
};

class LogStore final : public Store {
 public:
  explicit LogStore(const std::string& root) : directory_(root), properties_{"log", "log://" + root, true, false, {}} {}
  const Properties& properties() const override { return properties_; }
  Status prepare() override { return directory_.prepare(); }

  Result<std::unique_ptr<SegmentSink>> begin(const segment::Manifest& manifest, std::uint64_t file_bytes) override {
    PERDURE_CHECK(segment::check_name(manifest.id.name));
    PERDURE_TRY(const std::uint64_t forgotten_ns, forgotten(manifest.id.name));
    if (manifest.id.attempt.created_ns <= forgotten_ns)
      return base::fail(PERDURE_CLOSED, manifest.id.text(), "it was forgotten on purpose");
    std::string file = data_file(manifest.id, manifest.segment_index, manifest.segment_count);
    PERDURE_TRY(auto data, os::File::open(directory_.path(file), os::Open::create_new));
    auto sink = std::make_unique<LogSink>(directory_, manifest, std::move(file), std::move(data), file_bytes);
    return std::unique_ptr<SegmentSink>(std::move(sink));
  }
  Result<std::unique_ptr<SegmentSink>> resume(const segment::Manifest& manifest, std::uint64_t) override {
    return base::fail(PERDURE_UNSUPPORTED, manifest.id.text(), "this store cannot go on with a segment");
  }
  Result<std::vector<std::unique_ptr<segment::ByteSource>>> unpublished(const segment::VersionId&, std::uint32_t,
                                                                        std::uint32_t) override {
    return std::vector<std::unique_ptr<segment::ByteSource>>();
  }
  Status discard(const segment::VersionId& id, std::uint32_t index, std::uint32_t count) override {
    return for_each_leftover(
        [&](const Leftover& left) { return left.id == id && left.index == index && left.count == count; });
  }
  Result<std::vector<std::string>> names() override {
    PERDURE_TRY(const auto all, directory_.read());
    std::vector<std::string> names;
    for (const auto& [key, published] : all)
      if (!published.aside && (names.empty() || names.back() != std::get<0>(key))) names.push_back(std::get<0>(key));
    return names;
  }
  Result<std::vector<VersionListing>> list(const std::string& name) override {
    PERDURE_CHECK(segment::check_name(name));
    PERDURE_TRY(const auto all, directory_.read());
    std::vector<VersionListing> listings;
    for (const auto& [key, published] : all) {
      const auto& [owner, version, attempt, count, index] = key;
      if (owner != name || published.aside) continue;
      const segment::VersionId id{name, version, attempt};
      if (listings.empty() || listings.back().id != id || listings.back().segment_count != count)
        listings.push_back({id, count, {}});
      listings.back().segments.push_back({index, count, attempt, "data/" + published.file});
    }
    if (listings.empty()) return base::fail(PERDURE_NOT_FOUND, name, "no such checkpoint");
    return listings;
  }
  Result<std::unique_ptr<segment::ByteSource>> open(const SegmentRef& segment) override {
    return segment::open_file(directory_.root() + "/" + segment.path);
  }
  Result<std::unique_ptr<segment::ByteSource>> open_anew(const SegmentRef& segment) override {
    return segment::open_file(directory_.root() + "/" + segment.path, segment::Cached::no);
  }
  Status make_lasting(const segment::VersionId&) override {
    PERDURE_TRY(const auto log, directory_.lock());
    return log.sync();
  }
  Result<std::vector<QuarantinedSegment>> set_aside(const std::string& name) override {
    PERDURE_CHECK(segment::check_name(name));
    std::map<std::string, std::uint64_t> forgotten;
    PERDURE_TRY(const auto all, directory_.read(&forgotten));
    std::vector<QuarantinedSegment> found;
    for (const auto& [key, published] : all)
      if (std::get<0>(key) == name && published.aside && std::get<2>(key).created_ns > forgotten[name])
        found.push_back({{name, std::get<1>(key), std::get<2>(key)},
                         directory_.path(published.file),
                         std::get<3>(key),
                         std::get<4>(key)});
    return found;
  }
  Status forget(const std::string& name, std::uint64_t until_ns) override {
    PERDURE_CHECK(segment::check_name(name));
    PERDURE_TRY(const auto log, directory_.lock());
    PERDURE_TRY(const auto all, directory_.read());
    PERDURE_CHECK(LogDirectory::append(log, "= " + std::to_string(until_ns) + " 0 0 " + name));
    for (const auto& [key, published] : all)
      if (std::get<0>(key) == name && std::get<2>(key).created_ns <= until_ns && !published.aside)
        PERDURE_CHECK(os::remove_file(directory_.path(published.file)));
    const auto kept = owner_place(name, Missing::leave);
    if (!kept && kept.error().code == PERDURE_NOT_FOUND) return {};
    if (!kept) return base::fail(kept.error());
    return remove_owner(*kept);
  }
  Result<std::optional<Owner>> owner(const std::string& name) override {
    PERDURE_CHECK(segment::check_name(name));
    PERDURE_CHECK(directory_.check());
    const auto kept = owner_place(name, Missing::leave);
    if (!kept && kept.error().code == PERDURE_NOT_FOUND) return std::nullopt;
    if (!kept) return base::fail(kept.error());
    return read_owner(*kept);
  }
  Status set_owner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) override {
    PERDURE_CHECK(segment::check_name(name));
    PERDURE_CHECK(directory_.check());
    PERDURE_TRY(const auto kept, owner_place(name, Missing::make));
    return replace_owner(kept, expected, next);
  }
  Result<std::uint64_t> incarnation(const std::string& name, Missing missing) override {
    PERDURE_CHECK(segment::check_name(name));
    PERDURE_CHECK(directory_.check());
    const auto kept = owner_place(name, missing);
    if (!kept && kept.error().code == PERDURE_NOT_FOUND) return kNoIncarnation;
    if (!kept) return base::fail(kept.error());
    return missing == Missing::make ? make_incarnation(*kept) : read_incarnation(*kept);
  }
  Result<std::uint64_t> forgotten(const std::string& name) override {
    PERDURE_CHECK(segment::check_name(name));
    std::map<std::string, std::uint64_t> times;
    PERDURE_CHECK(directory_.read(&times));
    return times[name];
  }
  Status remove(const segment::VersionId& id) override {
    PERDURE_CHECK(segment::check_name(id.name));
    PERDURE_TRY(const auto log, directory_.lock());
    PERDURE_TRY(const auto all, directory_.read());
    std::vector<std::string> files;
    for (const auto& [key, published] : all)
      if (std::get<0>(key) == id.name && std::get<1>(key) == id.version && std::get<2>(key) == id.attempt &&
          !published.aside)
        files.push_back(published.file);
    if (files.empty()) return {};
    PERDURE_CHECK(LogDirectory::append(log, line_of('-', id, 0, 0, {})));
    for (const std::string& file : files) PERDURE_CHECK(os::remove_file(directory_.path(file)));
    return {};
  }
  Status quarantine(const SegmentRef& segment, const segment::VersionId& id, const base::Error& why) override {
    PERDURE_CHECK(segment::check_name(id.name));
    PERDURE_TRY(const auto log, directory_.lock());
    PERDURE_TRY(const auto all, directory_.read());
    const auto found = all.find({id.name, id.version, segment.attempt, segment.count, segment.index});
    if (found == all.end()) return base::fail(PERDURE_NOT_FOUND, segment.path, "no such segment to set aside");
    if (found->second.aside) return {};
    if (!segment.identity.empty()) {
      PERDURE_TRY(const auto there, segment::open_file(directory_.path(found->second.file)));
      if (there->identity() != segment.identity)
        return base::fail(PERDURE_NOT_FOUND, segment.path, "it was written anew since it was read");
    }
    const std::string report = "{\"name\": \"" + id.name + "\", \"version\": " + std::to_string(id.version) +
                               ", \"code\": \"" + base::code_name(why.code) + "\", \"why\": \"" + why.cause + "\"}";
    PERDURE_CHECK(
        os::write_file_atomically(directory_.root() + "/" + found->second.file + ".json", base::as_bytes(report)));
    return LogDirectory::append(log, line_of('!', id, segment.index, segment.count, found->second.file));
  }
  Result<std::vector<Residue>> residue() override {
    std::vector<Residue> found;
    PERDURE_TRY(const auto all, directory_.read());
    for (const auto& [key, published] : all) {
      if (!published.aside) continue;
      const auto& [name, version, attempt, count, index] = key;
      Residue piece{Residue::Kind::quarantined, directory_.path(published.file), 0, name, version, attempt, {}};
      if (const auto text = os::read_file(directory_.root() + "/" + published.file + ".json", 1 << 20))
        piece.report_text.assign(reinterpret_cast<const char*>(text->data()), text->size());
      found.push_back(std::move(piece));
    }
    PERDURE_CHECK(for_each_leftover([&](const Leftover& left) {
      found.push_back(
          {Residue::Kind::temporary, directory_.data(), 0, left.id.name, left.id.version, left.id.attempt, {}});
      return false;
    }));
    for (Residue& piece : found)
      if (const auto file = os::File::open(piece.path, os::Open::read)) piece.bytes = file->size().value_or(0);
    return found;
  }
  Status clean(const std::function<bool(const segment::VersionId&, std::uint32_t)>& abandoned) override {
    return for_each_leftover([&](const Leftover& left) { return abandoned(left.id, left.index); });
  }

 private:
  Result<os::Directory> owner_place(const std::string& name, Missing missing) const {
    const std::string path = directory_.path(".owners/" + name);
    if (missing == Missing::make) PERDURE_CHECK(os::make_directories(path));
    return os::Directory::open(path);
  }
  /// Removes files that no line names if `gone` returns true. It holds the lock, so that nobody publishes them
  /// meanwhile.
  Status for_each_leftover(const std::function<bool(const Leftover&)>& gone) {
    PERDURE_TRY(const auto log, directory_.lock());
    PERDURE_TRY(const auto all, directory_.read());
    std::set<std::string> named;
    for (const auto& [key, published] : all) named.insert(published.file);
    PERDURE_TRY(const auto entries, os::list_directory(directory_.data()));
    for (const auto& entry : entries) {
      const auto left = parse_data_file(entry.name);
      if (left && !named.contains(entry.name) && gone(*left))
        PERDURE_CHECK(os::remove_file(directory_.path(entry.name)));
    }
    return {};
  }

  const LogDirectory directory_;
  const Properties properties_;
};

}  // namespace

Result<std::unique_ptr<Store>> make_log_store(const std::string& place, const StoreOptions&, Whose) {
  PERDURE_TRY(const std::string root, os::absolute_path(place));
  return std::make_unique<LogStore>(root);
}

}  // namespace perdure::store
