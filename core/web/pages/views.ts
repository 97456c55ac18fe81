import { join, resolve } from 'node:path';
import type { AssetSource, Page } from './page.ts';

/** Templates, styles and browser scripts: a folder for each plugin, `shell/` and `parts/`. */
export const viewsFolder = join(import.meta.dirname, '..', '..', '..', 'views');

/** Absolute path of a file; a relative one is in `views/`. */
const located = (path: string) => resolve(viewsFolder, path);

export function locateAssets(source: AssetSource): AssetSource {
  return { ...source, path: located(source.path) };
}

export function locateTemplates(page: Page): Page {
  const { template, live } = page;
  const parts = Object.entries(live?.parts ?? {}).map(([name, path]) => [name, located(path)] as const);
  return {
    ...page,
    ...(template !== undefined && { template: located(template) }),
    ...(live !== undefined && { live: { ...live, parts: Object.fromEntries(parts) } }),
  };
}
