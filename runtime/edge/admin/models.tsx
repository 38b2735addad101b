import type * as z from "zod/mini";
import type { ModelHealth, ModelPrice } from "../../contract/control.ts";
import type { Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { PRICES_SOURCE } from "../../shared/prices.ts";
import { readFields } from "../form.ts";
import { models } from "../../operations/models.ts";
import { attempt, operate } from "../operate.ts";
import { adminPage, statusOf } from "../ui/console.tsx";
import { TimeAfter } from "../ui/time.tsx";
import { AlertBox, ContainerAnswer, ReasonBox } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import { ActionButton } from "../ui/form.tsx";
import { askOrRecall } from "./answers.ts";
import { recordChange } from "./change.ts";
import type { AdminOptions, PageContext } from "./options.ts";
import { Table } from "../ui/table.tsx";

const LIMIT_MS = 12_000;
const MODEL = /^[a-z][a-z0-9-]{0,31}\/[\w.:/-]{1,128}$/;

const STATES: Record<ModelHealth["state"], [tone: string, words: string]> = {
  ready: ["ok", "Ready"],
  unknown: ["wait", "Not checked yet"],
  cooling: ["wait", "Paused after a failure"],
  failing: ["bad", "Failing"],
};

interface ListedModel {
  id: string;
  price?: ModelPrice | undefined;
}

/** `POST /_admin/models/test`, field `model`: sends a short question and shows the result. */
export async function testModel(context: PageContext, options: AdminOptions): Promise<Response> {
  const { model } = await readFields(context.req.raw, { model: MODEL });
  await recordChange(context, options, { action: "model", detail: model });
  const asked = await attempt(LIMIT_MS, operate(options.sandbox, models.test, { model }));
  return showModels(context, options, { model, ...asked });
}

interface Tested {
  model: string;
  value?: z.infer<ReturnType<typeof models.test.output>>;
  problem?: Reason;
}

/** `GET /_admin/models`: models in order of use, with states and prices. Does not wake the container. */
export async function showModels(
  context: PageContext,
  { sandbox, answers }: AdminOptions,
  tested?: Tested,
): Promise<Response> {
  const visitor = await context.get("visitor")();
  const { details } = visitor.facts;
  const ask = () => operate(sandbox, models.list, {});
  const listed = await askOrRecall(answers, visitor, "models", ask, { limitMs: LIMIT_MS });
  const rows = listed.value?.models ?? details?.models;
  const asOf = listed.asOf ?? (listed.value === undefined ? visitor.asOf : undefined);
  const content = (
    <ContainerAnswer
      visitor={visitor}
      answer={{ ...listed, value: rows }}
      unknown="The models are available once the container has run."
      show={(known) => modelsTable(known, details?.models ?? [])}
    >
      {testPart(tested)}
    </ContainerAnswer>
  );
  const frame = { title: "Models", asOf, waits: tested === undefined };
  return adminPage(context, frame, content, statusOf(tested?.problem));
}

function testPart(tested: Tested | undefined): Markup | "" {
  if (tested === undefined) return "";
  const { model, value, problem } = tested;
  if (value === undefined) return <AlertBox reason={problem} />;
  const { ms, tokens } = value;
  return (
    <aside class="done" role="status">
      <p>
        <code>{model}</code> answered after {ms} ms: {tokens.input} tokens in, {tokens.output} out.
      </p>
    </aside>
  );
}

function modelsTable(rows: readonly ListedModel[], states: readonly ModelHealth[]): Markup {
  return (
    <>
      <p>
        The first model answers. Each fallback is used while all models before it fail.{" "}
        <a href={ROUTES.configEdit.path}>Change them in the config</a>.
      </p>
      <Table
        label="Models"
        rows={rows}
        columns={[
          { head: "Order", cell: (row) => (row === rows[0] ? "First" : `Fallback ${rows.indexOf(row)}`) },
          { head: "Model", kind: "name", cell: ({ id }) => <code>{id}</code> },
          {
            head: "State",
            cell: ({ id }) => modelState(states.find((one) => one.id === id) ?? { state: "unknown" }),
          },
          {
            head: "Dollars per million tokens",
            kind: "number",
            cell: ({ price }) =>
              price === undefined ? (
                <span class="soft">unknown</span>
              ) : (
                `${price.input} in, ${price.output} out`
              ),
          },
          {
            head: "Action",
            kind: "action",
            cell: ({ id }) => (
              <ActionButton action={ROUTES.modelsTest.path} value={["model", id]} label={`Test ${id}`}>
                Test
              </ActionButton>
            ),
          },
        ]}
      />
      <p class="soft">
        Prices are those that <a href={PRICES_SOURCE.url}>Anthropic published</a> ({PRICES_SOURCE.month}), or{" "}
        <code>models.prices</code> of the config. A test asks a short question, which the provider charges
        for.
      </p>
    </>
  );
}

export function modelCards(models: readonly ModelHealth[]): Markup {
  return (
    <ul class="cards">
      {models.map((one) => (
        <li>
          <h3>{one.id}</h3>
          {modelState(one)}
        </li>
      ))}
    </ul>
  );
}

function modelState({ state, reason, until }: Omit<ModelHealth, "id">): Markup {
  const [tone, words] = STATES[state];

  return (
    <>
      <span class={`state ${tone}`}>
        {words}
        <TimeAfter words=", until" at={until} />
      </span>{" "}
      <ReasonBox reason={reason} />
    </>
  );
}
