// SPDX-License-Identifier: Apache-2.0
#include "api/policy_words.h"

#include "api/asset_words.h"
#include "api/runai/policies.h"
#include "api/runai/workloads.h"
#include "api/shell.h"
#include "model/priority.h"

enum { MS_PER_S = 1000 };

/* How a value of ours is written in theirs. */
enum way {
    AS_IT_IS,
    BYTES,   /* a number here, a quantity there */
    SECONDS, /* milliseconds here */
    PAIRS,   /* an object here, items with name and value there */
    RESTART,
    PRIORITY, /* a number may stand for its word */
    FRAMEWORK,
};
static const struct row {
    struct str ours, section, theirs;
    enum way way;
} rows[] = {
    {STRS("image"),          STRS(""),         STRS("image"),                                  AS_IT_IS },
    {STRS("working_dir"),    STRS(""),         STRS("workingDir"),                             AS_IT_IS },
    {STRS("run_as_uid"),     STRS("security"), STRS("runAsUid"),                               AS_IT_IS },
    {STRS("run_as_gid"),     STRS("security"), STRS("runAsGid"),                               AS_IT_IS },
    {STRS("gpu_devices"),    STRS("compute"),  STRS("gpuDevicesRequest"),                      AS_IT_IS },
    {STRS("gpu_portion"),    STRS("compute"),  STRS("gpuPortionRequest"),                      AS_IT_IS },
    {STRS("gpu_memory"),     STRS("compute"),  STRS("gpuMemoryRequest"),                       BYTES    },
    {STRS("cpu"),            STRS("compute"),  STRS("cpuCoreRequest"),                         AS_IT_IS },
    {STRS("cpu_limit"),      STRS("compute"),  STRS("cpuCoreLimit"),                           AS_IT_IS },
    {STRS("memory"),         STRS("compute"),  STRS("cpuMemoryRequest"),                       BYTES    },
    {STRS("memory_limit"),   STRS("compute"),  STRS("cpuMemoryLimit"),                         BYTES    },
    {STRS("grace_ms"),       STRS(""),         STRS("terminationGracePeriodSeconds"),          SECONDS  },
    {STRS("auto_delete_ms"), STRS(""),         STRS("autoDeletionTimeAfterCompletionSeconds"), SECONDS  },
    {STRS("backoff_limit"),  STRS(""),         STRS("backoffLimit"),                           AS_IT_IS },
    {STRS("node_type"),      STRS(""),         STRS("nodeType"),                               AS_IT_IS },
    {STRS("preemptibility"), STRS(""),         STRS("preemptibility"),                         AS_IT_IS },
    {STRS("priority"),       STRS(""),         STRS("priorityClass"),                          PRIORITY },
    {STRS("pools"),          STRS(""),         STRS("nodePools"),                              AS_IT_IS },
    {STRS("labels"),         STRS(""),         STRS("labels"),                                 PAIRS    },
    {STRS("annotations"),    STRS(""),         STRS("annotations"),                            PAIRS    },
    {STRS("env"),            STRS(""),         STRS("environmentVariables"),                   PAIRS    },
    {STRS("restart"),        STRS(""),         STRS("restartPolicy"),                          RESTART  },
    {STRS("framework"),      STRS(""),         STRS("distributedFramework"),                   FRAMEWORK},
};
/* How many pods there are, by kind; `more` than what the field there counts. */
static const struct pods_row {
    enum workload_kind kind;
    struct str ours, section, theirs;
    int64_t more;
} pods_rows[] = {
    {WORKLOAD_TRAINING,    STRS("pods"),         STRS(""),            STRS("completions"), 0},
    {WORKLOAD_TRAINING,    STRS("parallel_max"), STRS(""),            STRS("parallelism"), 0},
    {WORKLOAD_DISTRIBUTED, STRS("pods"),         STRS(""),            STRS("numWorkers"),  1},
    {WORKLOAD_DISTRIBUTED, STRS("pods_min"),     STRS(""),            STRS("minReplicas"), 1},
    {WORKLOAD_INFERENCE,   STRS("pods"),         STRS("autoscaling"), STRS("minReplicas"), 0},
    {WORKLOAD_INFERENCE,   STRS("pods"),         STRS("autoscaling"), STRS("maxReplicas"), 0},
};

/* ---- documents ---- */

static struct doc *doc_new(struct call *c, enum doc_kind kind, struct str key, struct str text)
{
    struct doc *d = ARENA_NEW(c->arena, struct doc);
    *d = (struct doc){.kind = kind, .key = key, .text = text};
    return d;
}

static struct doc *number_new(struct call *c, struct str key, int64_t n)
{
    return doc_new(c, DOC_NUMBER, key, arena_printf(c->arena, "%lld", (long long)n));
}

static void add(struct doc *to, struct doc *d)
{
    struct doc **link = &to->child;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = d;
    to->child_count++;
}

/* d under that key, in place of what is there. */
static void put(struct call *c, struct doc *map, struct str key, const struct doc *d)
{
    struct doc *copy = ARENA_NEW(c->arena, struct doc);
    *copy = *d;
    copy->key = key;
    copy->next = NULL;
    for (struct doc **link = &map->child; *link != NULL; link = &(*link)->next) {
        if (str_eq((*link)->key, key)) {
            copy->next = (*link)->next;
            *link = copy;
            return;
        }
    }
    add(map, copy);
}

static struct doc *copy_of(struct call *c, const struct doc *map)
{
    struct doc *out = doc_new(c, DOC_MAP, STR(""), STR(""));
    for (const struct doc *d = map != NULL ? map->child : NULL; d != NULL; d = d->next) {
        put(c, out, d->key, d);
    }
    return out;
}

static const struct doc *in_theirs(const struct doc *spec, struct str section, struct str name)
{
    return body_get(section.len > 0 ? body_get(spec, section) : spec, name);
}

static void put_theirs(struct call *c, struct doc *spec, struct str section, struct str name,
                       const struct doc *d)
{
    struct doc *in = spec;
    for (struct doc *m = spec->child; section.len > 0 && m != NULL; m = m->next) {
        in = str_eq(m->key, section) ? m : in;
    }
    if (section.len > 0 && in == spec) {
        in = doc_new(c, DOC_MAP, section, STR(""));
        add(spec, in);
    }
    put(c, in, name, d);
}

/* ---- values ---- */

static const struct str restarts[][2] = {
    {STRS("never"),      STRS("Never")    },
    {STRS("on-failure"), STRS("OnFailure")},
    {STRS("always"),     STRS("Always")   },
};

static struct str restart_word(struct str word, int from)
{
    for (size_t i = 0; i < COUNT_OF(restarts); i++) {
        if (str_eq(restarts[i][from], word)) {
            return restarts[i][1 - from];
        }
    }
    return word;
}

static struct str framework_word(struct str word, bool to_ours)
{
    for (int f = FRAMEWORK_NONE + 1; f <= FRAMEWORK_JAX; f++) {
        struct str ours = show_framework((enum framework)f);
        struct str theirs = workload_framework((enum framework)f);
        if (str_eq(to_ours ? theirs : ours, word)) {
            return to_ours ? ours : theirs;
        }
    }
    return word;
}

static struct doc *items_of(struct call *c, const struct doc *pairs)
{
    struct doc *list = doc_new(c, DOC_LIST, STR(""), STR(""));
    for (const struct doc *d = pairs->child; d != NULL; d = d->next) {
        struct doc *item = doc_new(c, DOC_MAP, STR(""), STR(""));
        add(item, doc_new(c, DOC_STRING, STR("name"), d->key));
        add(item, doc_new(c, DOC_STRING, STR("value"), d->text));
        add(list, item);
    }
    return list;
}

/* Where the value of a variable is, when that is a secret; NULL: it is none. */
static const struct doc *secret_of(const struct doc *variable)
{
    static const struct str members[] = {STRS("secret"), STRS("userCredential"),
                                         STRS("credential")};
    const struct doc *from = NULL;
    for (size_t i = 0; i < COUNT_OF(members) && from == NULL; i++) {
        from = body_get(variable, members[i]);
    }
    return from;
}

static struct doc *pairs_of(struct call *c, const struct doc *items)
{
    struct doc *map = doc_new(c, DOC_MAP, STR(""), STR(""));
    for (const struct doc *d = items->child; d != NULL; d = d->next) {
        struct doc value = {.kind = DOC_STRING, .text = body_str(d, STR("value"))};
        if (secret_of(d) == NULL) {
            put(c, map, body_str(d, STR("name")), &value);
        }
    }
    return map;
}

/* Variables that environments and templates take from credentials. */
static void secrets_back(struct call *c, const struct doc *spec, struct doc *ours)
{
    const struct doc *items = body_get(spec, STR("environmentVariables"));
    struct doc *secrets = copy_of(c, body_get(ours, STR("env_secrets")));
    for (const struct doc *d = items != NULL ? items->child : NULL; d != NULL; d = d->next) {
        const struct doc *from = secret_of(d);
        struct str name = body_str(d, STR("name"));
        if (from == NULL || body_get(secrets, name) != NULL) {
            continue;
        }
        struct doc *secret = doc_new(c, DOC_MAP, STR(""), STR(""));
        bool by_id = body_str(from, STR("assetId")).len > 0;
        add(secret, doc_new(c, DOC_STRING, STR("credential"),
                            body_str(from, by_id ? STR("assetId") : STR("name"))));
        add(secret, doc_new(c, DOC_STRING, STR("key"), body_str(from, STR("key"))));
        struct doc *own = doc_new(c, DOC_BOOL, STR("own"), STR(""));
        own->boolean = body_get(d, STR("userCredential")) == from;
        add(secret, own);
        put(c, secrets, name, secret);
    }
    if (secrets->child != NULL) {
        put(c, ours, STR("env_secrets"), secrets);
    }
}

static struct str priority_of(const struct doc *d)
{
    int64_t value;
    struct str word = priority_parse(d->text, &value) ? priority_word(value) : STR("");
    return word.len > 0 ? word : d->text;
}

static const struct doc *to_theirs(struct call *c, enum way way, const struct doc *d)
{
    switch (way) {
    case AS_IT_IS:
    case BYTES:
        return d;
    case SECONDS:
        return number_new(c, STR(""), num_div_ceil(doc_i64(d), MS_PER_S));
    case PAIRS:
        return items_of(c, d);
    case RESTART:
        return doc_new(c, DOC_STRING, STR(""), restart_word(d->text, 0));
    case PRIORITY:
        return doc_new(c, DOC_STRING, STR(""), priority_of(d));
    case FRAMEWORK:
        return doc_new(c, DOC_STRING, STR(""), framework_word(d->text, false));
    }
    return d;
}

static const struct doc *to_ours(struct call *c, enum way way, const struct doc *map,
                                 const struct doc *d)
{
    switch (way) {
    case AS_IT_IS:
    case PRIORITY:
        return d;
    case BYTES:
        return number_new(c, STR(""), body_bytes(map, d->key, 0));
    case SECONDS:
        return number_new(c, STR(""), num_sat_mul_i64(doc_i64(d), MS_PER_S));
    case PAIRS:
        return pairs_of(c, d);
    case RESTART:
        return doc_new(c, DOC_STRING, STR(""), restart_word(d->text, 1));
    case FRAMEWORK:
        return doc_new(c, DOC_STRING, STR(""), framework_word(d->text, true));
    }
    return d;
}

/* ---- the spec there ---- */

static void command_there(struct call *c, const struct doc *ours, struct doc *spec)
{
    const struct doc *words = body_get(ours, STR("command"));
    struct str line = STR("");
    for (const struct doc *d = words != NULL ? words->child : NULL; d != NULL; d = d->next) {
        line = arena_printf(c->arena, STR_FMT "%s" STR_FMT, STR_ARG(line), line.len > 0 ? " " : "",
                            STR_ARG(d->text));
    }
    if (line.len > 0) {
        bool command = body_bool(ours, STR("args_are_command"), false);
        add(spec, doc_new(c, DOC_STRING, command ? STR("command") : STR("args"), line));
    }
}

/* The variables; those that come from credentials without a value. */
static const struct doc *variables_of(struct call *c, const struct doc *ours)
{
    const struct doc *secrets = body_get(ours, STR("env_secrets"));
    const struct doc *env = body_get(ours, STR("env"));
    if (secrets == NULL || secrets->child == NULL) {
        return env;
    }
    struct doc *all = copy_of(c, env);
    for (const struct doc *d = secrets->child; d != NULL; d = d->next) {
        put(c, all, d->key, doc_new(c, DOC_STRING, STR(""), STR("")));
    }
    return all;
}

static struct doc *theirs_of(struct call *c, enum workload_kind kind, const struct doc *ours)
{
    struct doc *spec = doc_new(c, DOC_MAP, STR(""), STR(""));
    command_there(c, ours, spec);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool env = str_eq(rows[i].ours, STR("env"));
        const struct doc *d = env ? variables_of(c, ours) : body_get(ours, rows[i].ours);
        if (d != NULL) {
            put_theirs(c, spec, rows[i].section, rows[i].theirs, to_theirs(c, rows[i].way, d));
        }
    }
    for (size_t i = 0; i < COUNT_OF(pods_rows); i++) {
        const struct pods_row *r = &pods_rows[i];
        const struct doc *d = body_get(ours, r->ours);
        if (d == NULL && str_eq(r->ours, STR("parallel_max"))) { /* all of them at once */
            d = body_get(ours, STR("pods"));
        }
        if (r->kind == kind && d != NULL && doc_i64(d) >= r->more) {
            put_theirs(c, spec, r->section, r->theirs,
                       number_new(c, STR(""), doc_i64(d) - r->more));
        }
    }
    return spec;
}

/* ---- and back ---- */

static bool command_back(struct call *c, const struct doc *spec, struct doc *ours)
{
    static const struct str lines[] = {STRS("command"), STRS("args")};
    struct doc *list = doc_new(c, DOC_LIST, STR("command"), STR(""));
    if (body_count(body_get(ours, STR("command"))) > 0) {
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct str_item *words = NULL;
        uint32_t count = 0;
        struct err err;
        if (shell_words(body_str(spec, lines[i]), c->arena, &words, &count, &err) != STATUS_OK) {
            err_field(&err, "spec.command");
            call_refuse(c, NULL, &err);
            return false;
        }
        for (uint32_t k = 0; k < count; k++) {
            add(list, doc_new(c, DOC_STRING, STR(""), words[k].value));
        }
    }
    if (list->child != NULL) {
        struct doc yes = {.kind = DOC_BOOL, .boolean = body_str(spec, lines[0]).len > 0};
        put(c, ours, STR("command"), list);
        put(c, ours, STR("args_are_command"), &yes);
    }
    return true;
}

static void pods_back(struct call *c, enum workload_kind kind, const struct doc *spec,
                      const struct doc *given, struct doc *ours)
{
    for (size_t i = 0; i < COUNT_OF(pods_rows); i++) {
        const struct pods_row *r = &pods_rows[i];
        const struct doc *d = in_theirs(spec, r->section, r->theirs);
        if (r->kind == kind && d != NULL && body_get(given, STR("pods")) == NULL &&
            body_get(given, r->ours) == NULL) {
            put(c, ours, r->ours, number_new(c, STR(""), doc_i64(d) + r->more));
        }
    }
    int64_t at_once = body_i64(ours, STR("parallel_max"), 1);
    if (body_get(ours, STR("pods")) == NULL && at_once > 1) { /* as many runs as at once */
        put(c, ours, STR("pods"), number_new(c, STR(""), at_once));
    }
}

/* Those that come from credentials stay what they are. */
static const struct doc *without_secrets(struct call *c, const struct doc *env,
                                         const struct doc *given)
{
    const struct doc *secrets = body_get(given, STR("env_secrets"));
    struct doc *out = doc_new(c, DOC_MAP, STR(""), STR(""));
    for (const struct doc *d = env->child; d != NULL; d = d->next) {
        if (body_get(secrets, d->key) == NULL) {
            put(c, out, d->key, d);
        }
    }
    return out;
}

/* A variable that comes from elsewhere than its value or a credential has no word here. */
static bool values_alone(struct call *c, const struct doc *items)
{
    static const struct str words[] = {STRS("name"),          STRS("value"),  STRS("exclude"),
                                       STRS("description"),   STRS("secret"), STRS("credential"),
                                       STRS("userCredential")};
    for (const struct doc *item = items->child; item != NULL; item = item->next) {
        for (const struct doc *d = item->child; d != NULL; d = d->next) {
            bool known = d->kind == DOC_NULL;
            for (size_t i = 0; i < COUNT_OF(words); i++) {
                known = known || str_eq(d->key, words[i]);
            }
            if (!known) {
                struct err err;
                err_set(&err, STATUS_UNSUPPORTED,
                        "\"" STR_FMT "\" comes from a " STR_FMT
                        ", which cannot be submitted this way",
                        STR_ARG(str_clip(body_str(item, STR("name")), 100)), STR_ARG(d->key));
                err_field(&err, "spec.env");
                err_hint(&err, "submit it by /api/v1/workloads");
                call_refuse(c, NULL, &err);
                return false;
            }
        }
    }
    return true;
}

static const struct doc *ours_of(struct call *c, enum workload_kind kind, const struct doc *spec,
                                 const struct doc *given)
{
    struct doc *ours = copy_of(c, given);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *r = &rows[i];
        const struct doc *map = r->section.len > 0 ? body_get(spec, r->section) : spec;
        const struct doc *d = body_get(map, r->theirs);
        bool items = r->way == PAIRS; /* some may have been added */
        if (items && d != NULL && !values_alone(c, d)) {
            return NULL;
        }
        if (d != NULL && (items || body_get(given, r->ours) == NULL)) {
            d = to_ours(c, r->way, map, d);
            put(c, ours, r->ours, str_eq(r->ours, STR("env")) ? without_secrets(c, d, given) : d);
        }
    }
    secrets_back(c, spec, ours);
    pods_back(c, kind, spec, given, ours);
    return command_back(c, spec, ours) ? ours : NULL;
}

/* ---- what is not allowed ---- */

static struct str our_field(struct call *c, struct str path)
{
    path = str_sub(path, 0, str_find(path, '['));
    for (size_t i = 0; i < COUNT_OF(rows) + COUNT_OF(pods_rows); i++) {
        bool pods = i >= COUNT_OF(rows);
        size_t k = pods ? i - COUNT_OF(rows) : i;
        struct str section = pods ? pods_rows[k].section : rows[k].section;
        struct str name = arena_printf(c->arena, STR_FMT "%s" STR_FMT, STR_ARG(section),
                                       section.len > 0 ? "." : "",
                                       STR_ARG(pods ? pods_rows[k].theirs : rows[k].theirs));
        if (str_eq(name, path)) {
            return arena_printf(c->arena, "spec." STR_FMT,
                                STR_ARG(pods ? pods_rows[k].ours : rows[k].ours));
        }
    }
    bool command = str_eq(path, STR("command")) || str_eq(path, STR("args"));
    return command ? STR("spec.command") : STR("spec");
}

static void refuse(struct call *c, const struct project *project, enum workload_kind kind,
                   const struct policy_breach *breach)
{
    struct problems *problems = ARENA_NEW(c->arena, struct problems);
    struct err err;
    problems_init(problems, c->arena);
    for (uint32_t i = 0; i < breach->count; i++) {
        struct problem *p = problems_add(
            problems, SEVERITY_ERROR,
            "the policy of " STR_FMT " does not allow this: " STR_FMT ": " STR_FMT,
            STR_ARG(breach->sources[i]), STR_ARG(breach->items[i].field),
            STR_ARG(breach->items[i].details));
        p->field = our_field(c, breach->items[i].field);
    }
    problems_to_err(problems, &err);
    c->problems = problems->count > 1 ? problems : NULL;
    err_hint(&err, "weir policy effective " STR_FMT " -p " STR_FMT " shows what holds there",
             STR_ARG(show_kind(kind)), STR_ARG(project->name));
    policy_refuse(c, breach, &err);
}

bool policy_words_lay(struct call *c, const struct project *p, enum workload_kind kind)
{
    struct policy_breach *breach = ARENA_NEW(c->arena, struct policy_breach);
    const struct doc *given = body_get(c->body, STR("spec"));
    const struct doc *master = NULL;
    struct uuid before;
    if (call_answered(c, &before)) { /* it was allowed when it came first */
        return true;
    }
    const struct doc *theirs = theirs_of(c, kind, given);
    if (!asset_words_lay(c, p, kind, &theirs)) {
        return false;
    }
    const struct doc *laid = policy_use(c, p, kind, theirs, &master, breach);
    if (laid == NULL) {
        if (breach->count > 0) {
            refuse(c, p, kind, breach);
        }
        return false;
    }
    const struct doc *ours = spec_check(c, laid) ? ours_of(c, kind, laid, given) : NULL;
    if (ours == NULL) {
        return false;
    }
    struct doc *body = copy_of(c, c->body);
    put(c, body, STR("spec"), ours);
    c->body = body;
    return true;
}
