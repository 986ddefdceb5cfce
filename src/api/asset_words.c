// SPDX-License-Identifier: Apache-2.0
#include "api/asset_words.h"

#include "api/runai/assets.h"

enum { SHOWN_MAX = 100 };

static struct doc *add(struct call *c, struct doc *to, enum doc_kind kind, struct str key)
{
    struct doc **link = &to->child;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = ARENA_NEW(c->arena, struct doc);
    **link = (struct doc){.kind = kind, .key = key};
    to->child_count++;
    return *link;
}

/* Adds the id of the one named; false: answered. */
static bool add_id(struct call *c, struct doc *to, struct str key, struct str text,
                   enum asset_class class, enum asset_kind kind, struct scope scope,
                   const char *word, const char *field)
{
    const struct asset *a = asset_named(c, text, class, kind, scope);
    if (a == NULL) {
        struct err err;
        err_set(&err, STATUS_UNKNOWN, "there is no %s \"" STR_FMT "\" for this project", word,
                STR_ARG(str_clip(text, SHOWN_MAX)));
        err_field(&err, "%s", field);
        err_hint(&err, "weir %s list shows those there are", word);
        call_refuse(c, NULL, &err);
        return false;
    }
    add(c, to, DOC_STRING, key)->text = uuid_str(a->id, c->arena);
    return true;
}

static bool add_assets(struct call *c, struct scope scope, struct doc *body)
{
    const struct doc *given = body_get(c->body, STR("assets"));
    const struct doc *sources = body_get(given, STR("datasources"));
    struct str environment = body_str(given, STR("environment"));
    struct str compute = body_str(given, STR("compute"));
    struct doc *assets = add(c, body, DOC_MAP, STR("assets"));
    if ((environment.len > 0 &&
         !add_id(c, assets, STR("environment"), environment, ASSET_IS_ENVIRONMENT, ASSET_KINDS,
                 scope, "environment", "assets.environment")) ||
        (compute.len > 0 && !add_id(c, assets, STR("compute"), compute, ASSET_IS_COMPUTE,
                                    ASSET_KINDS, scope, "compute", "assets.compute"))) {
        return false;
    }
    struct doc *list = add(c, assets, DOC_LIST, STR("datasources"));
    for (const struct doc *d = sources != NULL ? sources->child : NULL; d != NULL; d = d->next) {
        if (!add_id(c, add(c, list, DOC_MAP, STR("")), STR("id"), d->text, ASSET_IS_DATA,
                    ASSET_KINDS, scope, "datasource", "assets.datasources")) {
            return false;
        }
    }
    return true;
}

/* The body of Run:ai's API that would submit the same. NULL: answered. */
static struct doc *body_there(struct call *c, enum workload_kind kind, struct scope scope,
                              const struct doc *spec)
{
    struct doc *body = ARENA_NEW(c->arena, struct doc);
    struct str template = body_str(c->body, STR("template"));
    *body = (struct doc){.kind = DOC_MAP};
    struct doc *copy = add(c, body, DOC_MAP, STR("spec"));
    copy->child = spec->child;
    copy->child_count = spec->child_count;
    bool ok = body_get(c->body, STR("assets")) == NULL || add_assets(c, scope, body);
    ok = ok && (template.len == 0 || add_id(c, body, STR("templateId"), template, ASSET_IS_TEMPLATE,
                                            ASSET_TEMPLATE_TRAINING + (enum asset_kind)kind, scope,
                                            "template", "template"));
    return ok ? body : NULL;
}

bool asset_words_lay(struct call *c, const struct project *p, enum workload_kind kind,
                     const struct doc **spec)
{
    struct scope scope = scope_of_project(p->id);
    const struct doc *given = c->body;
    if (body_get(given, STR("assets")) == NULL && body_str(given, STR("template")).len == 0) {
        return true;
    }
    struct doc *body = body_there(c, kind, scope, *spec);
    if (body == NULL) {
        return false;
    }
    c->body = body;
    bool laid = assets_lay_under(c, kind, scope);
    const struct doc *master = body_get(c->body, STR("masterSpec"));
    *spec = laid ? body_get(c->body, STR("spec")) : NULL;
    c->body = given;
    if (laid && master != NULL) {
        struct err err;
        err_set(&err, STATUS_INVALID, "this template has a master of its own");
        err_field(&err, "template");
        err_hint(&err, "submit from it through /api/v1/workloads/distributed");
        call_refuse(c, NULL, &err);
        return false;
    }
    return laid;
}
