#include "support/directory_on.hpp"

#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace perdure::test_support {
namespace {

/// Owns an open descriptor.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path, int flags = O_RDWR) : fd_(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

constexpr std::uint32_t kSector = 4096;
constexpr const char* kImageBytes = "128M";  // sparse: only written parts occupy space

bool make_image(const std::string& image) {
  const std::string make = "PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q -F -b 4096 -N 4096 -O ^has_journal " + image + " " +
                           kImageBytes + " >/dev/null 2>&1";
  return std::system(make.c_str()) == 0;
}

// The kernel releases the device once it is neither open nor mounted. Others may take a free device first.
int attach(const std::string& image, const std::string& device) {
  const Descriptor file(image), loop(device);
  if (file.get() < 0 || loop.get() < 0) return -1;
  loop_config config{};
  config.fd = static_cast<std::uint32_t>(file.get());
  config.block_size = kSector;
  config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
  return ::ioctl(loop.get(), LOOP_CONFIGURE, &config) == 0 ? ::dup(loop.get()) : -1;
}

}  // namespace

std::string name_of(FileSystem kind) {
  switch (kind) {
    case FileSystem::memory:
      return "memory";
    case FileSystem::few_files:
      return "few_files";
    case FileSystem::overlay:
      return "overlay";
    case FileSystem::sectors_of_4k:
      return "sectors_of_4k";
    default:
      return "usual";
  }
}

DirectoryOn::DirectoryOn(FileSystem kind) {
  if (kind == FileSystem::usual || !enter_own_mounts()) return;
  path_ = directory_ / "mounted";
  std::filesystem::create_directory(path_);
  if (kind == FileSystem::memory) (void)mount_at("tmpfs", "tmpfs");
  if (kind == FileSystem::few_files) (void)mount_at("tmpfs", "tmpfs", "size=64m,nr_inodes=16");
  if (kind == FileSystem::overlay) mount_overlay();
  if (kind == FileSystem::sectors_of_4k) mount_device();
}

DirectoryOn::~DirectoryOn() {
  if (mounts_before_ >= 0 && ::setns(mounts_before_, CLONE_NEWNS) == 0) (void)!::fchdir(working_before_);
  if (mounts_before_ >= 0) ::close(mounts_before_);
  if (working_before_ >= 0) ::close(working_before_);
}

bool DirectoryOn::fails(const std::string& what) {
  missing_ = what + ": " + std::strerror(errno);
  return false;
}

bool DirectoryOn::enter_own_mounts() {
  mounts_before_ = ::open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC);
  working_before_ = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (::unshare(CLONE_NEWNS) != 0) return fails("unshare(CLONE_NEWNS)");
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 || fails("mount of / as private");
}

bool DirectoryOn::mount_at(const char* source, const char* type, const std::string& data) {
  return ::mount(source, path_.c_str(), type, 0, data.c_str()) == 0 || fails(std::string("mount of ") + type);
}

void DirectoryOn::mount_overlay() {
  for (const char* part : {"lower", "upper", "work"}) std::filesystem::create_directory(directory_ / part);
  (void)mount_at(
      "overlay", "overlay",
      "lowerdir=" + directory_ / "lower" + ",upperdir=" + directory_ / "upper" + ",workdir=" + directory_ / "work");
}

void DirectoryOn::mount_device() {
  const std::string image = directory_ / "image";
  if (!make_image(image)) {
    missing_ = "there is no mkfs.ext4, or it failed";
    return;
  }
  const Descriptor control("/dev/loop-control");
  int loop = -1;
  std::string device;
  for (int tries = 0; control.get() >= 0 && loop < 0 && tries < 100; ++tries) {
    device = "/dev/loop" + std::to_string(::ioctl(control.get(), LOOP_CTL_GET_FREE));
    loop = attach(image, device);
    if (loop < 0 && errno != EBUSY) break;
  }
  if (loop < 0) {
    (void)fails("attaching " + device);
    return;
  }
  (void)mount_at(device.c_str(), "ext4");
  ::close(loop);  // the mount keeps it from here on
}

}  // namespace perdure::test_support
