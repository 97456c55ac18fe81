import { createHash } from 'node:crypto';
import { parse } from 'yaml';

/** A page in one language, parsed from a Markdown file. */
export interface PageText {
  readonly title: string;
  readonly description: string | undefined; // for search engines and link previews
  readonly version: string | undefined;
  readonly isDraft: boolean;
  readonly unfilled: readonly string[]; // placeholders that the operator has not filled in, such as `{{address}}`
  readonly body: string; // Markdown without the head and the title
  readonly digest: string; // SHA-256 of the file, hexadecimal
  readonly mistakes: readonly { readonly wrong: string; readonly right: string }[];
}

export const maxPageBytes = 262_144;

const headPattern = /^---[ \t]*\n(?:([^]*?)\n)??---[ \t]*(?:\n|$)/;
const titlePattern = /^\s*#[ \t]+(.+?)[ \t]*#*[ \t]*(?:\n|$)/;
const headMembers = ['title', 'description', 'version', 'draft'];

/**
 * Parses a Markdown file: an optional head between two `---` lines, with `title`, `description`, `version` and `draft`, and then the text.
 * If the head has no title, the first heading is the title, or else `fallbackTitle`.
 */
export function parsePageText(source: string, fallbackTitle: string): PageText {
  const text = source.replaceAll('\r\n', '\n');
  const [headBlock = '', headText = ''] = headPattern.exec(text) ?? [];
  const { values, mistakes } = parseHead(headText);
  const content = text.slice(headBlock.length);
  const heading = values['title'] === undefined ? titlePattern.exec(content) : null;
  return {
    title: values['title'] ?? heading?.[1] ?? fallbackTitle,
    description: values['description'],
    version: values['version'],
    isDraft: values['draft'] === 'true',
    unfilled: [...new Set(text.match(/\{\{[^{}]*\}\}/g))],
    body: heading === null ? content : content.slice(heading[0].length),
    digest: createHash('sha256').update(source).digest('hex'),
    mistakes,
  };
}

/** As strings, so that the version `1.10` stays `1.10`. */
function parseHead(headText: string): { values: Record<string, string>; mistakes: PageText['mistakes'] } {
  const advice = `write lines such as "draft: true"; it may have ${headMembers.join(', ')}`;
  let parsed: unknown;
  try {
    parsed = parse(headText, { schema: 'failsafe' });
  } catch {
    return { values: {}, mistakes: [{ wrong: 'has a head that is not YAML', right: advice }] };
  }
  const entries = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? Object.entries(parsed) : [];
  if (headText.trim() !== '' && entries.length === 0)
    return { values: {}, mistakes: [{ wrong: 'has a head without members', right: advice }] };
  const values: Record<string, string> = {};
  const mistakes: { wrong: string; right: string }[] = [];
  for (const [name, value] of entries) {
    const mistake = findMemberMistake(name, value, advice);
    if (mistake !== undefined) mistakes.push(mistake);
    else if (value !== '') values[name] = String(value);
  }
  return { values, mistakes };
}

function findMemberMistake(name: string, value: unknown, advice: string): { wrong: string; right: string } | undefined {
  if (!headMembers.includes(name)) return { wrong: `has "${name}" in its head`, right: advice };
  if (typeof value !== 'string') return { wrong: `has a "${name}" that is not text`, right: advice };
  // Quoted YAML can escape such characters, and PostgreSQL would reject them once an acceptance of the text is recorded.
  if (value.includes('\0') || !value.isWellFormed())
    return {
      wrong: `has a "${name}" with characters that are not allowed in text`,
      right: 'remove \\0 and \\uD800 to \\uDFFF',
    };
  if (name === 'draft' && !['true', 'false'].includes(value))
    return { wrong: `has draft: ${value}`, right: 'write true or false' };
  return undefined;
}
