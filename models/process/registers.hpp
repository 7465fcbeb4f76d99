#pragma once
// Each processor architecture implements this: registers of a thread, and how it makes system calls for us. The files
// are registers_x86_64.cpp and registers_aarch64.cpp.
#include <sys/user.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

namespace perdure::process {

using Registers = user_regs_struct;
using SystemCall = std::array<std::uint64_t, 7>;  ///< its number, then the arguments

/// A register set of PTRACE_GETREGSET besides Registers: floating point, vectors and the like.
struct RegisterSet {
  int number = 0;         ///< NT_*
  bool may_lack = false;  ///< some processors do not have it
};
/// Returns the sets in the order in which they are set.
std::span<const RegisterSet> extended_register_sets();
/// Appends a set to `extended`. If `sets` has one element, its bytes are stored alone, otherwise behind number and
/// length. Pure.
void add_register_set(std::vector<std::byte>& extended, std::span<const RegisterSet> sets, int set,
                      base::ConstByteSpan bytes);
/// Calls `use` for each set. Returns false if `extended` ends early or has an unknown set.
bool each_register_set(base::ConstByteSpan extended, std::span<const RegisterSet> sets,
                       const std::function<void(int, base::ConstByteSpan)>& use);
/// Returns these registers, set to make `call` with the instruction at `instruction`. The kernel does not restart the
/// thread's interrupted call meanwhile.
Registers asking(Registers registers, std::uint64_t instruction, const SystemCall& call);
/// Returns the registers to store. The kernel keeps the remaining time of an interrupted call outside the registers. So
/// such a call is set to begin again, or to end with EINTR if a handler runs before. A call that was interrupted
/// earlier is already the kernel's restart_syscall; only the program's code shows the original call. `code` returns the
/// readable bytes before next_instruction(), at most kCodeBefore. If they do not show the call, it ends with EINTR.
Registers to_store(Registers registers, const std::function<std::vector<std::byte>()>& code);
constexpr std::size_t kCodeBefore = 32;
/// Returns the address where it continues.
std::uint64_t next_instruction(const Registers& registers);
Registers with_next_instruction(Registers registers, std::uint64_t address);
/// stack_of() returns the stack pointer. unused_below() returns the address below which nothing of the stack is in use.
std::uint64_t stack_of(const Registers& registers);
std::uint64_t unused_below(std::uint64_t stack);
Registers with_stack(Registers registers, std::uint64_t stack);
/// Returns the parts of the extended registers that the system saves in `extended`, with the processor's bit numbers.
/// 0: it does not say.
std::uint64_t kept_parts(base::ConstByteSpan extended);
/// Returns known names of those parts, such as "AVX-512".
std::string part_names(std::uint64_t parts);
/// Parses /proc/cpuinfo for instruction sets that programs choose their code by, ascending.
std::vector<std::string> instruction_sets(std::string_view cpuinfo);
/// Returns machine code that jumps to `address`. It keeps all registers that a function must preserve.
std::vector<std::byte> jump_to(std::uint64_t address);
/// Returns machine code that is only a system call instruction.
base::ConstByteSpan call_instruction();
/// Returns the result of the call; a negative result is an error number.
std::int64_t answer_of(const Registers& registers);
/// Returns the offset of a system call instruction in `code`; its size if there is none.
std::size_t find_call_instruction(base::ConstByteSpan code);

}  // namespace perdure::process
