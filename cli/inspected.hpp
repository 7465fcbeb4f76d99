#pragma once
// `perdure inspect` shows these facts about a running process or a stored one.
#include <map>

#include "base/json.hpp"
#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "process/machine.hpp"
#include "process/obstacles.hpp"

namespace perdure::cli {

struct Inspected {
  struct ThreadFacts {
    pid_t number = 0;
    std::string name, processors;
    std::string state;      ///< state of a running one
    std::string registers;  ///< parts of the registers of a stored one
  };
  struct Memory {
    std::uint64_t mappings = 0, bytes = 0;
  };
  struct File {
    std::vector<int> numbers;
    std::string what;
  };
  bool is_image = false;
  pid_t process = 0;
  std::vector<std::pair<std::string, std::string>> facts;  ///< names and values, for people and programs
  std::vector<ThreadFacts> threads;
  std::map<std::string, Memory> memory;          ///< by kind
  std::map<std::uint32_t, std::uint64_t> pages;  ///< by node
  std::vector<File> files;
  std::vector<process::Obstacle> obstacles;
  process::MachineImage machine;  ///< hardware that it may use on its machine, or could
};

/// Inspects a process, and changes nothing of it. PERDURE_NOT_FOUND, PERDURE_PERMISSION.
base::Result<Inspected> inspect_process(pid_t process);
/// Reads the record alone. PERDURE_MISMATCH: it is a checkpoint of another kind.
base::Result<Inspected> inspect_image(const std::string& checkpoint, const std::string& store,
                                      const Terminal& terminal);

std::string text_of(const Inspected& inspected);
base::Json json_of(const Inspected& inspected);

}  // namespace perdure::cli
