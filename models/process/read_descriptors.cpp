#include "process/read_descriptors.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "process/file_contents.hpp"
#include "process/file_duplicate.hpp"
#include "process/unix_socket.hpp"

namespace perdure::process {
namespace {

/// Makes the files of an image from seen files, one after the other.
class FileReader {
 public:
  FileReader(const SeenFiles& seen, const FileDuplicates& duplicates, bool hash)
      : seen_(seen), duplicates_(duplicates), hash_(hash) {}

  base::Status read(const SeenFile& seen) {
    OpenFile file = seen.file;
    auto good = std::visit([&](auto& what) { return fill(what, seen); }, file.what);
    if (!good) {
      good.error().object = "process " + std::to_string(seen_.process) + " descriptor " +
                            std::to_string(seen.numbers.front()) + " ('" + seen.link + "')";
      return good;
    }
    read_.files.files.push_back(std::move(file));
    return {};
  }
  ReadDescriptors finish() {
    read_.files.descriptors = seen_.descriptors;
    return std::move(read_);
  }

 private:
  struct Content {
    std::uint32_t index = 0;
    bool read = false;  // whether a pipe was read, through its read end
  };

  template <class What>
  base::Status fill(What&, const SeenFile&) {
    return {};
  }
  base::Status fill(NamedFile& file, const SeenFile& seen) {
    if (!hash_ || !S_ISREG(file.mode) || (seen.file.flags & O_PATH) != 0) return {};
    PERDURE_TRY(const os::Fd duplicate, duplicate_of(seen));
    PERDURE_TRY(file.hash, hash_of_file(duplicate.get(), file.size));
    return {};
  }
  base::Status fill(UnlinkedFile& file, const SeenFile& seen) {
    PERDURE_CHECK(read_file(file.content, seen));
    read_.files.contents[file.content].seals = 0;  // its file system decides whether it can be sealed
    return {};
  }
  base::Status fill(MemoryFile& file, const SeenFile& seen) { return read_file(file.content, seen); }
  base::Status fill(PipeEnd& end, const SeenFile& seen) { return read_pipe(end.content, seen); }
  base::Status fill(FifoEnd& end, const SeenFile& seen) { return read_pipe(end.content, seen); }
  base::Status fill(LeftOut& what, const SeenFile& seen) { return note(seen, what.was + " is left out"); }
  base::Status fill(Inherited& what, const SeenFile& seen) {
    return note(seen, what.was + " leads to another process: whoever resumes it gives its own in its place");
  }
  base::Status fill(EventCount&, const SeenFile& seen) {
    if (!seen.semaphore_unknown) return {};
    return note(seen, "this kernel does not tell whether it is a semaphore: it is taken for none");
  }
  base::Status fill(PairSocket& socket, const SeenFile& seen) {
    if (socket.peer && !std::holds_alternative<PairSocket>(seen_.files[*socket.peer].file.what)) socket.peer.reset();
    PERDURE_TRY(const os::Fd duplicate, duplicate_of(seen));
    PERDURE_TRY(socket.unread,
                unread_messages(duplicate.get(), static_cast<int>(socket.type), (socket.shut_down & 1) != 0));
    for (const auto& message : socket.unread) bytes_ += message.bytes.size();
    return {};
  }

  base::Status note(const SeenFile& seen, const std::string& text) {
    read_.notes.push_back("descriptor " + std::to_string(seen.numbers.front()) + ": " + text);
    return {};
  }
  base::Result<os::Fd> duplicate_of(const SeenFile& seen) {
    PERDURE_TRY(os::Fd duplicate, duplicates_.duplicate(seen.numbers.front()));
    if (!duplicate) return base::fail(PERDURE_INTERNAL, "", "it was closed while the process stood still");
    return duplicate;
  }
  /// Finds the content of the file's inode. Returns true if it is new.
  bool find_content(const SeenFile& seen, Content*& content) {
    const auto [at, is_new] = contents_.try_emplace({seen.device, seen.inode});
    content = &at->second;
    if (!is_new) return false;
    content->index = static_cast<std::uint32_t>(read_.files.contents.size());
    read_.files.contents.emplace_back();
    return true;
  }
  base::Status read_file(std::uint32_t& index, const SeenFile& seen) {
    Content* content = nullptr;
    const bool is_new = find_content(seen, content);
    index = content->index;
    if (!is_new) return {};
    PERDURE_TRY(const os::Fd duplicate, duplicate_of(seen));
    PERDURE_TRY(read_.files.contents[index], content_of_file(duplicate.get(), OpenFiles::kMostContentBytes - bytes_));
    bytes_ += read_.files.contents[index].bytes();
    return {};
  }
  base::Status read_pipe(std::uint32_t& index, const SeenFile& seen) {
    const bool reads = (seen.file.flags & O_ACCMODE) != O_WRONLY;
    Content* content = nullptr;
    const bool is_new = find_content(seen, content);
    index = content->index;
    if (!is_new && (content->read || !reads)) return {};
    content->read = reads;
    PERDURE_TRY(const os::Fd duplicate, duplicate_of(seen));
    PERDURE_TRY(read_.files.contents[index], content_of_pipe(duplicate.get(), reads, keeps_messages(seen)));
    bytes_ += read_.files.contents[index].bytes();
    return {};
  }
  /// The packets may have been written through any of its ends.
  bool keeps_messages(const SeenFile& seen) const {
    return std::any_of(seen_.files.begin(), seen_.files.end(), [&](const SeenFile& one) {
      return one.device == seen.device && one.inode == seen.inode && (one.file.flags & O_DIRECT) != 0;
    });
  }

  const SeenFiles& seen_;
  const FileDuplicates& duplicates_;
  const bool hash_;
  ReadDescriptors read_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Content> contents_;  // by device and inode
  std::uint64_t bytes_ = 0;
};

}  // namespace

base::Result<ReadDescriptors> read_descriptors(pid_t process, const DescriptorChoices& choices) {
  SeenFiles seen;
  if (choices.seen != nullptr) {
    seen = *choices.seen;
  } else {
    PERDURE_TRY(seen, look_at_files(process, choices.look));
    settle(seen, choices.left_out);
    PERDURE_CHECK(refused(process, obstacles_of_files(seen)));
  }
  PERDURE_TRY(const auto duplicates, FileDuplicates::of(process));
  FileReader reader(seen, duplicates, choices.hash_files);
  for (const auto& file : seen.files) PERDURE_CHECK(reader.read(file));
  auto read = reader.finish();
  if (auto wrong = read.files.wrong(); !wrong.empty())
    return base::fail(PERDURE_UNSUPPORTED, "process " + std::to_string(process), wrong);
  return read;
}

}  // namespace perdure::process
