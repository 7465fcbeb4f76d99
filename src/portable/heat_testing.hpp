#pragma once
// Makes a small version with a field, and shows the files on the disk.
#include <algorithm>

#include "portable/exported_testing.hpp"

namespace perdure::portable {

/// A version of a plane of so many rows on two ranks, which have regions of their own, too.
class Heat {
 public:
  explicit Heat(std::uint64_t rows) {
    std::vector<reader::WrittenRank> ranks(2);
    segment::ArrayEntry entry{{"field", "K", ""}, array::ElementType::parse("f8", "test").value(), {}, {}, {}};
    entry.whole = array::whole(std::vector<std::uint64_t>{rows, 10}, 8, "test").value();
    for (std::uint64_t r = 0; r < 2; ++r) {
      entry.boxes = {entry.whole};
      entry.boxes[0].begin[0] = r * rows / 2;
      entry.boxes[0].end[0] = (r + 1) * rows / 2;
      ranks[r].add(1, entry);
      add_own(ranks[r], 2, 8, rows);
      ranks[r].cut(200);
    }
    store_.write(kExported, ranks, 2);
  }
  reader::StoredContent open() { return store_.open("heat").value(); }
  base::Status export_to(const std::string& path, bool replace) {
    auto content = open();
    ExportOptions options;
    options.replace = replace;
    const auto exported = export_version(content, path, options);
    return exported ? base::Status() : base::fail(exported.error());
  }

 private:
  reader::WrittenStore store_;
};

/// Gives all files below a path, or the file; empty: nothing is there.
inline std::map<std::string, std::string> snapshot(const std::string& path) {
  std::map<std::string, std::string> files;
  const auto add = [&](const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    files[std::filesystem::relative(file, path)] = {std::istreambuf_iterator<char>(in),
                                                    std::istreambuf_iterator<char>()};
  };
  if (std::filesystem::is_regular_file(path)) add(path);
  if (std::filesystem::is_directory(path))
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.is_regular_file()) add(entry.path());
  return files;
}

inline std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace perdure::portable
