#pragma once
// What decides whether an image can be brought back here, by this user, at this moment.
#include "process/image.hpp"
#include "process/obstacles.hpp"

namespace perdure::process {

struct MachineFacts {
  std::string architecture;                ///< as uname says
  std::vector<std::string> instructions;   ///< as in SystemImage
  std::uint64_t processor_state = 0;       ///< as in SystemImage
  std::array<std::uint64_t, 2> vdso{};     ///< as in SystemImage
  std::uint64_t vdso_bytes = 0;            ///< with what belongs to it (vvar)
  std::vector<std::byte> vdso_code;        ///< as in SystemImage
  std::uint32_t user = 0, group = 0;       ///< whose right counts for files
  bool chooses_numbers = false;            ///< CAP_CHECKPOINT_RESTORE, or CAP_SYS_ADMIN
  std::string number_taken_by;             ///< a program's name, when the number of the process is taken
  std::vector<std::string> missing_files;  ///< of those that the image names
  /// Programs, libraries and others that were mapped as they were then, and that are others by now: of another length,
  /// or written to since.
  std::vector<std::string> changed_files;
};

/// Of this process, and of what `image` names. Nothing changes. Makes a process for a moment.
base::Result<MachineFacts> facts_for(const ProcessImage& image);
/// Returns the facts of this machine, on which `image` was captured just now. It does not ask the processor again.
base::Result<MachineFacts> facts_where_captured(const ProcessImage& image);

/// What the machine itself lacks, and will lack tomorrow. Pure.
std::vector<Obstacle> obstacles_of_machine(const ProcessImage& image, const MachineFacts& facts);
/// All that stands in the way. Pure.
std::vector<Obstacle> obstacles_of_resume(const ProcessImage& image, const MachineFacts& facts);
/// PERDURE_PERMISSION: it is another user's, or group's; PERDURE_UNSUPPORTED: what obstacles_of_machine() says.
base::Status may_resume(const ProcessImage& image, const MachineFacts& facts);

}  // namespace perdure::process
