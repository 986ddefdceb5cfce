// SPDX-License-Identifier: Apache-2.0
// Schemas that several groups use.
#include "api/runai/common.h"

static const struct schema_row schemas[] = {
    {"HttpResponse",         "code* int(100..599), message* str"                                    },
    {"CountResponse",        "count* int"                                                           },
    {"MetricsResponse",      "measurements* [MeasurementResponse]"                                  },
    {"MeasurementResponse",  "type* str, labels map<str>, values* [MeasurementValue]"               },
    {"MeasurementValue",     "value* str, timestamp* ts?"                                           },
    {"TelemetryResponse",    "type* str, timestamp* ts, values* [{value* str, groups [{key* str, "
                          "value* str, name str}]}]"                       },
    {"SchedulingRules",
     "interactiveJobTimeLimitSeconds int(1..)?, interactiveJobMaxIdleDurationSeconds int(1..)?,"
     "interactiveJobPreemptIdleDurationSeconds int(1..)?,"
     "trainingJobMaxIdleDurationSeconds int(1..)?, trainingJobTimeLimitSeconds int(1..)?"           },
    {"NodeTypesPerWorkload", "training [str]?, workspace [str]?, names map<str>?"                   },
    {"OvertimeData",         "range24hData OvertimeRangeData, range7dData OvertimeRangeData, range30dData "
                     "OvertimeRangeData"                                        },
    {"OvertimeRangeData",    "averageGpuAllocation num, averageGpuUtilization num, "
                          "averageGpuMemoryUtilization num?, updatedAt ts" },
    {"QuotaStatus",          "allocated QuotaStatusResource, allocatedNonPreemptible QuotaStatusResource, "
                    "requested QuotaStatusResource"                              },
    {"QuotaStatusResource",  "gpu num, cpu num, memory num"                                         },
    {"QuotaStatusNodePool",  "allocated QuotaStatusResource, allocatedNonPreemptible "
                            "QuotaStatusResource, requested QuotaStatusResource, nodePoolName* "
                            "str, nodePoolId* str"                       },
    {"TotalResources",       "gpuQuota num?, cpuQuota num?, memoryQuota num?"                       },
    {"NodePoolRef",          "id* str, name str"                                                    },
    {"Resources",            "nodePool NodePoolRef, gpu* NonNullResource, cpu Resource, memory "
                  "MemoryResource, priority str?"                                  },
    {"ResourcesNullable",    "nodePool NodePoolRef?, gpu NonNullResource?, cpu Resource?, memory "
                          "MemoryResource?, priority str?, rank str?"      },
    {"NonNullResource",      "deserved num(0..1000000)?, limit num(-1..1000000)?, overQuotaWeight "
                        "num(0..1000)?"                                      },
    {"Resource",             "deserved num(-1..100000000000)?, limit num(-1..100000000000)?, overQuotaWeight "
                 "num(0..1000)?"                                                    },
    {"MemoryResource",       "deserved num(-1..100000000000)?, limit num(-1..100000000000)?, "
                       "overQuotaWeight num(0..1000)?, units 'Mib'|'MB'|'GB'?"},
};
const struct route_group group_common = {NULL, NULL, 0, schemas, COUNT_OF(schemas)};
