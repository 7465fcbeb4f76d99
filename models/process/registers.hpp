#pragma once
// What is the processor's own: the registers of a thread, and how it is made to carry out a system call. One file for
// each architecture (registers_x86_64.cpp, registers_aarch64.cpp).
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

/// What PTRACE_GETREGSET calls floating point, vectors and whatever else a thread has beside Registers.
struct RegisterSet {
  int number = 0;         ///< NT_*
  bool may_lack = false;  ///< not every processor has it
};
/// In the order in which they are set.
std::span<const RegisterSet> extended_register_sets();
/// Where an architecture has one of `sets`, it is stored as it is, else each behind its number and length. Pure.
void add_register_set(std::vector<std::byte>& extended, std::span<const RegisterSet> sets, int set,
                      base::ConstByteSpan bytes);
/// Calls `use` for each. False: it ends early, or has a set that there is none of.
bool each_register_set(base::ConstByteSpan extended, std::span<const RegisterSet> sets,
                       const std::function<void(int, base::ConstByteSpan)>& use);
/// These registers, but about to carry out `call` by the instruction at `instruction`. Whatever call the thread was in
/// is not begun again meanwhile.
Registers asking(Registers registers, std::uint64_t instruction, const SystemCall& call);
/// The same thread as it is stored: where a system call was interrupted that is to go on with what was left of its
/// time, which the kernel notes elsewhere, it begins again, or ends with EINTR if a handler runs before. One that was
/// interrupted before is the kernel's own restart_syscall by now: which call it was, the program's code tells. `code`
/// is asked for it then: the bytes before next_instruction(), up to kCodeBefore, as many as can be read. Where they do
/// not tell, it ends with EINTR.
Registers to_store(Registers registers, const std::function<std::vector<std::byte>()>& code);
constexpr std::size_t kCodeBefore = 32;
/// Where it goes on.
std::uint64_t next_instruction(const Registers& registers);
Registers with_next_instruction(Registers registers, std::uint64_t address);
/// Where its stack ends, and below which address nothing of it is in use.
std::uint64_t stack_of(const Registers& registers);
std::uint64_t unused_below(std::uint64_t stack);
Registers with_stack(Registers registers, std::uint64_t stack);
/// Parts of the extended registers that the system keeps for `extended`, bit by bit as the processor numbers them; 0
/// when it does not say.
std::uint64_t kept_parts(base::ConstByteSpan extended);
/// Names of those parts that people know: "AVX-512".
std::string part_names(std::uint64_t parts);
/// Of what /proc/cpuinfo says: sets of instructions that programs choose their code by, ascending.
std::vector<std::string> instruction_sets(std::string_view cpuinfo);
/// Machine code that goes on at `address`, and changes nothing that a function's caller keeps.
std::vector<std::byte> jump_to(std::uint64_t address);
/// Machine code that carries out a system call, and nothing else.
base::ConstByteSpan call_instruction();
/// What the call came to: below 0 an error number.
std::int64_t answer_of(const Registers& registers);
/// The offset of an instruction in `code` that carries out a system call; its size when there is none.
std::size_t find_call_instruction(base::ConstByteSpan code);

}  // namespace perdure::process
