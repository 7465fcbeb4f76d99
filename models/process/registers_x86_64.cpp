#include <elf.h>

#include <algorithm>

#include "process/registers.hpp"

namespace perdure::process {

int extended_register_set() { return NT_X86_XSTATE; }

Registers asking(Registers registers, std::uint64_t instruction, const SystemCall& call) {
  registers.rip = instruction;
  registers.rax = call[0];
  registers.rdi = call[1];
  registers.rsi = call[2];
  registers.rdx = call[3];
  registers.r10 = call[4];
  registers.r8 = call[5];
  registers.r9 = call[6];
  registers.orig_rax = ~0ULL;  // in no call, as the kernel sees it
  return registers;
}

std::int64_t answer_of(const Registers& registers) { return static_cast<std::int64_t>(registers.rax); }

std::size_t find_call_instruction(base::ConstByteSpan code) {
  constexpr std::array kSyscall = {std::byte{0x0f}, std::byte{0x05}};
  const auto found = std::search(code.begin(), code.end(), kSyscall.begin(), kSyscall.end());
  return static_cast<std::size_t>(found - code.begin());
}

}  // namespace perdure::process
