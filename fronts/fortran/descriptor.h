/* The parts in C of the Fortran front share these declarations. */
#ifndef PERDURE_FORTRAN_DESCRIPTOR_H
#define PERDURE_FORTRAN_DESCRIPTOR_H

#include <ISO_Fortran_binding.h>

#include "perdure/perdure.h"

enum { text_bytes = 1024, most_dimensions = 8 };

/** type(perdure_handle) of perdure.f90. */
typedef struct fortran_handle {
  perdure_t* native;
  int refused;   /* 1: the front itself gives the reason of the last failure, in `text` */
  int retryable; /* only then: trying again can help */
  char text[text_bytes];
} fortran_handle;

size_t perdure_fortran_elements(const CFI_cdesc_t* region);
/** Writes the type of its elements as in perdure.h. Returns 0, with "v8", if they are only bytes to us. */
int perdure_fortran_type(const CFI_cdesc_t* region, char* text, size_t room);
/** Says why the front refuses it; NULL when it does not. `with_gaps`: it need not be contiguous. */
const char* perdure_fortran_refusal(const CFI_cdesc_t* region, int with_gaps);
/** Tells whether it is of a derived type, or an address: memory that it refers to would not be stored. */
int perdure_fortran_is_opaque(const CFI_cdesc_t* region);
/** Reads integers of any kind, 8 at most, and returns their number; -1: they are not integers. */
int perdure_fortran_numbers(const CFI_cdesc_t* given, int64_t* numbers);
extern const char perdure_fortran_opaque[]; /**< the reason for refusing such a region */
/** Notes that the front refuses region `id`, or, when `why` is NULL, that it does not. Returns true when it does. */
int perdure_fortran_refuse(fortran_handle* handle, int id, const char* why);

#endif
