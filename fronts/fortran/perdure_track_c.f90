! Declares perdure_track.h for Fortran, for module perdure_track only. Names and conventions are those of the header.
module perdure_track_c
  use iso_c_binding
  implicit none
  public

  !> perdure_track_policy of perdure_track.h.
  type, bind(c) :: c_policy
    type(c_ptr) :: name = c_null_ptr
    real(c_double) :: every_s = 0
    integer(c_int64_t) :: every_regions = 0
    type(c_ptr) :: before = c_null_ptr
    type(c_ptr) :: only = c_null_ptr
    integer(c_size_t) :: only_count = 0
    integer(c_int64_t) :: learns = 0
    type(c_ptr) :: report = c_null_ptr
    integer(c_int) :: on_signals = 0
    real(c_double) :: patience_s = 0
  end type

  !> perdure_access of perdure_track.h.
  type, bind(c) :: c_access
    integer(c_int) :: mode = 0
    integer(c_int) :: data = -1
    type(c_ptr) :: begin = c_null_ptr
    type(c_ptr) :: end = c_null_ptr
    type(c_ptr) :: address = c_null_ptr
    integer(c_size_t) :: bytes = 0
  end type

  !> perdure_track_info of perdure_track.h.
  type, bind(c) :: c_track_info
    integer(c_int) :: restarted = 0
    integer(c_int64_t) :: goes_on_at = 0
    integer(c_int64_t) :: regions = 0
    integer(c_int64_t) :: checkpoints = 0
    integer(c_int64_t) :: last_bytes = 0
    integer(c_int64_t) :: state_bytes = 0
    real(c_double) :: last_blocking_s = 0
    character(kind=c_char) :: last_before(72) = c_null_char
  end type

  interface
    integer(c_int) function c_track_open(handle, policy, out, message, message_bytes) bind(c, name="perdure_track_open")
      import
      type(c_ptr), value :: handle
      type(c_policy), intent(in) :: policy
      type(c_ptr), intent(out) :: out
      character(kind=c_char), intent(out) :: message(*)
      integer(c_size_t), value :: message_bytes
    end function
    integer(c_int) function c_track_start(track) bind(c, name="perdure_track_start")
      import
      type(c_ptr), value :: track
    end function
    integer(c_int) function c_track_begin(track, name, where, accesses, count, run) bind(c, name="perdure_track_begin")
      import
      type(c_ptr), value :: track
      character(kind=c_char), intent(in) :: name(*), where(*)
      type(c_access), intent(in) :: accesses(*)
      integer(c_size_t), value :: count
      integer(c_int), intent(out) :: run
    end function
    integer(c_int) function c_track_end(track) bind(c, name="perdure_track_end")
      import
      type(c_ptr), value :: track
    end function
    integer(c_int) function c_track_swap(track, data, other) bind(c, name="perdure_track_swap")
      import
      type(c_ptr), value :: track
      integer(c_int), value :: data, other
    end function
    integer(c_int) function c_track_tick(track) bind(c, name="perdure_track_tick")
      import
      type(c_ptr), value :: track
    end function
    integer(c_int) function c_track_trigger(track) bind(c, name="perdure_track_trigger")
      import
      type(c_ptr), value :: track
    end function
    integer(c_int) function c_track_fast_forward(track, payload, bytes, jumped) &
      bind(c, name="perdure_track_fast_forward")
      import
      type(c_ptr), value :: track, payload
      integer(c_size_t), value :: bytes
      integer(c_int), intent(out) :: jumped
    end function
    integer(c_int) function c_track_get_info(track, info) bind(c, name="perdure_track_get_info")
      import
      type(c_ptr), value :: track
      type(c_track_info), intent(out) :: info
    end function
    integer(c_int) function c_track_next_report(track, text, text_bytes) bind(c, name="perdure_track_next_report")
      import
      type(c_ptr), value :: track
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), value :: text_bytes
    end function
    type(c_ptr) function c_track_error_text(track) bind(c, name="perdure_track_error_text")
      import
      type(c_ptr), value :: track
    end function
    integer(c_int) function c_track_close(track, message, message_bytes) bind(c, name="perdure_track_close")
      import
      type(c_ptr), intent(inout) :: track
      character(kind=c_char), intent(out) :: message(*)
      integer(c_size_t), value :: message_bytes
    end function
  end interface
end module
