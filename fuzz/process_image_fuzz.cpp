// Fuzzes the record at the beginning of an image of a process, or of a process tree, with any bytes. It is refused, or
// is valid and survives encoding.
#include "process/image.hpp"
#include "process/tree_image.hpp"
#include "support/sample_image.hpp"
#include "target.hpp"

namespace perdure::fuzz {
namespace {

bool in_one_of(const process::PageRun& run, const std::vector<process::MapImage>& maps) {
  return std::any_of(maps.begin(), maps.end(),
                     [&](const auto& map) { return run.begin >= map.begin && run.end() <= map.end; });
}

/// Resuming writes pages and mappings without further checks.
void check_addresses(const process::ProcessImage& image) {
  std::uint64_t end = 0;
  for (const auto& map : image.maps) {
    require(map.begin >= end && map.begin < map.end && map.end <= process::kAddressEnd);
    require(map.begin % process::kPageBytes == 0 && map.end % process::kPageBytes == 0);
    require(map.file <= image.files.size() && map.object <= image.objects.size());
    end = map.end;
  }
  for (const auto& node : image.all_pages())
    for (const auto& run : node.runs) require(run.pages > 0 && in_one_of(run, image.maps));
}

void run_tree(base::ConstByteSpan input) {
  const auto tree = process::decode_tree(input, "input");
  if (!tree) return;
  require(tree->wrong().empty() && tree->kin.size() == tree->processes.size());
  for (const auto& image : tree->processes) check_addresses(image);
  for (const auto& one : tree->objects)
    require(one.thing < tree->processes[one.process].objects.size() &&
            one.of_thing < tree->processes[one.of_process].objects.size());
  const Bytes again = process::encode_tree(*tree);
  require(std::equal(again.begin(), again.end(), input.begin(), input.end()));
}

/// Makes a parent and its child with shared memory, and a process that has ended.
process::TreeImage sample_tree(const process::ProcessImage& parent) {
  process::TreeImage tree;
  tree.processes = {parent, parent};
  for (auto& image : tree.processes) image.open_files = {};
  for (auto& image : tree.processes)
    for (auto& object : image.objects) object.descriptor = -1;
  process::ProcessImage& child = tree.processes[1];
  child.number = parent.number + 1000;
  for (auto& thread : child.threads) thread.number += 1000;
  tree.kin = {{parent.number, 1, parent.number, parent.number, 0},
              {child.number, parent.number, parent.number, parent.number, 17}};
  tree.ended = {{{parent.number + 2000, parent.number, parent.number, parent.number, 17}, "ended", 256}};
  tree.objects = {{1, 0, 0, 0}};
  return tree;
}

}  // namespace

void run_one(base::ConstByteSpan input) {
  run_tree(input);
  const auto image = process::decode_image(input, "input");
  if (!image) return;
  require(image->wrong().empty() && !image->threads.empty());
  check_addresses(*image);
  for (const auto& descriptor : image->open_files.descriptors)
    require(descriptor.file < image->open_files.files.size() && descriptor.number >= 0);
  const Bytes again = process::encode_image(*image);
  require(std::equal(again.begin(), again.end(), input.begin(), input.end()));
}

std::vector<Bytes> seeds() {
  const auto whole = test_support::sample_image();
  std::vector<Bytes> list = {process::encode_image(whole)};
  auto small = whole;  // every length is tried
  small.threads.resize(1);
  small.open_files = {};
  small.objects[0].descriptor = -1;
  list.push_back(process::encode_image(small));
  auto only_files = small;
  only_files.open_files = whole.open_files;
  only_files.maps.clear();
  only_files.pages.clear();
  list.push_back(process::encode_image(only_files));
  list.push_back(process::encode_tree(sample_tree(small)));
  require(process::decode_tree(list.back(), "seed").has_value());
  require(process::decode_image(list[0], "seed") && process::decode_image(list[1], "seed") &&
          process::decode_image(list[2], "seed"));
  return list;
}

}  // namespace perdure::fuzz
