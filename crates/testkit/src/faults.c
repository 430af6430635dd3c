/*
 * A library for LD_PRELOAD that injects file system faults, for tests. Variables control it:
 *
 *   FAULTS_KILL_AT=N     kills the process (SIGKILL) instead of the Nth call that changes files
 *   FAULTS_COUNT=FILE    writes the number of such calls into FILE when the process exits
 *   FAULTS_FULL=FILE     while FILE exists, writes fail with ENOSPC
 *   FAULTS_SYNC=FILE     while FILE exists, fsync and fdatasync fail with EIO
 *   FAULTS_CLOCK=FILE    adds the seconds in FILE, if it exists, to the time of day
 *   FAULTS_FOLDER=DIR    only files whose path contains DIR fail. Default: all files
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls;

static void count(void) {
    static long kill_at = -1;
    long call = atomic_fetch_add(&calls, 1) + 1;
    if (kill_at == -1) {
        const char *given = getenv("FAULTS_KILL_AT");
        kill_at = given ? atol(given) : 0;
    }
    if (kill_at > 0 && call >= kill_at) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
}

__attribute__((destructor)) static void write_count(void) {
    const char *path = getenv("FAULTS_COUNT");
    if (!path) return;
    FILE *file = fopen(path, "w");
    if (!file) return;
    fprintf(file, "%ld", atomic_load(&calls));
    fclose(file);
}

static int is_set(const char *variable) {
    const char *path = getenv(variable);
    struct stat about;
    return path && stat(path, &about) == 0;
}

static int is_meant(int file) {
    const char *folder = getenv("FAULTS_FOLDER");
    char link[64], path[4096];
    struct stat about;
    if (fstat(file, &about) != 0 || !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))) return 0;
    if (!folder) return 1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, folder) != NULL;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, #name)
#define FULL(file) if (is_set("FAULTS_FULL") && is_meant(file)) { errno = ENOSPC; return -1; }
#define BROKEN(file) if (is_set("FAULTS_SYNC") && is_meant(file)) { errno = EIO; return -1; }

static long clock_jump(void) {
    const char *path = getenv("FAULTS_CLOCK");
    char text[32];
    if (!path) return 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length < 0 ? 0 : length] = 0;
    return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(clock_gettime);
    int result = real(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += clock_jump();
    return result;
}
ssize_t write(int file, const void *bytes, size_t length) {
    REAL(write); if (is_meant(file)) count(); FULL(file) return real(file, bytes, length);
}
ssize_t pwrite(int file, const void *bytes, size_t length, off_t at) {
    REAL(pwrite); count(); FULL(file) return real(file, bytes, length, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t at) {
    REAL(pwrite64); count(); FULL(file) return real(file, bytes, length, at);
}
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t length, unsigned flags) {
    REAL(copy_file_range); count(); FULL(out) return real(in, from, out, to, length, flags);
}
int ftruncate(int file, off_t length) { REAL(ftruncate); count(); return real(file, length); }
int ftruncate64(int file, off64_t length) { REAL(ftruncate64); count(); return real(file, length); }
int fsync(int file) { REAL(fsync); count(); BROKEN(file) return real(file); }
int fdatasync(int file) { REAL(fdatasync); count(); BROKEN(file) return real(file); }
int rename(const char *from, const char *to) { REAL(rename); count(); return real(from, to); }
int link(const char *from, const char *to) { REAL(link); count(); return real(from, to); }
int unlink(const char *path) { REAL(unlink); count(); return real(path); }
int rmdir(const char *path) { REAL(rmdir); count(); return real(path); }
int mkdir(const char *path, mode_t mode) { REAL(mkdir); count(); return real(path, mode); }
int unlinkat(int folder, const char *path, int flags) {
    REAL(unlinkat); count(); return real(folder, path, flags);
}
