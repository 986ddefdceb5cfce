// SPDX-License-Identifier: Apache-2.0
// Credentials: what is secret in them is taken out of the spec and sealed with the key of the server,
// for this asset and this name alone. It is never shown again.
#include "api/runai/assets.h"
#include "api/seal.h"
#include "model/limits.h"

enum { KEY_ID_BITS = 31 };

/* The member that is secret; of a generic secret it is each value. */
static struct str secret_member(enum asset_kind kind)
{
    static const struct str members[ASSET_KINDS] = {
        [ASSET_ACCESS_KEY] = STRS("secretAccessKey"),   [ASSET_PASSWORD] = STRS("password"),
        [ASSET_DOCKER_REGISTRY] = STRS("password"),     [ASSET_NGC_API_KEY] = STRS("ngc_api_key"),
        [ASSET_GENERIC_SECRET] = STRS("keyValuePairs"),
    };
    return members[kind];
}

/* ---- showing ---- */

void credential_show(struct call *c, struct jw *w, const struct asset *a)
{
    const struct doc *spec = asset_doc(c, a->spec);
    int64_t key_id = 0;
    for (uint32_t i = 0; i < sizeof(uint32_t); i++) {
        key_id = key_id << 8 | a->id.b[i];
    }
    jw_object_begin(w);
    for (const struct doc *d = spec->child; d != NULL; d = d->next) {
        jw_key(w, d->key);
        jw_doc(w, d);
    }
    if (a->kind == ASSET_GENERIC_SECRET) {
        jw_key(w, STR("keyValuePairs"));
        jw_array_begin(w);
        for (uint32_t i = 0; i < a->secrets_count; i++) {
            jw_object_begin(w);
            jw_member_string(w, STR("key"), a->secrets[i].name);
            jw_object_end(w);
        }
        jw_array_end(w);
    }
    jw_member_i64(w, STR("keyId"), key_id & ((INT64_C(1) << KEY_ID_BITS) - 1));
    jw_object_end(w);
}

/* ---- reading ---- */

/* One that is not given stays as it is; there must be one before. False: answered. */
static bool add_secret(struct call *c, struct asset *a, const struct asset *before, struct str name,
                       struct str value)
{
    struct sealed *s = &a->secrets[a->secrets_count];
    bool known = false;
    for (uint32_t i = 0; i < before->secrets_count; i++) {
        known = known || str_eq(before->secrets[i].name, name);
    }
    if (name.len == 0 || (value.len == 0 && !known)) {
        fail_field(c, arena_printf(c->arena, "spec." STR_FMT, STR_ARG(secret_member(a->kind))).ptr,
                   STR(""), "a secret is missing");
        return false;
    }
    if (value.len > ASSET_SECRET_MAX) {
        fail_field(c, arena_printf(c->arena, "spec." STR_FMT, STR_ARG(secret_member(a->kind))).ptr,
                   STR(""), "a secret has at most %u bytes", ASSET_SECRET_MAX);
        return false;
    }
    s->name = name;
    s->value = STR("");
    if (value.len > 0) {
        s->value = seal_text(c->api->config.key, seal_about_credential(a->id, name, c->arena),
                             value, c->arena);
    }
    a->secrets_count++;
    return true;
}

static bool read_pairs(struct call *c, struct asset *a, const struct asset *before,
                       const struct doc *pairs)
{
    uint32_t count = body_count(pairs);
    if (count == 0 || count > ASSET_SECRETS_MAX) {
        fail_field(c, "spec.keyValuePairs", STR(""), "expected 1 to %u pairs of key and value",
                   ASSET_SECRETS_MAX);
        return false;
    }
    a->secrets = ARENA_ARRAY(c->arena, struct sealed, count);
    for (const struct doc *d = pairs->child; d != NULL; d = d->next) {
        struct str key = body_str(d, STR("key"));
        for (uint32_t i = 0; i < a->secrets_count; i++) {
            if (str_eq(a->secrets[i].name, key)) {
                fail_field(c, "spec.keyValuePairs", key, "a key is there twice");
                return false;
            }
        }
        if (!add_secret(c, a, before, key, body_str(d, STR("value")))) {
            return false;
        }
    }
    return true;
}

static struct str without(struct call *c, const struct doc *spec, struct str secret)
{
    struct buf out;
    struct jw w;
    buf_init(&out, 2 * (size_t)BODY_BYTES_MAX);
    jw_init(&w, &out, false);
    jw_object_begin(&w);
    for (const struct doc *d = spec->child; d != NULL; d = d->next) {
        if (!str_eq(d->key, secret) && d->kind != DOC_NULL) {
            jw_key(&w, d->key);
            jw_doc(&w, d);
        }
    }
    jw_object_end(&w);
    struct str text = arena_str(c->arena, buf_view(&out));
    buf_done(&out);
    return text;
}

bool credential_read(struct call *c, struct asset *a)
{
    const struct doc *spec = body_get(c->body, STR("spec"));
    struct str secret = secret_member(a->kind);
    struct asset before = *a;
    if (body_get(spec, STR("existingSecretName")) != NULL) {
        fail_field(c, "spec.existingSecretName", body_str(spec, STR("existingSecretName")),
                   "there are no secrets of Kubernetes on this machine: give the secret itself");
        return false;
    }
    if (c->api->config.key == NULL) {
        struct err err;
        err_set(&err, STATUS_CONFLICT, "this server has no key to seal secrets with");
        call_reject(c, &err);
        return false;
    }
    a->spec = without(c, spec, secret);
    a->secrets_count = 0;
    if (a->kind == ASSET_GENERIC_SECRET) {
        return read_pairs(c, a, &before, body_get(spec, secret));
    }
    a->secrets = ARENA_NEW(c->arena, struct sealed);
    return add_secret(c, a, &before, secret, body_str(spec, secret));
}
