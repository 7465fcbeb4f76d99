! Tests tracked regions in Fortran, run by ctest with the directory to work in as argument. A life ends by leaving everything
! behind, as a killed process does. Status 1 when something failed.
program perdure_track_test
  use iso_c_binding, only: c_int
  use iso_fortran_env, only: int64, real64
  use expectation
  use perdure
  use perdure_track
  implicit none
  interface
    integer(c_int) function raise(signal) bind(c)
      import
      integer(c_int), value :: signal
    end function
  end interface
  integer(c_int), parameter :: sigusr1 = 10
  integer, parameter :: n = 8, m = 6
  integer(int64), parameter :: extents(2) = [n, m], first(2) = [1, 1]
  real(real64), target :: memory(0:n + 1, 0:m + 1, 2)
  type(perdure_handle) :: handle
  type(perdure_tracker) :: track
  type(perdure_track_info) :: info
  character(1024) :: directory
  integer :: status, ran
  real(real64) :: expected

  call get_command_argument(1, directory)
  expected = undisturbed()
  call goes_on_behind_what_was_done()
  call refuses_another_program()
  call refuses_what_cannot_be()
  call goes_where_the_payload_says()
  call is_saved_when_a_signal_asks()
  if (failures > 0) error stop 1
  print '(a)', "all passed"

contains

  subroutine good(what)
    character(*), intent(in) :: what
    call expect(status == perdure_ok, what//": "//perdure_track_error_text(track))
  end subroutine

  subroutine begin_life()
    character(:), allocatable :: message
    call perdure_open(handle, status, options="store.path="//trim(directory)//"/store;node.path="//trim(directory)// &
                      "/node;tier.file.path="//trim(directory)//"/file;tier.memory.max_bytes=64MiB")
    call expect(status == perdure_ok, "open")
    call perdure_track_open(handle, track, status, name="plate", every_regions=5_int64, learns=12_int64, &
                            message=message)
    call expect(status == perdure_ok .and. message == "", "open a tracker: "//message)
  end subroutine

  subroutine end_life()
    call perdure_track_close(track, status)
    call perdure_close(handle, status)
    call expect(status == perdure_ok, "close")
  end subroutine

  subroutine advance(from, to, change)
    real(real64), intent(in) :: from(0:, 0:)
    real(real64), intent(inout) :: to(0:, 0:)
    real(real64), intent(out) :: change
    to(1:n, 1:m) = 0.2_real64*(from(1:n, 1:m) + from(0:n - 1, 1:m) + from(2:n + 1, 1:m) + from(1:n, 0:m - 1) &
                               + from(1:n, 2:m + 1))
    change = sum(abs(to(1:n, 1:m) - from(1:n, 1:m)))
  end subroutine

  subroutine fill()
    memory = 1
    memory(1:n, 1:m, 1) = 2
    memory(3, 4, 1) = 90
  end subroutine

  ! Gives the edge of the plate when it hardly changes any more, without regions.
  real(real64) function undisturbed() result(edge)
    real(real64) :: change
    integer :: now
    call fill()
    change = 1
    now = 1
    do while (change > 1e-3_real64)
      call advance(memory(:, :, now), memory(:, :, 3 - now), change)
      now = 3 - now
    end do
    edge = sum(memory(1, 1:m, now))
  end function

  ! Does the same with regions, as long as it lives: so many steps.
  real(real64) function cool_down(steps, other) result(edge)
    integer, intent(in) :: steps
    logical, intent(in) :: other
    real(real64), pointer :: now(:, :), next(:, :), swapped(:, :)
    real(real64), target :: change, given
    type(perdure_data) :: now_data, next_data
    integer :: step
    logical :: run
    call fill()
    now(0:, 0:) => memory(:, :, 1)
    next(0:, 0:) => memory(:, :, 2)
    call perdure_track_array(track, now(1:n, 1:m), "now", extents, first, now_data, status, unit="K")
    call good("declare")
    call perdure_track_array(track, next(1:n, 1:m), "next", [n, m], [1, 1], next_data, status)
    call good("declare the other")
    call perdure_track_start(track, status)
    call good("start")
    change = 1
    given = -1
    ran = 0
    do step = 1, steps
      if (change <= 1e-3_real64) exit
      call perdure_track_begin(track, merge("other  ", "advance", other), &
                               [perdure_reads(now_data), perdure_writes(next_data), perdure_gives(change)], run, status)
      if (other) return
      call good("begin")
      if (run) then
        call advance(now, next, change)
        ran = ran + 1
        call perdure_track_end(track, status)
        call good("end")
      end if
      swapped => now
      now => next
      next => swapped
      call perdure_track_swap(track, now_data, next_data, status)
      call good("swap")
      call perdure_track_tick(track, status)
      call good("tick")
    end do
    call perdure_track_get_info(track, info, status)
    call good("info")
    edge = given
    if (step > steps) return
    call perdure_track_begin(track, "edge", [perdure_within(perdure_reads(now_data), [1_int64, 1_int64], &
                             [1_int64, extents(2)]), perdure_gives(given)], run, status, where="cool_down")
    call good("begin with a part")
    if (run) then
      given = sum(now(1, 1:m))
      call perdure_track_end(track, status)
    end if
    edge = given
  end function

  subroutine goes_on_behind_what_was_done()
    character(:), allocatable :: report
    real(real64) :: edge
    call begin_life()
    edge = cool_down(40, .false.)
    call expect(.not. info%restarted .and. info%checkpoints > 1 .and. info%last_before == "advance", "checkpoints")
    call expect(info%state_bytes == 2*8*n*m, "what all data is")
    call expect(info%last_bytes > 0 .and. info%last_bytes < info%state_bytes, "one plate and a bit is saved")
    call expect(ran == 40, "it did not come to its end")
    call perdure_track_next_report(track, report, status)
    call expect(status == perdure_not_found .and. report == "", "nothing went wrong with them")
    call end_life()
    call begin_life()
    edge = cool_down(1000, .false.)
    call expect(abs(edge - expected) <= 0, "the same value comes out")
    call expect(info%restarted .and. info%goes_on_at > 40, "regions were skipped")
    call expect(all(nint(memory(0, :, :)) == 1) .and. all(nint(memory(:, m + 1, :)) == 1), "the frame is as it was")
    call perdure_track_close(track, status)
    call expect(status == perdure_ok, "it came to where it was to go on from")
    call perdure_close(handle, status)
  end subroutine

  subroutine refuses_another_program()
    real(real64) :: edge
    character(:), allocatable :: message
    call begin_life()
    edge = cool_down(1000, .true.)
    call expect(status == perdure_mismatch, "another program is refused")
    call expect(index(perdure_track_error_text(track), "other") > 0, "it says so: "//perdure_track_error_text(track))
    call perdure_track_close(track, status, message)
    call expect(status == perdure_mismatch .and. index(message, "other") > 0, "and when it is closed: "//message)
    call perdure_close(handle, status)
  end subroutine

  subroutine expect_refused(reason)
    character(*), intent(in) :: reason
    call expect(status == perdure_invalid_argument, "refused: "//reason)
    call expect(index(perdure_track_error_text(track), reason) > 0, &
                "it says "//reason//": "//perdure_track_error_text(track))
    call perdure_track_trigger(track, status)
    call expect(status == perdure_invalid_argument .and. index(perdure_track_error_text(track), reason) > 0, &
                "and stays so: "//reason)
    call perdure_track_close(track, status)
    call expect(status == perdure_invalid_argument, "and when it is closed: "//reason)
    call perdure_track_open(handle, track, status, only=["field "], every_s=1.0_real64)
  end subroutine

  subroutine declare(data, number)
    type(perdure_data), intent(out) :: data, number
    real(real64), target, save :: one
    call perdure_track_array(track, memory(1:n, 1:m, 1), "field", extents, first, data, status)
    call perdure_track_replicated(track, one, "number", number, status)
    call good("declare what is replicated")
    call perdure_track_start(track, status)
    call good("start")
  end subroutine

  subroutine refuses_what_cannot_be()
    type(perdure_data) :: data, number
    real(real64), target :: gapped(4), other(n, m)
    real, target :: short(n, m)
    logical :: run
    call begin_life()
    call perdure_track_array(track, memory(1:n, 1:m, 1), "field", extents(:1), first, data, status)
    call expect_refused("data 'field': extents, first and ghosts are not as many integers")
    call perdure_track_array(track, memory(1:n, 1:m, 1), "field", extents, [1_int64, 2_int64], data, status)
    call expect_refused("not within")
    call perdure_track_replicated(track, gapped(1:4:2), "gapped", data, status)
    call expect_refused("data 'gapped': the array is not contiguous")
    call declare(data, number)
    call perdure_track_begin(track, "part", [perdure_within(perdure_reads(data), [1], [1])], run, status)
    call expect(.not. run, "what is refused is not run")
    call expect_refused("region 'part': what it accesses is within indices")
    call declare(data, number)
    call perdure_track_begin(track, "part", [perdure_within(perdure_reads(data), [n + 1_int64, 1_int64], &
                                                            [n + 1_int64, 1_int64])], run, status)
    call expect_refused("'part': it uses [0:1, 8:9] of data 'field', which is [0:6, 0:8]")
    call declare(data, number)
    call perdure_track_begin(track, "value", [perdure_gives(gapped(1:4:2))], run, status)
    call expect_refused("'value': a value that it gives has no address")
    call declare(data, number)
    call perdure_track_swap(track, data, number, status)
    call expect_refused("a swap of data 'field' and data 'number'")
    call declare(data, number)
    call perdure_track_moved(track, data, other(:, 1), first(:1), status)
    call expect_refused("has not as many dimensions as it has")
    call declare(data, number)
    call perdure_track_moved(track, data, short, first, status)
    call expect_refused("its elements have another size where it lies now")
    call declare(data, number)
    call perdure_track_begin(track, "outer", [perdure_touches_all()], run, status)
    call expect(run, "it is run")
    call perdure_track_begin(track, "inner", [perdure_reads_writes(data)], run, status)
    call expect_refused("'inner': it comes within region 'outer'")
    call end_life()
    call perdure_track_start(track, status)
    call expect(status /= perdure_ok, "calls on a closed tracker fail")
  end subroutine

  ! The array is elsewhere in each step.
  subroutine goes_where_the_payload_says()
    integer(int64), target :: places(0:41)
    type(perdure_data) :: data
    integer, target :: step
    integer :: life, began_at, before
    logical :: run, jumped
    do life = 33, 40, 7
      call begin_life()
      call perdure_track_close(track, status)
      call perdure_track_open(handle, track, status, name="steps", every_regions=5_int64, learns=12_int64)
      places = -7
      places(0) = 1
      before = 0
      began_at = 0
      call perdure_track_array(track, places(0:0), "value", [1_int64], [1_int64], data, status)
      call perdure_track_start(track, status)
      call good("start with a payload")
      step = 0
      do while (step < life)
        call perdure_track_fast_forward(track, step, jumped, status)
        call good("fast forward")
        if (jumped) began_at = step
        if (before /= step) then
          places(step) = places(before)
          call perdure_track_moved(track, data, places(step:step), [1], status)
          call good("moved")
          before = step
        end if
        call perdure_track_begin(track, "add", [perdure_reads_writes(data)], run, status)
        call good("begin to add")
        if (run) places(step) = places(step) + step
        if (run) call perdure_track_end(track, status)
        step = step + 1
      end do
      call expect((began_at > 20) .eqv. (life == 40), "it goes there at once")
      call expect(places(life - 1) == 1 + life*(life - 1)/2, "the value is right")
      call end_life()
    end do
  end subroutine

  subroutine is_saved_when_a_signal_asks()
    type(perdure_data) :: data
    real(real64), target :: number
    integer :: step
    logical :: run
    call begin_life()
    call perdure_track_close(track, status)
    call perdure_track_open(handle, track, status, name="signals", learns=12_int64, on_signals=.true.)
    number = 0
    call perdure_track_replicated(track, number, "number", data, status)
    call perdure_track_start(track, status)
    do step = 1, 60
      if (step == 30) call expect(raise(sigusr1) == 0, "raise")
      call perdure_track_begin(track, "add", [perdure_reads_writes(data)], run, status)
      number = number + 1
      call perdure_track_end(track, status)
      call perdure_track_tick(track, status)
      call good("tick")
    end do
    call perdure_track_get_info(track, info, status)
    call expect(status == perdure_ok .and. info%checkpoints == 1, "one checkpoint")
    call end_life()
  end subroutine
end program
