#include "process/shared_contents.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "os/file.hpp"
#include "process/zero_pages.hpp"

namespace perdure::process {
namespace {

bool is_looked_at(const MapImage& map) { return map.file != 0 && map.shared && (map.protection & PROT_WRITE) != 0; }

/// Returns the offset of the next data at or behind `at`; `end` if there is none.
std::uint64_t next_data(int file, std::uint64_t at, std::uint64_t end) {
  const off_t data = ::lseek(file, static_cast<off_t>(at), SEEK_DATA);
  return data < 0 ? end : std::min(end, static_cast<std::uint64_t>(data));
}

/// Hashes whole blocks with their offsets in the file; blocks of zeros count as holes. Subtracts the bytes read from
/// `left`. Returns nothing if the file cannot be read, or has more than `left` bytes.
std::optional<base::Hash128> hash_of(int file, const MapImage& map, std::uint64_t& left) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const std::uint64_t end =
      std::min<std::uint64_t>(map.offset + map.bytes(), static_cast<std::uint64_t>(status.st_size));
  base::Hasher hasher;
  std::vector<std::byte> block(kBlockBytes);
  for (std::uint64_t at = map.offset; at < end;) {
    const std::uint64_t data = next_data(file, at, end);
    if (data >= end) break;
    at = std::max(at, data / kBlockBytes * kBlockBytes);
    const std::uint64_t bytes = std::min(end, at / kBlockBytes * kBlockBytes + kBlockBytes) - at;
    if (bytes > left) return std::nullopt;
    left -= bytes;
    const auto part = base::ByteSpan(block).first(bytes);
    if (::pread(file, part.data(), bytes, static_cast<off_t>(at)) != static_cast<ssize_t>(bytes)) return std::nullopt;
    if (!only_zeros(part)) {
      hasher.update(std::as_bytes(std::span(&at, 1)));
      hasher.update(part);
    }
    at += bytes;
  }
  return hasher.digest();
}

/// Opens the file of a mapping. With `same_one`, its name must still lead to it.
os::Fd file_of(const ProcessImage& image, const MapImage& map, bool same_one) {
  const FileImage& file = image.files[map.file - 1];
  os::Fd opened(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!opened || ::fstat(opened.get(), &status) != 0) return {};
  if (same_one && (status.st_dev != file.device || status.st_ino != file.inode)) return {};
  return opened;
}

}  // namespace

std::vector<std::string> add_shared_contents(ProcessImage& image, std::uint64_t most_bytes) {
  std::set<std::string> notes;
  std::uint64_t left = most_bytes;
  for (MapImage& map : image.maps) {
    if (!is_looked_at(map)) continue;
    const os::Fd file = file_of(image, map, true);
    if (file) map.content = hash_of(file.get(), map, left);
    if (!map.content)
      notes.insert("'" + image.files[map.file - 1].path +
                   "', which it writes to by its memory, is not compared when it is brought back: it is too long, or "
                   "may not be read (--hash-files looks at more)");
  }
  return {notes.begin(), notes.end()};
}

std::vector<std::string> changed_contents(const ProcessImage& image) {
  std::set<std::string> notes;
  for (const MapImage& map : image.maps) {
    if (!is_looked_at(map) || !map.content) continue;
    const os::Fd file = file_of(image, map, false);
    std::uint64_t all = ~std::uint64_t{0};
    const auto now = file ? hash_of(file.get(), map, all) : std::nullopt;
    if (now != map.content)
      notes.insert("'" + image.files[map.file - 1].path +
                   "', which it writes to by its memory, has other content than when it was captured: it goes on with "
                   "that, and its result may be another one");
  }
  return {notes.begin(), notes.end()};
}

}  // namespace perdure::process
