/* Divides a kernel's outer loop among threads that wait for work.

   tf_launch(entry, bufs, vals, total, threads) runs entry(bufs, vals, start, stop) on pieces that
   together cover [0, total), and returns when all are done. The calling thread works too.
   tf_replay does so for a whole list of launches, in one call. An int counts any of them: a longer
   loop is split before it is divided (THREAD in loops.py).

   The pieces are handed out through one number, `tickets`: which launch it is, and which of its
   pieces nobody has taken yet, from `front` to before `back`. The caller takes them from the front and
   workers from the back, so that a core finds in its cache the part of an array that it worked on in
   the kernel before. A piece is taken in a single atomic step, which fails if the launch has changed;
   so nobody works on a launch that is over, or has to wait for workers that overslept. */

#define _GNU_SOURCE /* for the affinity of threads */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

typedef void (*entry_t)(void **bufs, const long long *vals, int start, int stop);

/* More than one piece for each thread: whoever is held up takes fewer of them. */
enum { PIECES_PER_THREAD = 4, MOST_PIECES = 0xffff };

/* How long a thread looks for work before it sleeps, in rounds of some 10 to 50 ns. A sleeping thread
   needs some 10 us or more to wake, so it stays up between the kernels of one training step. */
enum { ROUNDS = 2000 };

/* Kernels may keep a panel of scratch memory on the stack; macOS gives a thread only 512 kB. */
enum { STACK = 16 << 20, MOST_WORKERS = 1023 };

/* What the current launch is. Written while no tickets are left, so nobody reads it meanwhile. */
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
static int workers;                /* how many there are */
static pthread_t thread[MOST_WORKERS];
static int avoided_core = -1, avoiding; /* the first `avoiding` workers keep off that core */

static pthread_mutex_t launching = PTHREAD_MUTEX_INITIALIZER; /* held during a launch */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;      /* for the two conditions */
static pthread_cond_t more_work = PTHREAD_COND_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static _Thread_local int is_inside;                           /* this thread is in a launch already */

static void pause_a_little(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb"); /* `yield` does nothing on processors with one thread a core */
#endif
}

static int front(uint64_t t) { return (int)(t & 0xffff); }
static int back(uint64_t t) { return (int)(t >> 16 & 0xffff); }
static int pieces_left(uint64_t t) { return back(t) - front(t); }

/* Takes one piece of the current launch and runs it; 0 where there is none to take. */
static int take_piece(int from_front) {
  uint64_t t = atomic_load_explicit(&tickets, memory_order_acquire), taken;
  do {
    if (pieces_left(t) == 0) return 0;
    taken = from_front ? t + 1 : t - (1 << 16);
  } while (!atomic_compare_exchange_weak_explicit(&tickets, &t, taken, memory_order_acq_rel,
                                                  memory_order_acquire));
  /* From here to the count below, this launch cannot end, and `work` stays as it is. */
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
      /* The launcher writes tickets first and looks at `asleep` then; here it is the other way
         round. So at least one of the two sees what the other did, and no launch is slept through. */
      while (!may_help(number)) pthread_cond_wait(&more_work, &lock);
      atomic_fetch_sub(&asleep, 1);
      pthread_mutex_unlock(&lock);
    }
    while (may_help(number) && take_piece(0)) {}
  }
  return 0;
}

/* The child of a fork has this thread only. */
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

/* Tries to have `wanted` workers; whoever cannot be had is not missed. */
static void start_workers(int wanted) {
  static int watches_forks;
  if (!watches_forks) watches_forks = !pthread_atfork(0, 0, after_fork);
  if (wanted > MOST_WORKERS) wanted = MOST_WORKERS;
  if (workers >= wanted) return;
  /* A signal is for the main thread: Ctrl-C has to end what Python waits for there. */
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

/* A thread that is woken often begins on the core of the one that woke it, and Linux needs several
   milliseconds to see that the other core is idle: two threads as slow as one. So the workers keep
   off the core on which the launch begins. */
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

/* A launch from inside a kernel, or while another thread's launch is under way, runs alone. */
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

/* Runs captured launches one after the other. */
void tf_replay(const launch_t *launches, int count, int threads) {
  for (const launch_t *l = launches; l < launches + count; l++)
    tf_launch(l->entry, l->bufs, l->vals, (int)l->total, threads);
}
