#include "store/posix_place.hpp"

#include <algorithm>

#include "os/system.hpp"

namespace perdure::store {
namespace {

using base::Result;
using base::Status;

constexpr std::uint32_t kAdministrator = 0;

std::string parent_of(const std::string& path) { return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)); }

// A store that is yet to be made needs an existing directory around it.
base::Error not_mounted(const std::string& root) {
  return {PERDURE_UNAVAILABLE, root,
          "neither the store's directory nor " + parent_of(root) + ", which it is in, is there",
          "mount its file system or correct store.path; for a new store: mkdir -p " + parent_of(root), true};
}

}  // namespace

Result<os::Directory> PosixPlace::root() const {
  auto opened = os::Directory::open(layout_.root());
  if (opened || opened.error().code != PERDURE_NOT_FOUND) return opened;
  PERDURE_TRY(const bool expected, os::exists(parent_of(layout_.root())));
  if (!expected) return base::fail(not_mounted(layout_.root()));
  return base::fail(PERDURE_NOT_FOUND, layout_.root(), "the store's directory is not there",
                    "check the path of the store (store.path) and whether its file system is mounted");
}

// If a file system is not mounted, directories that are made on the way hide that, and fill the disk below.
Status PosixPlace::make_root() const {
  const auto there = root();
  if (there) return {};
  if (there.error().code != PERDURE_NOT_FOUND) return base::fail(there.error());
  PERDURE_CHECK(os::make_directory(layout_.root()));
  return os::sync_directory(parent_of(layout_.root()));
}

// The owner of a directory can do anything in it, and the user named the root; an administrator can do so everywhere.
// Any other user who made something in it is one of those who share the store: their names are their own.
bool PosixPlace::is_trusted(std::uint32_t user, std::uint32_t user_above) const {
  return is_trusted_anywhere(user) || user == user_above;
}

bool PosixPlace::is_trusted_anywhere(std::uint32_t user) const {
  return whose_ == Whose::anybodys || user == kAdministrator || user == os::user_id();
}

Status PosixPlace::check(const os::FileIdentity& found, const os::Directory& above, const std::string& path) const {
  if (is_trusted_anywhere(found.user)) return {};  // most are trusted: the directory above need not be asked
  PERDURE_TRY(const auto parent, above.identity());
  if (is_trusted(found.user, parent.user)) return {};
  return base::fail(PERDURE_PERMISSION, path,
                    "it belongs to user " + os::user_name(found.user) + ", neither to you nor to user " +
                        os::user_name(parent.user) + ", whose directory it is in",
                    "give this program another checkpoint name or store.path; to use what somebody else wrote, copy it "
                    "to a store of yours");
}

Result<os::Directory> PosixPlace::below(const os::Directory& parent, const std::string& name) const {
  PERDURE_TRY(os::Directory opened, parent.open_directory(name));
  PERDURE_TRY(const auto found, opened.identity());
  PERDURE_CHECK(check(found, parent, opened.path()));
  return opened;
}

Result<os::Directory> PosixPlace::descend(const std::vector<std::string>& names, Missing missing) const {
  PERDURE_TRY(os::Directory reached, root());
  for (const std::string& name : names) {
    if (missing == Missing::make) {
      PERDURE_CHECK(reached.make_directory(name));
      PERDURE_CHECK(reached.sync());
    }
    PERDURE_TRY(reached, below(reached, name));
  }
  return reached;
}

Result<os::Directory> PosixPlace::name(const std::string& name) const { return descend({name}, Missing::leave); }

Result<os::Directory> PosixPlace::version(const segment::VersionId& id) const {
  return descend({id.name, std::to_string(id.version)}, Missing::leave);
}

Result<os::Directory> PosixPlace::make_name(const std::string& name) const { return descend({name}, Missing::make); }

Result<os::Directory> PosixPlace::make_version(const segment::VersionId& id) const {
  return descend({id.name, std::to_string(id.version)}, Missing::make);
}

Result<os::File> PosixPlace::file(const std::string& path) const {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    if (parts.back().empty() || parts.back() == "." || parts.back() == "..")
      return base::fail(PERDURE_INVALID_ARGUMENT, path, "it is no path within a store");
    begin = end + 1;
  }
  const std::string file = std::move(parts.back());
  parts.pop_back();
  PERDURE_TRY(const os::Directory directory, descend(parts, Missing::leave));
  PERDURE_TRY(os::File opened, directory.open_file(file, os::Open::read));
  PERDURE_TRY(const auto found, opened.identity());
  PERDURE_CHECK(check(found, directory, opened.path()));
  return opened;
}

Result<std::uint32_t> PosixPlace::user_of(const std::string& name) const {
  const auto place = this->name(name);
  if (!place && place.error().code == PERDURE_NOT_FOUND) return os::user_id();
  if (!place) return base::fail(place.error());
  PERDURE_TRY(const auto identity, place->identity());
  return identity.user;
}

// In a shared store the common quarantine belongs to the first user who set something aside; the others have their own.
Result<std::vector<os::Directory>> PosixPlace::quarantines(const std::string& name) const {
  std::vector<os::Directory> found;
  PERDURE_TRY(const os::Directory top, root());
  PERDURE_TRY(const auto top_identity, top.identity());
  PERDURE_TRY(const std::uint32_t user, user_of(name));
  for (const std::string& candidate : {std::string(kQuarantine), quarantine_of(user)}) {
    const auto there = top.identity_of(candidate);
    if (!there && there.error().code == PERDURE_NOT_FOUND) continue;
    PERDURE_CHECK(there);
    const bool expected = there->user == user || there->user == os::user_id();
    if (!expected && !is_trusted(there->user, top_identity.user)) continue;
    auto opened = top.open_directory(candidate);
    if (!opened && !expected && opened.error().code == PERDURE_PERMISSION) continue;
    if (!opened) return base::fail(opened.error());
    found.push_back(std::move(*opened));
  }
  return found;
}

Result<os::Directory> PosixPlace::make_quarantine(const std::string& name) const {
  PERDURE_TRY(const os::Directory top, root());
  PERDURE_TRY(const std::uint32_t user, user_of(name));
  for (const std::string& candidate : {std::string(kQuarantine), quarantine_of(user)}) {
    PERDURE_CHECK(top.make_directory(candidate));
    PERDURE_CHECK(top.sync());
    PERDURE_TRY(const auto there, top.identity_of(candidate));
    if (there.user == user || there.user == os::user_id()) return top.open_directory(candidate);
  }
  return base::fail(PERDURE_PERMISSION, top.path_of(quarantine_of(user)),
                    "it belongs to another user than the checkpoint " + name,
                    "ask its owner or an administrator to remove it");
}

}  // namespace perdure::store
