// SPDX-License-Identifier: Apache-2.0
// Identity providers: /api/v1/idps. Those of OpenID Connect; the secret that one knows us by goes in and
// never comes out again.
#include <string.h>

#include "api/runai/people.h"
#include "api/sso.h"
#include "codec/discovery.h"

enum { SHOWN_MAX = 100 };

/* ---- showing ---- */

static const struct {
    struct str name;
    enum provider_claim claim;
} mappers[] = {
    {STRS("gid"),                 CLAIM_GID                 },
    {STRS("uid"),                 CLAIM_UID                 },
    {STRS("groups"),              CLAIM_GROUPS              },
    {STRS("supplementaryGroups"), CLAIM_SUPPLEMENTARY_GROUPS},
    {STRS("email"),               CLAIM_EMAIL               },
};
_Static_assert(COUNT_OF(mappers) == PROVIDER_CLAIMS, "a name for each");

static void show_mappers(struct jw *w, const struct provider *p)
{
    jw_object_begin(w);
    for (size_t i = 0; i < COUNT_OF(mappers); i++) {
        jw_member_string(w, mappers[i].name, p->claims[mappers[i].claim]);
    }
    jw_object_end(w);
}

static void show_provider(struct call *c, struct jw *w, const struct provider *p)
{
    jw_object_begin(w);
    jw_member_string(w, STR("alias"), p->alias);
    jw_member_string(w, STR("type"), STR("oidc"));
    jw_member_string(w, STR("redirectUri"), sso_callback_url(c, p->alias));
    jw_key(w, STR("oidcData"));
    jw_object_begin(w);
    jw_member_string(w, STR("clientId"), p->client_id);
    jw_member_string(w, STR("clientSecret"), STR(""));
    jw_member_string(w, STR("discoverDocumentUrl"), p->discovery_url);
    show_strings(w, STR("scopes"), p->scopes, p->scopes_count);
    if (p->must_claim.len > 0) {
        jw_key(w, STR("mandatoryClaim"));
        jw_object_begin(w);
        jw_member_string(w, STR("claim"), p->must_claim);
        show_strings(w, STR("values"), p->must_values, p->must_values_count);
        jw_object_end(w);
    }
    jw_object_end(w);
    jw_key(w, STR("mappers"));
    show_mappers(w, p);
    jw_object_end(w);
}

static void list(struct call *c)
{
    const struct identity *d = identity_of(c);
    struct jw w;
    call_begin(c, &w);
    jw_array_begin(&w);
    for (uint32_t i = 0; i < d->providers_count; i++) {
        show_provider(c, &w, &d->providers[i]);
    }
    jw_array_end(&w);
    call_send(c, 200);
}

static const struct provider *path_provider(struct call *c)
{
    struct str alias = c->segments.items[0];
    const struct provider *p = identity_provider(identity_of(c), alias);
    if (p == NULL) {
        fail_unknown(c, "identity provider", alias);
    } else {
        call_about(c, p->alias);
    }
    return p;
}

static void get(struct call *c)
{
    const struct provider *p = path_provider(c);
    struct jw w;
    if (p != NULL) {
        call_begin(c, &w);
        show_provider(c, &w, p);
        call_send(c, 200);
    }
}

static void get_mappers(struct call *c)
{
    const struct provider *p = path_provider(c);
    struct jw w;
    if (p != NULL) {
        call_begin(c, &w);
        show_mappers(&w, p);
        call_send(c, 200);
    }
}

/* ---- reading ---- */

static void read_mappers(const struct doc *from, struct provider *p)
{
    for (size_t i = 0; i < COUNT_OF(mappers); i++) {
        p->claims[mappers[i].claim] = body_str(from, mappers[i].name);
    }
}

/* What cannot be said in its schema. False: answered. */
static bool is_oidc(struct call *c, const struct doc *data)
{
    struct str type = body_str(c->body, STR("type"));
    struct str url = body_str(data, STR("discoverDocumentUrl"));
    if (!str_eq(type, STR("oidc"))) {
        fail_field(c, "type", type, "weir signs in with OpenID Connect only: oidc");
        return false;
    }
    if (data == NULL) {
        fail_field(c, "oidcData", STR(""), "oidcData is missing");
        return false;
    }
    if (!discovery_url_ok(url) || !str_ends(url, STR(DISCOVERY_PATH))) {
        fail_field(
            c, "oidcData.discoverDocumentUrl", str_clip(url, SHOWN_MAX),
            "expected an https address (http: of this machine only) that ends in " DISCOVERY_PATH);
        return false;
    }
    return true;
}

static bool read_provider(struct call *c, struct str alias, struct provider *p)
{
    const struct doc *data = body_get(c->body, STR("oidcData"));
    const struct doc *must = body_get(data, STR("mandatoryClaim"));
    struct str secret = body_str(data, STR("clientSecret"));
    if (!is_oidc(c, data)) {
        return false;
    }
    *p = (struct provider){
        .alias = alias,
        .client_id = body_str(data, STR("clientId")),
        .client_secret = secret.len > 0 ? sso_seal_secret(c, alias, secret) : secret,
        .discovery_url = body_str(data, STR("discoverDocumentUrl")),
        .must_claim = body_str(must, STR("claim")),
    };
    p->scopes = body_strings(body_get(data, STR("scopes")), c->arena, &p->scopes_count);
    p->must_values = body_strings(body_get(must, STR("values")), c->arena, &p->must_values_count);
    return true;
}

/* ---- changing ---- */

static struct str name_of(const struct call *c)
{
    struct str name = body_str(c->body, STR("name"));
    return name.len > 0 ? name : STR("oidc");
}

static void on_created(struct call *c, const struct outcome *outcome)
{
    struct jw w;
    (void)outcome;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_string(&w, STR("alias"), name_of(c));
    jw_object_end(&w);
    call_send(c, 201);
}

static void create(struct call *c)
{
    struct identity_change change = {.op = IDENTITY_PROVIDER_ADD};
    if (read_provider(c, name_of(c), &change.provider)) {
        read_mappers(body_get(c->body, STR("mappers")), &change.provider);
        people_change(c, &change, on_created);
    }
}

static void update(struct call *c)
{
    const struct provider *p = path_provider(c);
    struct identity_change change = {.op = IDENTITY_PROVIDER_SET};
    struct str name = body_str(c->body, STR("name"));
    if (p == NULL) {
        return;
    }
    if (name.len > 0 && !str_eq(name, p->alias)) {
        fail_field(c, "name", str_clip(name, SHOWN_MAX), "an identity provider keeps its name");
        return;
    }
    struct provider before = *p;
    if (read_provider(c, arena_str(c->arena, p->alias), &change.provider)) {
        const struct doc *given = body_get(c->body, STR("mappers"));
        memcpy(change.provider.claims, before.claims, sizeof before.claims);
        if (given != NULL) {
            read_mappers(given, &change.provider);
        }
        people_change(c, &change, answer_object);
    }
}

static void answer_accepted(struct call *c, const struct outcome *outcome)
{
    (void)outcome;
    answer_empty(c, 202);
}

static void set_mappers(struct call *c)
{
    const struct provider *p = path_provider(c);
    struct identity_change change = {.op = IDENTITY_PROVIDER_SET};
    if (p != NULL) {
        change.provider = *p;
        read_mappers(c->body, &change.provider);
        people_change(c, &change, answer_accepted);
    }
}

static void delete(struct call *c)
{
    const struct provider *p = path_provider(c);
    struct identity_change change = {.op = IDENTITY_PROVIDER_REMOVE};
    if (p != NULL) {
        change.provider.alias = p->alias;
        people_change(c, &change, answer_object);
    }
}

static const struct schema_row schemas[] = {
    {"Mappers",            "gid str(..256)?, uid str(..256)?, groups str(..256)?, supplementaryGroups "
                "str(..256)?, email str(..256)?"                                                  },
    {"MandatoryClaim",     "claim* str(1..256), values* [str]"                                                   },
    {"OidcData",           "clientId* str, clientSecret* str, discoverDocumentUrl str, scopes [str], "
                 "mandatoryClaim MandatoryClaim"                                                 },
    {"Idp",                "alias* str, type* 'oidc', redirectUri* str, oidcData OidcData, mappers Mappers"      },
    {"OidcCreationData",   "clientId* str(1..2048), clientSecret* str(..1024), "
                         "discoverDocumentUrl* str(1..2048), scopes [str]?, "
                         "mandatoryClaim MandatoryClaim?"                                },
    {"IdpCreationRequest", "name str(..63)?, type* 'oidc'|'saml'|'openshift-v4', samlData obj?, "
                           "oidcData OidcCreationData?, ocpData obj?, mappers Mappers?"},
    {"IdpPostResponse",    "alias* str"                                                                          },
};

#define P "/api/v1/idps"

static const struct route routes[] = {
    {"GET",    P,                  "get_idps",           list,        NULL, NULL,                 200, "[Idp]",           "Identity providers",    0,
     "read security-settings at tenant"                                                                                                                                                   },
    {"POST",   P,                  "create_idp",         create,      NULL, "IdpCreationRequest", 201, "IdpPostResponse",
     "Connect an identity provider",                                                                                                               0, "create security-settings at tenant"},
    {"GET",    P "/{idp}",         "get_idp",            get,         NULL, NULL,                 200, "Idp",             "One identity provider", 0,
     "read security-settings at tenant"                                                                                                                                                   },
    {"PUT",    P "/{idp}",         "update_idp",         update,      NULL, "IdpCreationRequest", 200, "obj",
     "Change one; a secret of \"\" stays as it is",                                                                                                0, "update security-settings at tenant"},
    {"DELETE", P "/{idp}",         "delete_idp",         delete,      NULL, NULL,                 200, "obj",
     "Disconnect one; sessions of its users end",                                                                                                  0, "delete security-settings at tenant"},
    {"GET",    P "/{idp}/mappers", "get_idp_mappers",    get_mappers, NULL, NULL,                 200, "Mappers",
     "Names of the claims that are read",                                                                                                          0, "read security-settings at tenant"  },
    {"PUT",    P "/{idp}/mappers", "update_idp_mappers", set_mappers, NULL, "Mappers",            202, NULL,
     "Change them; an empty one is the usual one",                                                                                                 0, "update security-settings at tenant"},
};

const struct route_group group_idps = ROUTE_GROUP("Identity providers", routes, schemas);
