#include "portable/data_set.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "reader/examine.hpp"

namespace perdure::portable {
namespace {

/// These names mean something else in a file: the group of the ranks, and the file that describes a Zarr node.
bool reserved(const std::string& name) { return name == "ranks" || name == "zarr.json"; }

/// Names each region. A name that several regions have, or that is reserved, gets the number behind it.
std::map<std::int32_t, std::string> names_of(const std::vector<reader::StoredRegion>& regions) {
  std::map<std::string, int> uses;
  for (const auto& region : regions) ++uses[region.label.name];
  const auto plain = [&](const reader::StoredRegion& region) {
    const std::string& name = region.label.name;
    return !name.empty() && uses[name] == 1 && !reserved(name);
  };
  std::map<std::int32_t, std::string> names;
  std::set<std::string> taken;
  for (const auto& region : regions)
    if (plain(region)) taken.insert(names[region.id] = region.label.name);
  for (const auto& region : regions) {
    if (plain(region)) continue;
    std::string name = (region.label.name.empty() ? "region" : region.label.name) + "." + std::to_string(region.id);
    while (!taken.insert(name).second) name += "_";
    names[region.id] = name;
  }
  return names;
}

// One element is in memory as a whole, and other formats have limits of their own.
constexpr std::uint64_t kMostOpaque = 4096;

bool is_mere_bytes(const array::ElementType& type) {
  return !type.compound() && type.members().front().scalar.kind == array::ScalarKind::bytes;
}

}  // namespace

std::string kind_of(segment::ArrayKind kind) {
  switch (kind) {
    case segment::ArrayKind::global:
      return "global";
    case segment::ArrayKind::list:
      return "list";
    case segment::ArrayKind::replicated:
      return "replicated";
  }
  return "unknown";
}

base::Result<std::vector<DataSet>> choose(const reader::StoredContent& content,
                                          const std::vector<std::string>& regions) {
  std::set<std::int32_t> wanted;
  for (const std::string& region : regions) {
    PERDURE_TRY(const auto* found, content.find(region));
    wanted.insert(found->id);
  }
  const auto names = names_of(content.regions());
  std::vector<DataSet> sets;
  for (const auto& array : content.arrays())
    if (wanted.empty() || wanted.count(array.id) > 0)
      sets.push_back({names.at(array.id), array.id, array.label, kind_of(array.kind), array.type, array.whole, &array});
  std::map<std::int32_t, const reader::StoredRegion*> by_id;
  for (const auto& region : content.regions()) by_id[region.id] = &region;
  for (const auto& local : content.locals()) {
    if (!wanted.empty() && wanted.count(local.id) == 0) continue;
    const auto& region = *by_id.at(local.id);
    DataSet set{"ranks/" + std::to_string(local.rank) + "/" + names.at(local.id),
                local.id,
                region.label,
                segment::kind_name(local.kind),
                reader::type_of(region, local),
                {},
                nullptr,
                local,
                local.element_bytes};
    if (is_mere_bytes(set.type) && local.element_bytes != 1 &&
        (local.bytes() == 0 || local.element_bytes > kMostOpaque)) {
      set.type = array::ElementType::of_bytes(1);
      set.local.element_bytes = 1;
      set.local.count = local.bytes();
    }
    set.whole = reader::box_of(set.local);
    sets.push_back(std::move(set));
  }
  return sets;
}

void clear_room(const array::ElementType& type, base::ByteSpan elements) {
  if (!type.compound()) return;
  for (const array::Member& member : type.members()) {
    if (!member.name.empty()) continue;
    for (std::size_t at = member.offset; at < elements.size(); at += type.bytes())
      std::memset(elements.data() + at, 0, member.scalar.bytes * member.count);
  }
}

}  // namespace perdure::portable
