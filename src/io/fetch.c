// SPDX-License-Identifier: Apache-2.0
// libcurl's multi interface in the loop: it says which descriptors and what time it waits for, and is
// told when one has come. Names are resolved in a thread of its own.
#include "io/fetch.h"

#include <curl/multi.h>
#include <sys/epoll.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include "io/clock.h"

struct job {
    struct job *next;
    struct fetch *fetch;
    CURL *curl;
    struct curl_slist *headers;
    struct arena arena;
    struct buf body;
    size_t header_bytes;
    fetch_done *done;
    void *arg;
    char said[CURL_ERROR_SIZE];
};

struct fetch {
    struct loop *loop;
    CURLM *multi;
    struct loop_timer timer;
    struct str ca;
    struct arena arena;
    struct job *jobs;
    uint32_t count;
};

static void take_finished(struct fetch *f);

/* ---- libcurl and the loop ---- */

static void on_ready(void *arg, int fd, uint32_t events)
{
    struct fetch *f = arg;
    int running = 0;
    int mask = ((events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
               ((events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
               ((events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
    curl_multi_socket_action(f->multi, fd, mask, &running);
    take_finished(f);
}

static void on_time(void *arg)
{
    struct fetch *f = arg;
    int running = 0;
    curl_multi_socket_action(f->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    take_finished(f);
}

/* watched: not NULL when the descriptor is in the loop already. */
static int want_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *watched)
{
    struct fetch *f = arg;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (watched != NULL) {
            loop_del(f->loop, fd);
        }
        curl_multi_assign(f->multi, fd, NULL);
        return 0;
    }
    uint32_t events = (what & CURL_POLL_IN) != 0 ? EPOLLIN : 0u;
    events |= (what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0u;
    if (watched != NULL) {
        loop_mod(f->loop, fd, events);
    } else if (loop_add(f->loop, fd, events, on_ready, f, NULL) == STATUS_OK) {
        curl_multi_assign(f->multi, fd, f);
    } else {
        return -1;
    }
    return 0;
}

static int want_time(CURLM *multi, long timeout_ms, void *arg)
{
    struct fetch *f = arg;
    (void)multi;
    if (timeout_ms < 0) {
        loop_cancel(f->loop, &f->timer);
    } else {
        loop_at(f->loop, &f->timer, clock_mono_ms() + timeout_ms, on_time, f);
    }
    return 0;
}

/* ---- one request ---- */

static size_t on_header(char *bytes, size_t size, size_t count, void *arg)
{
    struct job *job = arg;
    (void)bytes;
    job->header_bytes += size * count;
    job->body.full = job->body.full || job->header_bytes > FETCH_HEADER_BYTES_MAX;
    return job->body.full ? 0 : size * count;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct job *job = arg;
    buf_add(&job->body, bytes, size * count);
    return job->body.full ? 0 : size * count;
}

static void job_free(struct job *job)
{
    struct job **at = &job->fetch->jobs;
    while (*at != job) {
        at = &(*at)->next;
    }
    *at = job->next;
    job->fetch->count--;
    curl_multi_remove_handle(job->fetch->multi, job->curl);
    curl_easy_cleanup(job->curl);
    curl_slist_free_all(job->headers);
    buf_done(&job->body);
    arena_done(&job->arena);
    mem_free(job);
}

static void add_header(struct job *job, const char *text)
{
    job->headers = curl_slist_append(job->headers, text);
    CHECK(job->headers != NULL);
}

static void set_limits(struct job *job, const struct fetch_request *r)
{
    CURL *c = job->curl;
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)FETCH_CONNECT_MS);
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)r->time_ms);
    curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (r->direct) {
        curl_easy_setopt(c, CURLOPT_PROXY, "");
    }
    if (job->fetch->ca.len > 0) {
        struct curl_blob blob = {.data = (void *)(uintptr_t)job->fetch->ca.ptr,
                                 .len = job->fetch->ca.len,
                                 .flags = CURL_BLOB_NOCOPY};
        curl_easy_setopt(c, CURLOPT_CAINFO_BLOB, &blob);
        curl_easy_setopt(c, CURLOPT_CAPATH, NULL);
    }
}

static void set_request(struct job *job, const struct fetch_request *r)
{
    CURL *c = job->curl;
    struct arena *a = &job->arena;
    curl_easy_setopt(c, CURLOPT_URL, arena_cstr(a, r->url));
    curl_easy_setopt(c, CURLOPT_USERAGENT, "weir/" WEIR_VERSION);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, job->said);
    curl_easy_setopt(c, CURLOPT_PRIVATE, job);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, job);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, job);
    add_header(job, "Accept: application/json");
    if (r->post) {
        add_header(job, "Expect:");
        curl_easy_setopt(c, CURLOPT_POST, 1L);
        curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE, (long)r->body.len);
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, arena_cstr(a, r->body));
    }
    if (r->basic_name.len > 0) {
        curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(c, CURLOPT_USERNAME, arena_cstr(a, r->basic_name));
        curl_easy_setopt(c, CURLOPT_PASSWORD, arena_cstr(a, r->basic_secret));
    }
    if (r->bearer.len > 0) {
        add_header(job, arena_printf(a, "Authorization: Bearer " STR_FMT, STR_ARG(r->bearer)).ptr);
    }
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, job->headers);
}

enum status fetch_start(struct fetch *f, const struct fetch_request *r, fetch_done *done, void *arg,
                        struct err *err)
{
    if (f->count >= FETCH_MAX) {
        err_set(err, STATUS_BUSY, "too many wait for answers of other servers at this moment");
        err_hint(err, "try again in a few seconds");
        return STATUS_BUSY;
    }
    struct job *job = mem_alloc(sizeof *job);
    *job = (struct job){.next = f->jobs, .fetch = f, .done = done, .arg = arg};
    f->jobs = job;
    f->count++;
    arena_init(&job->arena, 0);
    buf_init(&job->body, r->bytes_max);
    job->curl = curl_easy_init();
    CHECK(job->curl != NULL);
    set_limits(job, r);
    set_request(job, r);
    CHECK(curl_multi_add_handle(f->multi, job->curl) == CURLM_OK);
    return STATUS_OK;
}

void fetch_forget(struct fetch *f, const void *arg)
{
    for (struct job *job = f->jobs; job != NULL;) {
        struct job *next = job->next;
        if (job->arg == arg) {
            job_free(job);
        }
        job = next;
    }
}

/* ---- the end of one ---- */

static void explain(const struct job *job, CURLcode code, struct err *err)
{
    const char *said = job->said[0] != '\0' ? job->said : curl_easy_strerror(code);
    if (code == CURLE_OPERATION_TIMEDOUT) {
        err_set(err, STATUS_TIMEOUT, "it does not answer in time");
    } else if (job->body.full) {
        err_set(err, STATUS_TOO_LARGE, "its answer is larger than %zu bytes", job->body.max);
    } else {
        err_set(err, STATUS_UNREACHABLE, "%s", said);
    }
}

static void finish(struct job *job, CURLcode code)
{
    struct err err;
    long status = 0;
    fetch_done *done = job->done;
    curl_easy_getinfo(job->curl, CURLINFO_RESPONSE_CODE, &status);
    struct fetch_answer answer = {(int)status, buf_view(&job->body)};
    /* Its name is taken off the list first, so that nobody can forget it now. */
    void *arg = job->arg;
    job->arg = NULL;
    if (code == CURLE_OK) {
        done(arg, &answer, NULL);
    } else {
        explain(job, code, &err);
        done(arg, NULL, &err);
    }
    job_free(job);
}

static void take_finished(struct fetch *f)
{
    int left = 0;
    for (CURLMsg *m = NULL; (m = curl_multi_info_read(f->multi, &left)) != NULL;) {
        char *private = NULL;
        CURLcode code = m->data.result;
        if (m->msg == CURLMSG_DONE) {
            curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &private);
            finish((struct job *)(void *)private, code);
        }
    }
}

/* ---- all of it ---- */

enum status fetch_new(struct loop *loop, struct str ca, struct fetch **out, struct err *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return err_set(err, STATUS_INTERNAL, "libcurl does not start");
    }
    struct fetch *f = mem_alloc(sizeof *f);
    f->loop = loop;
    arena_init(&f->arena, 0);
    f->ca = arena_str(&f->arena, ca);
    f->multi = curl_multi_init();
    CHECK(f->multi != NULL);
    curl_multi_setopt(f->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
    curl_multi_setopt(f->multi, CURLMOPT_SOCKETDATA, f);
    curl_multi_setopt(f->multi, CURLMOPT_TIMERFUNCTION, want_time);
    curl_multi_setopt(f->multi, CURLMOPT_TIMERDATA, f);
    curl_multi_setopt(f->multi, CURLMOPT_MAXCONNECTS, 8L);
    *out = f;
    return STATUS_OK;
}

void fetch_free(struct fetch *f)
{
    if (f == NULL) {
        return;
    }
    while (f->jobs != NULL) {
        job_free(f->jobs);
    }
    curl_multi_cleanup(f->multi);
    loop_cancel(f->loop, &f->timer);
    curl_global_cleanup();
    arena_done(&f->arena);
    mem_free(f);
}
