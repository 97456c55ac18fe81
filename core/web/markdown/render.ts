import { Marked, type Token, type Tokens } from 'marked';
import { ownPath } from '../pages/paths.ts';
import { RenderedMarkdown } from './rendered.ts';

/** Prefix of heading ids, so that they differ from the layout's ids. */
const anchor = 'section-';

/**
 * Renders Markdown (GitHub's) for a page whose `h1` is its title. HTML is shown as text, comments are left out, pictures are their
 * text: the content security policy would load none. Links lead to https and mailto addresses and to paths of this gateway.
 * Headings begin at `h2` and skip no level.
 */
export function renderMarkdown(text: string): RenderedMarkdown {
  const tokens = markdown.lexer(text);
  arrangeHeadings(tokens);
  return new RenderedMarkdown(markdown.parser(tokens));
}

const markdown = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escapeHtml(text.startsWith('<!--') ? withoutComments(text) : text),
    text(token) {
      // marked would print text behind a tag such as <kbd> as it is, because that is HTML elsewhere.
      if ('escaped' in token) token.escaped = false;
      return false; // as usual
    },
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${anchor}${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const target = linkTarget(href);
      const shown = this.parser.parseInline(tokens);
      return target === undefined ? shown : `<a href="${escapeHtml(target)}">${shown}</a>`;
    },
    image: ({ text }) => escapeHtml(text),
    code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    table({ header, rows }) {
      const label = header.map(({ text }) => text).join(', ');
      const head = header.map((cell) => this.tablecell(cell)).join('');
      const body = rows.map((row) => `<tr>${row.map((cell) => this.tablecell(cell)).join('')}</tr>\n`).join('');
      return `<div class="table" tabindex="0" role="region" aria-label="${escapeHtml(label)}"><table>\n<thead><tr>${head}</tr></thead>\n<tbody>${body}</tbody>\n</table></div>\n`;
    },
    tablecell({ header, text, tokens, align }) {
      const style = align === 'right' ? ' class="number"' : '';
      const content = this.parser.parseInline(tokens);
      return header && text !== '' ? `<th scope="col"${style}>${content}</th>` : `<td${style}>${content}</td>`;
    },
  },
});

/** @returns undefined for an address that pages do not link */
function linkTarget(href: string): string | undefined {
  if (/^#[\w-]+$/.test(href)) return `#${anchor}${href.slice(1)}`;
  if (href.startsWith('/')) return ownPath(href) === href ? href : undefined;
  const protocol = URL.parse(href)?.protocol;
  return (protocol === 'https:' && /^https:\/\//i.test(href)) || (protocol === 'mailto:' && /^mailto:/i.test(href))
    ? href
    : undefined;
}

/** Also those in quotes and lists. */
function headingsIn(tokens: readonly Token[]): Tokens.Heading[] {
  return tokens.flatMap((token) => {
    if (token.type === 'heading') return [token as Tokens.Heading];
    const { tokens: quoted = [], items = [] } = token as { tokens?: Token[]; items?: Token[] };
    return headingsIn([...quoted, ...items]);
  });
}

/** The highest heading becomes `h2`, and none is more than a level below the one before it. */
function arrangeHeadings(tokens: Token[]): void {
  const headings = headingsIn(tokens);
  const shift = 2 - Math.min(...headings.map(({ depth }) => depth));
  const ids = new Map<string, number>();
  let before = 1;
  for (const heading of headings) {
    heading.depth = Math.min(heading.depth + shift, before + 1, 6);
    before = heading.depth;
    const slug = slugOf(heading.text);
    const count = ids.get(slug) ?? 0;
    ids.set(slug, count + 1);
    if (count > 0) heading.text = `${heading.text} ${count}`;
  }
}

/** `return-of-money` of "Return of *money*", as on GitHub. */
function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replaceAll(/\s+/g, '-');
}

/** Removes comments; an unclosed one extends to the end of the text. */
function withoutComments(text: string): string {
  const shown = text.replaceAll(/<!--(?:-?>|[^]*?(?:-->|$))/g, '');
  return shown.trim() === '' ? '' : shown;
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
