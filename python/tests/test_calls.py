"""How calls are carried out: progress, Ctrl-C, threads, processes."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import synergraph as sg
from conftest import random_attention


def slow(n=1500):
    """A head that hardly moves: seconds of work."""
    matrix = (1 - 1e-9) * np.eye(n) + 1e-9 * np.eye(n, k=-1)
    matrix[0, 0] = 1.0
    return matrix


def test_progress(attention):
    heard = []
    sg.measure(attention, progress=lambda done, total: heard.append((done, total)))
    assert heard[-1] == (24, 24)
    sg.measure(attention, progress=True)
    sg.measure(attention, progress=False)


def test_an_exception_of_the_progress_function_is_raised(attention):
    def fail(done, total):
        raise LookupError("enough")

    for run in (lambda call: call(), in_thread):
        with pytest.raises(LookupError, match="enough"):
            run(lambda: sg.measure(attention, progress=fail))


def in_thread(call):
    """What a call gives or raises on another thread."""
    outcome = []

    def run():
        try:
            outcome.append((call(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if outcome[0][1] is not None:
        raise outcome[0][1]
    return outcome[0][0]


def test_ctrl_c_in_one_large_piece_of_work():
    """A graph of thousands of nodes, and curves: ended long before they are done."""
    graph = sg.Graph.generate("chain:4000")
    for call in (graph.measure, lambda: graph.signal_curves(5000)):
        timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
        begin = time.monotonic()
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            call()
        assert time.monotonic() - begin < 8  # of twenty and more


def test_progress_on_another_thread(attention):
    heard = []
    result = in_thread(lambda: sg.measure(attention, progress=lambda done, total: heard.append((done, total, threading.get_ident()))))
    assert heard[-1][:2] == (24, 24) and heard[-1][2] != threading.get_ident()
    assert result.to_json() == sg.measure(attention).to_json()


@pytest.mark.parametrize("call", [
    lambda: sg.measure(slow()),
    lambda: sg.heads(random_attention(2, 4, 12, 200, 200)),
])
def test_ctrl_c(call):
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        call()
        time.sleep(10)  # faster than thought: wait for the signal
    assert time.monotonic() - begun < 5
    timer.join()
    # The call has ended, and is not only left alone.
    time.sleep(0.05)
    assert "synergraph" not in [thread.name for thread in threading.enumerate()]
    assert np.isfinite(sg.measure(slow(3)).fidelity)


def test_other_signals_are_heard():
    class Timeout(Exception):
        pass

    def handle(number, frame):
        raise Timeout

    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Timeout):
            sg.measure(slow())
            time.sleep(10)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_threads_at_once(attention):
    expected = sg.measure(attention, per_head=True).to_json()
    failures = []

    def work(number):
        for _ in range(10):
            if sg.measure(attention, per_head=True).to_json() != expected:
                failures.append(number)
            with pytest.raises(sg.InputError, match=f"token {number} "):
                sg.measure(attention, sink=number)

    threads = [threading.Thread(target=work, args=(100 + k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_after_a_fork():
    attention = random_attention(2, 8, 4, 64, 64)  # work for several threads, which the child does not have
    expected = sg.measure(attention).fidelity.tolist()
    child = os.fork()
    if child == 0:
        os._exit(0 if sg.measure(attention).fidelity.tolist() == expected else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_nothing_is_printed_and_the_end_is_quiet():
    program = """
import logging, numpy as np, synergraph as sg
logging.basicConfig(level=0)
result = sg.measure(np.eye(3)[np.newaxis] * 1.0)
try:
    sg.measure(np.ones((1, 3, 3)))
except sg.InputError:
    pass
graph = sg.Graph.example(1)
"""
    outcome = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert outcome.stdout == outcome.stderr == ""


def test_a_missing_library_is_an_import_error():
    environment = dict(os.environ, SYNERGRAPH_LIBRARY="/nowhere/libsynergraph.so.0")
    outcome = subprocess.run([sys.executable, "-c", "import synergraph"], env=environment, capture_output=True, text=True)
    assert outcome.returncode == 1 and "ImportError: synergraph: the library /nowhere" in outcome.stderr


def test_the_interpreter_may_end_during_a_call():
    """A thread that hears of progress is stopped before there is no interpreter to hear with."""
    script = """
import threading, time
import numpy as np
import synergraph as sg
attention = np.tril(np.ones((40, 14, 40, 40))) / np.arange(1, 41)[:, None]
begun = threading.Event()
threading.Thread(target=lambda: sg.heads(attention, progress=lambda *_: begun.set()), daemon=True).start()
begun.wait(20)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
