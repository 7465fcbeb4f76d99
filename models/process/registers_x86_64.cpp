#include <elf.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "process/fields_of_text.hpp"
#include "process/registers.hpp"

namespace perdure::process {

// The bases of thread-local storage are in Registers.
std::span<const RegisterSet> extended_register_sets() {
  static constexpr std::array<RegisterSet, 1> kSets = {{{NT_X86_XSTATE, false}}};
  return kSets;
}

Registers asking(Registers registers, std::uint64_t instruction, const SystemCall& call) {
  registers.rip = instruction;
  registers.rax = call[0];
  registers.rdi = call[1];
  registers.rsi = call[2];
  registers.rdx = call[3];
  registers.r10 = call[4];
  registers.r8 = call[5];
  registers.r9 = call[6];
  registers.orig_rax = ~0ULL;  // tells the kernel that it is in no call
  return registers;
}

namespace {

/// Returns whether the registers can be arguments of `call`. The calls are those that the kernel continues through
/// restart_syscall.
bool may_be(std::uint32_t call, const Registers& registers) {
  constexpr std::uint64_t kMostPolled = 1 << 24, kWaits = 0, kWaitsForBits = 9, kCommand = 0x7f, kFirstAddress = 4096;
  const bool first_is_one = registers.rdi >= kFirstAddress;
  switch (call) {
    case SYS_poll:
      return (first_is_one || registers.rsi == 0) && registers.rsi <= kMostPolled &&
             static_cast<std::int32_t>(registers.rdx) != 0;
    case SYS_nanosleep:
      return first_is_one;
    case SYS_clock_nanosleep:
      return static_cast<std::uint32_t>(registers.rsi) == 0 && registers.rdx >= kFirstAddress;
    case SYS_futex: {
      const std::uint64_t command = registers.rsi & kCommand;
      return first_is_one && (command == kWaits || command == kWaitsForBits) && registers.r10 >= kFirstAddress;
    }
    default:
      return false;
  }
}

/// Finds the instruction that put the call's number into eax (B8 and four bytes). It is the last one before `syscall`,
/// and follows any earlier call.
std::optional<std::uint32_t> call_begun_by(base::ConstByteSpan code, const Registers& registers) {
  constexpr std::size_t kCall = 2, kNumber = 4;
  constexpr std::uint32_t kNumbers = 1024;  // there are fewer calls
  constexpr std::byte kToEax{0xb8}, kFirst{0x0f}, kSecond{0x05};
  if (code.size() < kCall || code[code.size() - 2] != kFirst || code[code.size() - 1] != kSecond) return std::nullopt;
  code = code.first(code.size() - kCall);
  for (std::size_t length = 2; length <= code.size(); ++length) {
    const auto at = code.last(length);
    if (at[0] == kFirst && at[1] == kSecond) return std::nullopt;
    if (at[0] != kToEax || length < 1 + kNumber) continue;
    std::uint32_t call = 0;
    std::memcpy(&call, at.data() + 1, sizeof call);
    if (call < kNumbers) return may_be(call, registers) ? std::optional(call) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Registers to_store(Registers registers, const std::function<std::vector<std::byte>()>& code) {
  constexpr std::int64_t kRestartNoHandler = -514, kRestartBlock = -516;  // the kernel's own, which no program sees
  if (static_cast<std::int64_t>(registers.orig_rax) < 0 || answer_of(registers) != kRestartBlock) return registers;
  registers.rax = static_cast<std::uint64_t>(kRestartNoHandler);
  if (registers.orig_rax == SYS_restart_syscall)
    if (const auto call = call_begun_by(code(), registers)) registers.orig_rax = *call;
  return registers;
}

std::uint64_t next_instruction(const Registers& registers) { return registers.rip; }

Registers with_next_instruction(Registers registers, std::uint64_t address) {
  registers.rip = address;
  return registers;
}

std::uint64_t stack_of(const Registers& registers) { return registers.rsp; }

// The System V ABI has a red zone.
std::uint64_t unused_below(std::uint64_t stack) { return stack < 128 ? 0 : stack - 128; }

Registers with_stack(Registers registers, std::uint64_t stack) {
  registers.rsp = stack;
  return registers;
}

std::uint64_t kept_parts(base::ConstByteSpan extended) {
  constexpr std::size_t kKeptParts = 464;  // offset of the bytes that XSAVE leaves to the system
  std::uint64_t parts = 0;
  if (extended.size() >= kKeptParts + sizeof parts) std::memcpy(&parts, extended.data() + kKeptParts, sizeof parts);
  return parts;
}

std::string part_names(std::uint64_t parts) {
  constexpr std::array<std::pair<std::uint64_t, const char*>, 7> kNames = {{{1 << 2, "AVX"},
                                                                            {7 << 5, "AVX-512"},
                                                                            {1 << 9, "protection keys"},
                                                                            {1 << 11, "user shadow stacks"},
                                                                            {3 << 3, "MPX"},
                                                                            {3 << 17, "AMX"},
                                                                            {1 << 19, "APX"}}};
  std::string names;
  for (const auto& [bits, name] : kNames) {
    if ((parts & bits) != 0) names += std::string(names.empty() ? "" : ", ") + name;
    parts &= ~bits;
  }
  if (parts != 0) names += std::string(names.empty() ? "" : ", ") + "parts " + std::to_string(parts);
  return names;
}

std::vector<std::string> instruction_sets(std::string_view cpuinfo) {
  constexpr std::array<std::string_view, 24> kOne = {"abm",     "adx",    "aes",    "avx",      "avx2",   "bmi1",
                                                     "bmi2",    "f16c",   "fma",    "fsgsbase", "gfni",   "movbe",
                                                     "movdiri", "pku",    "pni",    "popcnt",   "rdrand", "rdseed",
                                                     "sha_ni",  "sse4_1", "sse4_2", "ssse3",    "vaes",   "vpclmulqdq"};
  const auto flags = value_of(cpuinfo, "flags\t");
  std::vector<std::string> sets;
  for (const auto flag : flags ? words_of(*flags) : std::vector<std::string_view>())
    if (flag.starts_with("avx512") || flag.starts_with("amx_") || flag.starts_with("avx_") ||
        std::find(kOne.begin(), kOne.end(), flag) != kOne.end())
      sets.emplace_back(flag);
  std::sort(sets.begin(), sets.end());
  return sets;
}

// movabs $address, %r11; jmp *%r11. Functions may change this register.
std::vector<std::byte> jump_to(std::uint64_t address) {
  std::vector<std::byte> code = {std::byte{0x49}, std::byte{0xbb}};
  for (int i = 0; i < 8; ++i) code.push_back(static_cast<std::byte>(address >> 8 * i));
  code.insert(code.end(), {std::byte{0x41}, std::byte{0xff}, std::byte{0xe3}});
  return code;
}

base::ConstByteSpan call_instruction() {
  static constexpr std::array kSyscall = {std::byte{0x0f}, std::byte{0x05}};
  return kSyscall;
}

std::int64_t answer_of(const Registers& registers) { return static_cast<std::int64_t>(registers.rax); }

std::size_t find_call_instruction(base::ConstByteSpan code) {
  const auto call = call_instruction();
  const auto found = std::search(code.begin(), code.end(), call.begin(), call.end());
  return static_cast<std::size_t>(found - code.begin());
}

}  // namespace perdure::process
