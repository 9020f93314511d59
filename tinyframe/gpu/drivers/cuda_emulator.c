// Runs a CUDA kernel on a processor; see cuda_emulator.py. Linked to each kernel.
//
// A kernel is compiled with -fsanitize=thread, so that it calls __tsan_read4(address) and similar
// functions at every memory access. They are defined here, and check that the address is inside a
// buffer or array of the kernel, and (to find races) which threads have accessed it before.
//
// The threads of a block are fibers. Each runs up to a __syncthreads() or its end, then the next one
// does; once all have, a phase is over. The order of the threads is reversed in every other phase.

#if defined(__APPLE__)
#define _XOPEN_SOURCE 600
#define _DARWIN_C_SOURCE
#endif
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

typedef struct { unsigned int x, y, z; } Three;
Three threadIdx, blockIdx, blockDim, gridDim;

// definitions in the kernel (EMULATE in the header)
extern const int emulated_bound, *const emulated_elements;
extern const char* const emulated_names[];
void emulated_kernel(void** given);

// ---- what went wrong -----------------------------------------------------------------------------

typedef struct {
  int kind, is_write, other_is_write, line, other_line;   // line 0: unknown, or the end of the kernel
  unsigned int thread, block, other_thread, other_block;  // flat indices over all axes
  long long index, size;
  char name[64];
} Fault;
enum { OUT_OF_BOUNDS = 1, RACE, DIVERGENCE, MISALIGNED, TOO_MANY_THREADS, NOT_WAITED };

// the thread, counted from 1; the phase, counted over all blocks; the line, if the kernel tells it
typedef struct { unsigned int who, when; int line; } Visit;
typedef struct { Visit writer, reader, other_reader; } Cell;
typedef struct {
  const char* name;
  char* start;
  long long bytes, element;
  Cell* cells;
  unsigned char* pending;  // per element: the copies to it that are not waited for yet
} Region;

enum { MOST_REGIONS = 256 };
static Region regions[MOST_REGIONS];  // first the buffers, then the arrays of the block
static int region_count, buffer_count;
static bool finds_races;
static int line;  // the current line, if the kernel tells it (emulated_line); else 0
static char *stacks, *stacks_end;
static unsigned int threads, current, block, now;
static Fault* fault;
static jmp_buf faulted;

static void stop(int kind, const Region* region, long long index, bool is_write) {
  fault->kind = kind;
  fault->thread = current;
  fault->block = block;
  fault->is_write = is_write;
  fault->index = index;
  if (region) {
    strncpy(fault->name, region->name, sizeof fault->name - 1);
    fault->size = region->bytes / region->element;
  }
  longjmp(faulted, 1);
}

// ---- a log of all accesses -----------------------------------------------------------------------

// site: the instruction of the kernel. number: of the access; the elements of a vector have one.
typedef struct {
  unsigned int thread, block, phase;
  int line, region, is_write;
  unsigned int site, number;
  long long index;
} Access;
// A vector that is about to be accessed: a compiler may do that element by element.
static struct { const char *start, *end; unsigned int site, number; } vector;
static unsigned int accesses;
#define SITE (unsigned int)(uintptr_t)__builtin_return_address(0)  // where it was called
static Access* watched;  // accesses beyond watched_room are only counted
static long long watched_room, watched_count, reads_of[MOST_REGIONS];

// Logs the accesses of the next launches here. Returns how many there were since the last call.
__attribute__((visibility("default")))
long long emulated_watch(Access* accesses, long long room) {
  long long had = watched_count;
  watched = accesses;
  watched_room = room;
  watched_count = 0;
  memset(reads_of, 0, sizeof reads_of);
  return had;
}

// The name of a region of the last launch, its number of elements, the bytes of each, and how often
// they were read; NULL if there is no such region.
__attribute__((visibility("default")))
const char* emulated_region(int number, long long* elements, long long* element, long long* reads) {
  const Region* region = regions + number;
  if (number >= MOST_REGIONS || !region->element) return NULL;
  *elements = region->bytes / region->element;
  *element = region->element;
  *reads = reads_of[number];
  return region->name;
}

void emulated_line(int number) { line = number; }

static void watch(const Region* region, long long index, bool is_write, unsigned int site) {
  if (!is_write) reads_of[region - regions]++;
  long long n = watched_count++;
  const char* p = region->start + index * region->element;
  bool is_part = p >= vector.start && p < vector.end;
  if (n < watched_room)
    watched[n] = (Access){current, block, now, line, (int)(region - regions), is_write,
                          is_part ? vector.site : site, is_part ? vector.number : accesses, index};
}

// ---- memory --------------------------------------------------------------------------------------

static void add_region(const char* name, void* start, long long bytes, long long element) {
  if (region_count == MOST_REGIONS) abort();
  Region* region = regions + region_count++;
  *region = (Region){name, start, bytes, element, NULL, NULL};
  if (finds_races) region->cells = calloc(bytes / element + 1, sizeof(Cell));
}

static void drop_regions(int count) {
  while (region_count > count) {
    free(regions[--region_count].cells);
    free(regions[region_count].pending);
  }
}

// Two threads may write the same value to one element: if a tile does not divide a loop, some results
// are computed twice. The value is only visible after the write, so it is checked a little later:
// before the thread's next write, or when it stops. (gcc reports the reads of a struct copy after its
// writes.)
typedef struct {
  const Region* region;
  long long index;
  int line;
  Visit other;
  char before[16];
} Twice;
enum { MOST_TWICE = 256 };  // more than a struct has elements
static Twice twice[MOST_TWICE];
static int twice_count;

// Whether no barrier separates this access from an earlier one of a different thread.
static bool is_at_once(Visit other) {
  if (!other.who || other.who == block * threads + current + 1) return false;
  return (other.who - 1) / threads != block || other.when == now;  // else a barrier lies in between
}

static void race(const Region* region, long long index, Visit other, int at, bool is_write,
                 bool other_is_write) {
  fault->line = at;
  fault->other_line = other.line;
  fault->other_thread = (other.who - 1) % threads;
  fault->other_block = (other.who - 1) / threads;
  fault->other_is_write = other_is_write;
  stop(RACE, region, index, is_write);
}

static void look_at_what_was_written(void) {
  int count = twice_count;
  twice_count = 0;
  for (const Twice* it = twice; it < twice + count; it++) {
    const char* now_there = it->region->start + it->index * it->region->element;
    if (memcmp(now_there, it->before, it->region->element))
      race(it->region, it->index, it->other, it->line, true, true);
  }
}

static void visit(const Region* region, long long index, bool is_write) {
  Cell* cell = region->cells + index;
  Visit me = {block * threads + current + 1, now, line};
  if (is_write) {
    if (is_at_once(cell->reader)) race(region, index, cell->reader, line, true, false);
    if (is_at_once(cell->other_reader)) race(region, index, cell->other_reader, line, true, false);
    if (is_at_once(cell->writer) && twice_count < MOST_TWICE) {
      Twice* it = twice + twice_count++;
      *it = (Twice){region, index, line, cell->writer};
      memcpy(it->before, region->start + index * region->element, region->element);
    }
    cell->writer = me;
    return;
  }
  if (is_at_once(cell->writer)) race(region, index, cell->writer, line, false, true);
  // Two readers are kept, since one of them may be the next writer.
  Visit first = cell->reader;
  bool is_past = first.who && first.when != now && (first.who - 1) / threads == block;
  if (!first.who || first.who == me.who || is_past)
    cell->reader = me;
  else
    cell->other_reader = me;
}

static bool is_index(const char* p) {  // threadIdx and the like, which kernels also read
  return (p >= (char*)&threadIdx && p < (char*)(&threadIdx + 1)) ||
         (p >= (char*)&blockIdx && p < (char*)(&blockIdx + 1)) ||
         (p >= (char*)&blockDim && p < (char*)(&blockDim + 1)) ||
         (p >= (char*)&gridDim && p < (char*)(&gridDim + 1));
}

#define accessed(p, size, is_write) accessed_at(p, size, is_write, SITE)
static void accessed_at(const char* p, long long size, bool is_write, unsigned int site) {
  if (p >= stacks && p < stacks_end) return;  // a thread's own variables
  if (is_write) look_at_what_was_written();
  accesses++;
  const Region* nearest = NULL;
  long long distance = INT64_MAX;
  for (const Region* region = regions; region < regions + region_count; region++) {
    long long at = p - region->start;
    if (at >= 0 && at + size <= region->bytes) {
      for (long long i = at / region->element; i * region->element < at + size; i++) {
        if (watched) watch(region, i, is_write, site);
        if (finds_races) visit(region, i, is_write);
        if (!is_write && region->pending && region->pending[i]) {
          fault->line = line;
          stop(NOT_WAITED, region, i, false);
        }
      }
      return;
    }
    long long away = at < 0 ? -at : at - region->bytes;
    if (away < distance) {
      distance = away;
      nearest = region;
    }
  }
  if (is_index(p)) return;
  if (!nearest) abort();  // a kernel without arguments
  long long at = p - nearest->start, element = nearest->element;
  fault->line = line;
  stop(OUT_OF_BOUNDS, nearest, (at < 0 ? at - element + 1 : at) / element, is_write);
}

// Registers an array of the block; the first time, fills it with 0x7f bytes, large numbers.
void emulated_shared(const char* name, void* start, long long bytes, long long element) {
  for (int n = buffer_count; n < region_count; n++)
    if (regions[n].start == start) return;
  memset(start, 0x7f, bytes);
  add_region(name, start, bytes, element);
}

// A vector must be aligned to its size.
void emulated_vector(const void* pointer, long long bytes) {
  vector.start = pointer;
  vector.end = vector.start + bytes;
  vector.site = SITE;
  vector.number = ++accesses;
  if ((intptr_t)pointer % bytes == 0) return;
  fault->line = (int)bytes;
  for (const Region* region = regions; region < regions + region_count; region++) {
    long long at = (const char*)pointer - region->start;
    if (at >= 0 && at < region->bytes) stop(MISALIGNED, region, at / region->element, false);
  }
  stop(MISALIGNED, regions, 0, false);
}

// The functions that the compiler's instrumentation calls. A range is a struct that is copied.
#define ACCESSES(size)                                                          \
  void __tsan_read##size(void* p) { accessed(p, size, false); }                 \
  void __tsan_write##size(void* p) { accessed(p, size, true); }                 \
  void __tsan_unaligned_read##size(void* p) { accessed(p, size, false); }       \
  void __tsan_unaligned_write##size(void* p) { accessed(p, size, true); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(void* p, unsigned long size) { accessed(p, size, false); }
void __tsan_write_range(void* p, unsigned long size) { accessed(p, size, true); }
#define COPIES(function)                                                        \
  void* __tsan_##function(void* to, const void* from, unsigned long size) {     \
    accessed(to, size, true);                                                   \
    accessed(from, size, false);                                                \
    return function(to, from, size);                                            \
  }
COPIES(memcpy)
COPIES(memmove)
void* __tsan_memset(void* to, int value, unsigned long size) {
  accessed(to, size, true);
  return memset(to, value, size);
}
void __tsan_init(void) {}
void __tsan_func_entry(void* caller) {}
void __tsan_func_exit(void) {}

// ---- threads -------------------------------------------------------------------------------------

typedef enum { READY, WAITING, EXCHANGING, DONE } State;
typedef struct {  // stored at the start of its stack
  jmp_buf place;
  ucontext_t start;
  State state;
  int line;  // of the barrier where it waits
} Fiber;
// makecontext gets only the upper part of a stack: on macOS it fills all of it with zeros, and needs
// at least 32 kB.
enum { STACK = 256 << 10, TOLD = 32 << 10 };
static jmp_buf scheduler;
static void** arguments;

static Fiber* fiber(unsigned int n) { return (Fiber*)(stacks + (size_t)n * STACK); }

static void leave(State state, int line) {
  look_at_what_was_written();
  vector.end = NULL;
  Fiber* me = fiber(current);
  me->state = state;
  me->line = line;
  if (!_setjmp(me->place)) _longjmp(scheduler, 1);
}

void emulated_barrier(int at) { leave(WAITING, at); }

// Copies to arrays of the block that a thread does not wait for at once. Until it has, such an element
// must not be read; it may be written at any time from the start of the copy on.
typedef struct { char *place; const char* source; bool exists; long long group; } Copy;
enum { MOST_COPIES = 256, COPY_BYTES = 16, COPYING_THREADS = 1024 };
static Copy copies[COPYING_THREADS][MOST_COPIES];
static int copy_count[COPYING_THREADS];
static long long groups[COPYING_THREADS];

static void mark_pending(char* place, int by) {
  for (Region* region = regions; region < regions + region_count; region++) {
    long long at = place - region->start;
    if (at < 0 || at >= region->bytes) continue;
    long long elements = region->bytes / region->element;
    if (!region->pending) region->pending = calloc(elements, 1);
    for (long long n = 0; n < COPY_BYTES / region->element; n++)
      region->pending[at / region->element + n] += by;
  }
}

void emulated_copy(void* place, const void* source, int exists, int at) {
  line = at;
  emulated_vector(place, COPY_BYTES);
  if (exists) {
    emulated_vector(source, COPY_BYTES);
    accessed(source, COPY_BYTES, false);
  }
  accessed(place, COPY_BYTES, true);
  if (copy_count[current] == MOST_COPIES) abort();
  copies[current][copy_count[current]++] = (Copy){place, source, exists, groups[current]};
  mark_pending(place, 1);
  line = 0;
}

void emulated_commit(void) { groups[current]++; }

// Waits for all groups of copies but the last so many.
void emulated_wait(int most) {
  Copy* mine = copies[current];
  int left = 0;
  for (int n = 0; n < copy_count[current]; n++) {
    if (mine[n].group >= groups[current] - most) {
      mine[left++] = mine[n];
      continue;
    }
    accessed(mine[n].place, COPY_BYTES, true);
    if (mine[n].exists) memcpy(mine[n].place, mine[n].source, COPY_BYTES);
    else memset(mine[n].place, 0, COPY_BYTES);
    mark_pending(mine[n].place, -1);
  }
  copy_count[current] = left;
}

// The product of a tensor core. Each thread supplies its elements, waits until all others have, and
// takes its four results (see gpu/mma.py). This is not a barrier: it does not order memory accesses.
enum { MOST_THREADS = 1024, WARP = 32, OF_B = 8 };
static float given[MOST_THREADS][OF_B + 4];

void emulated_mma(int run, const float* a, const float* b, float* c, int line) {
  float* mine = given[current];
  memcpy(mine, a, 2 * run * sizeof *a);
  memcpy(mine + OF_B, b, run * sizeof *b);
  leave(EXCHANGING, line);
  unsigned int me = current % WARP;
  const float(*warp)[OF_B + 4] = given + (current - me);
  for (int n = 0; n < 4; n++) {
    double sum = 0;
    for (int t = 0; t < 4; t++) {
      const float* row = warp[me / 4 * 4 + t] + n / 2 * run;
      const float* column = warp[(me % 4 * 2 + n % 2) * 4 + t] + OF_B;
      for (int k = 0; k < run; k++) sum += (double)row[k] * column[k];
    }
    c[n] = (float)(c[n] + sum);
  }
  leave(EXCHANGING, line);  // inputs must stay until all threads have read them
}

// Rows of matrices of 8 x 8, given by the threads of a warp -> the elements of one (gpu/mma.py).
static unsigned short rows[MOST_THREADS][8];

void emulated_fragment_of(const unsigned short* row, unsigned short* out, int count, int is_transposed,
                          int line) {
  memcpy(rows[current], row, sizeof rows[current]);
  leave(EXCHANGING, line);
  unsigned int me = current % WARP, y = me / 4, x = me % 4 * 2;
  const unsigned short(*warp)[8] = rows + (current - me);
  for (int n = 0; n < count; n++) {
    const unsigned short(*matrix)[8] = warp + n / 2 * 8;
    out[n] = is_transposed ? matrix[x + n % 2][y] : matrix[y][x + n % 2];
  }
  leave(EXCHANGING, line);
}

static void thread_main(void) {
  for (;;) {  // once per block
    emulated_kernel(arguments);
    leave(DONE, 0);
  }
}

static void make_fiber(unsigned int n) {
  Fiber* it = fiber(n);
  getcontext(&it->start);
  it->start.uc_stack.ss_sp = (char*)it + STACK - TOLD;
  it->start.uc_stack.ss_size = TOLD;
  it->start.uc_link = NULL;
  makecontext(&it->start, thread_main, 0);
}

static Three place(unsigned int number, Three sizes) {
  return (Three){number % sizes.x, number / sizes.x % sizes.y, number / sizes.x / sizes.y};
}

static void run_thread(unsigned int n, bool is_new) {
  current = n;
  threadIdx = place(n, blockDim);
  if (_setjmp(scheduler)) return;
  if (is_new) setcontext(&fiber(n)->start);
  _longjmp(fiber(n)->place, 1);
}

// All threads must wait at the same barrier, or all must be done.
static void check_together(void) {
  for (unsigned int n = 1; n < threads; n++) {
    Fiber *first = fiber(0), *it = fiber(n);
    if (it->state == first->state && it->line == first->line) continue;
    current = n;
    fault->line = it->line;
    fault->other_line = first->line;
    stop(DIVERGENCE, NULL, 0, false);
  }
}

static void run_block(void) {
  drop_regions(buffer_count);
  memset(copy_count, 0, sizeof copy_count);
  blockIdx = place(block, gridDim);
  bool is_new = block == 0, backwards = block & 1;
  do {
    if (is_new || fiber(0)->state != EXCHANGING) now++;
    for (unsigned int n = 0; n < threads; n++)
      run_thread(backwards ? threads - 1 - n : n, is_new);
    check_together();
    is_new = false;
    backwards = !backwards;
  } while (fiber(0)->state != DONE);
}

static void run_grid(void) {
  if (setjmp(faulted)) return;
  if (threads > (unsigned int)emulated_bound) stop(TOO_MANY_THREADS, NULL, emulated_bound, false);
  for (unsigned int n = 0; n < threads; n++) make_fiber(n);
  unsigned int blocks = gridDim.x * gridDim.y * gridDim.z;
  for (block = 0; block < blocks; block++) run_block();
}

// Launches the kernel. `report` is all zeros, and stays so unless something goes wrong.
//
// given: pointers to `count` arguments. bytes: the size of the memory that each argument points to; 0
// for a number. workspace: STACK bytes for each thread of a block.
__attribute__((visibility("default")))
void emulate(int count, void** given, const long long* bytes, const Three* grid, const Three* local,
             int races, char* workspace, Fault* report) {
  fault = report;
  finds_races = races;
  arguments = given;
  gridDim = *grid;
  blockDim = *local;
  threads = local->x * local->y * local->z;
  stacks = workspace;
  stacks_end = stacks + (size_t)threads * STACK;
  now = block = current = line = 0;
  twice_count = 0;
  for (int n = 0; n < count; n++)
    if (bytes[n]) add_region(emulated_names[n], *(void**)given[n], bytes[n], emulated_elements[n]);
  buffer_count = region_count;
  run_grid();
  drop_regions(0);
}
