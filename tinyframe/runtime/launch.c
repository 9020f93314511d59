/* Divides a kernel's outer loop among a pool of threads.

   tf_launch(entry, bufs, vals, total, threads) runs entry(bufs, vals, start, stop) on pieces that
   together cover [0, total), and returns when all are done. The calling thread works too.
   tf_replay does this for a whole list of launches in one call. An int is large enough for `total`: a
   longer loop is split before it is divided (THREAD in loops.py).

   One number, `tickets`, hands out the pieces: it holds the number of the launch, and the range of
   pieces not yet taken, from `front` to before `back`. The caller takes pieces from the front and
   workers take them from the back, so that a core often finds in its cache what it worked on in the
   kernel before. A piece is taken in a single atomic step, which fails if the launch has changed;
   so nobody works on a launch that is over, and nobody has to wait for a worker that is slow to
   wake. */

#define _GNU_SOURCE /* for the affinity of threads */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

typedef void (*entry_t)(void **bufs, const long long *vals, int start, int stop);

/* Several pieces per thread: a thread that is held up takes fewer of them. */
enum { PIECES_PER_THREAD = 4, MOST_PIECES = 0xffff };

/* How long a thread spins before it sleeps, in rounds of some 10 to 50 ns. Waking a thread takes
   10 us or more, so threads stay awake between the kernels of a training step. */
enum { ROUNDS = 2000 };

/* Kernels may keep a panel of scratch memory on the stack; macOS gives a thread only 512 kB. */
enum { STACK = 16 << 20, MOST_WORKERS = 1023 };

/* The current launch. It is only written while no tickets are left, so nobody reads it then. */
static struct {
  entry_t entry;
  void **bufs;
  const long long *vals;
  int total, pieces;
} work;

static _Atomic uint64_t tickets;   /* launch number << 32 | back << 16 | front */
static _Atomic int pieces_done;
static _Atomic int helpers;        /* workers with a lower number take part */
static _Atomic int asleep;         /* workers that need to be woken */
static _Atomic int caller_sleeps;
static int workers;                /* how many exist */
static pthread_t thread[MOST_WORKERS];
static int avoided_core = -1, avoiding; /* the first `avoiding` workers stay off that core */

static pthread_mutex_t launching = PTHREAD_MUTEX_INITIALIZER; /* held during a launch */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;      /* for the two conditions */
static pthread_cond_t more_work = PTHREAD_COND_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static _Thread_local int is_inside;                           /* this thread is already in a launch */

static void pause_a_little(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb"); /* `yield` does nothing on processors with one thread per core */
#endif
}

static int front(uint64_t t) { return (int)(t & 0xffff); }
static int back(uint64_t t) { return (int)(t >> 16 & 0xffff); }
static int pieces_left(uint64_t t) { return back(t) - front(t); }

/* Takes one piece of the current launch and runs it; 0 if there is none left. */
static int take_piece(int from_front) {
  uint64_t t = atomic_load_explicit(&tickets, memory_order_acquire), taken;
  do {
    if (pieces_left(t) == 0) return 0;
    taken = from_front ? t + 1 : t - (1 << 16);
  } while (!atomic_compare_exchange_weak_explicit(&tickets, &t, taken, memory_order_acq_rel,
                                                  memory_order_acquire));
  /* Until pieces_done is incremented below, the launch cannot end, so `work` does not change. */
  int pieces = work.pieces, piece = from_front ? front(t) : back(t) - 1;
  int start = (int)((int64_t)work.total * piece / pieces);
  int stop = (int)((int64_t)work.total * (piece + 1) / pieces);
  work.entry(work.bufs, work.vals, start, stop);
  if (atomic_fetch_add(&pieces_done, 1) + 1 == pieces && atomic_load(&caller_sleeps)) {
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&all_done);
    pthread_mutex_unlock(&lock);
  }
  return 1;
}

static int may_help(int number) {
  return number < atomic_load(&helpers) && pieces_left(atomic_load(&tickets)) > 0;
}

static void *worker(void *argument) {
  int number = (int)(intptr_t)argument;
  is_inside = 1;
  for (;;) {
    for (int round = 0; round < ROUNDS && !may_help(number); round++) pause_a_little();
    if (!may_help(number)) {
      pthread_mutex_lock(&lock);
      atomic_fetch_add(&asleep, 1);
      /* The launcher writes `tickets` and then reads `asleep`; here it is the other way round. So at
         least one of the two sees the other's write, and no worker sleeps through a launch. */
      while (!may_help(number)) pthread_cond_wait(&more_work, &lock);
      atomic_fetch_sub(&asleep, 1);
      pthread_mutex_unlock(&lock);
    }
    while (may_help(number) && take_piece(0)) {}
  }
  return 0;
}

/* In the child of a fork only this thread exists. */
static void after_fork(void) {
  pthread_mutex_init(&launching, 0);
  pthread_mutex_init(&lock, 0);
  pthread_cond_init(&more_work, 0);
  pthread_cond_init(&all_done, 0);
  atomic_store(&tickets, 0);
  atomic_store(&helpers, 0);
  atomic_store(&asleep, 0);
  atomic_store(&caller_sleeps, 0);
  workers = avoiding = 0;
  is_inside = 0;
}

/* Starts workers until there are `wanted`; if that fails, fewer will do. */
static void start_workers(int wanted) {
  static int watches_forks;
  if (!watches_forks) watches_forks = !pthread_atfork(0, 0, after_fork);
  if (wanted > MOST_WORKERS) wanted = MOST_WORKERS;
  if (workers >= wanted) return;
  /* Workers block all signals, so that Ctrl-C interrupts the main thread. */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, STACK);
  for (; workers < wanted; workers++)
    if (pthread_create(thread + workers, &attributes, worker, (void *)(intptr_t)workers)) break;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, 0);
}

/* A woken thread often starts on the core of the thread that woke it, and Linux takes several
   milliseconds to notice that another core is idle: until then two threads are as slow as one. So the
   workers stay off the core on which the launch begins. */
static void keep_off_this_core(int helpers) {
#ifdef __linux__
  int core = sched_getcpu();
  if (core == avoided_core && avoiding >= helpers) return;
  cpu_set_t others;
  if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof others, &others)) return;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) < helpers) return;
  for (int n = 0; n < helpers; n++) pthread_setaffinity_np(thread[n], sizeof others, &others);
  avoided_core = core, avoiding = helpers;
#else
  (void)helpers;
#endif
}

static int all_pieces_done(void) { return atomic_load(&pieces_done) == work.pieces; }

/* A launch from inside a kernel, or during another thread's launch, runs on its own thread only. */
void tf_launch(entry_t entry, void **bufs, const long long *vals, int total, int threads) {
  if (threads > total) threads = total;
  if (threads <= 1 || is_inside || pthread_mutex_trylock(&launching)) {
    entry(bufs, vals, 0, total);
    return;
  }
  is_inside = 1;
  start_workers(threads - 1);
  keep_off_this_core(threads - 1 < workers ? threads - 1 : workers);

  int pieces = total / PIECES_PER_THREAD >= threads ? threads * PIECES_PER_THREAD : total;
  if (pieces > MOST_PIECES) pieces = MOST_PIECES;
  work.entry = entry;
  work.bufs = bufs;
  work.vals = vals;
  work.total = total;
  work.pieces = pieces;
  atomic_store(&pieces_done, 0);
  atomic_store(&helpers, threads - 1);
  uint64_t launch = (atomic_load(&tickets) >> 32) + 1;
  atomic_store(&tickets, launch << 32 | (uint64_t)pieces << 16);
  if (atomic_load(&asleep)) {
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&more_work);
    pthread_mutex_unlock(&lock);
  }

  while (take_piece(1)) {}
  for (int round = 0; round < ROUNDS && !all_pieces_done(); round++) pause_a_little();
  if (!all_pieces_done()) {
    pthread_mutex_lock(&lock);
    atomic_store(&caller_sleeps, 1);
    while (!all_pieces_done()) pthread_cond_wait(&all_done, &lock);
    atomic_store(&caller_sleeps, 0);
    pthread_mutex_unlock(&lock);
  }
  is_inside = 0;
  pthread_mutex_unlock(&launching);
}

/* One captured launch. */
typedef struct {
  entry_t entry;
  void **bufs;
  const long long *vals;
  long long total;
} launch_t;

/* Runs captured launches in order. */
void tf_replay(const launch_t *launches, int count, int threads) {
  for (const launch_t *l = launches; l < launches + count; l++)
    tf_launch(l->entry, l->bufs, l->vals, (int)l->total, threads);
}
