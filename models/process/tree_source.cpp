#include "process/tree_source.hpp"

#include <algorithm>
#include <utility>

#include "process/pages.hpp"

namespace perdure::process {
namespace {

const std::string kNameOfTree = "tree";

}  // namespace

std::vector<segment::RegionEntry> entries_of_tree(std::uint64_t record_bytes, const TreeImage& tree) {
  std::vector<segment::RegionEntry> entries;
  for (const ProcessImage& image : tree.processes) {
    auto its = entries_of(record_bytes, image);
    if (entries.empty()) {
      its[0].attributes[std::string("name")] = kNameOfTree;
      entries.push_back(its[0]);
    }
    for (std::size_t i = 1; i < its.size(); ++i) {
      its[i].id = static_cast<std::int32_t>(entries.size());
      its[i].attributes[std::string("name")] =
          "pages_of_process_" + std::to_string(image.number) + "_on_node_" + std::to_string(image.pages[i - 1].node);
      entries.push_back(its[i]);
    }
  }
  return entries;
}

bool is_tree(const std::vector<segment::RegionEntry>& stored) {
  if (stored.empty()) return false;
  const auto& attributes = stored[0].attributes.map();
  const auto name = attributes.find("name");
  return name != attributes.end() && name->second == segment::AttributeValue(kNameOfTree);
}

TreeSource::TreeSource(TreeImage tree) {
  for (ProcessImage& image : tree.processes)
    image = without_zeros(image.number, std::move(image), kMostPageRuns / tree.processes.size());
  record_ = encode_tree(tree);
  description_.entries = entries_of_tree(record_.size(), tree);
  description_.bytes = record_.size();
  for (const ProcessImage& image : tree.processes) {
    Process& process = processes_.emplace_back();
    process.source = std::make_unique<ImageSource>(image.number, image, ImageSource::Ready());
    process.record_bytes = encode_image(image).size();
    process.begin = description_.bytes;
    process.end = description_.bytes += image.page_bytes();
  }
}

base::Status TreeSource::read(capture::ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) {
  std::uint64_t at = range.begin;
  if (at < record_.size()) {
    const std::uint64_t part = std::min<std::uint64_t>(range.end(), record_.size()) - at;
    PERDURE_CHECK(take(base::ConstByteSpan(record_).subspan(at, part)));
    at += part;
  }
  for (const Process& process : processes_) {
    const std::uint64_t end = std::min(range.end(), process.end);
    if (at >= end) continue;
    PERDURE_CHECK(process.source->read({process.record_bytes + (at - process.begin), end - at}, take));
    at = end;
  }
  return {};
}

}  // namespace perdure::process
