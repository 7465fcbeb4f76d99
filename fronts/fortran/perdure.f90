!> Module perdure is Perdure for Fortran 2018. The conventions, the meaning of every call and which are [collective] are those of
!! perdure.h. Every subroutine ends with the status: perdure_ok, or a code for the failure.
!!
!! Arrays of any kind and rank are protected where they lie, without copies; so are scalars. They must be contiguous, and they
!! must not be moved or deallocated while protected. Arrays that follow their owner (perdure_follow) are the exception. Declare
!! them with the attribute `target`: restore writes them behind the compiler's back. Versions are integer(int32) or
!! integer(int64); indices, extents and widths are integers of any kind. The targets of allocatable and pointer components are not
!! part of a region, and the compiler does not say whether a derived type has any. So objects of derived types, and addresses
!! (c_ptr), are refused unless `bytes=.true.` says that only their own bytes are to be stored. A call that has `type`, which
!! describes the members, accepts that instead.
module perdure
  use iso_c_binding
  use iso_fortran_env, only: int32, int64, real64
  use perdure_c
  implicit none
  private

  integer, parameter, public :: perdure_ok = 0              !< success
  integer, parameter, public :: perdure_invalid_argument = 1!< an argument is wrong; the call did nothing
  integer, parameter, public :: perdure_not_found = 2       !< no such checkpoint or file: nothing exists under that name
  integer, parameter, public :: perdure_exists = 3          !< this version is already taken
  integer, parameter, public :: perdure_mismatch = 4        !< ranks disagree, or regions differ from the stored ones
  integer, parameter, public :: perdure_corrupt = 5         !< data that failed verification; it was set aside and not used
  integer, parameter, public :: perdure_no_space = 6        !< no room on a tier, the store or in memory, or a quota or limit is reached
  integer, parameter, public :: perdure_io = 7              !< a device or file system failed
  integer, parameter, public :: perdure_permission = 8      !< access denied, or a read-only file system
  integer, parameter, public :: perdure_unavailable = 9     !< the engine or the store cannot be reached at the moment
  integer, parameter, public :: perdure_timeout = 10        !< the time given to the call ran out
  integer, parameter, public :: perdure_closed = 11         !< the handle was closed
  integer, parameter, public :: perdure_wrong_process = 12  !< the handle belongs to the process that forked this one
  integer, parameter, public :: perdure_unsupported = 13    !< written by a newer Perdure, or not possible on this system
  integer, parameter, public :: perdure_peer_failed = 14    !< another rank failed; its own error says why
  integer, parameter, public :: perdure_busy = 15           !< somebody else holds it
  integer, parameter, public :: perdure_internal = 16       !< a defect of Perdure; please report it
  integer, parameter, public :: perdure_incomplete = 17     !< there are checkpoints of that name, and parts of all of them are missing
  integer, parameter, public :: perdure_required = 0        !< a region has to be stored where it is restored
  integer, parameter, public :: perdure_optional = 1        !< an absent region stays as it is
  integer, parameter, public :: perdure_level_none = 0      !< no rank could restore anything
  integer, parameter, public :: perdure_level_process = 1   !< survives the death of every process
  integer, parameter, public :: perdure_level_node = 2      !< survives the loss of a node
  integer, parameter, public :: perdure_level_store = 3     !< survives the loss of everything but the store
  integer, parameter, public :: perdure_due_signal = 1      !< a signal asks for a checkpoint
  integer, parameter, public :: perdure_due_halt = 2        !< `perdure halt` does
  integer, parameter, public :: perdure_due_end = 128       !< the program is to end after it
  !> Stands in for a version number: the newest that every rank can restore.
  integer(int64), parameter, public :: perdure_latest_version = -1_int64
  !> Stands in for a timeout: as long as it takes.
  real(real64), parameter, public :: perdure_forever = -1.0_real64

  !> An open Perdure. perdure_open makes it, and perdure_close ends it. It must not be copied.
  type, bind(c), public :: perdure_handle
    private
    type(c_ptr) :: native = c_null_ptr  !< perdure_t* of perdure.h
    integer(c_int) :: refusal = 0       !< why this module refused the last call before it reached C, see descriptor.c; 0: it did not
    integer(c_int) :: retryable = 0     !< whether trying that again can help
    character(kind=c_char) :: reason(1024) = c_null_char  !< its text
  end type

  !> perdure_progress of perdure.h.
  type, bind(c), public :: perdure_progress
    integer(c_int64_t) :: bytes_pending = 0     !< captured, not yet at the store
    integer(c_int64_t) :: bytes_flushed = 0     !< written to the store since the engine started
    integer(c_int64_t) :: versions_pending = 0  !< checkpoints not yet at the store
    integer(c_int64_t) :: versions_failed = 0   !< checkpoints whose flush was abandoned; they are still on the node
    real(c_double) :: flush_bytes_per_s = 0     !< moving average of the observed flush bandwidth
    real(c_double) :: last_blocking_s = 0       !< how long the last checkpoint stopped this rank
    real(c_double) :: last_flush_s = 0          !< how long the last flush of this node took
    real(c_double) :: last_restore_s = 0        !< how long the last restore took on this rank
    integer(c_int64_t) :: last_bytes = 0        !< bytes of the last checkpoint of this rank
    integer(c_int64_t) :: restored_version = -1 !< version of the last restore, or -1
    integer(c_int) :: restore_source = 0        !< 0 nowhere, 1 tier, 2 store, 3 both; +4: from other nodes into the tier
  end type

  !> The present place of an array: a procedure of perdure_follow sets it by perdure_set_place.
  type, bind(c), public :: perdure_place
    private
    type(c_ptr) :: address = c_null_ptr  !< address of the first element
    integer(c_int64_t) :: count = 0      !< number of elements
    integer(c_int) :: refusal = 1        !< 0: it is a place; 1: the procedure has not set it; 2: the array is not contiguous
    character(kind=c_char) :: type(32) = c_null_char  !< type of an element, as in perdure.h
  end type

  !> Describes the version that a restore took.
  type, public :: perdure_restored_info
    character(:), allocatable :: name    !< name of the checkpoint
    integer(int64) :: version = -1       !< its number
    character(:), allocatable :: branch  !< "3f9a12"
    integer(int64) :: created_ns = 0     !< when its checkpoint was begun, nanoseconds since 1970
    real(real64) :: age_s = 0            !< since then, by this machine's clock
    integer :: source = 0                !< as perdure_progress%restore_source
    integer :: passed_over = 0           !< number of newer versions that were not taken
  end type

  !> A version that is newer than the one that was restored.
  type, public :: perdure_passed_over_info
    integer(int64) :: version = -1       !< its number
    integer(int64) :: created_ns = 0     !< when its checkpoint was begun, nanoseconds since 1970
    character(:), allocatable :: why     !< why it was not taken
  end type

  abstract interface
    !> Says where an array is now, and how many elements it has: call perdure_set_place(place, array). The procedure must not call
    !! anything else of Perdure with the same handle.
    subroutine perdure_where(place)
      import :: perdure_place
      type(perdure_place), intent(out) :: place
    end subroutine
    !> Does what perdure_locate of perdure.h does: gives the address and number of an owner's elements. Returns 0, or another
    !! number if it cannot.
    integer(c_int) function perdure_locate(owner, address, count) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: owner
      type(c_ptr), intent(inout) :: address
      integer(c_size_t), intent(inout) :: count
    end function
  end interface

  !> An array in a stored checkpoint.
  type, public :: perdure_array_info
    integer(int64), allocatable :: extents(:)     !< extents of the whole array, in Fortran's order
    integer(int64) :: element_bytes = 0           !< bytes of one element
    character(:), allocatable :: name             !< "" when it has none
    character(:), allocatable :: unit             !< "" when it has none
    character(:), allocatable :: type             !< type of an element, as in perdure.h
  end type

  interface
    !> Registers an array or scalar as region `id`; a second call with the same id re-protects. [local] `bytes`: a logical, .true.
    !! if an object of a derived type has no allocatable or pointer components.
    subroutine perdure_protect(handle, id, region, status, bytes) bind(c, name="perdure_fortran_protect")
      import :: perdure_handle, c_int
      type(perdure_handle), intent(inout) :: handle
      integer(c_int), intent(in) :: id
      type(*), dimension(..), intent(inout), target :: region
      integer(c_int), intent(out) :: status
      type(*), dimension(..), intent(in), optional :: bytes
    end subroutine

    !> Registers 1 to 32 arrays and scalars in one call, each of its own kind and rank. r1 is region `first_id`, r2 is `first_id`
    !! + 1, and so on. [local] When one is refused, none of these ids is protected, and perdure_error_text names the id and the
    !! reason. The former regions of these ids are given up, so arrays may have moved or swapped their memory. Each must be
    !! allocated; one that is not is refused. (A compiler that takes an unallocated array as absent hides it if it is the last
    !! one; gfortran does not.) For all objects of derived types, `bytes` is as in perdure_protect.
    subroutine perdure_protect_all(handle, first_id, status, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, &
                                   r14, r15, r16, r17, r18, r19, r20, r21, r22, r23, r24, r25, r26, r27, r28, r29, &
                                   r30, r31, r32, bytes) bind(c, name="perdure_fortran_protect_all")
      import :: perdure_handle, c_int
      type(perdure_handle), intent(inout) :: handle
      integer(c_int), intent(in) :: first_id
      integer(c_int), intent(out) :: status
      type(*), dimension(..), intent(inout), target, optional :: r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, &
        r13, r14, r15, r16, r17, r18, r19, r20, r21, r22, r23, r24, r25, r26, r27, r28, r29, r30, r31, r32
      type(*), dimension(..), intent(in), optional :: bytes
    end subroutine

    !> Sets `array` as the place, whatever its kind and rank. [local] It is contiguous. An unallocated array, or a pointer without
    !! target, is a place without elements.
    subroutine perdure_set_place(place, array) bind(c, name="perdure_fortran_set_place")
      import :: perdure_place
      type(perdure_place), intent(inout) :: place
      type(*), dimension(..), intent(in), target :: array
    end subroutine

    ! Protects an array; see arrays.c for the arguments.
    subroutine c_protect_array(handle, kind, id, part, name, unit, description, element_type, bytes, extents, first, &
                               ghosts, fill_ghosts, status) bind(c, name="perdure_fortran_protect_array")
      import :: perdure_handle, c_int, c_char
      type(perdure_handle), intent(inout) :: handle
      integer(c_int), value :: kind, id, bytes, fill_ghosts
      type(*), dimension(..), intent(inout), target :: part
      character(kind=c_char), intent(in) :: name(*), unit(*), description(*), element_type(*)
      type(*), dimension(..), intent(in) :: extents, first, ghosts
      integer(c_int), intent(out) :: status
    end subroutine
    ! Reads up to 8 integers of any kind (numbers.c), and returns their number; -1: they are not integers.
    integer(c_int) function c_numbers(given, numbers) bind(c, name="perdure_fortran_numbers")
      import :: c_int, c_int64_t
      type(*), dimension(..), intent(in) :: given
      integer(c_int64_t), intent(out) :: numbers(8)
    end function
    ! Reads MPI's integer, or a type(MPI_Comm) (numbers.c); 0: `given` is neither.
    integer(c_int) function c_communicator(given, communicator) bind(c, name="perdure_fortran_communicator")
      import :: c_int
      type(*), dimension(..), intent(in) :: given
      integer(c_int), intent(out) :: communicator
    end function
  end interface

  !> Captures all protected regions of all ranks as `name`, `version`; returns at level process. [collective]
  interface perdure_checkpoint
    procedure checkpoint_int64, checkpoint_int32
  end interface
  !> Gives the newest version that every rank can restore; perdure_not_found when there is none. [collective]
  !! perdure_invalid_argument when it is larger than `version` can be.
  interface perdure_latest
    procedure latest_int64, latest_int32
  end interface
  !> Gives the size of this rank's region before restoring it: bytes per element, and elements in all dimensions together.
  !! [collective]
  interface perdure_stored_size
    procedure stored_size_int64, stored_size_int32, stored_size_of_int32, stored_size_to_int32
  end interface
  !> Fills the protected regions from a checkpoint, verified; `version` may be perdure_latest_version. [collective]
  !! perdure_mismatch on all ranks if the stored regions differ from the protected ones; perdure_error_text names all differences.
  interface perdure_restore
    procedure restore_int64, restore_int32
  end interface
  !> Restores the regions in `ids` only; every rank may name others. [collective]
  interface perdure_restore_regions
    procedure restore_regions_int64, restore_regions_int32
  end interface
  !> Restores from branch `branch` and the line it went on from, whichever branch is the current one. [collective] `branch` is
  !! written as in `perdure ls` ("3f9a12"). The next checkpoint goes on from there.
  interface perdure_restore_branch
    procedure restore_branch_int64, restore_branch_int32
  end interface
  !> Makes a registered region, or part of an array, follow a procedure that says where it is. [local] Each checkpoint and restore
  !! asks the procedure, so arrays may be allocated anew, and pointers may change places. See perdure_follow() in perdure.h. There
  !! are two forms:
  !!  - perdure_follow(handle, id, where, status): `where` is a procedure of a module or of the main program, as perdure_where;
  !!  - perdure_follow(handle, id, locate, owner, status): `locate` is as perdure_locate, and is handed `owner`, a c_ptr.
  !!
  !! The procedure gives the elements of the region now, or more than these. The region's shape is no longer stored, as it may
  !! change.
  interface perdure_follow
    procedure follow_place, follow_owner
  end interface
  !> Waits until the checkpoint has reached `level` on all ranks, at most `timeout_s` seconds. [collective]
  interface perdure_wait
    procedure wait_int64, wait_int32
  end interface
  !> Gives the level that the checkpoint has reached, as far as this rank's node knows. [local]
  interface perdure_level_reached
    procedure level_reached_int64, level_reached_int32
  end interface
  !> Retires a version on purpose. [collective]
  interface perdure_retire
    procedure retire_int64, retire_int32
  end interface
  !> Describes array `id` in a stored checkpoint of any number of ranks, before restoring it. [collective]
  interface perdure_stored_array
    procedure stored_array_int64, stored_array_int32
  end interface
  !> Gives this rank's block if an array is divided evenly: the indices from `first` to `last`, in an array that begins with 1.
  !! [local] If the block is empty, `last` is below `first` in some dimension. `grid`: ranks in each dimension; absent: the most
  !! even. In one dimension, the block is an even share of a number of things, such as the rows of a list.
  interface perdure_block
    procedure block_int64, block_int32
  end interface

  integer(c_int), parameter :: kind_global = 0, kind_list = 1, kind_replicated = 2
  integer(c_int64_t), parameter :: no_numbers(0) = [integer(c_int64_t) ::]

  public :: perdure_open, perdure_protect, perdure_protect_all, perdure_describe, &
            perdure_follow, perdure_set_place, perdure_where, perdure_locate, &
            perdure_set_presence, perdure_was_restored, perdure_renamed, perdure_pass_over, &
            perdure_protect_global, perdure_block, perdure_protect_list, perdure_protect_replicated, &
            perdure_stored_array, perdure_unprotect, perdure_checkpoint, perdure_latest, &
            perdure_stored_size, perdure_restore, perdure_restore_regions, perdure_restore_branch, &
            perdure_restored, perdure_passed_over, perdure_wait, perdure_level_reached, &
            perdure_get_progress, perdure_next_report, perdure_retire, perdure_any, perdure_due, &
            perdure_close, perdure_error_text, &
            perdure_error_retryable, perdure_status_name, perdure_version, perdure_native

contains

  !> Opens a handle for the ranks of `communicator`, or without it for this process. The communicator is MPI's integer, or the
  !! type(MPI_Comm) of mpi_f08.
  subroutine perdure_open(handle, status, options, communicator, message)
    type(perdure_handle), intent(out) :: handle
    integer, intent(out) :: status
    character(*), intent(in), optional :: options
    type(*), dimension(..), intent(in), optional :: communicator
    character(:), allocatable, intent(out), optional :: message
    character(:), allocatable :: settings
    character(kind=c_char) :: buffer(2048)
    integer(c_int) :: ranks
    settings = c_null_char
    if (present(options)) settings = trim(options)//c_null_char
    buffer(1) = c_null_char
    if (present(communicator)) then
      if (c_communicator(communicator, ranks) == 0) then
        status = perdure_invalid_argument
        if (present(message)) message = "communicator: it is neither MPI's integer nor a type(MPI_Comm) (invalid-argument)"
        return
      end if
      status = c_open_mpi(ranks, settings, handle%native, buffer, size(buffer, kind=c_size_t))
    else
      status = c_open(settings, handle%native, buffer, size(buffer, kind=c_size_t))
    end if
    if (present(message)) message = from_buffer(buffer)
  end subroutine

  !> Gives a registered region a name, a unit and a description for people. [local]
  subroutine perdure_describe(handle, id, name, status, unit, description)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(in) :: id
    character(*), intent(in) :: name
    integer, intent(out) :: status
    character(*), intent(in), optional :: unit, description
    handle%refusal = 0
    status = c_describe(handle%native, int(id, c_int), to_c(name), to_c(unit), to_c(description))
  end subroutine

  !> See perdure_follow.
  subroutine follow_place(handle, id, where, status)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(in) :: id
    procedure(perdure_where) :: where
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_follow_place(handle%native, int(id, c_int), c_funloc(where))
  end subroutine

  !> See perdure_follow.
  subroutine follow_owner(handle, id, locate, owner, status)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(in) :: id
    procedure(perdure_locate) :: locate
    type(c_ptr), intent(in) :: owner
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_follow(handle%native, int(id, c_int), c_funloc(locate), owner)
  end subroutine

  !> Says whether a restore may find that a region is not stored: perdure_optional, or perdure_required. [local]
  subroutine perdure_set_presence(handle, id, presence, status)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(in) :: id, presence
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_set_presence(handle%native, int(id, c_int), int(presence, c_int))
  end subroutine

  !> Tells whether the last successful restore filled a region. If not, it was absent, or not asked for. [local]
  subroutine perdure_was_restored(handle, id, restored, status)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(in) :: id
    logical, intent(out) :: restored
    integer, intent(out) :: status
    integer(c_int) :: found
    handle%refusal = 0
    found = 0
    status = c_was_restored(handle%native, int(id, c_int), found)
    restored = found /= 0
  end subroutine

  !> Declares that the stored region called `before` is the protected one called `now`. [local] For a region without a name,
  !! `before` is its number, as in "5".
  subroutine perdure_renamed(handle, before, now, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: before, now
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_renamed(handle%native, to_c(before), to_c(now))
  end subroutine

  !> Declares that a stored region is no longer needed: not protecting it is no mismatch. [local] For a region without a name, it
  !! is its number; "*" means all regions.
  subroutine perdure_pass_over(handle, region, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: region
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_pass_over(handle%native, to_c(region))
  end subroutine

  !> Registers this rank's part of an array that ranks have together, as region `id`; see perdure_protect_global() in perdure.h.
  !! [local]
  !!  - `part` has the elements that this rank owns, and no others. A section need not be contiguous, so field(1:nx, 1:ny) leaves
  !!    out a halo. A part without elements says that the rank has none.
  !!  - `extents` are those of the whole array.
  !!  - `first` is the index of this part's first element in the array, which itself begins with 1.
  !!  - `ghosts` are the widths of elements of other ranks in memory around the part, on both sides of each dimension. A restore
  !!    fills them with `fill_ghosts`.
  !!
  !! C and the command line see the dimensions turned round: a(nx, ny) has the extents ny, nx. Elements are integers, reals,
  !! complex numbers or logicals (integers of as many bytes). All others are bytes unless `type` describes them, as in
  !! "{position:3f8,kind:i4,v4}". Elements of a derived type need it, or `bytes=.true.`.
  subroutine perdure_protect_global(handle, id, part, name, extents, first, status, ghosts, fill_ghosts, unit, &
                                    description, type, bytes)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(in) :: id
    type(*), dimension(..), intent(inout), target :: part
    character(*), intent(in) :: name
    type(*), dimension(:), intent(in) :: extents, first
    integer, intent(out) :: status
    type(*), dimension(:), intent(in), optional :: ghosts
    logical, intent(in), optional :: fill_ghosts, bytes
    character(*), intent(in), optional :: unit, description, type
    if (present(ghosts)) then
      call c_protect_array(handle, kind_global, int(id, c_int), part, to_c(name), to_c(unit), to_c(description), &
                           to_c(type), truth(bytes), extents, first, ghosts, truth(fill_ghosts), status)
    else
      call c_protect_array(handle, kind_global, int(id, c_int), part, to_c(name), to_c(unit), to_c(description), &
                           to_c(type), truth(bytes), extents, first, no_numbers, truth(fill_ghosts), status)
    end if
  end subroutine

  !> Converts a logical that may be absent.
  integer(c_int) function truth(given)
    logical, intent(in), optional :: given
    truth = 0
    if (present(given)) truth = merge(1_c_int, 0_c_int, given)
  end function

  !> Refuses a call in this module, before it reaches C.
  subroutine refuse(handle, why, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: why
    integer, intent(out) :: status
    character(:), allocatable :: text
    integer :: i
    text = why//c_null_char
    handle%refusal = 1
    handle%retryable = 0
    do i = 1, min(len(text), size(handle%reason))
      handle%reason(i) = text(i:i)
    end do
    status = perdure_invalid_argument
  end subroutine

  !> See perdure_block.
  subroutine block_int64(handle, extents, first, last, status, grid)
    type(perdure_handle), intent(inout) :: handle
    type(*), dimension(:), intent(in) :: extents
    integer(int64), intent(out) :: first(:), last(:)
    integer, intent(out) :: status
    type(*), dimension(:), intent(in), optional :: grid
    integer(c_int64_t) :: whole(8), ranks(8)
    integer(c_int64_t), target :: turned(8), turned_ranks(8)
    integer(c_int64_t) :: begin(8), end(8)
    character(kind=c_char), target :: byte(3)
    type(c_array) :: array
    type(c_ptr) :: given
    integer :: d
    handle%refusal = 0
    first = 0
    last = -1
    d = c_numbers(extents, whole)
    given = c_null_ptr
    if (present(grid)) then
      if (c_numbers(grid, ranks) /= d) d = -1
      given = c_loc(turned_ranks)
    end if
    if (d < 0 .or. size(first) /= d .or. size(last) /= d) then
      call refuse(handle, "block: extents, first, last and grid are not up to 8 integers each, as many as there are "// &
                  "dimensions (invalid-argument)", status)
      return
    end if
    byte = ["v", "1", c_null_char]
    turned(:d) = whole(d:1:-1)
    if (present(grid)) turned_ranks(:d) = ranks(d:1:-1)
    array%type = c_loc(byte)
    array%dimensions = int(d, c_int)
    array%extents = c_loc(turned)
    begin = 0
    end = 0
    status = c_block(handle%native, array, given, begin, end)
    first = begin(d:1:-1) + 1
    last = end(d:1:-1)
  end subroutine

  !> See perdure_block.
  subroutine block_int32(handle, extents, first, last, status, grid)
    type(perdure_handle), intent(inout) :: handle
    type(*), dimension(:), intent(in) :: extents
    integer(int32), intent(out) :: first(:), last(:)
    integer, intent(out) :: status
    type(*), dimension(:), intent(in), optional :: grid
    integer(int64) :: from(size(first)), to(size(last))
    if (present(grid)) then
      call block_int64(handle, extents, from, to, status, grid)
    else
      call block_int64(handle, extents, from, to, status)
    end if
    if (status == perdure_ok .and. any([from, to] > huge(first))) &
      call refuse(handle, "block: its indices are larger than first and last can be (invalid-argument); declare them "// &
                  "as integer(int64)", status)
    first = 1
    last = 0
    if (status /= perdure_ok) return
    first = int(from, int32)
    last = int(to, int32)
  end subroutine

  !> Registers this rank's rows of a list; see perdure_protect_list() in perdure.h. [local] The last dimension of `rows` counts
  !! them: x(3, n) are n rows of 3. They are contiguous. A restore gives every rank as many rows as it has registered; together
  !! these must be all rows. `type` and `bytes` are as in perdure_protect_global().
  subroutine perdure_protect_list(handle, id, rows, name, status, unit, description, type, bytes)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(in) :: id
    type(*), dimension(..), intent(inout), target :: rows
    character(*), intent(in) :: name
    integer, intent(out) :: status
    character(*), intent(in), optional :: unit, description, type
    logical, intent(in), optional :: bytes
    call c_protect_array(handle, kind_list, int(id, c_int), rows, to_c(name), to_c(unit), to_c(description), &
                         to_c(type), truth(bytes), no_numbers, no_numbers, no_numbers, 0_c_int, status)
  end subroutine

  !> Registers an array or scalar that is equal on all ranks; see perdure_protect_replicated() in perdure.h. [local] It is
  !! contiguous. `type` and `bytes` are as in perdure_protect_global().
  subroutine perdure_protect_replicated(handle, id, object, name, status, unit, description, type, bytes)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(in) :: id
    type(*), dimension(..), intent(inout), target :: object
    character(*), intent(in) :: name
    integer, intent(out) :: status
    character(*), intent(in), optional :: unit, description, type
    logical, intent(in), optional :: bytes
    call c_protect_array(handle, kind_replicated, int(id, c_int), object, to_c(name), to_c(unit), to_c(description), &
                         to_c(type), truth(bytes), no_numbers, no_numbers, no_numbers, 0_c_int, status)
  end subroutine

  !> See perdure_stored_array.
  subroutine stored_array_int64(handle, name, version, id, info, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(in) :: id
    type(perdure_array_info), intent(out) :: info
    integer, intent(out) :: status
    type(c_array_info) :: found
    handle%refusal = 0
    status = c_stored_array(handle%native, trim(name)//c_null_char, version, int(id, c_int), found)
    info%extents = found%extents(found%dimensions:1:-1)
    info%element_bytes = found%element_bytes
    info%name = from_buffer(found%name)
    info%unit = from_buffer(found%unit)
    info%type = from_buffer(found%type)
  end subroutine

  !> Forgets a region. [local]
  subroutine perdure_unprotect(handle, id, status)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(in) :: id
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_unprotect(handle%native, int(id, c_int))
  end subroutine

  !> See perdure_checkpoint.
  subroutine checkpoint_int64(handle, name, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_checkpoint(handle%native, trim(name)//c_null_char, version)
  end subroutine

  !> See perdure_latest.
  subroutine latest_int64(handle, name, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(out) :: version
    integer, intent(out) :: status
    handle%refusal = 0
    version = perdure_latest_version
    status = c_latest(handle%native, trim(name)//c_null_char, version)
  end subroutine

  !> See perdure_stored_size.
  subroutine stored_size_int64(handle, name, version, id, element_bytes, count, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(in) :: id
    integer(int64), intent(out) :: element_bytes, count
    integer, intent(out) :: status
    integer(c_int64_t) :: both(2)
    handle%refusal = 0
    both = 0
    status = c_stored_size(handle%native, trim(name)//c_null_char, version, int(id, c_int), both)
    element_bytes = both(1)
    count = both(2)
  end subroutine

  !> See perdure_restore.
  subroutine restore_int64(handle, name, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_restore(handle%native, trim(name)//c_null_char, version)
  end subroutine

  !> See perdure_restore_regions.
  subroutine restore_regions_int64(handle, name, version, ids, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(in) :: ids(:)
    integer, intent(out) :: status
    integer(c_int) :: list(size(ids) + 1)
    handle%refusal = 0
    list(:size(ids)) = int(ids, c_int)
    status = c_restore_regions(handle%native, trim(name)//c_null_char, version, list, size(ids, kind=c_size_t))
  end subroutine

  !> See perdure_restore_branch.
  subroutine restore_branch_int64(handle, name, branch, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name, branch
    integer(int64), intent(in) :: version
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_restore_branch(handle%native, trim(name)//c_null_char, trim(branch)//c_null_char, version)
  end subroutine

  !> Describes the version that the last restore of this handle took. [local] perdure_not_found: no restore has succeeded.
  subroutine perdure_restored(handle, info, status)
    type(perdure_handle), intent(inout) :: handle
    type(perdure_restored_info), intent(out) :: info
    integer, intent(out) :: status
    type(c_restored_info) :: found
    handle%refusal = 0
    status = c_restored(handle%native, found)
    info%name = from_buffer(found%name)
    info%version = found%version
    info%branch = from_buffer(found%branch)
    info%created_ns = found%created_ns
    info%age_s = found%age_s
    info%source = found%source
    info%passed_over = found%passed_over
  end subroutine

  !> Describes a newer version that the last restore of perdure_latest_version did not take. [local] `which` is its number, from 1
  !! to perdure_restored_info%passed_over. The list is the same on all ranks; each is also a report. perdure_not_found: there is
  !! none of that number.
  subroutine perdure_passed_over(handle, which, info, status)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(in) :: which
    type(perdure_passed_over_info), intent(out) :: info
    integer, intent(out) :: status
    type(c_passed_over_info) :: found
    handle%refusal = 0
    status = c_passed_over(handle%native, int(which - 1, c_int), found)  ! 0 is beyond all versions
    info%version = found%version
    info%created_ns = found%created_ns
    info%why = from_buffer(found%why)
  end subroutine

  !> See perdure_wait.
  subroutine wait_int64(handle, name, version, level, timeout_s, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(in) :: level
    real(real64), intent(in) :: timeout_s
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_wait(handle%native, trim(name)//c_null_char, version, int(level, c_int), timeout_s)
  end subroutine

  !> See perdure_level_reached.
  subroutine level_reached_int64(handle, name, version, level, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(out) :: level, status
    handle%refusal = 0
    level = perdure_level_none
    status = c_level_reached(handle%native, trim(name)//c_null_char, version, level)
  end subroutine

  !> Tells about the background work. [local]
  subroutine perdure_get_progress(handle, progress, status)
    type(perdure_handle), intent(inout) :: handle
    type(perdure_progress), intent(out), target :: progress
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_get_progress(handle%native, c_loc(progress))
  end subroutine

  !> Takes the oldest report of the background that no call has taken yet; perdure_not_found and "" when there is none. [local]
  subroutine perdure_next_report(handle, text, status)
    type(perdure_handle), intent(inout) :: handle
    character(:), allocatable, intent(out) :: text
    integer, intent(out) :: status
    character(kind=c_char) :: buffer(4096)
    handle%refusal = 0
    buffer(1) = c_null_char
    status = c_next_report(handle%native, buffer, size(buffer, kind=c_size_t))
    text = from_buffer(buffer)
  end subroutine

  !> See perdure_retire.
  subroutine retire_int64(handle, name, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_retire(handle%native, trim(name)//c_null_char, version)
  end subroutine

  !> Tells whether `here` is true on any rank. [collective]
  subroutine perdure_any(handle, here, found, status)
    type(perdure_handle), intent(inout) :: handle
    logical, intent(in) :: here
    logical, intent(out) :: found
    integer, intent(out) :: status
    integer(c_int) :: any_rank
    handle%refusal = 0
    any_rank = 0
    status = c_any(handle%native, merge(1_c_int, 0_c_int, here), any_rank)
    found = any_rank /= 0
  end subroutine

  !> Tells whether a checkpoint is due, and why. [collective] `reasons` is a sum of perdure_due_signal, perdure_due_halt,
  !! perdure_due_end, the same on all ranks; 0: none is due.
  subroutine perdure_due(handle, reasons, status)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(out) :: reasons
    integer, intent(out) :: status
    integer(c_int) :: found
    handle%refusal = 0
    found = 0
    status = c_due(handle%native, found)
    reasons = found
  end subroutine

  !> Ends the handle; with an embedded engine, waits for data on its way to the store. [collective]
  subroutine perdure_close(handle, status)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_close(handle%native)
    handle%native = c_null_ptr
  end subroutine

  !> Gives the text of the last failure on this handle; "" when there was none.
  function perdure_error_text(handle) result(text)
    type(perdure_handle), intent(in) :: handle
    character(:), allocatable :: text
    if (handle%refusal == 0) then
      text = from_c(c_error_text(handle%native))
    else
      text = from_buffer(handle%reason)
    end if
  end function

  !> Tells whether the last failure may go away by itself.
  logical function perdure_error_retryable(handle) result(retryable)
    type(perdure_handle), intent(in) :: handle
    if (handle%refusal == 0) then
      retryable = c_error_retryable(handle%native) /= 0
    else
      retryable = handle%retryable /= 0
    end if
  end function

  !> Gives the name of a status, such as "not-found".
  function perdure_status_name(status) result(name)
    integer, intent(in) :: status
    character(:), allocatable :: name
    name = from_c(c_status_name(int(status, c_int)))
  end function

  !> Gives the version of the library, "0.1.0".
  function perdure_version() result(text)
    character(:), allocatable :: text
    text = from_c(c_version())
  end function

  !> Gives the perdure_t* behind the handle, for C code that works on it.
  type(c_ptr) function perdure_native(handle) result(native)
    type(perdure_handle), intent(in) :: handle
    native = handle%native
  end function

  !> See perdure_stored_array.
  subroutine stored_array_int32(handle, name, version, id, info, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int32), intent(in) :: version
    integer, intent(in) :: id
    type(perdure_array_info), intent(out) :: info
    integer, intent(out) :: status
    call stored_array_int64(handle, name, int(version, int64), id, info, status)
  end subroutine

  !> See perdure_checkpoint.
  subroutine checkpoint_int32(handle, name, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int32), intent(in) :: version
    integer, intent(out) :: status
    call checkpoint_int64(handle, name, int(version, int64), status)
  end subroutine

  !> See perdure_latest.
  subroutine latest_int32(handle, name, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int32), intent(out) :: version
    integer, intent(out) :: status
    integer(int64) :: found
    call latest_int64(handle, name, found, status)
    if (found > huge(version)) then
      call refuse(handle, "version: it is larger than a default integer can be (invalid-argument); pass an "// &
                  "integer(int64)", status)
      found = perdure_latest_version
    end if
    version = int(found, int32)
  end subroutine

  !> See perdure_stored_size.
  subroutine stored_size_of_int32(handle, name, version, id, element_bytes, count, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int32), intent(in) :: version
    integer, intent(in) :: id
    integer(int64), intent(out) :: element_bytes, count
    integer, intent(out) :: status
    call stored_size_int64(handle, name, int(version, int64), id, element_bytes, count, status)
  end subroutine

  !> See perdure_stored_size.
  subroutine stored_size_to_int32(handle, name, version, id, element_bytes, count, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(in) :: id
    integer(int32), intent(out) :: element_bytes, count
    integer, intent(out) :: status
    integer(int64) :: both(2)
    call stored_size_int64(handle, name, version, id, both(1), both(2), status)
    if (any(both > huge(count))) then
      call refuse(handle, "stored size: it is larger than default integers can be (invalid-argument); pass "// &
                  "integer(int64)", status)
      both = 0
    end if
    element_bytes = int(both(1), int32)
    count = int(both(2), int32)
  end subroutine

  !> See perdure_stored_size.
  subroutine stored_size_int32(handle, name, version, id, element_bytes, count, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int32), intent(in) :: version
    integer, intent(in) :: id
    integer(int32), intent(out) :: element_bytes, count
    integer, intent(out) :: status
    call stored_size_to_int32(handle, name, int(version, int64), id, element_bytes, count, status)
  end subroutine

  !> See perdure_restore.
  subroutine restore_int32(handle, name, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int32), intent(in) :: version
    integer, intent(out) :: status
    call restore_int64(handle, name, int(version, int64), status)
  end subroutine

  !> See perdure_restore_regions.
  subroutine restore_regions_int32(handle, name, version, ids, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int32), intent(in) :: version
    integer, intent(in) :: ids(:)
    integer, intent(out) :: status
    call restore_regions_int64(handle, name, int(version, int64), ids, status)
  end subroutine

  !> See perdure_restore_branch.
  subroutine restore_branch_int32(handle, name, branch, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name, branch
    integer(int32), intent(in) :: version
    integer, intent(out) :: status
    call restore_branch_int64(handle, name, branch, int(version, int64), status)
  end subroutine

  !> See perdure_wait.
  subroutine wait_int32(handle, name, version, level, timeout_s, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int32), intent(in) :: version
    integer, intent(in) :: level
    real(real64), intent(in) :: timeout_s
    integer, intent(out) :: status
    call wait_int64(handle, name, int(version, int64), level, timeout_s, status)
  end subroutine

  !> See perdure_level_reached.
  subroutine level_reached_int32(handle, name, version, level, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int32), intent(in) :: version
    integer, intent(out) :: level, status
    call level_reached_int64(handle, name, int(version, int64), level, status)
  end subroutine

  !> See perdure_retire.
  subroutine retire_int32(handle, name, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int32), intent(in) :: version
    integer, intent(out) :: status
    call retire_int64(handle, name, int(version, int64), status)
  end subroutine
end module
