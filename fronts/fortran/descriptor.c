/* The part of the Fortran front that Fortran cannot say: where an array of any kind and rank lies, and that it lies
 * there in one piece. The descriptor is looked at, never copied from: what is protected is the caller's own memory. */
#include <ISO_Fortran_binding.h>

#include "perdure/perdure.h"

/** type(perdure_handle) of perdure.f90. */
typedef struct fortran_handle {
  perdure_t* native;
  int refusal; /* why the front itself refused the last call; the numbers of refusal_text() in perdure.f90 */
} fortran_handle;

enum { refusal_none = 0, refusal_not_contiguous = 1, refusal_unknown_size = 2 };

void perdure_fortran_protect(fortran_handle* handle, const int* id, const CFI_cdesc_t* region, int* status);

static size_t element_count(const CFI_cdesc_t* region) {
  size_t count = 1;
  for (CFI_rank_t i = 0; i < region->rank; ++i) count *= (size_t)region->dim[i].extent;
  return count;
}

/** An assumed-size dummy (a(*)) knows its address but not its end. */
static int has_unknown_size(const CFI_cdesc_t* region) {
  return region->rank > 0 && region->dim[region->rank - 1].extent < 0;
}

static int is_contiguous(const CFI_cdesc_t* region) {
  CFI_index_t expected = (CFI_index_t)region->elem_len;
  for (CFI_rank_t i = 0; i < region->rank; ++i) {
    /* The stride of a dimension of one element is never used, so it may be anything. */
    if (region->dim[i].extent != 1 && region->dim[i].sm != expected) return 0;
    expected *= region->dim[i].extent;
  }
  return 1;
}

void perdure_fortran_protect(fortran_handle* handle, const int* id, const CFI_cdesc_t* region, int* status) {
  *status = PERDURE_INVALID_ARGUMENT;
  if (has_unknown_size(region)) {
    handle->refusal = refusal_unknown_size;
    return;
  }
  const size_t count = element_count(region);
  if (count > 0 && !is_contiguous(region)) {
    handle->refusal = refusal_not_contiguous;
    return;
  }
  handle->refusal = refusal_none;
  *status = (int)perdure_protect(handle->native, *id, count > 0 ? region->base_addr : NULL, region->elem_len, count);
}
