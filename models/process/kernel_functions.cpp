#include "process/kernel_functions.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "process/registers.hpp"

namespace perdure::process {
namespace {

base::Error no_code(const std::string& why) {
  return {PERDURE_CORRUPT, "the kernel's own pages (vdso)", why, "capture the program again", false};
}

template <class T>
std::optional<T> value_at(base::ConstByteSpan code, std::uint64_t offset) {
  if (offset > code.size() || code.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, code.data() + offset, sizeof value);
  return value;
}

/// Returns the zero-terminated word at `offset`; empty if there is none.
std::string word_at(base::ConstByteSpan code, std::uint64_t offset) {
  constexpr std::uint64_t kMost = 64;
  std::string word;
  for (; offset < code.size() && word.size() < kMost; ++offset) {
    const char one = static_cast<char>(code[offset]);
    if (one == 0) return word;
    word += one;
  }
  return "";
}

struct SymbolTable {
  std::uint64_t symbols = 0, count = 0, words = 0;
};

base::Result<SymbolTable> find_symbols(base::ConstByteSpan code) {
  const auto header = value_at<Elf64_Ehdr>(code, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_shentsize != sizeof(Elf64_Shdr))
    return base::fail(no_code("they are no ELF image of 64 bits"));
  const auto section = [&](std::uint64_t index) {
    return value_at<Elf64_Shdr>(
        code, header->e_shoff > code.size() ? code.size() : header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto one = section(i);
    if (!one) break;
    if (one->sh_type != SHT_DYNSYM) continue;
    const auto words = section(one->sh_link);
    if (!words) break;
    return SymbolTable{one->sh_offset, std::min(one->sh_size, code.size()) / sizeof(Elf64_Sym), words->sh_offset};
  }
  return base::fail(no_code("they have no table of functions"));
}

/// This function is for enclaves (SGX). It reads no kernel data, and processors without SGX refuse it.
bool works_anywhere(const std::string& name) { return name == "__vdso_sgx_enter_enclave"; }

const KernelFunction* find(const std::vector<KernelFunction>& functions, const std::string& name) {
  const auto found =
      std::find_if(functions.begin(), functions.end(), [&](const auto& one) { return one.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

}  // namespace

base::Result<std::vector<KernelFunction>> kernel_functions(base::ConstByteSpan code) {
  PERDURE_TRY(const SymbolTable table, find_symbols(code));
  std::vector<KernelFunction> functions;
  for (std::uint64_t i = 0; i < table.count; ++i) {
    const auto symbol = value_at<Elf64_Sym>(code, table.symbols + i * sizeof(Elf64_Sym));
    if (!symbol) return base::fail(no_code("their table of functions is cut off"));
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF) continue;
    KernelFunction function{word_at(code, table.words + symbol->st_name), symbol->st_value};
    if (function.name.empty() || function.offset >= code.size())
      return base::fail(no_code("their table of functions has one that is nowhere"));
    functions.push_back(std::move(function));
  }
  if (functions.empty()) return base::fail(no_code("they have no functions"));
  std::sort(functions.begin(), functions.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return functions;
}

std::vector<std::string> lacking_functions(const std::vector<KernelFunction>& old,
                                           const std::vector<KernelFunction>& here) {
  std::vector<std::string> lacking;
  for (const KernelFunction& function : old)
    if (find(here, function.name) == nullptr && !works_anywhere(function.name)) lacking.push_back(function.name);
  return lacking;
}

base::Result<std::vector<std::byte>> lead_to(base::ConstByteSpan old, base::ConstByteSpan here, std::uint64_t address) {
  PERDURE_TRY(auto from, kernel_functions(old));
  PERDURE_TRY(const auto to, kernel_functions(here));
  if (const auto lacking = lacking_functions(from, to); !lacking.empty())
    return base::fail(PERDURE_UNSUPPORTED, "the kernel's own pages (vdso)",
                      "this kernel does not have '" + lacking.front() + "'",
                      "resume it under the kernel that it had, or a later one");
  std::vector<std::byte> code(old.begin(), old.end());
  std::sort(from.begin(), from.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  std::uint64_t free = 0, done = ~0ULL;  // several names may mean one function
  for (const KernelFunction& function : from) {
    const KernelFunction* target = find(to, function.name);
    if (target == nullptr || function.offset == done) continue;
    const auto jump = jump_to(address + target->offset);
    if (function.offset < free || code.size() - function.offset < jump.size())
      return base::fail(PERDURE_UNSUPPORTED, "the kernel's own pages (vdso)",
                        "'" + function.name + "' has no room to lead elsewhere",
                        "resume it under the kernel that it had");
    std::copy(jump.begin(), jump.end(), code.begin() + static_cast<std::ptrdiff_t>(function.offset));
    free = function.offset + jump.size();
    done = function.offset;
  }
  return code;
}

}  // namespace perdure::process
