/* Runs kernels for ARM64, inside an emulator: reads commands, a line each, and answers each with a
   line, which begins with "error" where it failed. See arm64_device.py. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef void (*entry_t)(void **bufs, const long long *vals, int start, int stop);
void tf_launch(entry_t entry, void **bufs, const long long *vals, int total, int threads);

enum { MOST_ARGUMENTS = 1024 };

static char *rest; /* of the line */

static char *word(void) {
  char *found = strsep(&rest, " \n");
  return found ? found : "";
}

static long long number(void) { return strtoll(word(), 0, 10); }
static void *pointer(void) { return (void *)strtoull(word(), 0, 10); }
static void answer(const void *address) { printf("%llu\n", (unsigned long long)address); }

/* map PATH SIZE: the address of the file's bytes, in memory that whoever else maps it shares */
static void map(void) {
  int file = open(word(), O_RDWR);
  void *place = mmap(0, (size_t)number(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  if (place == MAP_FAILED) puts("error: no memory");
  else answer(place);
}

/* unmap ADDRESS SIZE */
static void unmap(void) {
  void *place = pointer();
  answer((void *)(intptr_t)munmap(place, (size_t)number()));
}

/* load PATH: a library's handle */
static void load(void) {
  void *library = dlopen(word(), RTLD_NOW);
  if (library) answer(library);
  else printf("error: %s\n", dlerror());
}

/* unload HANDLE */
static void unload(void) { answer((void *)(intptr_t)dlclose(pointer())); }

/* find HANDLE NAME: the address of a function */
static void find(void) {
  void *library = pointer(), *found = dlsym(library, word());
  if (found) answer(found);
  else printf("error: %s\n", dlerror());
}

/* run ENTRY TOTAL THREADS BUFFERS ADDRESS… VALUES NUMBER…: the seconds that it took */
static void run(void) {
  entry_t entry = (entry_t)pointer();
  int total = (int)number(), threads = (int)number();
  void *bufs[MOST_ARGUMENTS];
  long long vals[MOST_ARGUMENTS];
  int buffers = (int)number();
  for (int n = 0; n < buffers && n < MOST_ARGUMENTS; n++) bufs[n] = pointer();
  int values = (int)number();
  for (int n = 0; n < values && n < MOST_ARGUMENTS; n++) vals[n] = number();
  if (buffers > MOST_ARGUMENTS || values > MOST_ARGUMENTS) {
    puts("error: too many arguments");
    return;
  }
  struct timespec start, stop;
  clock_gettime(CLOCK_MONOTONIC, &start);
  if (total > 1) tf_launch(entry, bufs, vals, total, threads);
  else entry(bufs, vals, 0, total);
  clock_gettime(CLOCK_MONOTONIC, &stop);
  printf("%.9f\n", (double)(stop.tv_sec - start.tv_sec) + 1e-9 * (stop.tv_nsec - start.tv_nsec));
}

static const struct {
  const char *name;
  void (*command)(void);
} commands[] = {{"map", map},   {"unmap", unmap}, {"load", load},
                {"unload", unload}, {"find", find},   {"run", run}};

int main(void) {
  char *line = 0;
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) {
    rest = line;
    const char *name = word();
    int known = 0;
    for (size_t n = 0; n < sizeof commands / sizeof *commands; n++)
      if (!strcmp(commands[n].name, name)) commands[n].command(), known = 1;
    if (!known) printf("error: no command %s\n", name);
    fflush(stdout);
  }
}
