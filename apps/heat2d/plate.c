#include "plate.h"

#include <mpi.h>
#include <stdlib.h>

static size_t cells(const plate* p) { return (size_t)(p->rows + 2) * (size_t)(p->width + 2); }

plate plate_make(app_t* app) {
  plate p;
  const int rank = app_rank(app), ranks = app_ranks(app);
  p.app = app;
  p.width = app_integer(app, "width", 256);
  p.height = app_integer(app, "height", 256);
  p.rows = app_share(p.height, ranks, rank);
  p.first = app_first(p.height, ranks, rank);
  p.above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  p.below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  p.step = 0;
  p.now = calloc(cells(&p), sizeof(double));
  p.next = calloc(cells(&p), sizeof(double));
  if (p.now == NULL || p.next == NULL) app_require(app, NULL, PERDURE_NO_SPACE, "no memory for the plate");
  if (rank == 0) {
    for (long j = 0; j < p.width + 2; ++j) p.now[j] = p.next[j] = 1.0;
  }
  return p;
}

void plate_free(plate* p) {
  free(p->now);
  free(p->next);
}

static void exchange_halo(plate* p) {
  const long line = p->width + 2;
  double* first = p->now + line;
  double* last = p->now + p->rows * line;
  const int count = (int)line;
  MPI_Sendrecv(first, count, MPI_DOUBLE, p->above, 1, last + line, count, MPI_DOUBLE, p->below, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(last, count, MPI_DOUBLE, p->below, 2, p->now, count, MPI_DOUBLE, p->above, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

void plate_advance(plate* p) {
  const long line = p->width + 2;
  exchange_halo(p);
  for (long i = 1; i <= p->rows; ++i) {
    const double* row = p->now + i * line;
    double* out = p->next + i * line;
    for (long j = 1; j <= p->width; ++j) {
      out[j] = 0.25 * ((row[j - line] + row[j + line]) + (row[j - 1] + row[j + 1]));
    }
  }
}

void plate_swap(plate* p) {
  double* swap = p->now;
  p->now = p->next;
  p->next = swap;
  ++p->step;
}

void plate_hash(const plate* p) {
  const size_t line = (size_t)p->width + 2;
  app_hash(p->app, p->now + line, (size_t)p->rows * line * sizeof(double));
}

void plate_describe(const plate* p, double* cells_of, const char* name, plate_part* part) {
  const long line = p->width + 2;
  part->extents[0] = (uint64_t)p->height;
  part->extents[1] = (uint64_t)p->width;
  part->begin[0] = (uint64_t)p->first;
  part->begin[1] = 0;
  part->end[0] = (uint64_t)(p->first + p->rows);
  part->end[1] = (uint64_t)p->width;
  part->strides[0] = line * (long)sizeof(double);
  part->strides[1] = sizeof(double);
  const perdure_array array = {.name = name,
                               .type = "f8",
                               .dimensions = 2,
                               .extents = part->extents,
                               .unit = "1",
                               .description = "of the plate, without its frame; the upper edge is at 1"};
  const perdure_box rows = {cells_of + line + 1, part->begin, part->end, part->strides};
  part->array = array;
  part->rows = rows;
  part->boxes = p->rows > 0 && p->width > 0 ? 1 : 0;
}
