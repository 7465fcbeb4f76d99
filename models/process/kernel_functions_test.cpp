#include "process/kernel_functions.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <random>

#include "process/memory_maps.hpp"
#include "process/proc_text.hpp"
#include "process/registers.hpp"

namespace perdure::process {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Returns a copy of this process's vdso.
std::vector<std::byte> own_code() {
  const auto maps = parse_maps(proc_text("/proc/self/maps"), "this program");
  for (const MemoryMap& map : *maps) {
    if (map.name != "[vdso]") continue;
    const auto* begin = reinterpret_cast<const std::byte*>(map.begin);
    return {begin, begin + map.bytes()};
  }
  return {};
}

/// Makes a vdso with these functions, 64 bytes each unless they have an offset.
std::vector<std::byte> code_with(const std::vector<KernelFunction>& functions) {
  std::vector<std::byte> code(4096, std::byte{0x90});
  std::string words(1, '\0');
  std::vector<Elf64_Sym> symbols(1);
  for (const KernelFunction& function : functions) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(words.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = function.offset;
    symbols.push_back(symbol);
    words += function.name + '\0';
  }
  constexpr std::uint64_t kSections = 64, kSymbols = 256, kWords = 1024;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = kSections;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  std::array<Elf64_Shdr, 3> sections{};
  sections[1].sh_type = SHT_DYNSYM;
  sections[1].sh_offset = kSymbols;
  sections[1].sh_size = symbols.size() * sizeof(Elf64_Sym);
  sections[1].sh_link = 2;
  sections[2].sh_offset = kWords;
  std::memcpy(code.data(), &header, sizeof header);
  std::memcpy(code.data() + kSections, sections.data(), sizeof sections);
  std::memcpy(code.data() + kSymbols, symbols.data(), symbols.size() * sizeof(Elf64_Sym));
  std::memcpy(code.data() + kWords, words.data(), words.size());
  return code;
}

std::vector<std::byte> part(const std::vector<std::byte>& code, std::uint64_t begin, std::size_t bytes) {
  const auto at = code.begin() + static_cast<std::ptrdiff_t>(begin);
  return {at, at + static_cast<std::ptrdiff_t>(bytes)};
}

TEST(KernelFunctions, OfThisKernelReadClocks) {
  const auto functions = kernel_functions(own_code());
  ASSERT_TRUE(functions) << functions.error().text();
  std::vector<std::string> names;
  for (const auto& function : *functions) names.push_back(function.name);
  EXPECT_THAT(names, Contains(HasSubstr("clock_gettime")));
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(KernelFunctions, OfAnImageAreByName) {
  const auto functions = kernel_functions(code_with({{"time", 2048}, {"clock", 3000}}));
  ASSERT_TRUE(functions) << functions.error().text();
  EXPECT_THAT(*functions, ElementsAre(KernelFunction{"clock", 3000}, KernelFunction{"time", 2048}));
}

TEST(KernelFunctions, OfHostileCodeAreRefusedAndNothingBehindItsEndIsRead) {
  const auto good = code_with({{"time", 2048}, {"clock", 3000}});
  EXPECT_FALSE(kernel_functions({}));
  EXPECT_FALSE(kernel_functions(code_with({})));
  EXPECT_FALSE(kernel_functions(code_with({{"", 2048}})));
  EXPECT_FALSE(kernel_functions(code_with({{"time", 4096}})));
  for (std::size_t length = 0; length < good.size(); ++length) {
    const std::vector<std::byte> cut(good.begin(),
                                     good.begin() + static_cast<std::ptrdiff_t>(length));  // ASan sees its end
    (void)kernel_functions(cut);
  }
  std::mt19937_64 rng(7);
  for (int times = 0; times < 5000; ++times) {
    auto code = good;
    for (int changes = 0; changes < 3; ++changes) code[rng() % 1100] = static_cast<std::byte>(rng());
    (void)lead_to(code, good, 0x10000);
    (void)lead_to(good, code, 0x10000);
  }
}

TEST(KernelFunctions, LeadToWhereTheOthersAre) {
  const auto old = code_with({{"time", 2048}, {"same", 2048}, {"clock", 2061}});
  const auto here = code_with({{"clock", 3000}, {"time", 3100}, {"same", 3100}, {"more", 3200}});
  const auto led = lead_to(old, here, 0x7f0000000000);
  ASSERT_TRUE(led) << led.error().text();
  const auto to_time = jump_to(0x7f0000000000 + 3100), to_clock = jump_to(0x7f0000000000 + 3000);
  EXPECT_EQ(part(*led, 2048, to_time.size()), to_time);
  EXPECT_EQ(part(*led, 2061, to_clock.size()), to_clock);
  EXPECT_EQ(part(*led, 0, 2048), part(old, 0, 2048)) << "names stay";
  EXPECT_EQ(part(*led, 2061 + to_clock.size(), 1000), part(old, 2061 + to_clock.size(), 1000));
}

TEST(KernelFunctions, ThatThisKernelLacksAreNamed) {
  const std::vector<KernelFunction> old = {{"__vdso_sgx_enter_enclave", 1}, {"getcpu", 2}, {"time", 3}};
  EXPECT_THAT(lacking_functions(old, {{"time", 9}}), ElementsAre("getcpu"));
  EXPECT_THAT(lacking_functions(old, old), IsEmpty());
  const auto refused = lead_to(code_with({{"getcpu", 2048}}), code_with({{"time", 2048}}), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_UNSUPPORTED);
  EXPECT_THAT(refused.error().text(), HasSubstr("'getcpu'"));
}

TEST(KernelFunctions, WithoutRoomLeadNowhere) {
  const auto here = code_with({{"clock", 3000}, {"time", 3100}});
  for (const auto& old : {code_with({{"time", 2048}, {"clock", 2060}}), code_with({{"time", 4090}})}) {
    const auto refused = lead_to(old, here, 0x7f0000000000);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text(), HasSubstr("has no room"));
  }
}

}  // namespace
}  // namespace perdure::process
