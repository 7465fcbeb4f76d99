#include "network/remote_memory.hpp"

#include "network/byte_reader.hpp"

namespace perdure::network {
namespace {

constexpr std::uint32_t kMemoryMagic = 0x4d445250;  // "PRDM"
constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxHost = 512;

LocalFile get_file(ByteReader& in) {
  LocalFile file;
  file.hint.path = in.text(kMaxPath);
  file.hint.offset = in.number<std::uint64_t>();
  file.host = in.text(kMaxHost);
  file.user = in.number<std::uint32_t>();
  file.device = in.number<std::uint64_t>();
  file.inode = in.number<std::uint64_t>();
  return file;
}

}  // namespace

Bytes encode(const RemoteMemory& memory) {
  ByteWriter out;
  out.number(kMemoryMagic);
  out.number(memory.wire.key);
  out.number(memory.wire.base);
  out.number(memory.wire.bytes);
  out.number(static_cast<std::uint8_t>(memory.access));
  out.number(static_cast<std::uint8_t>(memory.file.has_value()));
  if (memory.file) {
    out.sized(base::as_bytes(memory.file->hint.path));
    out.number(memory.file->hint.offset);
    out.sized(base::as_bytes(memory.file->host));
    out.number(memory.file->user);
    out.number(memory.file->device);
    out.number(memory.file->inode);
  }
  return std::move(out.bytes());
}

base::Result<RemoteMemory> decode_remote_memory(ConstByteSpan bytes) {
  ByteReader in(bytes);
  RemoteMemory memory;
  const bool magic = in.number<std::uint32_t>() == kMemoryMagic;
  memory.wire.key = in.number<std::uint64_t>();
  memory.wire.base = in.number<std::uint64_t>();
  memory.wire.bytes = in.number<std::uint64_t>();
  const auto access = in.number<std::uint8_t>();
  const auto has_file = in.number<std::uint8_t>();
  memory.access = static_cast<Access>(access);
  if (has_file == 1) memory.file = get_file(in);
  const bool wraps = memory.wire.base + memory.wire.bytes < memory.wire.base;
  if (!magic || !in.at_end() || access > 1 || has_file > 1 || wraps)
    return base::fail(PERDURE_CORRUPT, "name of remote memory", "it is not what an engine gave");
  return memory;
}

}  // namespace perdure::network
