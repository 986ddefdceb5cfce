// SPDX-License-Identifier: Apache-2.0
// case_read: what the readers of the parts of a case share: where in the document they are, problems
// with positions, maps with known keys, scalars with defaults. Inside sim/case_*.c only.
#pragma once

#include "base/map.h"
#include "sim/case.h"

/* Where in the document we are, for messages: a chain from the innermost step outwards. */
struct at {
    const struct at *up;
    struct str key; /* "" for an item of a list */
    uint32_t index;
};

/* A pod that holds devices at the start, until all are known. */
struct case_held {
    uint32_t pod;
    const struct doc *labels; /* its list of device labels, NULL: none */
    const struct doc *where;
};

struct parsing {
    struct arena *arena;
    struct problems *problems;
    struct sim_case *c;
    struct map nodes, queues, topologies, workloads, pods; /* name to index */
    ARRAY(struct case_held) held;
};

struct str path_of(struct parsing *p, const struct at *at);
/* place gives a problem the path of at and the position of d (NULL: none); returns it. */
struct problem *place(struct parsing *p, struct problem *problem, const struct at *at,
                      const struct doc *d);
#define PROBLEM(p, at, doc, ...) \
    place((p), problems_add((p)->problems, SEVERITY_ERROR, __VA_ARGS__), (at), (doc))

enum { MEMBERS_MAX = 24 };

/* Keys of one kind of map; the first required_count must be there. */
struct keys {
    uint32_t required_count, count;
    struct str names[MEMBERS_MAX];
};

/* open_map sorts the members of map d into m[MEMBERS_MAX] by the index of their key; NULL where
 * absent. Unknown, repeated and missing keys are problems. */
void open_map(struct parsing *p, const struct at *at, const struct doc *d, const struct keys *keys,
              const struct doc **m);
/* First item of a list; NULL when there is none or d is NULL. */
const struct doc *list_of(struct parsing *p, const struct at *at, const struct doc *d);
/* First member of a map with free keys; NULL as above. */
const struct doc *members_of(struct parsing *p, const struct at *at, const struct doc *d);

/* Scalars at key of up; each gives its default when d is NULL or, with a problem, wrong. */
struct range {
    int64_t unit;        /* base units in one */
    int64_t first, last; /* in base units */
    int64_t absent;      /* in base units, when the key is not there */
};
struct str text_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d);
bool bool_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
             bool absent);
int64_t number_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
                  struct range range);
int64_t count_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
                 int64_t last, int64_t absent); /* [0, last] */
int64_t seconds_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
                   int64_t first_ms, int64_t absent_ms); /* in milliseconds */
/* The index in names[count] of a text; 0 when it is none of them. */
uint32_t word_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
                 const struct str *names, uint32_t count);
/* The index that map has for a name; IX_NONE when absent or unknown. */
uint32_t index_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
                  const struct map *map, const char *what);
/* name_taken notes that name stands for ix; a second use is a problem. */
void name_taken(struct parsing *p, const struct at *at, const struct doc *d, struct map *map,
                struct str name, uint32_t ix);

/* A list of texts becomes a run of keys[] of the world. */
void read_names(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
                uint32_t *first, uint32_t *count);
/* Maps with free keys become runs of labels[] and amounts[] of the world. */
void read_labels(struct parsing *p, const struct at *up, const struct doc *d, uint32_t *first,
                 uint32_t *count);
void read_mig(struct parsing *p, const struct at *up, const struct doc *d, uint32_t *first,
              uint32_t *count);

/* case_workload.c: one workload with its gang and pods; then, once, the devices held. */
void read_workload(struct parsing *p, const struct at *at, const struct doc *d);
void place_held(struct parsing *p);

/* case_remedy.c: what the smallest change that would start a workload is to be; only what it says
 * is compared. case_remedy_differs says how the one that is found differs, "" when it does not. */
void read_remedy(struct parsing *p, const struct at *up, const struct doc *d);
struct str case_remedy_differs(const struct sim_case *c, const struct case_result *result,
                               uint32_t workload, const struct doc *want, struct arena *arena);

/* case_expect.c: what must hold. */
void read_expect(struct parsing *p, struct str key, const struct doc *d);
/* case_expect_check adds a failure to *result for each expectation that does not hold now; pods,
 * nodes and queues when `state`, fair shares when `shares`, evictions when `end`. */
struct case_checks {
    bool state, shares, end;
};
void case_expect_check(const struct sim_case *c, struct case_checks which, struct arena *arena,
                       struct case_result *result);
/* The stable name of the reason of a workload after the last round, "" when it has none. */
struct str case_workload_reason(const struct case_result *result, uint32_t workload);
