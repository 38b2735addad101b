import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { configuredProxy, proxyClients } from "../../../runtime/host/proxy.ts";
import { isProxyAddress } from "../../../runtime/process/addresses.ts";

const ask = (proxy: string, addresses: string[] = []) =>
  proxyClients({
    clock: () => 0,
    resolve: async () => addresses.map((address) => ({ address })),
  })(proxy)("https://api.telegram.org/", { method: "GET" });

test.each([
  "http://169.254.169.254/",
  "http://169.254.169.254:3128",
  "http://2852039166/",
  "http://0xa9fea9fe:80/",
  "http://0251.0376.0251.0376/",
  "http://169.254.43518/",
  "http://[::ffff:169.254.169.254]/",
  "http://[::ffff:a9fe:a9fe]:3128/",
  "http://[fe80::1]/",
  "http://[fd00:ec2::254]/",
  "http://168.63.129.16/",
  "http://100.100.100.200/",
  "http://0.0.0.0/",
  "http://0/",
  "http://[::]/",
  "http://255.255.255.255/",
  "http://224.0.0.1/",
  "https://169.254.169.254/",
])("no proxy is at %s", async (proxy) => {
  await expect(ask(proxy)).rejects.toMatchObject({ code: "broker_proxy_refused" });
});

test.each([[["169.254.169.254"]], [["10.0.0.1", "fe80::1"]], [[]]])(
  "a name with the addresses %j is no proxy's",
  async (addresses) => {
    await expect(ask("http://proxy.example:3128", addresses)).rejects.toMatchObject({
      code: "broker_proxy_refused",
    });
  },
);

test.each([
  "203.0.114.7",
  "127.0.0.1",
  "10.1.2.3",
  "192.168.0.1",
  "100.64.0.1",
  "::1",
  "fd12::1",
  "2606:4700::1",
])("an operator's proxy may be at %s", (address) => {
  expect(isProxyAddress(address)).toBe(true);
});

test("the proxy is the config file's; while that is not valid, the last one", () => {
  const home = mkdtempSync(path.join(tmpdir(), "steward-proxy-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const file = path.join(home, "steward.json");
  const read = configuredProxy(file, { TELEGRAM_BOT_TOKEN: "1:a" });
  const write = (keys: object): void => {
    const telegram = { botToken: { env: "TELEGRAM_BOT_TOKEN" }, ...keys };
    writeFileSync(file, JSON.stringify({ channels: { telegram } }));
  };
  expect(read()).toBeUndefined();
  write({ proxy: "http://proxy.example:3128" });
  expect(read()).toBe("http://proxy.example:3128");
  write({ proxy: "http://proxy.example:3128", unknown: 1 });
  expect(read()).toBe("http://proxy.example:3128");
  write({});
  expect(read()).toBeUndefined();
});
