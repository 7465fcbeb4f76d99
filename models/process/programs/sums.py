"""This Python and numpy program is captured by tests: threads, generators, large arrays, big integers, text. Its output does not
depend on its duration."""
import hashlib
import threading
import time

import numpy

print("begun", flush=True)
random = numpy.random.default_rng(16)
matrix = random.integers(0, 1000, (60, 60)).astype(numpy.float64)
vector = numpy.arange(60.0)
sums, wrong = {}, 0


def count(name):
    total = 1
    for step in range(3000):
        total = (total * 31 + step) % (1 << 521)
        if step % 300 == 0:
            time.sleep(0.002)  # wait: it is captured meanwhile
    sums[name] = total


threads = [threading.Thread(target=count, args=(name,)) for name in ("one", "two")]
for thread in threads:
    thread.start()
digest = hashlib.sha256()
numbers = (number * number for number in range(1 << 30))
for step in range(60):
    vector = (matrix @ vector) % 1009
    kept = numpy.full(20_000 + step, step)
    digest.update(vector.tobytes() + kept.tobytes() + str(next(numbers)).encode())
    time.sleep(0.003)  # wait: it is captured meanwhile
for thread in threads:
    thread.join()
wrong += sums["one"] != sums["two"]
print(f"sums {digest.hexdigest()} {sums['one'] % 1_000_000_007}, wrong {wrong}")
