// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <string.h>

#include "base/test.h"
#include "cli/help.h"

enum { WORDS_MAX = 24, TEXT_MAX = 8 << 20 };

// Splits a line at its spaces, those in quotes apart; ~ stands for a space inside a word.
static int split(struct arena *arena, const char *line, const char **words)
{
    int count = 0;
    while (count < WORDS_MAX && line[0] != '\0') {
        char *text = arena_alloc(arena, strlen(line) + 1);
        size_t len = 0;
        bool quoted = false;
        for (; line[0] != '\0' && (quoted || line[0] != ' '); line++) {
            if (line[0] == '"') {
                quoted = !quoted;
            } else {
                text[len++] = line[0] == '~' ? ' ' : line[0];
            }
        }
        if (len > 0) {
            words[count++] = text;
        }
        line += line[0] == ' ' ? 1 : 0;
    }
    return count;
}

// A parsed command line as text: command|flags|words|words behind --.
static struct str described(struct arena *arena, const struct args *args)
{
    struct buf b;
    buf_init(&b, TEXT_MAX);
    buf_printf(&b, "%s|", args->command != NULL ? args->command->path : "");
    for (uint32_t i = 0; i < args->count; i++) {
        const struct arg *a = &args->items[i];
        buf_printf(&b, "%s%s=" STR_FMT, i > 0 ? " " : "", a->flag->name, STR_ARG(a->text));
        if (a->number != 0) {
            buf_printf(&b, "(%lld)", (long long)a->number);
        }
    }
    buf_char(&b, '|');
    for (uint32_t i = 0; i < args->words_count; i++) {
        buf_printf(&b, "%s" STR_FMT, i > 0 ? " " : "", STR_ARG(args->words[i]));
    }
    for (uint32_t i = 0; args->has_tail && i < args->tail_count; i++) {
        buf_printf(&b, "%s" STR_FMT, i > 0 ? " " : "|", STR_ARG(args->tail[i]));
    }
    struct str s = arena_str(arena, buf_view(&b));
    buf_done(&b);
    return s;
}

TEST(lines_that_are_right)
{
    static const struct {
        const char *name, *line, *want;
    } rows[] = {
        {"the command of the guide, word by word",
         "training standard submit team-a-job-1 -p team-a -i host --gpu-devices-request 1 "
         "--node-pools validation --priority low --preemptibility preemptible -- sleep 600",               "training standard submit|project=team-a image=host gpu-devices-request=1(1) "
         "node-pools=validation priority=low preemptibility=preemptible|team-a-job-1|sleep 600"},
        {"the shorter way to write it",              "training submit a -g 2 -- true",
         "training standard submit|gpu-devices-request=2(2)|a|true"                                                                                                                        },
        {"a value glued to its letter",              "training list -pteam-a",
         "training standard list|project=team-a|"                                                                                                                                          },
        {"a value behind an equals sign",            "training list --project=team-a",
         "training standard list|project=team-a|"                                                                                                                                          },
        {"letters together",                         "workload exec a -it -- sh",
         "workload exec|stdin=true(1) tty=true(1)|a|sh"                                                                                                                                    },
        {"letters together, the last with a value",  "workload list -Ap x",
         "workload list|all=true(1) project=x|"                                                                                                                                            },
        {"a boolean that is denied",                 "workload describe a --events=false",
         "workload describe|events=false|a"                                                                                                                                                },
        {"flags behind -- belong to the command",    "training submit a -- x --gpu 3 -- y",
         "training standard submit||a|x --gpu 3 -- y"                                                                                                                                      },
        {"a flag of several values",                 "training submit a -e A=1 -e B=x=y",
         "training standard submit|environment-variable=A=1 environment-variable=B=x=y|a"                                                                                                  },
        {"a part of a GPU in millionths",            "training submit a --gpu-portion-request 0.125",
         "training standard submit|gpu-portion-request=0.125(125000)|a"                                                                                                                    },
        {"memory in powers of ten and of two",
         "training submit a --cpu-memory-request 1G --cpu-memory-limit 2Gi",                               "training standard submit|cpu-memory-request=1G(1000000000) "
         "cpu-memory-limit=2Gi(2147483648)|a"                                                                  },
        {"a duration",                               "training submit a --termination-grace-period 1m30s",
         "training standard submit|termination-grace-period=1m30s(90000)|a"                                                                                                                },
        {"a negative number is a value, not a flag", "workload logs a --tail -1",
         "workload logs|tail=-1(-1)|a"                                                                                                                                                     },
        {"several names",                            "workload delete a b c -y",                           "workload delete|yes=true(1)|a b c"                                             },
        {"a global flag in front of the command",    "--socket /s whoami",                                 "whoami|socket=/s|"                                                             },
        {"a lone dash is a word",                    "plan check -",                                       "plan check||-"                                                                 },
        {"the flags of a program of its own",        "up --gpus fake:4 --node-label a=b --listen :0",
         "up|gpus=fake:4 node-label=a=b listen=:0|"                                                                                                                                        },
        {"no command behind --",                     "training submit a --",                               "training standard submit||a|"                                                  },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena = {0};
        struct args args;
        struct err err = {0};
        const char *words[WORDS_MAX];
        test_row(rows[i].name);
        int count = split(&arena, rows[i].line, words);
        REQUIRE_OK(command_parse(count, words, &arena, &args, &err), &err);
        // A tail without words still ends the words.
        struct str got = described(&arena, &args);
        if (args.has_tail && args.tail_count == 0) {
            got = arena_printf(&arena, STR_FMT "|", STR_ARG(got));
        }
        EXPECT_STR(got, str_from_c(rows[i].want));
        arena_done(&arena);
    }
    test_row(NULL);
}

TEST(lines_that_are_wrong)
{
    static const struct {
        const char *name, *line, *text, *field, *hint;
        enum status want;
    } rows[] = {
        {"a command nobody knows",                   "trianing list",                                   "unknown command \"trianing\"",           "",
         "did you mean weir training?",                                                                                                                                                                                STATUS_INVALID    },
        {"a verb nobody knows",                      "training sbumit a",                               "unknown command \"training sbumit\"",    "",
         "did you mean weir training submit?",                                                                                                                                                                         STATUS_INVALID    },
        {"nothing near",                             "xyzzy",                                           "unknown command \"xyzzy\"",              "",                           "weir --help lists the commands",
         STATUS_INVALID                                                                                                                                                                                                                  },
        {"half a command",                           "plan",                                            "plan needs one more word",               "",
         "weir plan --help lists what may follow",                                                                                                                                                                     STATUS_INVALID    },
        {"a flag nobody knows",                      "training submit a --gpu-device-request 1",
         "unknown flag --gpu-device-request",                                                                                                     "",                           "did you mean --gpu-devices-request?",
         STATUS_INVALID                                                                                                                                                                                                                  },
        {"a letter nobody knows",                    "whoami -Z",                                       "unknown flag -Z",                        "",
         "weir whoami --help lists the flags",                                                                                                                                                                         STATUS_INVALID    },
        {"a value is missing",                       "training submit a -g",                            "needs a value: --gpu-devices-request N",
         "--gpu-devices-request",                                                                                                                                               "",                                    STATUS_INVALID    },
        {"a word for a number",                      "training submit a -g two",
         "expected a whole number of at least 1, got \"two\"",                                                                                    "--gpu-devices-request",      "",
         STATUS_INVALID                                                                                                                                                                                                                  },
        {"no GPUs at all",                           "training submit a -g 0",
         "expected a whole number of at least 1, got \"0\"",                                                                                      "--gpu-devices-request",      "",
         STATUS_INVALID                                                                                                                                                                                                                  },
        {"beyond 64 bits",                           "training submit a -g 4611686018427387904000",
         "expected a whole number of at least 1, got \"4611686018427387904000\"",                                                                 "--gpu-devices-request",      "",                                    STATUS_INVALID    },
        {"a negative part",                          "training submit a --gpu-portion-request -0.5",
         "expected a number above 0 such as 0.5, got \"-0.5\"",                                                                                   "--gpu-portion-request",      "",
         STATUS_INVALID                                                                                                                                                                                                                  },
        {"memory without a number",                  "training submit a --cpu-memory-request lots",
         "expected an amount of memory such as 500M, 1G or 2Gi, got \"lots\"",                                                                    "--cpu-memory-request",       "",                                    STATUS_INVALID    },
        {"a duration without a unit",                "training submit a --termination-grace-period 30",
         "expected a duration such as 30s, 5m or 1h30m, got \"30\"",                                                                              "--termination-grace-period",
         "",                                                                                                                                                                                                           STATUS_INVALID    },
        {"a priority nobody knows",                  "training submit a --priority hihg",
         "expected one of very-low|low|medium-low|medium|medium-high|high|very-high, got \"hihg\"",                                               "--priority",                 "did you mean high?",                  STATUS_INVALID    },
        {"a variable without a value",               "training submit a -e PATH",
         "expected NAME=VALUE, got \"PATH\"",                                                                                                     "--environment-variable",     "",                                    STATUS_INVALID    },
        {"a variable without a name",                "training submit a -e =x",                         "expected NAME=VALUE, got \"=x\"",
         "--environment-variable",                                                                                                                                              "",                                    STATUS_INVALID    },
        {"an empty value",                           "training submit a --project=",                    "expected a value, got \"\"",
         "--project",                                                                                                                                                           "",                                    STATUS_INVALID    },
        {"a boolean that is neither",                "workload list --all=perhaps",
         "expected true or false, got \"perhaps\"",                                                                                               "--all",                      "",                                    STATUS_INVALID    },
        {"a flag that needs Kubernetes is known",    "training submit a --privileged",
         "needs Kubernetes: it says something about containers that this machine has not",                                                        "--privileged",               "leave the flag out",                  STATUS_UNSUPPORTED},
        {"and so is its value",                      "training submit a --toleration operator=Exists",
         "needs Kubernetes: it says something about containers that this machine has not",                                                        "--toleration",               "leave the flag out",                  STATUS_UNSUPPORTED},
        {"a word too many",                          "whoami me",                                       "unexpected word \"me\"",                 "",                           "usage: weir whoami ",
         STATUS_INVALID                                                                                                                                                                                                                  },
        {"the command without --",                   "training submit a sleep 600",                     "unexpected word \"sleep\"",              "",
         "the command to run stands behind --: weir training standard submit [NAME] -- COMMAND...",                                                                                                                    STATUS_INVALID    },
        {"a word too few",                           "plan check",                                      "FILE is missing",                        "",                           "usage: weir plan check FILE",
         STATUS_INVALID                                                                                                                                                                                                                  },
        {"something behind -- that takes nothing",   "whoami -- x",                                     "nothing may follow --",                  "",
         "usage: weir whoami ",                                                                                                                                                                                        STATUS_INVALID    },
        {"a flag that a program of its own has not", "up --gpu fake:4",                                 "unknown flag --gpu",                     "",
         "did you mean --gpus?",                                                                                                                                                                                       STATUS_INVALID    },
        {"a flag in front of a program of its own",  "--socket /s up",                                  "flags must stand behind up",
         "--socket",                                                                                                                                                            "",                                    STATUS_INVALID    },
        {"not UTF-8",                                "whoami \xff",                                     "argument 2 is not valid UTF-8",          "",
         "weir takes text in UTF-8 only",                                                                                                                                                                              STATUS_INVALID    },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena = {0};
        struct args args;
        struct err err = {0};
        const char *words[WORDS_MAX];
        test_row(rows[i].name);
        int count = split(&arena, rows[i].line, words);
        EXPECT_STATUS(command_parse(count, words, &arena, &args, &err), rows[i].want);
        EXPECT_STR(str_from_c(err.text), str_from_c(rows[i].text));
        EXPECT_STR(str_from_c(err.field), str_from_c(rows[i].field));
        EXPECT_STR(str_from_c(err.hint), str_from_c(rows[i].hint));
        arena_done(&arena);
    }
    test_row(NULL);
}

TEST(help_is_asked_for_anywhere)
{
    static const struct {
        const char *line, *topic;
    } rows[] = {
        {"",                       ""                        },
        {"--help",                 ""                        },
        {"-h",                     ""                        },
        {"training --help",        "training"                },
        {"training standard -h",   "training standard"       },
        {"training submit --help", "training standard submit"},
        {"plan check --help",      "plan check"              },
        {"up --data /x --help",    "up"                      },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena = {0};
        struct args args;
        struct err err = {0};
        const char *words[WORDS_MAX];
        test_row(rows[i].line);
        int count = split(&arena, rows[i].line, words);
        REQUIRE_OK(command_parse(count, words, &arena, &args, &err), &err);
        EXPECT(args.help);
        EXPECT_STR(args.topic, str_from_c(rows[i].topic));
        arena_done(&arena);
    }
    test_row(NULL);
}

// The table is complete: what the faces and the handlers rely on.
TEST(every_command_is_whole)
{
    struct arena arena = {0};
    for (uint32_t i = 0; i < commands_count; i++) {
        const struct command *c = &commands[i];
        test_row(c->path);
        EXPECT(c->summary[0] != 0 && c->summary[strlen(c->summary) - 1] != '.');
        EXPECT(c->words_max >= c->words_min);
        EXPECT((c->words[0] == 0) == (c->words_max == 0) || c->run == NULL);
        // Its example is a right line of this very command.
        const char *words[WORDS_MAX];
        struct args args;
        struct err err = {0};
        uint32_t at = str_find(str_from_c(c->example), '>');
        struct str line = str_trim(str_sub(str_from_c(c->example), 0, at));
        line = str_starts(line, STR("source <(")) ? STR("weir completion bash") : line;
        EXPECT(str_starts(line, STR("weir ")));
        line = str_sub(line, 5, line.len);
        int count = split(&arena, arena_cstr(&arena, line), words);
        REQUIRE_OK(command_parse(count, words, &arena, &args, &err), &err);
        EXPECT(args.command == c);
        for (uint32_t k = 0; k < i; k++) {
            EXPECT(strcmp(commands[k].path, c->path) != 0);
        }
        for (uint32_t k = 0; k < COMMAND_SETS_MAX && c->sets[k] != NULL; k++) {
            for (uint32_t f = 0; f < c->sets[k]->count; f++) {
                const struct flag *flag = &c->sets[k]->flags[f];
                // No second flag of the name or the letter hides it.
                EXPECT(command_flag(c, str_from_c(flag->name), 0) == flag);
                EXPECT(flag->letter == 0 || command_flag(c, STR(""), flag->letter) == flag);
                EXPECT((flag->metavar == NULL) == (flag->kind == FLAG_BOOL));
            }
        }
    }
    test_row(NULL);
    arena_done(&arena);
}

// It reads its own words, all of them.
TEST(a_program_of_its_own_gets_what_follows_its_name)
{
    struct arena arena = {0};
    const char *const words[] = {"simulate", "a.json", "login"};
    struct args args;
    struct err err = {0};
    REQUIRE_OK(command_parse(COUNT_OF(words), words, &arena, &args, &err), &err);
    EXPECT_STR(str_from_c(args.command->path), STR("simulate"));
    EXPECT_I64(args.external_at, 0);
    arena_done(&arena);
}

TEST(every_help_shows_an_example_and_fits)
{
    struct arena arena = {0};
    for (uint32_t i = 0; i < commands_count; i++) {
        struct buf text;
        buf_init(&text, TEXT_MAX);
        test_row(commands[i].path);
        help_write(str_from_c(commands[i].path), 80, &arena, &text);
        struct str rest = buf_view(&text), line;
        EXPECT(memmem(rest.ptr, rest.len, "\nExample:\n  ", 12) != NULL);
        bool example = false;
        while (str_split(&rest, '\n', &line)) {
            EXPECT(line.len <= 80 || example || line.ptr[2] != ' ');
            example = str_eq(line, STR("Example:"));
        }
        buf_done(&text);
    }
    test_row(NULL);
    arena_done(&arena);
}

TEST(completion_offers_what_may_follow)
{
    static const struct {
        const char *name, *line; // the last word is the one being typed; @ is an empty one
        const char *want;        // the candidates without their descriptions, joined by a space
        enum offer offer;
    } rows[] = {
        {"the first word",                             "wh",                                 "whoami why",              OFFER_NOTHING },
        {"a group's verbs, by both ways",              "training s",                         "standard submit suspend", OFFER_NOTHING },
        {"the verbs of the longer way",                "training standard su",               "submit suspend",          OFFER_NOTHING },
        {"flags",                                      "training submit --gpu-p",            "--gpu-portion-request",   OFFER_NOTHING },
        {"flags that are refused are not offered",     "training submit --priv",             "",                        OFFER_NOTHING },
        {"the words of a value",                       "training submit --preemptibility @",
         "preemptible non-preemptible",                                                                                 OFFER_NOTHING },
        {"the words of a value behind an equals sign", "training submit --priority=very-",
         "--priority=very-low --priority=very-high",                                                                    OFFER_NOTHING },
        {"names of the server for a flag",             "training submit -p @",               "",                        OFFER_PROJECT },
        {"names of the server for a word",             "training describe @",                "",                        OFFER_WORKLOAD},
        {"pools",                                      "nodepool describe @",                "",                        OFFER_POOL    },
        {"files",                                      "plan check @",                       "",                        OFFER_FILE    },
        {"behind -- it is the user's own",             "training submit a -- @",             "",                        OFFER_FILE    },
        {"shells",                                     "completion z",                       "zsh",                     OFFER_NOTHING },
        {"commands for help",                          "help plan e",                        "export",                  OFFER_NOTHING },
        {"nothing",                                    "whoami @",                           "",                        OFFER_NOTHING },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena = {0};
        const char *words[WORDS_MAX];
        struct str typed[WORDS_MAX];
        struct completion what;
        struct buf out;
        test_row(rows[i].name);
        buf_init(&out, TEXT_MAX);
        int count = split(&arena, rows[i].line, words);
        for (int k = 0; k < count; k++) {
            typed[k] = strcmp(words[k], "@") == 0 ? STR("") : str_from_c(words[k]);
        }
        completion_find(typed, (uint32_t)count, &arena, &out, &what);
        struct str rest = buf_view(&out), line, got = STR("");
        while (str_split(&rest, '\n', &line)) {
            if (line.len > 0) {
                got = arena_printf(&arena, STR_FMT "%s" STR_FMT, STR_ARG(got),
                                   got.len > 0 ? " " : "",
                                   STR_ARG(str_sub(line, 0, str_find(line, '\t'))));
            }
        }
        EXPECT_STR(got, str_from_c(rows[i].want));
        EXPECT_I64((int64_t)what.offer, (int64_t)rows[i].offer);
        buf_done(&out);
        arena_done(&arena);
    }
    test_row(NULL);
}

TEST_MAIN()
