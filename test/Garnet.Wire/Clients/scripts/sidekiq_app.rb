# Drives Sidekiq, a queue of jobs for Ruby, against a server: sidekiq_app.rb PORT SCENARIO. Ends with 77 when something needed is missing.
begin
  require "sidekiq"
  require "sidekiq/api"
  require "sidekiq/cli"
rescue LoadError => missing
  puts "#{missing}: ruby-sidekiq is not installed"
  exit 77
end

URL = "redis://127.0.0.1:#{ARGV[0]}/5"
DEADLINE = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 40
Sidekiq.redis = { url: URL, size: 12 }
Sidekiq.logger.level = Logger::FATAL
Redis.silence_deprecations = true
$ran = Queue.new

class Note
  include Sidekiq::Worker
  sidekiq_options retry: 2

  def perform(what)
    $ran << what
    raise "as it should" if what == "broken"
  end
end

class Slow
  include Sidekiq::Worker

  def perform
    $ran << "slow"
    sleep
  end
end

def check(holds, what = "")
  raise "wrong at #{caller_locations(1, 1)[0].lineno} #{what.inspect}" unless holds
end

def wait_until
  until yield
    check(Process.clock_gettime(Process::CLOCK_MONOTONIC) < DEADLINE, "waited in vain")
    sleep 0.005
  end
end

# The threads that fetch and run jobs, as the program `sidekiq` has them, in this process.
def working(**more)
  options = Sidekiq::DEFAULTS.merge(queues: ["high", "default", "low"], strict: true, concurrency: 5, timeout: 0.5,
    lifecycle_events: Hash.new { |all, event| all[event] = [] }, **more)
  options[:fetch] = Sidekiq::BasicFetch.new(options)
  launcher = Sidekiq::Launcher.new(options)
  launcher.run
  yield
ensure
  launcher.stop
  Sidekiq::Launcher.flush_stats
end

# What the poller does when its time has come, which at first is after ten seconds.
def poll
  Sidekiq::Scheduled::Enq.new.enqueue_jobs
end

def drained(count)
  all = []
  wait_until { all << $ran.pop(true) until $ran.empty?; all.size >= count }
  all
end

def thousand
  Note.perform_bulk((0...500).map { |i| [i] })
  500.times { |i| Note.perform_async(500 + i) }
  check(Sidekiq::Queue.new.size == 1000)
  working { check(drained(1000).sort == (0...1000).to_a) ; wait_until { Sidekiq::Queue.new.size.zero? } }
  check(Sidekiq::Stats.new.processed == 1000, Sidekiq::Stats.new.processed)
end

def scheduled
  Note.perform_in(0.2, "late")
  Note.perform_in(3600, "far")
  check(Sidekiq::ScheduledSet.new.size == 2)
  from = Time.now
  working { wait_until { poll; !$ran.empty? } }
  check(drained(1) == ["late"])
  check(Time.now - from > 0.15)
  far = Sidekiq::ScheduledSet.new.first
  check(far.args == ["far"] && far.at > Time.now + 3000)
  check(Sidekiq::ScheduledSet.new.find_job(far.jid).delete && Sidekiq::ScheduledSet.new.size.zero?)
end

def queues
  20.times { |i| Note.set(queue: %w[low default high][i % 3]).perform_async(%w[low default high][i % 3]) }
  working(concurrency: 1) { check(drained(20) == ["high"] * 6 + ["default"] * 7 + ["low"] * 7) }
end

# A failing job comes back twice from the set of retries and ends among the dead, from where it can be sent again.
def retries
  Note.perform_async("broken")
  retries = Sidekiq::RetrySet.new
  working do
    (2..3).each do |round|
      wait_until { retries.size == 1 }
      job = retries.first
      check(job["error_message"] == "as it should")
      job.reschedule(Time.now.to_f - 1)
      poll
      wait_until { $ran.size == round }
    end
    wait_until { Sidekiq::DeadSet.new.size == 1 }
  end
  check(drained(3) == ["broken"] * 3)
  check(Sidekiq::Stats.new.failed == 3)
  Sidekiq::DeadSet.new.first.retry
  check(Sidekiq::DeadSet.new.size.zero? && Sidekiq::Queue.new.size == 1)
end

# What a stopped process had not finished is in the queue again.
def stopped
  Slow.perform_async
  working(concurrency: 1) do
    check(drained(1) == ["slow"])
    wait_until { Sidekiq::Queue.new.size.zero? }
  end
  check(Sidekiq::Queue.new.size == 1)
  check(Sidekiq::Queue.new.first.klass == "Slow")
end

Sidekiq.redis { |r| r.flushdb }
send(ARGV[1])
exit! 0
