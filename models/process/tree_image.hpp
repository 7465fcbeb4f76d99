#pragma once
// The record of a captured tree has an image of each process, and the objects that they share. Data only. As for
// ProcessImage, the decoder rejects every invalid value.
#include "process/image.hpp"

namespace perdure::process {

/// The relations of a process, all as process numbers.
struct Kin {
  std::int32_t number = 0, parent = 0;
  std::int32_t group = 0, session = 0;
  std::int32_t end_signal = 0;  ///< signal to its parent when it ends; 0: none
  friend bool operator==(const Kin&, const Kin&) = default;
  PERDURE_FIELDS(number, parent, group, session, end_signal)
  std::string wrong() const;
};

/// A zombie: it has ended, and its parent has not waited for it.
struct EndedProcess {
  Kin kin;
  std::string name;
  std::int32_t status = 0;  ///< as wait() returns it
  PERDURE_FIELDS(kin, name, status)
  std::string wrong() const;
};

/// Element `thing` of a list of `process` is the same as element `of_thing` of the list of `of_process`.
struct SameThing {
  std::uint32_t process = 0, thing = 0;
  std::uint32_t of_process = 0, of_thing = 0;
  friend bool operator==(const SameThing&, const SameThing&) = default;
  PERDURE_FIELDS(process, thing, of_process, of_thing)
};

struct TreeImage {
  static constexpr std::size_t kMostProcesses = 4096;
  std::uint32_t format = kImageFormat;
  std::vector<ProcessImage> processes;  ///< parents before their children; the first one is the root
  std::vector<Kin> kin;                 ///< of each process
  std::vector<EndedProcess> ended;
  std::vector<SameThing> files;     ///< the same open file; `of_process` comes before `process`
  std::vector<SameThing> contents;  ///< content of the same pipe or file, in the same order
  std::vector<SameThing> objects;   ///< the same shared memory, in the same order
  std::vector<SameThing> mapped;    ///< a shared object that is also a content (memfd)
  std::vector<SameThing> peers;     ///< open files that are the ends of one socket pair
  PERDURE_FIELDS(format, processes, kin, ended, files, contents, objects, mapped, peers)
  std::string wrong() const;
  /// Returns the kin of all processes, zombies last.
  std::vector<Kin> all_kin() const;
  std::uint64_t page_bytes() const;
};

std::vector<std::byte> encode_tree(const TreeImage& tree);
/// Fails as decode_image().
base::Result<TreeImage> decode_tree(base::ConstByteSpan bytes, const std::string& object);

/// Keeps each page of shared memory only with the first mapping that has it. If an open file has the content, no
/// mapping keeps it.
void leave_out_repeated_pages(TreeImage& tree);

}  // namespace perdure::process
