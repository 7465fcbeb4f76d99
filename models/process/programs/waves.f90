! This Fortran program is captured by tests. It has arrays that come and go, a nameless scratch file, and its own output
! buffers. Its output does not depend on its duration.
program waves
  implicit none
  integer, parameter :: points = 20000, rounds = 60
  real(8), allocatable :: u(:), v(:), taken(:)
  real(8) :: total, back
  integer :: i, round, wrong
  wrong = 0
  write (*, '(a)') 'begun'
  flush (6)
  open (unit=10, status='scratch', form='unformatted', access='stream')
  allocate (u(points), v(points))
  do i = 1, points
    u(i) = sin(0.01d0 * i)
  end do
  v = 0
  do round = 1, rounds
    allocate (taken(points + round))
    taken(1:points) = u
    do i = 2, points - 1
      v(i) = v(i) + 0.1d0 * (taken(i - 1) - 2 * taken(i) + taken(i + 1))
    end do
    u = u + v
    total = sum(u)
    write (10) total
    deallocate (taken)
    do i = 1, 60
      v = v * 0.9999d0
    end do
  end do
  rewind (10)
  do round = 1, rounds
    read (10) back
  end do
  if (back /= total) wrong = 1
  write (*, '(a, z16.16, a, i0)') 'waves ', total, ', wrong ', wrong
  if (wrong /= 0) stop 1
end program
