// SPDX-License-Identifier: Apache-2.0
#include "adapters/oidc/claims.h"

#include "base/num.h"
#include "model/limits.h"

enum { SHOWN_MAX = 100 };

static struct str text(const struct doc *claims, struct str name)
{
    const struct doc *d = doc_get(claims, name);
    return d != NULL && d->kind == DOC_STRING ? d->text : STR("");
}

/* A time in seconds; a fraction is cut off. -1: there is none. */
static int64_t seconds(const struct doc *claims, struct str name)
{
    const struct doc *d = doc_get(claims, name);
    int64_t v;
    if (d == NULL || d->kind != DOC_NUMBER) {
        return -1;
    }
    struct str whole = str_sub(d->text, 0, str_find(d->text, '.'));
    return num_parse_i64(whole, &v) && v >= 0 && v <= INT64_MAX / 1000 ? v : -1;
}

/* The claim is that text, or a list with it. */
static bool has(const struct doc *claim, struct str value)
{
    if (claim == NULL || claim->kind != DOC_LIST) {
        return claim != NULL && claim->kind == DOC_STRING && str_eq(claim->text, value);
    }
    for (const struct doc *d = claim->child; d != NULL; d = d->next) {
        if (d->kind == DOC_STRING && str_eq(d->text, value)) {
            return true;
        }
    }
    return false;
}

static bool has_twice(const struct doc *claims)
{
    for (const struct doc *d = claims->child; d != NULL; d = d->next) {
        if (doc_get(claims, d->key) != d) {
            return true;
        }
    }
    return false;
}

static enum status check_times(const struct doc *claims, int64_t now_s, struct err *err)
{
    int64_t exp = seconds(claims, STR("exp"));
    int64_t iat = seconds(claims, STR("iat"));
    int64_t nbf = seconds(claims, STR("nbf"));
    if (exp < 0 || iat < 0) {
        return err_set(err, STATUS_DENIED, "the ID token does not say when it %s",
                       exp < 0 ? "expires (exp)" : "was made (iat)");
    }
    if (exp <= now_s - CLAIMS_LEEWAY_S) {
        return err_set(err, STATUS_DENIED, "the ID token expired %lld s ago",
                       (long long)(now_s - exp));
    }
    if (iat > now_s + CLAIMS_LEEWAY_S || nbf > now_s + CLAIMS_LEEWAY_S) {
        err_set(err, STATUS_DENIED, "the ID token is of the future");
        err_hint(err, "the clocks of the two servers differ by more than %d s", CLAIMS_LEEWAY_S);
        return STATUS_DENIED;
    }
    return STATUS_OK;
}

static enum status check_audience(const struct doc *claims, struct str client_id, struct err *err)
{
    const struct doc *aud = doc_get(claims, STR("aud"));
    const struct doc *azp = doc_get(claims, STR("azp"));
    if (!has(aud, client_id)) {
        return err_set(err, STATUS_DENIED, "the ID token is for another audience (aud)");
    }
    bool several = aud->kind == DOC_LIST && aud->child_count > 1;
    if ((several || azp != NULL) && !str_eq(text(claims, STR("azp")), client_id)) {
        return err_set(err, STATUS_DENIED, "the ID token was given to another party (azp)");
    }
    return STATUS_OK;
}

enum status claims_check(const struct doc *claims, const struct claims_rules *rules,
                         struct err *err)
{
    if (claims->kind != DOC_MAP || has_twice(claims)) {
        return err_set(err, STATUS_DENIED, "the ID token is no object with each claim once");
    }
    if (!str_eq(text(claims, STR("iss")), rules->issuer)) {
        return err_set(err, STATUS_DENIED, "the ID token is of another issuer (iss)");
    }
    enum status status = check_audience(claims, rules->client_id, err);
    status = status != STATUS_OK ? status : check_times(claims, rules->now_ms / 1000, err);
    if (status != STATUS_OK) {
        return status;
    }
    if (rules->nonce.len > 0 && !str_eq(text(claims, STR("nonce")), rules->nonce)) {
        return err_set(err, STATUS_DENIED, "the ID token is of another attempt to sign in (nonce)");
    }
    struct str sub = text(claims, STR("sub"));
    if (sub.len == 0 || sub.len > CLAIM_LEN_MAX ||
        (rules->subject.len > 0 && !str_eq(sub, rules->subject))) {
        return err_set(err, STATUS_DENIED, "the ID token is about %s (sub)",
                       sub.len == 0 ? "nobody" : "somebody else");
    }
    return STATUS_OK;
}

const struct doc *claim_find(const struct doc *claims, struct str name)
{
    const struct doc *d = doc_get(claims, name);
    return d != NULL ? d : doc_at(claims, name);
}

/* ---- who it is ---- */

struct source {
    const struct provider *provider;
    const struct doc *id_token, *userinfo;
};

static const struct doc *find(const struct source *s, struct str name)
{
    const struct doc *d = claim_find(s->id_token, name);
    return d != NULL || s->userinfo == NULL ? d : claim_find(s->userinfo, name);
}

static enum status read_name(const struct source *s, struct str *out, struct err *err)
{
    struct str claim = provider_claim_name(s->provider, CLAIM_EMAIL);
    const struct doc *d = find(s, claim);
    const struct doc *verified = find(s, STR("email_verified"));
    if (d == NULL || d->kind != DOC_STRING || d->text.len == 0) {
        err_set(err, STATUS_DENIED,
                "the provider does not tell the e-mail address (claim " STR_FMT ")",
                STR_ARG(str_clip(claim, SHOWN_MAX)));
        err_hint(err, "ask for the scope that has it, or set mappers.email");
        return STATUS_DENIED;
    }
    if (verified != NULL && str_eq(claim, STR("email")) &&
        ((verified->kind == DOC_BOOL && !verified->boolean) ||
         str_eq(verified->text, STR("false")))) {
        return err_set(err, STATUS_DENIED,
                       "the provider has not confirmed the e-mail address " STR_FMT,
                       STR_ARG(str_clip(d->text, SHOWN_MAX)));
    }
    *out = d->text;
    return STATUS_OK;
}

static enum status no_groups(struct str claim, struct err *err)
{
    return err_set(err, STATUS_DENIED,
                   "expected a name or a list of names of groups in the claim " STR_FMT,
                   STR_ARG(str_clip(claim, SHOWN_MAX)));
}

static enum status read_groups(const struct source *s, struct arena *arena, struct person *out,
                               struct err *err)
{
    struct str claim = provider_claim_name(s->provider, CLAIM_GROUPS);
    const struct doc *d = find(s, claim);
    out->groups = NULL;
    out->groups_count = 0;
    if (d == NULL || d->kind == DOC_NULL || (d->kind == DOC_STRING && d->text.len == 0)) {
        return STATUS_OK;
    }
    uint32_t count = d->kind == DOC_LIST ? d->child_count : 1;
    if (count > USER_GROUPS_MAX) {
        return err_set(err, STATUS_DENIED, "the provider tells %u groups, at most %u are possible",
                       count, USER_GROUPS_MAX);
    }
    out->groups = ARENA_ARRAY(arena, struct str_item, count);
    for (const struct doc *g = d->kind == DOC_LIST ? d->child : d; out->groups_count < count;
         g = g->next) {
        if (g->kind != DOC_STRING || g->text.len == 0 || g->text.len > GROUP_LEN_MAX) {
            return no_groups(claim, err);
        }
        out->groups[out->groups_count++].value = g->text;
    }
    return STATUS_OK;
}

static enum status check_mandatory(const struct source *s, struct err *err)
{
    const struct provider *p = s->provider;
    const struct doc *d = p->must_claim.len > 0 ? find(s, p->must_claim) : NULL;
    bool ok = p->must_claim.len == 0;
    for (uint32_t i = 0; i < p->must_values_count; i++) {
        ok = ok || has(d, p->must_values[i].value);
    }
    return ok ? STATUS_OK
              : err_set(err, STATUS_DENIED,
                        "only some may sign in here: the claim " STR_FMT " has none of the "
                        "values asked for",
                        STR_ARG(str_clip(p->must_claim, SHOWN_MAX)));
}

enum status person_read(const struct provider *p, const struct doc *id_token,
                        const struct doc *userinfo, struct arena *arena, struct person *out,
                        struct err *err)
{
    struct source s = {p, id_token, userinfo};
    struct person person = {.subject = text(id_token, STR("sub"))};
    enum status status = check_mandatory(&s, err);
    status = status != STATUS_OK ? status : read_name(&s, &person.name, err);
    status = status != STATUS_OK ? status : read_groups(&s, arena, &person, err);
    if (status == STATUS_OK) {
        *out = person;
    }
    return status;
}
