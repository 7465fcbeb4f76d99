// Implements file.hpp's functions on whole files and file systems with its smaller ones.
#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "os/directory.hpp"
#include "os/system.hpp"
#include "os/system_call.hpp"

namespace perdure::os {
namespace {

struct FileSystem {
  std::uint64_t magic;
  const char* name;
};

constexpr std::array kFileSystems = {
    FileSystem{0x01021994, "tmpfs"},  FileSystem{0xEF53, "ext4"},          FileSystem{0x58465342, "xfs"},
    FileSystem{0x9123683E, "btrfs"},  FileSystem{0x794C7630, "overlay"},   FileSystem{0x6969, "nfs"},
    FileSystem{0x0BD00BD0, "lustre"}, FileSystem{0x47504653, "gpfs"},      FileSystem{0x19830326, "beegfs"},
    FileSystem{0x65735546, "fuse"},   FileSystem{0x2FC12FC1, "zfs"},       FileSystem{0x858458F6, "ramfs"},
    FileSystem{0x00C36400, "ceph"},   FileSystem{0x958458F6, "hugetlbfs"}, FileSystem{0xF2F52010, "f2fs"},
    FileSystem{0xFF534D42, "cifs"},   FileSystem{0xFE534D42, "smb2"},      FileSystem{0xAAD7AAEA, "panfs"},
    FileSystem{0x20030528, "pvfs2"},  FileSystem{0x01161970, "gfs2"},      FileSystem{0x7461636F, "ocfs2"},
    FileSystem{0x5346414F, "afs"},    FileSystem{0x01021997, "9p"},
};

std::string file_system_name(std::uint64_t magic) {
  for (const FileSystem& known : kFileSystems)
    if (known.magic == magic) return known.name;
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "0x%llx", static_cast<unsigned long long>(magic));
  return buffer.data();
}

std::string temporary_of(const std::string& name) {
  std::array<char, 32> suffix{};
  std::snprintf(suffix.data(), suffix.size(), ".tmp-%016llx", static_cast<unsigned long long>(random_u64()));
  return name + suffix.data();
}

base::Result<std::vector<std::byte>> read_open(const File& file, std::uint64_t limit_bytes) {
  PERDURE_TRY(const std::uint64_t bytes, file.size());
  if (bytes > limit_bytes)
    return base::fail(
        PERDURE_CORRUPT, file.path(),
        "holds " + base::format_bytes(bytes) + ", at most " + base::format_bytes(limit_bytes) + " expected");
  std::vector<std::byte> content(bytes);
  PERDURE_TRY(const std::size_t got, file.read_some(0, content));
  content.resize(got);
  return content;
}

base::Status write_and_rename(const std::string& temporary, const std::string& path, base::ConstByteSpan data,
                              Open how) {
  {
    PERDURE_TRY(const File file, File::open(temporary, how));
    PERDURE_CHECK(file.write(0, data));
    PERDURE_CHECK(file.sync());
  }
  return rename_path(temporary, path);
}

// Asks about the path, or about the nearest existing directory above it.
bool file_system_of(std::string path, struct statfs& facts) {
  while (::statfs(path.empty() ? "/" : path.c_str(), &facts) != 0) {
    if (path.empty() || path == ".") return false;
    const std::size_t slash = path.rfind('/');
    path = slash == std::string::npos ? "." : path.substr(0, slash);
  }
  return true;
}

}  // namespace

// Bypasses the hooks, which refuse a single call.
base::Error name_what_is_full(base::Error error, const std::string& path) {
  struct statfs facts {};
  if (!file_system_of(path, facts) || facts.f_files == 0 || facts.f_ffree != 0) return error;
  error.cause +=
      ": the file system has no more files (inodes), while " +
      base::format_bytes(static_cast<std::uint64_t>(facts.f_bavail) * static_cast<std::uint64_t>(facts.f_bsize)) +
      " are free";
  error.remedy = "remove files on this file system (df -i counts them) or set the path elsewhere";
  return error;
}

base::Result<std::vector<std::byte>> read_file(const std::string& path, std::uint64_t limit_bytes) {
  PERDURE_TRY(const File file, File::open(path, Open::read));
  return read_open(file, limit_bytes);
}

base::Result<std::vector<std::byte>> Directory::read_file(const std::string& name, std::uint64_t limit_bytes) const {
  PERDURE_TRY(const File file, open_file(name, Open::read));
  return read_open(file, limit_bytes);
}

base::Status Directory::write_file_atomically(const std::string& name, base::ConstByteSpan data) const {
  const std::string temporary = temporary_of(name);
  const auto write = [&]() -> base::Status {
    {
      PERDURE_TRY(const File file, open_file(temporary, Open::create_new));
      PERDURE_CHECK(file.write(0, data));
      PERDURE_CHECK(file.sync());
    }
    return rename(temporary, name);
  };
  if (auto written = write(); !written) {
    (void)remove_file(temporary);  // best effort: the first error is reported
    return written;
  }
  return sync();
}

base::Status write_file_atomically(const std::string& path, base::ConstByteSpan data, Open how) {
  const std::string temporary = temporary_of(path);
  if (auto written = write_and_rename(temporary, path, data, how); !written) {
    (void)remove_file(temporary);  // best effort: the first error is reported
    return written;
  }
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return sync_directory(parent.empty() ? "." : parent);
}

base::Result<Space> space(const std::string& path) {
  struct statfs facts {};
  PERDURE_CHECK(checked_call({.call = "statfs", .path = path}, [&] { return ::statfs(path.c_str(), &facts); }));
  struct stat file {};
  PERDURE_CHECK(checked_call({.call = "stat", .path = path}, [&] { return ::stat(path.c_str(), &file); }));
  const auto block = static_cast<std::uint64_t>(facts.f_bsize);
  return Space{static_cast<std::uint64_t>(facts.f_blocks) * block,
               static_cast<std::uint64_t>(facts.f_bavail) * block,
               file_system_name(static_cast<std::uint32_t>(facts.f_type)),
               file.st_dev,
               file.st_ino,
               facts.f_files,
               facts.f_ffree};
}

}  // namespace perdure::os
