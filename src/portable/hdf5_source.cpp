#include "portable/hdf5_source.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "portable/hdf5_types.hpp"

namespace perdure::portable {
namespace {

using base::Result;
using base::Status;

constexpr std::uint64_t kMostRanks = 1'000'000;  // each has a description in the segment
constexpr std::int32_t kNoId = -1;
constexpr std::size_t kMostNameBytes = 4096;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 47;  // bytes of a file, whose chunks are all listed in memory

tl::unexpected<base::Error> unsupported(const std::string& object, const std::string& why) {
  return base::fail(PERDURE_UNSUPPORTED, object, why);
}

std::optional<std::uint32_t> rank_of(const std::string& name) {
  std::uint32_t rank = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole && rank < kMostRanks && name == std::to_string(rank) ? std::optional(rank) : std::nullopt;
}

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_mere(const array::ElementType& type) {
  return !type.compound() && type.members().front().scalar.kind == array::ScalarKind::bytes;
}

segment::ArrayKind array_kind(const std::string& text) {
  for (const auto kind : {segment::ArrayKind::list, segment::ArrayKind::replicated})
    if (kind_of(kind) == text) return kind;
  return segment::ArrayKind::global;
}

}  // namespace

Result<Hdf5Source> Hdf5Source::open(const std::string& path, std::function<void()> step) {
  PERDURE_TRY(const Hdf5Library* library, load_hdf5_library());
  Hdf5Source source(*library, path, std::move(step));
  source.file_ = Hdf5Id(library->H5Fopen(path.c_str(), 0, H5P_DEFAULT), library->H5Fclose);
  if (!source.file_) return base::fail(PERDURE_CORRUPT, path, "it is no HDF5 file, or damaged");
  PERDURE_CHECK(source.read_group("", std::nullopt));
  PERDURE_CHECK(source.check_bytes());
  source.number_the_rest();
  return source;
}

Status Hdf5Source::check_bytes() const {
  std::uint64_t sum = 0;  // one set has less than 2^63 bytes
  for (const SourceSet& set : sets_) {
    if (set.entry.bytes() > kMostBytes - sum)
      return unsupported(path_ + ":/" + set.path, "with it the file says that it has more than 128 TiB");
    sum += set.entry.bytes();
  }
  return {};
}

Result<std::vector<std::string>> Hdf5Source::names(const std::string& group) const {
  const Hdf5Id opened(h_->H5Gopen2(file_.get(), ("/" + group).c_str(), H5P_DEFAULT), h_->H5Gclose);
  H5G_info_t info{};
  if (!opened || h_->H5Gget_info(opened.get(), &info) < 0) return base::fail(h_->error("H5Gopen /" + group, path_));
  std::vector<std::string> names;
  std::string name(kMostNameBytes, '\0');
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    step_();
    const auto length =
        h_->H5Lget_name_by_idx(opened.get(), ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
    if (length < 0) return base::fail(h_->error("H5Lget_name_by_idx /" + group, path_));
    names.push_back(name.substr(0, static_cast<std::size_t>(length)));
  }
  return names;
}

Status Hdf5Source::read_group(const std::string& group, std::optional<std::uint32_t> rank) {
  PERDURE_TRY(const auto names, this->names(group));
  for (const std::string& name : names) {
    step_();
    const std::string path = group.empty() ? name : group + "/" + name;
    const Hdf5Id opened(h_->H5Oopen(file_.get(), ("/" + path).c_str(), H5P_DEFAULT), h_->H5Oclose);
    if (!opened) return base::fail(h_->error("H5Oopen /" + path, path_));
    const auto kind = h_->H5Iget_type(opened.get());
    if (kind == H5I_DATASET) {
      PERDURE_CHECK(add(path, rank));
    } else if (kind == H5I_GROUP && path == "ranks") {
      PERDURE_CHECK(read_ranks());
    } else {
      return unsupported(path_ + ":/" + path,
                         "it is a group, or something else that is no data set, where none is "
                         "expected: only /ranks/N may be one");
    }
  }
  return {};
}

Status Hdf5Source::read_ranks() {
  const Hdf5Id root(h_->H5Gopen2(file_.get(), "/", H5P_DEFAULT), h_->H5Gclose);
  ranks_ = static_cast<std::uint64_t>(std::clamp<std::int64_t>(number_attribute(*h_, root.get(), "ranks").value_or(1),
                                                               1, static_cast<std::int64_t>(kMostRanks)));
  PERDURE_TRY(const auto names, this->names("ranks"));
  std::vector<std::uint32_t> ranks;
  for (const std::string& name : names) {
    const auto rank = rank_of(name);
    if (!rank) return unsupported(path_ + ":/ranks/" + name, "its name is no number of a rank");
    ranks.push_back(*rank);
  }
  std::sort(ranks.begin(), ranks.end());
  for (const std::uint32_t rank : ranks) PERDURE_CHECK(read_group("ranks/" + std::to_string(rank), rank));
  if (!ranks.empty()) ranks_ = std::max<std::uint64_t>(ranks_, ranks.back() + 1);
  return {};
}

Result<array::ElementType> Hdf5Source::type_of(hid_t set, const std::string& object) const {
  const Hdf5Id stored(h_->H5Dget_type(set), h_->H5Tclose);
  if (!stored) return base::fail(h_->error("H5Dget_type", object));
  // The export's text says more than the type can say, but it counts only as long as both mean the same.
  if (const auto text = text_attribute(*h_, set, kTypeAttribute))
    if (auto type = array::ElementType::parse(*text, object))
      if (const auto same = to_hdf5(*h_, *type, object); same && h_->H5Tequal(same->get(), stored.get()) > 0)
        return type;
  return from_hdf5(*h_, stored.get(), object);
}

Result<array::Box> Hdf5Source::whole_of(hid_t set, std::uint64_t element_bytes, const std::string& object) const {
  const Hdf5Id space(h_->H5Dget_space(set), h_->H5Sclose);
  const int dimensions = h_->H5Sget_simple_extent_ndims(space.get());
  if (dimensions < 0 || h_->H5Sget_simple_extent_type(space.get()) == H5S_NULL)
    return unsupported(object, "it has no extents");
  std::vector<hsize_t> extents(static_cast<std::size_t>(dimensions));
  if (dimensions > 0) (void)h_->H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  auto whole = array::whole(std::vector<std::uint64_t>(extents.begin(), extents.end()), element_bytes, object);
  if (!whole) return unsupported(object, whole.error().cause);
  return whole;
}

Status Hdf5Source::add(const std::string& path, std::optional<std::uint32_t> rank) {
  const std::string object = path_ + ":/" + path;
  const Hdf5Id opened(h_->H5Dopen2(file_.get(), ("/" + path).c_str(), H5P_DEFAULT), h_->H5Dclose);
  if (!opened) return base::fail(h_->error("H5Dopen", object));
  SourceSet set;
  set.path = path;
  set.rank = rank;
  PERDURE_TRY(set.type, type_of(opened.get(), object));
  PERDURE_TRY(set.whole, whole_of(opened.get(), set.type.bytes(), object));
  PERDURE_CHECK(describe(set, opened.get(), object));
  sets_.push_back(std::move(set));
  return {};
}

Status Hdf5Source::describe(SourceSet& set, hid_t of, const std::string& object) {
  const auto text = [&](const char* name) { return text_attribute(*h_, of, name).value_or(""); };
  const auto number = number_attribute(*h_, of, kIdAttribute);
  const auto id = number && *number >= 0 && *number <= INT32_MAX ? static_cast<std::int32_t>(*number) : kNoId;
  segment::Label label{text("name"), text("unit"), text("description")};
  if (label.name.empty() && id == kNoId) label.name = last_name(set.path);
  PERDURE_CHECK(segment::check_label(label, object));
  if (!set.rank) {
    segment::ArrayEntry array{label, set.type, array_kind(text(kKindAttribute)), set.whole, {}};
    if (array.kind == segment::ArrayKind::list && set.whole.dimensions == 0) array.kind = segment::ArrayKind::global;
    if (!set.whole.empty()) array.boxes = {set.whole};
    PERDURE_TRY(set.entry, segment::entry_of(id, array));
    return {};
  }
  if (set.whole.dimensions != 1) return unsupported(object, "what a rank has for itself has one dimension");
  set.entry = {id,
               set.type.bytes(),
               set.whole.end[0],
               text(kKindAttribute) == segment::kind_name(segment::EntryKind::opaque) ? segment::EntryKind::opaque
                                                                                      : segment::EntryKind::memory,
               {}};
  segment::set_label(set.entry, label);
  if (!is_mere(set.type)) set.entry.attributes["type"] = set.type.text();
  const auto element_bytes = static_cast<std::uint64_t>(number_attribute(*h_, of, kElementBytesAttribute).value_or(0));
  if (set.type.bytes() == 1 && element_bytes > 0 && set.entry.count % element_bytes == 0) {
    set.entry.count /= element_bytes;
    set.entry.element_bytes = element_bytes;
  }
  return {};
}

/// Other programs' files know no ids: gives ids by name, the same on all ranks.
void Hdf5Source::number_the_rest() {
  std::set<std::int32_t> taken;
  for (const SourceSet& set : sets_) taken.insert(set.entry.id);
  std::map<std::string, std::int32_t> given;
  std::int32_t next = 0;
  for (SourceSet& set : sets_) {
    if (set.entry.id != kNoId) continue;
    const auto [found, first] = given.try_emplace((set.rank ? "ranks/" : "") + last_name(set.path), 0);
    if (first) {
      while (!taken.insert(next).second) ++next;
      found->second = next;
    }
    set.entry.id = found->second;
  }
  // Sets of one rank belong together.
  std::stable_sort(sets_.begin(), sets_.end(), [](const SourceSet& a, const SourceSet& b) {
    return a.rank.has_value() != b.rank.has_value() ? !a.rank.has_value() : a.rank && *a.rank < *b.rank;
  });
}

Result<Hdf5Set> Hdf5Source::set(const SourceSet& set) const {
  const std::string object = path_ + ":/" + set.path;
  Hdf5Id opened(h_->H5Dopen2(file_.get(), ("/" + set.path).c_str(), H5P_DEFAULT), h_->H5Dclose);
  if (!opened) return base::fail(h_->error("H5Dopen", object));
  PERDURE_TRY(Hdf5Id type, to_hdf5(*h_, set.type, object));
  return Hdf5Set(*h_, std::move(opened), std::move(type), set.whole, object);
}

}  // namespace perdure::portable
