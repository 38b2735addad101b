export const PUBLIC_KEY = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEyNZc4BsMiVDjYQ7DKxpDvG2Lh8dh
x2DBhVVQ4oy8JtKqCVC4pLwLLTfyCVj5hgfGmdWb52mD3JPk1CIRjVqV5w==
-----END PUBLIC KEY-----
`;

/** Invalid changes to a configuration, each with the reported problem. */
export const REFUSED: readonly (readonly [
  what: string,
  change: Record<string, string | undefined>,
  problem: string,
])[] = [
  [
    "a webhook's secret without its bot",
    { "steward:telegramWebhookSecret": "my-own" },
    "steward:telegramBotToken: missing: Telegram is only partly configured, with steward:telegramWebhookSecret",
  ],
  [
    "a webhook's secret that Telegram would refuse",
    { "steward:telegramBotToken": "1:a", "steward:telegramWebhookSecret": "my own" },
    "steward:telegramWebhookSecret: must be 1 to 256 letters, digits, _ and -",
  ],
  [
    "polling by a container that sleeps",
    { "steward:telegramBotToken": "1:a", "steward:telegramUpdates": "polling" },
    "steward:telegramUpdates: polling needs a process that never sleeps, which a serverless stack does not have",
  ],
  [
    "never asleep for less than it costs",
    { "steward:sleepAfter": "never", "steward:instanceType": "standard-1", "steward:monthlyBudget": "33" },
    "steward:monthlyBudget: $33.00 is below the estimate of $33.34 a month for standard-1 with steward:sleepAfter never",
  ],
  [
    "a budget below the plan",
    { "steward:monthlyBudget": "4.99" },
    "steward:monthlyBudget: $4.99 is below the estimate of $5.00 a month for lite with steward:sleepAfter 10m",
  ],
  [
    "a budget that is no amount",
    { "steward:monthlyBudget": "5 EUR" },
    "steward:monthlyBudget: must be US dollars from 0 to 100000, with at most two decimals",
  ],
  [
    "hours of sleep for what never sleeps",
    { "steward:sleepAfter": "never", "steward:expectedAwakeHours": "3" },
    "steward:expectedAwakeHours: a container with steward:sleepAfter never is awake for 24 hours a day",
  ],
  [
    "a day of 25 hours",
    { "steward:expectedAwakeHours": "25" },
    "steward:expectedAwakeHours: must be hours a day from 0 to 24, with at most two decimals",
  ],
  [
    "a public webhook whose signatures nothing verifies",
    { "steward:discordBotToken": "token", "steward:discordApplicationId": "1000000000000000001" },
    "steward:discordPublicKey: missing: Discord is only partly configured, with steward:discordApplicationId and steward:discordBotToken",
  ],
  [
    "an unknown key",
    { "steward:slepAfter": "1h" },
    "steward:slepAfter: unknown key; did you mean steward:sleepAfter?",
  ],
  [
    "a key that is like none",
    { "steward:wholeUnrelatedThing": "1" },
    "steward:wholeUnrelatedThing: unknown key",
  ],
  [
    "a key of the other target",
    { "steward:hostPort": "80" },
    "steward:hostPort: belongs to a host stack, but steward:target is serverless",
  ],
  [
    "a namespace in capitals",
    { "Steward:sleepAfter": "1h" },
    "Steward:sleepAfter: is ignored: the namespace is steward, not Steward",
  ],
  [
    "a namespace with a typo",
    { "stewart:slepAfter": "1h" },
    "stewart:slepAfter: is ignored: the namespace is steward, not stewart",
  ],
  ["a missing secret", { "steward:anthropicApiKey": undefined }, "steward:anthropicApiKey: missing"],
  ["a missing account", { "steward:accountId": undefined }, "steward:accountId: missing"],
  [
    "an account that is none",
    { "steward:accountId": "mine" },
    "steward:accountId: must be the account's 32 hexadecimal digits",
  ],
  [
    "a number where a duration belongs",
    { "steward:sleepAfter": "10" },
    "steward:sleepAfter: must be never or a duration such as 30s, 10m, 1h or 1h30m",
  ],
  [
    "a registry with a path",
    { "steward:registry": "registry.cloudflare.com/mine" },
    "steward:registry: must be a registry's host without scheme and path, such as registry.cloudflare.com",
  ],
  [
    "a recovery that is none",
    { "steward:configRecovery": "yes" },
    "steward:configRecovery: must be manual or auto",
  ],
  [
    "more events than are replayed",
    { "steward:replayEvents": "501" },
    "steward:replayEvents: must be a whole number from 0 to 500",
  ],
  ["a tenancy that is none", { "steward:tenancy": "person" }, "steward:tenancy: must be shared or chat"],
  [
    "more sandboxes where all chats share one",
    { "steward:maxSandboxes": "3" },
    "steward:maxSandboxes: has no effect: all chats share one sandbox unless steward:tenancy is chat",
  ],
  [
    "a canary where all chats share a sandbox",
    { "steward:tenancy": "shared", "steward:canaryTenants": '["slack-C0123456789"]' },
    "steward:canaryTenants: has no effect: all chats share one sandbox unless steward:tenancy is chat",
  ],
  [
    "a budget for each chat where all chats share a sandbox",
    { "steward:monthlyChatBudget": "2" },
    "steward:monthlyChatBudget: has no effect: all chats share one sandbox unless steward:tenancy is chat",
  ],
  [
    "no sandbox at all",
    { "steward:tenancy": "chat", "steward:maxSandboxes": "0" },
    "steward:maxSandboxes: must be a whole number from 1 to 500",
  ],
  [
    "a canary that is no tenant",
    { "steward:tenancy": "chat", "steward:canaryTenants": '["C0123456789"]' },
    "steward:canaryTenants: 0: must be a tenant's id such as slack-C0123456789",
  ],
  [
    "canaries that are no list",
    { "steward:tenancy": "chat", "steward:canaryTenants": "slack-C0123456789" },
    "steward:canaryTenants: must be a list of tenants' ids",
  ],
  [
    "a sandbox for each chat without the class that knows them",
    { "steward:tenancy": "chat", "steward:migrations": '[{"tag":"v1","newSqliteClasses":["Sandbox"]}]' },
    'steward:migrations: no entry creates the class Directory, which steward:tenancy chat needs: add {"tag":"v2","newSqliteClasses":["Directory"]}',
  ],
  [
    "polling for a sandbox of each chat",
    {
      "steward:tenancy": "chat",
      "steward:telegramBotToken": "1:a",
      "steward:telegramUpdates": "polling",
    },
    "steward:telegramUpdates: polling needs a process that never sleeps, which a serverless stack does not have",
  ],
  [
    "a key for the image that is built",
    { "steward:image": "build", "steward:imagePublicKey": PUBLIC_KEY },
    "steward:imagePublicKey: given without an image's name in steward:image",
  ],
  [
    "a key of an image that is none",
    { "steward:image": "registry.acme.dev/steward:1", "steward:imagePublicKey": "no key" },
    "steward:imagePublicKey: must be a public key as PEM, as in cosign.pub",
  ],
  [
    "a flag that is none",
    { "steward:publicWebhooks": "yes" },
    "steward:publicWebhooks: must be true or false",
  ],
  [
    "a team domain that is the Worker's own",
    {
      "steward:teamDomain": "steward.acme.workers.dev",
      "steward:operators": '["op@acme.dev"]',
    },
    "steward:teamDomain: is the Worker's own host; it must be the identity gateway's",
  ],
  [
    "a team domain with a scheme",
    { "steward:teamDomain": "https://x.cloudflareaccess.com", "steward:operators": '["op@acme.dev"]' },
    "steward:teamDomain: must be a host name such as example.cloudflareaccess.com, or a loopback origin",
  ],
  [
    "operators without a team domain",
    { "steward:operators": '["op@acme.dev"]' },
    "steward:teamDomain: missing: The identity gateway is only partly configured, with steward:operators",
  ],
  [
    "an operator that is no address",
    { "steward:teamDomain": "x.cloudflareaccess.com", "steward:operators": '["op"]' },
    "steward:operators: 0: every operator must be an e-mail address",
  ],
  [
    "a channel configured by half",
    { "steward:slackBotToken": "xoxb-1" },
    "steward:slackSigningSecret: missing: Slack is only partly configured, with steward:slackBotToken",
  ],
  [
    "a variable of steward's own among the operator's",
    { "steward:variables": '{"LOG_LEVEL":"debug"}' },
    "steward:variables: LOG_LEVEL: is one of steward's own variables: use its own configuration key",
  ],
  [
    "a variable that Node reads",
    { "steward:secrets": '{"NODE_OPTIONS":"--inspect"}' },
    "steward:secrets: NODE_OPTIONS: is reserved, or read by the system",
  ],
  [
    "a variable in small letters",
    { "steward:secrets": '{"mistral_key":"key-0123456789"}' },
    "steward:secrets: mistral_key: must be 1 to 64 capital letters, digits and _, and begin with a letter",
  ],
  [
    "a variable that is no text",
    { "steward:variables": '{"LIMIT":5}' },
    "steward:variables: LIMIT: Invalid input: expected string, received number",
  ],
  [
    "variables that are no object",
    { "steward:variables": "LIMIT=5" },
    'steward:variables: must be an object of texts such as {"MISTRAL_API_KEY": "…"}',
  ],
  [
    "alerts that go nowhere",
    { "steward:alerts": '{"after":"5m"}' },
    'steward:alerts: must have webhook, slack or email; must be an object such as {"slack": "https://hooks.slack.com/services/…", "after": "5m"}',
  ],
  [
    "a webhook whose messages nobody could tell from forged ones",
    { "steward:alerts": '{"webhook":"https://alerts.acme.dev"}' },
    "steward:alerts: signingKey: belongs to webhook: give both or neither",
  ],
  [
    "a name that is secret and is not",
    { "steward:secrets": '{"REGION_KEY":"key-0123456789"}', "steward:variables": '{"REGION_KEY":"eu"}' },
    "steward:variables: REGION_KEY is in steward:secrets too",
  ],
  [
    "no address",
    { "steward:subdomain": undefined },
    "steward:subdomain: missing: the Worker needs an address",
  ],
  [
    "two addresses",
    { "steward:hostname": "steward.acme.dev" },
    "steward:subdomain: given in addition to steward:hostname: the Worker has one address",
  ],
  [
    "a skipped migration",
    { "steward:migrations": '[{"tag":"v2","newSqliteClasses":["Sandbox"]}]' },
    'steward:migrations: entry 1 has the tag "v2", expected "v1"',
  ],
  [
    "a migration without the class",
    { "steward:migrations": '[{"tag":"v1","newSqliteClasses":["Other"]}]' },
    "steward:migrations: no entry creates the class Sandbox",
  ],
  [
    "an address for rehearsals that is public",
    { "steward:origin": "https://example.com" },
    "steward:origin: must be a loopback origin such as http://127.0.0.1:8787",
  ],
  [
    "a missing API token",
    { "cloudflare:apiToken": undefined },
    "cloudflare:apiToken: missing, and CLOUDFLARE_API_TOKEN is not set",
  ],
];
