import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Page, PageRequest } from '../pages/page.ts';
import { type Language, languages } from '../texts/texts.ts';
import { type PageText, parsePageText } from './page-text.ts';
import { RenderedMarkdown } from './rendered-markdown.ts';

export type PageTexts = Readonly<Partial<Record<Language, PageText>>>;

export const markdownPageDefaults = {
  title: 'markdown.title',
  description: 'markdown.description',
  template: 'shell/markdown.eta',
  styles: ['prose.css'],
} as const;

interface MarkdownPageOptions extends Pick<Page, 'path' | 'layout' | 'navigation' | 'within'> {
  /** Default: `public`. */
  readonly role?: Page['role'];
  /** Absolute paths of Markdown files, by language. If a reader's language is missing, another one is shown. */
  readonly files: Readonly<Partial<Record<Language, string>>>;
}

/**
 * Creates a page from Markdown, for `server.gateway.page`. The Markdown is rendered when the page is first shown.
 *
 * @throws Error if a file cannot be read or its head is invalid
 */
export function markdownPage({ files, ...page }: MarkdownPageOptions): Page {
  const texts = Object.fromEntries(Object.entries(files).map(([language, file]) => [language, readPageText(file)]));
  return { role: 'public', ...markdownPageDefaults, ...page, show: (request) => describeMarkdown(texts, request) };
}

function readPageText(file: string): PageText {
  const text = parsePageText(readFileSync(file, 'utf8'), basename(file, '.md'));
  const [mistake] = text.mistakes;
  if (mistake !== undefined) throw new Error(`${file} ${mistake.wrong}; ${mistake.right}`);
  return text;
}

/** Returns the reader's language if the page has it, otherwise the first language that it has. */
export function chooseTextLanguage(texts: PageTexts, language: Language): Language {
  return texts[language] !== undefined ? language : (languages.find((other) => texts[other] !== undefined) ?? language);
}

/** Describes a page with at least one text for `shell/markdown.eta`. */
export async function describeMarkdown(texts: PageTexts, { language, t, host }: PageRequest): Promise<object> {
  const shownLanguage = chooseTextLanguage(texts, language);
  const text = texts[shownLanguage] as PageText;
  return {
    title: text.title,
    description: text.description ?? `${text.title} · ${host.service.name}`,
    prose: { lang: shownLanguage, markdown: await renderOnce(text), htmlOf: RenderedMarkdown.htmlOf },
    only: shownLanguage === language ? '' : t(`markdown.only.${shownLanguage}`),
  };
}

const renderings = new WeakMap<PageText, Promise<RenderedMarkdown>>();

function renderOnce(text: PageText): Promise<RenderedMarkdown> {
  const rendering =
    renderings.get(text) ?? import('./render.ts').then(({ renderMarkdown }) => renderMarkdown(text.body));
  renderings.set(text, rendering);
  return rendering;
}
