#pragma once
// Opens the directories of a posix store so that nobody else decides where they are. Each is opened through its
// parent's descriptor, never through a link, and only when it belongs to a user whom this one trusts. The root itself
// is where the user's path leads. Use this inside this module only.
#include "os/directory.hpp"
#include "store/posix_layout.hpp"
#include "store/store.hpp"

namespace perdure::store {

class PosixPlace {
 public:
  PosixPlace(std::string root, Whose whose, std::uint32_t writer = 0)
      : layout_(std::move(root), writer), whose_(whose) {}
  const PosixLayout& layout() const { return layout_; }

  /// Opens the root. PERDURE_NOT_FOUND, with a remedy, when it is not there. PERDURE_UNAVAILABLE when its parent is
  /// not, either: then no store was, or is to be, there.
  base::Result<os::Directory> root() const;
  /// Makes it, but nothing above it.
  base::Status make_root() const;
  /// Opens a name's directory. PERDURE_NOT_FOUND when it, or one above it, is not there; PERDURE_PERMISSION when it is
  /// not trusted.
  base::Result<os::Directory> name(const std::string& name) const;
  base::Result<os::Directory> version(const segment::VersionId& id) const;
  /// Opens it, and makes it when missing. It is synced into its parent in any case: its maker may have died before.
  base::Result<os::Directory> make_name(const std::string& name) const;
  base::Result<os::Directory> make_version(const segment::VersionId& id) const;
  /// Opens a directory in an open one.
  base::Result<os::Directory> below(const os::Directory& parent, const std::string& name) const;
  /// Opens a file at a path within the store, as in SegmentRef.
  base::Result<os::File> file(const std::string& path) const;

  /// Gives the directories in which segments of `name` may have been set aside. Those of other users are passed over.
  base::Result<std::vector<os::Directory>> quarantines(const std::string& name) const;
  /// Gives the one in which to set them aside, made when missing.
  base::Result<os::Directory> make_quarantine(const std::string& name) const;

 private:
  base::Result<os::Directory> descend(const std::vector<std::string>& names, Missing missing) const;
  bool is_trusted(std::uint32_t user, std::uint32_t user_above) const;
  bool is_trusted_anywhere(std::uint32_t user) const;
  base::Status check(const os::FileIdentity& found, const os::Directory& above, const std::string& path) const;
  base::Result<std::uint32_t> user_of(const std::string& name) const;

  PosixLayout layout_;
  Whose whose_;
};

}  // namespace perdure::store
