// Tests every kernel in its small sizes, and the program around them.
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fourier.hpp"
#include "kernel.hpp"
#include "run.hpp"

namespace kernels {
namespace {

using testing::HasSubstr;

/// Small sizes, with rows that three threads share unevenly.
struct Small {
  const char* name;
  std::int64_t size;
};
constexpr Small kSmall[] = {{"cg", 3000}, {"mg", 16}, {"ep", 20000}, {"is", 5000},
                            {"ft", 10},   {"bt", 7},  {"sedov", 25}};

std::unique_ptr<Kernel> make(const Small& small) {
  for (const Description& kernel : all_kernels())
    if (kernel.name == std::string(small.name)) return kernel.make(small.size);
  return nullptr;
}

std::vector<std::uint64_t> bits_of(Kernel& kernel, bool looks = false) {
  std::vector<std::uint64_t> bits;
  for (int i = 0; i < 5; ++i) {
    kernel.step();
    bits.push_back(std::bit_cast<std::uint64_t>(kernel.norm()));
    if (looks) {
      EXPECT_EQ(kernel.verify(), "");
    }
  }
  return bits;
}

/// The program's status and output, of both streams.
struct Said {
  int status;
  std::string text;
};
Said run(const std::string& arguments) {
  Said said{-1, ""};
  std::FILE* program = popen((std::string("'" PERDURE_KERNELS "' ") + arguments + " 2>&1").c_str(), "r");
  char part[4096];
  while (const std::size_t count = std::fread(part, 1, sizeof part, program)) said.text.append(part, count);
  said.status = WEXITSTATUS(pclose(program));
  return said;
}

TEST(Kernels, AreAllTestedHere) { EXPECT_EQ(all_kernels().size(), std::size(kSmall)); }

TEST(Kernels, GiveTheSameBitsInEveryRunOnAnyNumberOfThreads) {
  for (const Small& small : kSmall) {
    std::vector<std::vector<std::uint64_t>> runs;
    for (const int threads : {1, 3, 3}) {
      use_threads(threads);
      const auto kernel = make(small);
      runs.push_back(bits_of(*kernel));
      EXPECT_EQ(kernel->verify(), "") << small.name << " on " << threads;
    }
    EXPECT_EQ(runs[0], runs[1]) << small.name;
    EXPECT_EQ(runs[1], runs[2]) << small.name;
    EXPECT_NE(runs[0][3], runs[0][4]) << small.name << " stands still";
  }
}

TEST(Kernels, NoticeAWrongValueAndGoOnAfterALook) {
  use_threads(1);
  for (const Small& small : kSmall) {
    const auto kernel = make(small), other = make(small);
    EXPECT_EQ(bits_of(*kernel, true), bits_of(*other)) << small.name << ": verify() changed what step() reads";
    kernel->spoil();
    EXPECT_NE(kernel->verify(), "") << small.name;
  }
}

TEST(Kernels, SolveOneProblemAfterAnother) {
  use_threads(1);
  for (const auto& [small, steps] : {std::pair(Small{"cg", 100}, 200), {{"mg", 8}, 20}, {{"bt", 4}, 105}}) {
    const auto kernel = make(small);
    int begun = 0;
    for (int i = 0; i < steps; ++i) {
      const double before = kernel->norm();
      kernel->step();
      ASSERT_EQ(kernel->verify(), "") << small.name << " in step " << i;
      if (kernel->norm() > 1000 * before) ++begun;
    }
    EXPECT_GE(begun, 1) << small.name;
  }
}

TEST(Kernels, TransformAPlaneWaveToOnePoint) {
  use_threads(3);
  for (const std::int64_t n : {8, 9, 30}) {
    const std::int64_t kx = 1, ky = n - 2, kz = n / 2;
    Array<Complex> cube(n, n * n);
    for (std::int64_t i = 0; i < cube.size(); ++i)
      cube[i] = root_of_unity(-(kx * (i % n) + ky * (i / n % n) + kz * (i / n / n)), n);
    Fourier(n).transform_cube(cube, Direction::forward);
    double others = 0;
    for (std::int64_t i = 0; i < cube.size(); ++i) others += std::sqrt(cube[i].square());
    const Complex peak = cube[(kz * n + ky) * n + kx];
    EXPECT_NEAR(peak.re, static_cast<double>(n * n * n), 1e-8);
    EXPECT_NEAR(others, peak.re, 1e-6) << n;
  }
}

TEST(Kernels, RefuseWrongArguments) {
  const auto refusal = [](const std::string& arguments) {
    const Said said = run(arguments);
    EXPECT_EQ(said.status, 2) << arguments;
    return said.text;
  };
  EXPECT_THAT(refusal(""), HasSubstr("a kernel must be named, one of cg"));
  EXPECT_THAT(refusal("lu"), HasSubstr("not expected: lu"));
  EXPECT_THAT(refusal("cg --size 99"), HasSubstr("--size: Value 99 not in range"));
  EXPECT_THAT(refusal("mg --size 22"), HasSubstr("--size: an edge is 2, 3, 5 or 7 by a power of two"));
  EXPECT_THAT(refusal("ft --size 14"), HasSubstr("--size: an edge has no prime factors but 2, 3 and 5"));
  EXPECT_THAT(refusal("ep --threads 0"), HasSubstr("--threads"));
  EXPECT_THAT(refusal("is --iterations -1"), HasSubstr("--iterations"));
  EXPECT_THAT(refusal("cg --output /nowhere/file"), HasSubstr("/nowhere/file: No such file"));
}

TEST(Kernels, WriteTheirLinesToAFileToo) {
  char directory[] = "/tmp/perdure-kernels-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string file = std::string(directory) + "/lines";
  const std::string arguments = "cg --size 500 --iterations 3 --output " + file;
  const Said said = run(arguments);
  EXPECT_EQ(said.status, 0);
  EXPECT_THAT(said.text, testing::MatchesRegex("# cg: size 500, 3 iterations, 1 thread.s., 0.1 MB\n"
                                               " +1 [0-9.e-]+\n +2 [0-9.e-]+\n +3 [0-9.e-]+\nverified: yes\n"));
  const auto read = [&] {
    std::ifstream stream(file);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  EXPECT_EQ(read(), said.text);
  EXPECT_EQ(run(arguments + " --quiet --times").text, "verified: yes\n");
  EXPECT_THAT(read(), HasSubstr(" s\n"));
  EXPECT_EQ(run("cg --size 500 --iterations 1 --output /dev/full").status, 1);
  std::filesystem::remove_all(directory);
}

TEST(Kernels, SayWhatIsWrongAndEndWithoutSuccess) {
  struct Wrong : Kernel {
    void step() override {}
    double norm() const override { return 0.1; }
    std::string verify() override { return "it is not what it was"; }
    void spoil() override {}
  } wrong;
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  EXPECT_FALSE(run_kernel(wrong, {1, false, false, out, nullptr}));
  std::fclose(out);
  EXPECT_STREQ(text, "     1 1.0000000000000001e-01\nverified: no, it is not what it was\n");
  free(text);
}

}  // namespace
}  // namespace kernels
