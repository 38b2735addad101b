import { expect, test } from "vitest";
import { keepSecret, makeSecret, reveal } from "../../../infra/provider/secrets.ts";

test("values are revealed wherever they are wrapped", () => {
  const inputs = {
    plain: 1,
    key: makeSecret("k"),
    list: [makeSecret("a"), "b"],
    group: { token: makeSecret("t") },
  };
  expect(reveal(inputs)).toEqual({ plain: 1, key: "k", list: ["a", "b"], group: { token: "t" } });
});

test("what comes back of a secret input is a secret, at the same place and nowhere else", () => {
  const inputs = {
    key: makeSecret("old"),
    list: ["a", makeSecret("b")],
    group: { token: makeSecret("t"), name: "n" },
    gone: makeSecret("g"),
  };
  const outputs = { key: "new", list: ["a", "c", "d"], group: { token: "t2", name: "n" }, id: "7" };
  expect(keepSecret(outputs, inputs)).toEqual({
    key: makeSecret("new"),
    list: ["a", makeSecret("c"), "d"],
    group: { token: makeSecret("t2"), name: "n" },
    id: "7",
  });
});

test("a group that is a secret as a whole stays one as a whole", () => {
  expect(keepSecret({ group: { token: "t" } }, { group: makeSecret({ token: "t" }) })).toEqual({
    group: makeSecret({ token: "t" }),
  });
});
