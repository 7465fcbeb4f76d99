/* Does the part of module perdure_track that Fortran cannot express: it finds out where arrays of any kind and rank
 * lie. */
#include <stdio.h>

#include "declared.h"
#include "perdure/perdure_track.h"

/** type(perdure_tracker) of perdure_track.f90. */
typedef struct fortran_tracker {
  perdure_track_t* native;
  int refused; /* 1: the front refused a call, which ended the tracking; `text` says why */
  char text[text_bytes];
} fortran_tracker;

/** type(perdure_data) of perdure_track.f90. */
typedef struct fortran_data {
  int number;
  int dimensions;
  size_t element_bytes;
} fortran_data;

void perdure_fortran_track_array(fortran_tracker* track, int kind, const CFI_cdesc_t* part, const char* name,
                                 const char* unit, const char* description, const char* type, int bytes,
                                 const CFI_cdesc_t* extents, const CFI_cdesc_t* first, fortran_data* data, int* status);
void perdure_fortran_track_moved(fortran_tracker* track, const fortran_data* data, const CFI_cdesc_t* part,
                                 const CFI_cdesc_t* first, int* status);
void perdure_fortran_track_place(const CFI_cdesc_t* value, void** address, size_t* bytes);
void perdure_fortran_track_refuse(fortran_tracker* track, const char* what, const char* why, int* status);

/** Notes that the front refuses `what`. If the tracking had ended before, the status says that instead. */
void perdure_fortran_track_refuse(fortran_tracker* track, const char* what, const char* why, int* status) {
  perdure_track_info info;
  *status = (int)perdure_track_get_info(track->native, &info);
  if (*status != PERDURE_OK) return;
  *status = PERDURE_INVALID_ARGUMENT;
  track->refused = 1;
  (void)snprintf(track->text, sizeof track->text, "%.128s: %.800s", what, why);
}

static perdure_status declare(perdure_track_t* track, int kind, const CFI_cdesc_t* part, const declared* says,
                              int* number) {
  turned to;
  perdure_fortran_turn(kind, part, says, &to);
  if (kind == kind_replicated) return perdure_track_replicated(track, &to.array, to.address, number);
  return perdure_track_array(track, &to.array, &to.box, to.boxes, number);
}

void perdure_fortran_track_array(fortran_tracker* track, int kind, const CFI_cdesc_t* part, const char* name,
                                 const char* unit, const char* description, const char* type, int bytes,
                                 const CFI_cdesc_t* extents, const CFI_cdesc_t* first, fortran_data* data,
                                 int* status) {
  int64_t numbers[3][most_dimensions] = {{0}};
  const declared says = {.name = name,
                         .unit = unit,
                         .description = description,
                         .type = type,
                         .dimensions = perdure_fortran_dimensions(extents, first, NULL, numbers),
                         .extents = numbers[0],
                         .first = numbers[1],
                         .ghosts = numbers[2],
                         .bytes = bytes};
  char what[128], room[256];
  (void)snprintf(what, sizeof what, "data '%.100s'", name);
  const char* why = perdure_fortran_array_refusal(kind, part, &says, room, sizeof room);
  if (why != NULL) {
    perdure_fortran_track_refuse(track, what, why, status);
    return;
  }
  *status = (int)declare(track->native, kind, part, &says, &data->number);
  data->dimensions = part->rank;
  data->element_bytes = part->elem_len;
}

static const char* why_not_there(const fortran_data* data, const CFI_cdesc_t* part, int dimensions) {
  if (part->rank != data->dimensions || dimensions != data->dimensions)
    return "where it lies now, or first, has not as many dimensions as it has (invalid-argument)";
  if (part->elem_len != data->element_bytes)
    return "its elements have another size where it lies now (invalid-argument)";
  return perdure_fortran_refusal(part, 1);
}

void perdure_fortran_track_moved(fortran_tracker* track, const fortran_data* data, const CFI_cdesc_t* part,
                                 const CFI_cdesc_t* first, int* status) {
  char what[32];
  turned to;
  (void)snprintf(what, sizeof what, "data %d", data->number);
  int64_t numbers[most_dimensions] = {0};
  const char* why = why_not_there(data, part, perdure_fortran_numbers(first, numbers));
  if (why != NULL) {
    perdure_fortran_track_refuse(track, what, why, status);
    return;
  }
  perdure_fortran_turn_box(part, numbers, &to);
  *status = (int)perdure_track_moved(track->native, data->number, &to.box, to.boxes);
}

/** Gives no address if the value is not contiguous, or has no elements. */
void perdure_fortran_track_place(const CFI_cdesc_t* value, void** address, size_t* bytes) {
  const int refused = perdure_fortran_refusal(value, 0) != NULL;
  *bytes = refused ? 0 : perdure_fortran_elements(value) * value->elem_len;
  *address = *bytes == 0 ? NULL : value->base_addr;
}
