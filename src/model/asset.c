// SPDX-License-Identifier: Apache-2.0
// asset: the tables that describe it field by field. Tags are stored: append only, never reuse.
#include "model/asset.h"

#include "base/check.h"

static const struct field sealed_fields[] = {
    F_STR(1, struct sealed, name),
    F_STR(2, struct sealed, value),
};
static const struct record record_sealed = RECORD("sealed", struct sealed, sealed_fields);

static const struct field asset_fields[] = {
    F_UUID(1, struct asset, id),        F_U32(2, struct asset, kind),
    F_STR(3, struct asset, name),       F_STR(4, struct asset, description),
    F_U32(5, struct asset, scope.kind), F_U32(6, struct asset, scope.id),
    F_STR(7, struct asset, spec),       F_LIST(8, struct asset, secrets, record_sealed),
    F_BOOL(9, struct asset, owned),     F_U32(10, struct asset, updates),
    STAMP_FIELDS(11, struct asset),     F_STR(15, struct asset, supports),
    F_STR(16, struct asset, table),
};
const struct record record_asset = RECORD("asset", struct asset, asset_fields);

static const struct field assets_fields[] = {
    F_I64(1, struct assets, revision),
    F_LIST(2, struct assets, rows, record_asset),
};
const struct record record_assets = RECORD("assets", struct assets, assets_fields);

static const struct field asset_change_fields[] = {
    F_U32(1, struct asset_change, op),
    F_RECORD(2, struct asset_change, asset, record_asset),
};
const struct record record_asset_change = RECORD("asset_change", struct asset_change,
                                                 asset_change_fields);

const struct asset_kind_info *asset_kind_info(enum asset_kind kind)
{
    static const struct asset_kind_info infos[ASSET_KINDS] = {
        [ASSET_COMPUTE] = {STRS("compute"),           STRS("compute resource"),           ASSET_IS_COMPUTE,
                           ENTITY_COMPUTE                                                                                         },
        [ASSET_ENVIRONMENT] = {STRS("environment"),       STRS("environment"),                ASSET_IS_ENVIRONMENT,
                           ENTITY_ENVIRONMENTS                                                                                    },
        [ASSET_GIT] = {STRS("git"),               STRS("git data source"),            ASSET_IS_DATA,        ENTITY_DATA_GIT   },
        [ASSET_S3] = {STRS("s3"),                STRS("S3 data source"),             ASSET_IS_DATA,        ENTITY_DATA_S3    },
        [ASSET_NFS] = {STRS("nfs"),               STRS("NFS data source"),            ASSET_IS_DATA,        ENTITY_DATA_NFS   },
        [ASSET_PVC] = {STRS("pvc"),               STRS("PVC data source"),            ASSET_IS_DATA,        ENTITY_PVC        },
        [ASSET_HOST_PATH] = {STRS("hostPath"),          STRS("host path data source"),      ASSET_IS_DATA,
                           ENTITY_DATA_HOST_PATH                                                                                  },
        [ASSET_CONFIG_MAP] = {STRS("config-map"),        STRS("ConfigMap data source"),      ASSET_IS_DATA,
                           ENTITY_DATA_CONFIG_MAP                                                                                 },
        [ASSET_SECRET_VOLUME] = {STRS("secret-volume"),     STRS("secret data source"),         ASSET_IS_DATA,
                           ENTITY_DATA_SECRET                                                                                     },
        [ASSET_ACCESS_KEY] = {STRS("accessKey"),         STRS("access key credential"),      ASSET_IS_CREDENTIAL,
                           ENTITY_CREDENTIALS                                                                                     },
        [ASSET_PASSWORD] = {STRS("password"),          STRS("password credential"),        ASSET_IS_CREDENTIAL,
                           ENTITY_CREDENTIALS                                                                                     },
        [ASSET_DOCKER_REGISTRY] = {STRS("dockerRegistry"),    STRS("docker registry credential"),
                           ASSET_IS_CREDENTIAL,                                                                 ENTITY_CREDENTIALS},
        [ASSET_GENERIC_SECRET] = {STRS("genericSecret"),     STRS("generic secret"),
                           ASSET_IS_CREDENTIAL,                                                                 ENTITY_CREDENTIALS},
        [ASSET_NGC_API_KEY] = {STRS("ngcApiKey"),         STRS("NGC API key"),                ASSET_IS_CREDENTIAL,
                           ENTITY_CREDENTIALS                                                                                     },
        [ASSET_TEMPLATE_TRAINING] = {STRS("workload-template"), STRS("training template"),
                           ASSET_IS_TEMPLATE,                                                                   ENTITY_TEMPLATES  },
        [ASSET_TEMPLATE_WORKSPACE] = {STRS("workload-template"), STRS("workspace template"),
                           ASSET_IS_TEMPLATE,                                                                   ENTITY_TEMPLATES  },
        [ASSET_TEMPLATE_INFERENCE] = {STRS("workload-template"), STRS("inference template"),
                           ASSET_IS_TEMPLATE,                                                                   ENTITY_TEMPLATES  },
        [ASSET_TEMPLATE_DISTRIBUTED] = {STRS("workload-template"), STRS("distributed template"),
                           ASSET_IS_TEMPLATE,                                                                   ENTITY_TEMPLATES  },
        [ASSET_REPORT] = {STRS("report"),            STRS("report"),                     ASSET_IS_REPORT,
                           ENTITY_DASHBOARD_CONSUMPTION                                                                           },
    };
    CHECK(kind < ASSET_KINDS);
    return &infos[kind];
}

const struct asset *asset_find(const struct assets *a, struct uuid id)
{
    for (uint32_t i = 0; i < a->rows_count; i++) {
        if (uuid_eq(a->rows[i].id, id)) {
            return &a->rows[i];
        }
    }
    return NULL;
}

bool asset_has_secret(const struct asset *a, struct str name)
{
    for (uint32_t i = 0; i < a->secrets_count; i++) {
        if (str_eq(a->secrets[i].name, name)) {
            return true;
        }
    }
    return false;
}
