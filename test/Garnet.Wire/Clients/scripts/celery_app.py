"""Drives Celery, with the server as its broker and as the store of its results: celery_app.py PORT SCENARIO. Ends with 77 when something is missing."""
import os
import sys
import threading
import time
from datetime import timedelta

try:
    import redis
    from celery import Celery, chain, chord, group
    from celery.contrib.testing.worker import start_worker
    from celery.exceptions import TaskRevokedError
    from celery.schedules import schedule
except ImportError as missing:
    print(f"{missing}: python3-celery is not installed")
    sys.exit(77)

URL = f"redis://127.0.0.1:{sys.argv[1]}/0"
OWN = f"celery-{os.getpid()}"
app = Celery("app", broker=URL, backend=URL)
app.conf.update(
    task_default_queue=OWN,
    task_acks_late=True,
    worker_hijack_root_logger=False,
    broker_transport_options={"priority_steps": [0, 3, 6, 9], "global_keyprefix": f"{OWN}:", "visibility_timeout": 60},
    result_chord_join_timeout=20,
    beat_schedule_filename=os.path.join(os.environ.get("TMPDIR", "/tmp"), f"{OWN}-beat"),
)
ran, order, at = [], [], {}


@app.task
def add(a, b):
    ran.append((a, b))
    return a + b


@app.task
def total(numbers):
    return sum(numbers)


@app.task
def noted(name):
    order.append(name)
    at[name] = time.time()


@app.task(bind=True, max_retries=3)
def flaky(self):
    if self.request.retries < 2:
        raise self.retry(countdown=0.05)
    return self.request.retries


@app.task
def broken():
    raise ValueError("as it should")


def working(**more):
    return start_worker(app, pool="threads", concurrency=4, perform_ping_check=False, loglevel="ERROR", shutdown_timeout=20, **more)


def thousand(r):
    with working():
        results = [add.delay(i, i) for i in range(1000)]
        assert [x.get(timeout=20) for x in results] == [2 * i for i in range(1000)]
    assert sorted(ran) == [(i, i) for i in range(1000)]
    assert r.llen(f"{OWN}:{OWN}") == 0 and r.hlen(f"{OWN}:unacked") == 0
    assert r.get(f"celery-task-meta-{results[0].id}") is not None


def canvas(r):
    with working():
        assert chain(add.s(1, 2), add.s(3), add.s(4)).apply_async().get(timeout=20) == 10
        assert group(add.s(i, 1) for i in range(20)).apply_async().get(timeout=20) == list(range(1, 21))
        assert chord((add.s(i, i) for i in range(30)), total.s()).apply_async().get(timeout=20) == 870
        nested = chord([group(add.s(i, 0) for i in range(5)), add.s(100, 0)], total.s())
        assert nested.apply_async().get(timeout=20) == 110


def failures(r):
    with working():
        assert flaky.delay().get(timeout=20) == 2
        failed = broken.delay()
        assert isinstance(failed.get(timeout=20, propagate=False), ValueError) and failed.state == "FAILURE"
        done = add.delay(1, 1)
        done.get(timeout=20)
        done.forget()
        assert r.get(f"celery-task-meta-{done.id}") is None


def timing(r):
    """A countdown is kept, what is revoked by a broadcast never runs, and the scheduler sends what is due."""
    from celery.beat import Scheduler
    with working() as worker:
        from_ = time.time()
        late = noted.apply_async(("late",), countdown=0.5)
        never = noted.apply_async(("never",), countdown=1)
        assert app.control.ping(timeout=5, limit=1) != []
        app.control.revoke(never.id)
        late.get(timeout=20)
        assert at["late"] - from_ >= 0.5
        assert isinstance(never.get(timeout=20, propagate=False), TaskRevokedError) and never.state == "REVOKED"
        beat = Scheduler(app, lazy=True)
        beat.add(name="often", task=noted.name, schedule=schedule(timedelta(milliseconds=50)), args=("beat",))
        deadline = time.monotonic() + 20
        while order.count("beat") < 3:
            beat.tick()
            assert time.monotonic() < deadline
    assert order[0] == "late" and "never" not in order


def priorities(r):
    """What is more important is delivered first: one list for each priority, asked for together."""
    for i in range(40):
        noted.apply_async((i % 4,), priority=9 - 3 * (i % 4))
    with app.connection_for_read() as connection:
        queue = connection.SimpleQueue(OWN)
        while len(order) < 40:
            message = queue.get(timeout=5)
            order.append(message.payload[0][0])
            message.ack()
    assert order == sorted(order, reverse=True), order
    assert r.hlen(f"{OWN}:unacked") == 0


def restored(r):
    """A worker that dies with a message not acknowledged gives it back: another runs it once the time is over."""
    app.conf.broker_transport_options["visibility_timeout"] = 1
    add.delay(20, 22)
    with app.connection_for_read() as dead:
        message = dead.SimpleQueue(OWN).get(timeout=5)
        assert r.hlen(f"{OWN}:unacked") == 1
        message.channel.qos.can_consume = lambda: False
        dead.transport.cycle._channels.clear()
        deadline = time.monotonic() + 20
        other = app.connection_for_read()
        queue = other.SimpleQueue(OWN)
        while True:
            other.default_channel.qos.restore_visible(interval=1)
            if r.llen(f"{OWN}:{OWN}"):
                break
            assert time.monotonic() < deadline
    with working():
        deadline = time.monotonic() + 20
        while not ran:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert ran == [(20, 22)]


globals()[sys.argv[2]](redis.Redis(port=int(sys.argv[1]), socket_timeout=20))
os._exit(0)
