#pragma once
// Collects facts that decide whether this user can resume an image here and now.
#include "process/image.hpp"
#include "process/obstacles.hpp"

namespace perdure::process {

struct MachineFacts {
  std::string architecture;                ///< as uname says
  std::vector<std::string> instructions;   ///< as in SystemImage
  std::uint64_t processor_state = 0;       ///< as in SystemImage
  std::array<std::uint64_t, 2> vdso{};     ///< as in SystemImage
  std::uint64_t vdso_bytes = 0;            ///< including its data pages (vvar)
  std::vector<std::byte> vdso_code;        ///< as in SystemImage
  std::uint32_t user = 0, group = 0;       ///< whose rights count for files
  bool chooses_numbers = false;            ///< CAP_CHECKPOINT_RESTORE, or CAP_SYS_ADMIN
  std::string number_taken_by;             ///< the program's name, if the process's number is taken
  std::vector<std::string> missing_files;  ///< of the files that the image names
  /// Mapped files, such as programs and libraries, that have another length now or were written to since.
  std::vector<std::string> changed_files;
};

/// Reads the facts about this process, and about the files that `image` names. It changes nothing, and makes a
/// short-lived process.
base::Result<MachineFacts> facts_for(const ProcessImage& image);
/// Returns the facts of this machine, which has just captured `image`. It does not ask the processor again.
base::Result<MachineFacts> facts_where_captured(const ProcessImage& image);

/// Returns permanent obstacles: what the machine itself lacks. Pure.
std::vector<Obstacle> obstacles_of_machine(const ProcessImage& image, const MachineFacts& facts);
/// Returns all obstacles. Pure.
std::vector<Obstacle> obstacles_of_resume(const ProcessImage& image, const MachineFacts& facts);
/// PERDURE_PERMISSION: the image is another user's or group's. PERDURE_UNSUPPORTED: an obstacle of the machine.
base::Status may_resume(const ProcessImage& image, const MachineFacts& facts);

}  // namespace perdure::process
