// Pulumi's language host for Node, as far as the rehearsal needs it: it runs programs, policy packs and other plugins, and
// installs their packages (https://github.com/pulumi/pulumi/blob/v3.274.1/proto/pulumi/language.proto). The Go module
// proxy serves none that is new enough for the engine to run a policy pack.
require("./end-with-engine.cjs");
const { spawn } = require("node:child_process");
const { createRequire } = require("node:module");
const path = require("node:path");

const own = createRequire(`${process.env.STEWARD_NODE_MODULES}/x`);
const grpc = own("@grpc/grpc-js");
const { LanguageRuntimeService } = own("@pulumi/pulumi/proto/language_grpc_pb.js");
const messages = own("@pulumi/pulumi/proto/language_pb.js");
const { PluginInfo } = own("@pulumi/pulumi/proto/plugin_pb.js");

/** The program's exit code for an error that it has printed itself (@pulumi/pulumi/cmd/run). */
const PRINTED = 32;
const NODE = ["--min-semi-space-size=16", "--require", path.join(__dirname, "load-later.cjs")];
const NOT_INSTALLED = "It looks like the Pulumi SDK has not been installed. Have you run npm install?";
/** The engine's address comes last. */
const engine = process.argv.at(-1);

const running = new Set();
process.once("SIGINT", () => process.exit());
process.once("SIGTERM", () => process.exit());
process.once("exit", () => {
  for (const child of running) child.kill();
});

/** Starts a process that ends with this one, and with the call that asked for it. */
function start(call, command, words, options) {
  const child = spawn(command, words, options);
  running.add(child);
  child.once("error", (error) => process.stderr.write(`${error.message}\n`));
  child.once("close", () => running.delete(child));
  call.once("cancelled", () => child.kill());
  return child;
}

/** Returns the module of the SDK that runs a program, as a folder's programs find it; `undefined` without the SDK. */
function sdkModule(folder, name) {
  try {
    return createRequire(`${folder}/x`).resolve(`@pulumi/pulumi/cmd/${name}`);
  } catch {
    return undefined;
  }
}

/** Runs a program, whose output is this process's. */
function run(call, callback) {
  const { request } = call;
  const info = request.getInfo();
  const environment = {
    ...process.env,
    PULUMI_CONFIG: JSON.stringify(Object.fromEntries(request.getConfigMap().entries())),
    PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
    PULUMI_NODEJS_TYPESCRIPT: `${info.getOptions()?.toJavaScript()["typescript"] !== false}`,
  };
  const options = {
    monitor: request.getMonitorAddress(),
    engine,
    organization: request.getOrganization(),
    project: request.getProject(),
    "root-directory": info.getRootDirectory(),
    stack: request.getStack(),
    pwd: request.getPwd(),
    parallel: request.getParallel(),
  };
  const words = Object.entries(options).flatMap(([name, value]) => (value ? [`--${name}`, `${value}`] : []));
  if (request.getDryrun()) words.push("--dry-run");
  const runner = sdkModule(request.getPwd(), "run");
  if (runner === undefined) {
    callback(null, new messages.RunResponse().setError(NOT_INSTALLED));
    return;
  }
  // As the official host does it, PATH decides which Node that is.
  const program = [runner, ...words, info.getEntryPoint(), ...request.getArgsList()];
  const child = start(call, "node", [...NODE, ...program], {
    env: environment,
    stdio: ["ignore", "inherit", "inherit"],
  });
  child.once("close", (code, signal) => {
    const response = new messages.RunResponse();
    if (code === PRINTED) response.setBail(true);
    else if (code !== 0) response.setError(`Program exited with non-zero exit code: ${code ?? signal}`);
    callback(null, response);
  });
}

/** Sends what a process prints to the call that asked for it. */
function relay(call, child, Response) {
  child.stdout.on("data", (chunk) => call.write(new Response().setStdout(chunk)));
  child.stderr.on("data", (chunk) => call.write(new Response().setStderr(chunk)));
}

/** Runs a policy pack, or a plugin of another kind, until the engine cancels the call. */
function runPlugin(call) {
  const { request } = call;
  const folder = request.getInfo().getProgramDirectory();
  const isPack = request.getKind() === "analyzer";
  const runner = isPack ? path.join(__dirname, "run-policies.cjs") : sdkModule(folder, "run-plugin");
  if (runner === undefined) {
    call.emit("error", { code: grpc.status.FAILED_PRECONDITION, details: NOT_INSTALLED });
    return;
  }
  const args = request.getArgsList();
  const words = isPack ? [...args, folder] : [folder, ...args];
  const child = start(call, process.execPath, [...NODE, runner, ...words], {
    cwd: isPack ? folder : request.getPwd(),
    env: Object.fromEntries(request.getEnvList().map((entry) => entry.split(/=(.*)/s))),
  });
  relay(call, child, messages.RunPluginResponse);
  child.once("close", (code) => {
    call.write(new messages.RunPluginResponse().setExitcode(code ?? 1));
    call.end();
  });
}

function installDependencies(call) {
  const child = start(call, "npm", ["install", "--no-audit", "--no-fund"], {
    cwd: call.request.getInfo().getProgramDirectory(),
  });
  relay(call, child, messages.InstallDependenciesResponse);
  child.once("close", (code) => {
    if (code === 0) call.end();
    else
      call.emit("error", { code: grpc.status.UNKNOWN, details: `npm install failed with exit code ${code}` });
  });
}

const server = new grpc.Server();
server.addService(LanguageRuntimeService, {
  run,
  runPlugin,
  installDependencies,
  getPluginInfo: (_, callback) => callback(null, new PluginInfo()),
  // What a program registers names its plugin's version.
  getRequiredPackages: (_, callback) => callback(null, new messages.GetRequiredPackagesResponse()),
});
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  process.stdout.write(`${port}\n`);
});
