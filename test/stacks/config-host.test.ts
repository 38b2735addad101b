import { describe, expect, test } from "vitest";
import { loadConfig } from "../../stacks/config.ts";
import { HOST, problems, source } from "../support/stack-config.ts";

describe("a host stack's configuration", () => {
  test("needs the model's key alone", () => {
    expect(loadConfig(source(HOST))).toMatchObject({
      target: "host",
      hostPort: 8080,
      hostAddress: "0.0.0.0",
      memoryMiB: 512,
    });
  });

  test.each<[string, Record<string, string>, string]>([
    ["port 0", { "steward:hostPort": "0" }, "steward:hostPort: must be a whole number from 1 to 65535"],
    [
      "too little memory",
      { "steward:memoryMiB": "64" },
      "steward:memoryMiB: must be a whole number from 128 to 1048576",
    ],
    [
      "an engine by TCP",
      { "steward:docker": "tcp://host:2375" },
      "steward:docker: must be a unix:// or ssh:// address",
    ],
    [
      "a remote engine without an image",
      { "steward:docker": "ssh://steward@host.example.com" },
      "steward:image: missing: an engine that is reached by ssh:// runs a built image",
    ],
  ])("refuses %s", (_what, change, problem) => {
    expect(problems({ ...HOST, ...change })).toEqual([problem]);
  });

  test("polls Telegram with the bot's token alone", () => {
    expect(problems({ ...HOST, "steward:telegramBotToken": "1:a" })).toEqual([]);
  });
});
