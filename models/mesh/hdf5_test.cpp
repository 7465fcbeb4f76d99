// Tests that data sets in HDF5 files come back bit by bit on any number of ranks, and that all ranks report the same
// errors.
#include "mesh/hdf5.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>

#include "mesh/rows.hpp"
#include "mesh/thread_ranks_testing.hpp"
#include "mesh/three_fields_testing.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::mesh {
namespace {

using test_support::TemporaryDirectory;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Hdf5Options with_halo() {
  Hdf5Options options;
  options.halo = true;
  return options;
}
Hdf5Options of_each_process(bool halo = false) {
  Hdf5Options options;
  options.form = Form::per_process;
  options.halo = halo;
  return options;
}
Hdf5Options of_slab(const Box& slab, Form form = Form::whole) {
  Hdf5Options options;
  options.form = form;
  options.slab = slab;
  return options;
}
Hdf5Options with_portion(std::size_t bytes, bool halo = false) {
  Hdf5Options options;
  options.portion_bytes = bytes;
  options.halo = halo;
  return options;
}

void read_three(int ranks, const std::vector<std::int64_t>& size, const std::string& path, const Hdf5Options& options) {
  on_ranks(ranks, [&](std::unique_ptr<Ranks> one) {
    Mesh mesh(std::move(one));
    Three sets(mesh, size);
    sets.read(mesh, path, options);
    sets.expect(options);
  });
}

std::vector<std::string> names_in(const TemporaryDirectory& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

const std::vector<std::vector<std::int64_t>> kSizes = {{24}, {13, 9}, {9, 8, 11}};

TEST(FieldsAsHdf5, ComeBackBitByBitOnOtherNumbersOfRanks) {
  const TemporaryDirectory directory;
  for (const auto& size : kSizes)
    for (const bool halo : {false, true})
      for (const auto& [writers, readers] : {std::pair{1, 3}, {2, 1}, {3, 4}, {4, 2}}) {
        SCOPED_TRACE(testing::Message() << size.size() << " dimensions, " << writers << " write, " << readers
                                        << " read, halo " << halo);
        const Hdf5Options options = with_portion(100, halo);
        write_three(writers, size, directory / "fields.h5", options);
        EXPECT_THAT(names_in(directory), ElementsAre("fields.h5"));
        read_three(readers, size, directory / "fields.h5", options);
      }
}

TEST(FieldsAsHdf5, OfManyDataSetsComeBack) {
  const TemporaryDirectory directory;
  const auto with_all = [&](const std::function<void(Mesh&, Data<double>&, std::uint64_t)>& does, bool writes) {
    Mesh mesh;
    const Block& block = mesh.block("plate", kSizes[1]);
    std::vector<const Dataset*> all;
    for (std::uint64_t i = 0; i < 50; ++i) {
      auto& set = mesh.data(block, "set" + std::to_string(i), Three::shape({}));
      all.push_back(&set);
      does(mesh, set, i);
    }
    if (writes) write_hdf5(mesh, directory / "fields.h5", all);
  };
  with_all([](Mesh&, Data<double>& set, std::uint64_t i) { fill_with_bits(set, i); }, true);
  const auto read_back = [&](Mesh& mesh, Data<double>& set, std::uint64_t i) {
    read_hdf5(mesh, directory / "fields.h5", set);
    EXPECT_EQ(others_than(set, set.inner(), i), 0);
  };
  with_all(read_back, false);
}

TEST(FieldsAsHdf5, AreWholeWhateverAPortionIs) {
  const TemporaryDirectory directory;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{24}, std::size_t{1000}, std::size_t{8} << 20U}) {
    write_three(4, kSizes[2], directory / "fields.h5", with_portion(bytes, true));
    read_three(2, kSizes[2], directory / "fields.h5", with_halo());
  }
}

TEST(FieldsAsHdf5, WithoutTheirHalosComeOutOfAFileThatHasThem) {
  const TemporaryDirectory directory;
  write_three(2, kSizes[1], directory / "fields.h5", with_halo());
  read_three(3, kSizes[1], directory / "fields.h5", {});
}

TEST(FieldsAsHdf5, AreReadAndWrittenInSlabs) {
  const TemporaryDirectory directory;
  const Box slab = box({{-2, 5}, {3, 11}}), within = box({{0, 2}, {3, 9}});
  for (const auto& [writers, readers] : {std::pair{1, 4}, {4, 1}, {3, 2}}) {
    write_three(writers, kSizes[1], directory / "slab.h5", of_slab(slab));
    read_three(readers, kSizes[1], directory / "slab.h5", of_slab(slab));
    read_three(readers, kSizes[1], directory / "slab.h5", of_slab(within));
  }
}

TEST(FieldsAsHdf5, OfEachProcessArePutTogetherOnAnyNumberOfRanks) {
  for (const auto& size : kSizes)
    for (const int writers : {1, 3, 4}) {
      const TemporaryDirectory directory;
      const Hdf5Options options = of_each_process(true);
      write_three(writers, size, directory / "fields.h5", options);
      EXPECT_EQ(names_in(directory).size(), static_cast<std::size_t>(writers));
      EXPECT_EQ(names_in(directory).back(), "fields.000" + std::to_string(writers - 1) + ".h5");
      for (const int readers : {1, 2, 3, 4}) {
        SCOPED_TRACE(testing::Message() << size.size() << " dimensions, " << writers << " write, " << readers
                                        << " read");
        read_three(readers, size, directory / "fields.h5", options);
        read_three(readers, size, directory / "fields.h5", of_each_process());
      }
    }
}

TEST(FieldsAsHdf5, OfEachProcessMayBeASlabOfWhichSomeHaveNothing) {
  const TemporaryDirectory directory;
  const Hdf5Options options = of_slab(box({{0, 3}, {-1, 2}}), Form::per_process);
  write_three(4, kSizes[1], directory / "fields.h5", options);
  EXPECT_EQ(names_in(directory).size(), 4U);
  for (const int readers : {1, 4}) read_three(readers, kSizes[1], directory / "fields.h5", options);
}

TEST(FieldsAsHdf5, OfFewerProcessesLeaveOlderFilesOfMoreAlone) {
  const TemporaryDirectory directory;
  const Hdf5Options options = of_each_process();
  std::ofstream(directory / "fields.0003.h5") << "of an earlier run";
  write_three(2, kSizes[1], directory / "fields.h5", options);
  read_three(4, kSizes[1], directory / "fields.h5", options);
}

TEST(FieldsAsHdf5, AreCalledAsTheirRank) {
  EXPECT_EQ(path_of_rank("fields.h5", 3), "fields.0003.h5");
  EXPECT_EQ(path_of_rank("a.b/fields", 12345), "a.b/fields.12345");
  EXPECT_EQ(path_of_rank("/a.b/.h5", 0), "/a.b/.h5.0000");
  EXPECT_EQ(path_of_rank("a/fields.step.h5", 10), "a/fields.step.0010.h5");
}

TEST(FieldsAsHdf5, ThatWereReadAreFetchedByNeighbours) {
  const TemporaryDirectory directory;
  write_three(1, {24}, directory / "fields.h5", {});
  on_ranks(3, [&](std::unique_ptr<Ranks> one) {
    Mesh mesh(std::move(one));
    Three sets(mesh, {24});
    auto& right = mesh.data<int>(sets.block, "right");
    const auto shift = [&] {
      mesh.par_loop(
          "shift", sets.block, box({{0, 24}}), [](const auto& from, auto& to) { to(0) = from(1); },
          mesh::read(sets.faces, Stencil::from_to({0}, {1})), write(right));
    };
    shift();  // ghosts are valid and zero
    sets.read(mesh, directory / "fields.h5", {});
    shift();
    for (std::int64_t x = std::max<std::int64_t>(right.owned().begin[0], 0);
         x < std::min<std::int64_t>(right.owned().end[0], 24); ++x)
      EXPECT_EQ(*right.at({x}), bits_at<int>({x + 1}, 3)) << x;
  });
}

// Returns the text that `does` throws; it must be the same on each rank.
std::string complaint_on(int ranks, const std::function<void(Mesh&)>& does) {
  std::mutex mutex;
  std::vector<std::string> texts;
  on_ranks(ranks, [&](std::unique_ptr<Ranks> one) {
    Mesh mesh(std::move(one));
    std::string text;
    try {
      does(mesh);
    } catch (const std::runtime_error& refused) {
      text = refused.what();
    }
    const std::lock_guard guard(mutex);
    texts.push_back(text);
  });
  for (const auto& text : texts) EXPECT_EQ(text, texts.front());
  return texts.front();
}

TEST(FieldsAsHdf5, AreNotReadFromWhatHasOthers) {
  const TemporaryDirectory directory;
  const std::string path = directory / "fields.h5";
  write_three(1, {13, 9}, path, {});
  write_three(2, {13, 9}, directory / "slab.h5", of_slab(box({{0, 5}, {0, 9}})));
  std::ofstream(directory / "text.h5") << "no HDF5";
  std::filesystem::create_directory(directory / "directory.h5");
  for (const int ranks : {1, 3}) {
    const auto reading = [&](const std::string& from, const std::vector<std::int64_t>& size, auto type,
                             const std::string& name, const Hdf5Options& options = {}) {
      return complaint_on(ranks, [&](Mesh& mesh) {
        const Block& block = mesh.block("plate", size);
        read_hdf5(mesh, from, mesh.data<decltype(type)>(block, name), options);
      });
    };
    EXPECT_EQ(reading(path, {13, 9}, double{}, "cells"), "");
    EXPECT_EQ(reading(directory / "none.h5", {13, 9}, double{}, "cells"),
              "mesh: reading '" + directory / "none.h5" + "': opening the file failed: No such file or directory");
    EXPECT_THAT(reading(directory / "text.h5", {13, 9}, double{}, "cells"),
                HasSubstr("opening it as an HDF5 file failed: "));
    EXPECT_THAT(reading(directory.path() + "/directory.h5", {13, 9}, double{}, "cells"), HasSubstr("directory.h5': "));
    EXPECT_THAT(reading(path, {13, 9}, double{}, "cell"), HasSubstr("fields.h5': it has no data set 'cell'"));
    EXPECT_THAT(reading(path, {13, 9}, float{}, "cells"),
                HasSubstr("data set 'cells' has elements of type f8 there, and type f4 here"));
    EXPECT_THAT(reading(path, {13, 9}, 0U, "faces"), HasSubstr("type i4 there, and type u4 here"));
    EXPECT_THAT(reading(path, {13, 9}, true, "cells"), HasSubstr("type b1, which are no integers or reals"));
    EXPECT_THAT(reading(path, {13, 9, 6}, double{}, "cells"),
                HasSubstr("data set 'cells' has 2 dimensions there, and 3 here"));
    EXPECT_THAT(reading(path, {9, 13}, double{}, "cells"),
                HasSubstr("data set 'cells' has 13 x 9 elements there, and 9 x 13 here"));
    EXPECT_THAT(reading(path, {13, 9}, int{}, "faces"), HasSubstr("has 14 x 9 elements there, and 13 x 9 here"));
    EXPECT_THAT(reading(path, {13, 9}, double{}, "cells", with_halo()),
                HasSubstr("data set 'cells' has [0:13, 0:9] there, and [-2:15, -2:11] is to be read"));
    EXPECT_THAT(reading(directory / "slab.h5", {13, 9}, double{}, "cells"),
                HasSubstr("has [0:5, 0:9] there, and [0:13, 0:9] is to be read"));
    EXPECT_THAT(reading(path, {13, 9}, double{}, "cells", of_slab(box({{0, 1}}))),
                HasSubstr("the slab has other dimensions than data set 'cells'"));
    EXPECT_THAT(reading(path, {13, 9}, double{}, "cells", of_slab(box({{0, 16}, {0, 1}}))),
                HasSubstr("the slab [0:16, 0:1] is not in data set 'cells', which is [-2:15, -2:11]"));
  }
}

TEST(FieldsAsHdf5, OfEachProcessAreRefusedWhereOneIsMissingOrAnothers) {
  const TemporaryDirectory directory;
  const Hdf5Options options = of_each_process();
  const std::string path = directory / "fields.h5";
  const auto reading = [&](int ranks, const Hdf5Options& how) {
    return complaint_on(ranks, [&](Mesh& mesh) {
      Three sets(mesh, kSizes[1]);
      sets.read(mesh, path, how);
    });
  };
  EXPECT_THAT(reading(2, options), HasSubstr("fields.0000.h5': opening the file failed: No such file"));
  write_three(3, kSizes[1], path, options);
  EXPECT_EQ(reading(2, options), "");
  EXPECT_THAT(reading(2, of_each_process(true)), HasSubstr("fields.h5': the files of all ranks lack [-2:0, "));
  std::filesystem::rename(directory / "fields.0002.h5", directory / "moved.h5");
  EXPECT_THAT(reading(3, options), HasSubstr("fields.0002.h5': opening the file failed: No such file"));
  write_three(4, kSizes[1], directory / "more.h5", options);
  std::filesystem::rename(directory / "more.0002.h5", directory / "fields.0002.h5");
  EXPECT_THAT(reading(3, options), HasSubstr("fields.0002.h5': it is of another number of ranks than the first file"));
  write_three(1, kSizes[1], directory / "fields.0000.h5", {});
  EXPECT_THAT(reading(3, options), HasSubstr("fields.0000.h5': it does not say of how many ranks there are files"));
}

// Writes a data set as another program would, without attributes; without elements if `all` is empty.
void write_foreign(const std::string& path, const std::vector<hsize_t>& extents, const std::vector<std::int16_t>& all) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
  const hid_t set = H5Dcreate2(file, "height", H5T_STD_I16BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (!all.empty()) {
    EXPECT_GE(H5Dwrite(set, H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()), 0);
  }
  EXPECT_GE(H5Dclose(set), 0);
  EXPECT_GE(H5Sclose(space), 0);
  EXPECT_GE(H5Fclose(file), 0);
}

TEST(FieldsAsHdf5, OfOtherProgramsHaveJustWhatIsToBeRead) {
  const TemporaryDirectory directory;
  std::vector<std::int16_t> rows(3 * 5);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int16_t>(i);
  write_foreign(directory / "foreign.h5", {3, 5}, rows);
  write_foreign(directory / "turned.h5", {5, 3}, rows);
  const auto reading = [&](const std::string& path, const Hdf5Options& options, std::int64_t y) {
    return complaint_on(2, [&](Mesh& mesh) {
      auto& height = mesh.data<std::int16_t>(mesh.block("plate", {5, y}), "height");
      read_hdf5(mesh, path, height, options);
      const Box filled = intersection(height.owned(), options.slab.value_or(height.inner()));
      each_row(filled, [&](Index at) {
        for (; at[0] < filled.end[0]; ++at[0])
          EXPECT_EQ(*height.at(at), at[0] + 5 * (at[1] - (options.slab ? options.slab->begin[1] : 0)));
      });
    });
  };
  EXPECT_EQ(reading(directory / "foreign.h5", {}, 3), "") << "in the other order of bytes, x last";
  EXPECT_EQ(reading(directory / "foreign.h5", of_slab(box({{0, 5}, {2, 5}})), 6), "");
  EXPECT_THAT(
      reading(directory / "turned.h5", {}, 3),
      HasSubstr("'height' has 3 x 5 elements, without their first_index, there, and 5 x 3 are to be read here"));
}

TEST(FieldsAsHdf5, OfOtherProgramsAreRefusedWhereNobodyWroteThemOrTheirAttributesSaySomethingElse) {
  const TemporaryDirectory directory;
  const std::string path = directory / "foreign.h5";
  const auto reading = [&] {
    return complaint_on(2, [&](Mesh& mesh) {
      read_hdf5(mesh, path, mesh.data<std::int16_t>(mesh.block("plate", {5, 3}), "height"));
    });
  };
  write_foreign(path, {3, 5}, {});
  EXPECT_THAT(reading(), HasSubstr("data set 'height' has 15 elements of 2 bytes, of which the file has 0"));
  write_foreign(path, {3, 5}, std::vector<std::int16_t>(15));
  EXPECT_EQ(reading(), "");
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, "height", H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(set, "first_index", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_TRUE(H5Aclose(attribute) >= 0 && H5Sclose(space) >= 0 && H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
  EXPECT_THAT(reading(), HasSubstr("the attribute first_index is not 2 integers"));
}

TEST(FieldsAsHdf5, AreRefusedBeforeAFileIsMade) {
  const TemporaryDirectory directory;
  const auto writing = [&](const std::function<void(Mesh&, Three&)>& does) {
    return complaint_on(2, [&](Mesh& mesh) {
      Three sets(mesh, kSizes[1]);
      does(mesh, sets);
    });
  };
  const std::string path = directory / "fields.h5";
  EXPECT_EQ(writing([&](Mesh& mesh, Three&) { write_hdf5(mesh, path, {}); }),
            "mesh: writing '" + path + "': there is no data set to write");
  EXPECT_THAT(writing([&](Mesh& mesh, Three& sets) {
                write_hdf5(mesh, path, {&sets.cells, &sets.nodes, &sets.cells});
              }),
              HasSubstr("data set 'cells' is to be written twice"));
  EXPECT_THAT(writing([&](Mesh& mesh, Three& sets) {
                write_hdf5(mesh, path, {&sets.cells}, of_slab(box({{0, 0}, {0, 1}})));
              }),
              HasSubstr("the slab [0:0, 0:1] is not in data set 'cells'"));
  EXPECT_THAT(writing([&](Mesh& mesh, Three& sets) {
                write_hdf5(mesh, path, {&mesh.data<std::complex<double>>(sets.block, "waves")});
              }),
              HasSubstr("data set 'waves' has elements of type c16, which are no integers or reals"));
  EXPECT_THAT(names_in(directory), ElementsAre());
}

TEST(FieldsAsHdf5, ThatCannotBeWrittenSaySoOnAllRanksAndLeaveNothing) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "directory.h5");
  std::ofstream(directory / "file") << "no directory";
  for (const Form form : {Form::whole, Form::per_process})
    for (const int ranks : {1, 4}) {
      const auto writing = [&](const std::string& path) {
        return complaint_on(ranks, [&](Mesh& mesh) {
          Three sets(mesh, kSizes[1]);
          write_hdf5(mesh, path, sets.all(), form == Form::whole ? Hdf5Options() : of_each_process());
        });
      };
      EXPECT_THAT(writing(directory / "none/fields.h5"), HasSubstr("h5': making the file failed: No such file"));
      EXPECT_THAT(writing(directory / "file/fields.h5"), HasSubstr("h5': making the file failed: Not a directory"));
      EXPECT_THAT(writing("/proc/fields.h5"), HasSubstr("h5': making the file failed: "));
      if (form == Form::per_process) continue;
      EXPECT_THAT(writing(directory / "directory.h5"),
                  HasSubstr("h5': giving the file its name failed: Is a directory"));
    }
  EXPECT_THAT(names_in(directory), ElementsAre("directory.h5", "file"));
}

/// A rank to which something happens before one of its exchanges.
class StruckRank final : public Ranks {
 public:
  StruckRank(std::unique_ptr<Ranks> ranks, int exchange, std::function<void()> what)
      : ranks_(std::move(ranks)), until_(exchange), what_(std::move(what)) {}
  int rank() const override { return ranks_->rank(); }
  int size() const override { return ranks_->size(); }
  void exchange(std::span<const Message> receives, std::span<const Message> sends) override {
    if (until_-- == 0) what_();
    ranks_->exchange(receives, sends);
  }
  void combine(std::span<double> values, Combine how) override { ranks_->combine(values, how); }
  void combine(std::span<std::int64_t> sums) override { ranks_->combine(sums); }

 private:
  std::unique_ptr<Ranks> ranks_;
  int until_;
  std::function<void()> what_;
};

struct DiedWriting {};

// Strikes one of two ranks. Returns the error text of all ranks once it can go on.
std::string struck(const std::string& path, int which, int exchange, const std::function<void()>& what,
                   std::int64_t cells = 13) {
  std::array<std::string, 2> said;
  on_ranks(2, [&](std::unique_ptr<Ranks> one) {
    const auto rank = static_cast<std::size_t>(one->rank());
    if (one->rank() == which) one = std::make_unique<StruckRank>(std::move(one), exchange, what);
    Mesh mesh(std::move(one));
    Three sets(mesh, {cells, 9});
    fill_with_bits(sets.cells, 99);
    try {
      write_hdf5(mesh, path, sets.all(), with_portion(100));
    } catch (const std::runtime_error& error) {
      said[rank] = error.what();
    }
  });
  EXPECT_EQ(said[0], said[1]);
  return said[0];
}

TEST(FieldsAsHdf5, HaveTheirNameOnlyWhenTheyAreWhole) {
  const TemporaryDirectory directory;
  const std::string path = directory / "fields.h5";
  const auto dies = [] { throw DiedWriting(); };
  EXPECT_THROW(struck(path, 1, 3, dies), DiedWriting);
  EXPECT_THAT(names_in(directory), ElementsAre());
  write_three(2, {13, 9}, path, {});
  EXPECT_THROW(struck(path, 0, 3, dies), DiedWriting);
  EXPECT_THAT(names_in(directory), ElementsAre("fields.h5"));
  read_three(1, {13, 9}, path, {});  // written earlier
}

TEST(FieldsAsHdf5, OfAProcessThatDiedAreNotUnderTheirName) {
  const TemporaryDirectory directory;
  const std::string path = directory / "fields.h5";
  const pid_t child = ::fork();
  if (child == 0) {
    struck(path, 0, 3, [] { ::_exit(9); });
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 9);
  EXPECT_THAT(names_in(directory), ElementsAre("fields.h5.part"));
  write_three(2, {13, 9}, path, {});
  EXPECT_THAT(names_in(directory), ElementsAre("fields.h5"));
  read_three(3, {13, 9}, path, {});
}

TEST(FieldsAsHdf5, ForWhichThereIsNoRoomSaySoOnAllRanks) {
  const TemporaryDirectory directory;
  const std::string path = directory / "fields.h5";
  const auto writing = [&](const Hdf5Options& options) {
    return complaint_on(3, [&](Mesh& mesh) {
      Three sets(mesh, kSizes[1]);
      write_hdf5(mesh, path, sets.all(), options);
    });
  };
  const std::string no_room = "': making the file failed: No space left on device";
  std::filesystem::create_symlink("/dev/full", path + ".part");
  EXPECT_EQ(writing({}), "mesh: writing '" + path + no_room);
  std::filesystem::create_symlink("/dev/full", path_of_rank(path, 2) + ".part");
  EXPECT_EQ(writing(of_each_process()), "mesh: writing '" + path_of_rank(path, 2) + no_room);
  EXPECT_THAT(names_in(directory), ElementsAre());
}

// From now on the device is full for this process's open files of that name.
void fill_device_of(const std::string& path) {
  const int full = ::open("/dev/full", O_RDWR | O_CLOEXEC);
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == path) found.push_back(std::stoi(entry.path().filename()));
  }
  EXPECT_EQ(found.size(), 1U);
  for (const int file : found) EXPECT_GE(::dup2(full, file), 0);
  ::close(full);
}

TEST(FieldsAsHdf5, OnADeviceThatBecomesFullAreAsTheyWereBefore) {
  const TemporaryDirectory directory;
  const std::string path = directory / "fields.h5";
  write_three(1, {13, 9}, path, {});
  // HDF5 writes small elements at the end of the file, and large ones earlier.
  for (const std::int64_t cells : {13, 3000})
    EXPECT_THAT(struck(
                    path, 0, 3, [&] { fill_device_of(path + ".part"); }, cells),
                AllOf(HasSubstr("mesh: writing '" + path + "': "), HasSubstr("failed: No space left on device")));
  EXPECT_THAT(names_in(directory), ElementsAre("fields.h5"));
  read_three(1, {13, 9}, path, {});
}

struct FollowedLooks : Follower {
  FollowedLooks(bool runs, std::vector<std::string>& all) : runs_(runs), all_(all) {}
  bool loop(track::LoopId, std::string_view name, std::span<const track::Access> accesses, bool) override {
    all_.emplace_back(name);
    for (const auto& access : accesses) all_.push_back(std::to_string(access.set) + " " + access.read.text());
    return runs_;
  }
  bool knows_answer() const override { return false; }
  void answer(std::span<std::byte>) override {}
  bool wants_checkpoint() override { return false; }
  void checkpoint_is_wanted() override {}

 private:
  bool runs_;
  std::vector<std::string>& all_;
};

TEST(FieldsAsHdf5, AreOneLookForWhoFollows) {
  const TemporaryDirectory directory;
  for (const bool runs : {false, true}) {
    Mesh mesh;
    Three sets(mesh, {13, 9});
    std::vector<std::string> told;
    mesh.follow(std::make_unique<FollowedLooks>(runs, told));
    EXPECT_EQ(write_hdf5(mesh, directory / "fields.h5", {&sets.cells, &sets.nodes}), runs);
    EXPECT_THAT(told, ElementsAre("write_hdf5", "0 [0:13, 0:9]", "1 [0:14, 0:10]"));
    EXPECT_EQ(names_in(directory).size(), runs ? 1U : 0U) << "what is skipped is not what it will be";
  }
}

TEST(FieldsAsHdf5, AreNotReadBehindProtect) {
  const TemporaryDirectory directory;
  write_three(1, {13, 9}, directory / "fields.h5", {});
  std::vector<std::string> told;
  EXPECT_THAT(complaint_on(2,
                           [&](Mesh& mesh) {
                             Three sets(mesh, {13, 9});
                             mesh.follow(std::make_unique<FollowedLooks>(true, told));
                             sets.read(mesh, directory / "fields.h5", {});
                           }),
              HasSubstr("fields.h5': behind protect() no checkpoint and no restart would know of it: read before"));
  EXPECT_THAT(told, ElementsAre());
}

}  // namespace
}  // namespace perdure::mesh
