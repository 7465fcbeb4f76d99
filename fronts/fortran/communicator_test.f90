! A communicator of mpi_f08, or MPI's integer, opens Perdure. Run by ctest, as the only rank, with the directory to work in as
! argument. Status 1 when something failed.
program communicator_test
  use mpi_f08
  use expectation
  use perdure
  implicit none
  type(perdure_handle) :: handle
  character(1024) :: directory
  character(:), allocatable :: message
  type(MPI_Comm) :: copy
  integer :: status
  integer, target :: step

  call get_command_argument(1, directory)
  call MPI_Init()
  step = 12
  call MPI_Comm_dup(MPI_COMM_WORLD, copy)
  call perdure_open(handle, status, options=settings(), communicator=MPI_COMM_WORLD, message=message)
  call expect(status == perdure_ok, "of mpi_f08: "//message)
  call save(1)
  call perdure_open(handle, status, options=settings(), communicator=copy, message=message)
  call expect(status == perdure_ok, "of mpi_f08, a variable: "//message)
  call save(2)
  call perdure_open(handle, status, options=settings(), communicator=copy%mpi_val, message=message)
  call expect(status == perdure_ok, "MPI's integer: "//message)
  call save(3)
  call MPI_Comm_free(copy)
  call MPI_Finalize()
  if (failures > 0) error stop 1
  print '(a)', "all passed"

contains

  function settings() result(text)
    character(:), allocatable :: text
    text = "store.path="//trim(directory)//"/store;node.path="//trim(directory)//"/node;tier.file.path="// &
           trim(directory)//"/file;tier.memory.max_bytes=64MiB"
  end function

  subroutine save(version)
    integer, intent(in) :: version
    call perdure_protect(handle, 0, step, status)
    call perdure_checkpoint(handle, "run", version, status)
    call expect(status == perdure_ok, "checkpoint: "//perdure_error_text(handle))
    call perdure_close(handle, status)
    call expect(status == perdure_ok, "close")
  end subroutine
end program
