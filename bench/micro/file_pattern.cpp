#include "file_pattern.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "os/file.hpp"

namespace perdure::micro {
namespace {

constexpr std::array kModes{FileMode::fresh, FileMode::existing, FileMode::in_place, FileMode::deleted};

void wait_for(MPI_Comm sharing) {
  if (sharing != MPI_COMM_NULL) MPI_Barrier(sharing);
}

base::Result<os::File> open_first(const std::string& path, FileMode mode) {
  const bool nothing_there = mode == FileMode::fresh || mode == FileMode::deleted;
  auto file = os::File::open(path, nothing_there ? os::Open::create_new : os::Open::create);
  if (file && mode == FileMode::existing) PERDURE_CHECK(file->truncate(0));
  return file;
}

base::Status write_blocks(const os::File& file, std::uint64_t offset, std::uint64_t block_bytes,
                          const std::vector<char>& data) {
  const auto bytes = std::as_bytes(std::span(data));
  for (std::uint64_t done = 0; done < bytes.size(); done += block_bytes)
    PERDURE_CHECK(file.write(offset + done, bytes.subspan(done, std::min(block_bytes, bytes.size() - done))));
  return {};
}

base::Status write_opened(const base::Result<os::File>& file, const Target& target, const WriteOptions& options,
                          const std::vector<char>& data) {
  if (!file) return base::fail(file.error());
  PERDURE_CHECK(write_blocks(*file, target.offset, options.block_bytes, data));
  return options.sync ? file->sync() : base::Status{};
}

}  // namespace

const char* name_of(FileMode mode) {
  switch (mode) {
    case FileMode::fresh:
      return "new";
    case FileMode::existing:
      return "existing";
    case FileMode::in_place:
      return "in-place";
    case FileMode::deleted:
      return "deleted";
  }
  return "";
}

base::Result<FileMode> file_mode(const std::string& name) {
  for (const FileMode mode : kModes)
    if (name == name_of(mode)) return mode;
  return base::fail(PERDURE_INVALID_ARGUMENT, "file mode " + name, "is not known",
                    "use new, existing, in-place or deleted");
}

bool Target::first() const {
  int rank = 0;
  if (shared_by != MPI_COMM_NULL) MPI_Comm_rank(shared_by, &rank);
  return rank == 0;
}

base::Status write_once(const Target& target, const WriteOptions& options, const std::vector<char>& data) {
  base::Status status;
  {
    base::Result<os::File> file;
    if (target.first()) file = open_first(target.path, options.mode);
    wait_for(target.shared_by);  // even after an error, because the others wait here
    if (!target.first()) file = os::File::open(target.path, os::Open::read_write);
    status = write_opened(file, target, options, data);
  }
  wait_for(target.shared_by);
  return status;
}

base::Status read_back(const Target& target, std::uint64_t block_bytes, std::vector<char>& buffer) {
  PERDURE_TRY(const os::File file, os::File::open(target.path, os::Open::read));
  const auto bytes = std::as_writable_bytes(std::span(buffer));
  for (std::uint64_t done = 0; done < bytes.size(); done += block_bytes)
    PERDURE_CHECK(file.read(target.offset + done, bytes.subspan(done, std::min(block_bytes, bytes.size() - done))));
  return {};
}

base::Status verify(const Target& target, const std::vector<char>& data) {
  constexpr std::uint64_t kBlock = 1U << 20;
  std::vector<char> there(data.size());
  PERDURE_CHECK(read_back(target, kBlock, there));
  if (there == data) return {};
  return base::fail(PERDURE_CORRUPT, target.path, "holds other bytes than were written there",
                    "do not trust this file system; choose another with --directory");
}

}  // namespace perdure::micro
