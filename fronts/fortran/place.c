/* Implements owners of the Fortran front: procedures that say where an array is now. */
#include <string.h>

#include "descriptor.h"

/** type(perdure_place) of perdure.f90. */
typedef struct fortran_place {
  void* address;
  int64_t count;
  int refusal; /* why it is no place, set at the procedure's entry; 0: it is one */
  char type[32];
} fortran_place;

enum { nothing_said = 1, not_in_one_piece = 2 };

typedef void (*fortran_locate)(fortran_place* place);

void perdure_fortran_set_place(fortran_place* place, const CFI_cdesc_t* array);
int perdure_fortran_follow(perdure_t* handle, int id, fortran_locate locate);

void perdure_fortran_set_place(fortran_place* place, const CFI_cdesc_t* array) {
  const int there = array->base_addr != NULL; /* otherwise it is not allocated, or a pointer without target */
  place->refusal = there && perdure_fortran_refusal(array, 0) != NULL ? not_in_one_piece : 0;
  place->count = there && place->refusal == 0 ? (int64_t)perdure_fortran_elements(array) : 0;
  place->address = place->count > 0 ? array->base_addr : NULL;
  (void)perdure_fortran_type(array, place->type, sizeof place->type);
}

static fortran_place ask(fortran_locate locate) {
  fortran_place place;
  memset(&place, 0, sizeof place);
  place.refusal = nothing_said;
  locate(&place);
  return place;
}

/** Does perdure_locate for a procedure, whose address is the owner. C knows no pointer to both. */
static int locate_place(void* owner, void** address, size_t* count) {
  fortran_locate locate;
  memcpy(&locate, &owner, sizeof locate);
  const fortran_place place = ask(locate);
  *address = place.address;
  *count = (size_t)place.count;
  return place.refusal;
}

/* Memory that moves may have another shape by then: only its type stays. A part of an array has its own declaration. */
int perdure_fortran_follow(perdure_t* handle, int id, fortran_locate locate) {
  void* owner = NULL;
  memcpy(&owner, &locate, sizeof owner);
  const perdure_status done = perdure_follow(handle, id, locate_place, owner);
  if (done != PERDURE_OK) return (int)done;
  const fortran_place place = ask(locate);
  (void)perdure_describe_elements(handle, id, place.type[0] == 'v' ? NULL : place.type, 0, NULL);
  return PERDURE_OK;
}
