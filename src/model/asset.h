// SPDX-License-Identifier: Apache-2.0
// asset: a part of a submit that is kept under a name, to be used again: what to run (environment),
// on how much (compute), with which data and which secrets, or all of it at once (template). One
// record for all kinds; what differs between them is the spec, which the edge checks and shows. A
// secret never gets here as it is: the edge seals it.
#pragma once

#include "model/identity.h"

/* Stored: append only. Names on the wire: asset_kind_info. */
enum asset_kind {
    ASSET_COMPUTE,
    ASSET_ENVIRONMENT,
    ASSET_GIT, /* data sources */
    ASSET_S3,
    ASSET_NFS,
    ASSET_PVC,
    ASSET_HOST_PATH,
    ASSET_CONFIG_MAP,
    ASSET_SECRET_VOLUME,
    ASSET_ACCESS_KEY, /* credentials */
    ASSET_PASSWORD,
    ASSET_DOCKER_REGISTRY,
    ASSET_GENERIC_SECRET,
    ASSET_NGC_API_KEY,
    ASSET_TEMPLATE_TRAINING, /* in the order of enum workload_kind */
    ASSET_TEMPLATE_WORKSPACE,
    ASSET_TEMPLATE_INFERENCE,
    ASSET_TEMPLATE_DISTRIBUTED,
    ASSET_REPORT, /* of consumption */
    ASSET_KINDS
};
enum asset_class {
    ASSET_IS_COMPUTE,
    ASSET_IS_ENVIRONMENT,
    ASSET_IS_DATA,
    ASSET_IS_CREDENTIAL,
    ASSET_IS_TEMPLATE,
    ASSET_IS_REPORT
};
struct asset_kind_info {
    struct str name; /* "hostPath" */
    struct str word; /* for people: "host path" */
    enum asset_class class;
    enum entity entity; /* permissions of it */
};
const struct asset_kind_info *asset_kind_info(enum asset_kind kind); /* kind < ASSET_KINDS */

struct asset {
    struct uuid id;
    enum asset_kind kind;
    struct str name; /* unique among those of its kind and scope that are not somebody else's own */
    struct str description;
    struct scope scope;  /* it may be used there and below; goes with its department or project */
    struct str spec;     /* JSON, of the form of its kind; without what is secret */
    struct str supports; /* JSON: kinds of workloads that an environment is for; "": all */
    struct str table;    /* CSV: what came of a report; "": it is none */
    struct sealed {
        struct str name, value; /* value: sealed by the edge, for this asset and name */
    } *secrets;
    uint32_t secrets_count;
    bool owned; /* private: only who made it sees and uses it */
    uint32_t updates;
    struct stamp stamp;
};

struct assets {
    int64_t revision;   /* counts changes */
    struct asset *rows; /* in order of creation */
    uint32_t rows_count;
};

const struct asset *asset_find(const struct assets *a, struct uuid id); /* NULL: none */
/* asset_has_secret: it is a credential that keeps one under that name. */
bool asset_has_secret(const struct asset *a, struct str name);

/* ---- how they change: one command ---- */

enum asset_op {
    ASSET_NOTHING,
    ASSET_ADD, /* all but updates and stamp; the id is minted at the edge */
    ASSET_SET, /* id; name, description, spec and secrets become these; a secret with a value of ""
                * stays as it is */
    ASSET_REMOVE, /* id */
    ASSET_OP_COUNT
};
struct asset_change {
    enum asset_op op;
    struct asset asset;
};

extern const struct record record_asset, record_assets, record_asset_change;
