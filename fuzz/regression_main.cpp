// Runs a fuzz target without libFuzzer: its seeds, every truncation of small ones, and seeded mutations. Also runs the
// files on the command line, which a fuzzer found once.
#include <fstream>
#include <iterator>
#include <string>

#include "mutate.hpp"
#include "support/sanitized.hpp"

namespace {

using namespace perdure::fuzz;

constexpr int kMutations = perdure::test_support::unless_sanitized(4000, 100);
constexpr std::size_t kSmall = 2048, kCut = perdure::test_support::unless_sanitized(1, 23);  // bytes

void run_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  run_one(std::as_bytes(std::span(text)));
}

void run_seeds_and_mutations() {
  const std::vector<Bytes> corpus = seeds();
  run_one({});
  for (const Bytes& seed : corpus) {
    run_one(seed);
    for (std::size_t length = 0; seed.size() <= kSmall && length < seed.size(); length += kCut)
      run_one(std::span(seed).first(length));
  }
  Mutator mutator(20240229);
  for (int i = 0; i < kMutations; ++i) run_one(mutator.next(corpus));
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run_file(argv[i]);
  if (argc == 1) run_seeds_and_mutations();
  return 0;
}
