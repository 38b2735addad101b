/** The import table of the project: for each folder, what its files may import beside themselves. */
const TABLE = [
  { from: "runtime/contract", may: [], packages: ["zod"], node: false },
  // Of the gateway they know the types: see the rule below.
  {
    from: "runtime/operations",
    may: ["runtime/contract", "runtime/shared", "runtime/gateway"],
    packages: ["zod"],
    node: false,
  },
  // Scripts of the pages. Browsers load them, and no Worker.
  {
    from: "runtime/edge/client",
    may: ["runtime/edge", "runtime/contract", "runtime/shared"],
    packages: ["@codemirror/[\\w-]+", "@lezer/highlight", "highlight.js", "lucide", "uplot"],
    node: false,
  },
  {
    from: "runtime/edge",
    except: "runtime/edge/client",
    may: ["runtime/operations", "runtime/contract", "runtime/shared"],
    packages: ["diff", "hono", "jose", "lucide", "uplot", "zod"],
    node: false,
  },
  // Small Node helpers that the container's processes share.
  { from: "runtime/process", may: ["runtime/contract", "runtime/shared"], packages: "any", node: true },
  {
    from: "runtime/gateway",
    may: ["runtime/operations", "runtime/backups", "runtime/process", "runtime/contract", "runtime/shared"],
    packages: "any",
    node: true,
  },
  {
    from: "runtime/supervisor",
    may: ["runtime/operations", "runtime/backups", "runtime/process", "runtime/contract", "runtime/shared"],
    packages: "any",
    node: true,
  },
  // A Worker runs the service and the bucket. What reads and writes a disk is beside them: see the rule below.
  {
    from: "runtime/backups",
    except: "runtime/backups/(archive|stores/disk)",
    may: ["runtime/contract", "runtime/shared", "runtime/edge"],
    packages: ["zod", "@cloudflare/workers-types"],
    node: false,
  },
  {
    from: "runtime/backups/(archive|stores/disk)",
    may: ["runtime/backups", "runtime/process", "runtime/contract", "runtime/shared"],
    packages: "any",
    node: true,
  },
  {
    from: "runtime/worker",
    may: ["runtime/edge", "runtime/backups", "runtime/contract", "runtime/shared"],
    packages: ["zod", "@cloudflare/workers-types"],
    node: false,
  },
  {
    from: "runtime/host",
    may: [
      "runtime/edge",
      "runtime/backups",
      "runtime/supervisor",
      "runtime/process",
      "runtime/contract",
      "runtime/shared",
    ],
    packages: "any",
    node: true,
  },
  {
    from: "infra",
    may: ["runtime/contract", "runtime/shared"],
    packages: [
      "@grpc/grpc-js",
      "@pulumi/\\w+",
      "@sigstore/\\w+",
      "commander",
      "esbuild",
      "google-protobuf",
      "tar-stream",
      "zod",
    ],
    // The pinned Node's version is part of an image's name.
    files: ["package.json"],
    node: true,
  },
  {
    from: "stacks",
    may: ["infra", "runtime/contract", "runtime/shared"],
    packages: "any",
    // The first makes the policy pack, which the engine loads: no rule is imported.
    files: ["policies/build.ts", "runtime/process/ended.ts"],
    node: true,
  },
  // Commands of the checkout, releases among them: nothing that ships imports one.
  {
    from: "scripts",
    may: ["runtime", "infra", "policies"],
    packages: "any",
    files: ["package.json"],
    node: true,
  },
  {
    from: "rehearsal",
    may: ["runtime", "infra", "stacks", "policies"],
    packages: "any",
    node: true,
  },
  {
    from: "policies",
    may: ["runtime/contract", "runtime/shared"],
    packages: ["@pulumi/\\w+", "esbuild"],
    files: ["infra/shell/cache.ts"],
    node: true,
  },
];

const CLOUD_MODULES = "^cloudflare:";
const packagePattern = (name) => `^node_modules/${name}/`;

const rules = TABLE.map(({ from, except, may, packages, files = [], node }) => ({
  name: `${from} imports only what the table allows`,
  severity: "error",
  from: { path: `^${from}[/.]`, ...(except && { pathNot: `^${except}` }) },
  to: {
    pathNot: [
      `^${from}[/.]`,
      ...may.map((folder) => `^${folder}/`),
      ...files.map((file) => `^${file}$`),
      ...(packages === "any" ? ["^node_modules/"] : packages.map(packagePattern)),
      ...(from === "runtime/worker" ? [CLOUD_MODULES] : []),
    ],
    ...(node && { dependencyTypesNot: ["core"] }),
  },
}));

export default {
  forbidden: [
    ...rules,
    {
      name: "nothing that ships imports what rehearses",
      severity: "error",
      from: { path: "^(runtime|infra|stacks|policies)/" },
      to: { path: "^rehearsal/" },
    },
    {
      name: "nothing imports test",
      severity: "error",
      from: { pathNot: "^test/" },
      to: { path: "^test/" },
    },
    {
      name: "the runtime takes the small zod",
      comment:
        "Every start loads it; the classic one alone is 14 of the 20 ms of CPU that a Worker's may take.",
      severity: "error",
      from: { path: "^runtime/" },
      to: { path: "^node_modules/zod/", pathNot: "^node_modules/zod/(v4/)?(mini|locales)/" },
    },
    {
      name: "only who reads the operator's own files vouches for a text",
      comment: "A text that is vouched for makes headings and sections in the system prompt.",
      severity: "error",
      from: { pathNot: "^(test/|runtime/gateway/agent/instructions\\.ts$)" },
      to: { path: "^runtime/gateway/prompt/operator\\.ts$" },
    },
    {
      name: "only the completions API passes a conversation on as it is",
      severity: "error",
      from: { pathNot: "^(test/|runtime/gateway/http/completions\\.ts$)" },
      to: { path: "^runtime/gateway/prompt/caller\\.ts$" },
    },
    {
      name: "operations know the gateway by types alone",
      comment: "The edge loads them, in a Worker too. What they do is in the tools that they get.",
      severity: "error",
      from: { path: "^runtime/operations/" },
      to: { path: "^runtime/gateway/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "a Worker's backups import nothing that reads or writes a disk",
      severity: "error",
      from: {
        path: "^runtime/(worker|backups)/",
        pathNot: "^runtime/backups/(archive|stores/disk)",
      },
      to: { path: "^runtime/backups/(archive|stores/disk)" },
    },
    {
      name: "backups know the edge by types alone",
      comment: "They implement its ports.",
      severity: "error",
      from: { path: "^runtime/backups/" },
      to: { path: "^runtime/edge/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "of the gateway only the command line imports operations",
      severity: "error",
      from: { path: "^runtime/gateway/", pathNot: "^runtime/gateway/cli/" },
      to: { path: "^runtime/operations/" },
    },
    { name: "no cycles", severity: "error", from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "node", "default"],
    },
  },
};
