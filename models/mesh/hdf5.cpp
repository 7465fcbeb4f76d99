#include "mesh/hdf5.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "mesh/hdf5_file.hpp"
#include "mesh/rows.hpp"
#include "track/box_set.hpp"

namespace perdure::mesh {
namespace {

using Part = Mesh::Part;

constexpr std::size_t kLargestNumber = 8;  // bytes

// Throws on all ranks the error text of the first rank that has one.
void agree(Ranks& ranks, const std::string& wrong) {
  double first = wrong.empty() ? ranks.size() : ranks.rank();
  ranks.combine(std::span(&first, 1), Ranks::Combine::least);
  if (first == ranks.size()) return;
  const bool mine = first == ranks.rank();
  std::int64_t bytes = mine ? static_cast<std::int64_t>(wrong.size()) : 0;
  ranks.combine(std::span(&bytes, 1));
  std::vector<std::int64_t> text(static_cast<std::size_t>(bytes + 7) / sizeof(std::int64_t));
  if (mine) std::memcpy(text.data(), wrong.data(), wrong.size());
  ranks.combine(text);  // the sum of one text and zeros is the text
  throw std::runtime_error(std::string(reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(bytes)));
}

std::string said(const char* does, const std::string& path, const std::string& why) {
  return std::string("mesh: ") + does + " '" + path + "': " + why;
}

// Returns the error text of an action that this rank performs alone, or an empty text.
template <class Action>
std::string failure_of(const char* does, const std::string& path, const Action& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return said(does, path, error.what());
  }
  return {};
}

// Returns the part of one data set, or throws why it cannot be written.
Part part_of(const Dataset& set, const Hdf5Options& options) {
  const std::string name = "data set '" + set.name() + "'";
  if (!is_hdf5_number(set.type()))
    throw std::runtime_error(name + " has elements of type " + set.type() + ", which are no integers or reals");
  if (!options.slab) return {&set, options.halo ? set.whole() : set.inner()};
  if (options.slab->dimensions != set.block().dimensions())
    throw std::runtime_error("the slab has other dimensions than " + name);
  if (options.slab->empty() || !set.whole().contains(*options.slab))
    throw std::runtime_error("the slab " + options.slab->text() + " is not in " + name + ", which is " +
                             set.whole().text());
  return {&set, *options.slab};
}

std::vector<Part> parts_of(std::span<const Dataset* const> sets, const Hdf5Options& options) {
  if (sets.empty()) throw std::runtime_error("there is no data set to write");
  std::vector<Part> parts;
  for (const Dataset* set : sets) {
    if (std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return part.set == set; }))
      throw std::runtime_error("data set '" + set->name() + "' is to be written twice");
    parts.push_back(part_of(*set, options));
  }
  return parts;
}

std::vector<std::int64_t> extents_of(const Box& box) {
  std::vector<std::int64_t> extents;
  for (unsigned d = 0; d < box.dimensions; ++d) extents.push_back(box.end[d] - box.begin[d]);
  return extents;
}

Hdf5Set described(const Dataset& set, const Box& box) {
  Hdf5Set one{set.name(),
              set.type(),
              set.block().name,
              set.shape().unit,
              set.shape().description,
              box,
              extents_of(set.inner())};
  for (unsigned d = 0; d < box.dimensions; ++d) one.box.end[d] = std::max(box.begin[d], box.end[d]);
  return one;
}

std::byte* first_of(const Dataset& set) { return set.address(set.local().begin); }

// Cuts the box into boxes of at most `most` elements, across its last dimensions first, and calls `use` with each.
template <class Use>
void each_portion(const Box& box, std::uint64_t most, const Use& use) {
  if (box.empty()) return;
  unsigned d = box.dimensions - 1;
  while (d > 0 && box.end[d] - box.begin[d] == 1) --d;
  const std::uint64_t layer = box.elements() / static_cast<std::uint64_t>(box.end[d] - box.begin[d]);
  const auto layers = static_cast<std::int64_t>(std::max<std::uint64_t>(most / layer, 1));
  Box portion = box;
  for (std::int64_t at = box.begin[d]; at < box.end[d]; at += layers) {
    portion.begin[d] = at;
    portion.end[d] = std::min(at + layers, box.end[d]);
    if (d > 0 && portion.elements() > most)
      each_portion(portion, most, use);
    else
      use(portion);
  }
}

// Writes one file on rank 0 for all ranks.
class WholeFile {
 public:
  WholeFile(Ranks& ranks, const std::string& path, std::span<const Part> parts, std::size_t portion_bytes)
      : ranks_(ranks), path_(path), parts_(parts), portion_bytes_(std::max(portion_bytes, kLargestNumber)) {
    wrong_ =
        failure_of("writing", path_, [&] { portion_ = std::make_unique_for_overwrite<std::byte[]>(portion_bytes_); });
    on_first([&] {
      std::vector<Hdf5Set> sets;
      for (const auto& [set, range] : parts_) sets.push_back(described(*set, range));
      file_.emplace(path_, sets, std::nullopt);
    });
    agree(ranks_, wrong_);
  }
  void write(std::size_t number) {
    const Dataset& set = *parts_[number].set;
    const Box& range = parts_[number].range;
    on_first([&] { file_->write(number, intersection(range, set.owned()), {first_of(set), set.local()}); });
    for (int owner = 1; owner < ranks_.size(); ++owner)
      each_portion(intersection(range, set.block().division.part(owner)), portion_bytes_ / set.element_bytes(),
                   [&](const Box& portion) { bring(number, portion, owner); });
    agree(ranks_, wrong_);
  }
  void finish() {
    on_first([&] {
      file_->finish();
      file_->publish();
    });
    agree(ranks_, wrong_);
  }

 private:
  // Rank 0 does not throw at once, because the others still send; all ranks throw together later.
  template <class Action>
  void on_first(const Action& action) {
    if (ranks_.rank() == 0 && wrong_.empty()) wrong_ = failure_of("writing", path_, action);
  }
  void bring(std::size_t number, const Box& portion, int owner) {
    const Dataset& set = *parts_[number].set;
    const bool receives = ranks_.rank() == 0, sends = ranks_.rank() == owner;
    if (sends) pack(set, portion, portion_.get());
    const Ranks::Message message{sends ? 0 : owner, {portion_.get(), packed_bytes(set, portion)}};
    const std::span one(&message, 1);
    ranks_.exchange(one.first(receives ? 1 : 0), one.first(sends ? 1 : 0));
    on_first([&] { file_->write(number, portion, {portion_.get(), portion}); });
  }

  Ranks& ranks_;
  const std::string& path_;
  const std::span<const Part> parts_;
  const std::size_t portion_bytes_;
  std::optional<Hdf5Writer> file_;
  std::string wrong_;
  std::unique_ptr<std::byte[]> portion_;
};

void write_whole(Ranks& ranks, const std::string& path, std::span<const Part> parts, std::size_t portion_bytes) {
  WholeFile file(ranks, path, parts, portion_bytes);
  for (std::size_t number = 0; number < parts.size(); ++number) file.write(number);
  file.finish();
}

void write_own(Ranks& ranks, const std::string& path, std::span<const Part> parts) {
  std::optional<Hdf5Writer> file;
  const std::string own = path_of_rank(path, ranks.rank());
  agree(ranks, failure_of("writing", own, [&] {
          std::vector<Hdf5Set> sets;
          for (const auto& [set, range] : parts) sets.push_back(described(*set, intersection(range, set->owned())));
          file.emplace(own, sets, Hdf5Writer::OfOne{ranks.rank(), ranks.size()});
          for (std::size_t number = 0; number < parts.size(); ++number) {
            const Dataset& set = *parts[number].set;
            file->write(number, sets[number].box, {first_of(set), set.local()});
          }
          file->finish();
        }));
  agree(ranks, failure_of("writing", own, [&] { file->publish(); }));
}

std::string text_of(const std::vector<std::int64_t>& extents) {
  std::string text;
  for (const auto extent : extents) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

// Finds the data set in the file and gives it this mesh's indices. Throws if it does not match `set`.
Hdf5Set found_in(Hdf5Reader& file, const Dataset& set, const Box& wanted) {
  Hdf5Set found = file.find(set.name());
  const std::string name = "data set '" + set.name() + "' has ";
  const auto refused = [&](const std::string& there, const std::string& here) {
    throw std::runtime_error(name + there + " there, and " + here + " here");
  };
  if (found.type != set.type())
    refused("elements of " + (found.type.empty() ? "another type" : "type " + found.type), "type " + set.type());
  if (found.box.dimensions != wanted.dimensions)
    refused(std::to_string(found.box.dimensions) + " dimensions", std::to_string(wanted.dimensions));
  if (!found.extents.empty() && found.extents != extents_of(set.inner()))
    refused(text_of(found.extents) + " elements", text_of(extents_of(set.inner())));
  if (found.indexed) return found;
  if (extents_of(found.box) != extents_of(wanted))
    refused(text_of(extents_of(found.box)) + " elements, without their first_index,",
            text_of(extents_of(wanted)) + " are to be read");
  found.box = wanted;
  return found;
}

// Every rank first checks that it can read, so that a refused file fills no data set.
void read_whole(Ranks& ranks, const std::string& path, const Part& part, Dataset& set) {
  std::optional<Hdf5Reader> file;
  Box there;
  agree(ranks, failure_of("reading", path, [&] {
          file.emplace(path);
          there = found_in(*file, set, part.range).box;
          if (!there.contains(part.range))
            throw std::runtime_error("data set '" + set.name() + "' has " + there.text() + " there, and " +
                                     part.range.text() + " is to be read");
        }));
  agree(ranks, failure_of("reading", path, [&] {
          file->read(intersection(part.range, set.owned()), there, {first_of(set), set.local()});
        }));
}

std::int64_t count_of_files(const std::string& first) {
  const auto ranks = Hdf5Reader(first).number("ranks");
  if (!ranks || *ranks < 1) throw std::runtime_error("it does not say of how many ranks there are files");
  return *ranks;
}

void read_parts(Ranks& ranks, const std::string& path, const Part& part, Dataset& set) {
  std::string at = path_of_rank(path, 0);
  track::BoxSet missing;
  const auto read_part = [&](std::int64_t files) {
    Hdf5Reader file(at);
    if (file.number("ranks") != files) throw std::runtime_error("it is of another number of ranks than the first file");
    const Box there = found_in(file, set, part.range).box;
    const Box shared = intersection(part.range, intersection(there, set.owned()));
    file.read(shared, there, {first_of(set), set.local()});
    missing.remove(shared);
  };
  std::string wrong;
  try {
    const std::int64_t files = count_of_files(at);
    if (const Box mine = intersection(part.range, set.owned()); !mine.empty()) missing.add(mine);
    for (std::int64_t i = 0; i < files && !missing.empty(); ++i) {
      at = path_of_rank(path, static_cast<int>((ranks.rank() + i) % files));
      read_part(files);
    }
    at = path;
    if (!missing.empty())
      throw std::runtime_error("the files of all ranks lack " + missing.boxes().front().text() + " of data set '" +
                               set.name() + "'");
  } catch (const std::exception& error) {
    wrong = said("reading", at, error.what());
  }
  agree(ranks, wrong);
}

// The neighbours' ghosts no longer match the new values of their owners.
void ghosts_are_old(Dataset& set) { set.ghosts_are_stale(); }

}  // namespace

std::string path_of_rank(const std::string& path, int rank) {
  std::string number = std::to_string(rank);
  number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');
  const auto name = path.find_last_of('/') + 1, dot = path.find_last_of('.');  // npos + 1 is 0
  const auto end = dot == std::string::npos || dot <= name ? path.size() : dot;
  return path.substr(0, end) + "." + number + path.substr(end);
}

bool write_hdf5(Mesh& mesh, const std::string& path, std::span<const Dataset* const> sets, const Hdf5Options& options) {
  std::vector<Part> parts;
  // All ranks have the same sets and options, so all find the same error.
  if (const auto wrong = failure_of("writing", path, [&] { parts = parts_of(sets, options); }); !wrong.empty())
    throw std::runtime_error(wrong);
  if (!mesh.look("write_hdf5", parts)) return false;
  if (options.form == Form::whole)
    write_whole(mesh.ranks(), path, parts, options.portion_bytes);
  else
    write_own(mesh.ranks(), path, parts);
  return true;
}

void read_hdf5(Mesh& mesh, const std::string& path, Dataset& set, const Hdf5Options& options) {
  Part part{};
  const auto wrong = failure_of("reading", path, [&] {
    if (mesh.follower() != nullptr)
      throw std::runtime_error("behind protect() no checkpoint and no restart would know of it: read before");
    part = part_of(set, options);
  });
  if (!wrong.empty()) throw std::runtime_error(wrong);
  ghosts_are_old(set);
  if (options.form == Form::whole)
    read_whole(mesh.ranks(), path, part, set);
  else
    read_parts(mesh.ranks(), path, part, set);
}

}  // namespace perdure::mesh
