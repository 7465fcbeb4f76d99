/* Writes an array of f8 from memory as a chunked HDF5 data set, as a program without Perdure does: plain_hdf5 ROWS
 * COLUMNS CHUNK_ROWS CHUNK_COLUMNS FILE. Prints the seconds until it is durable. */
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int write_array(const char* path, const hsize_t* extents, const hsize_t* chunk, const double* values) {
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple(2, extents, NULL);
  hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, 2, chunk);
  H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  hid_t set = H5Dcreate2(file, "field", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  int bad = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0;
  bad |= H5Dclose(set) < 0;
  H5Pclose(properties);
  H5Sclose(space);
  return bad | (H5Fclose(file) < 0);
}

static int sync_file(const char* path) {
  int fd = open(path, O_RDWR);
  int bad = fd < 0 || fsync(fd) != 0;
  if (fd >= 0) close(fd);
  return bad;
}

int main(int argc, char** argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: plain_hdf5 ROWS COLUMNS CHUNK_ROWS CHUNK_COLUMNS FILE\n");
    return 2;
  }
  const hsize_t extents[2] = {strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10)};
  const hsize_t chunk[2] = {strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10)};
  const size_t elements = (size_t)(extents[0] * extents[1]);
  double* values = malloc(elements * sizeof *values);
  if (values == NULL) return 1;
  for (size_t i = 0; i < elements; ++i) values[i] = (double)i;
  const double begin = now();
  const int bad = write_array(argv[5], extents, chunk, values) || sync_file(argv[5]);
  const double seconds = now() - begin;
  free(values);
  if (bad) fprintf(stderr, "plain_hdf5: %s cannot be written\n", argv[5]);
  if (!bad) printf("{\"seconds\": %.9f}\n", seconds);
  return bad;
}
