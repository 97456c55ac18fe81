/** What the tests of documentation read in a page. */
export interface MarkdownPage {
  /** Targets of links and pictures, outside of code. */
  readonly links: readonly string[];
  /** Anchors of headings, as GitHub makes them. */
  readonly anchors: ReadonlySet<string>;
  /** Code blocks below `<!-- run in a checkout -->`. */
  readonly commands: readonly string[];
}

const mark = '<!-- run in a checkout -->';

export function readPage(text: string): MarkdownPage {
  const prose = text.replaceAll(/^( *)```[^]*?^\1```$/gm, '').replaceAll(/(?<=\n\n)(?: {4}.*\n+)+/g, '');
  const withoutCode = prose.replaceAll(/`[^`\n]*`/g, '');
  const headings = [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => slugOf(heading));
  return {
    links: [...withoutCode.matchAll(/\]\(<?([^)\s>]+)>?\)/g)].map(([, link = '']) => link),
    anchors: new Set(headings.map((slug, index) => number(slug, headings.slice(0, index)))),
    commands: text.split(`${mark}\n`).slice(1).map(firstBlock),
  };
}

function slugOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** The second of two equal headings gets `-1`. */
function number(slug: string, before: readonly string[]): string {
  const earlier = before.filter((other) => other === slug).length;
  return earlier === 0 ? slug : `${slug}-${earlier}`;
}

/** The code block at the beginning of a text, indented or fenced. */
function firstBlock(text: string): string {
  const fenced = /^\s*```\w*\n([^]*?)^```$/m.exec(text);
  if (fenced?.index === 0) return fenced[1] ?? '';
  const [block = ''] = /^\n*((?: {4}.*\n)+)/.exec(text) ?? [];
  if (block === '') throw new Error(`no code block follows ${mark}: ${text.slice(0, 80)}`);
  return block.replaceAll(/^ {4}/gm, '').trim();
}
