// SPDX-License-Identifier: Apache-2.0
// One thread, a queue in, a queue out. A job is owned by whoever's queue it is in; passwords are
// wiped when their job ends. A hash that nobody's password has stands in for a missing one, so that
// an unknown name takes as long as a wrong password; the thread makes it before its first job.
#include "io/password.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"

_Static_assert(PASSWORD_HASH_SIZE >= crypto_pwhash_STRBYTES, "the text of a hash fits");

struct job {
    struct job *next;
    bool check, nobody, ok;
    char hash[PASSWORD_HASH_SIZE];
    char password[PASSWORD_LEN_MAX + 1];
    uint32_t password_len;
    password_done *done; /* NULL: nobody waits any more */
    void *arg;
};

struct passwords {
    struct loop *loop;
    int event_fd;
    pthread_t thread;
    pthread_mutex_t lock; /* what follows */
    pthread_cond_t work;
    struct job *waiting, *running, *finished; /* waiting: oldest first */
    uint32_t count;                           /* all of them */
    bool stop;
};

static void job_free(struct job *job)
{
    sodium_memzero(job, sizeof *job);
    mem_free(job);
}

static void push(struct job **list, struct job *job)
{
    while (*list != NULL) {
        list = &(*list)->next;
    }
    job->next = NULL;
    *list = job;
}

static struct job *pop(struct job **list)
{
    struct job *job = *list;
    if (job != NULL) {
        *list = job->next;
    }
    return job;
}

static bool make_hash(char out[PASSWORD_HASH_SIZE], const char *password, uint32_t len)
{
    return crypto_pwhash_str(out, password, len, crypto_pwhash_OPSLIMIT_INTERACTIVE,
                             crypto_pwhash_MEMLIMIT_INTERACTIVE) == 0;
}

static void do_job(struct job *job, const char *nobody)
{
    if (job->check) {
        const char *hash = job->nobody ? nobody : job->hash;
        job->ok = crypto_pwhash_str_verify(hash, job->password, job->password_len) == 0 &&
                  !job->nobody;
    } else {
        job->ok = make_hash(job->hash, job->password, job->password_len);
    }
}

static void *thread_main(void *arg)
{
    struct passwords *p = arg;
    char nobody[PASSWORD_HASH_SIZE] = "";
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        struct job *job = pop(&p->waiting);
        if (job == NULL) {
            pthread_cond_wait(&p->work, &p->lock);
            continue;
        }
        p->running = job;
        pthread_mutex_unlock(&p->lock);
        if (nobody[0] == '\0') {
            char unknown[32];
            randombytes_buf(unknown, sizeof unknown);
            CHECK(make_hash(nobody, unknown, sizeof unknown));
        }
        do_job(job, nobody);
        pthread_mutex_lock(&p->lock);
        p->running = NULL;
        push(&p->finished, job);
        uint64_t one = 1;
        CHECK(write(p->event_fd, &one, sizeof one) == sizeof one);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void on_finished(void *arg, int fd, uint32_t events)
{
    struct passwords *p = arg;
    uint64_t counted;
    (void)events;
    while (read(fd, &counted, sizeof counted) < 0 && errno == EINTR) {
    }
    for (;;) {
        pthread_mutex_lock(&p->lock);
        struct job *job = pop(&p->finished);
        p->count -= job != NULL;
        pthread_mutex_unlock(&p->lock);
        if (job == NULL) {
            return;
        }
        if (job->done != NULL) {
            job->done(job->arg, job->ok, str_from_c(job->hash));
        }
        job_free(job);
    }
}

enum status passwords_new(struct loop *loop, struct passwords **out, struct err *err)
{
    if (sodium_init() < 0) {
        return err_set(err, STATUS_INTERNAL, "libsodium does not start");
    }
    struct passwords *p = mem_alloc(sizeof *p);
    p->loop = loop;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    p->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(p->event_fd >= 0);
    enum status status = loop_add(loop, p->event_fd, EPOLLIN, on_finished, p, err);
    CHECK(status == STATUS_OK);
    sigset_t all, old; /* signals are the loop's */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&p->thread, NULL, thread_main, p);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    CHECK(rc == 0);
    *out = p;
    return STATUS_OK;
}

void passwords_free(struct passwords *p)
{
    if (p == NULL) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    loop_del(p->loop, p->event_fd);
    close(p->event_fd);
    for (struct job *job = pop(&p->waiting); job != NULL; job = pop(&p->waiting)) {
        job_free(job);
    }
    for (struct job *job = pop(&p->finished); job != NULL; job = pop(&p->finished)) {
        job_free(job);
    }
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    mem_free(p);
}

static enum status ask(struct passwords *p, struct job *job, struct str password, struct err *err)
{
    enum status status = STATUS_OK;
    pthread_mutex_lock(&p->lock);
    if (password.len > PASSWORD_LEN_MAX) {
        status = err_set(err, STATUS_TOO_LARGE, "a password has at most %d bytes",
                         PASSWORD_LEN_MAX);
    } else if (p->count >= PASSWORD_WAITING_MAX) {
        err_set(err, STATUS_BUSY, "too many sign in at this moment");
        err_hint(err, "try again in a few seconds");
        status = STATUS_BUSY;
    } else {
        job->password_len = password.len;
        memcpy(job->password, password.len > 0 ? password.ptr : "", password.len);
        push(&p->waiting, job);
        p->count++;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    if (status != STATUS_OK) {
        job_free(job);
    }
    return status;
}

static struct job *job_new(password_done *done, void *arg)
{
    struct job *job = mem_alloc(sizeof *job);
    job->done = done;
    job->arg = arg;
    return job;
}

enum status password_check(struct passwords *p, struct str hash, struct str password,
                           password_done *done, void *arg, struct err *err)
{
    struct job *job = job_new(done, arg);
    job->check = true;
    job->nobody = hash.len == 0 || hash.len >= sizeof job->hash;
    if (!job->nobody) {
        memcpy(job->hash, hash.ptr, hash.len);
    }
    return ask(p, job, password, err);
}

enum status password_hash(struct passwords *p, struct str password, password_done *done, void *arg,
                          struct err *err)
{
    return ask(p, job_new(done, arg), password, err);
}

static void forget_in(struct job *list, const void *arg)
{
    for (; list != NULL; list = list->next) {
        if (list->arg == arg) {
            list->done = NULL;
        }
    }
}

void password_forget(struct passwords *p, void *arg)
{
    pthread_mutex_lock(&p->lock);
    forget_in(p->waiting, arg);
    forget_in(p->finished, arg);
    if (p->running != NULL && p->running->arg == arg) {
        p->running->done = NULL;
    }
    pthread_mutex_unlock(&p->lock);
}
