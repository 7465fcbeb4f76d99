! Does the same as one.c in Fortran, as a single process. The argument is the directory of the store.
program one
  use iso_fortran_env, only: int64, real64
  use perdure
  implicit none
  type(perdure_handle) :: handle
  real(real64), target :: state(10, 100)
  character(4096) :: directory
  integer :: status

  call get_command_argument(1, directory)
  call perdure_open(handle, status, options="store.path="//trim(directory)//"/store-fortran")
  if (status /= perdure_ok) error stop 1
  state = 7
  call perdure_protect(handle, 0, state, status)
  call perdure_checkpoint(handle, "outside", 1_int64, status)
  if (status /= perdure_ok) error stop 2
  state = 0
  call perdure_restore(handle, "outside", perdure_latest_version, status)
  if (status /= perdure_ok .or. any(state /= 7)) error stop 3
  call perdure_close(handle, status)
  if (status /= perdure_ok) error stop 4
end program
