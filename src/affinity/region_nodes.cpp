#include "affinity/region_nodes.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace perdure::affinity {
namespace {

constexpr std::uint64_t kSampled = 64;                              // pages per sampled one
constexpr std::size_t kMostRuns = segment::kMaxAttributeItems / 2;  // each is two numbers
constexpr const char* kRuns = "nodes";
constexpr const char* kTurns = "nodes_in_turn";

/// So many pages on a node.
struct NodeCount {
  int node = 0;
  std::uint64_t pages = 0;
};
using NodeCounts = std::vector<NodeCount>;

void add(NodeCounts& runs, int node, std::uint64_t pages) {
  if (node < 0) node = runs.empty() ? -1 : runs.back().node;
  if (!runs.empty() && (runs.back().node == node || runs.back().node < 0)) {
    runs.back().node = node;
    runs.back().pages += pages;
  } else {
    runs.push_back({node, pages});
  }
}

// Samples one page of each block at varying places, so that it notices changes with a period of some pages.
std::vector<std::uint64_t> sample(std::uint64_t pages) {
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t block = 0; block * kSampled < pages; ++block)
    chosen.push_back(std::min(block * kSampled + block * 37 % kSampled, pages - 1));
  if (chosen.front() != 0) chosen.insert(chosen.begin(), 0);
  if (chosen.back() != pages - 1) chosen.push_back(pages - 1);
  return chosen;
}

NodeCounts ask_all(std::uint64_t pages, const AskNodes& ask) {
  const auto chosen = sample(pages);
  std::vector<int> answers(chosen.size());
  ask(chosen, answers);
  NodeCounts runs;
  add(runs, answers[0], 1);
  for (std::size_t i = 1; i < chosen.size(); ++i) {
    const std::uint64_t between = chosen[i] - chosen[i - 1] - 1;
    if (answers[i] == answers[i - 1]) {
      add(runs, answers[i], between + 1);
      continue;
    }
    std::vector<std::uint64_t> others(between);
    std::iota(others.begin(), others.end(), chosen[i - 1] + 1);
    std::vector<int> nodes(between);
    if (between > 0) ask(others, nodes);
    for (const int node : nodes) add(runs, node, 1);
    add(runs, answers[i], 1);
  }
  return runs;
}

/// Calls `use(page, node)` for each page.
template <class Use>
void each_page(const NodeCounts& runs, Use use) {
  std::uint64_t page = 0;
  for (const auto& run : runs)
    for (std::uint64_t i = 0; i < run.pages; ++i) use(page++, run.node);
}

/// Returns nodes in the order of their first pages.
std::vector<int> turns_of(const NodeCounts& runs) {
  std::vector<int> turns;
  for (const auto& run : runs)
    if (std::find(turns.begin(), turns.end(), run.node) == turns.end()) turns.push_back(run.node);
  return turns;
}

std::uint64_t right_in_turn(const NodeCounts& runs, const std::vector<int>& turns) {
  std::uint64_t right = 0;
  each_page(runs, [&](std::uint64_t page, int node) { right += turns[page % turns.size()] == node ? 1 : 0; });
  return right;
}

/// Makes blocks of so many pages, each on the node with most of its pages, and counts the pages for which that is
/// right.
NodeCounts in_blocks(const NodeCounts& runs, std::uint64_t block_pages, std::uint64_t& right) {
  NodeCounts blocks;
  std::map<int, std::uint64_t> counts;
  std::uint64_t in_block = 0;
  const auto finish = [&] {
    if (in_block == 0) return;
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    right += most->second;
    add(blocks, most->first, in_block);
    counts.clear();
    in_block = 0;
  };
  each_page(runs, [&](std::uint64_t, int node) {
    ++counts[node];
    if (++in_block == block_pages) finish();
  });
  finish();
  return blocks;
}

RegionNodes as_nodes(const NodeCounts& runs, std::uint64_t bytes, std::uint64_t first_bytes, std::uint64_t page_bytes) {
  RegionNodes nodes;
  std::uint64_t done = 0, pages = 0;
  for (const auto& run : runs) {
    pages += run.pages;
    const std::uint64_t end = std::min(bytes, first_bytes + (pages - 1) * page_bytes);
    nodes.runs.push_back({static_cast<std::uint32_t>(run.node), end - done});
    done = end;
  }
  return nodes;
}

}  // namespace

RegionNodes find_region_nodes(std::uint64_t bytes, std::uint64_t first_bytes, std::uint64_t page_bytes,
                              const AskNodes& ask) {
  if (bytes == 0 || first_bytes == 0) return {};
  const std::uint64_t pages = bytes <= first_bytes ? 1 : 1 + (bytes - first_bytes + page_bytes - 1) / page_bytes;
  NodeCounts runs = ask_all(pages, ask);
  if (runs.size() == 1 && runs[0].node < 0) return {};
  if (std::any_of(runs.begin(), runs.end(),
                  [](const NodeCount& run) { return run.node >= static_cast<int>(kMostNodes); }))
    return {};
  if (runs.size() <= kMostRuns) return as_nodes(runs, bytes, first_bytes, page_bytes);
  std::uint64_t right = 0;
  NodeCounts blocks;
  for (std::uint64_t block_pages = 2; blocks.empty() || blocks.size() > kMostRuns; block_pages *= 2) {
    right = 0;
    blocks = in_blocks(runs, block_pages, right);
  }
  const auto turns = turns_of(runs);
  if (turns.size() > kMostRuns || right_in_turn(runs, turns) <= right)
    return as_nodes(blocks, bytes, first_bytes, page_bytes);
  RegionNodes nodes;
  nodes.in_turn = true;
  for (const int node : turns) nodes.runs.push_back({static_cast<std::uint32_t>(node), page_bytes});
  return nodes;
}

std::vector<NodePart> pages_on_nodes(const RegionNodes& nodes, std::uint64_t bytes, std::uint64_t first_bytes,
                                     std::uint64_t page_bytes) {
  std::vector<NodePart> pages;
  if (!nodes.known() || first_bytes == 0) return pages;
  std::size_t run = 0;
  std::uint64_t run_end = nodes.runs[0].bytes;
  for (std::uint64_t begin = 0, end = 0; begin < bytes; begin = end) {
    end = std::min(bytes, begin == 0 ? first_bytes : begin + page_bytes);
    while (end > run_end && (nodes.in_turn || run + 1 < nodes.runs.size())) {
      run = (run + 1) % nodes.runs.size();
      run_end += nodes.runs[run].bytes;
    }
    const std::uint32_t node = nodes.runs[run].node;
    if (!pages.empty() && pages.back().node == node)
      pages.back().bytes += end - begin;
    else
      pages.push_back({begin, end - begin, node});
  }
  return pages;
}

void note(const RegionNodes& nodes, segment::Attributes& attributes) {
  if (!nodes.known()) return;
  std::vector<std::int64_t> numbers;
  for (const auto& run : nodes.runs) {
    numbers.push_back(run.node);
    numbers.push_back(static_cast<std::int64_t>(run.bytes));
  }
  attributes[nodes.in_turn ? kTurns : kRuns] = std::move(numbers);
}

RegionNodes nodes_of(const segment::RegionEntry& entry) {
  RegionNodes nodes;
  const auto& said = entry.attributes.map();
  auto found = said.find(kRuns);
  if (found == said.end()) {
    found = said.find(kTurns);
    nodes.in_turn = true;
  }
  if (found == said.end()) return {};
  const auto* numbers = std::get_if<std::vector<std::int64_t>>(&found->second);
  if (numbers == nullptr || numbers->size() % 2 != 0) return {};
  std::uint64_t left = entry.bytes();
  for (std::size_t i = 0; i < numbers->size(); i += 2) {
    const std::int64_t node = (*numbers)[i], bytes = (*numbers)[i + 1];
    if (node < 0 || node >= kMostNodes || bytes <= 0 || static_cast<std::uint64_t>(bytes) > left) return {};
    nodes.runs.push_back({static_cast<std::uint32_t>(node), static_cast<std::uint64_t>(bytes)});
    left -= static_cast<std::uint64_t>(bytes);
  }
  return nodes.in_turn || left == 0 ? nodes : RegionNodes{};
}

}  // namespace perdure::affinity
