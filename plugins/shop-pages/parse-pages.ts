import type { FolderFile } from '#core/platform/read-folder.ts';
import type { PageTexts } from '#core/web/markdown/markdown-page.ts';
import { type PageText, parsePageText } from '#core/web/markdown/page-text.ts';
import { type Language, languages } from '#core/web/texts/texts.ts';

/** Matches all Markdown files except README.md. A file that matches but is not named after a page is a mistake. */
export const isMarkdown = /^(?!readme\.md$)[^.].*\.md$/i;

const fileName = /^([a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?)\.([a-z]{2})\.md$/;

export interface ShopPages {
  readonly texts: ReadonlyMap<string, PageTexts>; // by page name, such as `terms`
  readonly mistakes: readonly { readonly file: string; readonly wrong: string; readonly right: string }[];
}

const parsedPages = new WeakMap<ReadonlyMap<string, FolderFile>, ShopPages>();

/** Parses a configuration's files only once. */
export function parseShopPages(files: ReadonlyMap<string, FolderFile>): ShopPages {
  const content = parsedPages.get(files) ?? parseFiles(files);
  parsedPages.set(files, content);
  return content;
}

function parseFiles(files: ReadonlyMap<string, FolderFile>): ShopPages {
  const texts = new Map<string, Partial<Record<Language, PageText>>>();
  const mistakes: { file: string; wrong: string; right: string }[] = [];
  for (const [file, content] of files) {
    const [, name = '', languageCode] = fileName.exec(file) ?? [];
    const language = languages.find((candidate) => candidate === languageCode);
    if (!('text' in content)) {
      mistakes.push({ file, ...content });
    } else if (language === undefined) {
      mistakes.push({ file, wrong: 'is not named like a page', right: 'name it like terms.en.md or terms.id.md' });
    } else {
      const text = parsePageText(content.text, name);
      mistakes.push(...text.mistakes.map((mistake) => ({ file, ...mistake })));
      texts.set(name, { ...texts.get(name), [language]: text });
    }
  }
  return { texts, mistakes };
}
