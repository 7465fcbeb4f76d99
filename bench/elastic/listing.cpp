#include "listing.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "perdure/perdure_reader.h"
#include "references.hpp"
#include "segment/segment.hpp"
#include "store/store.hpp"

namespace perdure::elastic_bench {
namespace {

constexpr std::uint64_t kBorn = 1'700'000'000'000'000'000;  // nanoseconds since 1970
constexpr const char* kListed = "small";
constexpr std::uint64_t kTogether = 200;
constexpr std::size_t kRegionBytes = 64;
constexpr std::size_t kReadBytes = 64U << 10;

base::Status write_version(store::Store& store, std::uint64_t version) {
  std::vector<std::byte> capture(kRegionBytes, static_cast<std::byte>(version));
  segment::Piece piece{0, kRegionBytes, {{0, 8, kRegionBytes / 8}}, {{0, kRegionBytes, base::hash128(capture), 0}}};
  segment::Manifest manifest{{kListed, version, {kBorn + version, version}}, 1, 0, 1, "elastic_bench", {piece}};
  const std::uint64_t tail = segment::lay_out(manifest);
  PERDURE_TRY(const auto sink, store.begin(manifest, tail + segment::tail_bytes(manifest, tail)));
  PERDURE_CHECK(sink->write(manifest.pieces[0].chunks[0].offset, capture));
  PERDURE_CHECK(sink->write(0, segment::encode_header(manifest)));
  PERDURE_CHECK(segment::write_tail(
      manifest, tail, [&](std::uint64_t offset, base::ConstByteSpan data) { return sink->write(offset, data); }));
  return sink->commit();
}

/// A writer looks through all versions of its name. So a few at a time are written into a separate store, and moved.
base::Status write_part(const Listing& settings, std::uint64_t first, std::uint64_t last) {
  const std::string part = settings.store + ".part";
  PERDURE_TRY(const auto store, store::make_store(part));
  PERDURE_CHECK(store->prepare());
  std::error_code error;
  for (std::uint64_t version = first; version <= last; ++version) PERDURE_CHECK(write_version(*store, version));
  for (std::uint64_t version = first; !error && version <= last; ++version) {
    const std::string path = std::string("/") + kListed + "/" + std::to_string(version);
    std::filesystem::rename(part + path, settings.store + path, error);
  }
  if (!error) std::filesystem::remove_all(part, error);
  return error ? base::fail(PERDURE_IO, part, error.message()) : base::Status{};
}

struct Plain {
  std::uint64_t files = 0, bytes = 0;
};

base::Status failed(const std::string& path) { return base::fail(PERDURE_IO, path, std::strerror(errno)); }

base::Status read_whole(const std::string& path, Plain& plain) {
  static std::array<char, kReadBytes> buffer;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed(path);
  ssize_t got = 0;
  while ((got = ::read(fd, buffer.data(), buffer.size())) > 0) plain.bytes += static_cast<std::uint64_t>(got);
  ::close(fd);
  ++plain.files;
  return got < 0 ? failed(path) : base::Status{};
}

// readdir() tells which entries are directories, so no other call is needed.
base::Status read_below(const std::string& directory, Plain& plain) {
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(directory.c_str()), &::closedir);
  if (!opened) return failed(directory);
  while (const dirent* entry = ::readdir(opened.get())) {
    if (entry->d_name[0] == '.') continue;
    const std::string path = directory + "/" + entry->d_name;
    PERDURE_CHECK(entry->d_type == DT_DIR ? read_below(path, plain) : read_whole(path, plain));
  }
  return {};
}

int count_complete(void* context, const perdure_stored_version* version) {
  *static_cast<std::uint64_t*>(context) += version->state == PERDURE_STORED_COMPLETE;
  return 0;
}

base::Result<double> list_once(const Listing& settings) {
  std::array<char, 256> message{};
  std::uint64_t found = 0;
  const double begin = bench::now_s();
  const auto status =
      perdure_list_versions(settings.store.c_str(), nullptr, &count_complete, &found, message.data(), message.size());
  const double took = bench::now_s() - begin;
  if (status != PERDURE_OK) return base::fail(status, settings.store, message.data());
  if (found == settings.versions) return took;
  return base::fail(PERDURE_INTERNAL, settings.store, std::to_string(found) + " complete versions were listed");
}

base::Result<double> read_once(const Listing& settings) {
  Plain plain;
  const double begin = bench::now_s();
  PERDURE_CHECK(read_below(settings.store, plain));
  const double took = bench::now_s() - begin;
  if (plain.files >= settings.versions && plain.bytes > plain.files * kRegionBytes) return took;
  return base::fail(PERDURE_INTERNAL, settings.store, std::to_string(plain.files) + " files were read");
}

}  // namespace

base::Result<base::Json> make_versions(const Listing& settings) {
  const double begin = bench::now_s();
  std::error_code error;
  std::filesystem::create_directories(settings.store + "/" + kListed, error);
  for (std::uint64_t first = 1; !error && first <= settings.versions; first += kTogether)
    PERDURE_CHECK(write_part(settings, first, std::min(settings.versions, first + kTogether - 1)));
  if (error) return base::fail(PERDURE_IO, settings.store, error.message());
  return base::Json{{"versions", settings.versions}, {"seconds", bench::now_s() - begin}};
}

base::Result<base::Json> list_versions(const Listing& settings) {
  std::vector<double> calls, plain;
  for (std::uint64_t run = 0; run <= settings.repetitions; ++run) {
    PERDURE_TRY(const double call, list_once(settings));
    PERDURE_TRY(const double read, read_once(settings));
    if (run == 0) continue;
    calls.push_back(call);
    plain.push_back(read);
  }
  return base::Json{{"versions", settings.versions}, {"call_s", calls}, {"plain_s", plain}};
}

}  // namespace perdure::elastic_bench
