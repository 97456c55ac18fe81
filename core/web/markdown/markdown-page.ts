import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Page, PageRequest } from '../pages/page.ts';
import { type Language, languages } from '../texts/texts.ts';
import { type PageText, parsePageText } from './page-text.ts';
import { RenderedMarkdown } from './rendered.ts';

/** A page in one or more languages. */
export type PageTexts = Readonly<Partial<Record<Language, PageText>>>;

/** Common part of pages from Markdown. */
export const markdownLook = {
  title: 'markdown.title',
  description: 'markdown.description',
  template: 'shell/markdown.eta',
  styles: ['prose.css'],
} as const;

interface MarkdownPageOptions extends Pick<Page, 'path' | 'layout' | 'navigation' | 'within'> {
  /** `public` when left out. */
  readonly role?: Page['role'];
  /** Absolute paths of Markdown files; a reader gets another language if the own one is missing. */
  readonly files: Readonly<Partial<Record<Language, string>>>;
}

/**
 * Creates a page from Markdown, for `server.gateway.page`: rendered into the layout when it is first shown.
 *
 * @throws Error for a file that cannot be read or has a mistake in its head
 */
export function markdownPage({ files, ...page }: MarkdownPageOptions): Page {
  const texts = Object.fromEntries(Object.entries(files).map(([language, file]) => [language, readPage(file)]));
  return { role: 'public', ...markdownLook, ...page, show: (request) => describeMarkdown(texts, request) };
}

function readPage(file: string): PageText {
  const text = parsePageText(readFileSync(file, 'utf8'), basename(file, '.md'));
  const [mistake] = text.mistakes;
  if (mistake !== undefined) throw new Error(`${file} ${mistake.wrong}; ${mistake.right}`);
  return text;
}

/** Returns the language in which a reader gets a page: his own, or the first that it has. */
export function languageOf(texts: PageTexts, language: Language): Language {
  return texts[language] !== undefined ? language : (languages.find((other) => texts[other] !== undefined) ?? language);
}

/** Describes the values of `shell/markdown.eta`. @param texts one at least */
export async function describeMarkdown(texts: PageTexts, { language, t, host }: PageRequest): Promise<object> {
  const shown = languageOf(texts, language);
  const text = texts[shown] as PageText;
  return {
    title: text.title,
    description: text.description ?? `${text.title} · ${host.service.name}`,
    prose: { lang: shown, markdown: await rendered(text), htmlOf: RenderedMarkdown.htmlOf },
    only: shown === language ? '' : t(`markdown.only.${shown}`),
  };
}

const all = new WeakMap<PageText, Promise<RenderedMarkdown>>();

/** Rendered once; the library is loaded with the first page. */
function rendered(text: PageText): Promise<RenderedMarkdown> {
  const known = all.get(text) ?? import('./render.ts').then(({ renderMarkdown }) => renderMarkdown(text.body));
  all.set(text, known);
  return known;
}
