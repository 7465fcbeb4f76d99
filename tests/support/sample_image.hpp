#pragma once
// Makes the record of a fictitious process, with everything that a record may contain, for tests and fuzz targets.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "process/image.hpp"
#include "process/registers.hpp"

namespace perdure::test_support {

inline std::vector<std::byte> sample_bytes(std::size_t count) { return std::vector<std::byte>(count, std::byte{5}); }

inline process::NamedFile sample_named_file(std::uint32_t kind) {
  process::NamedFile file;
  file.path = "/tmp/of/it";
  file.mode = kind | 0600;
  file.device = 3;
  file.inode = 77;
  file.size = 10;
  return file;
}

/// Returns one descriptor of each kind.
inline process::OpenFiles sample_open_files() {
  process::OpenFiles all;
  process::FileContent content;
  content.size = 100;
  content.permissions = 0600;
  content.runs = {{10, sample_bytes(3)}, {50, sample_bytes(2)}};
  process::FileContent of_pipe;
  of_pipe.capacity = 65536;
  of_pipe.runs = {{0, sample_bytes(4)}};
  all.contents = {content, of_pipe, of_pipe, content};
  const auto add = [&](process::OpenFile::What what, std::uint32_t flags) {
    process::OpenFile file;
    file.what = std::move(what);
    file.flags = flags;
    all.descriptors.push_back({static_cast<std::int32_t>(all.files.size()), all.files.size() % 2 == 0,
                               static_cast<std::uint32_t>(all.files.size())});
    all.files.push_back(std::move(file));
  };
  add(sample_named_file(S_IFREG), O_RDWR);
  all.files.back().locks = {{process::FileLock::Kind::process, true, 5, 10}};
  all.files.back().owner = {process::SignalOwner::Kind::process, 50, SIGIO};
  add(process::UnlinkedFile{"/tmp/gone", 0}, O_RDWR);
  add(process::MemoryFile{"here", 3}, O_RDWR);
  add(process::PipeEnd{1}, O_RDONLY);
  add(process::PipeEnd{1}, O_WRONLY);
  add(process::FifoEnd{sample_named_file(S_IFIFO), 2}, O_RDWR);
  add(process::Terminal{"/dev/pts/3"}, O_RDWR);
  add(process::Inherited{"pipe:[5]"}, O_RDONLY);
  add(process::LeftOut{"socket:[6]"}, O_RDWR);
  add(process::EventCount{7, true}, O_RDWR);
  add(process::TimerFile{CLOCK_MONOTONIC, 0, 1'000'000, 0, 2}, O_RDWR);
  add(process::SignalFile{1ULL << (SIGUSR1 - 1)}, O_RDWR);
  add(process::PollSet{{{3, 3, 1, 99}}}, O_RDWR);
  process::ListeningSocket listens{AF_INET, SOCK_STREAM, 6, sample_bytes(16), 5, 0, {{1, 2, 1}}};
  listens.address[0] = std::byte{AF_INET};
  listens.address[1] = std::byte{0};
  add(listens, O_RDWR);
  const auto first = static_cast<std::uint32_t>(all.files.size());
  for (std::uint32_t other : {first + 1, first}) {
    process::PairSocket socket;
    socket.type = SOCK_STREAM;
    socket.peer = other;
    if (other == first) socket.unread = {{0, sample_bytes(6)}};
    add(socket, O_RDWR);
  }
  return all;
}

inline process::ThreadImage sample_thread(std::int32_t number) {
  process::ThreadImage thread;
  thread.number = number;
  thread.name = "worker";
  thread.registers = sample_bytes(sizeof(process::Registers));
  thread.extended_registers = sample_bytes(40);
  thread.blocked_signals = 6;
  thread.pending_signals = {sample_bytes(128)};
  thread.alternate_stack = {0x20000, 0, 0x1000};
  thread.cpus = {0, 3};
  thread.memory_nodes = {0};
  thread.state = {0x10, 1, 0x4006, 100, 1024, {3, 0, 9}, false, 2};
  return thread;
}

inline process::ProcessImage sample_image() {
  process::ProcessImage image;
  image.system.architecture = "x86_64";
  image.system.release = "6.1.0";
  image.system.instructions = {"avx2", "avx512f"};
  image.system.vdso_begin = 0x7fff00000000;
  image.system.vdso_end = 0x7fff00006000;
  image.machine.numbers = {0, 2};
  image.machine.machine.nodes = {{{{0, 1}, {2, 3}}, 1 << 20}, {{}, 1 << 20}};
  image.machine.machine.distances = {{10, 20}, {20, 10}};
  image.number = 50;
  image.arguments = {"program", "1"};
  image.directory = "/tmp";
  image.program = {"/usr/bin/program", 1, 2, 3, 4};
  image.layout.auxiliary = sample_bytes(32);
  image.files = {{"/usr/lib/x.so", 1, 5, 8192, 4}};
  image.objects = {{2}, {-1}};
  process::MapImage own, of_file, shared;
  own.begin = 0x10000;
  own.end = 0x20000;
  own.protection = 3;
  own.name = "[heap]";
  own.flags = {"rd", "wr", "ac"};
  own.policy = "bind:0";
  of_file.begin = 0x20000;
  of_file.end = 0x22000;
  of_file.protection = 5;
  of_file.offset = 4096;
  of_file.file = 1;
  of_file.content = base::Hash128{7, 8};
  shared.begin = 0x30000;
  shared.end = 0x34000;
  shared.protection = 1;
  shared.shared = true;
  shared.object = 2;
  image.maps = {own, of_file, shared};
  image.pages = {{0, {{0x10000, 2}, {0x14000, 1}, {0x21000, 1}}}, {2, {{0x12000, 2}, {0x30000, 4}}}};
  image.actions = {{SIGUSR1, {1, 2, 3, 4}}};
  image.pending_signals = {sample_bytes(128)};
  image.limits = {{7, 1024, 4096}};
  image.timers = {{0, {0, 1000, 0, 500}}};
  image.posix_timers = {{1, CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGALRM, 9, 0, {0, 1000, 1, 0}}};
  image.open_files = sample_open_files();
  image.threads = {sample_thread(50), sample_thread(53)};
  image.state = {process::kMembarrierPrivate, 1, 0x602e7, 1, true, -7, 0x33};
  return image;
}

}  // namespace perdure::test_support
