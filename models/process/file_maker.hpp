#pragma once
// Opens and makes files for RestoredDescriptors::make().
#include "process/grown_files.hpp"
#include "process/restored_descriptors.hpp"

namespace perdure::process {

/// Makes the files of an image one by one, each as a descriptor of this process.
class FileMaker {
 public:
  /// Both arguments must outlive this object. The files must be valid (OpenFiles::wrong()).
  FileMaker(const OpenFiles& files, const RestoreChoices& choices);
  base::Result<os::Fd> make(std::uint32_t file);
  /// Applies the seals of memfds. Call it after all files are made.
  base::Status seal();
  std::vector<std::string> take_notes() { return std::move(notes_); }
  /// Returns the files to cut back; empty if the user did not ask for that.
  GrownFiles take_grown() { return std::move(grown_); }

 private:
  /// Descriptors that several open files share.
  struct Content {
    os::Fd file;     // for a pipe: its read end
    os::Fd written;  // the write end of a pipe
    bool file_taken = false, written_taken = false;
  };
  base::Result<os::Fd> make_of(const NamedFile& what, std::uint32_t file);
  base::Result<os::Fd> make_of(const UnlinkedFile& what, std::uint32_t file);
  base::Result<os::Fd> make_of(const MemoryFile& what, std::uint32_t file);
  base::Result<os::Fd> make_of(const PipeEnd& what, std::uint32_t file);
  base::Result<os::Fd> make_of(const FifoEnd& what, std::uint32_t file);
  base::Result<os::Fd> make_of(const Terminal& what, std::uint32_t file);
  base::Result<os::Fd> make_of(const Inherited& what, std::uint32_t file);
  base::Result<os::Fd> make_of(const LeftOut& what, std::uint32_t file);
  base::Result<os::Fd> make_of(const EventCount& what, std::uint32_t file);
  base::Result<os::Fd> make_of(const TimerFile& what, std::uint32_t file);
  base::Result<os::Fd> make_of(const SignalFile& what, std::uint32_t file);
  base::Result<os::Fd> make_of(const PollSet& what, std::uint32_t file);
  base::Result<os::Fd> make_of(const PairSocket& what, std::uint32_t file);
  base::Result<os::Fd> make_of(const ListeningSocket& what, std::uint32_t file);

  base::Result<os::Fd> standard(std::uint32_t file, const std::string& was);
  base::Result<os::Fd> null();
  base::Status fill_pipe(const Content& pipe, std::uint32_t content, const std::string& object);
  base::Result<os::Fd> end_of_pipe(Content& pipe, std::uint32_t file);
  bool keeps_messages(std::uint32_t content) const;
  void note(std::uint32_t file, const std::string& text);
  std::string name_of(std::uint32_t file) const;
  std::uint32_t flags_of(std::uint32_t file) const { return files_.files[file].flags; }

  const OpenFiles& files_;
  const RestoreChoices& choices_;
  std::vector<int> first_number_;  // of each file
  std::vector<Content> contents_;
  std::vector<os::Fd> peers_;  // sockets that were made together with their peers, by file
  std::vector<std::string> notes_;
  GrownFiles grown_;
};

}  // namespace perdure::process
