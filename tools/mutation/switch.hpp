#pragma once
// Switches mutants on in a mutated copy of the tree (tools/mutants): PERDURE_TEST_MUTANT names the one that is on. Each
// mutant that is reached sets its byte in the file PERDURE_TEST_MUTANTS_REACHED. So processes that die or are forked
// are counted, too.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <type_traits>

namespace perdure_mutation {

struct State {
  unsigned on = 0;
  unsigned char* reached = nullptr;
  unsigned long count = 0;
};

inline State read_environment() {
  State state;
  if (const char* on = std::getenv("PERDURE_TEST_MUTANT"))
    state.on = static_cast<unsigned>(std::strtoul(on, nullptr, 10));
  const char* path = std::getenv("PERDURE_TEST_MUTANTS_REACHED");
  const int file = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
  struct stat facts {};
  if (file < 0 || ::fstat(file, &facts) != 0) return state;
  void* bytes = ::mmap(nullptr, static_cast<unsigned long>(facts.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (bytes == MAP_FAILED) return state;
  state.reached = static_cast<unsigned char*>(bytes);
  state.count = static_cast<unsigned long>(facts.st_size);
  return state;
}

inline const State state = read_environment();

}  // namespace perdure_mutation

/// Whether mutant `number` is on; never during constant evaluation.
constexpr bool perdure_mutant(unsigned number) {
  if (std::is_constant_evaluated()) return false;
  if (number < perdure_mutation::state.count) perdure_mutation::state.reached[number] = 1;
  return perdure_mutation::state.on == number;
}
