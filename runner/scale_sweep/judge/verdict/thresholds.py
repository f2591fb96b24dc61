"""Every threshold of the verdict, with its unit and its reason."""

from __future__ import annotations

from typing import Final

# Bottlenecks.
CORES_FULL: Final = 0.90  # share of the cores given: kernel threads and ticks take some, and a server waits a little
GENERATOR_FULL: Final = 0.85  # share of the load generator's CPUs: it also waits for each answer
GENERATOR_SPENT: Final = 0.97  # share of the load generator's CPUs: what is left are ticks of the kernel
CEILING: Final = 0.80  # share of the load generator's own ceiling: above it, its own pauses show in the rate
OFFERED_MET: Final = 0.98  # share of the offered rate: the window's edges cut requests in two
CHANCE_SIGMAS: Final = 3.0  # standard deviations: fewer requests than this at random times are chance
BACKLOG_GROWS: Final = 0.005  # share of the offered rate: as a trend over the window, which a queue at rest has not
THROTTLED: Final = 0.01  # share of the time: less is one period of the kernel's quota at the window's edge
LOAD_THROTTLED: Final = 0.1  # share of the time: a load that its quota holds up for less may be as slow by its server
SHARED_TAKE: Final = 0.15  # share of the server's cores: below it, what the load generator takes is within the noise
OTHERS_EXPLAIN: Final = 0.66  # share of the cores that the server lacks: two thirds are most of them
OTHERS_CORES: Final = 0.1  # cores: less is the noise of a machine that does nothing else
GENERATOR_ROOM: Final = 0.70  # share of the load generator's CPUs: below it, its threads hardly wait for one another
OTHERS_ROOM: Final = 0.33  # share of the cores that the server lacks: others took too little to matter
IN_FLIGHT: Final = 0.80  # share of the time of the load generator's threads: the rest goes into making requests
WORKERS_BUSY: Final = 0.80  # share of the time of the generator's threads: with as much waiting, connections are named
NETWORK_FULL: Final = 0.85  # share of an interface's speed: headers and gaps between frames take the rest
RESENT: Final = 0.01  # share of a host's TCP segments: fewer are lost on any network
ROUND_TRIP: Final = 0.2  # share of the median response time: a fifth of it is then the network's, not the server's
LOCK_WAITING: Final = 0.5  # share of the connections' time at work: most of it, so that the locks set the rate
MEMORY_INSTRUCTIONS_PER_CYCLE: Final = 1.5  # of a core: one that does more is not waiting, whatever it misses
MEMORY_CYCLES_PER_MISS: Final = 100.0  # of a core: a miss takes 250 or more, so two or three are always under way
STALL_S: Final = 1.5  # seconds: one interval without a row may be a pause between two requests
CPU_WAITING_PERCENT: Final = 50.0  # percent of the time in which some task waited for a CPU: any one counts, so half
RAN_CORES: Final = 0.01  # cores: a server that used less in any second of a stall did not ask for a CPU
STALL_SHARE: Final = 0.1  # share of the window: below it, the pause is lost in the noise of the rate
WANTED: Final = 0.90  # share of a CPU that a foreign load's busiest thread wanted, or of all its CPUs: as CORES_FULL
GENERATOR_HOT_CORES: Final = 0.90  # of one core, the mean of its busiest: it only works and dispatches
HOT_ABOVE_MEDIAN: Final = 1.3  # times the median of the working threads of its name: below it, they share the work
HOT_CORES: Final = 0.80  # of one core, the mean of its busiest second after second: a commit thread pauses in between
DISK_FULL_PERCENT: Final = 80.0  # percent of what the disk takes without a database: fio writes in larger pieces
DISK_BUSY_PERCENT: Final = 90.0  # percent of the time with requests in flight: where no ceiling was measured
IO_WAITING_PERCENT: Final = 50.0  # percent of the time in which some task waited: any one task counts, so half of it
SERVER_DISK_WAITS: Final = 0.5  # share of the samples in which some thread of the server waited for a disk: as above
MEMORY_WAITING_PERCENT: Final = 10.0  # percent of the time: reclaim slows a server long before it waits for half of it

# Are the response times of an open loop the server's?
TAKEN_SHARE: Final = 0.05  # share of the CPUs of server or load generator: more, and requests wait for a CPU
LATE_SHARE: Final = 0.1  # share of a response time: more of it is not the server's but the load generator's
LATE_LEAST_MS: Final = 1.0  # ms: without an objective, less than this is the time in which a kernel wakes a thread
PAUSED_S: Final = 1.0  # seconds in which the load generator did not run: busy CPUs let a thread wait for less
PAUSED_SHARE: Final = 0.01  # share of the window: a shorter pause delays less than the requests above p99

# Is the number right?
COMPARED_LEAST: Final = 20  # answers of an operation: of fewer, 14 % may be wrong, unseen in 5 of 100 trials
DISK_BEYOND_PERCENT: Final = 150.0  # percent of its own ceiling: a capped device bursts for a second after a rest

# Was the rate steady? In a short window (quick):
STEADY_DRIFT_PERCENT: Final = 10.0  # percent of the mean over the window: the size of the effects that sweeps look for
STEADY_DRIFT_ERRORS: Final = 2.0  # standard errors of the trend: within them it is noise
STEADY_DRIFT_CAP_PERCENT: Final = 20.0  # percent of the mean over the window: a trend this large counts, noise or not
STEADY_CV_PERCENT: Final = 25.0  # percent of the mean, from second to second: above it, no one state was measured
STEADY_INTERVALS_MIN: Final = 4  # seconds: fewer leave a line through them less than two degrees of freedom
STALLED_SHARE: Final = 0.1  # share of the median rate: a second below it had nearly no rows
LEVEL_LEAST_S: Final = 3  # seconds: so many last ones of a warm-up, at least, are compared with those before
LEVEL_SHARE: Final = 0.25  # share of the warm-up: of a longer one, this last part is compared with that before
LEVEL_PERCENT: Final = 5.0  # percent of the mean of both: within it the rate is level, and the warm-up may end

# Was the rate steady? In a window that carries the claim (bench/method_steady.py says what these let through):
CLAIM_OFF_PERCENT: Final = 5.0  # percent of the long-run mean: the claim; half the effects that sweeps look for
CLAIM_ALPHA: Final = 0.05  # share of windows that may be further off: all looks together, by Student's t
CLAIM_SURE: Final = 0.975  # probability: one side of the 95 % interval in which a reason names the mean
CLAIM_LOOKS: Final = 5  # looks at a window that grows: a check each second would use up the error by chance
CLAIM_DRIFT_PERCENT: Final = 10.0  # percent of the mean over the window: at the cap, its ends are 5 % off its mean
CLAIM_TREND_PERCENT: Final = 5.0  # percent of the mean over the window: the claim, where it is certainly a trend
CLAIM_TREND_ERRORS: Final = 3.0  # standard errors of the trend: noise reaches them in 0.3 % of the windows
CLAIM_HALVES_PERCENT: Final = 5.0  # percent of the mean between the halves: the claim again, for each half
BATCH_S: Final = 5  # seconds of a batch: the 5 of MSER-5; long against requests, short against a window
BATCHES_MIN: Final = 4  # batches: fewer have no half in which the end of a transient can be looked for
BATCH_ERROR: Final = 1.25  # times the spread between batches: eight of them know it to 25 %
CORRELATION_MAX: Final = 0.95  # between neighbouring seconds: one window cannot distinguish more from a random walk
UNKNOWN_PERCENT: Final = 100.0  # percent of the mean: an error above it says nothing
ALTERNATION_MAX: Final = 0.5  # between neighbouring seconds, below 0: one window cannot support more
CORRELATION_BIAS: Final = 3  # parts of an n-th: the bias of an estimate from n values (Kendall 1954)
CORRELATION_SLOW: Final = 0.5  # between neighbouring seconds: above it, the reason says that the rate varied slowly
UNCORRELATED: Final = 0.2  # between neighbouring seconds: below it, batches fit a fast alternation better than AR(1)
MSER_NEAR: Final = 2.0  # times the smallest value of MSER-5: that of a steady part varies by as much
STARTED: Final = 0.5  # share of the median rate: after the first second above it, a second without rows is a stall
MODES_SECONDS: Final = 20  # seconds: fewer fall into two groups by chance
MODES_APART: Final = 4.0  # Ashman's D of two groups of seconds: a normal rate split in two has 2.7, a flat one 3.5
MODES_GAP_PERCENT: Final = 5.0  # percent of the mean between the groups: less is not reported
MODES_SHARE: Final = 0.15  # of the seconds, in the smaller group: fewer are outliers

# Did new memory pages change their cost within the window?
PAGES_TIMES: Final = 1.5  # times the system time of a page fault: faults of other kinds dilute the cost of new pages
PAGES_MORE_US: Final = 1.0  # µs of a page fault: less is the noise of clock ticks
PAGES_RATE_PERCENT: Final = 5.0  # percent of the CPU time of a row: the claim; less does not matter
PAGES_EXPLAIN: Final = 0.66  # share of what a row costs more: two thirds are most of it
PAGES_FAULTS: Final = 1.25  # times the page faults of a row: with more of them, their number is the cause
PAGES_FAULTS_MIN: Final = 1000  # page faults in a half: fewer cost milliseconds

# Do rate, service times and connections agree?
LITTLE_OFF: Final = 0.10  # share of the connections: making a request may take another time in the warm-up

# What a reader is told besides.
BUSIEST_NAMED: Final = 0.95  # share of the server's CPU: if one pool of threads has more, its name says nothing new
