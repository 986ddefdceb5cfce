// SPDX-License-Identifier: Apache-2.0
// providers: identity providers come, change and go. When one goes, so do the sessions of those it
// vouches for; the users stay, with their rules, should it come back.
#include <string.h>

#include "base/array.h"
#include "engine/machine.h"
#include "model/limits.h"

enum { SHOWN_MAX = 100 };

static bool refuse(struct outcome *out, const char *field, const char *expected)
{
    out->status = err_set(&out->err, STATUS_INVALID, "%s", expected);
    err_field(&out->err, "%s", field);
    return false;
}

// Small letters, digits and - (as in a name of DNS): it stands in addresses.
static bool alias_ok(struct str s)
{
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') {
            return false;
        }
    }
    return s.len > 0 && s.len <= CLIENT_NAME_LEN_MAX && s.ptr[0] != '-' && s.ptr[s.len - 1] != '-';
}

static bool text_ok(struct str s, uint32_t least, uint32_t most)
{
    return s.len >= least && s.len <= most && str_is_utf8(s);
}

static bool list_ok(const struct str_item *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!text_ok(items[i].value, 1, CLAIM_LEN_MAX)) {
            return false;
        }
    }
    return count <= PROVIDER_LIST_MAX;
}

static bool claims_ok(const struct provider *p, struct outcome *out)
{
    static const char *const fields[PROVIDER_CLAIMS] = {
        [CLAIM_EMAIL] = "mappers.email",
        [CLAIM_GROUPS] = "mappers.groups",
        [CLAIM_UID] = "mappers.uid",
        [CLAIM_GID] = "mappers.gid",
        [CLAIM_SUPPLEMENTARY_GROUPS] = "mappers.supplementaryGroups",
    };
    for (int i = 0; i < PROVIDER_CLAIMS; i++) {
        if (!text_ok(p->claims[i], 0, CLAIM_LEN_MAX)) {
            return refuse(out, fields[i], "the name of a claim has at most 256 bytes");
        }
    }
    return true;
}

static bool provider_ok(const struct provider *p, struct outcome *out)
{
    if (!alias_ok(p->alias)) {
        return refuse(out, "name",
                      "an identity provider has a name of 1 to 63 small letters, digits and -, "
                      "beginning and ending with a letter or digit");
    }
    if (!text_ok(p->client_id, 1, PROVIDER_TEXT_MAX)) {
        return refuse(out, "oidcData.clientId", "a client's id has 1 to 2048 bytes");
    }
    if (!text_ok(p->client_secret, 0, PROVIDER_TEXT_MAX)) {
        return refuse(out, "oidcData.clientSecret", "the client's secret is too long");
    }
    if (!text_ok(p->discovery_url, 1, PROVIDER_TEXT_MAX)) {
        return refuse(out, "oidcData.discoverDocumentUrl", "an address has 1 to 2048 bytes");
    }
    if (!list_ok(p->scopes, p->scopes_count)) {
        return refuse(out, "oidcData.scopes", "at most 64 scopes of 1 to 256 bytes are possible");
    }
    bool some = p->must_values_count > 0;
    if (!text_ok(p->must_claim, 0, CLAIM_LEN_MAX) || (p->must_claim.len > 0) != some ||
        !list_ok(p->must_values, p->must_values_count)) {
        return refuse(out, "oidcData.mandatoryClaim",
                      "expected a claim with 1 to 64 values of 1 to 256 bytes");
    }
    return claims_ok(p, out);
}

bool providers_change_ok(const struct identity *d, const struct identity_change *c,
                         struct outcome *out)
{
    const struct provider *p = &c->provider;
    const struct provider *known = identity_provider(d, p->alias);
    out->status = STATUS_OK;
    if (c->op != IDENTITY_PROVIDER_ADD && known == NULL) {
        out->status = err_set(&out->err, STATUS_UNKNOWN,
                              "there is no identity provider \"" STR_FMT "\"",
                              STR_ARG(str_clip(p->alias, SHOWN_MAX)));
        return false;
    }
    if (c->op == IDENTITY_PROVIDER_REMOVE) {
        return true;
    }
    if (c->op == IDENTITY_PROVIDER_ADD && known != NULL) {
        out->status = err_set(&out->err, STATUS_CONFLICT,
                              "there is an identity provider \"" STR_FMT "\" already",
                              STR_ARG(str_clip(p->alias, SHOWN_MAX)));
        err_field(&out->err, "name");
        return false;
    }
    if (c->op == IDENTITY_PROVIDER_ADD && d->providers_count >= PROVIDERS_MAX) {
        out->status = err_set(&out->err, STATUS_TOO_LARGE,
                              "there are %u identity providers, as many as there may be",
                              d->providers_count);
        return false;
    }
    return provider_ok(p, out);
}

static void end_sessions(struct identity *d, struct str alias)
{
    for (uint32_t i = 0; i < d->users_count; i++) {
        if (!d->users[i].local && str_eq(d->users[i].provider, alias)) {
            d->users[i].generation++;
        }
    }
}

static void remove_row(struct identity *d, const struct provider *known)
{
    uint32_t row = (uint32_t)(known - d->providers);
    end_sessions(d, known->alias);
    memmove(&d->providers[row], &d->providers[row + 1],
            sizeof(*d->providers) * (d->providers_count - row - 1));
    d->providers_count--;
}

void providers_change(struct step *st)
{
    struct engine *e = st->e;
    struct identity *d = &e->s.identity;
    const struct identity_change *c = &st->in->identity;
    const struct provider *known = identity_provider(d, c->provider.alias);
    if (c->op == IDENTITY_PROVIDER_REMOVE) {
        remove_row(d, known);
        return;
    }
    if (known == NULL) {
        d->providers = array_grow(engine_memory(e), d->providers, sizeof(*d->providers),
                                  d->providers_count, &e->identity_caps.providers);
        known = &d->providers[d->providers_count++];
        d->providers[d->providers_count - 1] = (struct provider){0};
    }
    struct provider *p = &d->providers[known - d->providers];
    struct provider before = *p;
    record_copy(&record_provider, &c->provider, p, engine_memory(e));
    if (p->client_secret.len == 0) {
        p->client_secret = before.client_secret;
    }
    p->stamp = before.stamp;
    identity_stamp(st, &p->stamp);
}

bool providers_sound(const struct identity *d)
{
    for (uint32_t i = 0; i < d->providers_count; i++) {
        if (!alias_ok(d->providers[i].alias) ||
            identity_provider(d, d->providers[i].alias) != &d->providers[i]) {
            return false;
        }
    }
    return true;
}
