#!/usr/bin/env python3
"""Compares the Taylor-Green vortex of taylor_green with a reference: spectral_vortex LINES [CELLS]

It reads the output of taylor_green, and computes the same incompressible flow (Reynolds number 1600). The method is
pseudo-spectral, with CELLS modes in each dimension (2/3 dealiased, Runge-Kutta of fourth order). It prints the
differences in kinetic energy and enstrophy. Mach number 0.1 makes them differ by some 0.1 %."""
import sys

import numpy

REYNOLDS = 1600.0


class Flow:
    """Velocities as Fourier coefficients, by component."""

    def __init__(self, cells):
        self.cells = cells
        x = numpy.arange(cells) * (2 * numpy.pi / cells)
        x, y, z = numpy.meshgrid(x, x, x, indexing="ij")
        at_start = (numpy.sin(x) * numpy.cos(y) * numpy.cos(z), -numpy.cos(x) * numpy.sin(y) * numpy.cos(z), numpy.zeros_like(x))
        numbers = numpy.fft.fftfreq(cells, 1 / cells)
        self.k = numpy.array(numpy.meshgrid(numbers, numbers, numpy.fft.rfftfreq(cells, 1 / cells), indexing="ij"))
        self.k2 = (self.k**2).sum(0)
        self.divisor = numpy.where(self.k2 == 0, 1, self.k2)
        self.kept = (numpy.abs(self.k) < cells / 3).all(0)
        self.u = numpy.array([numpy.fft.rfftn(one) for one in at_start])
        self.time = 0.0

    def vorticity(self, u):
        kx, ky, kz = 1j * self.k
        return numpy.array([ky * u[2] - kz * u[1], kz * u[0] - kx * u[2], kx * u[1] - ky * u[0]])

    def back(self, coefficients):
        return numpy.array([numpy.fft.irfftn(one, s=(self.cells,) * 3) for one in coefficients])

    def rate(self, u):
        """Uses the rotational form, projected to zero divergence."""
        advected = numpy.cross(self.back(u), self.back(self.vorticity(u)), axis=0)
        rate = numpy.array([numpy.fft.rfftn(one) for one in advected]) * self.kept
        rate -= self.k * ((self.k * rate).sum(0) / self.divisor)
        return rate - self.k2 / REYNOLDS * u

    def advance_to(self, time, most=0.02):
        steps = int(numpy.ceil((time - self.time) / most))
        dt = (time - self.time) / max(steps, 1)
        for _ in range(steps):
            one = self.rate(self.u)
            two = self.rate(self.u + dt / 2 * one)
            three = self.rate(self.u + dt / 2 * two)
            four = self.rate(self.u + dt * three)
            self.u = self.u + dt / 6 * (one + 2 * two + 2 * three + four)
        self.time = time

    def figures(self):
        """Returns kinetic energy and enstrophy, means over the cube."""
        return (self.back(self.u)**2).sum(0).mean() / 2, (self.back(self.vorticity(self.u))**2).sum(0).mean() / 2


def main():
    lines = [line.split() for line in open(sys.argv[1], encoding="utf-8")]
    rows = [[float(word) for word in words] for words in lines if len(words) == 4 and words[0].isdigit()]
    flow = Flow(int(sys.argv[2]) if len(sys.argv) > 2 else 48)
    worst = [0.0, 0.0]
    for _, time, *measured in rows:
        flow.advance_to(time)
        for i, (value, reference) in enumerate(zip(measured, flow.figures())):
            worst[i] = max(worst[i], abs(value / reference - 1))
    print(f"{len(rows)} lines up to time {rows[-1][1]:.3f}: energy within {100 * worst[0]:.4f} %, enstrophy within {100 * worst[1]:.4f} %")
    return 0 if len(rows) > 3 and rows[-1][1] > 1.9 and worst[0] < 0.001 and worst[1] < 0.005 else 1


if __name__ == "__main__":
    sys.exit(main())
