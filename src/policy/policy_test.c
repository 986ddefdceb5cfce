// SPDX-License-Identifier: Apache-2.0
#include "policy/policy.h"

#include "base/test.h"
#include "codec/json.h"

static struct arena arena;

static const struct doc *parse(const char *text)
{
    struct doc *d;
    struct err err;
    REQUIRE_OK(json_doc(str_from_c(text), &arena, &d, &err), &err);
    return d;
}

/* ---- which layer wins ---- */

/* One field, said by some of system, tenant, cluster, department, project ("stcdp"). */
static const struct {
    const char *name, *by;
    bool rule;
    const char *section;
    char want;
} winners[] = {
    {"default: the project",                   "stcdp", false, "",         'p'},
    {"default: the department",                "stcd",  false, "",         'd'},
    {"default: the cluster",                   "stc",   false, "",         'c'},
    {"default: the tenant",                    "st",    false, "",         't'},
    {"default: the system's where none other", "s",     false, "",         's'},
    {"default in compute: nearest too",        "cdp",   false, "compute",  'p'},
    {"default in security: nearest too",       "stdp",  false, "security", 'p'},
    {"rule: the project",                      "stcdp", true,  "",         'p'},
    {"rule: the cluster",                      "tc",    true,  "",         'c'},
    {"rule in compute: the tenant",            "stcdp", true,  "compute",  't'},
    {"rule in compute: the cluster",           "scdp",  true,  "compute",  'c'},
    {"rule in compute: the department",        "dp",    true,  "compute",  'd'},
    {"rule in compute: the project",           "sp",    true,  "compute",  'p'},
    {"rule in security: the cluster",          "cp",    true,  "security", 'c'},
    {"rule in security: above the system's",   "sp",    true,  "security", 'p'},
    {"rule in security: the system's alone",   "s",     true,  "security", 's'},
    {"rule in storage: nearest",               "tp",    true,  "storage",  'p'},
    {NULL,                                     NULL,    false, NULL,       0  },
};

static const char *field_of(const char *section)
{
    switch (section[0]) {
    case 'c':
        return "{\"compute\": {\"gpuDevicesRequest\": {\"min\": 1}}}";
    case '\0':
        return "{\"image\": {\"required\": true}}";
    default:
        return section[1] == 'e' ? "{\"security\": {\"privileged\": {\"canEdit\": false}}}"
                                 : "{\"storage\": {\"hostPath\": {\"instances\": {}}}}";
    }
}

TEST(each_part_has_its_winner)
{
    for (size_t i = 0; winners[i].name != NULL; i++) {
        struct policy_layer layers[5] = {0};
        struct policy_merged p;
        uint32_t n = 0;
        test_row(winners[i].name);
        for (; winners[i].by[n] != '\0'; n++) {
            const struct doc *said = parse(field_of(winners[i].section));
            layers[n].is_system = winners[i].by[n] == 's';
            *(winners[i].rule ? &layers[n].rules : &layers[n].defaults) = said;
        }
        policy_merge(&p, layers, n, &arena);
        REQUIRE((winners[i].rule ? p.rules_count : p.defaults_count) == 1);
        EXPECT_I64(winners[i].by[(winners[i].rule ? p.rules : p.defaults)[0].layer],
                   winners[i].want);
    }
    test_row(NULL);
    arena_done(&arena);
}

/* ---- one policy on one spec ---- */

/* want: "field rule" of the first issue, or "" for none, at: a path in the spec that comes of it. */
static const struct {
    const char *name, *defaults, *rules, *spec, *want, *at, *value;
} rows[] = {
    {"at the maximum",                              "{}",                                                              "{\"compute\":{\"gpuDevicesRequest\":{\"max\":4}}}",
     "{\"compute\":{\"gpuDevicesRequest\":4}}",                                                                                                                                                                                                                 "",                                    NULL,                           NULL },
    {"more GPUs than the maximum",                  "{}",                                                              "{\"compute\":{\"gpuDevicesRequest\":{\"max\":4}}}",
     "{\"compute\":{\"gpuDevicesRequest\":8}}",                                                                                                                                                                                                                 "compute.gpuDevicesRequest max",       NULL,                           NULL },
    {"a default beyond the maximum",                "{\"compute\":{\"gpuDevicesRequest\":5}}",
     "{\"compute\":{\"gpuDevicesRequest\":{\"max\":4}}}",                                                                                                                                  "{}",                                                                "compute.gpuDevicesRequest max",
     NULL,                                                                                                                                                                                                                                                                                                                             NULL },
    {"below the minimum",                           "{}",                                                              "{\"security\":{\"runAsUid\":{\"min\":1000}}}",
     "{\"security\":{\"runAsUid\":0}}",                                                                                                                                                                                                                         "security.runAsUid min",               NULL,                           NULL },
    {"off the steps",                               "{}",                                                              "{\"backoffLimit\":{\"min\":1,\"step\":2}}",                        "{\"backoffLimit\":4}",
     "backoffLimit step",                                                                                                                                                                                                                                                                              NULL,                           NULL },
    {"on a step",                                   "{}",                                                              "{\"backoffLimit\":{\"min\":1,\"step\":2}}",                        "{\"backoffLimit\":5}",                                              "",
     NULL,                                                                                                                                                                                                                                                                                                                             NULL },
    {"numbers are exact",                           "{}",                                                              "{\"compute\":{\"gpuPortionRequest\":{\"min\":0.1,\"step\":0.1}}}",
     "{\"compute\":{\"gpuPortionRequest\":0.3}}",                                                                                                                                                                                                               "",                                    NULL,                           NULL },
    {"quantities compare by bytes",                 "{}",                                                              "{\"compute\":{\"cpuMemoryRequest\":{\"max\":\"1Gi\"}}}",
     "{\"compute\":{\"cpuMemoryRequest\":\"1025Mi\"}}",                                                                                                                                                                                                         "compute.cpuMemoryRequest max",        NULL,                           NULL },
    {"a pool that is not allowed",                  "{}",                                                              "{\"nodePools\":{\"options\":[{\"value\":\"a100\"}]}}",
     "{\"nodePools\":[\"a100\",\"h100\"]}",                                                                                                                                                                                                                     "nodePools options",                   NULL,                           NULL },
    {"a priority that is not allowed",              "{}",
     "{\"priorityClass\":{\"options\":[{\"value\":\"low\"}]}}",                                                                                                                            "{\"priorityClass\":\"high\"}",
     "priorityClass options",                                                                                                                                                                                                                                                                          NULL,                           NULL },
    {"privileged is prohibited",                    "{\"security\":{\"privileged\":false}}",
     "{\"security\":{\"privileged\":{\"canEdit\":false}}}",                                                                                                                                "{\"security\":{\"privileged\":true}}",
     "security.privileged canEdit",                                                                                                                                                                                                                                                                    NULL,                           NULL },
    {"the same value is no edit",                   "{\"security\":{\"privileged\":false}}",
     "{\"security\":{\"privileged\":{\"canEdit\":false}}}",                                                                                                                                "{\"security\":{\"privileged\":false}}",
     "",                                                                                                                                                                                                                                                                                               NULL,                           NULL },
    {"required and missing",                        "{}",                                                              "{\"image\":{\"required\":true}}",                                  "{\"image\":null}",
     "image required",                                                                                                                                                                                                                                                                                 NULL,                           NULL },
    {"required and by default",                     "{\"image\":\"a\"}",                                               "{\"image\":{\"required\":true}}",                                  "{}",                                                                "",
     "image",                                                                                                                                                                                                                                                                                                                          "a"  },
    {"the request's value stays",                   "{\"image\":\"a\"}",                                               "{}",                                                               "{\"image\":\"b\"}",                                                 "",                                    "image",                        "b"  },
    {"blocked and given",                           "{}",                                                              "{\"security\":{\"supplementalGroups\":{\"blocked\":true}}}",
     "{\"security\":{\"supplementalGroups\":\"7\"}}",                                                                                                                                                                                                           "security.supplementalGroups blocked", NULL,
     NULL                                                                                                                                                                                                                                                                                                                                   },
    {"blocked: no default",                         "{\"workingDir\":\"/a\"}",                                         "{\"workingDir\":{\"blocked\":true}}",                              "{}",
     "",                                                                                                                                                                                                                                                                                               "workingDir",                   NULL },
    {"computed",                                    "{}",
     "{\"compute\":{\"cpuCoreLimit\":{\"defaultFrom\":{\"field\":\"compute.cpuCoreRequest\","
     "\"factor\":2}}}}",                                                                                                                                                                   "{\"compute\":{\"cpuCoreRequest\":6}}",                              "",                                    "compute.cpuCoreLimit",         "12" },
    {"computed from the same section",              "{\"compute\":{\"cpuMemoryRequest\":\"2Gi\"}}",
     "{\"compute\":{\"cpuMemoryLimit\":{\"defaultFrom\":{\"field\":\"cpuMemoryRequest\","
     "\"factor\":1.5}}}}",                                                                                                                                                                 "{}",                                                                "",                                    "compute.cpuMemoryLimit",       "3Gi"},
    {"an item of the policy",                       "{\"labels\":{\"instances\":[{\"name\":\"a\",\"value\":\"1\"}]}}",
     "{}",                                                                                                                                                                                 "{\"labels\":[{\"name\":\"b\",\"value\":\"2\"}]}",                   "",                                    "labels[1].value",              "2"  },
    {"an item changed",                             "{\"labels\":{\"instances\":[{\"name\":\"a\",\"value\":\"1\"}]}}", "{}",
     "{\"labels\":[{\"name\":\"a\",\"value\":\"2\"}]}",                                                                                                                                                                                                         "",                                    "labels[0].value",              "2"  },
    {"an item excluded",                            "{\"labels\":{\"instances\":[{\"name\":\"a\",\"value\":\"1\"}]}}", "{}",
     "{\"labels\":[{\"name\":\"a\",\"exclude\":true}]}",                                                                                                                                                                                                        "",                                    "labels[0]",                    NULL },
    {"locked, excluded",
     "{\"environmentVariables\":{\"instances\":[{\"name\":\"P\",\"value\":\"1\"}]}}",                                  "{\"environmentVariables\":{\"instances\":{\"locked\":[\"P\"]}}}",
     "{\"environmentVariables\":[{\"name\":\"P\",\"exclude\":true}]}",                                                                                                                                                                                          "environmentVariables locked",         NULL,                           NULL },
    {"locked, changed",                             "{\"labels\":{\"instances\":[{\"name\":\"a\",\"value\":\"1\"}]}}",
     "{\"labels\":{\"instances\":{\"locked\":[\"a\"]}}}",                                                                                                                                  "{\"labels\":[{\"name\":\"a\",\"value\":\"2\"}]}",                   "labels locked",                       NULL,                           NULL },
    {"locked, the same",                            "{\"labels\":{\"instances\":[{\"name\":\"a\",\"value\":\"1\"}]}}",
     "{\"labels\":{\"instances\":{\"locked\":[\"a\"]}}}",                                                                                                                                  "{\"labels\":[{\"name\":\"a\",\"value\":\"1\",\"exclude\":false}]}", "",                                    NULL,                           NULL },
    {"nothing may be added",                        "{}",
     "{\"storage\":{\"hostPath\":{\"instances\":{\"canAdd\":false}}}}",                                                                                                                    "{\"storage\":{\"hostPath\":[{\"name\":\"x\",\"path\":\"/\"}]}}",    "storage.hostPath canAdd",
     NULL,                                                                                                                                                                                                                                                                                                                             NULL },
    {"a required label without a value",            "{\"labels\":{\"instances\":[{\"name\":\"team\"}]}}",
     "{\"labels\":{\"attributes\":{\"value\":{\"required\":true}}}}",                                                                                                                      "{}",
     "labels[team].value required",                                                                                                                                                                                                                                                                    NULL,                           NULL },
    {"a required label",                            "{\"labels\":{\"instances\":[{\"name\":\"team\"}]}}",
     "{\"labels\":{\"attributes\":{\"value\":{\"required\":true}}}}",                                                                                                                      "{\"labels\":[{\"name\":\"team\",\"value\":\"x\"}]}",                "",                                    "labels[0].value",              "x"  },
    {"an attribute of every item",
     "{\"storage\":{\"hostPath\":{\"attributes\":{\"readOnly\":\"y\"}}}}",                                             "{}",
     "{\"storage\":{\"hostPath\":[{\"name\":\"x\"}]}}",                                                                                                                                                                                                         "",                                    "storage.hostPath[0].readOnly", "y"  },
    {"a boolean that may not be set, unset",        "{}",
     "{\"security\":{\"hostIpc\":{\"canEdit\":false}}}",                                                                                                                                   "{\"security\":{\"hostIpc\":false}}",                                "",
     NULL,                                                                                                                                                                                                                                                                                                                             NULL },
    {"a boolean that may not be set",               "{}",                                                              "{\"security\":{\"hostIpc\":{\"canEdit\":false}}}",
     "{\"security\":{\"hostIpc\":true}}",                                                                                                                                                                                                                       "security.hostIpc canEdit",            NULL,                           NULL },
    {"a computed value, said again",                "{}",
     "{\"compute\":{\"cpuCoreLimit\":{\"canEdit\":false,\"defaultFrom\":{\"field\":"
     "\"cpuCoreRequest\",\"factor\":2}}}}",                                                                                                                                                "{\"compute\":{\"cpuCoreRequest\":1,\"cpuCoreLimit\":2}}",           "",                                    NULL,                           NULL },
    {"pools: the allowed ones of those implied",    "{}",
     "{\"nodePools\":{\"options\":[{\"value\":\"y\"},{\"value\":\"z\"}]}}",                                                                                                                "{}",                                                                "",
     "nodePools[0]",                                                                                                                                                                                                                                                                                                                   "y"  },
    {"pools: none allowed of those implied",        "{}",
     "{\"nodePools\":{\"options\":[{\"value\":\"z\"}]}}",                                                                                                                                  "{\"image\":\"a\"}",                                                 "nodePools options",
     "image",                                                                                                                                                                                                                                                                                                                          "a"  },
    {"what is implied is held against the options", "{}",
     "{\"priorityClass\":{\"options\":[{\"value\":\"low\"}]}}",                                                                                                                            "{}",                                                                "priorityClass options",               NULL,
     NULL                                                                                                                                                                                                                                                                                                                                   },
    {"what is implied, allowed",                    "{}",                                                              "{\"priorityClass\":{\"options\":[{\"value\":\"high\"}]}}",
     "{}",                                                                                                                                                                                                                                                      "",                                    "priorityClass",                NULL },
    {"what is implied is not given",                "{}",                                                              "{\"priorityClass\":{\"required\":true}}",                          "{}",
     "priorityClass required",                                                                                                                                                                                                                                                                         NULL,                           NULL },
    {"locked, filled in",                           "{\"labels\":{\"instances\":[{\"name\":\"team\"}]}}",
     "{\"labels\":{\"instances\":{\"locked\":[\"team\"]}}}",                                                                                                                               "{\"labels\":[{\"name\":\"team\",\"value\":\"x\"}]}",                "",                                    "labels[0].value",              "x"  },
    {"locked and open, excluded",                   "{\"labels\":{\"instances\":[{\"name\":\"team\"}]}}",
     "{\"labels\":{\"instances\":{\"locked\":[\"team\"]}}}",                                                                                                                               "{\"labels\":[{\"name\":\"team\",\"exclude\":true}]}",               "labels locked",                       NULL,                           NULL },
    {"an inference's replicas",                     "{}",                                                              "{\"autoscaling\":{\"maxReplicas\":{\"max\":2}}}",
     "{\"autoscaling\":{\"maxReplicas\":3}}",                                                                                                                                                                                                                   "autoscaling.maxReplicas max",         NULL,                           NULL },
    {NULL,                                          NULL,                                                              NULL,                                                               NULL,                                                                NULL,                                  NULL,                           NULL },
};

TEST(one_policy_on_one_spec)
{
    const struct doc *implied = parse("{\"nodePools\":[\"x\",\"y\"],\"priorityClass\":\"high\"}");
    for (size_t i = 0; rows[i].name != NULL; i++) {
        struct policy_layer layer = {false, parse(rows[i].defaults), parse(rows[i].rules)};
        struct policy_merged p;
        struct policy_issues r;
        test_row(rows[i].name);
        policy_merge(&p, &layer, 1, &arena);
        const struct doc *spec = parse(rows[i].spec);
        const struct doc *laid = policy_lay(&p, spec, implied, &arena);
        policy_judge(&p, spec, laid, implied, &arena, &r);
        struct str got = STR("");
        if (r.count > 0) {
            got = arena_printf(&arena, STR_FMT " %s", STR_ARG(r.items[0].field), r.items[0].rule);
        }
        EXPECT_STR(got, str_from_c(rows[i].want));
        EXPECT(r.count <= 1 || str_eq(str_from_c(r.items[0].rule), str_from_c(r.items[1].rule)));
        const struct doc *at = rows[i].at ? doc_at(laid, str_from_c(rows[i].at)) : NULL;
        EXPECT((at != NULL) == (rows[i].value != NULL));
        if (at != NULL && rows[i].value != NULL) {
            EXPECT_STR(at->text, str_from_c(rows[i].value));
        }
    }
    test_row(NULL);
    arena_reset(&arena);
}

/* The tenant says that it must not be edited; the project has a default of its own. */
TEST(a_fixed_value_stands_below)
{
    static const struct {
        const char *name, *tenant, *department;
        bool system;
        const char *want; /* NULL: none */
    } fixed[] = {
        {"the tenant's",                "{\"image\":\"t\"}", "{}",                false, "t" },
        {"none",                        "{}",                "{\"image\":\"d\"}", false, NULL},
        {"the system's may be changed", "{\"image\":\"s\"}", "{}",                true,  "p" },
        {NULL,                          NULL,                NULL,                false, NULL},
    };
    for (size_t i = 0; fixed[i].name != NULL; i++) {
        struct policy_layer layers[] = {
            {fixed[i].system, parse(fixed[i].tenant),     parse("{\"image\":{\"canEdit\":false}}")},
            {false,           parse(fixed[i].department), NULL                                    },
            {false,           parse("{\"image\":\"p\"}"), NULL                                    },
        };
        struct policy_merged p;
        test_row(fixed[i].name);
        policy_merge(&p, layers, 3, &arena);
        EXPECT_I64(p.defaults_count, fixed[i].want != NULL);
        if (fixed[i].want != NULL && p.defaults_count == 1) {
            EXPECT_STR(p.defaults[0].value->text, str_from_c(fixed[i].want));
        }
    }
    test_row(NULL);
    arena_reset(&arena);
}

TEST(what_cannot_be_meant_is_reported)
{
    static const struct {
        const char *name, *defaults, *rules, *field; /* "": nothing is wrong */
    } forms[] = {
        {"nothing",                            "{}",                                      "{}",                                                          ""                                                       },
        {"a range",                            "{\"compute\":{\"gpuDevicesRequest\":2}}",
         "{\"compute\":{\"gpuDevicesRequest\":{\"min\":1,\"max\":4}}}",                                                                                  ""                                                       },
        {"min above max",                      "{}",                                      "{\"compute\":{\"gpuDevicesRequest\":{\"min\":5,\"max\":4}}}",
         "p.rules.compute.gpuDevicesRequest.min"                                                                                                                                                                  },
        {"min above max, in quantities",       "{}",
         "{\"compute\":{\"cpuMemoryRequest\":{\"min\":\"1G\",\"max\":\"900M\"}}}",                                                                       "p.rules.compute.cpuMemoryRequest.min"                   },
        {"min above max of an attribute",      "{}",
         "{\"storage\":{\"emptyDirVolume\":{\"attributes\":{\"sizeLimit\":{\"min\":\"2Gi\",\"max\":"
         "\"1Gi\"}}}}}",                                                                                                                                 "p.rules.storage.emptyDirVolume.attributes.sizeLimit.min"},
        {"no step",                            "{}",                                      "{\"compute\":{\"gpuDevicesRequest\":{\"step\":0}}}",
         "p.rules.compute.gpuDevicesRequest.step"                                                                                                                                                                 },
        {"no option",                          "{}",                                      "{\"image\":{\"options\":[]}}",                                "p.rules.image.options"                                  },
        {"required and blocked",               "{}",                                      "{\"image\":{\"required\":true,\"blocked\":true}}",
         "p.rules.image.blocked"                                                                                                                                                                                  },
        {"from no field",                      "{}",
         "{\"compute\":{\"cpuCoreLimit\":{\"defaultFrom\":{\"field\":\"cpus\"}}}}",                                                                      "p.rules.compute.cpuCoreLimit.defaultFrom.field"         },
        {"from itself",                        "{}",
         "{\"compute\":{\"cpuCoreLimit\":{\"defaultFrom\":{\"field\":\"compute.cpuCoreLimit\"}}}}",                                                      "p.rules.compute.cpuCoreLimit.defaultFrom.field"         },
        {"from another type",                  "{}",
         "{\"compute\":{\"cpuCoreLimit\":{\"defaultFrom\":{\"field\":\"cpuMemoryLimit\"}}}}",                                                            "p.rules.compute.cpuCoreLimit.defaultFrom.field"         },
        {"from the same section",              "{}",
         "{\"compute\":{\"cpuCoreLimit\":{\"defaultFrom\":{\"field\":\"cpuCoreRequest\"}}}}",                                                            ""                                                       },
        {"a default above the maximum",        "{\"backoffLimit\":9}",                    "{\"backoffLimit\":{\"max\":4}}",
         "p.defaults.backoffLimit"                                                                                                                                                                                },
        {"a default not among the options",    "{\"image\":\"c\"}",
         "{\"image\":{\"options\":[{\"value\":\"a\"}]}}",                                                                                                "p.defaults.image"                                       },
        {"a required field without a default", "{}",                                      "{\"image\":{\"required\":true}}",                             ""                                                       },
        {NULL,                                 NULL,                                      NULL,                                                          NULL                                                     },
    };
    for (size_t i = 0; forms[i].name != NULL; i++) {
        struct policy_layer layer = {false, parse(forms[i].defaults), parse(forms[i].rules)};
        struct problems problems;
        test_row(forms[i].name);
        problems_init(&problems, &arena);
        policy_check(&layer, STR("p"), "", &problems, &arena);
        EXPECT_I64(problems.count, forms[i].field[0] != '\0');
        EXPECT_STR(problems.count > 0 ? problems.items[0].field : STR(""),
                   str_from_c(forms[i].field));
    }
    test_row(NULL);
    arena_done(&arena);
}

TEST_MAIN()
