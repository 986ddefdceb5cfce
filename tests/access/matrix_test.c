// SPDX-License-Identifier: Apache-2.0
// Decisions against a table that was written from the product's pages (roles.txt), and random rules
// against the obvious way to evaluate them: walk up from where it is asked, and look at every rule.
#include <fcntl.h>

#include "access/access.h"
#include "base/prng.h"
#include "base/test.h"
#include "io/file.h"

/* ---- places: one tree, told twice ---- */

enum { PLACES_MAX = 64, NOWHERE = -1 };
struct place {
    struct scope scope;
    int above;
};
struct world {
    struct arena arena;
    struct place places[PLACES_MAX];
    int count;
    struct plan plan;
};

/* Places of departments and projects become the plan, their names being made of their ids. */
static void make_plan(struct world *w)
{
    w->plan.departments = ARENA_ARRAY(&w->arena, struct department, PLACES_MAX);
    w->plan.projects = ARENA_ARRAY(&w->arena, struct project, PLACES_MAX);
    for (int i = 2; i < w->count; i++) {
        struct scope s = w->places[i].scope;
        struct scope above = w->places[w->places[i].above].scope;
        struct str name = arena_printf(&w->arena, "n%03u", s.id);
        struct str parent = above.kind == SCOPE_DEPARTMENT
                                ? arena_printf(&w->arena, "n%03u", above.id)
                                : STR("");
        if (s.kind == SCOPE_DEPARTMENT) {
            w->plan.departments[w->plan.departments_count++] = (struct department){
                .name = name, .parent = parent, .id = s.id};
        } else {
            w->plan.projects[w->plan.projects_count++] = (struct project){
                .name = name, .department = parent, .id = s.id};
        }
    }
}

static void add_place(struct world *w, enum scope_kind kind, uint32_t id, int above)
{
    w->places[w->count++] = (struct place){
        {kind, id},
        above
    };
}

static bool is_below(const struct world *w, int inner, int outer)
{
    for (; inner != NOWHERE; inner = w->places[inner].above) {
        if (inner == outer) {
            return true;
        }
    }
    return false;
}

/* ---- the table ---- */

enum { ROWS_MAX = 64, ROLES = 8, COLUMNS = 2 + ROLES };
struct row {
    enum entity entity;
    bool up;
    struct str may[ROLES];
};

static uint32_t read_table(struct arena *arena, struct row *rows)
{
    struct buf text;
    struct err err;
    uint32_t count = 0;
    buf_init(&text, 1 << 20);
    REQUIRE_OK(file_read(AT_FDCWD, ROLES_FILE, &text, &err), &err);
    struct str rest = arena_str(arena, buf_view(&text));
    struct str line;
    while (str_split(&rest, '\n', &line)) {
        struct str word;
        struct str words[COLUMNS];
        uint32_t have = 0;
        while (line.len > 0 && line.ptr[0] != '#' && str_split(&line, ' ', &word)) {
            if (word.len > 0) {
                REQUIRE(have < COLUMNS);
                words[have++] = word;
            }
        }
        if (have > 0) {
            REQUIRE(have == COLUMNS && count < ROWS_MAX);
            struct row *r = &rows[count++];
            REQUIRE(entity_find(words[0], &r->entity));
            r->up = str_eq(words[1], STR("up"));
            for (int i = 0; i < ROLES; i++) {
                r->may[i] = words[2 + i];
            }
        }
    }
    buf_done(&text);
    return count;
}

static bool has_letter(struct str letters, enum right right)
{
    char letter = right == RIGHT_READ     ? 'V'
                  : right == RIGHT_UPDATE ? 'E'
                  : right == RIGHT_CREATE ? 'C'
                                          : 'D';
    return str_find(letters, letter) < letters.len;
}

/* Each role at each place asked for each right to each kind of thing at each place: its own, one
 * below, beside, above, elsewhere. */
TEST(predefined_roles_are_those_of_the_product)
{
    struct world w = {0};
    struct row rows[ROWS_MAX];
    uint32_t asked = 0, given = 0;
    arena_init(&w.arena, 0);
    uint32_t count = read_table(&w.arena, rows);
    EXPECT_I64(count, 38);
    add_place(&w, SCOPE_TENANT, TENANT_ID, NOWHERE);
    add_place(&w, SCOPE_CLUSTER, CLUSTER_ID, 0);
    add_place(&w, SCOPE_DEPARTMENT, 1, 1);
    add_place(&w, SCOPE_DEPARTMENT, 2, 2); /* inside the first */
    add_place(&w, SCOPE_DEPARTMENT, 3, 1);
    add_place(&w, SCOPE_PROJECT, 4, 2);
    add_place(&w, SCOPE_PROJECT, 5, 2);
    add_place(&w, SCOPE_PROJECT, 6, 3);
    add_place(&w, SCOPE_PROJECT, 7, 4);
    make_plan(&w);
    for (uint32_t role = 1; role <= ROLES; role++) {
        for (int at = 0; at < w.count; at++) {
            struct access_rule rule = {1,     SUBJECT_USER, STR("a@x"), role, w.places[at].scope,
                                       false, {0}};
            struct identity identity = {.rules = &rule, .rules_count = 1};
            struct access_book book;
            struct grants g;
            struct subject who = {.kind = SUBJECT_USER, .name = STR("a@x")};
            access_book_build(&book, &w.plan, 1, &identity, &w.arena);
            access_grants(&book, &who, &w.arena, &g);
            for (uint32_t i = 0; i < count; i++) {
                for (unsigned right = RIGHT_CREATE; right <= RIGHT_DELETE; right *= 2) {
                    for (int where = 0; where < w.count; where++) {
                        enum right r = (enum right)right;
                        bool up = r == RIGHT_READ && rows[i].up && is_below(&w, at, where);
                        bool want = has_letter(rows[i].may[role - 1], r) &&
                                    (is_below(&w, where, at) || up);
                        bool got = access_allows(&g, rows[i].entity, r, w.places[where].scope);
                        asked++;
                        given += want;
                        EXPECT(got == want);
                    }
                }
            }
        }
    }
    EXPECT_I64(asked, 8 * 9 * 38 * 4 * 9);
    EXPECT(given > 10000);
    arena_done(&w.arena);
}

/* ---- random rules ---- */

enum { SUBJECTS = 5, GROUPS = 3, CUSTOM = 4, RULES = 24 };
static const struct str user_names[SUBJECTS] = {STRS("a@x"), STRS("b@x"), STRS("g1"), STRS("g2"),
                                                STRS("ci")};

static void random_places(struct world *w, struct prng *p)
{
    add_place(w, SCOPE_TENANT, TENANT_ID, NOWHERE);
    add_place(w, SCOPE_CLUSTER, CLUSTER_ID, 0);
    uint32_t departments = 1 + prng_below(p, 8);
    uint32_t id = 1;
    for (uint32_t i = 0; i < departments; i++) {
        int above = prng_chance(p, 500) ? 1 : 1 + (int)prng_below(p, (uint32_t)w->count - 1);
        add_place(w, SCOPE_DEPARTMENT, id++, above);
    }
    uint32_t projects = prng_below(p, 20);
    for (uint32_t i = 0; i < projects; i++) {
        add_place(w, SCOPE_PROJECT, id++, 2 + (int)prng_below(p, departments));
    }
    make_plan(w);
}

static void random_identity(struct world *w, struct prng *p, struct identity *d)
{
    d->roles = ARENA_ARRAY(&w->arena, struct role, CUSTOM);
    d->rules = ARENA_ARRAY(&w->arena, struct access_rule, RULES);
    d->roles_count = CUSTOM;
    d->rules_count = prng_below(p, RULES + 1);
    for (uint32_t i = 0; i < CUSTOM; i++) {
        struct role *r = &d->roles[i];
        *r = (struct role){.id = ROLE_CUSTOM_FIRST + i, .disabled = prng_chance(p, 100)};
        r->permissions = ARENA_ARRAY(&w->arena, struct permission, ENTITY_COUNT);
        for (uint32_t e = 0; e < ENTITY_COUNT; e++) {
            if (prng_chance(p, 300)) {
                r->permissions[r->permissions_count++] = (struct permission){
                    e, 1 + prng_below(p, RIGHT_ALL)};
            }
        }
    }
    for (uint32_t i = 0; i < d->rules_count; i++) {
        struct scope at = w->places[prng_below(p, (uint32_t)w->count)].scope;
        if (prng_chance(p, 50)) {
            at = (struct scope){SCOPE_PROJECT, 999}; /* gone */
        }
        d->rules[i] = (struct access_rule){
            .id = i + 1,
            .subject_kind = (enum subject_kind)prng_below(p, 3),
            .subject = user_names[prng_below(p, SUBJECTS)],
            .role = prng_chance(p, 500) ? ROLE_CUSTOM_FIRST + prng_below(p, CUSTOM + 1)
                                        : 1 + prng_below(p, ROLE_PREDEFINED_END),
            .scope = at,
        };
    }
}

static int place_of(const struct world *w, struct scope s)
{
    for (int i = 0; i < w->count; i++) {
        if (scope_eq(w->places[i].scope, s)) {
            return i;
        }
    }
    return NOWHERE;
}

static bool slow_role_may(const struct identity *d, uint32_t id, enum entity e, enum right right)
{
    struct role_info info;
    if (role_predefined(id, &info)) {
        return (info.permissions.may[e] & right) != 0;
    }
    for (uint32_t i = 0; i < d->roles_count; i++) {
        for (uint32_t k = 0;
             d->roles[i].id == id && !d->roles[i].disabled && k < d->roles[i].permissions_count;
             k++) {
            if (d->roles[i].permissions[k].entity == (uint32_t)e &&
                (d->roles[i].permissions[k].rights & entity_info(e)->rights & right) != 0) {
                return true;
            }
        }
    }
    return false;
}

static bool slow_speaks_of(const struct access_rule *r, const struct subject *s)
{
    bool named = r->subject_kind == s->kind && str_eq(r->subject, s->name);
    for (uint32_t i = 0; i < s->groups_count; i++) {
        named = named ||
                (r->subject_kind == SUBJECT_GROUP && str_eq(r->subject, s->groups[i].value));
    }
    return named;
}

static bool slow_allows(const struct world *w, const struct identity *d, const struct subject *s,
                        enum entity e, enum right right, int where)
{
    for (uint32_t i = 0; i < d->rules_count; i++) {
        const struct access_rule *r = &d->rules[i];
        int at = place_of(w, r->scope);
        bool up = right == RIGHT_READ && entity_info(e)->inherited;
        if (slow_speaks_of(r, s) && slow_role_may(d, r->role, e, right) && at != NOWHERE &&
            (is_below(w, where, at) || (up && is_below(w, at, where)))) {
            return true;
        }
    }
    return false;
}

static uint32_t compare(const struct world *w, const struct identity *d, const struct subject *s,
                        const struct grants *g, struct arena *arena)
{
    uint32_t yes = 0;
    for (uint32_t e = 0; e < ENTITY_COUNT; e++) {
        for (unsigned right = RIGHT_CREATE; right <= RIGHT_DELETE; right *= 2) {
            struct scope_set set;
            bool any = false;
            access_scopes(g, (enum entity)e, (enum right)right, arena, &set);
            for (int where = 0; where < w->count; where++) {
                struct scope scope = w->places[where].scope;
                bool want = slow_allows(w, d, s, (enum entity)e, (enum right)right, where);
                EXPECT(access_allows(g, (enum entity)e, (enum right)right, scope) == want);
                EXPECT(scope_set_has(&set, scope) == want);
                any = any || want;
                yes += want;
            }
            EXPECT(access_anywhere(g, (enum entity)e, (enum right)right) == any);
        }
    }
    return yes;
}

TEST(random_rules_decide_as_the_obvious_way_does)
{
    enum { ROUNDS = 200 };
    static const struct str_item groups[] = {{STRS("g1")}, {STRS("g2")}};
    struct prng p;
    uint32_t yes = 0;
    prng_init(&p, test_seed());
    for (int round = 0; round < ROUNDS; round++) {
        struct world w = {0};
        struct identity d = {0};
        struct access_book book;
        struct grants g;
        arena_init(&w.arena, 0);
        random_places(&w, &p);
        random_identity(&w, &p, &d);
        access_book_build(&book, &w.plan, 1, &d, &w.arena);
        struct subject who = {
            .kind = prng_chance(&p, 300) ? SUBJECT_APPLICATION : SUBJECT_USER,
            .name = user_names[prng_below(&p, SUBJECTS)],
        };
        if (who.kind == SUBJECT_USER) {
            who.groups = groups;
            who.groups_count = prng_below(&p, GROUPS);
        }
        access_grants(&book, &who, &w.arena, &g);
        yes += compare(&w, &d, &who, &g, &w.arena);
        arena_done(&w.arena);
    }
    EXPECT(yes > ROUNDS * 100);
}

TEST_MAIN()
