// Implements registers for AArch64 (ARMv8-A, little-endian). The cross compiler compiles it (tools/check_aarch64), but
// it never ran. There is no such machine here, and qemu-user does not support tracing.
// The kernel prepares a thread that stops for a signal within a call, before the tracer sees it. If the call is to
// restart, the program counter is back at the `svc` instruction, and x0 has its first argument. So the stored registers
// need no change. They also need no system call number (NT_ARM_SYSTEM_CALL): the kernel forgot it then. Unlike on
// x86-64, a handler that runs first does not end such a call with EINTR.
#include <elf.h>

#include <algorithm>
#include <cstring>

#include "process/fields_of_text.hpp"
#include "process/registers.hpp"

namespace perdure::process {
namespace {

// The beginning of the SVE set, from <asm/ptrace.h>, which conflicts with <sys/user.h>.
struct SveHeader {
  std::uint32_t bytes = 0, most_bytes = 0;
  std::uint16_t vector_bytes = 0, most_vector_bytes = 0, flags = 0, reserved = 0;
};
constexpr int kSve = 0x405, kPointerKeys = 0x407, kGenericKeys = 0x408, kTaggedAddresses = 0x409, kEnabledKeys = 0x40a;
constexpr std::size_t kUnitBytes = 16;  // vector lengths are multiples of it

}  // namespace

// Return addresses on the stack are signed with the keys if the processor has them. The SVE set includes the floating
// point registers, and is set later, so its values remain.
std::span<const RegisterSet> extended_register_sets() {
  static constexpr std::array<RegisterSet, 7> kSets = {{{NT_PRFPREG, false},
                                                        {kSve, true},
                                                        {NT_ARM_TLS, false},
                                                        {kTaggedAddresses, true},
                                                        {kPointerKeys, true},
                                                        {kGenericKeys, true},
                                                        {kEnabledKeys, true}}};
  return kSets;
}

Registers asking(Registers registers, std::uint64_t instruction, const SystemCall& call) {
  registers.pc = instruction;
  registers.regs[8] = call[0];
  for (std::size_t i = 1; i < call.size(); ++i) registers.regs[i - 1] = call[i];
  return registers;
}

Registers to_store(Registers registers, const std::function<std::vector<std::byte>()>&) { return registers; }

std::uint64_t stack_of(const Registers& registers) { return registers.sp; }

// The ABI has no red zone.
std::uint64_t unused_below(std::uint64_t stack) { return stack; }

Registers with_stack(Registers registers, std::uint64_t stack) {
  registers.sp = stack;
  return registers;
}

// A bit for each 128 bits of a vector. Processors with longer vectors also support shorter ones.
std::uint64_t kept_parts(base::ConstByteSpan extended) {
  std::uint64_t parts = 0;
  each_register_set(extended, extended_register_sets(), [&](int set, base::ConstByteSpan bytes) {
    SveHeader header;
    if (set != kSve || bytes.size() < sizeof header) return;
    std::memcpy(&header, bytes.data(), sizeof header);
    const std::size_t units = std::min<std::size_t>(header.vector_bytes / kUnitBytes, 63);
    parts = (std::uint64_t{1} << units) - 1;
  });
  return parts;
}

std::string part_names(std::uint64_t parts) {
  std::size_t units = 0;
  for (; parts != 0; parts >>= 1) ++units;
  return units == 0 ? "" : "SVE with vectors of " + std::to_string(units * kUnitBytes * 8) + " bits";
}

// The kernel lists only sets by which a program could choose its code.
std::vector<std::string> instruction_sets(std::string_view cpuinfo) {
  const auto flags = value_of(cpuinfo, "Features\t");
  std::vector<std::string> sets;
  for (const auto flag : flags ? words_of(*flags) : std::vector<std::string_view>()) sets.emplace_back(flag);
  std::sort(sets.begin(), sets.end());
  return sets;
}

std::uint64_t next_instruction(const Registers& registers) { return registers.pc; }

Registers with_next_instruction(Registers registers, std::uint64_t address) {
  registers.pc = address;
  return registers;
}

// ldr x16, [pc, #8]; br x16; the address. Calls may change this register (AAPCS64).
std::vector<std::byte> jump_to(std::uint64_t address) {
  std::vector<std::byte> code;
  for (const std::uint32_t word :
       {0x58000050U, 0xd61f0200U, static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32)})
    for (int i = 0; i < 4; ++i) code.push_back(static_cast<std::byte>(word >> 8 * i));
  return code;
}

base::ConstByteSpan call_instruction() {
  static constexpr std::array kSvc = {std::byte{0x01}, std::byte{0x00}, std::byte{0x00}, std::byte{0xd4}};  // svc #0
  return kSvc;
}

std::int64_t answer_of(const Registers& registers) { return static_cast<std::int64_t>(registers.regs[0]); }

// Instructions are aligned.
std::size_t find_call_instruction(base::ConstByteSpan code) {
  const auto call = call_instruction();
  for (std::size_t at = 0; at + call.size() <= code.size(); at += call.size())
    if (std::equal(call.begin(), call.end(), code.begin() + static_cast<std::ptrdiff_t>(at))) return at;
  return code.size();
}

}  // namespace perdure::process
