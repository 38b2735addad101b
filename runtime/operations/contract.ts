import { table } from "../shared/table.ts";
import { EVERYWHERE, operation } from "./operation.ts";

const FINDINGS = "SELECT * FROM contract_findings ORDER BY last_at DESC, area, what LIMIT 200";

/** `steward contract`. */
export const contract = operation({
  name: "contract",
  summary: "what platforms, tools and models sent and was not understood; with --json for a bug report",
  rights: EVERYWHERE,
  async run(tools) {
    const rows = await tools.rows("contract_findings", FINDINGS);
    return {
      findings: rows.map((row) => ({
        area: String(row["area"]),
        what: String(row["what"]),
        count: Number(row["count"]),
        firstAt: new Date(Number(row["first_at"])).toISOString(),
        lastAt: new Date(Number(row["last_at"])).toISOString(),
        /** Form of one as JSON, fields and types without text; `null` where there is none. */
        sample: row["sample"] === null ? null : String(row["sample"]),
      })),
    };
  },
  text({ findings }) {
    if (findings.length === 0) return "Everything that came was understood.";
    const cells = findings.map(({ area, what, count, lastAt }) => [area, what, String(count), lastAt]);
    return [
      table(["Area", "Not understood", "Count", "Last"], cells),
      "With --json each has the form of a sample: fields and types without text, for a bug report.",
    ].join("\n");
  },
});
