! Does the same as tracked.c in Fortran, as a single process. The argument is the directory of the store.
program tracked
  use iso_fortran_env, only: int64, real64
  use perdure
  use perdure_track
  implicit none
  type(perdure_handle) :: handle
  type(perdure_tracker) :: track
  type(perdure_track_info) :: info
  type(perdure_data) :: data
  real(real64), target :: state(10, 100), total
  character(4096) :: directory
  integer :: status, step
  logical :: run

  call get_command_argument(1, directory)
  call perdure_open(handle, status, options="store.path="//trim(directory)//"/store-tracked-fortran")
  if (status /= perdure_ok) error stop 1
  call perdure_track_open(handle, track, status, every_regions=5_int64, learns=10_int64)
  if (status /= perdure_ok) error stop 2
  state = 0
  total = 0
  call perdure_track_array(track, state, "state", [10_int64, 100_int64], [1_int64, 1_int64], data, status)
  call perdure_track_start(track, status)
  do step = 1, 30
    call perdure_track_begin(track, "add", [perdure_reads_writes(data), perdure_gives(total)], run, status)
    if (run) then
      state = state + 1
      total = total + sum(state)
      call perdure_track_end(track, status)
    end if
  end do
  call perdure_track_get_info(track, info, status)
  if (status /= perdure_ok .or. info%checkpoints == 0) error stop 3
  call perdure_track_close(track, status)
  if (status /= perdure_ok .or. nint(total) /= 465*1000) error stop 4
  call perdure_close(handle, status)
  if (status /= perdure_ok) error stop 5
end program
