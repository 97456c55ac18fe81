import { createHash } from 'node:crypto';
import { parse } from 'yaml';

/** A page in one language: a Markdown file, with what its head and its first heading say. */
export interface PageText {
  readonly title: string;
  /** For search engines and link previews. */
  readonly description: string | undefined;
  /** As written in the head of the file. */
  readonly version: string | undefined;
  readonly isDraft: boolean;
  /** Places that wait to be filled in, such as `{{address}}`. */
  readonly unfilled: readonly string[];
  /** Markdown without head and title. */
  readonly body: string;
  /** SHA-256 of the file, in hex. */
  readonly digest: string;
  readonly mistakes: readonly { readonly wrong: string; readonly right: string }[];
}

/** Maximum bytes of a Markdown file. */
export const largestPage = 262_144;

const head = /^---[ \t]*\n(?:([^]*?)\n)??---[ \t]*(?:\n|$)/;
const title = /^\s*#[ \t]+(.+?)[ \t]*#*[ \t]*(?:\n|$)/;
const members = ['title', 'description', 'version', 'draft'];

/**
 * Reads a Markdown file: at most a head between two lines `---` with `title`, `description`, `version` and `draft`, then the text, whose
 * first heading is the title unless the head has one.
 *
 * @param fallback title of a file without one
 */
export function parsePageText(source: string, fallback: string): PageText {
  const text = source.replaceAll('\r\n', '\n');
  const [whole = '', written = ''] = head.exec(text) ?? [];
  const { values, mistakes } = readHead(written);
  const rest = text.slice(whole.length);
  const heading = values['title'] === undefined ? title.exec(rest) : null;
  return {
    title: values['title'] ?? heading?.[1] ?? fallback,
    description: values['description'],
    version: values['version'],
    isDraft: values['draft'] === 'true',
    unfilled: [...new Set(text.match(/\{\{[^{}]*\}\}/g))],
    body: heading === null ? rest : rest.slice(heading[0].length),
    digest: createHash('sha256').update(source).digest('hex'),
    mistakes,
  };
}

/** Values as they are written: `1.10` is no number. */
function readHead(written: string): { values: Record<string, string>; mistakes: PageText['mistakes'] } {
  const advice = `write lines such as "draft: true"; it may have ${members.join(', ')}`;
  let read: unknown;
  try {
    read = parse(written, { schema: 'failsafe' });
  } catch {
    return { values: {}, mistakes: [{ wrong: 'has a head that is not YAML', right: advice }] };
  }
  const entries = typeof read === 'object' && read !== null && !Array.isArray(read) ? Object.entries(read) : [];
  if (written.trim() !== '' && entries.length === 0)
    return { values: {}, mistakes: [{ wrong: 'has a head without members', right: advice }] };
  const values: Record<string, string> = {};
  const mistakes: { wrong: string; right: string }[] = [];
  for (const [name, value] of entries) {
    if (!members.includes(name)) mistakes.push({ wrong: `has "${name}" in its head`, right: advice });
    else if (typeof value !== 'string') mistakes.push({ wrong: `has a "${name}" that is not a text`, right: advice });
    // Escapes in quotes: PostgreSQL refuses them, and with them the record of what was accepted.
    else if (value.includes('\0') || !value.isWellFormed())
      mistakes.push({
        wrong: `has a "${name}" with characters that no text can have`,
        right: 'remove \\0 and \\uD800 to \\uDFFF',
      });
    else if (name === 'draft' && !['true', 'false'].includes(value))
      mistakes.push({ wrong: `has draft: ${value}`, right: 'write true or false' });
    else if (value !== '') values[name] = value;
  }
  return { values, mistakes };
}
