// Reads the facts of `perdure inspect` from a stored image.
#include <algorithm>

#include "base/hash.hpp"
#include "cli/inspected.hpp"
#include "cli/open_content.hpp"
#include "process/image_source.hpp"
#include "process/listening_socket.hpp"
#include "process/machine_facts.hpp"
#include "process/registers.hpp"
#include "process/tree_image.hpp"

namespace perdure::cli {
namespace {

/// Describes an open file for people.
struct NameOfFile {
  const process::OpenFiles& files;
  std::string operator()(const process::NamedFile& file) const { return file.path; }
  std::string operator()(const process::UnlinkedFile& file) const {
    return file.path + " (unlinked), " + base::format_bytes(files.contents[file.content].bytes()) + " carried along";
  }
  std::string operator()(const process::MemoryFile& file) const { return "memory '" + file.name + "' (memfd)"; }
  std::string operator()(const process::PipeEnd& end) const {
    return "pipe, " + base::format_bytes(files.contents[end.content].bytes()) + " in it";
  }
  std::string operator()(const process::FifoEnd& end) const { return end.file.path + " (FIFO)"; }
  std::string operator()(const process::Terminal& terminal) const { return "terminal, was " + terminal.path; }
  std::string operator()(const process::Inherited& one) const { return "of whoever resumes it; was " + one.was; }
  std::string operator()(const process::LeftOut& one) const { return "/dev/null; left out: " + one.was; }
  std::string operator()(const process::EventCount&) const { return "eventfd"; }
  std::string operator()(const process::TimerFile&) const { return "timerfd"; }
  std::string operator()(const process::SignalFile&) const { return "signalfd"; }
  std::string operator()(const process::PollSet& set) const { return "epoll of " + std::to_string(set.items.size()); }
  std::string operator()(const process::PairSocket&) const { return "socket of a pair"; }
  std::string operator()(const process::ListeningSocket& socket) const {
    return "socket that listens at " + process::address_text(socket);
  }
};

std::string kind_of_map(const process::MapImage& map) {
  if (map.file != 0) return map.shared ? "files, shared" : "files";
  if (map.object != 0 || map.shared) return "own, shared";
  if (map.name == "[heap]") return "heap";
  return map.name.starts_with("[stack") ? "stack" : "own";
}

/// Reads the record alone, verified. It is of one process, or of several that are a tree, with the root first.
base::Result<std::vector<process::ProcessImage>> read_record(reader::StoredContent& content) {
  const auto* record = content.local(0, process::kRecordEntry);
  if (content.ranks() != 1 || record == nullptr || record->kind != segment::EntryKind::opaque ||
      record->bytes() > process::kMostRecordBytes)
    return base::fail(PERDURE_MISMATCH, content.id().name, "what is stored there is no process",
                      "it is a checkpoint of a program: perdure show " + content.id().name);
  std::vector<std::byte> bytes(record->bytes());
  PERDURE_CHECK(content.read_local(*record, 0, bytes));
  auto image = process::decode_image(bytes, content.id().name);
  if (image) return std::vector<process::ProcessImage>{std::move(*image)};
  // A record that is not of one process may be that of several.
  auto tree = process::decode_tree(bytes, content.id().name);
  if (!tree) return base::fail(image.error());
  return std::move(tree->processes);
}

void add_files(const process::OpenFiles& open, Inspected& inspected) {
  inspected.files.resize(open.files.size());
  for (const auto& one : open.descriptors) inspected.files[one.file].numbers.push_back(one.number);
  for (std::size_t i = 0; i < open.files.size(); ++i)
    inspected.files[i].what = std::visit(NameOfFile{open}, open.files[i].what);
  std::erase_if(inspected.files, [](const Inspected::File& file) { return file.numbers.empty(); });
  std::sort(inspected.files.begin(), inspected.files.end(),
            [](const auto& a, const auto& b) { return a.numbers < b.numbers; });
}

std::string words_text(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& one : words) text += (text.empty() ? "" : " ") + one;
  return text;
}

/// Adds the counts of each process of an image.
void add_memory(const process::ProcessImage& image, Inspected& inspected) {
  for (const auto& thread : image.threads) {
    const std::string parts = process::part_names(process::kept_parts(thread.extended_registers) & ~std::uint64_t{3});
    inspected.threads.push_back({thread.number, thread.name, ranges_text(thread.cpus), "", parts});
  }
  for (const auto& map : image.maps) {
    auto& memory = inspected.memory[kind_of_map(map)];
    ++memory.mappings;
    memory.bytes += map.bytes();
  }
  for (const auto& node : image.all_pages()) inspected.pages[node.node] += node.pages();
}

/// The descriptors of a tree are those of its first process.
Inspected inspected_of(const std::vector<process::ProcessImage>& images, const segment::VersionId& id) {
  const process::ProcessImage& image = images.front();
  Inspected inspected;
  inspected.is_image = true;
  inspected.process = image.number;
  inspected.facts = {{"name", id.name},
                     {"version", std::to_string(id.version)},
                     {"captured", local_time(id.attempt.created_ns)},
                     {"program", image.program.path},
                     {"arguments", words_text(image.arguments)},
                     {"directory", image.directory},
                     {"user", std::to_string(image.user)},
                     {"kernel", image.system.release + " " + image.system.architecture}};
  for (const auto& one : images) add_memory(one, inspected);
  if (images.size() > 1) {
    std::string numbers;
    for (const auto& one : images) numbers += (numbers.empty() ? "" : ", ") + std::to_string(one.number);
    inspected.facts.emplace_back("processes", numbers);
  }
  add_files(image.open_files, inspected);
  inspected.machine = image.machine;
  return inspected;
}

}  // namespace

base::Result<Inspected> inspect_image(const std::string& checkpoint, const std::string& store,
                                      const Terminal& terminal) {
  PERDURE_TRY(auto open, open_content(checkpoint, store, terminal));
  PERDURE_TRY(const auto images, read_record(*open.content));
  auto inspected = inspected_of(images, open.content->id());
  for (const auto& image : images) {
    PERDURE_TRY(const auto facts, process::facts_for(image));
    for (auto& one : process::obstacles_of_resume(image, facts)) {
      if (images.size() > 1) one.what = "process " + std::to_string(image.number) + ": " + one.what;
      inspected.obstacles.push_back(std::move(one));
    }
  }
  return inspected;
}

}  // namespace perdure::cli
