import { Marked, type Token, type Tokens } from 'marked';
import { ownPath } from '../pages/paths.ts';
import { RenderedMarkdown } from './rendered-markdown.ts';

const anchorPrefix = 'section-'; // keeps heading ids apart from the layout's ids

/**
 * Renders GitHub-flavored Markdown for a page whose title is its `h1`. HTML is shown as text, and comments are omitted. Images are replaced
 * by their text, because the content security policy blocks them. Only https and mailto addresses and paths on this gateway become links.
 * Headings start at `h2` and skip no level.
 */
export function renderMarkdown(text: string): RenderedMarkdown {
  const tokens = markdown.lexer(text);
  arrangeHeadings(tokens);
  return new RenderedMarkdown(markdown.parser(tokens));
}

const markdown = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escapeHtml(text.startsWith('<!--') ? removeComments(text) : text),
    text(token) {
      // marked leaves text after a tag such as <kbd> unescaped, because it mistakes that text for HTML.
      if ('escaped' in token) token.escaped = false;
      return false; // use the default renderer
    },
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${anchorPrefix}${createSlug(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const target = findLinkTarget(href);
      const content = this.parser.parseInline(tokens);
      return target === undefined ? content : `<a href="${escapeHtml(target)}">${content}</a>`;
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

function findLinkTarget(href: string): string | undefined {
  if (/^#[\w-]+$/.test(href)) return `#${anchorPrefix}${href.slice(1)}`;
  if (href.startsWith('/')) return ownPath(href) === href ? href : undefined;
  const protocol = URL.parse(href)?.protocol;
  return (protocol === 'https:' && /^https:\/\//i.test(href)) || (protocol === 'mailto:' && /^mailto:/i.test(href))
    ? href
    : undefined;
}

function collectHeadings(tokens: readonly Token[]): Tokens.Heading[] {
  return tokens.flatMap((token) => {
    if (token.type === 'heading') return [token as Tokens.Heading];
    const { tokens: nested = [], items = [] } = token as { tokens?: Token[]; items?: Token[] };
    return collectHeadings([...nested, ...items]);
  });
}

function arrangeHeadings(tokens: Token[]): void {
  const headings = collectHeadings(tokens);
  const shift = 2 - Math.min(...headings.map(({ depth }) => depth));
  const ids = new Map<string, number>();
  let previousDepth = 1;
  for (const heading of headings) {
    heading.depth = Math.min(heading.depth + shift, previousDepth + 1, 6); // the highest heading becomes `h2`, and levels have no gaps
    previousDepth = heading.depth;
    const slug = createSlug(heading.text);
    const count = ids.get(slug) ?? 0;
    ids.set(slug, count + 1);
    if (count > 0) heading.text = `${heading.text} ${count}`;
  }
}

/** `return-of-money` for "Return of *money*", as GitHub does. */
function createSlug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replaceAll(/\s+/g, '-');
}

function removeComments(text: string): string {
  const visibleText = text.replaceAll(/<!--(?:-?>|[^]*?(?:-->|$))/g, '');
  return visibleText.trim() === '' ? '' : visibleText;
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
