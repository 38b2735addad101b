import { table } from "../shared/table.ts";
import { EVERYWHERE, operation } from "./operation.ts";

const FINDINGS = "SELECT * FROM contract_findings ORDER BY last_at DESC, area, what LIMIT 200";

export const contract = operation({
  name: "contract",
  summary: "data from platforms, tools and models that was not understood; --json for a bug report",
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
        /** JSON with an example's fields and types, without its text; `null` if no example was stored. */
        sample: row["sample"] === null ? null : String(row["sample"]),
      })),
    };
  },
  text({ findings }) {
    if (findings.length === 0) return "All received data was understood.";
    const cells = findings.map(({ area, what, count, lastAt }) => [area, what, String(count), lastAt]);
    return [
      table(["Area", "Not understood", "Count", "Last"], cells),
      "For a bug report, --json adds the shape of a sample: fields and types without text.",
    ].join("\n");
  },
});
