import type { FolderFile } from '#core/platform/read-folder.ts';
import type { PageTexts } from '#core/web/markdown/markdown-page.ts';
import { type PageText, parsePageText } from '#core/web/markdown/page-text.ts';
import { type Language, languages } from '#core/web/texts/texts.ts';

/** All Markdown files except README.md; any other file name that is not a page's is a mistake. */
export const isMarkdown = /^(?!readme\.md$)[^.].*\.md$/i;

const fileName = /^([a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?)\.([a-z]{2})\.md$/;

/** Pages of the folder. */
export interface ShopPages {
  /** Texts by page name: `terms`. */
  readonly texts: ReadonlyMap<string, PageTexts>;
  readonly mistakes: readonly { readonly file: string; readonly wrong: string; readonly right: string }[];
}

const known = new WeakMap<ReadonlyMap<string, FolderFile>, ShopPages>();

/** Parses the files of a configuration only once. */
export function readShopPages(files: ReadonlyMap<string, FolderFile>): ShopPages {
  const read = known.get(files) ?? parseAll(files);
  known.set(files, read);
  return read;
}

function parseAll(files: ReadonlyMap<string, FolderFile>): ShopPages {
  const texts = new Map<string, Partial<Record<Language, PageText>>>();
  const mistakes: { file: string; wrong: string; right: string }[] = [];
  for (const [file, read] of files) {
    const [, name = '', written] = fileName.exec(file) ?? [];
    const language = languages.find((candidate) => candidate === written);
    if (!('text' in read)) mistakes.push({ file, ...read });
    else if (language === undefined)
      mistakes.push({ file, wrong: 'is not named like a page', right: 'name it like terms.en.md or terms.id.md' });
    else {
      const text = parsePageText(read.text, name);
      mistakes.push(...text.mistakes.map((mistake) => ({ file, ...mistake })));
      texts.set(name, { ...texts.get(name), [language]: text });
    }
  }
  return { texts, mistakes };
}
