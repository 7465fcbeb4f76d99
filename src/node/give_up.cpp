#include "node/give_up.hpp"

#include <algorithm>

namespace perdure::node {
namespace {

base::Status busy(const std::string& path, const std::string& cause) {
  return base::fail(PERDURE_BUSY, path, cause, "look again", true);
}

// If only slots are left, the directory is made for its lock, because an engine may begin there at this moment. If the
// directory was there and is gone, another process removed the residue.
base::Result<os::File> take(const EngineDirectory& directory) {
  const std::string& path = directory.path;
  const auto& parts = directory.directories;
  if (std::find(parts.begin(), parts.end(), path) == parts.end()) PERDURE_CHECK(os::make_private_directory(path));
  PERDURE_TRY(auto lock, os::File::open(path + kLock, os::Open::create));
  PERDURE_CHECK(lock.try_lock());
  if (!path_leads_to(lock)) return base::fail(busy(path, "its engine removes it").error());
  return lock;
}

// A successor believes a fingerprint, and would wait for the engine that it names.
base::Status forget(const std::string& path) {
  for (const char* name : {"/fingerprint", "/catalog.new", "/catalog"}) PERDURE_CHECK(os::remove_file(path + name));
  return {};
}

base::Status remove_content(const std::string& path) {
  PERDURE_TRY(const auto entries, os::list_directory(path));
  for (const os::Entry& entry : entries)
    if ("/" + entry.name != kLock) PERDURE_CHECK(os::remove_tree(path + "/" + entry.name));
  return {};
}

}  // namespace

base::Status give_up(const Left& left) {
  const std::string& path = left.directory.path;
  const auto lock = take(left.directory);
  if (!lock) return lock.error().code == PERDURE_NOT_FOUND ? base::Status() : base::fail(lock.error());
  const auto now = hash_of_catalog(path);
  const bool unreadable = !now && left.damage;
  if (!unreadable && (!now || *now != left.catalog)) return busy(path, "an engine has written there meanwhile");
  PERDURE_CHECK(forget(path));
  for (const std::string& part : left.directory.directories)
    if (part != path) PERDURE_CHECK(os::remove_tree(part));
  PERDURE_CHECK(remove_content(path));
  // Once the lock's file is gone a successor may work here. By then only the directory is left, and it stays if it is
  // used.
  PERDURE_CHECK(os::remove_file(path + kLock));
  (void)os::remove_directory(path);
  return {};
}

}  // namespace perdure::node
