#pragma once
// What is the processor's own: the registers of a thread, and how it is made to carry out a system call. One file for
// each architecture (registers_x86_64.cpp).
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <span>

#include "base/bytes.hpp"

namespace perdure::process {

using Registers = user_regs_struct;
using SystemCall = std::array<std::uint64_t, 7>;  ///< its number, then the arguments

/// What PTRACE_GETREGSET calls floating point and vectors.
int extended_register_set();
/// These registers, but about to carry out `call` by the instruction at `instruction`. Whatever call the thread was in
/// is not begun again meanwhile.
Registers asking(Registers registers, std::uint64_t instruction, const SystemCall& call);
/// What the call came to: below 0 an error number.
std::int64_t answer_of(const Registers& registers);
/// The offset of an instruction in `code` that carries out a system call; its size when there is none.
std::size_t find_call_instruction(base::ConstByteSpan code);

}  // namespace perdure::process
