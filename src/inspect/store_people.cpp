#include "inspect/store_people.hpp"

#include "os/directory.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::inspect {
namespace {

constexpr std::uint32_t kGroupOrOthersWrite = 0022, kSticky = 01000;
constexpr std::size_t kMostTold = 10;

}  // namespace

base::Result<StorePeople> store_people(const std::string& directory) {
  PERDURE_TRY(const auto root, os::Directory::open(directory));
  PERDURE_TRY(const auto identity, root.identity());
  StorePeople people;
  people.user = os::user_name(identity.user);
  people.ours = identity.user == os::user_id() || identity.user == 0;
  people.others_write = (identity.permissions & kGroupOrOthersWrite) != 0;
  people.others_remove = people.others_write && (identity.permissions & kSticky) == 0;
  PERDURE_TRY(const auto entries, root.list());
  for (const os::Entry& entry : entries) {
    if (!segment::check_name(entry.name)) continue;
    const auto there = root.identity_of(entry.name);
    if (!there || there->user == os::user_id() || there->user == identity.user || there->user == 0) continue;
    people.more.push_back("checkpoint " + entry.name + " belongs to user " + os::user_name(there->user));
  }
  return people;
}

std::vector<std::string> told_of_people(store::Store& store) {
  const std::string& directory = store.properties().directory;
  if (directory.empty()) return {};
  const auto people = store_people(directory);
  if (!people) return {};
  std::vector<std::string> told;
  if (!people->ours) told.push_back("the store " + directory + " belongs to user " + people->user);
  for (const std::string& line : people->more) {
    if (told.size() > kMostTold) {
      told.push_back("and so on: " + std::to_string(people->more.size()) + " checkpoints belong to other users");
      break;
    }
    told.push_back(line);
  }
  return told;
}

}  // namespace perdure::inspect
