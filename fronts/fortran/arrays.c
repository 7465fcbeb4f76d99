/* Registers parts of arrays for the Fortran front, through perdure.h. */
#include "declared.h"

void perdure_fortran_protect_array(fortran_handle* handle, int kind, int id, const CFI_cdesc_t* part, const char* name,
                                   const char* unit, const char* description, const char* type, int bytes,
                                   const CFI_cdesc_t* extents, const CFI_cdesc_t* first, const CFI_cdesc_t* ghosts,
                                   int fill_ghosts, int* status);

static perdure_status protect_array(perdure_t* handle, int kind, int id, const CFI_cdesc_t* part,
                                    const declared* says) {
  turned to;
  perdure_fortran_turn(kind, part, says, &to);
  if (kind == kind_list) return perdure_protect_list(handle, id, &to.array, to.address, to.extents[0]);
  if (kind == kind_replicated) return perdure_protect_replicated(handle, id, &to.array, to.address);
  return perdure_protect_global(handle, id, &to.array, &to.box, to.boxes);
}

void perdure_fortran_protect_array(fortran_handle* handle, int kind, int id, const CFI_cdesc_t* part, const char* name,
                                   const char* unit, const char* description, const char* type, int bytes,
                                   const CFI_cdesc_t* extents, const CFI_cdesc_t* first, const CFI_cdesc_t* ghosts,
                                   int fill_ghosts, int* status) {
  int64_t numbers[3][most_dimensions] = {{0}};
  const declared says = {.name = name,
                         .unit = unit,
                         .description = description,
                         .type = type,
                         .dimensions = perdure_fortran_dimensions(extents, first, ghosts, numbers),
                         .extents = numbers[0],
                         .first = numbers[1],
                         .ghosts = numbers[2],
                         .fill_ghosts = fill_ghosts,
                         .bytes = bytes};
  char why[256];
  if (perdure_fortran_refuse(handle, id, perdure_fortran_array_refusal(kind, part, &says, why, sizeof why)))
    *status = PERDURE_INVALID_ARGUMENT;
  else
    *status = (int)protect_array(handle->native, kind, id, part, &says);
}
