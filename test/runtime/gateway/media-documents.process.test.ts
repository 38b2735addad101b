import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { MediaProcess } from "../../../runtime/gateway/media/media-process.ts";
import { Media } from "../../../runtime/gateway/media/media.ts";
import { pdf } from "../support/files.ts";

const apart = new MediaProcess();

/** Reads a file as the gateway does. */
function read(data: Uint8Array, { takesPdf = false } = {}) {
  const media = new Media({ apart, memoryBytes: 1_000_000_000, takesPdf });
  return media.read(data, { kind: "file" }, new AbortController().signal);
}

/** An archive of these files. */
function archive(files: Readonly<Record<string, string>>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])));
}

describe("a PDF", () => {
  const data = pdf(["Invoice 4711", "Total 12 EUR"]);

  test("goes to models that take it is, with its text for where there is no room", async () => {
    expect(await read(data, { takesPdf: true })).toEqual({
      image: { mediaType: "application/pdf", data, pages: 2 },
      text: "Invoice 4711\n\nTotal 12 EUR",
      facts: ["2 pages"],
    });
  });

  test("is its text for other models", async () => {
    expect(await read(data)).toEqual({ text: "Invoice 4711\n\nTotal 12 EUR", facts: ["2 pages"] });
  });

  test("of more pages than a model takes is its text", async () => {
    const long = await read(pdf(Array.from({ length: 101 }, (_, page) => `p${page}`)), { takesPdf: true });
    expect(long).toEqual({ text: expect.stringMatching(/^p0\n\np1\n[^]*p100$/), facts: ["101 pages"] });
  });

  test("that is cut off is what is left of its text, and says so", async () => {
    const cut = data.subarray(0, data.byteLength - 8);
    expect(await read(cut, { takesPdf: true })).toEqual({
      text: "Invoice 4711\n\nTotal 12 EUR",
      facts: ["2 pages", "its end is missing"],
    });
  });

  test("that cannot be repaired, has no text or needs a password is one remark", async () => {
    expect(await read(data.subarray(0, data.byteLength / 2))).toEqual({ facts: ["cannot be read"] });
    expect(await read(pdf(["secret"], { locked: true }))).toEqual({ facts: ["protected by a password"] });
    expect(await read(Buffer.from("%PDF-1.7\nnothing"))).toEqual({ facts: ["cannot be read"] });
    expect(await read(pdf([""]))).toEqual({ facts: ["1 page", "without text that could be read"] });
  });
});

describe("an office file is its text", () => {
  test("docx: paragraphs, tabs, tables, entities, without what was deleted", async () => {
    const document = `<?xml version="1.0"?><w:document><w:body>
      <w:p><w:r><w:t>Dear Ada,</w:t><w:tab/><w:t xml:space="preserve"> 5 &lt; 6 &amp; 7 &#x2713;</w:t></w:r></w:p>
      <w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>
      <w:tbl><w:tr><w:tc><w:p><w:t>a</w:t></w:p></w:tc><w:tc><w:p><w:t>b</w:t></w:p></w:tc></w:tr></w:tbl>
    </w:body></w:document>`;
    expect(await read(archive({ "word/document.xml": document, "word/media/x.png": "x" }))).toEqual({
      text: "Dear Ada,\t 5 < 6 & 7 ✓\n\na\tb",
      facts: [],
    });
  });

  test("xlsx: sheets by name, shared and inline strings, columns in their places", async () => {
    const parts = {
      "xl/workbook.xml": `<workbook><sheets><sheet name="Q&amp;A" r:id="rId2"/></sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId2" Target="worksheets/sheet9.xml"/></Relationships>`,
      "xl/sharedStrings.xml": `<sst><si><t>Name</t></si><si><r><t>Ri</t></r><r><t>ch</t></r></si></sst>`,
      "xl/worksheets/sheet9.xml": `<worksheet><sheetData>
        <row><c r="A1" t="s"><v>0</v></c><c r="D1" t="s"><v>1</v></c></row>
        <row><c r="A2"/><c r="B2" t="inlineStr"><is><t>in</t></is></c><c r="C2"><f>1+1</f><v>2</v></c></row>
      </sheetData></worksheet>`,
    };
    expect(await read(archive(parts))).toEqual({ text: "Sheet Q&A\nName\t\t\tRich\n\tin\t2", facts: [] });
  });

  test("pptx: slides in their order, each with its notes", async () => {
    const slide = (text: string): string => `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`;
    const parts = {
      "ppt/slides/slide10.xml": slide("ten"),
      "ppt/notesSlides/notesSlide2.xml": slide("say this"),
      "ppt/slides/slide2.xml": slide("two"),
    };
    expect((await read(archive(parts))).text).toBe("Slide 2\ntwo\nNotes 2\nsay this\nSlide 10\nten");
  });

  test("odt: headings and paragraphs", async () => {
    const content = `<office:text><text:h>Title</text:h><text:p>One <text:span>two</text:span><text:s/>three</text:p></office:text>`;
    expect((await read(archive({ "content.xml": content }))).text).toBe("Title\nOne two three");
  });
});

describe("is one remark", () => {
  test("an archive, whatever it is called", async () => {
    expect(await read(archive({ "a.txt": "x" }))).toEqual({ facts: ["an archive", "not read"] });
  });

  test("a zip bomb, by what it says and by what it is", async () => {
    const bomb = archive({ "word/document.xml": "<w:t>".padEnd(70_000_000, "a") });
    expect(bomb.byteLength).toBeLessThan(100_000);
    expect(await read(bomb)).toEqual({ facts: ["cannot be read"] });

    const lying = Buffer.from(bomb);
    lying.writeUInt32LE(20, lying.indexOf("PK\x03\x04", 0, "latin1") + 22);
    lying.writeUInt32LE(20, lying.indexOf("PK\x01\x02", 0, "latin1") + 24);
    expect(await read(lying)).toMatchObject({ text: "aaaaaaaaaaaaaaa" });
  });

  test("an archive that is cut off", async () => {
    const whole = archive({ "word/document.xml": "<w:t>hello</w:t>" });
    expect(await read(whole.subarray(0, whole.byteLength - 30))).toEqual({ facts: ["cannot be read"] });
  });
});

test("a workbook of a hundred thousand rows is read in time", async () => {
  const row = '<row><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row>';
  const { text } = await read(
    archive({
      "xl/workbook.xml": '<sheet name="S" r:id="1"/>',
      "xl/_rels/workbook.xml.rels": '<Relationship Id="1" Target="worksheets/s.xml"/>',
      "xl/worksheets/s.xml": row.repeat(100_000),
    }),
  );
  expect(text?.length).toBe(7 + 100_000 * 4);
});
