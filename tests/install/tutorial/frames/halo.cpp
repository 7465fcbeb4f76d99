// Section 12: a program protects a part of an array within memory that has a halo.
#include <cstdint>
#include <iostream>
#include <perdure/perdure.hpp>
#include <vector>

int main() {
  const std::uint64_t height = 20, width = 30, rows = height, first_row = 0;
  auto handle = perdure::open().value();
  /* THE PAGE'S LINES */
  memory[width + 3] = 1;
  handle.checkpoint("halo", 1).value();
  memory.assign(memory.size(), -1.0);
  handle.restore("halo").value();
  std::cout << "restored: " << memory[width + 3] << '\n';
  return memory[0] == -1.0 ? 0 : 1;
}
