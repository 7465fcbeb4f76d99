! Solves the heat equation by Jacobi iteration with halo exchange, protected through the Fortran module. Its twin
! heat2d.c describes the problem. A row there is a column here, so memory, numerics and final bits are the same.
program heat2d
  use iso_c_binding
  use iso_fortran_env, only: int64, real64
  use mpi
  use app
  use perdure
  implicit none
  type(c_ptr) :: this
  type(perdure_handle) :: handle
  real(real64), allocatable, target :: now(:, :), next(:, :)
  integer(int64), target :: step
  integer(c_long) :: steps, columns, width, first, height   ! columns of this rank, the first of them, and all
  integer :: above, below, code

  call mpi_init(code)
  this = app_begin("heat2d")
  steps = app_integer(this, "steps"//c_null_char, 100_c_long)
  call make_plate()
  if (app_checkpoints(this) /= 0) call open_and_restore()
  do while (step < steps)
    call app_step(this, int(step, c_long), steps)
    call advance()
    if (app_checkpoint_due(this, int(step, c_long)) /= 0) call checkpoint()
  end do
  call app_hash(this, now(:, 1:columns), int(columns*(width + 2)*8, c_size_t))
  call app_end(this, perdure_native(handle))
  if (c_associated(perdure_native(handle))) call perdure_close(handle, code)
  call mpi_finalize(code)

contains

  subroutine make_plate()
    integer :: rank, ranks
    rank = app_rank(this)
    ranks = app_ranks(this)
    width = app_integer(this, "width"//c_null_char, 256_c_long)
    height = app_integer(this, "height"//c_null_char, 256_c_long)
    columns = app_share(height, ranks, rank)
    first = app_first(height, ranks, rank) + 1
    above = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    below = merge(rank + 1, MPI_PROC_NULL, rank + 1 < ranks)
    step = 0
    allocate (now(0:width + 1, 0:columns + 1), next(0:width + 1, 0:columns + 1))
    now = 0
    if (rank == 0) now(:, 0) = 1
    next = now
  end subroutine

  subroutine exchange_halo()
    integer :: cells
    cells = int(width) + 2
    call mpi_sendrecv(now(:, 1), cells, MPI_DOUBLE_PRECISION, above, 1, now(:, columns + 1), cells, &
                      MPI_DOUBLE_PRECISION, below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call mpi_sendrecv(now(:, columns), cells, MPI_DOUBLE_PRECISION, below, 2, now(:, 0), cells, &
                      MPI_DOUBLE_PRECISION, above, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
  end subroutine

  subroutine advance()
    real(real64), allocatable, target :: swap(:, :)
    integer(c_long) :: i, j
    call exchange_halo()
    do i = 1, columns
      do j = 1, width
        next(j, i) = 0.25_real64*((now(j, i - 1) + now(j, i + 1)) + (now(j - 1, i) + now(j + 1, i)))
      end do
    end do
    call move_alloc(now, swap)
    call move_alloc(next, now)
    call move_alloc(swap, next)
    step = step + 1
  end subroutine

  !> Protects this rank's columns as a part of the plate, so that a run may resume on another number of ranks. Halo and
  !! frame lie around them in memory and are not stored. The two arrays alternate as the state, so the current one is
  !! protected anew each time.
  subroutine protect()
    call perdure_protect_global(handle, 0, now(1:width, 1:columns), "temperature", [width, height], [1_int64, first], &
                                code, unit="1", description="of the plate, without its frame; the upper edge is at 1")
    call app_require(this, perdure_native(handle), code, "cannot protect"//c_null_char)
    call perdure_protect_replicated(handle, 1, step, "step", code, description="iterations done")
    call app_require(this, perdure_native(handle), code, "cannot protect"//c_null_char)
  end subroutine

  subroutine open_and_restore()
    character(:), allocatable :: message
    integer(c_long) :: restored
    call perdure_open(handle, code, communicator=MPI_COMM_WORLD, message=message)
    call app_require(this, perdure_native(handle), code, "cannot open Perdure: "//message//c_null_char)
    call protect()
    call perdure_restore(handle, "heat2d", perdure_latest_version, code)
    restored = app_restored(this, perdure_native(handle), code)
  end subroutine

  subroutine checkpoint()
    real(real64) :: begin
    begin = MPI_Wtime()
    call protect()
    call perdure_checkpoint(handle, "heat2d", step, code)
    call app_checkpointed(this, perdure_native(handle), code, int(step, c_long), MPI_Wtime() - begin)
  end subroutine
end program
