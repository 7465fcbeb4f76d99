#include "store/ownership.hpp"

#include "os/directory.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"
#include "store/store.hpp"

namespace perdure::store {
namespace {

constexpr std::uint32_t kOthersMayWrite = 0022, kSticky = 01000;

base::Status check_one(const std::string& path, const os::FileIdentity& found, std::uint32_t user) {
  constexpr const char* kRemedy =
      "a resume would run what that user put there as you; where you trust that user, say --of-others";
  if (found.user != user && found.user != 0)
    return base::fail(PERDURE_PERMISSION, path, "it belongs to user " + os::user_name(found.user), kRemedy);
  if ((found.permissions & kOthersMayWrite) != 0 && (found.permissions & kSticky) == 0)
    return base::fail(PERDURE_PERMISSION, path, "others may write there",
                      "a resume would run what they put there as you: chmod go-w it; where you trust them, say "
                      "--of-others");
  return {};
}

base::Status check_all(const os::Directory& directory, std::uint32_t user) {
  PERDURE_TRY(const auto entries, directory.list());
  for (const os::Entry& entry : entries) {
    const auto found = directory.identity_of(entry.name);
    if (!found && found.error().code == PERDURE_NOT_FOUND) continue;  // removed meanwhile
    PERDURE_CHECK(found);
    PERDURE_CHECK(check_one(directory.path_of(entry.name), *found, user));
    if (!entry.directory) continue;
    const auto inner = directory.open_directory(entry.name);
    if (!inner && inner.error().code == PERDURE_NOT_FOUND) continue;
    if (!inner) return base::fail(inner.error());
    PERDURE_CHECK(check_all(*inner, user));
  }
  return {};
}

}  // namespace

base::Status check_ownership(const Store& store, const std::string& name, std::uint32_t user) {
  PERDURE_CHECK(segment::check_name(name));
  const std::string& path = store.properties().directory;
  if (path.empty())
    return base::fail(PERDURE_UNSUPPORTED, store.properties().location, "it does not say whose its files are",
                      "where you trust all who write there, say --of-others");
  const auto root = os::Directory::open(path);
  if (!root && root.error().code == PERDURE_NOT_FOUND) return {};
  if (!root) return base::fail(root.error());
  PERDURE_TRY(const auto found, root->identity());
  PERDURE_CHECK(check_one(path, found, user));
  const auto of_name = root->identity_of(name);
  if (!of_name && of_name.error().code == PERDURE_NOT_FOUND) return {};
  PERDURE_CHECK(of_name);
  PERDURE_CHECK(check_one(root->path_of(name), *of_name, user));
  PERDURE_TRY(const auto place, root->open_directory(name));
  return check_all(place, user);
}

}  // namespace perdure::store
