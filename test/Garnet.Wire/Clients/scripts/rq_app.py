"""Drives RQ, queues of jobs with workers and a scheduler, against a server: rq_app.py PORT SCENARIO. Ends with 77 when something needed is missing."""
import os
import sys
from datetime import datetime, timedelta

try:
    import redis
    import rq
    from rq.job import Job
    from rq.registry import DeferredJobRegistry, FailedJobRegistry, FinishedJobRegistry, ScheduledJobRegistry
    from rq.scheduler import RQScheduler
except ImportError as missing:
    print(f"{missing}: python3-rq is not installed")
    sys.exit(77)

from rq_tasks import double, fail, note, total


def work(r, *queues, **more):
    worker = rq.SimpleWorker(list(queues), connection=r, log_job_description=False)
    worker.work(burst=True, logging_level="ERROR", **more)
    return worker


def queue(r, name):
    return rq.Queue(f"{name}-{os.getpid()}", connection=r)


def thousand(r):
    q = queue(r, "thousand")
    jobs = q.enqueue_many([rq.Queue.prepare_data(double, (i,)) for i in range(500)])
    jobs += [q.enqueue(double, i) for i in range(500, 1000)]
    assert q.count == 1000
    children = [os.fork() for _ in range(2)]
    if 0 in children:
        work(redis.Redis(port=int(sys.argv[1])), q)
        os._exit(0)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    assert q.count == 0 and len(FinishedJobRegistry(queue=q)) == 1000
    assert [j.result for j in Job.fetch_many([j.id for j in jobs], connection=r)] == [i * 2 for i in range(1000)]


def dependencies(r):
    q = queue(r, "flow")
    parts = [q.enqueue(double, i) for i in range(10)]
    last = q.enqueue(total, [p.id for p in parts], depends_on=parts, on_success=note)
    assert last.get_status() == "deferred" and last.id in DeferredJobRegistry(queue=q)
    r.delete("rq:noted")
    work(r, q)
    assert last.get_status() == "finished" and last.result == 90
    assert r.lrange("rq:noted", 0, -1) == [b"90"]


def failures(r):
    q = queue(r, "fail")
    marker = f"rq:marker:{os.getpid()}"
    job = q.enqueue(fail, marker, retry=rq.Retry(max=2))
    work(r, q)
    assert r.get(marker) == b"3"
    failed = FailedJobRegistry(queue=q)
    assert failed.get_job_ids() == [job.id] and "as it should" in job.latest_result().exc_string
    failed.requeue(job.id)
    assert q.count == 1 and len(failed) == 0
    q.delete(delete_jobs=True)
    assert not Job.exists(job.id, connection=r)


def scheduled(r):
    q = queue(r, "later")
    soon, far = q.enqueue_in(timedelta(seconds=-1), double, 21), q.enqueue_at(datetime.now() + timedelta(hours=1), double, 1)
    assert len(ScheduledJobRegistry(queue=q)) == 2
    scheduler = RQScheduler([q], connection=r)
    assert scheduler.acquire_locks() == {q.name}
    scheduler.enqueue_scheduled_jobs()
    work(r, q)
    assert soon.result == 42 and far.get_status() == "scheduled"
    assert ScheduledJobRegistry(queue=q).get_job_ids() == [far.id]
    scheduler.release_locks()


globals()[sys.argv[2]](redis.Redis(port=int(sys.argv[1]), socket_timeout=20))
