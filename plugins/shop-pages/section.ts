import { defineSection, type Report, type SectionValues } from '#core/config/section.ts';
import { plugins, service } from '#core/config/sections/core-sections.ts';
import { object, string } from '#core/platform/schema.ts';
import { maxPageBytes } from '#core/web/markdown/page-text.ts';
import { isMarkdown, parseShopPages, type ShopPages } from './parse-pages.ts';

const maxFiles = 100;

/** A missing folder counts as empty. */
export const pagesSection = defineSection({
  name: 'pages',
  schema: object(
    { default: {} },
    'Pages of the shop from Markdown: `terms.en.md` and `terms.id.md` are at /terms; `privacy`, `refunds` and `contact` are linked too.',
    {
      folder: string(
        { minLength: 1, default: './pages' },
        'Folder of the files, relative to gateway.yaml. Edits take effect in the same way as edits to gateway.yaml.',
      ),
    },
  ),
  folder: ({ folder }) => ({ folder, names: isMarkdown, maxBytes: maxPageBytes, maxFiles }),
  check({ folder }, report, all) {
    const pages = parseShopPages(all.files?.(pagesSection) ?? new Map());
    for (const { file, wrong, right: remedy } of pages.mistakes)
      report(['pages', 'folder'], `${folder}/${file} ${wrong}`, remedy);
    for (const name of pages.texts.keys()) {
      if (!isGatewayPath(name, all.pagePaths)) continue;
      const remedy = 'give the file another name';
      report(['pages', 'folder'], `${folder}/${name} is for /${name}, which is a page of the gateway`, remedy);
    }
    checkLinkedPages(pages, report, all);
  },
});

const nonPagePaths = new Set([
  'v1',
  'v1beta',
  'v2',
  'anthropic',
  'openai',
  'assets',
  'hooks',
  'livez',
  'readyz',
  'metrics',
  'live',
]);

function isGatewayPath(name: string, paths: readonly string[]): boolean {
  return nonPagePaths.has(name) || paths.includes(`/${name}`);
}

/** Third-party plugins may serve paths that are not pages, so with one of them nothing is reported. */
function checkLinkedPages(
  { texts }: ShopPages,
  report: Report,
  all: SectionValues & { readonly pagePaths: readonly string[] },
): void {
  if (all.get(plugins).length > 0) return;
  for (const name of ['terms', 'privacy'] as const) {
    const address = all.get(service)[name];
    if (address === undefined || !address.startsWith('/')) continue;
    const [path = ''] = address.split(/[?#]/);
    const file = path.slice(1);
    if (texts.has(file) || all.pagePaths.includes(path)) continue;
    report(
      ['service', name],
      `is ${address}, but there is no such page`,
      `write ${/^[a-z0-9-]+$/.test(file) ? file : name}.en.md in the pages folder, or use a full URL`,
    );
  }
}
