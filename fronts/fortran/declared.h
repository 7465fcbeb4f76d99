/* Translates a Fortran program's declaration of an array into that of perdure.h, whose dimensions go the other way
 * round.
 */
#ifndef PERDURE_FORTRAN_DECLARED_H
#define PERDURE_FORTRAN_DECLARED_H

#include "descriptor.h"

enum { kind_global = 0, kind_list = 1, kind_replicated = 2 };

/** A Fortran declaration without the elements. Texts end with 0; "" is none. Numbers are in Fortran's order. */
typedef struct declared {
  const char *name, *unit, *description, *type;
  int dimensions; /* number of extents, first and ghosts; for lists and replicated arrays, that of the elements
                     themselves */
  const int64_t *extents, *first;
  const int64_t* ghosts; /* all 0: none */
  int fill_ghosts;
  int bytes; /* 1: elements of a derived type have no allocatable or pointer components */
} declared;

/** The same declaration for perdure.h. It refers to itself, to `declared` and to the elements, and is not copied. */
typedef struct turned {
  char type[32];
  uint64_t extents[most_dimensions], ghosts[most_dimensions], begin[most_dimensions], end[most_dimensions];
  int64_t strides[most_dimensions];
  perdure_array array;
  void* address;   /* address of the first element; NULL: there is none */
  perdure_box box; /* for kind_global only */
  size_t boxes;    /* 0: this rank has no element */
} turned;

/** Reads the numbers of `extents`, `first` and `ghosts`, which may be none, in this order. Returns their number, which
 * is that of the dimensions for each. -1: the numbers differ, or are not integers. */
int perdure_fortran_dimensions(const CFI_cdesc_t* extents, const CFI_cdesc_t* first, const CFI_cdesc_t* ghosts,
                               int64_t numbers[3][most_dimensions]);
/** Says why the front refuses it, in `why` or elsewhere; NULL when it does not. */
const char* perdure_fortran_array_refusal(int kind, const CFI_cdesc_t* part, const declared* says, char* why,
                                          size_t room);
/** Translates a declaration that was not refused. */
void perdure_fortran_turn(int kind, const CFI_cdesc_t* part, const declared* says, turned* out);
/** Translates its box only: `first` has as many numbers as the part has dimensions. */
void perdure_fortran_turn_box(const CFI_cdesc_t* part, const int64_t* first, turned* out);

#endif
