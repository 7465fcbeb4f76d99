#pragma once
// What is said of a captured tree of processes beside their pages: an image of each, and what they have together. Data
// only; as of ProcessImage, no value that is wrong leaves the decoder.
#include "process/image.hpp"

namespace perdure::process {

/// Where a process belongs. All are numbers of processes.
struct Kin {
  std::int32_t number = 0, parent = 0;
  std::int32_t group = 0, session = 0;
  std::int32_t end_signal = 0;  ///< that its parent gets when it ends; 0: none
  friend bool operator==(const Kin&, const Kin&) = default;
  PERDURE_FIELDS(number, parent, group, session, end_signal)
  std::string wrong() const;
};

/// One that has ended, and that its parent has not waited for.
struct EndedProcess {
  Kin kin;
  std::string name;
  std::int32_t status = 0;  ///< as its parent is told (wait)
  PERDURE_FIELDS(kin, name, status)
  std::string wrong() const;
};

/// Number `thing` of a list that `process` has is number `of_thing` of one that `of_process` has.
struct SameThing {
  std::uint32_t process = 0, thing = 0;
  std::uint32_t of_process = 0, of_thing = 0;
  friend bool operator==(const SameThing&, const SameThing&) = default;
  PERDURE_FIELDS(process, thing, of_process, of_thing)
};

struct TreeImage {
  static constexpr std::size_t kMostProcesses = 4096;
  std::uint32_t format = kImageFormat;
  std::vector<ProcessImage> processes;  ///< parents before their children: the first one is the root
  std::vector<Kin> kin;                 ///< of each of them
  std::vector<EndedProcess> ended;
  std::vector<SameThing> files;     ///< one open file; the second one's process comes first
  std::vector<SameThing> contents;  ///< of one pipe, or file; likewise
  std::vector<SameThing> objects;   ///< one shared memory; likewise
  std::vector<SameThing> mapped;    ///< an object that is a content (memfd)
  std::vector<SameThing> peers;     ///< open files that are the two ends of a pair of sockets
  PERDURE_FIELDS(format, processes, kin, ended, files, contents, objects, mapped, peers)
  std::string wrong() const;
  /// Of all, those that have ended last.
  std::vector<Kin> all_kin() const;
  std::uint64_t page_bytes() const;
};

std::vector<std::byte> encode_tree(const TreeImage& tree);
/// As decode_image().
base::Result<TreeImage> decode_tree(base::ConstByteSpan bytes, const std::string& object);

/// Pages of shared memory that several mappings have are kept by the first of them only, and not at all where an open
/// file has them.
void leave_out_repeated_pages(TreeImage& tree);

}  // namespace perdure::process
