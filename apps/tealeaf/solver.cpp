#include "solver.hpp"

#include <cmath>

namespace tealeaf {
namespace {

using mesh::into;
using mesh::read;
using mesh::read_write;
using mesh::write;

}  // namespace

Solver::Solver(Equation& equation)
    : e_(equation), deck_(equation.deck), sum_(equation.run.sum()), other_sum_(equation.run.sum()) {
  if (preconditioned() || deck_.method == Method::ppcg) z_ = &e_.field("z");
  if (deck_.method != Method::ppcg) return;
  sd_ = &e_.field("sd");
  rtemp_ = &e_.field("rtemp");
  utemp_ = &e_.field("utemp");
  r_store_ = &e_.field("r_store");
}

Solved Solver::solve() {
  inner_ = 0;
  const double squares = e_.residual();
  initial_ = error_ = std::sqrt(std::abs(squares));
  old_error_ = squares;
  if (initial_ == 0) return {0, 0, 0, true};
  return deck_.method == Method::jacobi ? jacobi() : conjugate_gradients();
}

Solved Solver::jacobi() {
  for (std::int64_t n = 1; n <= deck_.most_iterations; ++n) {
    error_ = std::sqrt(jacobi_step());
    if (converged()) return ended(n - 1);
  }
  return ended(deck_.most_iterations);
}

double Solver::jacobi_step() {
  e_.run.par_loop(
      "u before", e_.block, e_.cells, [](auto& before, const auto& u) { before(0, 0) = u(0, 0); }, write(e_.r),
      read(e_.u));
  e_.mirror(e_.r);
  e_.run.par_loop(
      "jacobi", e_.block, e_.cells,
      [op = e_.a](auto& u, const auto& un, const auto& start, const auto& kx, const auto& ky, double& change) {
        u(0, 0) = (start(0, 0) + op.rx * (kx(1, 0) * un(1, 0) + kx(0, 0) * un(-1, 0)) +
                   op.ry * (ky(0, 1) * un(0, 1) + ky(0, 0) * un(0, -1))) /
                  (1.0 + op.rx * (kx(0, 0) + kx(1, 0)) + op.ry * (ky(0, 0) + ky(0, 1)));
        change += std::abs(u(0, 0) - un(0, 0));
      },
      write(e_.u), read(e_.r, e_.star), read(e_.u0), read(e_.kx, e_.to_right), read(e_.ky, e_.to_top), into(sum_));
  return e_.run.collect(sum_);
}

Solved Solver::conjugate_gradients() {
  begin_cg();
  for (std::int64_t n = 1; n <= deck_.most_iterations; ++n) {
    if (is_to_switch(n)) return deck_.method == Method::chebyshev ? chebyshev(n) : ppcg(n);
    cg_step();
    if (converged()) return ended(n - 1);
    old_error_ = error_;
  }
  return ended(deck_.most_iterations);
}

void Solver::begin_cg() {
  alphas_.clear();
  betas_.clear();
  if (preconditioned()) e_.precondition(e_.r, *z_);
  e_.run.par_loop(
      "first direction", e_.block, e_.cells,
      [](auto& p, const auto& rest, const auto& r, double& product) {
        p(0, 0) = rest(0, 0);
        product += r(0, 0) * p(0, 0);
      },
      write(e_.p), read(rest()), read(e_.r), into(sum_));
  rro_ = e_.run.collect(sum_);
  e_.mirror(e_.p);
}

void Solver::cg_step() {
  e_.with_operator(
      "w = A p", e_.p,
      [op = e_.a](const auto& p, const auto& kx, const auto& ky, const auto& di, auto& w, double& pw) {
        w(0, 0) = op(p, kx, ky, di);
        pw += w(0, 0) * p(0, 0);
      },
      write(e_.w), into(sum_));
  const double alpha = rro_ / e_.run.collect(sum_);
  const double rrn = update(alpha);
  const double beta = rrn / rro_;
  e_.run.par_loop(
      "direction", e_.block, e_.cells, [beta](auto& p, const auto& rest) { p(0, 0) = rest(0, 0) + beta * p(0, 0); },
      read_write(e_.p), read(rest()));
  e_.mirror(e_.p);
  alphas_.push_back(alpha);
  betas_.push_back(beta);
  rro_ = rrn;
  error_ = std::sqrt(std::abs(rrn));
}

/// Updates u and r by `alpha`. Returns the new sum of r * M^-1 r.
double Solver::update(double alpha) {
  const auto go = [alpha](auto& u, auto& r, const auto& p, const auto& w) {
    u(0, 0) += alpha * p(0, 0);
    r(0, 0) -= alpha * w(0, 0);
  };
  if (!preconditioned()) {
    e_.run.par_loop(
        "u and r", e_.block, e_.cells,
        [go](auto& u, auto& r, const auto& p, const auto& w, double& squares) {
          go(u, r, p, w);
          squares += r(0, 0) * r(0, 0);
        },
        read_write(e_.u), read_write(e_.r), read(e_.p), read(e_.w), into(sum_));
    return e_.run.collect(sum_);
  }
  e_.run.par_loop("u and r, preconditioned", e_.block, e_.cells, go, read_write(e_.u), read_write(e_.r), read(e_.p),
                  read(e_.w));
  e_.precondition(e_.r, *z_);
  e_.run.par_loop(
      "r z", e_.block, e_.cells, [](const auto& r, const auto& z, double& product) { product += r(0, 0) * z(0, 0); },
      read(e_.r), read(*z_), into(sum_));
  return e_.run.collect(sum_);
}

/// Whether CG has done its part: in the first solve once it has found the eigenvalues, later after one step.
bool Solver::is_to_switch(std::int64_t n) {
  if (deck_.method == Method::cg) return false;
  if (spectrum_.known) return n == 2;
  if (n < deck_.presteps || std::abs(old_error_) > deck_.presteps_error) return false;
  spectrum_ = spectrum_of(alphas_, betas_);
  return spectrum_.known;
}

/// Checks residuals at intervals, once the expected number of steps is done.
Solved Solver::chebyshev(std::int64_t n) {
  constexpr std::int64_t kLook = 10;
  if (steps_.empty()) steps_ = chebyshev_steps(spectrum_, static_cast<std::size_t>(deck_.most_iterations));
  const double root = std::sqrt(spectrum_.condition()), gamma = (root - 1) / (root + 1);
  const auto enough =
      static_cast<std::int64_t>(std::lround(std::log(deck_.epsilon * initial_ / (2 * error_)) / std::log(gamma)));
  e_.residual();
  if (preconditioned()) e_.precondition(e_.r, *z_);
  add_direction(spectrum_.theta());
  for (std::int64_t done = 1; n < deck_.most_iterations; ++n, ++done) {
    chebyshev_step(steps_[static_cast<std::size_t>(done - 1)]);
    if (done < enough || done % kLook != 0) continue;
    error_ = std::sqrt(std::abs(e_.residual()));
    if (converged()) return ended(n);
  }
  error_ = std::sqrt(std::abs(e_.residual()));
  return ended(deck_.most_iterations);
}

void Solver::add_direction(double theta) {
  e_.run.par_loop(
      "first of chebyshev", e_.block, e_.cells,
      [theta](auto& p, auto& u, const auto& rest) {
        p(0, 0) = rest(0, 0) / theta;
        u(0, 0) += p(0, 0);
      },
      write(e_.p), read_write(e_.u), read(rest()));
  e_.mirror(e_.u);
}

void Solver::chebyshev_step(const ChebyshevStep& step) {
  e_.with_operator(
      "r of chebyshev", e_.u,
      [op = e_.a](const auto& u, const auto& kx, const auto& ky, const auto& di, auto& r, const auto& start) {
        r(0, 0) = start(0, 0) - op(u, kx, ky, di);
      },
      write(e_.r), read(e_.u0));
  if (preconditioned()) e_.precondition(e_.r, *z_);
  e_.run.par_loop(
      "chebyshev", e_.block, e_.cells,
      [step](auto& p, auto& u, const auto& rest) {
        p(0, 0) = step.a * p(0, 0) + step.b * rest(0, 0);
        u(0, 0) += p(0, 0);
      },
      read_write(e_.p), read_write(e_.u), read(rest()));
  e_.mirror(e_.u);
}

Solved Solver::ppcg(std::int64_t n) {
  if (steps_.empty()) {
    const double side = std::sqrt(static_cast<double>(deck_.x_cells * deck_.y_cells));
    const std::int64_t inner =
        deck_.ppcg_inner_steps >= 0 ? deck_.ppcg_inner_steps : 4 * static_cast<std::int64_t>(std::sqrt(side));
    steps_ = chebyshev_steps(spectrum_, static_cast<std::size_t>(inner));
  }
  polynomial();
  e_.run.par_loop(
      "direction of z", e_.block, e_.cells, [](auto& p, const auto& z) { p(0, 0) = z(0, 0); }, write(e_.p), read(*z_));
  e_.mirror(e_.p);
  for (; n <= deck_.most_iterations; ++n) {
    error_ = std::sqrt(std::abs(ppcg_step()));
    if (converged()) return ended(n - 1);
  }
  return ended(deck_.most_iterations);
}

/// Computes z from r, by Chebyshev's polynomial.
void Solver::polynomial() {
  if (preconditioned()) e_.precondition(e_.r, *z_);
  e_.run.par_loop(
      "begin polynomial", e_.block, e_.cells,
      [theta = spectrum_.theta()](auto& sd, auto& rtemp, auto& utemp, const auto& rest, const auto& r) {
        sd(0, 0) = rest(0, 0) / theta;
        rtemp(0, 0) = r(0, 0);
        utemp(0, 0) = sd(0, 0);
      },
      write(*sd_), write(*rtemp_), write(*utemp_), read(rest()), read(e_.r));
  for (const ChebyshevStep& step : steps_) {
    e_.mirror(*sd_);
    e_.with_operator(
        "rest of polynomial", *sd_,
        [op = e_.a](const auto& sd, const auto& kx, const auto& ky, const auto& di, auto& rtemp) {
          rtemp(0, 0) -= op(sd, kx, ky, di);
        },
        read_write(*rtemp_));
    if (preconditioned()) e_.precondition(*rtemp_, *z_);
    e_.run.par_loop(
        "polynomial", e_.block, e_.cells,
        [step](auto& sd, auto& utemp, const auto& rest) {
          sd(0, 0) = step.a * sd(0, 0) + step.b * rest(0, 0);
          utemp(0, 0) += sd(0, 0);
        },
        read_write(*sd_), read_write(*utemp_), read(preconditioned() ? *z_ : *rtemp_));
  }
  inner_ += static_cast<std::int64_t>(steps_.size());
  e_.run.par_loop(
      "z", e_.block, e_.cells, [](auto& z, const auto& utemp) { z(0, 0) = utemp(0, 0); }, write(*z_), read(*utemp_));
}

/// Returns the new r * z.
double Solver::ppcg_step() {
  e_.with_operator(
      "w = A p, r is stored", e_.p,
      [op = e_.a](const auto& p, const auto& kx, const auto& ky, const auto& di, auto& w, auto& stored, const auto& r,
                  const auto& z, double& pw, double& rz) {
        w(0, 0) = op(p, kx, ky, di);
        pw += w(0, 0) * p(0, 0);
        stored(0, 0) = r(0, 0);
        rz += z(0, 0) * r(0, 0);
      },
      write(e_.w), write(*r_store_), read(e_.r), read(*z_), into(sum_), into(other_sum_));
  e_.run.collect({&sum_, &other_sum_});
  rro_ = other_sum_.value();
  e_.run.par_loop(
      "u and r of ppcg", e_.block, e_.cells,
      [alpha = rro_ / sum_.value()](auto& u, auto& r, const auto& p, const auto& w) {
        u(0, 0) += alpha * p(0, 0);
        r(0, 0) -= alpha * w(0, 0);
      },
      read_write(e_.u), read_write(e_.r), read(e_.p), read(e_.w));
  polynomial();
  e_.run.par_loop(
      "change of r", e_.block, e_.cells,
      [](const auto& r, const auto& stored, const auto& z, double& product) {
        product += (r(0, 0) - stored(0, 0)) * z(0, 0);
      },
      read(e_.r), read(*r_store_), read(*z_), into(sum_));
  const double rrn = e_.run.collect(sum_);
  e_.run.par_loop(
      "direction of z and p", e_.block, e_.cells,
      [beta = rrn / rro_](auto& p, const auto& z) { p(0, 0) = z(0, 0) + beta * p(0, 0); }, read_write(e_.p), read(*z_));
  e_.mirror(e_.p);
  return rrn;
}

}  // namespace tealeaf
