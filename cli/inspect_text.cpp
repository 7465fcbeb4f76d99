// Writes the facts of `perdure inspect` for people and as JSON.
#include <fmt/format.h>

#include "base/bytes.hpp"
#include "cli/inspected.hpp"
#include "inspect/table.hpp"
#include "process/image.hpp"

namespace perdure::cli {
namespace {

using Right = Table::Align;

std::string indented(const std::string& text) {
  std::string all = "  ";
  for (const char c : text) all += c == '\n' ? std::string("\n  ") : std::string(1, c);
  all.resize(all.size() - 2);
  return all;
}

std::string numbers_text(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

std::string threads_text(const Inspected& inspected) {
  Table table({{"thread", Right::right}, {"name"}, {inspected.is_image ? "registers" : "state"}, {"processors"}});
  for (const auto& one : inspected.threads)
    table.row({std::to_string(one.number), one.name, inspected.is_image ? one.registers : one.state, one.processors});
  return indented(table.text());
}

std::string memory_text(const Inspected& inspected) {
  Table table({{"memory"}, {"mappings", Right::right}, {"bytes", Right::right}});
  for (const auto& [kind, memory] : inspected.memory)
    table.row({kind, std::to_string(memory.mappings), base::format_bytes(memory.bytes)});
  return indented(table.text());
}

std::string pages_text(const Inspected& inspected) {
  Table table({{"node", Right::right}, {"pages", Right::right}, {"bytes", Right::right}});
  for (const auto& [node, pages] : inspected.pages)
    table.row({std::to_string(node), std::to_string(pages), base::format_bytes(pages * process::kPageBytes)});
  return indented(table.text());
}

std::string files_text(const Inspected& inspected) {
  Table table({{"descriptor"}, {"open file"}});
  for (const auto& one : inspected.files) table.row({numbers_text(one.numbers), one.what});
  return indented(table.text());
}

std::string obstacles_text(const Inspected& inspected) {
  const std::string aim = inspected.is_image ? "a resume here" : "a capture";
  if (inspected.obstacles.empty()) return "nothing stands in the way of " + aim + "\n";
  std::string text = "in the way of " + aim + " stands:\n";
  for (const auto& one : inspected.obstacles) {
    text += "  " + one.what + ": " + one.why + "\n";
    if (!one.remedy.empty()) text += "    remedy: " + one.remedy + "\n";
    if (!one.drop.empty()) text += "    or leave it out: --force-without " + one.drop + "\n";
  }
  return text;
}

}  // namespace

std::string text_of(const Inspected& inspected) {
  std::string text = fmt::format("process {}\n", inspected.process);
  for (const auto& [name, value] : inspected.facts) text += fmt::format("  {:<12} {}\n", name, value);
  text += threads_text(inspected) + memory_text(inspected);
  if (!inspected.pages.empty()) text += pages_text(inspected);
  if (!inspected.files.empty()) text += files_text(inspected);
  return text + obstacles_text(inspected);
}

base::Json json_of(const Inspected& inspected) {
  base::Json json = {{"process", inspected.process}, {"image", inspected.is_image}};
  for (const auto& [name, value] : inspected.facts) json[name] = value;
  const auto list = [&](const char* name) -> base::Json& { return json[name] = base::Json::array(); };
  base::Json& threads = list("threads");
  for (const auto& one : inspected.threads) {
    base::Json thread = {{"number", one.number}, {"name", one.name}, {"processors", one.processors}};
    thread[inspected.is_image ? "registers" : "state"] = inspected.is_image ? one.registers : one.state;
    threads.push_back(std::move(thread));
  }
  base::Json& memory = list("memory");
  for (const auto& [kind, one] : inspected.memory)
    memory.push_back({{"kind", kind}, {"mappings", one.mappings}, {"bytes", one.bytes}});
  base::Json& pages = list("pages");
  for (const auto& [node, count] : inspected.pages) pages.push_back({{"node", node}, {"pages", count}});
  base::Json& files = list("files");
  for (const auto& one : inspected.files) files.push_back({{"descriptors", one.numbers}, {"what", one.what}});
  base::Json& obstacles = list("obstacles");
  for (const auto& one : inspected.obstacles)
    obstacles.push_back({{"what", one.what}, {"why", one.why}, {"remedy", one.remedy}, {"drop", one.drop}});
  return json;
}

}  // namespace perdure::cli
