!> Module perdure_track is Perdure for Fortran 2018 programs that say around each piece of code what data it reads and writes.
!! Link with libperdure_track_fortran. The conventions, the meaning of every call and which are [collective] are those of
!! perdure_track.h. Every subroutine has a status: perdure_ok of module perdure, or a code for the failure.
!!
!!     call perdure_track_array(track, now(1:n, 1:m), "temperature", extents, first, now_data, status)
!!     call perdure_track_array(track, next(1:n, 1:m), "other", extents, first, next_data, status)
!!     call perdure_track_start(track, status)                  ! every start runs the code above
!!     do while (change > 1e-6)
!!       call perdure_track_begin(track, "advance", [perdure_reads(now_data), perdure_writes(next_data), &
!!                                                   perdure_gives(change)], run, status)
!!       if (run) then
!!         call advance(now, next, change)
!!         call perdure_track_end(track, status)
!!       end if
!!       call swap_pointers(now, next)
!!       call perdure_track_swap(track, now_data, next_data, status)
!!     end do
!!
!! Data and given values lie where they are, without copies. Declare them with the attribute `target` (or `pointer`): they are
!! filled behind the compiler's back.
module perdure_track
  use iso_c_binding
  use iso_fortran_env, only: int32, int64, real64
  use perdure, only: perdure_handle, perdure_native, perdure_invalid_argument
  use perdure_c, only: from_c, to_c, from_buffer
  use perdure_track_c
  implicit none
  private

  !> A tracked program. perdure_track_open makes it, and perdure_track_close ends it. It must not be copied.
  type, bind(c), public :: perdure_tracker
    private
    type(c_ptr) :: native = c_null_ptr  !< perdure_track_t* of perdure_track.h
    integer(c_int) :: refused = 0       !< 1: this module refused a call, which ended the tracking
    character(kind=c_char) :: reason(1024) = c_null_char  !< the reason
  end type

  !> An array that a tracker knows; perdure_track_array and perdure_track_replicated make it.
  type, bind(c), public :: perdure_data
    private
    integer(c_int) :: number = -1              !< number in perdure_track.h
    integer(c_int) :: dimensions = 0           !< number of dimensions of the array
    integer(c_size_t) :: element_bytes = 0     !< bytes of an element
  end type

  integer, parameter :: most_dimensions = 8  !< most dimensions of an array of perdure.h

  !> Says how a region uses data; perdure_reads and the functions below make it.
  type, public :: perdure_access
    private
    integer(c_int) :: mode = 0           !< mode of perdure_track.h
    type(perdure_data) :: data           !< the array, if there is one
    logical :: within = .false.          !< only elements from `begin` to before `end`
    logical :: refused = .false.         !< these have not as many dimensions as the array
    integer(c_int64_t) :: begin(most_dimensions) = 0  !< as in perdure_track.h
    integer(c_int64_t) :: end(most_dimensions) = 0    !< as in perdure_track.h
    type(c_ptr) :: address = c_null_ptr  !< address of a value that is given
    integer(c_size_t) :: bytes = 0       !< bytes of that value
  end type

  !> Counts the checkpoints of a tracked program.
  type, public :: perdure_track_info
    logical :: restarted = .false.           !< this run went on from a checkpoint
    integer(int64) :: goes_on_at = 0         !< number of regions before the place where it went on
    integer(int64) :: regions = 0            !< regions begun so far, including the skipped ones
    integer(int64) :: checkpoints = 0        !< complete checkpoints of this run
    integer(int64) :: last_bytes = 0         !< bytes of the last checkpoint, of all ranks
    integer(int64) :: state_bytes = 0        !< bytes of all data, of all ranks
    real(real64) :: last_blocking_s = 0      !< how long the last one stopped this rank
    character(:), allocatable :: last_before !< region before which the last one was made; its name is cut if it is longer
  end type

  !> For this module only; see track.c for the arguments.
  interface
    subroutine c_track_array(track, kind, part, name, unit, description, element_type, bytes, extents, first, data, &
                             status) bind(c, name="perdure_fortran_track_array")
      import :: perdure_tracker, perdure_data, c_int, c_char
      type(perdure_tracker), intent(inout) :: track
      integer(c_int), value :: kind, bytes
      type(*), dimension(..), intent(inout), target :: part
      character(kind=c_char), intent(in) :: name(*), unit(*), description(*), element_type(*)
      type(*), dimension(..), intent(in) :: extents, first
      type(perdure_data), intent(inout) :: data
      integer(c_int), intent(out) :: status
    end subroutine
    subroutine c_track_moved(track, data, part, first, status) bind(c, name="perdure_fortran_track_moved")
      import :: perdure_tracker, perdure_data, c_int
      type(perdure_tracker), intent(inout) :: track
      type(perdure_data), intent(in) :: data
      type(*), dimension(..), intent(inout), target :: part
      type(*), dimension(..), intent(in) :: first
      integer(c_int), intent(out) :: status
    end subroutine
    subroutine c_track_place(object, address, bytes) bind(c, name="perdure_fortran_track_place")
      import :: c_ptr, c_size_t
      type(*), dimension(..), intent(inout), target :: object
      type(c_ptr), intent(out) :: address
      integer(c_size_t), intent(out) :: bytes
    end subroutine
    subroutine c_track_refuse(track, what, why, status) bind(c, name="perdure_fortran_track_refuse")
      import :: perdure_tracker, c_int, c_char
      type(perdure_tracker), intent(inout) :: track
      character(kind=c_char), intent(in) :: what(*), why(*)
      integer(c_int), intent(out) :: status
    end subroutine
  end interface

  !> Limits an access to elements from index `first` to index `last`, in the array as a whole, which begins with 1.
  interface perdure_within
    procedure within_int64, within_int32
  end interface

  integer(c_int), parameter :: kind_global = 0, kind_replicated = 2
  integer(c_int), parameter :: mode_reads = 1, mode_writes = 2, mode_reads_writes = 3, mode_gives = 4, mode_touches_all = 5
  integer(c_int64_t), parameter :: no_numbers(0) = [integer(c_int64_t) ::]

  public :: perdure_track_open, perdure_track_array, perdure_track_replicated, perdure_track_start, perdure_track_begin, &
            perdure_track_end, perdure_track_swap, perdure_track_moved, perdure_track_tick, perdure_track_trigger, &
            perdure_track_fast_forward, perdure_track_get_info, perdure_track_next_report, perdure_track_error_text, &
            perdure_track_close, perdure_reads, perdure_writes, perdure_reads_writes, perdure_within, perdure_gives, &
            perdure_touches_all

contains

  !> Makes a tracker on a handle that has no protected regions; only the tracker may protect any. [local]
  !!  - `name` is that of the checkpoints; absent: "track".
  !!  - A checkpoint is made every `every_s` seconds (which needs perdure_track_tick) or `every_regions` regions.
  !!  - It is made only before regions of the name `before`, if that is given. Otherwise it is made where a checkpoint is
  !!    smallest, as learnt from the first `learns` regions (absent: 2048).
  !!  - `only` has names of the data to save, as a whole.
  !!  - `report` is a file for `perdure track`.
  !!  - `on_signals`: signals ask for a checkpoint, and end the process, as perdure_track.h says.
  !!  - `patience_s`: seconds that ranks wait for each other (absent: 1800; less than 0: as long as it takes).
  subroutine perdure_track_open(handle, track, status, name, every_s, every_regions, before, only, learns, report, &
                                on_signals, message, patience_s)
    type(perdure_handle), intent(in) :: handle
    type(perdure_tracker), intent(out) :: track
    integer, intent(out) :: status
    character(*), intent(in), optional :: name, before, report, only(:)
    real(real64), intent(in), optional :: every_s, patience_s
    integer(int64), intent(in), optional :: every_regions, learns
    logical, intent(in), optional :: on_signals
    character(:), allocatable, intent(out), optional :: message
    type(c_policy) :: policy
    character(:), allocatable, target :: called, at, file, names(:)
    type(c_ptr), allocatable, target :: list(:)
    character(kind=c_char) :: buffer(2048)
    integer :: i
    called = to_c(name)
    at = to_c(before)
    file = to_c(report)
    if (present(name)) policy%name = c_loc(called)
    if (present(before)) policy%before = c_loc(at)
    if (present(report)) policy%report = c_loc(file)
    if (present(every_s)) policy%every_s = every_s
    if (present(every_regions)) policy%every_regions = every_regions
    if (present(learns)) policy%learns = learns
    if (present(patience_s)) policy%patience_s = patience_s
    if (present(on_signals)) policy%on_signals = merge(1_c_int, 0_c_int, on_signals)
    if (present(only)) then
      allocate (character(len(only) + 1) :: names(size(only)))
      allocate (list(size(only) + 1))   ! C_LOC needs at least one
      do i = 1, size(only)
        names(i) = trim(only(i))//c_null_char
        list(i) = c_loc(names(i))
      end do
      policy%only = c_loc(list)
      policy%only_count = size(only, kind=c_size_t)
    end if
    buffer(1) = c_null_char
    status = c_track_open(perdure_native(handle), policy, track%native, buffer, size(buffer, kind=c_size_t))
    if (present(message)) message = from_buffer(buffer)
  end subroutine

  !> Declares an array and this rank's elements of it: each element has exactly one owner. [local] The call comes before
  !! perdure_track_start. `part`, `extents`, `first` and the rest are as in perdure_protect_global of module perdure. So
  !! field(1:nx, 1:ny) leaves out a halo, and the array as a whole begins with 1. The array has a name of 1 to 56 characters, and
  !! 5 dimensions at most.
  subroutine perdure_track_array(track, part, name, extents, first, data, status, unit, description, type, bytes)
    type(perdure_tracker), intent(inout) :: track
    type(*), dimension(..), intent(inout), target :: part
    character(*), intent(in) :: name
    type(*), dimension(:), intent(in) :: extents, first
    type(perdure_data), intent(out) :: data
    integer, intent(out) :: status
    character(*), intent(in), optional :: unit, description, type
    logical, intent(in), optional :: bytes
    if (refused_before(track, status)) return
    call c_track_array(track, kind_global, part, to_c(name), to_c(unit), to_c(description), to_c(type), truth(bytes), &
                       extents, first, data, status)
  end subroutine

  !> Declares an array or scalar that is equal on all ranks, and contiguous. [local] Regions read and write it as a
  !! whole.
  subroutine perdure_track_replicated(track, object, name, data, status, unit, description, type, bytes)
    type(perdure_tracker), intent(inout) :: track
    type(*), dimension(..), intent(inout), target :: object
    character(*), intent(in) :: name
    type(perdure_data), intent(out) :: data
    integer, intent(out) :: status
    character(*), intent(in), optional :: unit, description, type
    logical, intent(in), optional :: bytes
    if (refused_before(track, status)) return
    call c_track_array(track, kind_replicated, object, to_c(name), to_c(unit), to_c(description), to_c(type), &
                       truth(bytes), no_numbers, no_numbers, data, status)
  end subroutine

  !> Converts a logical that may be absent.
  integer(c_int) function truth(given)
    logical, intent(in), optional :: given
    truth = 0
    if (present(given)) truth = merge(1_c_int, 0_c_int, given)
  end function

  !> Begins the tracking: regions count from here on. If the tracker's name has a checkpoint, this fills all data from it, and
  !! skips the regions up to it. [collective]
  subroutine perdure_track_start(track, status)
    type(perdure_tracker), intent(inout) :: track
    integer, intent(out) :: status
    if (.not. refused_before(track, status)) status = c_track_start(track%native)
  end subroutine

  !> Begins a region. [collective] If `run` is true, the region is to be run, and perdure_track_end follows. Otherwise it is to be
  !! skipped, or the call failed. `name` and `where`, such as the procedure, tell it from others.
  subroutine perdure_track_begin(track, name, accesses, run, status, where)
    type(perdure_tracker), intent(inout) :: track
    character(*), intent(in) :: name
    type(perdure_access), intent(in), target :: accesses(:)
    logical, intent(out) :: run
    integer, intent(out) :: status
    character(*), intent(in), optional :: where
    type(c_access) :: list(size(accesses))
    integer(c_int) :: runs
    integer :: i
    run = .false.
    if (refused_before(track, status)) return
    if (any(accesses%refused)) then
      call c_track_refuse(track, "region '"//trim(name)//"'"//c_null_char, "what it accesses is within indices that "// &
                          "have not as many dimensions as the array (invalid-argument)"//c_null_char, status)
      return
    end if
    do i = 1, size(accesses)
      list(i) = c_access(accesses(i)%mode, accesses(i)%data%number, address=accesses(i)%address, bytes=accesses(i)%bytes)
      if (.not. accesses(i)%within) cycle
      list(i)%begin = c_loc(accesses(i)%begin)
      list(i)%end = c_loc(accesses(i)%end)
    end do
    runs = 0
    status = c_track_begin(track%native, to_c(name), to_c(where), list, size(list, kind=c_size_t), runs)
    run = runs /= 0
  end subroutine

  !> Ends a region that was run. [local]
  subroutine perdure_track_end(track, status)
    type(perdure_tracker), intent(inout) :: track
    integer, intent(out) :: status
    if (.not. refused_before(track, status)) status = c_track_end(track%native)
  end subroutine

  !> Swaps two arrays of one type, extents and division by exchanging their memory, as the program does with its pointers.
  !! [collective] The program calls it in a restart, too.
  subroutine perdure_track_swap(track, data, other, status)
    type(perdure_tracker), intent(inout) :: track
    type(perdure_data), intent(in) :: data, other
    integer, intent(out) :: status
    if (.not. refused_before(track, status)) status = c_track_swap(track%native, data%number, other%number)
  end subroutine

  !> Tells the tracker that this rank's elements of the array lie elsewhere from here on, with their content. [local] Not within a
  !! region. `part` and `first` are as in perdure_track_array.
  subroutine perdure_track_moved(track, data, part, first, status)
    type(perdure_tracker), intent(inout) :: track
    type(perdure_data), intent(in) :: data
    type(*), dimension(..), intent(inout), target :: part
    type(*), dimension(:), intent(in) :: first
    integer, intent(out) :: status
    if (refused_before(track, status)) return
    call c_track_moved(track, data, part, first, status)
  end subroutine

  !> Lets ranks agree on whether a checkpoint is due by time; once in a time step is enough. [collective]
  subroutine perdure_track_tick(track, status)
    type(perdure_tracker), intent(inout) :: track
    integer, intent(out) :: status
    if (.not. refused_before(track, status)) status = c_track_tick(track%native)
  end subroutine

  !> Asks for a checkpoint at the next place, whatever perdure_track_open was told. [local] All ranks ask, at the same region.
  subroutine perdure_track_trigger(track, status)
    type(perdure_tracker), intent(inout) :: track
    integer, intent(out) :: status
    if (.not. refused_before(track, status)) status = c_track_trigger(track%native)
  end subroutine

  !> Says that the program could begin here from `payload` alone, such as the number of its time step. [local] `payload` is
  !! contiguous. A restart then need not skip the regions before one by one. If `jumped` is true, `payload` has the last content
  !! that the run of the checkpoint passed, and the program goes to that place.
  subroutine perdure_track_fast_forward(track, payload, jumped, status)
    type(perdure_tracker), intent(inout) :: track
    type(*), dimension(..), intent(inout), target :: payload
    logical, intent(out) :: jumped
    integer, intent(out) :: status
    type(c_ptr) :: address
    integer(c_size_t) :: bytes
    integer(c_int) :: jumps
    jumped = .false.
    if (refused_before(track, status)) return
    call c_track_place(payload, address, bytes)
    jumps = 0
    status = c_track_fast_forward(track%native, address, bytes, jumps)
    jumped = jumps /= 0
  end subroutine

  !> Gives the counts of this run so far. [local]
  subroutine perdure_track_get_info(track, info, status)
    type(perdure_tracker), intent(inout) :: track
    type(perdure_track_info), intent(out) :: info
    integer, intent(out) :: status
    type(c_track_info) :: found
    info%last_before = ""
    if (refused_before(track, status)) return
    status = c_track_get_info(track%native, found)
    info%restarted = found%restarted /= 0
    info%goes_on_at = found%goes_on_at
    info%regions = found%regions
    info%checkpoints = found%checkpoints
    info%last_bytes = found%last_bytes
    info%state_bytes = found%state_bytes
    info%last_blocking_s = found%last_blocking_s
    info%last_before = from_buffer(found%last_before)
  end subroutine

  !> Takes the oldest report of a checkpoint that went wrong while the run went on; perdure_not_found and "" when there is none.
  !! [local]
  subroutine perdure_track_next_report(track, text, status)
    type(perdure_tracker), intent(inout) :: track
    character(:), allocatable, intent(out) :: text
    integer, intent(out) :: status
    character(kind=c_char) :: buffer(4096)
    buffer(1) = c_null_char
    status = c_track_next_report(track%native, buffer, size(buffer, kind=c_size_t))
    text = from_buffer(buffer)
  end subroutine

  !> Gives object, cause and remedy of the failure that ended the tracking; "" when there was none.
  function perdure_track_error_text(track) result(text)
    type(perdure_tracker), intent(in) :: track
    character(:), allocatable :: text
    if (track%refused == 0) then
      text = from_c(c_track_error_text(track%native))
    else
      text = from_buffer(track%reason)
    end if
  end function

  !> Ends the tracker, before the program takes its results out of its data. perdure_mismatch: the restart never reached the place
  !! from which it was to go on, so its data is not the program's result.
  subroutine perdure_track_close(track, status, message)
    type(perdure_tracker), intent(inout) :: track
    integer, intent(out) :: status
    character(:), allocatable, intent(out), optional :: message
    character(kind=c_char) :: buffer(2048)
    logical :: refused
    refused = refused_before(track, status)
    buffer(1) = c_null_char
    status = c_track_close(track%native, buffer, size(buffer, kind=c_size_t))
    if (refused) status = perdure_invalid_argument
    if (refused) buffer(:size(track%reason)) = track%reason
    if (present(message)) message = from_buffer(buffer)
    track = perdure_tracker()
  end subroutine

  !> The region reads the array.
  pure type(perdure_access) function perdure_reads(data) result(access)
    type(perdure_data), intent(in) :: data
    access%mode = mode_reads
    access%data = data
  end function

  !> The region writes all of the array.
  pure type(perdure_access) function perdure_writes(data) result(access)
    type(perdure_data), intent(in) :: data
    access%mode = mode_writes
    access%data = data
  end function

  !> The region reads the array and writes it, or some of it.
  pure type(perdure_access) function perdure_reads_writes(data) result(access)
    type(perdure_data), intent(in) :: data
    access%mode = mode_reads_writes
    access%data = data
  end function

  !> See perdure_within.
  pure type(perdure_access) function within_int64(access, first, last) result(part)
    type(perdure_access), intent(in) :: access
    integer(int64), intent(in) :: first(:), last(:)
    integer :: n
    part = access
    n = access%data%dimensions
    part%refused = size(first) /= n .or. size(last) /= n
    if (part%refused) return
    part%within = .true.
    part%begin(:n) = first(n:1:-1) - 1
    part%end(:n) = last(n:1:-1)
  end function

  !> See perdure_within.
  pure type(perdure_access) function within_int32(access, first, last) result(part)
    type(perdure_access), intent(in) :: access
    integer(int32), intent(in) :: first(:), last(:)
    part = within_int64(access, int(first, int64), int(last, int64))
  end function

  !> The region sets a value of the program, equal on all ranks: an array or scalar. It is contiguous and stays where it is until
  !! the region has ended.
  type(perdure_access) function perdure_gives(object) result(access)
    type(*), dimension(..), intent(inout), target :: object
    access%mode = mode_gives
    call c_track_place(object, access%address, access%bytes)
  end function

  !> The region's accesses are unknown: it reads all data, and may write all data.
  pure type(perdure_access) function perdure_touches_all() result(access)
    access%mode = mode_touches_all
  end function

  !> True if this module ended the tracking; `status` then says it.
  logical function refused_before(track, status) result(refused)
    type(perdure_tracker), intent(in) :: track
    integer, intent(out) :: status
    refused = track%refused /= 0
    status = perdure_invalid_argument
  end function
end module
